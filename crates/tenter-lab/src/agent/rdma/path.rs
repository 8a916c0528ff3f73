//! Messages as writes, and completions as the packets that the model expects.

use std::collections::VecDeque;

use tenter_endpoint::MessageCut;
use tenter_fabric::net::{Packet, PacketKind, ReceiveSlot, SENT_UNIT_PS, SendSlot};
use tenter_fabric::topology::HostId;
use tenter_language::units::Instant;
use tenter_sim::real_time::{Departure, RealHost, Slot, Way};

use super::verbs::{Completion, Posted, Status, Verbs, Write};
use crate::control::Offer;

/// Receives posted at each receiving queue pair; each arrival is replaced at once.
pub(super) const RECEIVES: u32 = 512;

/// Everything that [`RdmaPath::new`] needs.
pub(in crate::agent) struct RdmaBuild<'a> {
    pub(in crate::agent) device: Box<dyn Verbs>,
    pub(in crate::agent) host: HostId,
    pub(in crate::agent) ways: &'a [Way],
    pub(in crate::agent) cut: MessageCut,
}

/// A message that the model has started to send.
#[derive(Clone, Copy, Debug)]
struct UnderWay {
    /// Sequence number of its first packet.
    first: u32,
    /// Sequence number after its last packet.
    end: u32,
    /// Set by the device's completion.
    is_acknowledged: bool,
}

/// State of a sending queue pair.
#[derive(Clone, Debug, Default)]
struct Sender {
    /// Sequence number after the last message in `under_way`.
    next: u32,
    /// Sequence number after the last packet that has left the model.
    left: u32,
    /// Messages that the device has not taken yet.
    waiting: VecDeque<Write>,
    /// Messages whose acknowledgement the model has not received, oldest first.
    under_way: VecDeque<UnderWay>,
}

/// The path for messages through a device.
pub(in crate::agent) struct RdmaPath {
    device: Box<dyn Verbs>,
    host: HostId,
    ways: Vec<Way>,
    cut: MessageCut,
    senders: Vec<Sender>,
    /// For each receiving queue pair, the next sequence number; `None` before the first message.
    expected: Vec<Option<u32>>,
    completions: Vec<Completion>,
    /// Peers whose queue pairs have failed, with instant and reason.
    failed: Vec<(HostId, Instant, Status)>,
    /// Completions that match no message or queue pair.
    refused: u64,
}

impl RdmaPath {
    pub(in crate::agent) fn new(build: RdmaBuild<'_>) -> RdmaPath {
        let count = |is: fn(&Slot) -> bool| build.ways.iter().filter(|way| is(&way.own)).count();
        RdmaPath {
            device: build.device,
            host: build.host,
            ways: build.ways.to_vec(),
            cut: build.cut,
            senders: vec![Sender::default(); count(|slot| matches!(slot, Slot::Send(_)))],
            expected: vec![None; count(|slot| matches!(slot, Slot::Receive(_)))],
            completions: Vec::new(),
            failed: Vec::new(),
            refused: 0,
        }
    }

    /// Returns an offer for each queue pair's peer.
    pub(in crate::agent) fn offers(&self) -> Vec<Offer> {
        let offer = |way: &Way| Offer {
            // A peer receives where this host sends.
            to: way.peer.number(),
            receives: matches!(way.own, Slot::Send(_)),
            slot: way.peer_slot,
            bytes: self.device.offer(way.own),
        };
        self.ways.iter().map(offer).collect()
    }

