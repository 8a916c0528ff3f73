//! Counters that a switch shows at an instant.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use tenter_sim::real_time::{Counter, Counters, PortCounts};

/// Counters that one interface shows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct InterfaceSnapshot {
    /// Counters for the interface as a whole.
    pub own: Counters,
    /// Counters by traffic class, 0 to 7.
    pub classes: BTreeMap<u8, Counters>,
    /// Counters in `own` that have 32 bits: such a counter wraps to 0 within a long trial.
    #[serde(skip)]
    pub(super) narrow: BTreeSet<Counter>,
}

impl InterfaceSnapshot {
    /// Returns a counter for the whole interface: its own, or the one that all classes together
    /// have; `None` if neither is known.
    pub fn count(&self, counter: Counter) -> Option<u64> {
        let counts = PortCounts {
            own: self.own.clone(),
            classes: self.classes.clone(),
            ..PortCounts::default()
        };
        counts.count(counter)
    }
}

/// A switch's counters, by interface name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Snapshot(pub BTreeMap<String, InterfaceSnapshot>);

impl Snapshot {
    fn counters(&mut self, interface: &str, class: Option<u8>) -> &mut Counters {
        let snapshot = self.0.entry(interface.to_owned()).or_default();
        match class {
            None => &mut snapshot.own,
            Some(class) => snapshot.classes.entry(class).or_default(),
        }
    }

    /// Sets a counter for an interface, or for its class `class`.
    pub(super) fn set(&mut self, interface: &str, class: Option<u8>, counter: Counter, to: u64) {
        self.counters(interface, class).insert(counter, to);
    }

    /// Sets an interface counter that has 32 bits.
    pub(super) fn set_narrow(&mut self, interface: &str, counter: Counter, to: u32) {
        self.set(interface, None, counter, u64::from(to));
        let snapshot = self.0.entry(interface.to_owned()).or_default();
        snapshot.narrow.insert(counter);
    }

    /// Adds counters from another text by the same switch; its values replace earlier ones.
    pub(super) fn merge(&mut self, other: Snapshot) {
        for (name, of) in other.0 {
            let snapshot = self.0.entry(name).or_default();
            snapshot.own.extend(of.own);
            snapshot.narrow.extend(of.narrow);
            for (class, counters) in of.classes {
                snapshot.classes.entry(class).or_default().extend(counters);
            }
        }
    }
}
