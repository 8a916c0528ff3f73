//! An output port of a switch: a queue for each class in front of a transmitter.

mod circuit;
mod credit;
mod input_queued;
mod rules;
mod steady;
mod trimming;
mod view;
mod watchdog;

use tenter_engine::{EventList, prefetch, prefetch_at};
use tenter_units::{Instant, Time};

use crate::arrivals_by_port::ArrivalsByPort;
use crate::buffer::{
    Admission, ControlMessage, PendingControl, QueuedFrame, SharedBuffer, Storage,
};
use crate::credit::{CreditSpec, LaneCredit};
use crate::medium::{EventKind, Medium};
use crate::packet::{Packet, PacketKind, Pause};
use crate::queue::ClassQueue;
use crate::scheduled::{Ahead, TakenBack};
use crate::transmitter::{Transmitter, WireLosses};

pub(crate) use rules::{PortEnv, PortRules};

/// What went through the sending side of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortCounters {
    /// Frames whose first bit went onto the wire.
    pub sent_frames: u64,
    /// Their frame bytes.
    pub sent_bytes: u64,
    /// Frames dropped because the queue was full.
    pub dropped_frames: u64,
    /// Their frame bytes.
    pub dropped_bytes: u64,
    /// Frames marked with congestion experienced.
    pub marked_frames: u64,
    /// Data frames whose payload was cut off.
    pub trimmed_frames: u64,
    /// The bytes that were cut off.
    pub trimmed_bytes: u64,
    /// The most frame bytes that ever waited.
    pub queue_high_water_bytes: u64,
    /// Frames lost before they were sent, because the link was down.
    pub unsent_frames: u64,
    /// Their frame bytes.
    pub unsent_bytes: u64,
    /// Frames dropped by the PFC watchdog.
    pub watchdog_frames: u64,
    /// Their frame bytes.
    pub watchdog_bytes: u64,
}

/// What the PFC watchdog does about a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchdogAction {
    /// Its frames are dropped, those that wait and those that come.
    Drop,
    /// Its frames are sent in spite of the pause.
    Forward,
}

/// An output port of a switch.
///
/// A frame leaves its queue when its first bit goes onto the wire.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Port {
    queues: Box<[ClassQueue]>,
    /// Queues that hold something, one bit each.
    waiting: u8,
    /// Queues that the other end has paused; a bit may be left of a pause that has passed.
    paused: u8,
    /// The weighted queue whose turn it is.
    turn: u8,
    /// Queues whose frames are lost rather than stored: of a link that is down, or by the watchdog.
    closed: u8,
    /// Queues of which the watchdog is active: pauses are noted and not obeyed.
    watchdog_active: u8,
    /// Queues whose frames may be marked when they come, one bit each, and when they leave; here
    /// every frame finds it.
    marking: u8,
    marking_late: u8,
    leads_to_host: bool,
    transmitter: Transmitter,
    /// Frame bytes that wait in all queues, and the most there were since they were last read off.
    bytes: u64,
    high_water_bytes: u64,
    /// The credit of each queue, where frames need any; here it shares a cache line with what every
    /// frame needs.
    lanes: Option<Box<[LaneCredit]>>,
    /// Frames and frame bytes lost because the link was down, and by the watchdog.
    unsent: (u64, u64),
    watchdog_dropped: (u64, u64),
    /// Data frames whose payload was cut off, and the bytes that were, if any.
    trimmed: Option<Box<(u64, u64)>>,
    /// How often the watchdog has found a queue stuck.
    storms: u64,
    /// The most frame bytes that waited before the high water was last read off.
    earlier_high_water_bytes: u64,
    /// When the first pause frame came that stopped a class; never, if none has.
    first_xoff: Instant,
}

/// Four cache lines: a fifth one takes every hop more instructions.
const _: () = assert!(size_of::<Port>() == 256);

impl Port {
    /// A port with a number of queues, which may send by credit.
    pub(crate) fn new(
        mut transmitter: Transmitter,
        queues: usize,
        rules: &PortRules,
        credit: Option<&CreditSpec>,
    ) -> Port {
        if credit.is_some() {
            transmitter.return_lost_credit();
        }
        Port {
            lanes: credit.map(|spec| vec![LaneCredit::new(spec); queues].into()),
            transmitter,
            queues: vec![ClassQueue::default(); queues].into(),
            bytes: 0,
            high_water_bytes: 0,
            waiting: 0,
            paused: 0,
            turn: 0,
            closed: 0,
            watchdog_active: 0,
            marking: rules.marking,
            marking_late: rules.marking_late,
            leads_to_host: false,
            unsent: (0, 0),
            watchdog_dropped: (0, 0),
            trimmed: None,
            storms: 0,
            earlier_high_water_bytes: 0,
            first_xoff: Instant::NEVER,
        }
    }

