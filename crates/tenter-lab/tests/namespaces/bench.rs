//! The lab that all trials share.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use tenter_lab::{LabError, LabFile, LabRun, LabTrial, Observed, namespace};
use tenter_results::Summary;
use tenter_sim::Outcome;

/// A lab that is up; it is taken down when it is dropped, whatever has happened.
pub(crate) struct Bench {
    pub(crate) folder: PathBuf,
    pub(crate) lab: LabFile,
    trials: AtomicU32,
}

/// Prints what goes wrong, and ends nothing.
pub(crate) struct Quiet(pub(crate) Vec<String>);

impl Observed for Quiet {
    fn collective(&mut self, _: u32, _: u32) -> bool {
        true
    }

    fn problem(&mut self, what: &str) {
        self.0.push(what.to_owned());
    }
}

impl Bench {
    pub(crate) fn up() -> Bench {
        let name = format!("t{}", std::process::id());
        let folder = std::env::temp_dir().join(format!("tenter-lab-{name}"));
        fs::create_dir_all(&folder).expect("a folder for the test");
        // Agents give up their privileges, and read the lab file before.
        let path = folder.join("lab.yaml");
        let text = format!(
            "name: {name}\nfabric:\n  leaves: 2\n  hosts_per_leaf: 4\n  spines: 2\n  host_rate: 100Mbps\n  \
             uplink_rate: 100Mbps\n  queue: 512KiB\n  mark_above_percent: 90\ntime_limit: 60s\n"
        );
        fs::write(&path, text).expect("a lab file");
        let lab = LabFile::read(&path).expect("the lab file is right");
        let bench = Bench {
            folder,
            lab,
            trials: AtomicU32::new(0),
        };
        let program = std::env::current_exe().expect("this test");
        let state = tenter_lab::up(&bench.lab, &program).expect("the lab comes up");
        assert_eq!((state.namespaces.len(), state.agents.len()), (13, 8));
        bench
    }

    pub(crate) fn namespace(&self, node: &str) -> String {
        namespace(&self.lab.keys.name, node)
    }

    /// A scenario with these jobs and this endpoint.
    pub(crate) fn trial(&self, text: &str) -> LabTrial {
        let path = self.folder.join("scenario.yaml");
        fs::write(&path, text).expect("a scenario");
        tenter_lab::load(&self.lab, &path, &[]).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Runs a scenario; what it left, its folder, and what went wrong meanwhile.
    pub(crate) fn run(&self, text: &str) -> (Outcome, PathBuf, Vec<String>) {
        let trial = self.trial(text);
        let (outcome, folder, problems) = self.run_trial(&trial);
        (
            outcome.unwrap_or_else(|error| panic!("{error}")),
            folder,
            problems,
        )
    }

    pub(crate) fn run_trial(
        &self,
        trial: &LabTrial,
    ) -> (Result<Outcome, LabError>, PathBuf, Vec<String>) {
        let number = self.trials.fetch_add(1, Ordering::Relaxed);
        let options = LabRun {
            folder: self.folder.join(format!("trial-{number}")),
            command: Vec::new(),
        };
        let mut quiet = Quiet(Vec::new());
        let outcome = tenter_lab::run(trial, &options, &mut quiet);
        (outcome, options.folder, quiet.0)
    }

    /// What agents said of themselves.
    pub(crate) fn hosts(folder: &Path) -> Vec<serde_json::Value> {
        let text = fs::read_to_string(folder.join("hosts.json")).expect("a list of hosts");
        serde_json::from_str(&text).expect("JSON")
    }
}

/// Asserts that a trial was completed, and prints why not.
pub(crate) fn complete(summary: &Summary, problems: &[String]) {
    assert!(
        summary.complete && problems.is_empty(),
        "{:?} {problems:?} {:?}",
        summary.stopped,
        summary.notes
    );
}

/// Runs a program that must succeed.
pub(crate) fn command(words: &[&str]) -> String {
    let output = Command::new(words[0]).args(&words[1..]).output();
    let output = output.unwrap_or_else(|error| panic!("{words:?}: {error}"));
    assert!(
        output.status.success(),
        "{words:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = tenter_lab::down(&self.lab.keys.name);
        let _ = fs::remove_dir_all(&self.folder);
    }
}
