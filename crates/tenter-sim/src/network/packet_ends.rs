//! What headers of real packets say of their source, which packets of the model leave out.

use tenter_net::Packet;

use super::context::Context;
use super::jobs::RankHere;

/// The source of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PacketEnds {
    /// The host.
    pub(crate) source: u32,
    /// Its UDP source port.
    pub(crate) source_port: u16,
    /// The queue pair there: a send slot of data, a receive slot of answers.
    pub(crate) own_slot: u32,
}

impl Context {
    /// The source of a packet that belongs to a queue pair of its destination.
    pub(crate) fn ends(&self, packet: &Packet) -> PacketEnds {
        let slot = packet.queue_pair_at_nic();
        if packet.kind.is_for_receiver() {
            self.ends_of_data(packet, slot)
        } else {
            self.ends_of_answer(packet.destination, slot)
        }
    }

    fn ends_of_data(&self, packet: &Packet, slot: u32) -> PacketEnds {
        let (_, here) = self.rank_of_slot(packet.destination, slot);
        let plan = &self.jobs[usize::from(here.job)];
        let source = plan.pairs.source_of(here.rank, slot - here.receive_base);
        let ranks = (source.rank, here.rank);
        let own = self.udp_source_port(here.job, ranks, source.lane, source.queue_pair);
        let hash = self.hash(here.job, ranks, source.lane, source.queue_pair);
        PacketEnds {
            source: plan.job.hosts[source.rank as usize],
            source_port: own ^ self.port_change(hash, packet.hash),
            own_slot: plan.places[source.rank as usize].send_base + source.slot,
        }
    }

    /// By which bits the source port of a packet differs from that of its queue pair.
    fn port_change(&self, base: u32, hash: u32) -> u16 {
        let changes = &self.port_changes;
        let mut of_entropy = changes.entropy.iter().flat_map(|of| of.hashes(base));
        let of_notices = changes.reroute.iter().flat_map(|of| &of.differences[..]);
        let mut of_notices = of_notices.map(|difference| base ^ difference);
        let place = of_entropy.position(|of| of == hash);
        let place = place.or_else(|| of_notices.position(|of| of == hash));
        place
            .and_then(|place| u16::try_from(place).ok())
            .unwrap_or(0)
    }

    fn ends_of_answer(&self, host: u32, slot: u32) -> PacketEnds {
        let base = |here: &RankHere| {
            let plan = &self.jobs[usize::from(here.job)];
            plan.places[here.rank as usize].send_base
        };
        let ranks = self.ranks_on(host);
        let number = ranks.partition_point(|here| base(here) <= slot);
        let here = ranks[number.saturating_sub(1)];
        let plan = &self.jobs[usize::from(here.job)];
        let far = plan.pairs.peer_of(here.rank, slot - base(&here));
        let ranks = (far.rank, here.rank);
        PacketEnds {
            source: plan.job.hosts[far.rank as usize],
            source_port: self.udp_source_port(here.job, ranks, far.lane, far.queue_pair),
            own_slot: plan.places[far.rank as usize].receive_base + far.slot,
        }
    }
}
