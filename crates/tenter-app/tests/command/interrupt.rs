//! Ctrl-C during a long run.
#![cfg(unix)]

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use tenter::report::{read_manifest, read_rows, read_summary};
use tenter_results::{CollectiveRow, FlowRow, JobRow, PortRow, SampleRow, StopKind};

use crate::workplace::{Answer, Workplace};

/// A million small all-to-alls: hours of work, and flows that end all the time.
const LONG: &str = "
name: long
fabric: {kind: leaf-spine, leaves: 4, hosts_per_leaf: 4, spines: 2}
jobs:
  - {name: endless, iterations: 1000000, gap: 2us, collectives: [{collective: all-to-all, size: 256KiB}]}
";

/// No step of these tests takes a tenth of this.
const PATIENCE: Duration = Duration::from_secs(20);

/// A run that ends with the test, whatever becomes of that. What it says goes to files: a pipe that
/// nobody empties would stop it.
struct Running<'a> {
    child: Child,
    workplace: &'a Workplace,
}

impl<'a> Running<'a> {
    fn start(workplace: &'a Workplace, arguments: &[&str]) -> Running<'a> {
        let file = |name| File::create(workplace.path(name)).expect("a file can be made");
        let mut command = workplace.command(arguments);
        command.stdout(file("stdout")).stderr(file("stderr"));
        let child = command.spawn().expect("the binary runs");
        Running { child, workplace }
    }

    fn signal(&self, name: &str) {
        let status = Command::new("kill")
            .args([name, &self.child.id().to_string()])
            .status();
        assert!(status.expect("kill is part of Unix").success());
    }

    /// Waits for the end, but not for ever.
    fn end(mut self) -> Answer {
        let since = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a child can be asked") {
                break status;
            }
            assert!(since.elapsed() < PATIENCE, "the run does not end");
            std::thread::sleep(Duration::from_millis(5));
        };
        let said = |name| fs::read_to_string(self.workplace.path(name)).expect("UTF-8");
        Answer {
            code: status.code(),
            stdout: said("stdout"),
            stderr: said("stderr"),
        }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Waits until a file has something in it.
fn wait_for(file: &Path) {
    let since = Instant::now();
    while fs::metadata(file).map_or(0, |metadata| metadata.len()) < 1_000 {
        assert!(since.elapsed() < PATIENCE, "no {}", file.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn partial_trial(signal: &str) {
    let workplace = Workplace::new(&format!("interrupt{signal}"));
    workplace.write("long.yaml", LONG);
    let folder = workplace.path("trial");
    let arguments = ["run", "long.yaml", "-o", "trial", "--format", "json"];
    let running = Running::start(&workplace, &arguments);
    // By then the run is under way, and rows have been written.
    wait_for(&folder.join("flows.parquet"));
    let before = read_manifest(&folder).expect("the manifest is there from the start");
    assert!(!before.complete && before.digest.is_none());
    let asked = Instant::now();
    running.signal(signal);
    let answer = running.end().expect(130);
    assert!(
        asked.elapsed() < Duration::from_secs(5),
        "{:?}",
        asked.elapsed()
    );
    let stopped = answer.json()["stopped"].as_str().map(str::to_owned);
    let stopped = stopped.expect("it says why");
    assert!(stopped.starts_with("stopped by you at "), "{stopped}");
    assert!(answer.stderr.starts_with("stopped by you at "));

    let manifest = read_manifest(&folder).expect("the manifest is there");
    assert!(!manifest.complete);
    assert_eq!(manifest.stopped.as_deref(), Some(&*stopped));
    let summary = read_summary(&folder).expect("the summary is there");
    assert_eq!(summary.stopped, manifest.stopped);
    assert_eq!(summary.stopped_by, Some(StopKind::User));
    assert!(!summary.complete && summary.engine.packet_hops > 0);
    let flows: Vec<FlowRow> = read_rows(&folder).expect("flows");
    // 16 · 15 flows per all-to-all, in rounds that follow each other without a hole.
    assert!(flows.len() > 240, "{} flows", flows.len());
    let collectives: Vec<CollectiveRow> = read_rows(&folder).expect("collectives");
    let done = collectives.iter().filter(|row| row.complete).count();
    assert!(
        flows.len() >= 240 * done,
        "{} flows, {done} collectives",
        flows.len()
    );
    assert!(collectives.len() <= done + 1);
    let jobs: Vec<JobRow> = read_rows(&folder).expect("jobs");
    assert!(!jobs[0].complete && jobs[0].jct.is_none());
    assert!(read_rows::<PortRow>(&folder).expect("ports").len() >= 32);
    assert!(!read_rows::<SampleRow>(&folder).expect("samples").is_empty());
}

#[test]
fn control_c_leaves_a_partial_trial() {
    partial_trial("-INT");
}

#[test]
fn a_termination_leaves_one_too() {
    partial_trial("-TERM");
}

#[test]
fn a_folder_that_vanishes_is_a_failure_of_its_own() {
    let workplace = Workplace::new("interrupt-vanished");
    workplace.write("long.yaml", LONG);
    let folder = workplace.path("trial");
    let running = Running::start(&workplace, &["run", "long.yaml", "-o", "trial"]);
    wait_for(&folder.join("flows.parquet"));
    fs::remove_dir_all(&folder).expect("a folder can be removed under a run");
    running.signal("-INT");
    let answer = running.end().expect(3);
    let parts = ["error: cannot create trial/", "check the path"];
    for part in parts {
        assert!(answer.stderr.contains(part), "{part}\n{}", answer.stderr);
    }
}

/// Jobs that take seconds, and so do their runs alone.
const TWO_JOBS: &str = "
name: two jobs
fabric: {kind: leaf-spine, leaves: 4, hosts_per_leaf: 4, spines: 2}
jobs:
  - {name: a, iterations: 100, collectives: [{collective: all-to-all, size: 256KiB}]}
  - {name: b, iterations: 100, collectives: [{collective: all-to-all, size: 256KiB}]}
";

/// The trial itself has run to its end by then.
#[test]
fn an_interrupted_baseline_leaves_a_partial_trial() {
    let workplace = Workplace::new("interrupt-baseline");
    workplace.write("two.yaml", TWO_JOBS);
    let arguments = ["run", "two.yaml", "-o", "trial", "--baseline"];
    let running = Running::start(&workplace, &arguments);
    let since = Instant::now();
    let said = || fs::read_to_string(workplace.path("stderr")).unwrap_or_default();
    while !said().contains("2 more runs with some of the jobs only") {
        assert!(since.elapsed() < PATIENCE, "{}", said());
        std::thread::sleep(Duration::from_millis(1));
    }
    running.signal("-INT");
    let answer = running.end().expect(130);
    assert!(
        answer.stdout.contains("stopped by you"),
        "{}",
        answer.stdout
    );
    let folder = workplace.path("trial");
    let manifest = read_manifest(&folder).expect("the manifest is there");
    let stopped = manifest.stopped.expect("it says why");
    assert!(
        stopped.contains("runs with some of the jobs only"),
        "{stopped}"
    );
    let summary = read_summary(&folder).expect("the summary is there");
    assert_eq!(summary.stopped_by, Some(StopKind::User));
    assert!(!summary.complete && summary.interference.is_empty());
    assert!(summary.jobs.iter().all(|job| job.job.complete));
}
