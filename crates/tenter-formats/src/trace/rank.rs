//! The trace of one rank.

use std::collections::BTreeMap;

use tenter_units::Time;
use tenter_workload::graph::CollectiveName;
use tenter_workload::spec::Dependencies;

/// What an operation of a trace is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// It takes no time, and others may wait for it.
    Nothing,
    /// The rank computes, or does what took so long when it was recorded.
    Compute(Time),
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
    /// The stream that it was recorded on; [`RankTrace::UNKNOWN`] where there was none.
    pub(crate) recorded: u32,
    /// Where those that it waits for begin in the lists of the rank.
    data: u32,
    control: u32,
}

/// The trace of one rank. What an operation waits for is added before it is.
#[derive(Clone, Debug, Default)]
pub(crate) struct RankTrace {
    pub(crate) nodes: Vec<TraceNode>,
    data: Vec<u64>,
    control: Vec<u64>,
    /// The numbers of what waits in `nodes`, with where its lists end.
    ends: Vec<(u32, u32)>,
    data_added: usize,
    control_added: usize,
}

/// What waits for what, by places.
pub(crate) struct Waits {
    /// Who waits, and for whom.
    pub(crate) list: Vec<(u32, u32)>,
    /// Waits for numbers that there are not.
    pub(crate) missing: u64,
}

impl RankTrace {
    /// No stream was recorded.
    pub(crate) const UNKNOWN: u32 = u32::MAX;

    /// The operation that comes next waits for another one's data.
    pub(crate) fn waits_for(&mut self, id: u64) {
        self.data.push(id);
    }

    /// The operation that comes next was called by another one.
    pub(crate) fn called_by(&mut self, id: u64) {
        self.control.push(id);
    }

    /// Adds an operation with what was said of it before.
    pub(crate) fn add(&mut self, id: u64, what: What, (stream, recorded): (u32, u32)) {
        self.nodes.push(TraceNode {
            id,
            what,
            stream,
            recorded,
            data: self.data_added as u32,
            control: self.control_added as u32,
        });
        self.ends
            .push((self.data.len() as u32, self.control.len() as u32));
        (self.data_added, self.control_added) = (self.data.len(), self.control.len());
    }

    /// Sorts the operations by their numbers, in which traces issue them; gives how many had the
    /// number of another one, which are left out.
    pub(crate) fn put_in_order(&mut self) -> u64 {
        let mut order: Vec<u32> = (0..self.nodes.len() as u32).collect();
        if self.nodes.windows(2).all(|two| two[0].id < two[1].id) {
            return 0;
        }
        order.sort_by_key(|&place| self.nodes[place as usize].id);
        let before = order.len();
        order.dedup_by_key(|place| self.nodes[*place as usize].id);
        self.ends = order
            .iter()
            .map(|&place| self.ends[place as usize])
            .collect();
        self.nodes = order
            .iter()
            .map(|&place| self.nodes[place as usize])
            .collect();
        (before - order.len()) as u64
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
        for ((place, node), &(data, control)) in (0..).zip(&self.nodes).zip(&self.ends) {
            let of_data = &self.data[node.data as usize..data as usize];
            let of_control = match dependencies {
                Dependencies::DataAndControl => {
                    &self.control[node.control as usize..control as usize]
                }
                Dependencies::Data | Dependencies::StreamOrder => &[],
            };
            for &id in of_data.iter().chain(of_control) {
                match self.place(id) {
                    Some(other) => waits.list.push((place, other)),
                    None => waits.missing += 1,
                }
            }
            let on_stream = dependencies == Dependencies::StreamOrder;
            if on_stream && node.recorded != RankTrace::UNKNOWN {
                let before = last.insert(node.recorded, place);
                waits.list.extend(before.map(|before| (place, before)));
            }
        }
        waits
    }
}
