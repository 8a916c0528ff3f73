//! The shared packet buffer of a switch: which frames it takes, and which senders it pauses.
//!
//! Frames are charged when they are stored and released when their first bit leaves. A departure
//! only ever lowers what is taken; so a frame that is admitted although some departures before it
//! have not been carried out yet would be admitted all the same, into the same part of the buffer.
//! Only a refusal, a pause and a new high-water mark need the exact state. That is what lets ports
//! be lazy.
//!
//! Each job has a file: admission (`occupancy`), pauses, certificates, the journal and its replay.
//! [`SharedBuffer`] puts them together for each frame.

mod certificate;
mod credit;
mod frame;
mod full_queues;
mod journal;
mod limits;
mod occupancy;
mod pauses;
mod private;
mod replay;
mod steady;
mod storage;

use std::collections::VecDeque;

use certificate::Certificate;
use journal::{Journal, JournalCounts};
use limits::{Watch, shared_more, within};
use occupancy::Occupancy;
use pauses::Pauses;
use private::PrivateLimits;
use tenter_units::Instant;

pub(crate) use credit::CreditBuffer;
pub(crate) use frame::{ControlMessage, PendingControl, Place, QueuedFrame};
pub(crate) use occupancy::Admission;
pub use occupancy::PoolRecord;
pub use pauses::{PausesBy, PriorityGroupRecord};
pub(crate) use storage::{Buffer, Storage, Unlimited};

use crate::class::{CLASSES, ClassSpec};
use crate::memory::BufferSharing;

/// The buffer of a switch.
#[derive(Clone, Debug)]
pub(crate) struct SharedBuffer {
    /// How much queues may hold that have memory of their own: their frames are not charged.
    private: PrivateLimits,
    /// Whether any queue has no memory of its own.
    shared: bool,
    /// Queues that share their memory, one bit each: their frames are charged and released.
    booked: u8,
    certificate: Certificate,
    memory: Occupancy,
    pauses: Pauses,
    journal: Journal,
}

impl SharedBuffer {
    /// The empty buffer of a switch. `headroom` has one size per port and class, class after class
    /// within a port; of each port there are how long 512 bits last, in ps, and whether it leads to
    /// a host.
    pub(crate) fn new(
        specs: &[ClassSpec],
        pool_bytes: &[u64],
        headroom: &[u64],
        quantum_ps: Vec<u64>,
        to_host: Vec<bool>,
    ) -> SharedBuffer {
        let lossless = specs.iter().any(|spec| spec.lossless.is_some());
        let headroom = if lossless { headroom } else { &[] };
        let private = PrivateLimits::new(specs, pool_bytes, &quantum_ps);
        let booked = (0..specs.len()).map(|queue| u8::from(private.shares(queue)) << queue);
        SharedBuffer {
            booked: booked.sum(),
            shared: (0..specs.len()).any(|queue| private.shares(queue)),
            private,
            certificate: Certificate::new(),
            memory: Occupancy::new(specs, pool_bytes, headroom),
            pauses: Pauses::new(headroom.len(), quantum_ps, to_host),
            journal: Journal::default(),
        }
    }

    /// Divides the empty buffer of a number of ports into partitions, and lets them share headroom.
    pub(crate) fn share(&mut self, sharing: &BufferSharing, ports: usize) {
        self.memory.share(sharing, ports);
    }

    /// A quantum lasts another time on the line of a port: limits that go by its rate change.
    pub(crate) fn set_quantum(&mut self, port: u16, quantum_ps: u64) {
        self.private.set_quantum(usize::from(port), quantum_ps);
    }

    /// Whether any queue shares its memory.
    #[inline]
    pub(crate) fn is_shared(&self) -> bool {
        self.shared
    }

    /// The bytes that decide about a frame that came through `port` for an output queue with
    /// `queue_bytes`: of the queue, or of its priority group.
    #[inline]
    pub(crate) fn fill(&self, port: u16, queue: usize, queue_bytes: u64) -> u64 {
        if self.memory.classes[queue].goes_by_queue() {
            queue_bytes
        } else {
            self.memory.groups[self.memory.group(port, queue)].used
        }
    }

    /// How full each of these queues (one bit each), or its fullest priority group, is at most.
    pub(crate) fn bounds(&self, queues: u8) -> [Option<u64>; CLASSES] {
        self.certificate.bounds(queues)
    }

    /// The [bounds](SharedBuffer::bounds) have not sufficed; `longest` says how much the longest
    /// output queue holds.
    pub(crate) fn tighten_bounds(&mut self, ports: usize, longest: impl Fn(usize) -> u64) {
        self.certificate.tighten(&self.memory, ports, longest);
    }

    /// Whether frames of `arriving` bytes together are certain to be stored and to pause no sender,
    /// in whatever order they and departures come, when the fullest queue or priority group
    /// concerned of each queue is no fuller than `fullest` says.
    pub(crate) fn all_fit(&self, arriving: u64, fullest: &[Option<u64>; CLASSES]) -> bool {
        for (queue, bytes) in fullest.iter().enumerate() {
            let Some(bytes) = *bytes else {
                continue;
            };
            let shares = self.private.shares(queue);
            if shares && !certificate::all_fit(&self.memory, queue, bytes, arriving) {
                return false;
            }
        }
        true
    }

