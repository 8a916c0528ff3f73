//! What holds queue pairs back beside the wire: rates, notifications, repairs, pauses of one class
//! of several.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use tenter_engine::Ring;
use tenter_net::{Missing, Packet, PacketKind, SendSlot, Transmitter};
use tenter_topology::HostId;
use tenter_units::{Instant, Rate};

use super::dma_reads::DmaReads;
use super::held::Held;
use super::in_band::InBand;
use super::outstanding::Outstanding;
use super::port_choices::PortChoices;
use super::rate_waits::RateWaits;
use crate::congestion_control::Congestion;
use crate::entropy::PathNews;
use crate::loss_recovery::LossRecovery;
use crate::loss_recovery::selective_repeat::{Gaps, Repairs};
use crate::nic::port::Wire;
use crate::notification::NotificationSpec;
use crate::pauses::Pauses;
use crate::send::{SendQueuePair, Sent, Turn};
use crate::source_ports::Entropy;
use crate::spec::NicSpec;

/// Queue pairs that wait until their rate, or a signal, allows the next packet, each with the end
/// of its wait.
#[derive(Clone, Debug, Default)]
pub(super) struct Paced(BTreeSet<(Instant, SendSlot)>);

impl Paced {
    /// The first end of a wait; [`Instant::NEVER`] if nobody waits.
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

    /// Tells the congestion control something of a queue pair, which may change its rate, and with
    /// it the end of its wait.
    pub(super) fn tell(
        &mut self,
        congestion: &mut Congestion,
        slot: SendSlot,
        news: impl FnOnce(&mut Congestion),
    ) {
        let before = congestion.ready_at(slot);
        news(congestion);
        let after = congestion.ready_at(slot);
        if before != after && self.0.remove(&(before, slot)) {
            self.push(after, slot);
        }
    }
}

/// What a NIC has beside the round of its queue pairs. A NIC without congestion control and
/// notifications that goes back and sends in one class has none of it.
#[derive(Clone, Debug)]
pub(super) struct Limits {
    pub(super) congestion: Option<Congestion>,
    /// How long it holds queue pairs back, where there is any.
    pub(super) waits: Option<Box<RateWaits>>,
    /// Packets that a queue pair may have unacknowledged whatever the congestion control says.
    window: Option<u32>,
    /// Messages under way, if there may be only so many.
    messages: Option<Outstanding>,
    pub(super) paced: Paced,
    /// How senders are notified of marked packets, if they are.
    pub(super) notification: Option<NotificationSpec>,
    /// No notification goes to an address before, or by the port, where these have limits.
    pub(super) notify_next: BTreeMap<Option<HostId>, Instant>,
    /// Congestion notifications: sent before everything else.
    pub(super) notifications: Ring<Packet>,
    pub(super) repairs: Repairs,
    pub(super) gaps: Gaps,
    /// In-band telemetry, if packets carry any.
    pub(super) in_band: Option<Box<InBand>>,
    /// Host memory that is slower than the wire.
    pub(super) reads: Option<DmaReads>,
    /// Receivers that it must not send to, if signals may say so.
    pub(super) held: Option<Box<Held>>,
    /// Source ports, where queue pairs choose them for each packet.
    pub(super) ports: Option<Box<PortChoices>>,
    /// When the first of the other ports is free that the NIC sends by, if it has several.
    pub(super) other_ports_free_at: Instant,
}

impl Limits {
    /// Everything that a queue pair has unacknowledged, from packet `oldest` on, is about to be
    /// sent again.
    pub(super) fn timed_out(&mut self, slot: SendSlot, oldest: u32, now: Instant) {
        self.tell(slot, |congestion| congestion.timed_out(slot, now));
        self.heard(slot, Missing::one(oldest), PathNews::TimedOut, now);
    }

    /// Tells the congestion control something of a queue pair, which may change its rate.
    pub(super) fn tell(&mut self, slot: SendSlot, news: impl FnOnce(&mut Congestion)) {
        if let Some(congestion) = &mut self.congestion {
            self.paced.tell(congestion, slot, news);
        }
    }

    /// There is bad news of packets of a queue pair, which are about to be sent again.
    pub(super) fn heard(&mut self, slot: SendSlot, packets: Missing, news: PathNews, now: Instant) {
        if let Some(ports) = &mut self.ports {
            ports.repeated(slot, packets, news, now);
        }
    }

