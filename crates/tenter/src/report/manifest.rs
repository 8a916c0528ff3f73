//! A trial's manifest: program, machine, time, completion.

use std::collections::BTreeMap;
use std::fs;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::report::checksum::FileSum;
use crate::report::utc::rfc_3339;

/// A trial folder's `manifest.json`.
///
/// It is written when the folder is created, with `complete` false, and again as the trial's very
/// last file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Tenter version that ran the trial.
    pub tenter_version: String,
    /// The run's scenario, seed and command.
    #[serde(flatten)]
    pub run: RunIdentity,
    /// Results digest; `None` until the trial has ended.
    pub digest: Option<String>,
    /// True if every job completed and every file was written.
    pub complete: bool,
    /// Reason why the trial is not complete.
    pub stopped: Option<String>,
    /// Machine that ran the trial.
    pub machine: Machine,
    /// Start time in UTC (RFC 3339).
    pub started_utc: String,
    /// Wall time from the start to the last file, in seconds; `None` until then.
    pub wall_s: Option<f64>,
    /// The process's peak resident memory, in bytes; `None` until the end, and if the system does
    /// not report it.
    pub peak_rss_bytes: Option<u64>,
    /// Sums of the other files, by name; empty until the end, and in trials by earlier versions.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, FileSum>,
}

/// Identity of a run: its request, and the program that ran it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunIdentity {
    /// Name that the scenario gives itself; may be empty.
    pub scenario: String,
    /// Seed for all random streams.
    pub seed: u64,
    /// Commit from which Tenter was built, if the build knew it.
    pub commit: Option<String>,
    /// Command line, word by word.
    pub command: Vec<String>,
    /// Digest over Tenter's sources without the command's; `None` in trials by earlier versions.
    #[serde(default)]
    pub program: Option<String>,
    /// Further runs that measured how much jobs slow each other down: `none`, `alone` or `pairs`.
    #[serde(default)]
    pub interference: String,
}

/// A machine that ran a trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Operating system, such as `linux`, `macos` or `windows`.
    pub os: String,
    /// Instruction set, such as `x86_64` or `aarch64`.
    pub architecture: String,
    /// Processor model, if the system reports it.
    pub cpu_model: Option<String>,
    /// Processors that the program may use; `None` if the system does not report them.
    pub cores: Option<usize>,
}

impl Manifest {
    /// Makes the manifest for a trial that starts now.
    pub(crate) fn begin(run: RunIdentity) -> Manifest {
        Manifest {
            tenter_version: env!("CARGO_PKG_VERSION").to_owned(),
            run,
            digest: None,
            complete: false,
            // Nothing can change this text if the process is killed.
            stopped: Some("still running, or killed before it could finish".to_owned()),
            machine: Machine::this(),
            started_utc: rfc_3339(SystemTime::now()),
            wall_s: None,
            peak_rss_bytes: None,
            files: BTreeMap::new(),
        }
    }
}

impl Machine {
    /// Describes the machine that this program runs on.
    pub(crate) fn this() -> Machine {
        Machine {
            os: std::env::consts::OS.to_owned(),
            architecture: std::env::consts::ARCH.to_owned(),
            cpu_model: fs::read_to_string("/proc/cpuinfo")
                .ok()
                .as_deref()
                .and_then(cpu_model),
            cores: std::thread::available_parallelism().ok().map(usize::from),
        }
    }
}

/// Returns this process's peak resident memory so far, in bytes; `None` on systems without `/proc`.
pub fn peak_rss_bytes() -> Option<u64> {
    fs::read_to_string("/proc/self/status")
        .ok()
        .as_deref()
        .and_then(high_water_mark)
}

/// Returns the first `model name` in `/proc/cpuinfo`.
fn cpu_model(text: &str) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// Returns `VmHWM` from `/proc/<pid>/status` in bytes; its unit is 1,024 bytes although it says kB.
fn high_water_mark(text: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = value.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
    Some(kibibytes * 1_024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_linux_says() {
        let status = "Name:\ttenter\nVmPeak:\t  9000 kB\nVmHWM:\t    1234 kB\nVmRSS:\t 1000 kB\n";
        assert_eq!(high_water_mark(status), Some(1_234 * 1_024));
        let info = "processor\t: 0\nmodel name\t: Some CPU @ 2.0 GHz\n\nprocessor\t: 1\n";
        assert_eq!(cpu_model(info).as_deref(), Some("Some CPU @ 2.0 GHz"));
    }

    #[test]
    fn what_others_say() {
        assert_eq!(high_water_mark(""), None);
        assert_eq!(high_water_mark("VmHWM: lots\n"), None);
        assert_eq!(cpu_model("Hardware : x\n"), None);
    }

    #[test]
    fn a_new_manifest_says_it_is_not_complete() {
        let manifest = Manifest::begin(RunIdentity {
            seed: 7,
            ..RunIdentity::default()
        });
        let json = serde_json::to_value(&manifest).expect("plain data");
        assert_eq!(
            (&json["seed"], &json["complete"], &json["digest"]),
            (&7.into(), &false.into(), &serde_json::Value::Null)
        );
        assert_eq!(
            serde_json::from_value::<Manifest>(json).expect("own output"),
            manifest
        );
    }
}
