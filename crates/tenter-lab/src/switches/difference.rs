//! Growth in switches' counters between two snapshots, by topology port.

use tenter_sim::real_time::{Counter, Counters, PortCounts};

use super::collect::SwitchShown;
use super::keys::SwitchKeys;
use super::snapshot::{InterfaceSnapshot, Snapshot};

/// Switch counters over a trial.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measured {
    /// Growth at the ports that could be read.
    pub(crate) ports: Vec<PortCounts>,
    /// Warnings for the trial's readers, each a sentence.
    pub(crate) warnings: Vec<String>,
}

/// Counters whose absence is worth a warning, with the words for it.
const TOLD: [(Counter, &str); 5] = [
    (Counter::DroppedFrames, "dropped frames"),
    (Counter::MarkedFrames, "marked frames"),
    (Counter::QueueHighWaterBytes, "the longest queue"),
    (Counter::TxPauseFrames, "pause frames sent"),
    (Counter::RxPauseFrames, "pause frames received"),
];

/// Returns the growth of all switches' counters. For a switch's name, `node` returns its node
/// number and port count in the topology.
pub(crate) fn measured(
    switches: &[SwitchKeys],
    before: &[SwitchShown],
    after: &[SwitchShown],
    node: impl Fn(&str) -> Option<(u32, u16)>,
) -> Measured {
    let mut measured = Measured::default();
    for ((keys, before), after) in switches.iter().zip(before).zip(after) {
        let name = &keys.name;
        measured.warnings.extend(refused(before, after));
        let (before, after) = match both(name, before, after) {
            Ok(both) => both,
            Err(why) => {
                measured.warnings.push(why);
                continue;
            }
        };
        // Nodes are looked up last: a switch that cannot be read has a warning already.
        let Some((node, ports)) = node(name) else {
            measured.warnings.push(format!(
                "the fabric has no switch `{name}`: correct `switches[].name` of the lab file"
            ));
            continue;
        };
        if keys.ports.len() > usize::from(ports) {
            measured.warnings.push(format!(
                "switch `{name}` has {ports} ports in the fabric, and {} in the lab file: the last ones are left out",
                keys.ports.len()
            ));
        }
        let pairs = (0..ports).zip(&keys.ports);
        let first = measured.ports.len();
        for (port, interface) in pairs {
            let (Some(then), Some(now)) = (before.0.get(interface), after.0.get(interface)) else {
                measured.warnings.push(no_interface(name, interface, after));
                continue;
            };
            let mut restarted = false;
            let grown = since(now, then, &mut restarted);
            if restarted {
                measured.warnings.push(format!(
                    "counters of `{interface}` of switch `{name}` were cleared during the trial, and are empty"
                ));
            }
            // A counter that has not fallen may have been cleared as well, and have grown since. So
            // all counters of the interface are left out.
            let counts = if restarted {
                PortCounts::default()
            } else {
                grown
            };
            measured.ports.push(PortCounts {
                node,
                port,
                ..counts
            });
        }
        measured
            .warnings
            .extend(lacks(name, &measured.ports[first..]));
    }
    measured
}

/// Returns a switch's snapshots, before and after the trial.
///
/// # Errors
/// Returns a sentence that says why one is missing.
fn both<'s>(
    name: &str,
    before: &'s SwitchShown,
    after: &'s SwitchShown,
) -> Result<(&'s Snapshot, &'s Snapshot), String> {
    let not_read = |when: &str, why: &str| {
        format!("switch `{name}` was not read {when} the trial, and its counters are empty: {why}")
    };
    match (&before.shown, &after.shown) {
        (Some(Ok(before)), Some(Ok(after))) => Ok((before, after)),
        (Some(Err(why)), _) => Err(not_read("before", why)),
        (_, Some(Err(why))) => Err(not_read("after", why)),
        _ => Err(format!(
            "counters of switch `{name}` are empty until `tenter lab counters` adds them from files"
        )),
    }
}

/// Returns warnings about everything that a switch refused, before the trial or after it.
fn refused(before: &SwitchShown, after: &SwitchShown) -> Vec<String> {
    let new = after.refused.iter();
    let new = new.filter(|why| !before.refused.contains(why));
    let all = before.refused.iter().chain(new);
    all.map(|why| format!("{why}; these counters are empty"))
        .collect()
}

fn no_interface(switch: &str, interface: &str, shown: &Snapshot) -> String {
    const SHOWN: usize = 4;
    let names: Vec<&str> = shown.0.keys().map(String::as_str).take(SHOWN).collect();
    let more = match shown.0.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "switch `{switch}` shows no interface `{interface}`, but {}{more}: correct `ports` of the lab file",
        names.join(", ")
    )
}

/// Returns a warning that lists the counters which none of a switch's ports has; `None` if all are
/// there.
fn lacks(switch: &str, ports: &[PortCounts]) -> Option<String> {
    let absent = TOLD.iter().filter(|(counter, _)| {
        let knows = |port: &PortCounts| {
            let mut classes = port.classes.values();
            port.own.contains_key(counter) || classes.any(|of| of.contains_key(counter))
        };
        !ports.iter().any(knows)
    });
    let absent: Vec<&str> = absent.map(|told| told.1).collect();
    (!absent.is_empty() && !ports.is_empty()).then(|| {
        format!(
            "switch `{switch}` does not tell {}: these are empty, and sums lack them",
            absent.join(", ")
        )
    })
}

