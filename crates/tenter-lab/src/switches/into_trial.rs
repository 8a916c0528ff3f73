//! Counters from files, added to a trial that has been measured.

use std::path::Path;

use tenter::Scenario;
use tenter::report::{read_counts, read_summary, replace_counts};
use tenter_results::{EngineKind, NoteCode, NoteRow};
use tenter_sim::real_time::RealBooks;

use super::collect::SwitchShown;
use super::difference::measured;
use super::files;
use super::keys::SwitchKeys;
use crate::error::LabError;

/// Adds the counters in two folders, saved before and after a trial, to the trial's tables. Returns
/// the warnings, which the summary then has, too.
///
/// # Errors
/// Returns an error if a folder cannot be read or understood, or if the trial cannot be written.
pub fn add_counters(
    switches: &[SwitchKeys],
    trial: &Path,
    before: &Path,
    after: &Path,
) -> Result<Vec<String>, LabError> {
    if switches.is_empty() {
        return Err(LabError::Input(
            "the lab file has no `switches`: list them with their `ports`".to_owned(),
        ));
    }
    let saved = Saved::read(switches, before, after)?;
    let mut counts = read_counts(trial).map_err(tenter::Error::from)?;
    // Only the trial is at hand here, so nodes and ports come from its own table.
    let node = |name: &str| {
        let own = counts.ports.iter().filter(|port| port.node_name == name);
        let node = own.clone().next()?.node;
        Some((node, own.count() as u16))
    };
    let found = measured(&saved.switches, &saved.before, &saved.after, node);
    let plan = Scenario::of_trial(trial)?.resolve()?;
    let books = RealBooks::new(plan.resolved())?;
    let mut summary = read_summary(trial).map_err(tenter::Error::from)?;
    if summary.engine.engine != EngineKind::Lab {
        return Err(LabError::Input(format!(
            "`{}` was simulated; name a trial that `tenter lab run` has measured",
            trial.display()
        )));
    }
    books.replace(&mut counts, &mut summary.totals, &found.ports);
    let is_of_switch = |note: &NoteRow| {
        let mut names = saved
            .switches
            .iter()
            .map(|keys| format!("switch `{}`", keys.name));
        names.any(|name| note.text.contains(&name))
    };
    // Warnings about these switches have been replaced by new ones, so adding twice changes
    // nothing.
    summary.notes.retain(|note| !is_of_switch(note));
    let told = found.warnings.iter();
    let told = told.map(|text| NoteRow::new(NoteCode::LabSwitch, text));
    summary.notes.extend(told);
    replace_counts(trial, &counts, &summary).map_err(tenter::Error::from)?;
    Ok(found.warnings)
}

/// Snapshots of the switches that have a folder both in `before` and in `after`. All other switches
/// stay as the trial has them.
#[derive(Default)]
struct Saved {
    switches: Vec<SwitchKeys>,
    before: Vec<SwitchShown>,
    after: Vec<SwitchShown>,
}

