//! Flowlet switching: a flow that has paused may take another link.

use tenter_units::Time;

use crate::load_balancing::buckets::Buckets;
use crate::load_balancing::quality::QualitySpec;
use crate::load_balancing::{Balance, Described, View};
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
    table: Buckets<Bucket>,
}

impl FlowletTable {
    pub(crate) fn new(spec: Flowlet) -> FlowletTable {
        let empty = Bucket {
            port: 0,
            last: None,
        };
        FlowletTable {
            gap: spec.gap.ps(),
            table: Buckets::new(spec.buckets, empty),
        }
    }
}

impl Described for Flowlet {
    type AtWork = FlowletTable;

    fn begin(&self, _: usize) -> FlowletTable {
        FlowletTable::new(*self)
    }

    fn quality(&self) -> Option<QualitySpec> {
        Some(self.quality)
    }

    fn reorders(&self) -> bool {
        false
    }
}

impl Balance for FlowletTable {
    fn choose(&mut self, packet: &Packet, view: &View<'_>) -> usize {
        let gap = self.gap;
        let bucket = self.table.of(view.candidates, packet.hash);
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
