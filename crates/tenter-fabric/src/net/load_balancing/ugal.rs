//! UGAL: a packet takes the shortest path or goes by a region drawn by chance, whichever has the
//! shorter queue for its length.
//!
//! Source: Singh, "Load-Balanced Routing in Interconnection Networks" (thesis, Stanford University,
//! 2005); for dragonflies Kim et al., "Technology-Driven, Highly-Scalable Dragonfly Topology" (ISCA
//! 2008), section 4.2, UGAL-L: by the queues of the source's own router.

use tenter_language::config::component;
use tenter_language::units::Time;

use crate::net::load_balancing::quality::QualitySpec;
use crate::net::load_balancing::view::{Balance, Described, DrawnFor, SwitchSite, View};
use crate::net::packet::Packet;

/// Longest bias that a scenario may set.
const BIAS_MAX: Time = Time::from_us(1_000_000);

component! {
    /// When packets leave the shortest path.
    pub struct Ugal {
        /// A packet leaves the shortest path only if the wait there exceeds twice that of the
        /// detour by more than this.
        bias: Time = "0ns", in Time::ZERO..=BIAS_MAX, from "Kim et al. (2008): queues are compared without an offset";
    }
}

/// Factor by which a detour's wait counts, as if detours were this many times as long as the
/// shortest path.
const DETOUR_LENGTH: u64 = 2;

impl Described for Ugal {
    type AtWork = Ugal;
    const MAY_REORDER: bool = true;

    fn begin(&self, _: &SwitchSite) -> Ugal {
        *self
    }

    /// Queues are read at the very instant of a packet.
    fn quality(&self) -> Option<QualitySpec> {
        Some(QualitySpec::EXACT)
    }

    fn detours(&self) -> Option<DrawnFor> {
        Some(DrawnFor::Packet)
    }
}

impl Balance for Ugal {
    /// Chooses the port with the shortest wait, which is the one that was compared; among equal
    /// ones any.
    fn choose(&mut self, packet: &Packet, view: &View<'_>) -> usize {
        view.least(packet, |port| {
            view.ports[usize::from(port)].backlog(packet.at)
        })
    }

    fn takes_detour(&mut self, packet: &Packet, detour: &[u16], view: &View<'_>) -> bool {
        let wait = |ports: &[u16]| {
            // The best port stands for its path, as `choose` will take it.
            let waits = ports
                .iter()
                .map(|&port| view.ports[usize::from(port)].backlog(packet.at));
            waits.min().unwrap_or(Time::MAX)
        };
        let by_detour = wait(detour).saturating_mul(DETOUR_LENGTH);
        wait(view.candidates) > by_detour.saturating_add(self.bias)
    }
}
