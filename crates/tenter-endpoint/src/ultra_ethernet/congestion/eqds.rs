//! EQDS: receivers grant credit packet by packet, at nearly their line rate.
//!
//! Source: Olteanu et al., "An edge-queued datagram service for all datacenter traffic" (2022),
//! with the constants of its simulators: one packet per grant, 0.99 of the line.

use tenter_config::{Share, component};

use super::credit::{CreditRules, QUANTUM_BYTES};
use super::link::Link;

component! {
    /// The parameters of receiver credit.
    pub struct Eqds {
        /// The rate at which a receiver grants, as a share of its line.
        pull_rate: Share = "0.99", from "the simulators of EQDS";
    }
}

impl Eqds {
    pub(super) fn rules(self, link: &Link) -> CreditRules {
        let packet = link.payload.div_ceil(QUANTUM_BYTES) as u32;
        CreditRules {
            quanta_per_pull: packet,
            rate_ppm: self.pull_rate.ppm(),
            most: link.max_window(link.round_trip).max(link.full),
            grants_unasked: false,
            quanta_per_trim: Some(packet),
            divides_demand: false,
            least_share_ppm: None,
        }
    }
}