    /// A data packet of a queue pair leaves.
    #[inline]
    pub(super) fn leaves(&mut self, slot: SendSlot, packet: &mut Packet) {
        if let Some(ports) = self.ports.as_mut().filter(|_| packet.kind.is_data()) {
            ports.leaves(slot, packet);
        }
        if let Some(congestion) = &mut self.congestion {
            congestion.leaves(slot, packet);
        }
    }

    /// Whether each data packet is answered, for senders to hear of its path.
    pub(super) fn answers_each(&self) -> bool {
        self.ports.as_ref().is_some_and(|ports| ports.learn())
    }

    /// Whether a NIC of one class has any of this.
    pub(super) fn are_needed(spec: &NicSpec) -> bool {
        let goes_back = spec.loss_recovery == LossRecovery::GoBackN;
        let endless = spec.outstanding_messages.is_none();
        spec.congestion_control.is_some() || !goes_back || !endless
    }

    /// Of a NIC with so many send slots, each of which it sprays over some planes, on a line of
    /// this rate.
    pub(super) fn new(spec: &NicSpec, line: Rate, slots: usize, planes: u16) -> Limits {
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
                let payload = u64::from(spec.mtu_bytes);
                Congestion::new(control, line, payload, slots)
            }),
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

    /// When host memory has the next data packet ready.
    #[inline]
    pub(super) fn read_at(&self) -> Instant {
        self.reads
            .as_ref()
            .map_or(Instant::START, DmaReads::ready_at)
    }

    /// The waits for congestion control, where there is any, and the wire as data find it: free
    /// once host memory has some ready, too.
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

    /// Whether congestion control held a queue pair that leaves the round, and does still: it has
    /// data, and nothing else can be what holds it.
    #[inline]
    pub(super) fn stays_held(&self, slot: SendSlot, queue_pair: &SendQueuePair) -> bool {
        let is_paced = queue_pair.turn == Turn::Paced;
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

    /// Packets that a queue pair may have unacknowledged.
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

    /// A queue pair has heard of an acknowledgement.
    pub(super) fn note_acknowledged(&mut self, slot: SendSlot, queue_pair: &SendQueuePair) {
        if let Some(messages) = &mut self.messages {
            messages.acknowledge(slot, queue_pair.acknowledged);
        }
        if let Some(ports) = &mut self.ports {
            ports.acknowledged(slot, queue_pair.acknowledged);
        }
    }

    /// A queue pair has put a packet on the wire that it had not sent before, or goes back over.
    pub(super) fn note_data(&mut self, slot: SendSlot, queue_pair: &SendQueuePair, sent: &Sent) {
        let begins = matches!(sent.packet.kind, PacketKind::First | PacketKind::Only);
        if let Some(messages) = self.messages.as_mut().filter(|_| begins) {
            messages.begin(slot, queue_pair.end_of_message(sent));
        }
    }

    /// Lets a queue pair wait if its rate does not allow the next packet at `now`.
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

    /// Lets a queue pair wait until its receiver may be sent to again.
    pub(super) fn hold(&mut self, slot: SendSlot, queue_pair: &mut SendQueuePair, until: Instant) {
        queue_pair.turn = Turn::Paced;
        let held = self.held.as_mut();
        if held.is_none_or(|held| held.wait(slot, queue_pair)) {
            self.paced.push(until, slot);
        }
    }

    /// Takes out those that wait with a queue pair whose wait is over: itself, and where it is the
    /// first of those that its receiver made wait all of them; none if it must wait on.
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

    /// Until when the receiver of a queue pair must not be sent to; in the past when it may.
    fn held_until(&self, queue_pair: &SendQueuePair) -> Instant {
        let held = self.held.as_ref();
        held.map_or(Instant::START, |held| held.until(queue_pair))
    }

    pub(super) fn pace(
        &mut self,
        slot: SendSlot,
        queue_pair: &mut SendQueuePair,
        ready_at: Instant,
    ) {
        queue_pair.turn = Turn::Paced;
        self.paced.push(ready_at, slot);
    }

    /// The packets `from..to` of a queue pair are to be sent again.
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
