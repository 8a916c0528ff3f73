//! The manifest of a trial: program, machine, time, and whether it ran to its end.

use std::fs;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::utc::rfc_3339;

/// `manifest.json` of a trial folder.
///
/// It is written when the folder is created, stating that the trial is not complete, and again as
/// the very last file of the trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of Tenter.
    pub tenter_version: String,
    /// The run, and its request.
    #[serde(flatten)]
    pub run: RunIdentity,
    /// Digest of the results; `None` until the trial has ended.
    pub digest: Option<String>,
    /// Whether every job was completed and every file written.
    pub complete: bool,
    /// Why the trial is not complete.
    pub stopped: Option<String>,
    /// The machine.
    pub machine: Machine,
    /// When the trial began, in UTC.
    pub started_utc: String,
    /// Wall time from there to the last file; `None` until then.
    pub wall_s: Option<f64>,
    /// Peak resident memory of the process; `None` until the end, and if the system does not report
    /// it.
    pub peak_rss_bytes: Option<u64>,
}

/// The run, and its request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunIdentity {
    /// Name of the scenario.
    pub scenario: String,
    /// Seed of every random stream.
    pub seed: u64,
    /// Commit from which Tenter was built, if the build knew it.
    pub commit: Option<String>,
    /// The command and its arguments.
    pub command: Vec<String>,
    /// Digest of the sources of Tenter, without those of its command; `None` in trials of earlier
    /// versions.
    #[serde(default)]
    pub program: Option<String>,
    /// The further runs that measured how much jobs slow each other down: `none`, `alone` or
    /// `pairs`.
    #[serde(default)]
    pub interference: String,
}

/// The machine a trial ran on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Operating system: `linux`, `macos`, `windows`.
    pub os: String,
    /// Instruction set: `x86_64`, `aarch64`.
    pub architecture: String,
    /// Model of the processor, if the system reports it.
    pub cpu_model: Option<String>,
    /// Processors that the program may use; `None` if the system does not report them.
    pub cores: Option<usize>,
}

impl Manifest {
    /// The manifest of a trial that begins now.
    pub fn begin(run: RunIdentity) -> Manifest {
        Manifest {
            tenter_version: env!("CARGO_PKG_VERSION").to_owned(),
            run,
            digest: None,
            complete: false,
            stopped: Some("still running, or killed before it could finish".to_owned()),
            machine: Machine::this(),
            started_utc: rfc_3339(SystemTime::now()),
            wall_s: None,
            peak_rss_bytes: None,
        }
    }
}

impl Machine {
    /// The machine this program runs on.
    pub fn this() -> Machine {
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

/// Peak resident memory of this process so far, in bytes; `None` on systems without `/proc`.
pub fn peak_rss_bytes() -> Option<u64> {
    fs::read_to_string("/proc/self/status")
        .ok()
        .as_deref()
        .and_then(high_water_mark)
}

/// The first `model name` of `/proc/cpuinfo`.
fn cpu_model(text: &str) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// `VmHWM` of `/proc/<pid>/status`, which is in units of 1,024 bytes although it says kB.
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
