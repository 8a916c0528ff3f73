//! Safe access to files in folders that may come from a stranger: no link in them is followed.
//!
//! An archive or a repository can contain symbolic links. A program that follows them would show,
//! or overwrite, files that the user has not named. All files in trial folders are opened here.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

/// Remedy where [`open_own`] refuses a file.
pub const OWN_FILE_REMEDY: &str = "put the file itself there";

/// Returns the error for a file that is a symbolic link.
fn link() -> io::Error {
    refused("it is a symbolic link, which may lead out of the folder, and is not followed")
}

fn refused(why: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why.into())
}

/// Opens a regular file for reading. The folder may be reached by links, but the file itself may
/// not be one.
///
/// # Errors
/// If the file cannot be opened, or is a link, a folder, a pipe or a device.
pub fn open_own(path: &Path) -> io::Result<File> {
    open_own_with(File::options().read(true), path)
}

/// Opens a file as [`open_own`] does, with `options`.
pub(crate) fn open_own_with(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    without_links(options);
    let file = options
        .open(path)
        // The system's error for a link does not say what is wrong.
        .map_err(|error| if is_link(path) { link() } else { error })?;
    let found = file.metadata()?;
    // On Windows the flag below opens the link itself.
    if found.file_type().is_symlink() {
        return Err(link());
    }
    // Opening a device may have effects, and reading a pipe may never end.
    if !found.is_file() {
        return Err(refused("it is no regular file"));
    }
    Ok(file)
}

/// Makes the opening fail for a link, and return at once for a pipe without a writer, which it
/// would otherwise wait for.
#[cfg(unix)]
fn without_links(options: &mut OpenOptions) {
    use nix::fcntl::OFlag;
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, flags.bits());
}

/// Sets `FILE_FLAG_OPEN_REPARSE_POINT`: the link itself is opened, not its target.
#[cfg(windows)]
fn without_links(options: &mut OpenOptions) {
    std::os::windows::fs::OpenOptionsExt::custom_flags(options, 0x0020_0000);
}

/// Reads the bytes from a file that [`open_own`] accepts.
///
/// # Errors
/// As [`open_own`], and if the file cannot be read.
pub(crate) fn read_own(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_own(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads the text from a file that [`open_own`] accepts.
///
/// # Errors
/// As [`read_own`], and if the file is not UTF-8.
pub(crate) fn read_own_text(path: &Path) -> io::Result<String> {
    let text = String::from_utf8(read_own(path)?);
    text.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// True if something other than a folder has this path. A link counts, so that [`open_own`] refuses
/// it: an optional file would otherwise be skipped silently.
pub fn has_own(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| !found.is_dir())
}

fn is_link(path: &Path) -> bool {
    let found = path.symlink_metadata();
    found.is_ok_and(|found| found.file_type().is_symlink())
}

/// Refuses a path that is a link, before a file with that name is written.
///
/// # Errors
/// If the path is a link.
pub(crate) fn refuse_link(path: &Path) -> io::Result<()> {
    if is_link(path) {
        return Err(link());
    }
    Ok(())
}

/// Returns the path to `relative` below `folder`. The folder may be reached by links; nothing below
/// it may be one.
///
/// # Errors
/// If `relative` leads out of the folder, or passes a link.
pub fn below(folder: &Path, relative: &Path) -> io::Result<PathBuf> {
    let mut path = folder.to_owned();
    for part in relative.components() {
        let Component::Normal(part) = part else {
            let name = relative.display();
            return Err(refused(format!("`{name}` leads out of the folder")));
        };
        path.push(part);
        refuse_link(&path)?;
    }
    Ok(path)
}

/// Returns a regular file's length in bytes; 0 if there is none.
pub(crate) fn own_length(path: &Path) -> u64 {
    let found = fs::symlink_metadata(path);
    found.map_or(0, |found| if found.is_file() { found.len() } else { 0 })
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_pipes_and_ways_out_are_refused() {
        let folder = std::env::temp_dir().join(format!("tenter-own-file-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("trial")).expect("a folder for the test");
        fs::write(folder.join("secret"), "secret").expect("a file");
        fs::write(folder.join("trial/flows.parquet"), "flows").expect("a file");
        symlink(folder.join("secret"), folder.join("trial/config.yaml")).expect("a link");
        symlink(folder.join("absent"), folder.join("trial/trace.json")).expect("a link");
        symlink(folder.join("trial"), folder.join("linked")).expect("a link");
        nix::unistd::mkfifo(&folder.join("trial/pipe"), nix::sys::stat::Mode::S_IRWXU)
            .expect("a pipe");
        let refusal = |path: &str| open_own(&folder.join(path)).expect_err(path).to_string();
        for link in ["trial/config.yaml", "trial/trace.json"] {
            assert!(refusal(link).contains("symbolic link"), "{link}");
            assert!(has_own(&folder.join(link)));
        }
        assert!(refusal("trial/pipe").contains("no regular file"));
        assert!(refusal("trial").contains("no regular file"));
        let read = read_own_text(&folder.join("linked/flows.parquet"));
        assert_eq!(read.expect("the folder may be a link"), "flows");
        let is_below = |name: &str| below(&folder, Path::new(name)).is_ok();
        assert!(is_below("trial/flows.parquet") && is_below("trial/not-there"));
        for out in [
            "..",
            "trial/../..",
            "/etc",
            "linked",
            "linked/flows.parquet",
        ] {
            assert!(!is_below(out), "{out}");
        }
        fs::remove_dir_all(folder).expect("the folder of the test");
    }
}
