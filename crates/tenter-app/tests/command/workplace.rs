//! An empty folder to run the binary in.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// A folder that a test has to itself, removed when dropped.
pub(crate) struct Workplace {
    pub(crate) folder: PathBuf,
}

/// How a command ended, and what it said.
pub(crate) struct Answer {
    /// The exit code; none when a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Four NICs on two leaves; an all-to-all and a ring of two sizes each, with samples every
/// microsecond.
pub(crate) const SMALL: &str = "
name: small
fabric: {kind: leaf-spine, leaves: 2, hosts_per_leaf: 2, spines: 2}
jobs:
  - name: training
    collectives:
      - {collective: all-to-all, sizes: [16KiB, 256KiB]}
      - {collective: all-reduce, sizes: [16KiB, 256KiB]}
observe: {sample_interval: 1us}
";

impl Workplace {
    /// `name` tells the workplaces of tests apart.
    pub(crate) fn new(name: &str) -> Workplace {
        let folder =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a temporary folder can be made");
        Workplace { folder }
    }

    /// A workplace with `small.yaml` in it.
    pub(crate) fn with_small(name: &str) -> Workplace {
        let workplace = Workplace::new(name);
        workplace.write("small.yaml", SMALL);
        workplace
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        let folder = path.parent().expect("a file is in a folder");
        fs::create_dir_all(folder).expect("a folder can be made");
        fs::write(path, content).expect("a file can be written");
    }

    /// The names of what is in the workplace, in order.
    pub(crate) fn entries(&self) -> Vec<String> {
        entries(&self.folder)
    }

    /// The command, to be run here.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tenter"));
        command
            .args(arguments)
            .current_dir(&self.folder)
            .env_remove("RUST_BACKTRACE")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs the binary here and waits for its end.
    pub(crate) fn tenter(&self, arguments: &[&str]) -> Answer {
        let output = self.command(arguments).output().expect("the binary runs");
        Answer::of(&output)
    }

    /// The same with the arguments in one line, between spaces.
    pub(crate) fn words(&self, line: &str) -> Answer {
        self.tenter(&line.split_whitespace().collect::<Vec<_>>())
    }

    /// A JSON file of the workplace.
    pub(crate) fn json(&self, name: &str) -> Value {
        let text = fs::read_to_string(self.path(name)).expect("the file is there");
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"))
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        // What a failed clean-up leaves is in the build folder.
        drop(fs::remove_dir_all(&self.folder));
    }
}

impl Answer {
    pub(crate) fn of(output: &std::process::Output) -> Answer {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Answer {
            code: output.status.code(),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }

    /// Panics with everything that was said unless the exit code is `code`.
    pub(crate) fn expect(self, code: i32) -> Answer {
        let Answer { stdout, stderr, .. } = &self;
        assert_eq!(self.code, Some(code), "\n{stdout}\n{stderr}");
        assert!(!stderr.contains("panicked"), "{stderr}");
        self
    }

    /// Standard output as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}\n{}", self.stdout))
    }

    /// Whether the command refused its input: exit code 2, a message on standard error alone that
    /// holds all of `parts`.
    pub(crate) fn expect_refusal(self, parts: &[&str]) {
        self.expect_failure(2, parts);
    }

    /// The same with another exit code.
    pub(crate) fn expect_failure(self, code: i32, parts: &[&str]) {
        let Answer { stdout, stderr, .. } = self.expect(code);
        assert_eq!(stdout, "", "\n{stderr}");
        assert!(stderr.starts_with("error: "), "{stderr}");
        for part in parts {
            assert!(stderr.contains(part), "lacks {part:?}:\n{stderr}");
        }
    }
}

/// The names of what is in a folder, in order.
pub(crate) fn entries(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the folder can be read");
    let names = entries.map(|entry| entry.expect("an entry can be read").file_name());
    let mut names: Vec<String> = names.map(|n| n.to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
