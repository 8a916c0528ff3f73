//! Flowlet switching: a flow that has paused may take another link.

use tenter_language::config::{Percent, component};
use tenter_language::units::{Instant, Time};

use crate::net::load_balancing::buckets::Buckets;
use crate::net::load_balancing::quality::QualitySpec;
use crate::net::load_balancing::view::{Balance, Described, SwitchSite, TableSizes, View};
use crate::net::packet::{Draw, Packet};

/// Longest gap that a scenario may set.
const GAP_MAX: Time = Time::from_us(1_000_000);
/// Most entries in a table of flows.
pub const BUCKETS_MAX: u32 = 1 << 20;

component! {
    /// A flow keeps its link while its packets follow each other closely. After a gap it takes the
    /// least busy one.
    pub struct Flowlet {
        /// A flow takes the least busy link after it has sent nothing for this time.
        gap: Time = "256us", in Time::from_ps(1)..=GAP_MAX,
            from "a common default of the inactivity interval in dynamic load balancing";
        /// Entries of a switch's table of flows; flows of one entry count as one.
        buckets: u32 = "256", in 1..=BUCKETS_MAX,
            from "a common default of the flow set size in dynamic load balancing";
        /// Probability with which a packet of a flow without a gap moves it, if another link is
        /// better by `delta`; packets may then overtake each other.
        probability: Percent = "0", in 0..=100,
            from "the probability threshold of reactive path rebalancing; with 0 there is none";
        /// The number of levels, of eight, by which another link must be better for that.
        delta: u8 = "2", in 1..=7,
            from "the quality delta of reactive path rebalancing; its value is assumed";
        ..quality: QualitySpec, "What the switch knows of its ports.";
    }
}

impl Flowlet {
    /// Returns true if a packet without a gap moves its flow from one candidate to another: with a
    /// probability, if the other is less busy by `delta` levels. The packet may then overtake those
    /// before it.
    fn moves(&self, packet: &Packet, from: usize, to: usize, view: &View<'_>) -> bool {
        let level = |place: usize| view.level(view.candidates[place], packet.at);
        if level(from) < level(to) + self.delta {
            return false;
        }
        // A draw that depends on no earlier one: other flows do not change it.
        let draw = packet.draw(view.seed, Draw::Move) >> 32;
        draw * 1_000_000 < u64::from(self.probability.ppm()) << 32
    }
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    /// Port that the bucket's flows take.
    port: u16,
    /// Arrival of the last packet; `None` before the first.
    last: Option<Instant>,
}

/// Table of flows in one switch.
#[derive(Clone, Debug)]
pub(crate) struct FlowletTable {
    spec: Flowlet,
    gap: Time,
    table: Buckets<Bucket>,
    /// Moves of flows without a gap.
    moves: u64,
}

impl FlowletTable {
    pub(crate) fn new(spec: Flowlet) -> FlowletTable {
        let empty = Bucket {
            port: 0,
            last: None,
        };
        FlowletTable {
            spec,
            gap: spec.gap,
            table: Buckets::new(spec.buckets, empty),
            moves: 0,
        }
    }

    /// Returns how often a flow has moved without a gap.
    pub(crate) fn moves(&self) -> u64 {
        self.moves
    }
}

impl Described for Flowlet {
    type AtWork = FlowletTable;
    const MAY_REORDER: bool = true;

    fn begin(&self, _: &SwitchSite) -> FlowletTable {
        FlowletTable::new(*self)
    }

    fn quality(&self) -> Option<QualitySpec> {
        Some(self.quality)
    }

    fn reorders(&self) -> bool {
        self.probability.0 > 0
    }

    fn follows_hash(&self) -> bool {
        true
    }

    fn gap(&self) -> Option<Time> {
        Some(self.gap)
    }

    fn table_bytes(&self, sizes: &TableSizes) -> u64 {
        Buckets::<Bucket>::bytes(self.buckets, sizes)
    }

    fn order_remedy(&self) -> &'static str {
        ", or leave out `probability` here"
    }
}

impl Balance for FlowletTable {
    fn choose(&mut self, packet: &Packet, view: &View<'_>) -> usize {
        let gap = self.gap;
        let bucket = self.table.of(view.candidates, packet.hash);
        let fresh = bucket.last.is_some_and(|last| packet.at - last < gap);
        bucket.last = Some(packet.at);
        // A port that is no candidate any more, after a change of routes, cannot be kept.
        let kept = view.candidates.iter().position(|port| *port == bucket.port);
        let kept = kept.filter(|_| fresh);
        // Then other links need not be compared.
        let stays = self.spec.probability.0 == 0;
        if let Some(kept) = kept.filter(|_| stays) {
            return kept;
        }
        let best = view.best(packet);
        if let Some(kept) = kept {
            if !self.spec.moves(packet, kept, best, view) {
                return kept;
            }
            self.moves += 1;
        }
        bucket.port = view.candidates[best];
        best
    }
}
