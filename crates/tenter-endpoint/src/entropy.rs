//! Spraying by the NIC: packets of one queue pair differ in their UDP source port, so that switches
//! that hash it send them different ways.
//!
//! Sources: Annex A17 of the `InfiniBand` Architecture Specification, which leaves the source port
//! to the sender, as a flow's entropy; the Ultra Ethernet Specification, whose senders choose an
//! *entropy value* for each packet among many.

use tenter_engine::mix64;

/// How the source port of data packets changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entropy {
    /// So many packets in a row have the same one.
    packets: u32,
    /// What each value makes of the hash that switches see, by exclusive or.
    differences: Box<[u32]>,
}

impl Entropy {
    /// Values that change the hash by these differences, at least one, each for so many packets in
    /// a row, at least one.
    pub fn new(packets: u32, differences: Vec<u32>) -> Entropy {
        assert!(packets > 0 && !differences.is_empty());
        Entropy {
            packets,
            differences: differences.into(),
        }
    }

    /// The hash of a packet of a queue pair whose packets would all have the hash `base`. What is
    /// sent again after a timeout, when `retries` is one more, goes another way.
    #[inline(never)]
    pub(crate) fn hash(&self, base: u32, sequence: u32, retries: u8) -> u32 {
        let run = u64::from(sequence / self.packets) | u64::from(retries) << 32;
        let drawn = mix64(run ^ mix64(u64::from(base))) >> 32;
        let value = (drawn * self.differences.len() as u64) >> 32;
        base ^ self.differences[value as usize]
    }

    /// All hashes that packets of such a queue pair have.
    pub fn hashes(&self, base: u32) -> impl Iterator<Item = u32> + '_ {
        self.differences
            .iter()
            .map(move |difference| base ^ difference)
    }
}

#[cfg(test)]
mod tests {
    use super::Entropy;

    #[test]
    fn each_value_has_about_its_share_of_the_runs() {
        let entropy = Entropy::new(4, (0..8).map(|value| value << 8).collect());
        let mut seen = [0_u32; 8];
        for sequence in 0..32_000 {
            let hash = entropy.hash(7, sequence, 0);
            assert_eq!(hash, entropy.hash(7, sequence / 4 * 4, 0), "within a run");
            seen[((hash ^ 7) >> 8) as usize] += 1;
        }
        // 8,000 runs on 8 values: 1,000 each, give or take 30.
        assert!(
            seen.iter().all(|&packets| packets.abs_diff(4_000) < 500),
            "{seen:?}"
        );
    }

    #[test]
    fn a_packet_that_is_sent_after_a_timeout_may_go_another_way() {
        let entropy = Entropy::new(1, (0..64).collect());
        let moved = (0..1_000).filter(|&n| entropy.hash(1, n, 0) != entropy.hash(1, n, 1));
        assert!(moved.count() > 950);
    }
}
