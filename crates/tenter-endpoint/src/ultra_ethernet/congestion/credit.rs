//! RCCC, receiver credit congestion control: receivers grant what senders may send.
//!
//! A sender says with each packet how much credit it wants in all (the pull target), and its
//! receiver grants at nearly the rate of its line, one sender after the other. The first window
//! goes without credit. Source: the Ultra Ethernet Consortium's reference simulator (uet-htsim,
//! 2025).

use tenter_config::{Share, component};

use super::link::Link;

component! {
    /// The parameters of receiver credit.
    pub struct Rccc {
        /// Full packets that a grant (PULL) is for.
        packets_per_pull: u32 = "4", in 1..=1024, from "the Ultra Ethernet Consortium's simulator";
        /// The rate at which a receiver grants, as a share of its line.
        pull_rate: Share = "0.99", from "the Ultra Ethernet Consortium's simulator";
        /// Whether a receiver grants less while its packets are marked, or trimmed before the last
        /// hop: oversubscription control.
        oversubscription_control: bool = "true", from "the Ultra Ethernet Consortium's simulator";
    }
}

/// What credit is counted in: 256 bytes.
pub(crate) const QUANTUM_BYTES: u64 = 256;

/// The rules of credit of a NIC, as a sender and as a receiver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CreditRules {
    /// Quanta of a grant.
    pub(crate) quanta_per_pull: u32,
    /// The rate of grants, in parts per million of the line.
    pub(crate) rate_ppm: u32,
    /// Bytes that may be sent before the first grant, and the most that may be asked for at once.
    pub(crate) most: u64,
    /// Whether receivers that nobody asks of grant something all the same.
    pub(crate) grants_unasked: bool,
    pub(crate) controls_oversubscription: bool,
}

impl Rccc {
    pub(super) fn rules(&self, link: &Link) -> CreditRules {
        let bytes = u64::from(self.packets_per_pull) * link.payload;
        CreditRules {
            quanta_per_pull: (bytes / QUANTUM_BYTES).max(1) as u32,
            rate_ppm: self.pull_rate.ppm(),
            most: link.max_window(link.round_trip).max(link.full),
            grants_unasked: true,
            controls_oversubscription: self.oversubscription_control,
        }
    }
}