    /// Connects a queue pair with the end that its peer has offered.
    ///
    /// # Errors
    /// Returns an error if there is no such queue pair, or if the device cannot connect it.
    pub(in crate::agent) fn connect(&mut self, offer: &Offer) -> Result<(), String> {
        let slot = if offer.receives {
            Slot::Receive(ReceiveSlot::new(offer.slot))
        } else {
            Slot::Send(SendSlot::new(offer.slot))
        };
        if !self.ways.iter().any(|way| way.own == slot) {
            return Err(format!(
                "a peer offers to connect {slot:?}, which is not here"
            ));
        }
        self.device.connect(slot, &offer.bytes)?;
        // Receives wait before the peer can send: agents report ready only after this.
        match slot {
            Slot::Receive(slot) => self.device.post_receives(slot, RECEIVES),
            Slot::Send(_) => Ok(()),
        }
    }

    /// Turns a packet that leaves the model into a write: a message's first packet becomes the
    /// whole message. Later packets only show how far the model is; answers and retransmissions are
    /// dropped, since the device has its own.
    ///
    /// # Errors
    /// Returns an error if the device takes no more writes.
    pub(in crate::agent) fn depart(&mut self, departure: &Departure) -> Result<(), String> {
        let packet = &departure.packet;
        let Slot::Send(slot) = departure.from else {
            return Ok(());
        };
        if !packet.kind.is_data() {
            return Ok(());
        }
        let sender = &mut self.senders[slot.index()];
        let begins = matches!(packet.kind, PacketKind::First | PacketKind::Only);
        if begins && is_ahead(packet.sequence, sender.next) {
            let packets = self.cut.packets(u64::from(departure.message_bytes)) as u32;
            sender.next = packet.sequence.wrapping_add(packets);
            sender.under_way.push_back(UnderWay {
                first: packet.sequence,
                end: sender.next,
                is_acknowledged: false,
            });
            sender.waiting.push_back(Write {
                slot,
                id: packet.sequence,
                bytes: departure.message_bytes,
                immediate: packet.sequence,
            });
        }
        let after = packet.sequence.wrapping_add(1);
        if is_ahead(after, sender.left) {
            sender.left = after;
        }
        self.post(slot)
    }

    /// Posts waiting writes in order until the queue pair is full.
    fn post(&mut self, slot: SendSlot) -> Result<(), String> {
        let waiting = &mut self.senders[slot.index()].waiting;
        while let Some(write) = waiting.front() {
            if self.device.post(write)? == Posted::Full {
                break;
            }
            waiting.pop_front();
        }
        Ok(())
    }

    /// Appends arrivals for the completions that the device has, and returns how many matched
    /// nothing.
    ///
    /// # Errors
    /// Returns an error if the device fails.
    pub(in crate::agent) fn receive(
        &mut self,
        now: Instant,
        host: &RealHost,
        arrivals: &mut Vec<Packet>,
    ) -> Result<u64, String> {
        // Taken out for the loop, which borrows all of `self`; its memory is used again.
        let mut completions = std::mem::take(&mut self.completions);
        self.device.poll(&mut completions)?;
        for completion in completions.drain(..) {
            match completion {
                Completion::Sent { slot, id, status } => self.sent(slot, id, status, now)?,
                Completion::Received {
                    slot,
                    immediate,
                    bytes,
                    status: Status::Success,
                } => {
                    // The message has used up a posted receive: a new one takes its place at once,
                    // so that the device never runs out.
                    self.device.post_receives(slot, 1)?;
                    self.received(slot, immediate, bytes, now, host, arrivals);
                }
                Completion::Received { slot, status, .. } => {
                    self.fail(Slot::Receive(slot), status, now);
                }
            }
        }
        self.completions = completions;
        self.acknowledge(now, arrivals);
        Ok(std::mem::take(&mut self.refused))
    }

    fn sent(
        &mut self,
        slot: SendSlot,
        id: u32,
        status: Status,
        now: Instant,
    ) -> Result<(), String> {
        if status != Status::Success {
            self.fail(Slot::Send(slot), status, now);
            return Ok(());
        }
        let Some(sender) = self.senders.get_mut(slot.index()) else {
            self.refused += 1;
            return Ok(());
        };
        let message = sender.under_way.iter_mut().find(|of| of.first == id);
        match message {
            Some(message) => message.is_acknowledged = true,
            None => self.refused += 1,
        }
        self.post(slot)
    }