    /// It leads to a host.
    pub(crate) fn lead_to_host(&mut self, rules: &PortRules) {
        self.leads_to_host = true;
        self.marking &= !rules.unmarked_to_hosts;
        self.marking_late &= !rules.unmarked_to_hosts;
    }

    /// Whether a frame of a queue may be sent at `now`, to which the port has been brought.
    #[inline]
    pub(crate) fn is_free(&self, queue: usize, now: Instant) -> bool {
        self.transmitter.free_at() <= now
            && (self.paused & (1 << queue) == 0 || self.queues[queue].paused_until <= now)
    }

    /// Whether frames wait.
    #[inline]
    pub(crate) fn has_waiting(&self) -> bool {
        self.waiting != 0
    }

    /// Sends a frame that need not wait.
    #[inline]
    pub(crate) fn pass(&mut self, packet: &Packet, now: Instant, medium: &mut impl Medium) {
        self.transmitter.transmit_queued(packet, now, 0, medium);
    }

    /// Sends a frame at `now` or as soon as the wire is free, behind what was sent on before: for a
    /// port whose frames all leave in the order in which they come, and which nobody pauses.
    pub(crate) fn send_on(
        &mut self,
        packet: &Packet,
        now: Instant,
        ahead: &mut Ahead,
        medium: &mut impl Medium,
    ) {
        if self.transmitter.is_dark() {
            self.lose(packet, now, medium);
            return;
        }
        let start = self.transmitter.free_at().max(now);
        self.transmitter.transmit(packet, start, medium);
        let waiting = ahead.add(packet, now, start, self.transmitter.free_at());
        self.high_water_bytes = self.high_water_bytes.max(waiting);
    }

    /// The wire bytes that such a port still has to send at `now`.
    pub(crate) fn bytes_ahead(&self, now: Instant) -> u64 {
        if self.transmitter.is_dark() {
            // What is sent to it is lost.
            return 0;
        }
        let ahead = self.transmitter.free_at().saturating_since(now);
        ahead.ps() * 64 / self.transmitter.time_of(64).ps().max(1)
    }

    /// Goes through a whole window that ends at `end`: takes what arrives, by its places in the
    /// event list, and starts every frame whose turn comes. The buffer must be certain to have
    /// room.
    #[inline]
    pub(crate) fn serve<M: Medium>(
        &mut self,
        arrivals: &EventList<Packet>,
        mut place: u32,
        turns: &ArrivalsByPort,
        end: Instant,
        around: &mut PortEnv<'_, SharedBuffer>,
        medium: &mut M,
    ) {
        around.buffer.begin_port();
        while place != ArrivalsByPort::NONE {
            let (packet, input) = arrivals.get(place as usize);
            place = turns.after(place);
            self.advance_inline(packet.at, around, medium);
            if packet.kind == PacketKind::Pause {
                self.obey_in_turn(packet, around, medium);
            } else {
                self.take(packet, input, around, medium);
            }
        }
        self.advance(end - Time::LEAST, around, medium);
    }

    /// Obeys a pause frame in the order of what happens to this port.
    #[inline(never)]
    fn obey_in_turn<M: Medium>(
        &mut self,
        packet: &Packet,
        around: &mut PortEnv<'_, SharedBuffer>,
        medium: &mut M,
    ) {
        let now = packet.at;
        self.transmitter
            .note(EventKind::Obeyed, now, packet, medium);
        let queue = around.rules.queue(packet);
        self.obey(queue, Pause::of(packet).quanta, now);
        around.buffer.note_pause(now);
    }

    /// Sends a frame or stores it; the buffer must be certain to have room.
    #[inline]
    fn take<M: Medium>(
        &mut self,
        packet: &Packet,
        input: u16,
        around: &mut PortEnv<'_, SharedBuffer>,
        medium: &mut M,
    ) {
        let now = packet.at;
        let queue = around.rules.queue(packet);
        if self.is_free(queue, now) {
            self.pass(packet, now, medium);
        } else if self.is_closed(queue) {
            self.lose(packet, now, medium);
        } else {
            let frame = self.queued_frame(input, queue, packet);
            let admission = around.buffer.admission_of_certain(&frame);
            self.put(packet, frame, admission, around, medium);
        }
    }