    /// Frames of `arriving` bytes together, in these queues (one bit each), will be stored before
    /// `end`: if a pool may become fuller than ever, the journal is opened.
    pub(crate) fn open_journal_if_peak(&mut self, arriving: u64, queues: u8, end: Instant) {
        if self.memory.may_peak(queues & self.booked, arriving) {
            self.journal.open(end);
        }
    }

    /// Another port begins its turn.
    #[inline]
    pub(crate) fn begin_port(&mut self) {
        self.journal.begin_port();
    }

    /// A pause frame takes effect at the port whose turn it is.
    pub(crate) fn note_pause(&mut self, now: Instant) {
        self.journal.note_pause(now);
    }

    pub(crate) fn journal_counts(&self) -> JournalCounts {
        self.journal.counts()
    }

    /// Closes the journal, if it is open, and replays it.
    #[inline]
    pub(crate) fn close_journal(&mut self) {
        if self.journal.is_open() {
            self.journal.close();
            replay::replay(&mut self.journal, &mut self.memory, &mut self.certificate);
        }
    }

    /// All control frames that are pending, in order.
    pub(crate) fn take_all_pending(&mut self) -> VecDeque<PendingControl> {
        std::mem::take(&mut self.pauses.pending)
    }

    /// Whether a class is lossless.
    pub(crate) fn is_lossless(&self, queue: usize) -> bool {
        self.memory.classes[queue].lossless.is_some()
    }

    /// What senders of a class are paused for.
    pub(crate) fn pauses_by(&self, queue: usize) -> PausesBy {
        match self.memory.classes[queue].watch {
            Watch::Group => PausesBy::Groups,
            Watch::Pool(..) => PausesBy::Pool,
            Watch::Queue => PausesBy::Queues,
        }
    }

    /// Whether queues of two classes take space from the same pool.
    pub(crate) fn shares_pool(&self, queue: usize, other: usize) -> bool {
        self.memory.classes[queue].pool == self.memory.classes[other].pool
    }

    /// Whether a frame may be stored, and where.
    ///
    /// Every model of a switch asks here before it stores a frame, or asks
    /// [`SharedBuffer::admission_of_certain`] if a certificate says that all frames fit.
    #[inline]
    pub(crate) fn admission(&self, frame: &QueuedFrame) -> Admission {
        match self.private.is_over(frame) {
            Some(true) => Admission::Refused,
            Some(false) => Admission::Private,
            None => self.memory.admission(frame),
        }
    }

    /// The same of a frame for which [`SharedBuffer::all_fit`] holds, whatever leaves meanwhile.
    #[inline]
    pub(crate) fn admission_of_certain(&self, frame: &QueuedFrame) -> Admission {
        match self.private.is_over(frame) {
            Some(true) => Admission::Refused,
            Some(false) => Admission::Private,
            None => Admission::Stored,
        }
    }

    /// Whether what becomes of a frame, or what follows from it, depends on departures that may not
    /// have been carried out: if it is not simply stored, if the pool becomes fuller than ever, or
    /// if it or its queue pauses senders.
    #[inline]
    pub(crate) fn needs_exact(&self, admission: Admission, frame: &QueuedFrame) -> bool {
        self.private.shares(frame.queue)
            && (admission != Admission::Stored || self.memory.needs_exact(frame))
    }

