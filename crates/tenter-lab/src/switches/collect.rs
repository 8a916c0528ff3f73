//! Reading all switches of a lab at once.

use std::path::Path;
use std::thread;
use std::time::Duration;

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
}

/// Reads switches side by side; `folder` is that of the lab file.
pub fn read_switches(switches: &[SwitchKeys], folder: &Path) -> Vec<SwitchShown> {
    thread::scope(|scope| {
        let threads: Vec<_> = switches
            .iter()
            .map(|keys| scope.spawn(|| read(keys, folder)))
            .collect();
        let shown = switches.iter().zip(threads).map(|(keys, thread)| {
            let shown = thread.join();
            SwitchShown {
                name: keys.name.clone(),
                shown: shown.unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            }
        });
        shown.collect()
    })
}

fn read(keys: &SwitchKeys, folder: &Path) -> Option<Result<Snapshot, String>> {
    let timeout = Duration::from_nanos(keys.timeout.ps() / 1_000);
    let name = &keys.name;
    Some(match &keys.collector {
        Collector::Snmp(snmp) => {
            let read = snmp::read(snmp, folder, timeout);
            read.map_err(|why| format!("switch `{name}`: {why}"))
        }
        Collector::Sonic(sonic) => of_sonic(name, sonic, timeout),
        Collector::Gnmi(gnmi) => of_gnmi(name, gnmi, timeout),
        Collector::Files => return None,
    })
}

fn of_sonic(name: &str, keys: &SonicKeys, timeout: Duration) -> Result<Snapshot, String> {
    let commands = sonic::COMMANDS
        .iter()
        .map(|command| format!("show {command}"));
    together(name, commands, |command| {
        let words = command.split(' ').map(str::to_owned);
        let words: Vec<String> = keys.command.iter().cloned().chain(words).collect();
        command::run(&words, timeout)
    })
}

fn of_gnmi(name: &str, keys: &GnmiKeys, timeout: Duration) -> Result<Snapshot, String> {
    let paths = gnmi::PATHS.iter().map(|path| (*path).to_owned());
    together(name, paths, |path| {
        let behind = ["get", "--path", path, "--format", "json"].map(str::to_owned);
        let words: Vec<String> = keys.command.iter().cloned().chain(behind).collect();
        command::run(&words, timeout)
    })
}

/// What several texts show; the first must be there and right, of the others those that are.
fn together(
    name: &str,
    asked: impl Iterator<Item = String>,
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
            // Its counters stay empty, which the trial says.
            (Err(_), Some(_)) => {}
        }
    }
    snapshot.ok_or_else(|| format!("switch `{name}` is asked for nothing"))
}

#[cfg(test)]
mod tests {
    use tenter_units::Time;

    use super::*;

    fn switch(name: &str, command: &[&str]) -> SwitchKeys {
        SwitchKeys {
            name: name.to_owned(),
            ports: vec!["Ethernet0".to_owned()],
            timeout: Time::from_us(2_000_000),
            collector: Collector::Sonic(SonicKeys {
                command: command.iter().map(|&word| word.to_owned()).collect(),
            }),
        }
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
        let second = shown[1].shown.as_ref().expect("it is asked");
        let why = second.as_ref().expect_err("it fails");
        assert!(
            why.starts_with("switch `leaf1`, asked for `show interfaces counters`: `false` failed"),
            "{why}"
        );
        assert!(shown[2].shown.is_none());
    }
}
