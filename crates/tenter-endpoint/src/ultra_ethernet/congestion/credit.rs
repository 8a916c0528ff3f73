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
        oversubscription_control: Option<bool> = absent "where tiers are oversubscribed and senders have no window", from "the Ultra Ethernet Consortium's simulator";
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
    /// The grant for each packet that arrives trimmed, in quanta: it shall be sent again. `None`
    /// leaves that to what its sender asks for.
    pub(crate) quanta_per_trim: Option<u32>,
    /// Whether a sender divides what it wants among the connections of its NIC that wait, as the
    /// reference simulator's does.
    pub(crate) divides_demand: bool,
    /// The least share of that rate, in parts per million, to which oversubscription control lowers
    /// it; `None` without such control.
    pub(crate) least_share_ppm: Option<u64>,
}

impl Rccc {
    /// With windows, senders see the congestion of the core themselves.
    pub(super) fn rules(&self, link: &Link, has_windows: bool) -> CreditRules {
        let usual = link.oversubscription > 1.0 && !has_windows;
        let controls = self.oversubscription_control.unwrap_or(usual);
        let bytes = u64::from(self.packets_per_pull) * link.payload;
        CreditRules {
            quanta_per_pull: (bytes / QUANTUM_BYTES).max(1) as u32,
            rate_ppm: self.pull_rate.ppm(),
            most: link.max_window(link.round_trip).max(link.full),
            grants_unasked: true,
            quanta_per_trim: None,
            divides_demand: true,
            least_share_ppm: controls.then(|| least_share_ppm(link.oversubscription)),
        }
    }
}

/// The share below which oversubscription control does not fall: 0.9 of what each host has of the
/// core, as the reference simulator has it, and a hundredth where the core is not oversubscribed.
fn least_share_ppm(oversubscription: f64) -> u64 {
    let share = if oversubscription > 1.0 {
        0.9 / oversubscription
    } else {
        0.0
    };
    (share.max(0.01) * 1e6) as u64
}
