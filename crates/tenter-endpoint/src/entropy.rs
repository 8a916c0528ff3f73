//! Spraying by the NIC: packets of one queue pair differ in their UDP source port, so that switches
//! that hash it send them different ways.
//!
//! Sources: Annex A17 of the `InfiniBand` Architecture Specification, which leaves the source port
//! to the sender, as a flow's entropy; the Ultra Ethernet Specification, whose senders choose an
//! *entropy value* for each packet among many.

use std::sync::Arc;

use tenter_config::component;
use tenter_engine::mix64;
use tenter_net::load_balancing::{InOrderNics, LoadBalancing};
use tenter_units::Time;

component! {
    /// How NICs change the UDP source port of data packets.
    pub struct SourcePorts as "`endpoint.nic.entropy`" {
        /// How many source ports a QP has; each run of `packets` gets any of them.
        values: u16 = "64", in 2..=VALUES_MAX;
        /// Packets in a row that keep the port; 32 are a message of 128 KiB.
        packets: u32 = "1", in 1..=u32::MAX;
        /// Whether NICs may be used that need packets in order.
        in_order_nics: InOrderNics = "refuse";
    }
}

impl SourcePorts {
    /// Any of so many ports for each packet, by NICs that take packets in any order.
    pub(crate) fn per_packet(values: u16) -> SourcePorts {
        SourcePorts {
            values,
            packets: 1,
            in_order_nics: InOrderNics::Allow,
        }
    }
}

/// The dynamic range of ports has so many.
const VALUES_MAX: u16 = 1 << 14;

/// Source ports that a queue pair has any of when a notice makes it change its own: as many as
/// `values` are by default.
const REROUTE_PORTS: u16 = 64;

/// How NICs change source ports, as the switches of a fabric see it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortChanges {
    /// From packet to packet; `None`: each QP keeps its own.
    pub entropy: Option<Arc<Entropy>>,
    /// When a switch sends a notice that packets of a QP wait in a long queue; `None`: there are
    /// none.
    pub reroute: Option<Arc<RerouteSpec>>,
}

impl PortChanges {
    /// Those of NICs whose packets get hashes of switches that choose paths like this.
    pub fn new(ports: Option<&SourcePorts>, load_balancing: &LoadBalancing) -> PortChanges {
        let entropy = ports.map(|ports| {
            let differences = load_balancing.source_port_differences(ports.values);
            Arc::new(Entropy::new(ports.packets, differences))
        });
        let reroute = load_balancing.notifies_hosts().map(|of| {
            Arc::new(RerouteSpec {
                response: of.response,
                hold_down: of.hold_down,
                differences: load_balancing.source_port_differences(REROUTE_PORTS).into(),
            })
        });
        PortChanges { entropy, reroute }
    }
}

/// How queue pairs change their source port when a switch says that their packets wait in a long
/// queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RerouteSpec {
    /// From the arrival of a notice to the change.
    pub response: Time,
    /// So long a queue pair that has changed its port keeps it.
    pub hold_down: Time,
    /// What the ports there are make of the hash that switches see, by exclusive or: two or more,
    /// the first of them nothing.
    pub differences: Box<[u32]>,
}

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

    /// What each value makes of the hash that switches see, by exclusive or.
    pub fn differences(&self) -> &[u32] {
        &self.differences
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