impl Saved {
    fn read(switches: &[SwitchKeys], before: &Path, after: &Path) -> Result<Saved, LabError> {
        let [first, second] = [before, after].map(|folder| files::read(switches, folder));
        let mut saved = Saved::default();
        for ((keys, then), now) in switches.iter().zip(first?).zip(second?) {
            let lacks = match (&then.shown, &now.shown) {
                (None, None) => None,
                (Some(_), None) => Some(after),
                (None, Some(_)) => Some(before),
                (Some(_), Some(_)) => {
                    saved.switches.push(keys.clone());
                    saved.before.push(then);
                    saved.after.push(now);
                    None
                }
            };
            if let Some(folder) = lacks {
                return Err(LabError::Input(format!(
                    "switch `{}` has no folder in `{}`: save its counters before the trial and after it",
                    keys.name,
                    folder.display()
                )));
            }
        }
        if saved.switches.is_empty() {
            let names: Vec<&str> = switches.iter().map(|keys| keys.name.as_str()).collect();
            return Err(LabError::Input(format!(
                "`{}` has no folder with the name of a switch of the lab file: {}",
                before.display(),
                names.join(", ")
            )));
        }
        Ok(saved)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tenter::report::{RunIdentity, TrialFolder, read_rows};
    use tenter::resolve::Format;
    use tenter_language::units::{Instant, Time};
    use tenter_results::{PortRow, QueueRow, SwitchRow};
    use tenter_sim::real_time::RealEnd;

    use super::*;
    use crate::switches::keys::Collector;

    const SCENARIO: &str = "\
name: files
fabric: {kind: leaf-spine, leaves: 2, hosts_per_leaf: 1, spines: 1, host_rate: 10Gbps, uplink_rate: 10Gbps}
jobs: [{name: j, ranks: 2, collectives: [{collective: all-to-all, size: 64KiB}]}]
";

    /// A trial of which no host and no switch could be read.
    fn trial(folder: &Path) {
        let scenario = Scenario::parse("files.yaml", SCENARIO.to_owned(), Format::Yaml);
        let plan = scenario.resolve().expect("it is right");
        let books = RealBooks::new(plan.resolved()).expect("it can be built");
        let outcome = books.finish(RealEnd {
            ended: Instant::from_ps(1_000_000_000),
            stopped: None,
            failures: vec![None],
            hosts: &[None, None],
            ports: &[],
            notes: ["switch `leaf0` was not read", "other"]
                .map(|text| NoteRow::new(NoteCode::LabSwitch, text))
                .into_iter()
                .collect(),
        });
        let identity = RunIdentity {
            scenario: "files".to_owned(),
            seed: plan.seed(),
            commit: None,
            command: Vec::new(),
            program: None,
            interference: "none".to_owned(),
        };
        let new = TrialFolder::create(folder, plan.to_yaml(), plan.names(), identity);
        let finished = new.and_then(|new| new.finish(&outcome.summary, &outcome.counts));
        finished.expect("it is written");
    }

    fn texts(folder: &Path, frames: u64, pauses: u64, drops: u64) {
        let own = folder.join("leaf0");
        fs::create_dir_all(&own).expect("a folder");
        let counters = format!(
            "IFACE STATE RX_OK TX_OK TX_DRP\nEthernet0 U {frames} {frames} {drops}\n\
             Ethernet4 U 5 6 N/A\n"
        );
        fs::write(own.join("counters.txt"), counters).expect("a file");
        let pfc = format!("Port Rx PFC0 PFC3\nEthernet0 0 {pauses}\n");
        fs::write(own.join("pfc.txt"), pfc).expect("a file");
    }

    #[test]
    fn counters_in_files_come_into_the_tables_of_a_trial() {
        let folder = std::env::temp_dir().join(format!("tenter-counters-{}", std::process::id()));
        let [measured, before, after] = ["trial", "before", "after"].map(|of| folder.join(of));
        fs::create_dir_all(&folder).expect("a folder");
        trial(&measured);
        let rows: Vec<PortRow> = read_rows(&measured).expect("a table");
        assert!(rows.iter().all(|row| row.unread.lacks("tx_frames")));
        texts(&before, 100, 7, 1);
        texts(&after, 1_100, 19, 4);
        let leaf = SwitchKeys {
            name: "leaf0".to_owned(),
            ports: vec!["Ethernet0".to_owned(), "Ethernet4".to_owned()],
            timeout: Time::from_us(1_000_000),
            settle: Time::ZERO,
            collector: Collector::Files,
        };
        let absent = SwitchKeys {
            name: "leaf1".to_owned(),
            ..leaf.clone()
        };
        let switches = [leaf, absent.clone()];
        let told = add_counters(&switches, &measured, &before, &after).expect("it is right");
        assert!(told[0].contains("does not tell marked frames"), "{told:?}");
        assert_eq!(
            told.len(),
            1,
            "of `leaf1` there is nothing to tell: {told:?}"
        );
        let none = add_counters(&[absent], &measured, &before, &after);
        let none = none.expect_err("no folder is its own").to_string();
        assert!(none.contains("a switch of the lab file: leaf1"), "{none}");
        let rows: Vec<PortRow> = read_rows(&measured).expect("a table");
        let of = |port: u16| {
            let mut rows = rows.iter();
            let row = rows.find(|row| row.node_name == "leaf0" && row.port == port);
            row.expect("it is there")
        };
        assert_eq!((of(0).tx_frames, of(0).dropped_frames), (1_000, 3));
        assert_eq!(of(0).rx_xoff_frames, 12);
        for column in ["tx_bytes", "marked_frames", "paused_ns", "utilisation"] {
            assert!(of(0).unread.lacks(column), "{column}");
        }
        assert!(of(1).unread.lacks("dropped_frames") && !of(1).unread.lacks("tx_frames"));
        let queues: Vec<QueueRow> = read_rows(&measured).expect("a table");
        assert_eq!((queues.len(), queues[0].class), (1, 3));
        let leaves: Vec<SwitchRow> = read_rows(&measured).expect("a table");
        assert!(leaves[0].unread.lacks("dropped_frames"), "a port lacks it");
        let summary = read_summary(&measured).expect("a summary");
        assert_eq!(summary.totals.xoff_frames, 0);
        assert_eq!(summary.totals.dropped_frames, 3);
        assert_eq!(summary.notes[0].text, "other");
        // The same again changes nothing.
        add_counters(&switches, &measured, &before, &after).expect("it is right");
        let again = read_summary(&measured).expect("a summary");
        assert_eq!(again, summary);
        let broken = after.join("leaf0/pfc.txt");
        fs::write(&broken, "Port Rx PFC0 PFC3\nEthernet0 0 x\n").expect("a file");
        let why = add_counters(&switches, &measured, &before, &after);
        let why = why.expect_err("it is wrong").to_string();
        assert!(
            why.contains("switch `leaf0`") && why.contains("pfc.txt`, line 2"),
            "{why}"
        );
        fs::remove_dir_all(&folder).expect("it was there");
    }
}
