//! Names the sources that the library is built from: two builds of one version may answer
//! differently, and a trial of one must not pass for that of another.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest as _, Sha256};

/// Crates whose code no result depends on.
const ASIDE: [&str; 3] = ["tenter-app", "tenter-python", "tenter-testkit"];

fn main() {
    let own = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let crates = own.join("..");
    let mut files = Vec::new();
    if own.join("../../Cargo.lock").is_file() {
        // In the repository; a published package is known by its version alone.
        for entry in fs::read_dir(&crates).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if !ASIDE.iter().any(|aside| name == *aside) {
                collect(&entry.path().join("src"), &mut files);
            }
        }
        files.push(own.join("../../Cargo.lock"));
    }
    files.sort();
    let mut digest = Sha256::new();
    digest.update(env!("CARGO_PKG_VERSION"));
    for file in &files {
        let name = file.strip_prefix(&crates).unwrap_or(file);
        digest.update(name.to_string_lossy().as_bytes());
        digest.update(fs::read(file).unwrap_or_default());
    }
    let mut text = String::new();
    for byte in &digest.finalize()[..8] {
        let _ = write!(text, "{byte:02x}");
    }
    println!("cargo::rustc-env=TENTER_SOURCES={text}");
    println!("cargo::rerun-if-changed={}", crates.display());
    // Builds for tests would otherwise be made anew for each commit.
    let is_release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    if let Some(commit) = is_release.then(|| commit(&own)).flatten() {
        println!("cargo::rustc-env=TENTER_COMMIT={commit}");
    }
}

/// The files of a folder and of those in it.
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

/// The commit of the repository that the crate is in, with a plus where files differ from it; what
/// the variable `TENTER_COMMIT` says goes before.
fn commit(own: &Path) -> Option<String> {
    println!("cargo::rerun-if-env-changed=TENTER_COMMIT");
    if let Ok(given) = std::env::var("TENTER_COMMIT") {
        return Some(given);
    }
    let git = |arguments: &[&str]| {
        let answer = Command::new("git")
            .arg("-C")
            .arg(own)
            .args(arguments)
            .output()
            .ok()?;
        let text = String::from_utf8(answer.stdout).ok()?;
        answer.status.success().then(|| text.trim().to_owned())
    };
    // Sources that were unpacked within another repository are none of its commits.
    git(&["ls-files", "--error-unmatch", "Cargo.toml"])?;
    let head = git(&["rev-parse", "--absolute-git-dir"])?;
    println!("cargo::rerun-if-changed={head}/HEAD");
    println!("cargo::rerun-if-changed={head}/logs/HEAD");
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changed = git(&["status", "--porcelain", "--untracked-files=no"])?;
    let mark = if changed.is_empty() { "" } else { "+" };
    Some(format!("{commit}{mark}"))
}
