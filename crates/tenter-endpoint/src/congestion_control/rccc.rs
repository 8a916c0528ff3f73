//! RCCC, receiver credit congestion control: receivers grant credit to senders, a few packets at a
//! time.
//!
//! Source: the Ultra Ethernet Consortium's reference simulator (uet-htsim, 2025).

use tenter_language::config::{Share, component};
use tenter_language::units::Instant;

use super::credit::{CreditRules, QUANTUM_BYTES};
use super::{Control, Link};

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

impl Control for Rccc {
    type Flow = ();
    const FROM_START: bool = false;

    fn credit(&self, link: &Link) -> Option<CreditRules> {
        Some(self.rules(link, false))
    }

    fn start(&self, _: &Link, _: Instant) {}
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
