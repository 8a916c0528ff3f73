//! Limits on queue pairs beyond the wire: rates, notifications, retransmissions, or pauses that
//! stop one class and not another.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use tenter_engine::Ring;
use tenter_fabric::net::{Missing, Packet, PacketKind, SendSlot, Transmitter, WIRE_OVERHEAD_BYTES};
use tenter_fabric::topology::HostId;
use tenter_language::units::{Instant, Rate, Time};

use super::dma_reads::DmaReads;
use super::held::Held;
use super::in_band::InBand;
use super::outstanding::Outstanding;
use super::port_choices::PortChoices;
use super::rate_waits::RateWaits;
use crate::congestion_control::{Congestion, Link};
use crate::entropy::PathNews;
use crate::loss_recovery::LossRecovery;
use crate::loss_recovery::selective_repeat::{Gaps, Repairs};
use crate::nic::port::Wire;
use crate::notification::NotificationSpec;
use crate::pauses::Pauses;
use crate::send::{SendQueuePair, Sent, Turn};
use crate::source_ports::Entropy;
use crate::spec::NicSpec;

/// Queue pairs that wait for their rate, or for a pause by congestion signals to end, ordered by
/// the instant at which the wait ends. Ties go by queue pair, so the order depends on content
/// alone.
#[derive(Clone, Debug, Default)]
pub(super) struct Paced(BTreeSet<(Instant, SendSlot)>);

impl Paced {
    /// Returns the end of the first wait, or [`Instant::NEVER`] if no queue pair waits.
    #[inline]
    pub(super) fn next_at(&self) -> Instant {
        self.0.first().map_or(Instant::NEVER, |&(at, _)| at)
    }

    fn push(&mut self, at: Instant, slot: SendSlot) {
        self.0.insert((at, slot));
    }

    /// Takes out the queue pair whose wait ends first.
    pub(super) fn pop(&mut self) -> Option<SendSlot> {
        self.0.pop_first().map(|(_, slot)| slot)
    }

    /// Passes an event to congestion control. If it changes the end of the queue pair's wait, the
    /// queue pair is moved accordingly.
    pub(super) fn tell(
        &mut self,
        congestion: &mut Congestion,
        slot: SendSlot,
        news: impl FnOnce(&mut Congestion),
    ) {
        let before = congestion.ready_at(slot);
        news(congestion);
        let after = congestion.ready_at(slot);
        // A queue pair that does not wait, or waits for a signal, is not found and stays where it
        // is.
        if before != after && self.0.remove(&(before, slot)) {
            self.push(after, slot);
        }
    }
}

/// State for a NIC that needs more than a round of queue pairs. A NIC has none if it uses go-back-N
/// and a single data class, without congestion control.
#[derive(Clone, Debug)]
pub(super) struct Limits {
    pub(super) congestion: Option<Congestion>,
    /// Wire bytes of a full packet, by which congestion control counts packets.
    pub(super) full: u64,
    /// Time for which congestion control holds queue pairs back, if there is congestion control.
    pub(super) waits: Option<Box<RateWaits>>,
    /// Most packets that a queue pair may have unacknowledged, independent of congestion control.
    window: Option<u32>,
    /// Messages in flight, if their number is limited.
    messages: Option<Outstanding>,
    pub(super) paced: Paced,
    /// Rules by which senders are notified of marked packets, if they are.
    pub(super) notification: Option<NotificationSpec>,
    /// Earliest instant of the next notification by destination address, or under `None` for the
    /// whole port, if notifications are limited by those.
    pub(super) notify_next: BTreeMap<Option<HostId>, Instant>,
    /// Waiting congestion notifications, which leave before everything else.
    pub(super) notifications: Ring<Packet>,
    pub(super) repairs: Repairs,
    pub(super) gaps: Gaps,
    /// In-band telemetry, if data packets carry any.
    pub(super) in_band: Option<Box<InBand>>,
    /// DMA reads, if they are slower than the wire.
    pub(super) reads: Option<DmaReads>,
    /// Pauses by congestion signals, if the fabric has any.
    pub(super) held: Option<Box<Held>>,
    /// Source ports, if queue pairs choose one for each packet.
    pub(super) ports: Option<Box<PortChoices>>,
    /// Earliest instant at which another port is free, if the NIC sends over several ports.
    pub(super) other_ports_free_at: Instant,
}

impl Limits {
    /// Handles a timeout: everything unacknowledged, `packets` from packet `oldest` on, is about to
    /// be resent.
    pub(super) fn timed_out(&mut self, slot: SendSlot, oldest: u32, packets: u32, now: Instant) {
        self.tell(slot, |congestion| congestion.timed_out(slot, packets, now));
        self.heard(slot, Missing::one(oldest), PathNews::TimedOut, now);
    }