    /// A frame that came through another port and joins a queue, or has just left it.
    #[inline]
    pub(crate) fn queued_frame(&self, input: u16, queue: usize, packet: &Packet) -> QueuedFrame {
        QueuedFrame {
            input,
            output: self.transmitter.port(),
            queue,
            bytes: u64::from(packet.frame_bytes),
            others: self.queues[queue].bytes,
        }
    }

    /// Stores a frame as its buffer has said, or drops it; whether it is stored.
    #[expect(
        clippy::inline_always,
        reason = "once a packet; a call costs a tenth of it"
    )]
    #[inline(always)]
    pub(crate) fn put<M: Medium>(
        &mut self,
        packet: &Packet,
        frame: QueuedFrame,
        admission: Admission,
        around: &mut PortEnv<'_, SharedBuffer>,
        medium: &mut M,
    ) -> bool {
        if admission == Admission::Refused {
            return self.refuse(packet, frame, around, medium);
        }
        self.store(packet, frame.input, frame.queue, around.rules, medium);
        around.buffer.charge(admission, frame, packet.at);
        true
    }

    /// Marks a frame if it must be, and puts it into its queue.
    #[expect(
        clippy::inline_always,
        reason = "once a packet; a call costs a tenth of it"
    )]
    #[inline(always)]
    pub(crate) fn store<M: Medium>(
        &mut self,
        packet: &Packet,
        input: u16,
        number: usize,
        rules: &PortRules,
        medium: &mut M,
    ) {
        let now = packet.at;
        let frame = u64::from(packet.frame_bytes);
        let queue = &mut self.queues[number];
        let after = queue.bytes + frame;
        let may_mark = self.marking & (1 << number) != 0;
        let marked = may_mark && rules.marks(packet, number, after, &self.transmitter);
        if marked {
            queue.counters.marked_frames += 1;
        }
        let stored = queue.push(packet);
        stored.store_from(input);
        if marked {
            stored.flags |= Packet::CONGESTION_EXPERIENCED;
        }
        self.waiting |= 1 << number;
        self.bytes += frame;
        self.high_water_bytes = self.high_water_bytes.max(self.bytes);
        self.transmitter
            .note(EventKind::Queued, now, stored, medium);
    }

    /// Counts a frame that found no room.
    #[cold]
    pub(crate) fn drop_frame(
        &mut self,
        queue: usize,
        packet: &Packet,
        now: Instant,
        medium: &mut impl Medium,
    ) {
        let counters = &mut self.queues[queue].counters;
        counters.dropped_frames += 1;
        counters.dropped_bytes += u64::from(packet.frame_bytes);
        self.transmitter
            .note(EventKind::Dropped, now, packet, medium);
    }

    /// Whether frames of a queue are lost unless they are sent at once.
    #[inline]
    pub(crate) fn is_closed(&self, queue: usize) -> bool {
        self.closed & (1 << queue) != 0
    }

    /// Loses a frame of a queue that is closed.
    #[cold]
    pub(crate) fn lose(&mut self, packet: &Packet, now: Instant, medium: &mut impl Medium) {
        self.count_lost(u64::from(packet.frame_bytes));
        self.transmitter.note(EventKind::Lost, now, packet, medium);
    }

    fn count_lost(&mut self, bytes: u64) {
        let count = if self.transmitter.is_dark() {
            &mut self.unsent
        } else {
            &mut self.watchdog_dropped
        };
        count.0 += 1;
        count.1 += bytes;
    }

    /// Loses what waits in a queue at `now`, to which the port has been brought.
    fn flush(
        &mut self,
        number: usize,
        now: Instant,
        around: &mut PortEnv<'_, impl Storage>,
        medium: &mut impl Medium,
    ) {
        while let Some(&packet) = self.queues[number].front() {
            let queue = &mut self.queues[number];
            let frame = u64::from(packet.frame_bytes);
            queue.remove_front(frame);
            self.bytes -= frame;
            let left = self.queued_frame(packet.stored_from(), number, &packet);
            around.buffer.release_seldom(left, now);
            self.lose(&packet, now, medium);
        }
        self.waiting &= !(1 << number);
    }

    /// The link goes down at `now`, to which the port has been brought: what waits is lost, and
    /// what comes until the link is up again; pauses are forgotten.
    pub(crate) fn link_down(
        &mut self,
        now: Instant,
        under_way: WireLosses,
        around: &mut PortEnv<'_, impl Storage>,
        medium: &mut impl Medium,
    ) {
        self.transmitter.link_down(now, under_way);
        self.closed = u8::MAX;
        for number in 0..self.queues.len() {
            self.flush(number, now, around, medium);
            self.restore(number);
            let queue = &mut self.queues[number];
            queue.pause.forget(now, queue.paused_until);
            queue.paused_until = now;
        }
    }

    /// What has been taken back when the link went down was never sent, and is not lost on it.
    pub(crate) fn unsend(&mut self, back: &TakenBack) {
        for (frames, bytes) in back.sent {
            self.transmitter.find_again(frames, bytes);
            self.unsent.0 += frames;
            self.unsent.1 += bytes;
        }
    }

    /// The link comes up at `now`.
    pub(crate) fn link_up(&mut self, now: Instant) {
        self.transmitter.link_up(now);
        self.closed = 0;
        self.renew_credit();
    }

    /// Changes what a frame takes on the wire.
    pub(crate) fn transmitter_mut(&mut self) -> &mut Transmitter {
        &mut self.transmitter
    }

    /// Starts every waiting frame whose turn comes at or before `until`.
    pub(crate) fn advance(
        &mut self,
        until: Instant,
        around: &mut PortEnv<'_, impl Storage>,
        medium: &mut impl Medium,
    ) {
        self.advance_inline(until, around, medium);
    }

    /// As [`Port::advance`], for where it is called for every packet.
    #[expect(
        clippy::inline_always,
        reason = "once a packet; a call costs a tenth of it"
    )]
    #[inline(always)]
    fn advance_inline(
        &mut self,
        until: Instant,
        around: &mut PortEnv<'_, impl Storage>,
        medium: &mut impl Medium,
    ) {
        while let Some(start) = self.next_departure() {
            if start > until {
                return;
            }
            self.depart(start, around, medium);
        }
    }

    /// Starts the frame whose turn comes at `start`.
    #[expect(
        clippy::inline_always,
        reason = "once a packet; a call costs a tenth of it"
    )]
    #[inline(always)]
    fn depart(
        &mut self,
        start: Instant,
        around: &mut PortEnv<'_, impl Storage>,
        medium: &mut impl Medium,
    ) {
        let eligible = self.waiting & !self.paused_at(start);
        let number = around
            .rules
            .discipline
            .choose(eligible, &mut self.turn, &mut self.queues);
        if self.marking_late != 0 {
            self.mark_first(number, around.rules);
        }
        let queue = &mut self.queues[number];
        let Some(packet) = queue.front() else {
            return;
        };
        let frame = u64::from(packet.frame_bytes);
        let input = packet.stored_from();
        let before = queue.bytes;
        self.transmitter
            .transmit_queued(packet, start, before - frame, medium);
        queue.remove_front(frame);
        if queue.is_empty() {
            self.waiting &= !(1 << number);
        }
        self.bytes -= frame;
        if around.buffer.is_booked(number) {
            let left = QueuedFrame {
                input,
                output: self.transmitter.port(),
                queue: number,
                bytes: frame,
                others: before - frame,
            };
            around.buffer.release(left, start);
            // Where frames need credit, all are booked.
            if self.lanes.is_some() {
                self.spend(number, frame as u16, start);
            }
        }
    }

    /// Marks the first frame of a queue, which is about to leave, if it must be.
    #[inline(never)]
    fn mark_first(&mut self, number: usize, rules: &PortRules) {
        if self.marking_late & (1 << number) == 0 {
            return;
        }
        let queue = &mut self.queues[number];
        let bytes = queue.bytes;
        let Some(packet) = queue.front_mut() else {
            return;
        };
        let left = bytes - u64::from(packet.frame_bytes);
        if rules.marks(packet, number, left, &self.transmitter) {
            packet.flags |= Packet::CONGESTION_EXPERIENCED;
            queue.counters.marked_frames += 1;
        }
    }

    /// Queues that are paused at `now`, one bit each.
    #[inline]
    fn paused_at(&mut self, now: Instant) -> u8 {
        if self.paused != 0 {
            self.forget_passed(now);
        }
        self.paused
    }

    /// Forgets pauses that have passed at `now`.
    #[inline(never)]
    fn forget_passed(&mut self, now: Instant) {
        for (index, queue) in self.queues.iter().enumerate() {
            if queue.paused_until <= now {
                self.paused &= !(1 << index);
            }
        }
    }

    /// When the next waiting frame starts; `None` when none waits.
    #[inline]
    pub fn next_departure(&self) -> Option<Instant> {
        let free_at = self.transmitter.free_at();
        if self.waiting & !self.paused != 0 {
            return Some(free_at);
        }
        if self.waiting == 0 {
            return None;
        }
        self.next_of_paused(free_at)
    }

    /// The same where every queue with frames may be paused.
    #[inline(never)]
    fn next_of_paused(&self, free_at: Instant) -> Option<Instant> {
        let waiting = (0..).zip(&self.queues[..]);
        let waiting = waiting.filter(|(index, _)| self.waiting & (1_u8 << index) != 0);
        let earliest = waiting.map(|(_, queue)| queue.paused_until).min();
        // Without credit it stands still for as long as nobody says otherwise.
        let earliest = earliest.filter(|&until| !until.is_never());
        earliest.map(|until| until.max(free_at))
    }

    /// Obeys a pause frame for a queue from `now` on, to which the port has been brought.
    pub(crate) fn obey(&mut self, queue: usize, quanta: u32, now: Instant) {
        let until = now + self.transmitter.pause_time(quanta);
        if until > now {
            self.first_xoff = self.first_xoff.min(now);
        }
        let paused = &mut self.queues[queue];
        if self.watchdog_active & (1 << queue) != 0 {
            paused.pause.take(now, paused.told_until, until);
            paused.told_until = until;
            return;
        }
        paused.pause.take(now, paused.paused_until, until);
        paused.paused_until = until;
        // Also when the queue may go on: what waits in it starts now, not when the wire became
        // free.
        self.paused |= 1 << queue;
    }

    /// Sends a control frame for a class as soon as the wire is free.
    pub(crate) fn send_pending(
        &mut self,
        class: u8,
        control: PendingControl,
        now: Instant,
        medium: &mut impl Medium,
    ) {
        match control.message {
            ControlMessage::Pause(quanta) => self.transmitter.pause(class, quanta, now, medium),
            ControlMessage::Credit(limit) => {
                let queue = usize::from(control.queue);
                self.send_flow_control(class, queue, limit, now, medium);
            }
        }
    }

    /// Sends a pause frame as soon as the wire is free.
    pub(crate) fn send_pause(&mut self, packet: Packet, now: Instant, medium: &mut impl Medium) {
        self.transmitter.send_pause(packet, now, medium);
    }

    /// How long so many bytes take on its wire, gaps left out.
    pub(crate) fn time_of(&self, bytes: u64) -> Time {
        self.transmitter.time_of(bytes.min(1 << 30) as u32)
    }

    /// Sends a MAC control frame that is no pause as soon as the wire is free.
    pub(crate) fn send_control(&mut self, packet: Packet, now: Instant, medium: &mut impl Medium) {
        self.transmitter.send_control(packet, now, medium);
    }

    /// How long a frame that came at `now`, to which the port has been brought, would wait if
    /// frames left in the order of arrival; gaps and preambles are left out, and what is
    /// more than 16 MB is not told apart.
    pub(crate) fn backlog(&self, now: Instant) -> Time {
        let bytes = self.bytes.min(1 << 24) as u32;
        let wire = self.transmitter.free_at().saturating_since(now);
        wire.saturating_add(self.transmitter.time_of(bytes))
    }

    /// Whether nothing keeps it busy, be it that its link is down.
    pub(crate) fn is_idle(&self, now: Instant) -> bool {
        self.transmitter.is_dark() || self.backlog(now).is_zero()
    }

    /// The rate of its wire.
    pub(crate) fn bits_per_second(&self) -> u64 {
        self.transmitter.bits_per_second()
    }

    /// Its transmitter.
    pub fn transmitter(&self) -> &Transmitter {
        &self.transmitter
    }

    /// Prefetches what a frame needs that is sent.
    #[inline]
    pub(crate) fn prefetch(&self) {
        prefetch(self);
        self.transmitter.prefetch();
        prefetch(&self.bytes);
    }

    /// Prefetches the queues.
    #[inline]
    pub(crate) fn prefetch_queues(&self) {
        prefetch_at(&self.queues, 0);
    }

    /// Prefetches the room for the next frames.
    #[inline]
    pub(crate) fn prefetch_room(&self) {
        for queue in &self.queues {
            queue.prefetch_room();
        }
    }

    /// Prefetches the frames that will leave next.
    #[inline]
    pub(crate) fn prefetch_frames(&self) {
        for queue in &self.queues {
            queue.prefetch();
        }
    }
}
