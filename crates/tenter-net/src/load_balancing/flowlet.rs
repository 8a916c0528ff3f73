//! Flowlet switching: a flow that has paused may take another link.

use tenter_units::Time;

use crate::load_balancing::buckets::Buckets;
use crate::load_balancing::quality::QualitySpec;
use crate::load_balancing::{Balance, Described, View};
use crate::packet::{Draw, Packet};

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
    /// Whether, and when, a flow without a gap moves.
    pub reassignment: Reassignment,
}

/// When a flow takes a less busy link although its packets follow each other closely; they may then
/// overtake each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reassignment {
    /// By so many levels the least busy link must be better.
    pub delta: u8,
    /// With what probability a packet moves its flow then, in parts per million; 0: never.
    pub probability_ppm: u32,
}

impl Reassignment {
    /// Whether a packet moves its flow from a candidate to another one.
    fn moves(self, packet: &Packet, (from, to): (usize, usize), view: &View<'_>) -> bool {
        let level = |place: usize| view.level(view.candidates[place], packet.at);
        if level(from) < level(to) + self.delta.max(1) {
            return false;
        }
        let draw = packet.draw(view.seed, Draw::Move) >> 32;
        draw * 1_000_000 < u64::from(self.probability_ppm) << 32
    }
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
    reassignment: Reassignment,
    table: Buckets<Bucket>,
    moves: u64,
}

impl FlowletTable {
    pub(crate) fn new(spec: Flowlet) -> FlowletTable {
        let empty = Bucket {
            port: 0,
            last: None,
        };
        FlowletTable {
            gap: spec.gap.ps(),
            reassignment: spec.reassignment,
            table: Buckets::new(spec.buckets, empty),
            moves: 0,
        }
    }

    /// How often a flow has moved without a gap.
    pub(crate) fn moves(&self) -> u64 {
        self.moves
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
        self.reassignment.probability_ppm > 0
    }
}

impl Balance for FlowletTable {
    fn choose(&mut self, packet: &Packet, view: &View<'_>) -> usize {
        let gap = self.gap;
        let bucket = self.table.of(view.candidates, packet.hash);
        let fresh = bucket.last.is_some_and(|last| packet.at - last < gap);
        bucket.last = Some(packet.at);
        let kept = view.candidates.iter().position(|port| *port == bucket.port);
        let kept = kept.filter(|_| fresh);
        let stays = self.reassignment.probability_ppm == 0;
        if let Some(kept) = kept.filter(|_| stays) {
            return kept;
        }
        let best = view.best(packet);
        if let Some(kept) = kept {
            if !self.reassignment.moves(packet, (kept, best), view) {
                return kept;
            }
            self.moves += 1;
        }
        bucket.port = view.candidates[best];
        best
    }
}
