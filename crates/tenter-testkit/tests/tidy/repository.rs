//! The text files of the repository, read once per test.

use std::fs;
use std::path::{Path, PathBuf};

/// One text file.
pub(crate) struct File {
    /// Path from the root of the repository, with forward slashes.
    pub(crate) path: String,
    /// Its whole text.
    pub(crate) text: String,
}

impl File {
    /// A file made up by a test.
    #[cfg(test)]
    pub(crate) fn new(path: &str, text: &str) -> File {
        File {
            path: path.to_owned(),
            text: text.to_owned(),
        }
    }

    /// The file's name without folders.
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// Whether the name ends in `.` and this extension.
    pub(crate) fn has_extension(&self, extension: &str) -> bool {
        Path::new(&self.path)
            .extension()
            .is_some_and(|found| found == extension)
    }
}

/// All text files of the repository, in the order of their paths.
pub(crate) struct Repository {
    /// The root folder; files that are not text are looked up here.
    pub(crate) root: PathBuf,
    /// The files.
    pub(crate) files: Vec<File>,
}

impl Repository {
    /// Reads the repository this test was built in.
    pub(crate) fn read() -> Repository {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let root = root
            .canonicalize()
            .expect("the workspace is where it was built");
        let mut files = Vec::new();
        collect(&root, "", &mut files);
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Repository { root, files }
    }

    /// A repository made up by a test.
    #[cfg(test)]
    pub(crate) fn of(files: Vec<File>) -> Repository {
        Repository {
            root: PathBuf::new(),
            files,
        }
    }

    /// The file at `path`, if there is one.
    pub(crate) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// All files with an extension.
    pub(crate) fn with_extension(&self, extension: &'static str) -> impl Iterator<Item = &File> {
        self.files
            .iter()
            .filter(move |file| file.has_extension(extension))
    }

    /// All files in a folder and its subfolders; `folder` ends in a slash.
    pub(crate) fn under(&self, folder: &str) -> impl Iterator<Item = &File> {
        self.files
            .iter()
            .filter(move |file| file.path.starts_with(folder))
    }
}

/// Build output, trials, version control and packages of others are no part of the repository;
/// `page` is what `web/` is built into.
const SKIPPED: [&str; 5] = ["target", "trials", ".git", "node_modules", "page"];

fn collect(folder: &Path, prefix: &str, files: &mut Vec<File>) {
    let entries = fs::read_dir(folder).expect("a folder of the repository can be read");
    for entry in entries {
        let entry = entry.expect("an entry of the repository can be read");
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        // In a linked worktree, `.git` is a file.
        if SKIPPED.contains(&name.as_str()) {
            continue;
        }
        // A link shows a folder of the repository to a crate, for its package; it is read there.
        if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
            continue;
        }
        if entry.path().is_dir() {
            collect(&entry.path(), &format!("{path}/"), files);
        } else if let Ok(text) = fs::read_to_string(entry.path()) {
            files.push(File { path, text });
        }
    }
}
