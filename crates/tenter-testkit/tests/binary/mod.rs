//! The release binary and folders to run it in, for the tests of what a user types.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Data folders that commands read; a run's folder holds copies of them.
const DATA: [&str; 3] = ["scenarios", "studies", "profiles"];

/// The root folder of the repository.
pub(crate) fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize()
        .expect("the workspace is where it was built")
}

/// Builds the release binary unless it is up to date, and returns its path; where the variable
/// `TENTER_RELEASE` names one, as `make test` does, that is it.
pub(crate) fn tenter() -> PathBuf {
    if let Some(built) = std::env::var_os("TENTER_RELEASE") {
        return root().join(built);
    }
    // This test is <target>/<profile>/deps/<name>: the binary goes to the same <target>.
    let test = std::env::current_exe().expect("a running test has a path");
    let target = test
        .ancestors()
        .nth(3)
        .expect("cargo puts tests three folders deep");
    let status = Command::new(env!("CARGO"))
        .args([
            "build",
            "--release",
            "--package",
            "tenter-app",
            "--target-dir",
        ])
        .arg(target)
        .current_dir(root())
        .status()
        .expect("cargo runs");
    assert!(status.success(), "the release binary does not build");
    target
        .join("release")
        .join(format!("tenter{}", std::env::consts::EXE_SUFFIX))
}

/// A temporary folder that looks like the root of the repository to a command, removed when
/// dropped.
pub(crate) struct Workplace {
    /// Where commands run.
    pub(crate) folder: PathBuf,
}

impl Workplace {
    /// Copies the data folders; `name` tells workplaces of one test apart.
    pub(crate) fn new(name: &str) -> Workplace {
        let folder = std::env::temp_dir().join(format!("tenter-{name}-{}", std::process::id()));
        let workplace = Workplace { folder };
        fs::create_dir_all(&workplace.folder).expect("a temporary folder can be made");
        for data in DATA {
            let source = root().join(data);
            if source.is_dir() {
                copy(&source, &workplace.folder.join(data));
            }
        }
        workplace
    }

    /// Runs the binary here and waits for its end.
    pub(crate) fn run(&self, binary: &Path, arguments: &[String]) -> Output {
        Command::new(binary)
            .args(arguments)
            .current_dir(&self.folder)
            .output()
            .expect("the binary runs")
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        // What a failed clean-up leaves is in the system's temporary folder.
        drop(fs::remove_dir_all(&self.folder));
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder can be made in a temporary one");
    for entry in fs::read_dir(from).expect("a data folder can be read") {
        let entry = entry.expect("an entry of a data folder can be read");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a data file can be copied");
        }
    }
}
