//! Receiver credit: the rules by which receivers grant and senders spend it.
//!
//! With each packet a sender states up to which total it wants credit (the pull target). The
//! receiver grants at nearly its line rate, one sender after the other. The first window goes
//! without credit.

use super::link::Link;

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

impl CreditRules {
    /// Returns the rules of receivers that grant a packet at a time, and one for each packet that
    /// arrives trimmed.
    pub(super) fn by_packet(link: &Link, rate_ppm: u32, most: u64) -> CreditRules {
        let packet = link.payload.div_ceil(QUANTUM_BYTES) as u32;
        CreditRules {
            quanta_per_pull: packet,
            rate_ppm,
            most,
            grants_unasked: false,
            quanta_per_trim: Some(packet),
            divides_demand: false,
            least_share_ppm: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Control, Eqds, Link, Ndp, NsccWithCredit, Rccc};

    /// 100 Gb/s and 10 us are 125,000 bytes, and windows of 187,500; packets have 4,096 bytes of
    /// payload, which are 16 quanta, and 4,178 on the wire.
    #[test]
    fn receivers_grant_by_their_controls_rules() {
        let link = Link::of_gbps(100);
        let rccc = Rccc::default().credit(&link).expect("it has credit");
        assert_eq!((rccc.quanta_per_pull, rccc.rate_ppm), (64, 990_000));
        assert_eq!((rccc.most, rccc.least_share_ppm), (187_500, None));
        let ndp = Ndp::default().credit(&link).expect("it has credit");
        assert_eq!((ndp.quanta_per_pull, ndp.most), (16, 15 * 4_178));
        assert_eq!((ndp.rate_ppm, ndp.quanta_per_trim), (1_000_000, Some(16)));
        let eqds = Eqds::default().credit(&link).expect("it has credit");
        assert_eq!((eqds.rate_ppm, eqds.most), (990_000, 187_500));
        assert!(!eqds.grants_unasked && rccc.grants_unasked);
    }

    #[test]
    fn senders_with_windows_leave_the_core_to_these() {
        let link = Link {
            oversubscription: 2.0,
            ..Link::of_gbps(100)
        };
        // 0.9 of half of the line.
        let alone = Rccc::default().credit(&link).expect("it has credit");
        assert_eq!(alone.least_share_ppm, Some(450_000));
        let both = NsccWithCredit::default().credit(&link);
        assert_eq!(both.expect("it has credit").least_share_ppm, None);
    }
}
