//! RCCC, receiver credit congestion control: receivers grant credit to senders.
//!
//! With each packet a sender states up to which total it wants credit (the pull target). The
//! receiver grants at nearly its line rate, one sender after the other. The first window goes
//! without credit. Source: the Ultra Ethernet Consortium's reference simulator (uet-htsim, 2025).

use tenter_config::{Share, component};

use super::link::Link;

component! {
    /// The parameters of receiver credit.
    pub struct Rccc {
        /// Full packets that a grant (PULL) is for.
        packets_per_pull: u32 = "4", in 1..=1024, from "the Ultra Ethernet Consortium's simulator";
        /// The rate at which a receiver grants, as a share of its line.
        pull_rate: Share = "0.99", from "the Ultra Ethernet Consortium's simulator";
        /// `true` makes a receiver grant less while its packets are marked, or trimmed before the
        /// last hop: oversubscription control.
        oversubscription_control: Option<bool> = absent "where tiers are oversubscribed and senders have no window", from "the Ultra Ethernet Consortium's simulator";
    }
}

/// Bytes in a quantum, the unit in which credit is counted.
pub(crate) const QUANTUM_BYTES: u64 = 256;

/// Rules for credit at a NIC, both as a sender and as a receiver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CreditRules {
    /// Quanta that one grant is for.
    pub(crate) quanta_per_pull: u32,
    /// Grant rate, in parts per million of the line rate.
    pub(crate) rate_ppm: u32,
    /// Wire bytes that may be sent before the first grant; also the most that may be asked for at
    /// once.
    pub(crate) most: u64,
    /// Set if a receiver without demand grants credit all the same.
    pub(crate) grants_unasked: bool,
    /// Grant for each packet that arrives trimmed, in quanta, so that it can be resent. `None` if
    /// senders ask for that credit themselves.
    pub(crate) quanta_per_trim: Option<u32>,
    /// Set if a sender divides its demand by the count of waiting connections at its NIC, as in the
    /// reference simulator.
    pub(crate) divides_demand: bool,
    /// Lowest rate to which oversubscription control may reduce grants, in parts per million of the
    /// usual one; `None` without such control.
    pub(crate) least_share_ppm: Option<u64>,
}

impl Rccc {
    /// Returns the rules for credit. `has_windows` is set if senders have windows and hence react
    /// to congestion in the core themselves.
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

/// Returns the lower bound for oversubscription control, in parts per million: 0.9 times each
/// host's share in the core, as in the reference simulator, or 0.01 if the core is not
/// oversubscribed.
fn least_share_ppm(oversubscription: f64) -> u64 {
    let share = if oversubscription > 1.0 {
        0.9 / oversubscription
    } else {
        0.0
    };
    (share.max(0.01) * 1e6) as u64
}
