//! Header fields about a packet's source, which packets in the model leave out.

use tenter_fabric::net::{Packet, ReceiveSlot, SendSlot, Slot};
use tenter_fabric::topology::HostId;

use super::context::Context;
use super::jobs::RankHere;
use super::queue_pair_id::QueuePairId;

/// A packet's source: host, UDP port and QP index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PacketEnds {
    /// The host that sent it.
    pub(crate) source: HostId,
    /// UDP source port in its header.
    pub(crate) source_port: u16,
    /// QP index at the source.
    pub(crate) own_slot: Slot,
}

impl Context {
    /// Returns a packet's source, if it belongs to a queue pair at its destination.
    pub(crate) fn ends(&self, packet: &Packet) -> Option<PacketEnds> {
        match packet.slot()? {
            Slot::Receive(slot) => Some(self.ends_of_data(packet, slot)),
            Slot::Send(slot) => Some(self.ends_of_answer(packet.destination, slot)),
        }
    }

    fn ends_of_data(&self, packet: &Packet, slot: ReceiveSlot) -> PacketEnds {
        let (_, here) = self.rank_of_slot(packet.destination, slot);
        let plan = &self.jobs[here.job];
        let source = plan.pairs.source_of(here.rank, here.own_receive_slot(slot));
        let queue_pair = QueuePairId::to(here.job, here.rank, &source).back();
        let own = self.udp_source_port(queue_pair);
        let hash = self.hash(queue_pair);
        PacketEnds {
            source: plan.job.hosts[source.rank],
            source_port: own ^ self.port_change(hash, packet.hash),
            own_slot: Slot::Send(plan.places[source.rank].send_slot(source.slot)),
        }
    }

    /// Returns the bits in which a packet's source port differs from its queue pair's, found by the
    /// packet's hash.
    fn port_change(&self, base: u32, hash: u32) -> u16 {
        let changes = &self.port_changes;
        let mut of_entropy = changes.entropy.iter().flat_map(|of| of.hashes(base));
        let of_notices = changes.reroute.iter().flat_map(|of| &of.differences[..]);
        let mut of_notices = of_notices.map(|difference| base ^ difference);
        // Both lists are in the order of the ports, so a place in one has the bits that differ.
        let place = of_entropy.position(|of| of == hash);
        let place = place.or_else(|| of_notices.position(|of| of == hash));
        place
            .and_then(|place| u16::try_from(place).ok())
            .unwrap_or(0)
    }

    fn ends_of_answer(&self, host: HostId, slot: SendSlot) -> PacketEnds {
        let place = |here: &RankHere| {
            let plan = &self.jobs[here.job];
            plan.places[here.rank]
        };
        let ranks = self.ranks_on(host);
        // As in `rank_of_slot`: of ranks with one base, the last owns the index.
        let number = ranks.partition_point(|here| place(here).send_base <= slot);
        let here = ranks[number.saturating_sub(1)];
        let plan = &self.jobs[here.job];
        let far = plan
            .pairs
            .peer_of(here.rank, place(&here).own_send_slot(slot));
        let queue_pair = QueuePairId::to(here.job, here.rank, &far).back();
        PacketEnds {
            source: plan.job.hosts[far.rank],
            source_port: self.udp_source_port(queue_pair),
            own_slot: Slot::Receive(plan.places[far.rank].receive_slot(far.slot)),
        }
    }
}
