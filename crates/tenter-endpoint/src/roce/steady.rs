//! A NIC in a steady state.

use tenter_net::{FlowEnd, ReceiveSlot, SendSlot, Visitor};
use tenter_topology::HostId;
use tenter_units::Instant;

use super::RoceNic;
use crate::nic::counters::NicCounters;
use crate::receive::{Latencies, ReceiveQueuePair};
use crate::spec::NicSpec;

impl RoceNic {
    /// Goes through its state.
    pub fn steady(&mut self, spec: &NicSpec, visitor: &mut impl Visitor) {
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

    /// The next sequence number of each send slot.
    pub fn next_sequences(&self) -> impl Iterator<Item = u32> + '_ {
        self.send.iter().map(|queue_pair| queue_pair.next_sequence)
    }

    /// The sequence number that each receive slot expects.
    pub fn expected_sequences(&self) -> impl Iterator<Item = u32> + '_ {
        self.receive.iter().map(|queue_pair| queue_pair.expected)
    }

    /// The host and the receive slot there to which a send slot sends.
    pub fn receiver_of(&self, slot: SendSlot) -> (HostId, ReceiveSlot) {
        let peer = self.send[slot].peer();
        (peer.destination, peer.slot)
    }

    /// The fewest packets that a queue pair which may send has left of its request, and the most.
    pub fn left_to_send(&self) -> Option<(u32, u32)> {
        let slots = self.round.iter().map(|&slot| self.send[slot].left());
        let bounds = |bounds: Option<(u32, u32)>, left: u32| {
            let (least, most) = bounds.unwrap_or((left, left));
            Some((least.min(left), most.max(left)))
        };
        slots.fold(None, bounds)
    }

    /// How many packets each receive slot has accepted of the transfer that it receives.
    pub fn accepted(&self) -> impl Iterator<Item = u32> + '_ {
        self.receive.iter().map(ReceiveQueuePair::accepted)
    }

    /// Sets the timers of timeouts anew after a jump to `now` over whole steps. They may go off
    /// early, so that it need not be known what has set each of them last.
    pub fn set_timeouts(&mut self, spec: &NicSpec, now: Instant) {
        let RoceNic { send, timeouts, .. } = self;
        timeouts.set_anew(|slot| {
            let due = send[slot].last_progress + spec.retransmission_timeout;
            due.max(now)
        });
    }

    /// Sets the latencies of what a receive slot has accepted of the transfer that it receives.
    pub fn set_latencies(&mut self, slot: ReceiveSlot, latencies: Latencies) {
        self.receive[slot].set(latencies);
    }

    /// Adds the latencies of packets that a jump has accepted on a receive slot.
    pub fn add_latencies(&mut self, slot: ReceiveSlot, latencies: Latencies) {
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
        // While anything is lost or sent again, nothing is jumped.
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