/// Returns an interface's growth between two snapshots. Sets `restarted` if a counter has fallen.
fn since(now: &InterfaceSnapshot, then: &InterfaceSnapshot, restarted: &mut bool) -> PortCounts {
    let mut counts = PortCounts::default();
    let none = Counters::new();
    for (&counter, &value) in &now.own {
        let before = then.own.get(&counter).copied();
        let is_narrow = now.narrow.contains(&counter);
        if let Some(more) = more(counter, value, before, is_narrow, restarted) {
            counts.own.insert(counter, more);
        }
    }
    for (&class, of) in &now.classes {
        let before = then.classes.get(&class).unwrap_or(&none);
        for (&counter, &value) in of {
            let before = before.get(&counter).copied();
            if let Some(more) = more(counter, value, before, false, restarted) {
                counts
                    .classes
                    .entry(class)
                    .or_default()
                    .insert(counter, more);
            }
        }
    }
    counts
}

/// Returns the growth of one counter; `None` if it is unknown. A high-water mark is returned as it
/// is if it has risen in the trial or is 0; otherwise it may be from before the trial.
fn more(
    counter: Counter,
    now: u64,
    before: Option<u64>,
    is_narrow: bool,
    restarted: &mut bool,
) -> Option<u64> {
    let before = before?;
    if counter.is_high_water() {
        return (now > before || now == 0).then_some(now);
    }
    if now >= before {
        return Some(now - before);
    }
    // It has 32 bits and has wrapped, once at most.
    if is_narrow {
        return Some(now + (1 << 32) - before);
    }
    *restarted = true;
    None
}

#[cfg(test)]
mod tests {
    use tenter_language::units::Time;

    use super::*;
    use crate::switches::keys::Collector;

    fn switch(name: &str) -> SwitchKeys {
        SwitchKeys {
            name: name.to_owned(),
            ports: vec!["e0".to_owned(), "e1".to_owned()],
            timeout: Time::from_us(1_000_000),
            settle: Time::ZERO,
            collector: Collector::Files,
        }
    }

    fn shown(name: &str, snapshot: Result<Snapshot, String>) -> SwitchShown {
        SwitchShown {
            name: name.to_owned(),
            shown: Some(snapshot),
            refused: Vec::new(),
        }
    }

    fn snapshot(bytes: u64, drops: u32, mark: u64) -> Snapshot {
        let mut snapshot = Snapshot::default();
        snapshot.set("e0", None, Counter::TxBytes, bytes);
        snapshot.set_narrow("e0", Counter::DroppedFrames, drops);
        snapshot.set("e0", Some(3), Counter::QueueHighWaterBytes, mark);
        snapshot
    }

    #[test]
    fn counters_are_differences_and_marks_are_not() {
        let find = |before: Snapshot, after: Snapshot| {
            let before = [shown("leaf0", Ok(before))];
            let after = [shown("leaf0", Ok(after))];
            measured(&[switch("leaf0")], &before, &after, |_| Some((8, 4)))
        };
        let found = find(snapshot(100, u32::MAX, 40), snapshot(350, 4, 70));
        let port = &found.ports[0];
        assert_eq!((port.node, port.port), (8, 0));
        assert_eq!(port.own[&Counter::TxBytes], 250);
        assert_eq!(port.own[&Counter::DroppedFrames], 5, "it began again at 0");
        assert_eq!(port.classes[&3][&Counter::QueueHighWaterBytes], 70);
        let said = found.warnings.join("\n");
        assert!(said.contains("no interface `e1`, but e0:"), "{said}");
        assert!(
            said.contains("does not tell marked frames, pause frames sent"),
            "{said}"
        );
        let same = find(snapshot(0, 0, 40), snapshot(0, 0, 40));
        assert!(
            same.ports[0].classes.is_empty(),
            "the mark may be from before"
        );
        let cleared = find(snapshot(100, 0, 0), snapshot(50, 0, 0));
        assert!(!cleared.ports[0].own.contains_key(&Counter::TxBytes));
        assert!(
            cleared
                .warnings
                .join("\n")
                .contains("were cleared during the trial")
        );
    }

    #[test]
    fn a_switch_that_cannot_be_read_is_named_and_others_stay() {
        let switches = [switch("leaf0"), switch("leaf1"), switch("nowhere")];
        let before = [
            shown("leaf0", Err("switch `leaf0`: it is off".to_owned())),
            shown("leaf1", Ok(snapshot(0, 0, 0))),
            shown("nowhere", Ok(Snapshot::default())),
        ];
        let after = before.clone();
        let node = |name: &str| (name != "nowhere").then_some((9, 4));
        let found = measured(&switches, &before, &after, node);
        assert_eq!(found.ports.len(), 1);
        assert!(found.warnings[0].contains("was not read before the trial"));
        assert!(
            found
                .warnings
                .last()
                .is_some_and(|last| last.contains("no switch `nowhere`"))
        );
    }
}
