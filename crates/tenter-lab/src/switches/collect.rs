//! Reading all switches at the same time.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use tenter_language::units::Time;

use super::keys::{Collector, GnmiKeys, SonicKeys, SwitchKeys};
use super::snapshot::Snapshot;
use super::{command, gnmi, snmp, sonic, text};

/// The answer from one switch, and what it refused.
#[derive(Clone, Debug)]
pub struct SwitchShown {
    /// The switch's name in the fabric.
    pub name: String,
    /// The counters, or a sentence that says why there are none; `None` for a switch that is read
    /// from files.
    pub shown: Option<Result<Snapshot, String>>,
    /// Further questions that the switch did not answer, each as a sentence.
    pub refused: Vec<String>,
}

/// Reads all switches side by side; relative names in their keys count from `folder`.
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

/// Waits until counters show the fabric as it fell silent, then reads all switches. The flag is
/// false if `waits` returned false, which ends the wait at once.
pub(crate) fn read_settled(
    switches: &[SwitchKeys],
    folder: &Path,
    waits: impl FnMut() -> bool,
) -> (Vec<SwitchShown>, bool) {
    let asked = switches.iter();
    // Files were saved by hand, and nobody waits for them.
    let asked = asked.filter(|keys| keys.collector != Collector::Files);
    let longest = asked.map(|keys| of_clock(keys.settle)).max();
    let settled = wait(longest.unwrap_or_default(), waits);
    (read_switches(switches, folder), settled)
}

/// Interval at which `waits` is asked during a wait.
const LOOK: Duration = Duration::from_millis(100);

/// Waits for `time` while `waits` returns true, and returns true if all of it has passed.
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

/// Runs a switch's command with the words `behind` added, and returns its output.
fn run<'w>(
    command: &[String],
    behind: impl IntoIterator<Item = &'w str>,
    timeout: Duration,
) -> Result<String, String> {
    let behind = behind.into_iter().map(str::to_owned);
    let words: Vec<String> = command.iter().cloned().chain(behind).collect();
    command::run(&words, timeout)
}

/// Reads several texts from one switch. The first must succeed; failures with the others go into
/// `refused`.
///
/// # Errors
/// Returns the reason why the first text is missing or not understood.
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
