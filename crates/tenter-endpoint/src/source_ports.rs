//! Spraying by the NIC: packets on one queue pair differ in their UDP source port, so that switches
//! that hash it send them over different paths.
//!
//! Sources: Annex A17 of the `InfiniBand` Architecture Specification leaves the source port to the
//! sender, as a flow's entropy. In the Ultra Ethernet Specification senders choose an *entropy
//! value* for each packet, one among many.

use std::sync::Arc;

use tenter_engine::mix64;
use tenter_fabric::net::load_balancing::{InOrderNics, LoadBalancing};
use tenter_language::config::{Reader, component};
use tenter_language::units::Time;

use crate::entropy::{EntropyKind, VALUES_MAX, no_power_of_two};

component! {
    /// How NICs change the UDP source port of data packets.
    pub struct SourcePorts as "`endpoint.nic.entropy`" {
        /// How the port is chosen: any for each run of `packets`, one after the other, or by marks
        /// and losses, which answers to each packet tell of.
        kind: EntropyKind = "random";
        /// Number of source ports of a QP; a power of two unless any is chosen.
        values: u16 = "64", in 2..=VALUES_MAX;
        /// Packets in a row that keep the port; 32 are a message of 128 KiB.
        packets: u32 = "1", in 1..=u32::MAX;
        /// Treatment of NICs that need packets in order: refused, or allowed.
        in_order_nics: InOrderNics = "refuse";
        check ports_can_be_chosen;
    }
}

/// Refuses keys that do not go with a port choice for each packet.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "a check is given a reference"
)]
fn ports_can_be_chosen(ports: &SourcePorts, reader: &mut dyn Reader) -> bool {
    if ports.kind == EntropyKind::Random {
        return true;
    }
    let mut holds = true;
    if let Some((what, help)) = no_power_of_two(ports.values) {
        reader.refuse("values", &what, &help);
        holds = false;
    }
    if ports.packets != 1 {
        let what = format!(
            "is {}, but with `kind: {}` a port is chosen for each packet",
            ports.packets,
            ports.kind.word()
        );
        reader.refuse("packets", &what, "leave it out, or set `kind: random`");
        holds = false;
    }
    holds
}

impl SourcePorts {
    /// Returns a choice among `values` ports for each packet, for NICs that take packets in any
    /// order.
    pub(crate) fn per_packet(kind: EntropyKind, values: u16) -> SourcePorts {
        SourcePorts {
            kind,
            values,
            packets: 1,
            in_order_nics: InOrderNics::Allow,
        }
    }
}

/// Source ports among which a queue pair draws when a congestion notice moves it: the same number
/// as the default for `values`.
const REROUTE_PORTS: u16 = 64;

/// Source port changes, with the hash differences that they cause in a fabric's switches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortChanges {
    /// Changes from packet to packet, or `None` if each queue pair keeps its port.
    pub entropy: Option<Arc<Entropy>>,
    /// Moves at congestion notices, or `None` if switches send none.
    pub reroute: Option<Arc<RerouteSpec>>,
}

impl PortChanges {
    /// Creates the changes for switches with this load balancing, which decides how ports affect
    /// hashes.
    pub fn new(ports: Option<&SourcePorts>, load_balancing: &LoadBalancing) -> PortChanges {
        let entropy = ports.map(|ports| {
            let differences = load_balancing.source_port_differences(ports.values);
            Arc::new(Entropy::new(ports.kind, ports.packets, differences))
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

/// Rules by which a queue pair moves to another source port after a congestion notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RerouteSpec {
    /// Time from a notice's arrival to the move.
    pub response: Time,
    /// Time after a move in which the queue pair keeps its port.
    pub hold_down: Time,
    /// XOR masks by which ports change the hash that switches see. There are two or more, and the
    /// first is 0, the present port.
    pub differences: Box<[u32]>,
}

/// Source ports for data packets, which change from packet to packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entropy {
    /// Rule by which the port is chosen.
    kind: EntropyKind,
    /// Packets in a row with the same port; 1 unless ports are drawn at random.
    packets: u32,
    /// XOR mask by which each value changes the hash that switches see.
    differences: Box<[u32]>,
}

impl Entropy {
    /// Creates the choice among values with these hash `differences`, at least one. Each value
    /// holds for `packets` packets in a row, at least one. Unless values are drawn at random, their
    /// number must be a power of two and `packets` must be 1.
    ///
    /// # Panics
    /// Panics if these conditions do not hold.
    pub fn new(kind: EntropyKind, packets: u32, differences: Vec<u32>) -> Entropy {
        assert!(packets > 0 && !differences.is_empty());
        let chosen = kind != EntropyKind::Random;
        assert!(!chosen || packets == 1 && differences.len().is_power_of_two());
        Entropy {
            kind,
            packets,
            differences: differences.into(),
        }
    }

    /// Returns the rule by which values are chosen.
    pub fn kind(&self) -> EntropyKind {
        self.kind
    }

    /// Returns a packet's hash with [`EntropyKind::Random`], where `base` is the hash for the queue
    /// pair's own port. A retransmission after a timeout takes another path, because `retries` has
    /// changed.
    #[inline(never)]
    pub(crate) fn hash(&self, base: u32, sequence: u32, retries: u8) -> u32 {
        // The draw depends on the run's number alone, so a queue pair keeps no state for it.
        let run = u64::from(sequence / self.packets) | u64::from(retries) << 32;
        let drawn = mix64(run ^ mix64(u64::from(base))) >> 32;
        // This maps 32 random bits onto the values without a division.
        let value = (drawn * self.differences.len() as u64) >> 32;
        base ^ self.differences[value as usize]
    }

    /// Returns the XOR masks by which the values change the hash.
    pub fn differences(&self) -> &[u32] {
        &self.differences
    }

    /// Returns all hashes that packets may have on a queue pair with hash `base`.
    pub fn hashes(&self, base: u32) -> impl Iterator<Item = u32> + '_ {
        self.differences
            .iter()
            .map(move |difference| base ^ difference)
    }
}

#[cfg(test)]
mod tests {
    use super::{Entropy, EntropyKind};

    #[test]
    fn each_value_has_about_its_share_of_the_runs() {
        let entropy = Entropy::new(
            EntropyKind::Random,
            4,
            (0..8).map(|value| value << 8).collect(),
        );
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
        let entropy = Entropy::new(EntropyKind::Random, 1, (0..64).collect());
        let moved = (0..1_000).filter(|&n| entropy.hash(1, n, 0) != entropy.hash(1, n, 1));
        assert!(moved.count() > 950);
    }
}
