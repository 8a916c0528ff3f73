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
use tenter_language::units::{Instant, Time};

use crate::net::arrivals_by_port::ArrivalsByPort;
use crate::net::buffer::{
    Admission, ControlMessage, PendingControl, QueuedFrame, SharedBuffer, Storage,
};
use crate::net::credit::{CreditSpec, LaneCredit};
use crate::net::medium::{EventKind, Medium};
use crate::net::packet::{Packet, PacketKind, Pause};
use crate::net::queue::ClassQueue;
use crate::net::scheduled::{Ahead, TakenBack};
use crate::net::transmitter::{Transmitter, WireLosses};

pub(crate) use rules::{PortEnv, PortRules};

/// Counters of a port's sending side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortCounters {
    /// Frames whose first bit went onto the wire.
    pub sent_frames: u64,
    /// Frame bytes that were sent.
    pub sent_bytes: u64,
    /// Frames dropped because they found no room in the buffer.
    pub dropped_frames: u64,
    /// Frame bytes dropped for lack of room.
    pub dropped_bytes: u64,
    /// Frames marked with congestion experienced (CE).
    pub marked_frames: u64,
    /// Data frames whose payload was cut off.
    pub trimmed_frames: u64,
    /// Bytes cut off from the trimmed frames.
    pub trimmed_bytes: u64,
    /// Most frame bytes that ever waited at the port.
    pub queue_high_water_bytes: u64,
    /// Frames lost at the port before they were sent, because its link was down.
    pub unsent_frames: u64,
    /// Frame bytes lost before they were sent.
    pub unsent_bytes: u64,
    /// Frames dropped by the PFC watchdog.
    pub watchdog_frames: u64,
    /// Frame bytes dropped by the PFC watchdog.
    pub watchdog_bytes: u64,
}

/// The PFC watchdog's action on a queue that it finds stuck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchdogAction {
    /// Drops the queue's frames, those that wait and those that come.
    Drop,
    /// Sends the queue's frames although they are paused.
    Forward,
}

/// An output port of a switch.
///
/// A frame leaves its queue when its first bit goes onto the wire (decision 0011).
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Port {
    queues: Box<[ClassQueue]>,
    /// Queues with frames that the port is to send, one bit each; none in an input-queued switch,
    /// where the crossbar sends.
    waiting: u8,
    /// Queues that the other end has paused, one bit each; a bit may outlast its pause.
    paused: u8,
    /// Weighted queue whose turn it is.
    turn: u8,
    /// Queues that lose frames rather than store them, one bit each: all if the link is down, or
    /// those that the watchdog has closed.
    closed: u8,
    /// Queues on which the watchdog is active, one bit each: pauses are recorded and not applied.
    watchdog_active: u8,
    /// Queues whose frames may be marked at the enqueue, one bit each. The rules have them too;
    /// here every frame finds them in a cache line that it loads anyway.
    marking: u8,
    /// Queues whose frames may be marked at the dequeue, one bit each.
    marking_late: u8,
    leads_to_host: bool,
    transmitter: Transmitter,
    /// Frame bytes that wait in all queues together.
    bytes: u64,
    /// Most frame bytes that waited since the mark was last read off.
    high_water_bytes: u64,
    /// Each lane's link credit, in a credit-based fabric; the pointer shares a cache line with
    /// fields that every frame needs.
    lanes: Option<Box<[LaneCredit]>>,
    /// Frames and frame bytes lost because the link was down.
    unsent: (u64, u64),
    /// Frames and frame bytes dropped by the watchdog.
    watchdog_dropped: (u64, u64),
    /// Trimmed data frames and the bytes cut off; allocated with the first.
    trimmed: Option<Box<(u64, u64)>>,
    /// Times that the watchdog has found a queue stuck.
    storms: u64,
    /// Highest mark that was ever read off, in frame bytes.
    earlier_high_water_bytes: u64,
    /// Instant of the first XOFF for any class; [`Instant::NEVER`] if none has come.
    first_xoff: Instant,
}

/// A port is four cache lines: a fifth one takes every hop more instructions.
const _: () = assert!(size_of::<Port>() == 256);

