//! NDP: a small first window, then one packet per pull; receivers send pulls at their line rate.
//!
//! Source: Handley et al., "Re-architecting datacenter networks and stacks for low latency and high
//! performance" (2017), with its simulator's first window. In this model pulls answer what senders
//! ask for, as with other credit, and each trimmed packet; the original sends one per arriving
//! packet.

use tenter_config::component;

use super::credit::{CreditRules, QUANTUM_BYTES};
use super::link::Link;

component! {
    /// The parameters of pulls.
    pub struct Ndp {
        /// Packets that a new connection sends without a pull.
        first_window: u32 = "15", in 1..=4096, from "the simulator of NDP";
    }
}

impl Ndp {
    pub(super) fn rules(self, link: &Link) -> CreditRules {
        let packet = link.payload.div_ceil(QUANTUM_BYTES) as u32;
        CreditRules {
            quanta_per_pull: packet,
            rate_ppm: 1_000_000,
            most: u64::from(self.first_window) * link.full,
            grants_unasked: false,
            quanta_per_trim: Some(packet),
            divides_demand: false,
            least_share_ppm: None,
        }
    }
}
