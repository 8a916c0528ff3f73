//! Spraying by the NIC: packets of one queue pair differ in their UDP source port, so that switches
//! that hash it send them different ways.
//!
//! Sources: Annex A17 of the `InfiniBand` Architecture Specification, which leaves the source port
//! to the sender, as a flow's entropy; the Ultra Ethernet Specification, whose senders choose an
//! *entropy value* for each packet among many.

use std::sync::Arc;

use tenter_config::{Reader, component};
use tenter_engine::mix64;
use tenter_net::load_balancing::{InOrderNics, LoadBalancing};
use tenter_units::Time;

use crate::entropy::{EntropyKind, VALUES_MAX, no_power_of_two};

component! {
    /// How NICs change the UDP source port of data packets.
    pub struct SourcePorts as "`endpoint.nic.entropy`" {
        /// How the port is chosen: any for each run of `packets`, one after the other, or by marks
        /// and losses, which answers to each packet tell of.
        kind: EntropyKind = "random";
        /// How many source ports a QP has; a power of two unless any is chosen.
        values: u16 = "64", in 2..=VALUES_MAX;
        /// Packets in a row that keep the port; 32 are a message of 128 KiB.
        packets: u32 = "1", in 1..=u32::MAX;
        /// Whether NICs may be used that need packets in order.
        in_order_nics: InOrderNics = "refuse";
        check ports_can_be_chosen;
    }
}

/// Refuses what the choice of a port for each packet does not go with.
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
    /// One of so many ports for each packet, by NICs that take packets in any order.
    pub(crate) fn per_packet(kind: EntropyKind, values: u16) -> SourcePorts {
        SourcePorts {
            kind,
            values,
            packets: 1,
            in_order_nics: InOrderNics::Allow,
        }
    }
}

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
    /// How it is chosen.
    kind: EntropyKind,
    /// So many packets in a row have the same one; 1 unless it is random.
    packets: u32,
    /// What each value makes of the hash that switches see, by exclusive or.
    differences: Box<[u32]>,
}

impl Entropy {
    /// Values that change the hash by these differences, at least one, each for so many packets in
    /// a row, at least one. Unless they are random, they are 1, 2, 4, ... values for a packet each.
    ///
    /// # Panics
    /// When there are others.
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

    /// How a value is chosen.
    pub fn kind(&self) -> EntropyKind {
        self.kind
    }

    /// The hash of a packet of a queue pair whose packets would all have the hash `base`, with
    /// [`EntropyKind::Random`]. What is sent again after a timeout, when `retries` is one more,
    /// goes another way.
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