    /// Passes an event that may change a rate to congestion control.
    pub(super) fn tell(&mut self, slot: SendSlot, news: impl FnOnce(&mut Congestion)) {
        if let Some(congestion) = &mut self.congestion {
            self.paced.tell(congestion, slot, news);
        }
    }

    /// Reports a bad outcome for packets that are about to be resent to the choice of source ports.
    pub(super) fn heard(&mut self, slot: SendSlot, packets: Missing, news: PathNews, now: Instant) {
        if let Some(ports) = &mut self.ports {
            ports.repeated(slot, packets, news, now);
        }
    }

    /// Passes a data packet that is about to leave to the choice of source ports.
    #[inline]
    pub(super) fn leaves(&mut self, slot: SendSlot, packet: &mut Packet) {
        if let Some(ports) = self.ports.as_mut().filter(|_| packet.kind.is_data()) {
            ports.leaves(slot, packet);
        }
    }

    /// Returns true if receivers answer each data packet, so that senders learn about its path.
    pub(super) fn answers_each(&self) -> bool {
        self.ports.as_ref().is_some_and(|ports| ports.learn())
    }

    /// Returns true if a NIC with a single class of data needs limits.
    pub(super) fn are_needed(spec: &NicSpec) -> bool {
        let goes_back = spec.loss_recovery == LossRecovery::GoBackN;
        let endless = spec.outstanding_messages.is_none();
        spec.congestion_control.is_some() || !goes_back || !endless
    }

    /// Creates the limits for a NIC with `slots` send queue pairs on a line of rate `line`, which
    /// sprays each queue pair over `planes` planes. `round_trip` is the longest one through the
    /// unloaded fabric.
    pub(super) fn new(
        spec: &NicSpec,
        line: Rate,
        round_trip: Time,
        slots: usize,
        planes: u16,
    ) -> Limits {
        let payload = u64::from(spec.mtu_bytes);
        let full = payload + u64::from(spec.header_bytes() + WIRE_OVERHEAD_BYTES);
        // A receiver discards packets beyond its window, so selective repeat bounds the sender's as
        // well.
        let mut window = spec.window_packets;
        if let LossRecovery::SelectiveRepeat(repeat) = &spec.loss_recovery {
            let own = repeat.window;
            window = Some(window.map_or(own, |window| window.min(own)));
        }
        Limits {
            window,
            messages: spec
                .outstanding_messages
                .map(|most| Outstanding::new(most, slots)),
            congestion: spec.reacting().map(|control| {
                let link = Link::new(line, round_trip, payload, full);
                Congestion::new(control, &link, slots)
            }),
            full,
            waits: spec
                .reacting()
                .map(|_| Box::new(RateWaits::new(slots, planes))),
            paced: Paced::default(),
            notification: spec.notification(),
            notify_next: BTreeMap::new(),
            notifications: Ring::default(),
            repairs: Repairs::default(),
            gaps: Gaps::default(),
            in_band: None,
            reads: None,
            held: None,
            ports: None,
            other_ports_free_at: Instant::NEVER,
        }
    }

    /// Returns the instant at which host memory has the next data packet ready.
    #[inline]
    pub(super) fn read_at(&self) -> Instant {
        self.reads
            .as_ref()
            .map_or(Instant::START, DmaReads::ready_at)
    }

