//! NDP: a small first window, then one packet per pull; receivers send pulls at their line rate.
//!
//! Source: Handley et al., "Re-architecting datacenter networks and stacks for low latency and high
//! performance" (2017), with its simulator's first window. In this model pulls answer what senders
//! ask for, as with other credit, and each trimmed packet; the original sends one per arriving
//! packet.

use tenter_language::config::component;
use tenter_language::units::Instant;

use super::credit::CreditRules;
use super::{Control, Link};

component! {
    /// The parameters of pulls.
    pub struct Ndp {
        /// Packets that a new connection sends without a pull.
        first_window: u32 = "15", in 1..=4096, from "the simulator of NDP";
    }
}

impl Control for Ndp {
    type Flow = ();
    const FROM_START: bool = false;

    fn credit(&self, link: &Link) -> Option<CreditRules> {
        let most = u64::from(self.first_window) * link.full;
        Some(CreditRules::by_packet(link, 1_000_000, most))
    }

    fn start(&self, _: &Link, _: Instant) {}
}
