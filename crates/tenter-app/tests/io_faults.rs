//! Each call to the system for a file fails once: the command ends with a documented exit code and
//! a message, nothing that is damaged counts as complete, and the same command afterwards gives the
//! answer of an undisturbed one.
//!
//! `strace` injects the errors. In `make test` every 60th call fails, with
//! `TENTER_TEST_CASES=all` each.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

const SCENARIO: &str = "
fabric: {kind: leaf-spine, leaves: 2, hosts_per_leaf: 2, spines: 2}
jobs: [{name: train, collectives: [{collective: all-to-all, size: 64KiB}]}]
observe: {sample_interval: 10us}
";
const SWEEP: &str = "
name: two
scenario: small.yaml
variants:
  ecmp: {}
  spray:
    fabric.load_balancing: {kind: random-spray}
    endpoint.nic.loss_recovery: {kind: selective-repeat, reorder: 64}
keep: tables
readings: [{name: time, query: max(jobs.jct_ns)}]
";
/// System calls, each with the error that it gets.
const FAULTS: [(&str, &str); 14] = [
    ("write", "ENOSPC"),
    ("pwrite64", "ENOSPC"),
    ("mkdir", "ENOSPC"),
    ("ftruncate", "ENOSPC"),
    ("openat", "EIO"),
    ("rename", "EIO"),
    ("unlink", "EIO"),
    ("statx", "EIO"),
    ("flock", "EIO"),
    ("read", "EIO"),
    ("pread64", "EIO"),
    ("getdents64", "EIO"),
    ("fsync", "EIO"),
    ("fdatasync", "EIO"),
];
/// In `make test` one call of so many fails.
const STEP: usize = 60;
/// Code of the loader of programs, whose own calls fail, too.
const LOADER: i32 = 127;

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("tenter-io-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder for the test");
        fs::write(folder.join("small.yaml"), SCENARIO).expect("a file");
        fs::write(folder.join("sweep.yaml"), SWEEP).expect("a file");
        Folder(folder)
    }

    fn has(&self, name: &str) -> bool {
        self.0.join(name).exists()
    }

    fn remove(&self, name: &str) {
        let path = self.0.join(name);
        let _ = fs::remove_dir_all(&path);
        let _ = fs::remove_file(&path);
    }

    fn tenter(&self, arguments: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tenter"));
        command.args(arguments.split(' ')).current_dir(&self.0);
        command.output().expect("the binary runs")
    }

    fn traced(&self, arguments: &str, options: &[&str]) -> Output {
        let mut command = Command::new("strace");
        command.args(["-f", "-qq"]).args(options);
        command
            .arg(env!("CARGO_BIN_EXE_tenter"))
            .args(arguments.split(' '));
        command.current_dir(&self.0).output().expect("strace runs")
    }

    /// Counts the calls of the command: the most that one of its threads makes of each.
    fn calls(&self, arguments: &str) -> BTreeMap<String, usize> {
        self.traced(arguments, &["-o", "calls"]);
        let text = fs::read_to_string(self.0.join("calls")).expect("the trace");
        let mut of_threads: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for line in text.lines() {
            let (thread, rest) = line.split_once(' ').unwrap_or_default();
            let (call, _) = rest.trim_start().split_once('(').unwrap_or_default();
            *of_threads.entry((thread, call)).or_default() += 1;
        }
        let mut calls = BTreeMap::new();
        for ((_, call), count) in of_threads {
            let most = calls.entry(call.to_owned()).or_default();
            *most = count.max(*most);
        }
        calls
    }

    /// Runs the command once for each call that fails, and checks what it says and leaves.
    fn fail_each(&self, arguments: &str, output: &str, check: impl Fn(&Output, &str)) {
        self.remove(output);
        let calls = self.calls(arguments);
        let all = std::env::var("TENTER_TEST_CASES").is_ok_and(|cases| cases == "all");
        let step = if all { 1 } else { STEP };
        for (call, error) in FAULTS {
            for number in (1..=calls.get(call).copied().unwrap_or(0)).step_by(step) {
                self.remove(output);
                let fault = format!("inject={call}:error={error}:when={number}");
                let ended = self.traced(arguments, &["-o", "/dev/null", "-e", &fault]);
                let said = String::from_utf8_lossy(&ended.stderr);
                let code = ended.status.code();
                if code == Some(LOADER) {
                    continue;
                }
                let what = format!("{fault}: {code:?} {said}");
                assert!(matches!(code, Some(0..=3)), "{what}");
                assert!(!said.contains("internal error"), "{what}");
                assert!(code == Some(0) || !said.trim().is_empty(), "{what}");
                check(&ended, &what);
            }
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Says whether `strace` can be used here; without it nothing is tested.
#[expect(clippy::print_stderr, reason = "a test that does nothing says so")]
fn can_trace() -> bool {
    let traced = Command::new("strace")
        .args(["-o", "/dev/null", "true"])
        .output();
    let can = traced.is_ok_and(|output| output.status.success());
    if !can {
        eprintln!("strace is missing or may not trace: no call fails");
    }
    can
}

fn is_complete(trial: &Path) -> bool {
    let text = fs::read_to_string(trial.join("manifest.json")).unwrap_or_default();
    let manifest: Value = serde_json::from_str(&text).unwrap_or_default();
    manifest["complete"] == true
}

#[test]
fn a_trial_is_whole_or_says_that_it_is_not() {
    if !can_trace() {
        return;
    }
    let folder = Folder::new("run");
    folder.fail_each("run small.yaml -o trial", "trial", |ended, what| {
        let complete = is_complete(&folder.0.join("trial"));
        let code = ended.status.code();
        assert!(code != Some(0) || complete, "{what}");
        assert!(code != Some(2) || !folder.has("trial"), "{what}");
        if complete {
            let checked = folder.tenter("trials check --workspace .");
            assert_eq!(checked.status.code(), Some(0), "{what}: {checked:?}");
        }
    });
}

#[test]
fn a_report_is_whole_or_not_there() {
    if !can_trace() {
        return;
    }
    let folder = Folder::new("report");
    assert!(folder.tenter("run small.yaml -o trial").status.success());
    folder.fail_each(
        "report trial -o report.html",
        "report.html",
        |ended, what| {
            let ended_well = ended.status.code() == Some(0);
            assert_eq!(folder.has("report.html"), ended_well, "{what}");
        },
    );
}

#[test]
fn a_sweep_goes_on_to_the_answer_of_an_undisturbed_one() {
    if !can_trace() {
        return;
    }
    let folder = Folder::new("sweep");
    let command = "sweep sweep.yaml -o out --workers 1 --format json";
    let answer = |output: &Output| -> Value {
        let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        document["studies"][0]["digest"].clone()
    };
    let undisturbed = answer(&folder.tenter(command));
    assert!(undisturbed.is_string());
    folder.fail_each(command, "out", |_, what| {
        let again = folder.tenter(&format!("{command} --retry-failed"));
        assert_eq!(again.status.code(), Some(0), "{what}: {again:?}");
        assert_eq!(answer(&again), undisturbed, "{what}");
    });
}