    /// Returns the waits for congestion control, if there is any, and the wire as data sees it:
    /// free only once host memory has data ready, too.
    #[inline]
    pub(super) fn waits_and_wire<'p>(
        &mut self,
        transmitter: &Transmitter,
        pauses: &'p Pauses,
    ) -> Option<(&mut RateWaits, Wire<'p>)> {
        self.waits.as_ref()?;
        let wire = Wire::of_any_port(transmitter, self.other_ports_free_at, pauses);
        let wire = Wire {
            free_at: wire.free_at.max(self.read_at()),
            ..wire
        };
        Some((self.waits.as_mut()?, wire))
    }

    /// Returns true if congestion control held a queue pair that leaves the round and still does:
    /// the queue pair has data, and nothing else can be what holds it.
    #[inline]
    pub(super) fn stays_held(&self, slot: SendSlot, queue_pair: &SendQueuePair) -> bool {
        let is_paced = queue_pair.turn == Turn::Paced;
        // If there is another window, a closer look must tell which of them holds it.
        let is_alone = self.window.is_none() && self.messages.is_none();
        let waits = self.waits.as_ref();
        (is_paced || (is_alone && queue_pair.may_send(None)))
            && waits.is_some_and(|waits| waits.is_held(slot))
    }

    /// Lets queue pairs choose a source port for each packet.
    pub(super) fn choose_ports(&mut self, entropy: Arc<Entropy>, slots: usize) {
        let ports = PortChoices::new(entropy, self.window, slots);
        self.ports = Some(Box::new(ports));
    }

    /// Returns the most packets that a queue pair may have unacknowledged: the smallest window of
    /// all.
    #[inline]
    pub(super) fn window(&self, slot: SendSlot, queue_pair: &SendQueuePair) -> Option<u32> {
        let narrow =
            |window: Option<u32>, own: u32| Some(window.map_or(own, |window| window.min(own)));
        let mut window = self.window;
        if let Some(congestion) = &self.congestion {
            window = narrow(window, congestion.window(slot));
        }
        if let Some(messages) = &self.messages {
            window = narrow(window, messages.window(slot, queue_pair.acknowledged));
        }
        window
    }

    /// Updates messages in flight and source ports after an acknowledgement.
    pub(super) fn note_acknowledged(&mut self, slot: SendSlot, queue_pair: &SendQueuePair) {
        if let Some(messages) = &mut self.messages {
            messages.acknowledge(slot, queue_pair.acknowledged);
        }
        if let Some(ports) = &mut self.ports {
            ports.acknowledged(slot, queue_pair.acknowledged);
        }
    }

    /// Notes a data packet that was put onto the wire for the first time, or again after a rewind.
    pub(super) fn note_data(&mut self, slot: SendSlot, queue_pair: &SendQueuePair, sent: &Sent) {
        let begins = matches!(sent.packet.kind, PacketKind::First | PacketKind::Only);
        if let Some(messages) = self.messages.as_mut().filter(|_| begins) {
            messages.begin(slot, queue_pair.end_of_message(sent));
        }
    }

    /// Makes a queue pair wait if its rate or a congestion signal forbids the next packet at `now`,
    /// and returns true if it does.
    pub(super) fn holds_back(
        &mut self,
        slot: SendSlot,
        queue_pair: &mut SendQueuePair,
        now: Instant,
    ) -> bool {
        let congestion = self.congestion.as_ref();
        let ready_at = congestion.map_or(Instant::START, |congestion| congestion.ready_at(slot));
        let until = self.held_until(queue_pair);
        if ready_at > now {
            self.pace(slot, queue_pair, ready_at);
        } else if until > now {
            self.hold(slot, queue_pair, until);
        } else {
            return false;
        }
        true
    }

    /// Makes a queue pair wait until packets may be sent to its receiver again.
    pub(super) fn hold(&mut self, slot: SendSlot, queue_pair: &mut SendQueuePair, until: Instant) {
        queue_pair.turn = Turn::Paced;
        let held = self.held.as_mut();
        if held.is_none_or(|held| held.wait(slot, queue_pair)) {
            self.paced.push(until, slot);
        }
    }

    /// Takes out the queue pairs that may send because `slot` need not wait any longer: only
    /// itself, or all that wait for the same receiver if it is the first of these. Returns none if
    /// it must go on waiting.
    pub(super) fn released(
        &mut self,
        slot: SendSlot,
        queue_pair: &mut SendQueuePair,
        now: Instant,
    ) -> VecDeque<SendSlot> {
        let until = self.held_until(queue_pair);
        let held = self.held.as_mut();
        let held = held.filter(|held| held.is_first(slot, queue_pair));
        match held {
            Some(_) if until > now => self.paced.push(until, slot),
            Some(held) => return held.take(queue_pair),
            None if until > now => self.hold(slot, queue_pair, until),
            None => return VecDeque::from([slot]),
        }
        VecDeque::new()
    }

    /// Returns the end of the pause towards a queue pair's receiver; in the past if there is none.
    fn held_until(&self, queue_pair: &SendQueuePair) -> Instant {
        let held = self.held.as_ref();
        held.map_or(Instant::START, |held| held.until(queue_pair))
    }

    /// Makes a queue pair wait until its rate allows the next packet.
    pub(super) fn pace(
        &mut self,
        slot: SendSlot,
        queue_pair: &mut SendQueuePair,
        ready_at: Instant,
    ) {
        queue_pair.turn = Turn::Paced;
        self.paced.push(ready_at, slot);
    }

    /// Adds a run of packets that a queue pair must resend.
    pub(super) fn repair(
        &mut self,
        slot: SendSlot,
        queue_pair: &mut SendQueuePair,
        missing: Missing,
    ) {
        queue_pair.repairs = true;
        self.repairs.add(slot, missing);
    }
}
