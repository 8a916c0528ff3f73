//! Makes the files of the built page, compressed by gzip, a table of the program; where the page
//! was not built, the table is empty. The script of reports is compressed, too.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use flate2::Compression;
use flate2::write::GzEncoder;

fn main() -> io::Result<()> {
    let own = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let folder = own.join("page");
    println!("cargo::rerun-if-changed=build.rs");
    // A folder that is missing would count as changed with every build.
    let watched = if folder.is_dir() { &folder } else { &own };
    println!("cargo::rerun-if-changed={}", watched.display());
    let mut files = Vec::new();
    collect(&folder, &mut files);
    files.sort();
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let mut table = String::from("pub(crate) static FILES: &[(&str, &[u8])] = &[\n");
    for (number, file) in files.iter().enumerate() {
        let name = file.strip_prefix(&folder).unwrap_or(file);
        let name = name.to_string_lossy().replace('\\', "/");
        // A copy: the page may be built anew before the program is compiled.
        let copy = format!("page-{number}.gz");
        pack(file, &out.join(&copy))?;
        let place = format!("concat!(env!(\"OUT_DIR\"), \"/{copy}\")");
        let _ = writeln!(table, "    ({name:?}, include_bytes!({place})),");
    }
    table.push_str("];\n");
    fs::write(out.join("page.rs"), table)?;
    let script = own.join("src/server/report/report.gen.js");
    println!("cargo::rerun-if-changed={}", script.display());
    pack(&script, &out.join("report.js.gz"))
}

fn pack(file: &Path, packed: &Path) -> io::Result<()> {
    let mut packer = GzEncoder::new(File::create(packed)?, Compression::best());
    packer.write_all(&fs::read(file)?)?;
    packer.finish()?;
    Ok(())
}

/// The files of a folder and of those below.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}
