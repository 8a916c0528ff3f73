//! A `RoCEv2` NIC as part of a steady state.

use tenter_fabric::net::{FlowEnd, ReceiveSlot, SendSlot, Visitor};
use tenter_fabric::topology::HostId;
use tenter_language::units::Instant;

use super::RoceNic;
use crate::nic::counters::NicCounters;
use crate::receive::{Latencies, ReceiveQueuePair};
use crate::spec::NicSpec;

impl RoceNic {
    /// Passes the state to `visitor`. A NIC with limits, lanes, a receive buffer or rare events
    /// refuses: their state has no pass.
    pub(crate) fn steady(&mut self, spec: &NicSpec, visitor: &mut impl Visitor) {
        let RoceNic {
            host,
            cut: _,
            transmitter,
            message_end,
            control,
            send,
            requests,
            receive,
            round,
            turn,
            timeouts,
            pending,
            sent_before: _,
            errors,
            classes: _,
            pauses,
            receive_buffer,
            marks,
            limits,
            lanes,
            storm,
            features,
            entropy,
            reroute,
            reroutes,
            delivered,
            counters,
        } = self;
        let others = receive_buffer.is_some() || limits.is_some() || lanes.is_some();
        let rare = storm.is_some() || entropy.is_some() || reroute.is_some() || reroutes.is_some();
        if others || rare || !features.are_none() || !delivered.is_empty() {
            visitor.refuse();
        }
        transmitter.steady(visitor);
        visitor.instant(&mut message_end.0);
        visitor.instant(&mut message_end.1);
        visitor.exact(control.len() as u64);
        for place in 0..control.len() {
            control.get_mut(place).steady_waiting(visitor);
        }
        visitor.exact_option(turn.map(|(slot, _)| u64::from(slot.number())));
        visitor.exact_option(turn.map(|(_, bytes)| bytes));
        visitor.exact(round.len() as u64);
        for slot in round.iter() {
            visitor.exact(u64::from(slot.number()));
        }
        timeouts.steady(visitor);
        visitor.exact(u64::from(*pending));
        visitor.exact(errors.len() as u64);
        pauses.steady(visitor);
        marks.steady(visitor);
        counters.steady(visitor);
        for (slot, queue_pair) in send.numbered_mut() {
            let of = FlowEnd::Send(*host, slot);
            queue_pair.steady(of, requests, slot, spec.acknowledge, visitor);
        }
        for (slot, queue_pair) in receive.numbered_mut() {
            queue_pair.steady(FlowEnd::Receive(*host, slot), visitor);
        }
    }

    /// Returns the next PSN of each send queue pair.
    pub(crate) fn next_sequences(&self) -> impl Iterator<Item = u32> + '_ {
        self.send.iter().map(|queue_pair| queue_pair.next_sequence)
    }

    /// Returns the PSN that each receive queue pair expects next.
    pub(crate) fn expected_sequences(&self) -> impl Iterator<Item = u32> + '_ {
        self.receive.iter().map(|queue_pair| queue_pair.expected)
    }

    /// Returns the host, and the receive queue pair there, to which a send queue pair sends.
    pub(crate) fn receiver_of(&self, slot: SendSlot) -> (HostId, ReceiveSlot) {
        let peer = self.send[slot].peer();
        (peer.destination, peer.slot)
    }

    /// Returns the least and the greatest packet count that a queue pair in the round has left in
    /// its current request, or `None` if the round is empty.
    pub(crate) fn left_to_send(&self) -> Option<(u32, u32)> {
        let slots = self.round.iter().map(|&slot| self.send[slot].left());
        let bounds = |bounds: Option<(u32, u32)>, left: u32| {
            let (least, most) = bounds.unwrap_or((left, left));
            Some((least.min(left), most.max(left)))
        };
        slots.fold(None, bounds)
    }

    /// Returns, per receive queue pair, the packets accepted for its current transfer.
    pub(crate) fn accepted(&self) -> impl Iterator<Item = u32> + '_ {
        self.receive.iter().map(ReceiveQueuePair::accepted)
    }

    /// Sets retransmission timers anew after a jump to `now` over whole steps. Each goes to the
    /// earliest instant at which it could matter: a timer that fires early changes nothing, so its
    /// last owner need not be known.
    pub(crate) fn set_timeouts(&mut self, spec: &NicSpec, now: Instant) {
        let RoceNic { send, timeouts, .. } = self;
        timeouts.set_anew(|slot| {
            let due = send[slot].last_progress + spec.retransmission_timeout;
            due.max(now)
        });
    }

    /// Replaces the latencies recorded for a receive queue pair's current transfer.
    pub(crate) fn set_latencies(&mut self, slot: ReceiveSlot, latencies: Latencies) {
        self.receive[slot].set(latencies);
    }

    /// Adds latencies of packets that a receive queue pair accepted within a jump.
    pub(crate) fn add_latencies(&mut self, slot: ReceiveSlot, latencies: Latencies) {
        self.receive[slot].add(latencies);
    }
}

impl NicCounters {
    fn steady(&mut self, visitor: &mut impl Visitor) {
        let NicCounters {
            received_frames,
            received_bytes,
            data_packets,
            data_bytes,
            out_of_sequence,
            out_of_order,
            given_up,
            duplicate_request,
            retransmitted_packets,
            marked_packets,
            trimmed_packets,
            acknowledgements_sent,
            grants_sent,
            nak_sent,
            packet_seq_err,
            local_ack_timeout_err,
            np_cnp_sent,
            rp_cnp_handled,
        } = self;
        let counts = [
            received_frames,
            received_bytes,
            data_packets,
            data_bytes,
            marked_packets,
            acknowledgements_sent,
        ];
        for count in counts {
            visitor.total(count);
        }
        // A jump must not repeat losses: while any of these counts, states differ.
        let rare = [
            *out_of_sequence,
            *out_of_order,
            *given_up,
            *duplicate_request,
            *retransmitted_packets,
            *trimmed_packets,
            *grants_sent,
            *nak_sent,
            *packet_seq_err,
            *local_ack_timeout_err,
            *np_cnp_sent,
            *rp_cnp_handled,
        ];
        for count in rare {
            visitor.exact(count);
        }
    }
}
