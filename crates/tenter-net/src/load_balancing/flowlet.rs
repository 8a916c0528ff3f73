//! Flowlet switching: a flow that has paused may take another link.

use tenter_units::Time;

use crate::load_balancing::quality::QualitySpec;
use crate::load_balancing::{Balance, View};
use crate::packet::Packet;

/// A flow keeps its link while its packets follow each other closely. After a gap it takes the
/// least busy one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flowlet {
    /// What the switch knows of its ports.
    pub quality: QualitySpec,
    /// So long a flow must have sent nothing.
    pub gap: Time,
    /// Entries of each table of flows; flows of one entry count as one.
    pub buckets: u32,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    port: u16,
    /// When its last packet arrived; `None` before the first.
    last: Option<u64>,
}

/// The tables of flows of one switch.
#[derive(Clone, Debug)]
pub(crate) struct FlowletTable {
    gap: u64,
    buckets: usize,
    groups: Vec<Group>,
}

/// Equal-cost ports that flows have been sent to, and their table. Flows with other candidates
/// never share an entry: they would take it from each other again and again, and change their links
/// without a gap.
#[derive(Clone, Debug)]
struct Group {
    candidates: Vec<u16>,
    buckets: Vec<Bucket>,
}

impl FlowletTable {
    pub(crate) fn new(spec: Flowlet) -> FlowletTable {
        FlowletTable {
            gap: spec.gap.ps(),
            buckets: spec.buckets as usize,
            groups: Vec::new(),
        }
    }

    /// The table of some candidates, made when it is first used. A switch has few.
    fn buckets_of(&mut self, candidates: &[u16]) -> &mut [Bucket] {
        let known = self
            .groups
            .iter()
            .position(|group| group.candidates == candidates);
        let place = known.unwrap_or_else(|| {
            let empty = Bucket {
                port: 0,
                last: None,
            };
            self.groups.push(Group {
                candidates: candidates.to_vec(),
                buckets: vec![empty; self.buckets],
            });
            self.groups.len() - 1
        });
        &mut self.groups[place].buckets
    }
}

impl Balance for FlowletTable {
    fn choose(&mut self, packet: &Packet, view: &View<'_>) -> usize {
        let gap = self.gap;
        let place = (u64::from(packet.hash) * self.buckets as u64) >> 32;
        let bucket = &mut self.buckets_of(view.candidates)[place as usize];
        let fresh = bucket.last.is_some_and(|last| packet.at - last < gap);
        bucket.last = Some(packet.at);
        let kept = view.candidates.iter().position(|port| *port == bucket.port);
        if let Some(kept) = kept.filter(|_| fresh) {
            return kept;
        }
        let best = view.best(packet);
        bucket.port = view.candidates[best];
        best
    }
}
