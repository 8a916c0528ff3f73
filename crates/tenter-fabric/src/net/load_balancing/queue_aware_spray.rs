//! Queue-aware packet spray: every packet takes the shortest of a few queues drawn at random, and
//! of the one that was shortest last time (DRILL).

use tenter_engine::mix64;
use tenter_language::config::component;

use crate::net::load_balancing::buckets::Buckets;
use crate::net::load_balancing::quality::QualitySpec;
use crate::net::load_balancing::view::{Balance, Described, SwitchSite, View};
use crate::net::packet::{Draw, Packet};

/// Most queues that a packet may compare.
const SAMPLES_MAX: u8 = 64;

component! {
    /// Number of queues that a packet compares. A switch looks at them as they are at that instant.
    pub struct QueueAwareSpray {
        /// Links drawn at random for each packet; it takes the one with the shortest queue.
        samples: u8 = "2", in 1..=SAMPLES_MAX,
            from "DRILL: two random choices, the first of its two parameters";
        /// `true` compares them with the link that the packet before found best.
        remember: bool = "true",
            from "DRILL: one unit of memory, the second of its two parameters";
    }
}

/// State of one switch: for each list of equal-cost ports, the place of the best one.
#[derive(Clone, Debug)]
pub(crate) struct SprayMemory {
    spec: QueueAwareSpray,
    best: Buckets<Option<u16>>,
}

impl Described for QueueAwareSpray {
    type AtWork = SprayMemory;
    const MAY_REORDER: bool = true;

    fn begin(&self, _: &SwitchSite) -> SprayMemory {
        SprayMemory {
            spec: *self,
            best: Buckets::new(1, None),
        }
    }

    fn quality(&self) -> Option<QualitySpec> {
        Some(QualitySpec::EXACT)
    }
}

impl Balance for SprayMemory {
    fn choose(&mut self, packet: &Packet, view: &View<'_>) -> usize {
        let count = view.candidates.len() as u64;
        let backlog = |place: u16| {
            let port = view.candidates[usize::from(place)];
            view.ports[usize::from(port)].backlog(packet.at)
        };
        let remembered = self.best.of(view.candidates, 0);
        // One draw for a packet; the further samples are mixed from it.
        let mut draw = packet.draw(view.seed, Draw::Link);
        let mut sample = || {
            let place = (((draw >> 32) * count) >> 32) as u16;
            draw = mix64(draw);
            place
        };
        let mut chosen = sample();
        for _ in 1..self.spec.samples {
            let other = sample();
            if backlog(other) < backlog(chosen) {
                chosen = other;
            }
        }
        // Among equals not the remembered one, which the next packet would take again.
        let before = remembered.filter(|_| self.spec.remember);
        if let Some(before) = before.filter(|&before| backlog(before) < backlog(chosen)) {
            chosen = before;
        }
        *remembered = Some(chosen);
        usize::from(chosen)
    }
}