impl Port {
    /// Makes a port with `queues` queues, which sends by link credit if `credit` is given.
    pub(crate) fn new(
        mut transmitter: Transmitter,
        queues: usize,
        rules: &PortRules,
        credit: Option<&CreditSpec>,
    ) -> Port {
        if credit.is_some() {
            // Credit for a frame that is lost on the link would otherwise never return.
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

    /// Notes that the port leads to a host, where some classes mark nothing.
    pub(crate) fn lead_to_host(&mut self, rules: &PortRules) {
        self.leads_to_host = true;
        self.marking &= !rules.unmarked_to_hosts;
        self.marking_late &= !rules.unmarked_to_hosts;
    }

    /// Returns true if a frame from `queue` may go out at `now`, up to which the port was advanced.
    #[inline]
    pub(crate) fn is_free(&self, queue: usize, now: Instant) -> bool {
        // The wire would not be free if a frame that may go had waited.
        self.transmitter.free_at() <= now
            && (self.paused & (1 << queue) == 0 || self.queues[queue].paused_until <= now)
    }

    /// Returns true if frames wait that the port is to send.
    #[inline]
    pub(crate) fn has_waiting(&self) -> bool {
        self.waiting != 0
    }

    /// Sends a frame at once, past its queue.
    #[inline]
    pub(crate) fn pass(&mut self, packet: &Packet, now: Instant, medium: &mut impl Medium) {
        self.transmitter.transmit_queued(packet, now, 0, medium);
    }

    /// Sends a frame as soon as the wire is free, behind all frames sent before: for a port that
    /// keeps the order of arrival and is never paused, as a leaf's links into a scheduled fabric.
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

    /// Returns the wire bytes that a port which sends by [`Port::send_on`] has yet to send at
    /// `now`.
    pub(crate) fn bytes_ahead(&self, now: Instant) -> u64 {
        if self.transmitter.is_dark() {
            // A dark port loses all that it is given, so nothing is ahead.
            return 0;
        }
        let ahead = self.transmitter.free_at().saturating_since(now);
        ahead.ps() * 64 / self.transmitter.time_of(64).ps().max(1)
    }

    /// Takes the port through a window until `end`: receives its arrivals, from `place` in the
    /// event list on, and starts every frame that is due. The buffer must be certain to have room.
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
        // A window ends just before `end`.
        self.advance(end - Time::LEAST, around, medium);
    }

    /// Applies a pause frame among this port's other events, and notes it in the journal.
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

    /// Sends a frame or stores it; the buffer must be certain to have room for it.
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
        // In this order, as a dark wire is never free, and a queue that the watchdog has closed is
        // paused for ever.
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

    /// Describes for the buffer a frame from `input`, before it joins a queue or after it has left.
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

    /// Stores a frame as `admission` says; one that is refused is dropped or trimmed. Returns true
    /// if a frame has been stored.
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

    /// Puts a frame into its queue, marked if the class's ECN settings say so.
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

    /// Counts a frame that is dropped for lack of room.
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

    /// Returns true if the queue's frames are lost unless they are sent at once.
    #[inline]
    pub(crate) fn is_closed(&self, queue: usize) -> bool {
        self.closed & (1 << queue) != 0
    }

    /// Counts a frame that is lost at a closed queue.
    #[cold]
    pub(crate) fn lose(&mut self, packet: &Packet, now: Instant, medium: &mut impl Medium) {
        self.count_lost(u64::from(packet.frame_bytes));
        self.transmitter.note(EventKind::Lost, now, packet, medium);
    }

    fn count_lost(&mut self, bytes: u64) {
        // A link that is down closes all queues; else the watchdog has closed this one.
        let count = if self.transmitter.is_dark() {
            &mut self.unsent
        } else {
            &mut self.watchdog_dropped
        };
        count.0 += 1;
        count.1 += bytes;
    }

    /// Loses all frames in a queue at `now`, up to which the port was advanced.
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

    /// Handles a link that goes down at `now`, up to which the port was advanced: waiting frames
    /// are lost, as are new ones until the link is up again, and pauses are forgotten.
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
            // The watchdog has nothing to watch until the link is up.
            self.restore(number);
            let queue = &mut self.queues[number];
            queue.pause.forget(now, queue.paused_until);
            queue.paused_until = now;
        }
    }

    /// Counts as unsent, rather than lost on the failed link, the cells that it had not begun to
    /// send.
    pub(crate) fn unsend(&mut self, back: &TakenBack) {
        for (frames, bytes) in back.sent {
            self.transmitter.find_again(frames, bytes);
            self.unsent.0 += frames;
            self.unsent.1 += bytes;
        }
    }

    /// Handles a link that comes up at `now`.
    pub(crate) fn link_up(&mut self, now: Instant) {
        self.transmitter.link_up(now);
        self.closed = 0;
        self.renew_credit();
    }

    /// Returns the transmitter, to change its rate, delay or far end.
    pub(crate) fn transmitter_mut(&mut self) -> &mut Transmitter {
        &mut self.transmitter
    }

    /// Starts every waiting frame that is due at or before `until`.
    pub(crate) fn advance(
        &mut self,
        until: Instant,
        around: &mut PortEnv<'_, impl Storage>,
        medium: &mut impl Medium,
    ) {
        self.advance_inline(until, around, medium);
    }

    /// As [`Port::advance`], inlined where it is called for every packet.
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

    /// Starts the frame that is due at `start`.
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
            // With link credit every queue is booked, so every frame comes by here.
            if self.lanes.is_some() {
                self.spend(number, frame as u16, start);
            }
        }
    }

    /// Marks a queue's first frame, which is about to leave, if the bytes left behind call for it.
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

    /// Returns the queues that are paused at `now`, one bit each, and clears the bits that are
    /// outdated.
    #[inline]
    fn paused_at(&mut self, now: Instant) -> u8 {
        if self.paused != 0 {
            self.forget_passed(now);
        }
        self.paused
    }

    /// Clears the bits whose pauses are over at `now`.
    #[inline(never)]
    fn forget_passed(&mut self, now: Instant) {
        for (index, queue) in self.queues.iter().enumerate() {
            if queue.paused_until <= now {
                self.paused &= !(1 << index);
            }
        }
    }

    /// Returns the start of the next waiting frame; `None` if none waits or all lack link credit.
    #[inline]
    pub fn next_departure(&self) -> Option<Instant> {
        let free_at = self.transmitter.free_at();
        // A queue that is not paused waits for nothing but the wire.
        if self.waiting & !self.paused != 0 {
            return Some(free_at);
        }
        if self.waiting == 0 {
            return None;
        }
        self.next_of_paused(free_at)
    }

    /// As [`Port::next_departure`], where every queue with frames may be paused.
    #[inline(never)]
    fn next_of_paused(&self, free_at: Instant) -> Option<Instant> {
        let waiting = (0..).zip(&self.queues[..]);
        let waiting = waiting.filter(|(index, _)| self.waiting & (1_u8 << index) != 0);
        let earliest = waiting.map(|(_, queue)| queue.paused_until).min();
        // A lane without credit is paused until `NEVER`: only a flow-control packet lets it send.
        let earliest = earliest.filter(|&until| !until.is_never());
        earliest.map(|until| until.max(free_at))
    }

    /// Applies a pause for a queue from `now` on, up to which the port was advanced; zero `quanta`
    /// resume it.
    pub(crate) fn obey(&mut self, queue: usize, quanta: u32, now: Instant) {
        let until = now + self.transmitter.pause_time(quanta);
        if until > now {
            self.first_xoff = self.first_xoff.min(now);
        }
        let paused = &mut self.queues[queue];
        if self.watchdog_active & (1 << queue) != 0 {
            // The watchdog overrules the pause, which is recorded all the same.
            paused.pause.take(now, paused.told_until, until);
            paused.told_until = until;
            return;
        }
        paused.pause.take(now, paused.paused_until, until);
        paused.paused_until = until;
        // Set by an XON, too: then waiting frames start now. With the bit clear they would start
        // when the wire became free, which may have been earlier.
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

    /// Returns the time that `bytes` take on the wire, without gaps; more than 1 GiB count as 1
    /// GiB.
    pub(crate) fn time_of(&self, bytes: u64) -> Time {
        self.transmitter.time_of(bytes.min(1 << 30) as u32)
    }

    /// Sends a MAC control frame other than a pause as soon as the wire is free.
    pub(crate) fn send_control(&mut self, packet: Packet, now: Instant, medium: &mut impl Medium) {
        self.transmitter.send_control(packet, now, medium);
    }

    /// Returns the time that a frame which came at `now` would wait if frames left in arrival
    /// order. The port was advanced to `now`. Preambles and gaps are left out, and more than 16 MiB
    /// count as 16 MiB.
    pub(crate) fn backlog(&self, now: Instant) -> Time {
        let bytes = self.bytes.min(1 << 24) as u32;
        let wire = self.transmitter.free_at().saturating_since(now);
        wire.saturating_add(self.transmitter.time_of(bytes))
    }

    /// Returns true if nothing waits or is being sent at `now`, or the link is down.
    pub(crate) fn is_idle(&self, now: Instant) -> bool {
        self.transmitter.is_dark() || self.backlog(now).is_zero()
    }

    pub(crate) fn bits_per_second(&self) -> u64 {
        self.transmitter.bits_per_second()
    }

    /// Returns the transmitter, with the wire's state and counters.
    pub fn transmitter(&self) -> &Transmitter {
        &self.transmitter
    }

    /// Prefetches the fields that a frame needs to be sent.
    #[inline]
    pub(crate) fn prefetch(&self) {
        prefetch(self);
        self.transmitter.prefetch();
        prefetch(&self.bytes);
    }

    /// Prefetches the queues, without their frames.
    #[inline]
    pub(crate) fn prefetch_queues(&self) {
        prefetch_at(&self.queues, 0);
    }

    /// Prefetches the queues' room for the next frames.
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
