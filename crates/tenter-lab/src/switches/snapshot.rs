//! What a switch shows at an instant.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use tenter_sim::real_time::{Counter, Counters, PortCounts};

/// What an interface shows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct InterfaceSnapshot {
    /// Counters of the whole interface.
    pub own: Counters,
    /// Counters of its classes.
    pub classes: BTreeMap<u8, Counters>,
    /// Its counters of 32 bits, which begin again at 0.
    #[serde(skip)]
    pub(super) narrow: BTreeSet<Counter>,
}

impl InterfaceSnapshot {
    /// A counter of the whole interface, if it is known: its own, or that of its classes together.
    pub fn count(&self, counter: Counter) -> Option<u64> {
        let counts = PortCounts {
            own: self.own.clone(),
            classes: self.classes.clone(),
            ..PortCounts::default()
        };
        counts.count(counter)
    }
}

/// What a switch shows, by the names of its interfaces.
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

    /// An interface, or a class of it, shows this.
    pub(super) fn set(&mut self, interface: &str, class: Option<u8>, counter: Counter, to: u64) {
        self.counters(interface, class).insert(counter, to);
    }

    /// The same of a counter of 32 bits.
    pub(super) fn set_narrow(&mut self, interface: &str, counter: Counter, to: u32) {
        self.set(interface, None, counter, u64::from(to));
        let snapshot = self.0.entry(interface.to_owned()).or_default();
        snapshot.narrow.insert(counter);
    }

    /// Adds what another text of the same switch shows.
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
