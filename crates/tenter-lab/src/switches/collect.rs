//! Reading all switches of a lab at once.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use tenter_units::Time;

use super::keys::{Collector, GnmiKeys, SonicKeys, SwitchKeys};
use super::snapshot::Snapshot;
use super::{command, gnmi, snmp, sonic, text};

/// What a switch has shown, or why it has not.
#[derive(Clone, Debug)]
pub struct SwitchShown {
    /// Its name.
    pub name: String,
    /// What it shows, or a sentence with the remedy; nothing of one that is read from files.
    pub shown: Option<Result<Snapshot, String>>,
    /// What it was asked for beside that and did not show, each a sentence.
    pub refused: Vec<String>,
}

/// Reads switches side by side; `folder` is that of the lab file.
pub fn read_switches(switches: &[SwitchKeys], folder: &Path) -> Vec<SwitchShown> {
    thread::scope(|scope| {
        let threads: Vec<_> = switches
            .iter()
            .map(|keys| scope.spawn(|| read(keys, folder)))
            .collect();
        let shown = threads.into_iter().map(thread::ScopedJoinHandle::join);
        shown
            .map(|shown| shown.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// The same when their counters are no older than the silence of the fabric, which has begun, or at
/// once when nobody waits any longer; whether they have settled.
pub(crate) fn read_settled(
    switches: &[SwitchKeys],
    folder: &Path,
    waits: impl FnMut() -> bool,
) -> (Vec<SwitchShown>, bool) {
    let asked = switches.iter();
    let asked = asked.filter(|keys| keys.collector != Collector::Files);
    let longest = asked.map(|keys| of_clock(keys.settle)).max();
    let settled = wait(longest.unwrap_or_default(), waits);
    (read_switches(switches, folder), settled)
}

/// Between two looks at whether anybody still waits.
const LOOK: Duration = Duration::from_millis(100);

/// Waits for a time, as long as somebody does; whether it has passed.
fn wait(time: Duration, mut waits: impl FnMut() -> bool) -> bool {
    let begin = Instant::now();
    loop {
        let left = time.saturating_sub(begin.elapsed());
        if left.is_zero() {
            return true;
        }
        if !waits() {
            return false;
        }
        thread::sleep(left.min(LOOK));
    }
}

fn of_clock(time: Time) -> Duration {
    Duration::from_nanos(time.ps() / 1_000)
}

fn read(keys: &SwitchKeys, folder: &Path) -> SwitchShown {
    let timeout = of_clock(keys.timeout);
    let name = &keys.name;
    let mut refused = Vec::new();
    let shown = match &keys.collector {
        Collector::Snmp(snmp) => {
            let read = snmp::read(snmp, folder, timeout);
            Some(read.map_err(|why| format!("switch `{name}`: {why}")))
        }
        Collector::Sonic(sonic) => Some(of_sonic(name, sonic, timeout, &mut refused)),
        Collector::Gnmi(gnmi) => Some(of_gnmi(name, gnmi, timeout, &mut refused)),
        Collector::Files => None,
    };
    SwitchShown {
        name: name.clone(),
        shown,
        refused,
    }
}

fn of_sonic(
    name: &str,
    keys: &SonicKeys,
    timeout: Duration,
    refused: &mut Vec<String>,
) -> Result<Snapshot, String> {
    let commands = sonic::COMMANDS.iter();
    let commands = commands.map(|command| format!("show {command}"));
    together(name, commands, refused, |command| {
        run(&keys.command, command.split(' '), timeout)
    })
}

fn of_gnmi(
    name: &str,
    keys: &GnmiKeys,
    timeout: Duration,
    refused: &mut Vec<String>,
) -> Result<Snapshot, String> {
    let paths = gnmi::PATHS.iter().map(|path| (*path).to_owned());
    together(name, paths, refused, |path| {
        let behind = ["get", "--path", path, "--format", "json"];
        run(&keys.command, behind, timeout)
    })
}

/// What the command of a switch prints, with further words behind its own.
fn run<'w>(
    command: &[String],
    behind: impl IntoIterator<Item = &'w str>,
    timeout: Duration,
) -> Result<String, String> {
    let behind = behind.into_iter().map(str::to_owned);
    let words: Vec<String> = command.iter().cloned().chain(behind).collect();
    command::run(&words, timeout)
}

/// What several texts show; the first must be there and right. Of the others those count that are,
/// and why the rest do not goes into `refused`.
fn together(
    name: &str,
    asked: impl Iterator<Item = String>,
    refused: &mut Vec<String>,
    ask: impl Fn(&str) -> Result<String, String>,
) -> Result<Snapshot, String> {
    let mut snapshot: Option<Snapshot> = None;
    for asked in asked {
        let read = ask(&asked)
            .map_err(|why| format!("switch `{name}`, asked for `{asked}`: {why}"))
            .and_then(|text| text::read(&text).map_err(|fault| fault.of(name, &asked)));
        match (read, &mut snapshot) {
            (Ok(read), None) => snapshot = Some(read),
            (Ok(read), Some(snapshot)) => snapshot.merge(read),
            (Err(why), None) => return Err(why),
            (Err(why), Some(_)) => refused.push(why),
        }
    }
    snapshot.ok_or_else(|| format!("switch `{name}` is asked for nothing"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn switch(name: &str, command: &[&str]) -> SwitchKeys {
        SwitchKeys {
            name: name.to_owned(),
            ports: vec!["Ethernet0".to_owned()],
            timeout: Time::from_us(2_000_000),
            settle: Time::ZERO,
            collector: Collector::Sonic(SonicKeys {
                command: command.iter().map(|&word| word.to_owned()).collect(),
            }),
        }
    }

    #[test]
    fn a_wait_ends_when_nobody_waits() {
        assert!(wait(Duration::ZERO, || false));
        assert!(wait(Duration::from_millis(1), || true));
        let mut looks = 0;
        let hour = Duration::from_secs(3_600);
        assert!(!wait(hour, || {
            looks += 1;
            looks < 3
        }));
        assert_eq!(looks, 3);
    }

    /// A shell stands in for the switch: it prints a table for one command, and fails at others.
    #[test]
    fn commands_that_a_switch_lacks_leave_its_counters_empty() {
        let script = "case \"$*\" in *'interfaces counters'*) \
                      printf 'IFACE RX_OK TX_OK TX_DRP\\nEthernet0 1,000 2 3\\n';; \
                      *) echo 'no such command' >&2; exit 2;; esac";
        let switches = [
            switch("leaf0", &["sh", "-c", script, "sh"]),
            switch("leaf1", &["false"]),
            SwitchKeys {
                collector: Collector::Files,
                ..switch("leaf2", &[])
            },
        ];
        let shown = read_switches(&switches, Path::new("."));
        let first = shown[0].shown.as_ref().expect("it is read");
        let snapshot = first.as_ref().expect("it answers");
        assert_eq!(snapshot.0["Ethernet0"].own.len(), 3);
        let refused = &shown[0].refused;
        assert_eq!(refused.len(), sonic::COMMANDS.len() - 1);
        assert!(refused[0].contains("no such command"), "{refused:?}");
        let second = shown[1].shown.as_ref().expect("it is asked");
        let why = second.as_ref().expect_err("it fails");
        assert!(
            why.starts_with("switch `leaf1`, asked for `show interfaces counters`: `false` failed"),
            "{why}"
        );
        assert!(shown[2].shown.is_none());
    }
}
