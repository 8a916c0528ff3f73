//! EQDS: receivers grant credit packet by packet, at nearly their line rate.
//!
//! Source: Olteanu et al., "An edge-queued datagram service for all datacenter traffic" (2022),
//! with the constants of its simulators: one packet per grant, 0.99 of the line.

use tenter_language::config::{Share, component};
use tenter_language::units::Instant;

use super::credit::CreditRules;
use super::{Control, Link};

component! {
    /// The parameters of receiver credit.
    pub struct Eqds {
        /// The rate at which a receiver grants, as a share of its line.
        pull_rate: Share = "0.99", from "the simulators of EQDS";
    }
}

impl Control for Eqds {
    type Flow = ();
    const FROM_START: bool = false;

    fn credit(&self, link: &Link) -> Option<CreditRules> {
        let most = link.max_window(link.round_trip).max(link.full);
        Some(CreditRules::by_packet(link, self.pull_rate.ppm(), most))
    }

    fn start(&self, _: &Link, _: Instant) {}
}