    /// Stores a frame as [`SharedBuffer::admission`] has said.
    #[expect(
        clippy::inline_always,
        reason = "once a packet; a call costs a third of it"
    )]
    #[inline(always)]
    pub(crate) fn charge(&mut self, admission: Admission, frame: QueuedFrame, now: Instant) {
        if admission == Admission::Private {
            return;
        }
        if self.journal.is_open() {
            self.journal.charge(frame, now);
            return;
        }
        if admission == Admission::Headroom {
            self.charge_headroom(frame.place(), frame.bytes, frame.others, now);
            return;
        }
        let queue = frame.queue;
        let index = self.memory.group(frame.input, queue);
        let rules = &self.memory.classes[queue];
        let number = self.memory.pool_of(rules, frame.place());
        let pool = &mut self.memory.pools[number];
        if rules.lossless.is_none() {
            self.certificate.raise(queue, frame.queue_bytes());
            pool.take(shared_more(rules, frame.others, frame.bytes));
            return;
        }
        let group = &mut self.memory.groups[index];
        let before = *pool;
        pool.take(shared_more(rules, group.used, frame.bytes));
        group.used += frame.bytes;
        match rules.watch {
            Watch::Group => self.certificate.raise(queue, group.used),
            Watch::Pool(limit, _) => {
                self.certificate.raise(queue, group.used);
                if pool.used > limit {
                    self.pause_all(frame.place(), now);
                }
            }
            Watch::Queue => {
                let queue_bytes = frame.queue_bytes();
                self.certificate.raise(queue, queue_bytes);
                let is_over = !within(&rules.limit, &before, queue_bytes);
                self.on_queued(frame.place(), queue_bytes, is_over, now);
            }
        }
    }

    // The hot path hands these one pointer: two of them would cost it registers.

    #[inline(never)]
    fn pause_all(&mut self, place: Place, now: Instant) {
        self.pauses.pause_all(&self.memory, place, now);
    }

    #[inline(never)]
    fn on_queued(&mut self, place: Place, queue_bytes: u64, is_over: bool, now: Instant) {
        self.pauses
            .on_queued(&self.memory, place, queue_bytes, is_over, now);
    }

    #[inline(never)]
    fn on_released(&mut self, place: Place, queue_bytes: u64, now: Instant) {
        self.pauses
            .on_released(&self.memory, place, queue_bytes, now);
    }

    #[inline(never)]
    fn free_shared_headroom(&mut self, port: u16, bytes: u64) {
        self.memory.free_shared_headroom(port, bytes);
    }

    /// Stores a frame in headroom, and pauses its sender.
    #[inline(never)]
    fn charge_headroom(&mut self, place: Place, bytes: u64, others: u64, now: Instant) {
        self.memory.store_in_headroom(place, bytes);
        match self.memory.classes[place.queue].watch {
            Watch::Group => {}
            Watch::Pool(..) => self.pause_all(place, now),
            Watch::Queue => {
                let queue_bytes = others + bytes;
                self.certificate.raise(place.queue, queue_bytes);
                let is_over = self.memory.is_over(place, queue_bytes);
                self.on_queued(place, queue_bytes, is_over, now);
            }
        }
        let group = self.memory.group(place.input, place.queue) as u32;
        self.pauses.pause(&self.memory, group, now);
    }

    /// What a port's group has been through up to `now`.
    pub(crate) fn ingress(&self, port: u16, queue: usize, now: Instant) -> PriorityGroupRecord {
        self.pauses.record(&self.memory, port, queue, now)
    }

    /// What each pool has been through.
    pub(crate) fn pools(&self) -> impl Iterator<Item = PoolRecord> {
        self.memory.records()
    }

    /// The output ports for whose queues the sender at a port is paused; with each whether that
    /// lasts as long as the queue does not send, whatever else does.
    pub(crate) fn full_queues(&self, port: u16, queue: usize) -> impl Iterator<Item = (u16, bool)> {
        self.pauses.full_queues(&self.memory, port, queue)
    }

    /// From now on senders that may resume stay paused: frames are taken out and put in again.
    pub(crate) fn hold_back(&mut self) {
        self.pauses.hold_back();
    }

    /// Resumes senders that may send at `now`, and from now on at once.
    pub(crate) fn stop_holding_back(&mut self, now: Instant) {
        self.pauses.stop_holding_back(&self.memory, now);
    }

    /// Asks again at `now` for all pauses that last at a port: another sender is at the other end.
    pub(crate) fn repeat_pauses(&mut self, port: u16, now: Instant) {
        self.pauses.repeat(&self.memory, port, now);
    }
}

impl Storage for SharedBuffer {
    #[inline]
    fn is_booked(&self, queue: usize) -> bool {
        self.booked & (1 << queue) != 0
    }

    #[expect(
        clippy::inline_always,
        reason = "once a packet; a call costs a third of it"
    )]
    #[inline(always)]
    fn release(&mut self, frame: QueuedFrame, now: Instant) {
        if !self.is_booked(frame.queue) {
            return;
        }
        if self.journal.is_open() {
            self.journal.release(frame, now);
            return;
        }
        let from_headroom = self.memory.remove(frame);
        if from_headroom > 0 {
            self.free_shared_headroom(frame.input, from_headroom);
        }
        if self.pauses.any() {
            self.on_released(frame.place(), frame.others, now);
        }
    }

    #[inline(never)]
    fn release_seldom(&mut self, frame: QueuedFrame, now: Instant) {
        self.release(frame, now);
    }
}

impl Buffer for SharedBuffer {
    /// Some sender is paused, and a departure may resume it.
    #[inline]
    fn is_armed(&self) -> bool {
        self.pauses.any()
    }

    #[inline]
    fn has_pending(&self) -> bool {
        !self.pauses.pending.is_empty()
    }

    fn take_pending(&mut self) -> Option<PendingControl> {
        self.pauses.pending.pop_front()
    }

    #[inline]
    fn next_refresh(&self) -> Instant {
        self.pauses.next_refresh()
    }

    fn refresh(&mut self, now: Instant) {
        self.pauses.refresh(&self.memory, now);
    }

    fn link_down(&mut self, port: u16, now: Instant) {
        self.pauses.forget(&self.memory, port, now);
    }

    fn link_up(&mut self, port: u16, now: Instant) {
        self.pauses.forget(&self.memory, port, now);
    }

    fn has_paused(&self, port: u16, queue: usize) -> bool {
        self.ingress(port, queue, Instant::START).is_paused
    }

    fn xoffs(&self, port: u16) -> u64 {
        let first = self.memory.group(port, 0);
        let own = first..first + self.memory.classes.len();
        let own = own.filter(|&group| group < self.memory.groups.len());
        own.map(|group| self.pauses.frames(group)[0]).sum()
    }
}

#[cfg(test)]
mod tests;