    /// Appends ACKs for messages that have left the model completely.
    ///
    /// A device may acknowledge a message before the model has sent its last packet; the model
    /// would refuse that ACK.
    fn acknowledge(&mut self, now: Instant, arrivals: &mut Vec<Packet>) {
        for (slot, sender) in (0..).zip(&mut self.senders) {
            while let Some(message) = sender.under_way.front().copied() {
                if !message.is_acknowledged || is_ahead(message.end, sender.left.wrapping_add(1)) {
                    break;
                }
                sender.under_way.pop_front();
                arrivals.push(Packet {
                    kind: PacketKind::Ack,
                    sequence: message.end,
                    sent: unknown(now),
                    ..self_packet(self.host, slot, now)
                });
            }
        }
    }

    /// Appends the packets that the model expects for a message that has arrived.
    fn received(
        &mut self,
        slot: ReceiveSlot,
        first: u32,
        bytes: u32,
        now: Instant,
        host: &RealHost,
        arrivals: &mut Vec<Packet>,
    ) {
        let Some(expected) = self.expected.get_mut(slot.index()) else {
            self.refused += 1;
            return;
        };
        let next = expected.unwrap_or_else(|| host.expected_sequence(slot));
        let packets = self.cut.packets(u64::from(bytes));
        // A connection delivers in order; anything else comes from another trial.
        if first != next || packets > self.cut.packets_per_message() {
            self.refused += 1;
            return;
        }
        *expected = Some(first.wrapping_add(packets as u32));
        for place in 0..packets {
            let is_last = place + 1 == packets;
            let kind = match (place, is_last) {
                (0, true) => PacketKind::Only,
                (0, false) => PacketKind::First,
                (_, true) => PacketKind::Last,
                (_, false) => PacketKind::Middle,
            };
            let frame_bytes = self.cut.frame_bytes(u64::from(bytes), place, place + 1);
            arrivals.push(Packet {
                kind,
                sequence: first.wrapping_add(place as u32),
                sent: unknown(now),
                frame_bytes: frame_bytes as u16,
                flags: u8::from(is_last) * Packet::ACK_REQUEST,
                ..self_packet(self.host, slot.number(), now)
            });
        }
    }

    /// Notes that a queue pair has failed. The first reason counts; requests that are flushed after
    /// it say nothing more.
    fn fail(&mut self, slot: Slot, status: Status, now: Instant) {
        let way = self.ways.iter().find(|way| way.own == slot);
        if let Some(peer) = way.map(|way| way.peer)
            && !self.failed.iter().any(|(host, ..)| *host == peer)
        {
            self.failed.push((peer, now, status));
        }
    }

    /// Returns the hosts to which queue pairs have failed, with the instants.
    pub(in crate::agent) fn given_up(&self) -> impl Iterator<Item = (HostId, Instant)> + '_ {
        self.failed.iter().map(|(host, at, _)| (*host, *at))
    }
}

/// Returns true if `sequence` equals `of` or comes after it.
fn is_ahead(sequence: u32, of: u32) -> bool {
    sequence.wrapping_sub(of) <= u32::MAX / 2
}

/// Returns a send time for packets whose real one is unknown. It makes the latency the largest
/// possible one, which the flow table treats as missing.
fn unknown(now: Instant) -> u32 {
    ((now.ps() / SENT_UNIT_PS) as u32).wrapping_add(1)
}

/// Returns an ACK to this host's queue pair, to be completed by the caller.
fn self_packet(host: HostId, queue_pair: u32, now: Instant) -> Packet {
    Packet {
        at: now,
        queue_pair,
        sequence: 0,
        destination: host,
        hash: 0,
        sent: 0,
        frame_bytes: 0,
        kind: PacketKind::Ack,
        flags: 0,
    }
}
