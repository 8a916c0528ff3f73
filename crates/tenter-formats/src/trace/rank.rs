//! The trace of one rank.

use std::collections::BTreeMap;

use tenter_units::Time;
use tenter_workload::graph::{CollectiveName, Measured};
use tenter_workload::spec::Dependencies;

/// What an operation of a trace is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// It takes no time, and others may wait for it.
    Nothing,
    /// The rank computes, or does what took so long when it was recorded.
    Compute(Time),
    /// It does nothing for a time.
    Wait(Time),
    /// It sends a message.
    Send { peer: u32, bytes: u64, tag: u32 },
    /// It receives one.
    Receive { peer: u32, bytes: u64, tag: u32 },
    /// It takes part in a collective with so many bytes of its own.
    Collective {
        name: CollectiveName,
        bytes: u64,
        group: u32,
    },
}

/// An operation of a trace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TraceNode {
    /// Its number in the file.
    pub(crate) id: u64,
    pub(crate) what: What,
    pub(crate) stream: u32,
    /// The stream that it was recorded on.
    pub(crate) recorded: Option<u32>,
    /// When it was carried out where it was recorded.
    pub(crate) measured: Option<Measured>,
    /// Where those that it waits for begin and end in the lists of the rank.
    data: (u32, u32),
    control: (u32, u32),
}

/// The trace of one rank. What an operation waits for is added before it is.
#[derive(Clone, Debug, Default)]
pub(crate) struct RankTrace {
    pub(crate) nodes: Vec<TraceNode>,
    data: Vec<u64>,
    control: Vec<u64>,
    /// Where the lists of the operation that comes next begin.
    next: (u32, u32),
    measured: Option<Measured>,
}

/// What waits for what, by places.
pub(crate) struct Waits {
    /// Who waits, and for whom.
    pub(crate) list: Vec<(u32, u32)>,
    /// Waits for numbers that there are not.
    pub(crate) missing: u64,
}

impl RankTrace {
    /// The operation that comes next waits for another one's data.
    pub(crate) fn waits_for(&mut self, id: u64) {
        self.data.push(id);
    }

    /// The operation that comes next was called by another one.
    pub(crate) fn called_by(&mut self, id: u64) {
        self.control.push(id);
    }

    /// The operation that comes next started at a time in ps, if that is known, and took so long.
    pub(crate) fn was_measured(&mut self, start: Option<u64>, took: Time) {
        let start = start.map(Time::from_ps);
        self.measured = Some(Measured { start, took });
    }

    /// Starts were given in a unit of so many ps, since any time: from now on they are ps since the
    /// first one. Times since 1970 are more ps than 64 bits hold. Gives how many starts are too
    /// late for that, which are dropped.
    pub(crate) fn count_starts_from_first(&mut self, unit: u64) -> u64 {
        let starts = self.nodes.iter().filter_map(|node| node.measured?.start);
        let first = starts.min().unwrap_or_default();
        let mut too_late = 0;
        let measured = self.nodes.iter_mut();
        for measured in measured.filter_map(|node| node.measured.as_mut()) {
            let since = measured.start.map(|start| start.ps() - first.ps());
            let in_ps = since.and_then(|since| since.checked_mul(unit));
            too_late += u64::from(since.is_some() && in_ps.is_none());
            measured.start = in_ps.map(Time::from_ps);
        }
        too_late
    }

    /// Adds an operation with what was said of it before.
    pub(crate) fn add(&mut self, id: u64, what: What, stream: u32, recorded: Option<u32>) {
        let ends = (self.data.len() as u32, self.control.len() as u32);
        self.nodes.push(TraceNode {
            id,
            what,
            stream,
            recorded,
            measured: self.measured.take(),
            data: (self.next.0, ends.0),
            control: (self.next.1, ends.1),
        });
        self.next = ends;
    }

    /// Sorts the operations by their numbers, in which traces issue them; gives how many had the
    /// number of another one, which are left out.
    pub(crate) fn put_in_order(&mut self) -> u64 {
        let before = self.nodes.len();
        self.nodes.sort_by_key(|node| node.id);
        self.nodes.dedup_by_key(|node| node.id);
        (before - self.nodes.len()) as u64
    }

    /// The place of an operation, once they are in order.
    fn place(&self, id: u64) -> Option<u32> {
        let first = self.nodes.first()?.id;
        // Numbers often have no gaps.
        let guess = id.checked_sub(first)? as usize;
        if self.nodes.get(guess).is_some_and(|node| node.id == id) {
            return Some(guess as u32);
        }
        let found = self.nodes.binary_search_by_key(&id, |node| node.id);
        found.ok().map(|place| place as u32)
    }

    /// What waits for what, once the operations are in order.
    pub(crate) fn waits(&self, dependencies: Dependencies) -> Waits {
        let mut waits = Waits {
            list: Vec::with_capacity(self.data.len()),
            missing: 0,
        };
        let mut last: BTreeMap<u32, u32> = BTreeMap::new();
        for (place, node) in (0..).zip(&self.nodes) {
            let of_data = between(&self.data, node.data);
            let of_control = match dependencies {
                Dependencies::DataAndControl => between(&self.control, node.control),
                Dependencies::Data | Dependencies::StreamOrder => &[],
            };
            for &id in of_data.iter().chain(of_control) {
                match self.place(id) {
                    Some(other) => waits.list.push((place, other)),
                    None => waits.missing += 1,
                }
            }
            let on_stream = dependencies == Dependencies::StreamOrder;
            if let Some(recorded) = node.recorded.filter(|_| on_stream) {
                let before = last.insert(recorded, place);
                waits.list.extend(before.map(|before| (place, before)));
            }
        }
        waits
    }
}

/// A part of a list.
fn between(list: &[u64], ends: (u32, u32)) -> &[u64] {
    let (from, to) = ends;
    &list[from as usize..to as usize]
}
