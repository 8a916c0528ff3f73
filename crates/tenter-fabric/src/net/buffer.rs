//! The shared packet buffer of a switch: which frames are stored, and which senders pause.
//!
//! A frame is charged when it is stored and released when its first bit leaves. A departure only
//! ever lowers a fill. A frame that is admitted against a fill which still includes departed frames
//! would therefore be admitted against the exact fill too, into the same space. Only a refusal, a
//! pause and a new high-water mark need the exact fill, so ports may be lazy (decision 0004).
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
use tenter_language::units::Instant;

pub(crate) use credit::CreditBuffer;
pub(crate) use frame::{ControlMessage, PendingControl, Place, QueuedFrame};
pub(crate) use occupancy::Admission;
pub use occupancy::PoolRecord;
pub use pauses::{PausesBy, PriorityGroupRecord};
pub(crate) use storage::{Buffer, Storage, Unlimited};

use crate::net::class::{CLASSES, ClassSpec};
use crate::net::memory::BufferSharing;

/// A switch's packet memory, with the rules for its use and its senders' PFC state.
#[derive(Clone, Debug)]
pub(crate) struct SharedBuffer {
    /// Limits for queues that have memory to themselves; their frames are not charged.
    private: PrivateLimits,
    /// True if any queue shares its memory.
    shared: bool,
    /// Queues that share their memory, one bit each: only their frames are charged and released.
    booked: u8,
    certificate: Certificate,
    memory: Occupancy,
    pauses: Pauses,
    journal: Journal,
}

impl SharedBuffer {
    /// Makes an empty buffer.
    ///
    /// `headroom` has the bytes for each (port, class), class after class within a port. At each
    /// port 512 bits last `quantum_ps`; `to_host` is true for ports that lead to hosts.
    pub(crate) fn new(
        specs: &[ClassSpec],
        pool_bytes: &[u64],
        headroom: &[u64],
        quantum_ps: Vec<u64>,
        to_host: Vec<bool>,
    ) -> SharedBuffer {
        let lossless = specs.iter().any(|spec| spec.lossless.is_some());
        // Only lossless classes have priority groups; a switch without any keeps none.
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

    /// Divides an empty buffer for `ports` ports into partitions and pools their headroom.
    pub(crate) fn share(&mut self, sharing: &BufferSharing, ports: usize) {
        self.memory.share(sharing, ports);
    }

    /// Adapts limits that go by the line rate to a port on which 512 bits now last `quantum_ps`.
    pub(crate) fn set_quantum(&mut self, port: u16, quantum_ps: u64) {
        self.private.set_quantum(usize::from(port), quantum_ps);
    }

    /// Returns true if any queue shares its memory.
    #[inline]
    pub(crate) fn is_shared(&self) -> bool {
        self.shared
    }

    /// Returns the bytes that are compared with the limit for a frame from `port`: those in its
    /// priority group or, in a class that goes by output queues, `queue_bytes`.
    #[inline]
    pub(crate) fn fill(&self, port: u16, queue: usize, queue_bytes: u64) -> u64 {
        if self.memory.classes[queue].goes_by_queue() {
            queue_bytes
        } else {
            self.memory.groups[self.memory.group(port, queue)].used
        }
    }

    /// Returns, for each queue in `queues` (one bit each), a bound on its fullest output queue or
    /// priority group in bytes; `None` for the others.
    pub(crate) fn bounds(&self, queues: u8) -> [Option<u64>; CLASSES] {
        self.certificate.bounds(queues)
    }

    /// Lowers the [bounds](SharedBuffer::bounds) to present fills after they did not suffice for a
    /// visit. `longest` returns the bytes in the longest output queue.
    pub(crate) fn tighten_bounds(&mut self, ports: usize, longest: impl Fn(usize) -> u64) {
        self.certificate.tighten(&self.memory, ports, longest);
    }

    /// Certifies a visit: returns true if `arriving` bytes are certain to be stored and to pause no
    /// sender, in whatever order they and departures come.
    ///
    /// `fullest` has, for each queue with arrivals, the bytes in the fullest output queue or
    /// priority group concerned.
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

    /// Opens the journal for a visit until `end` if `arriving` bytes in `queues` (one bit each) may
    /// lift a pool above its high-water mark.
    ///
    /// The mark is a fill at one instant, so it depends on the order in which ports store and send;
    /// a visit port after port does not know that order.
    pub(crate) fn open_journal_if_peak(&mut self, arriving: u64, queues: u8, end: Instant) {
        // A queue with memory to itself takes nothing from a pool.
        if self.memory.may_peak(queues & self.booked, arriving) {
            self.journal.open(end);
        }
    }

    /// Notes that the visit turns to another port.
    #[inline]
    pub(crate) fn begin_port(&mut self) {
        self.journal.begin_port();
    }

    /// Notes that a pause frame takes effect at `now` at the port being served.
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

    /// Takes all pending control frames, in the order in which they are to be sent.
    pub(crate) fn take_all_pending(&mut self) -> VecDeque<PendingControl> {
        std::mem::take(&mut self.pauses.pending)
    }

    pub(crate) fn is_lossless(&self, queue: usize) -> bool {
        self.memory.classes[queue].lossless.is_some()
    }

    /// Returns the quantity that pauses a class's senders.
    pub(crate) fn pauses_by(&self, queue: usize) -> PausesBy {
        match self.memory.classes[queue].watch {
            Watch::Group => PausesBy::Groups,
            Watch::Pool(..) => PausesBy::Pool,
            Watch::Queue => PausesBy::Queues,
        }
    }

    /// Returns true if two classes take space from the same pool.
    pub(crate) fn shares_pool(&self, queue: usize, other: usize) -> bool {
        self.memory.classes[queue].pool == self.memory.classes[other].pool
    }

    /// Decides whether a frame may be stored, and in which space.
    ///
    /// Every switch model asks here before it stores a frame, or asks
    /// [`SharedBuffer::admission_of_certain`] if a certificate says that all frames fit.
    #[inline]
    pub(crate) fn admission(&self, frame: &QueuedFrame) -> Admission {
        match self.private.is_over(frame) {
            Some(true) => Admission::Refused,
            Some(false) => Admission::Private,
            None => self.memory.admission(frame),
        }
    }

    /// As [`SharedBuffer::admission`], in a visit that [`SharedBuffer::all_fit`] has certified: the
    /// shared space need not be tested again.
    #[inline]
    pub(crate) fn admission_of_certain(&self, frame: &QueuedFrame) -> Admission {
        match self.private.is_over(frame) {
            Some(true) => Admission::Refused,
            Some(false) => Admission::Private,
            None => Admission::Stored,
        }
    }

    /// Returns true if the outcome for a frame depends on departures that may not have been carried
    /// out: it is refused or needs headroom, it would set a pool's high-water mark, or it would
    /// pause senders.
    #[inline]
    pub(crate) fn needs_exact(&self, admission: Admission, frame: &QueuedFrame) -> bool {
        self.private.shares(frame.queue)
            && (admission != Admission::Stored || self.memory.needs_exact(frame))
    }

    /// Charges a frame that is stored in the space `admission`, and pauses senders if that is due.
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
            // The fills follow when the journal is replayed; nothing in this visit asks for them.
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
        // A limit applies to the free bytes before the frame, as at its admission.
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

    // Out of line, and with one pointer: `pauses` and `memory` as two would cost the hot path
    // registers.

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

    /// Charges a frame to headroom, and pauses its sender.
    #[inline(never)]
    fn charge_headroom(&mut self, place: Place, bytes: u64, others: u64, now: Instant) {
        self.memory.store_in_headroom(place, bytes);
        match self.memory.classes[place.queue].watch {
            // The group's own sender is paused below.
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

    /// Returns the fill and the pauses of a port's priority group up to `now`.
    pub(crate) fn ingress(&self, port: u16, queue: usize, now: Instant) -> PriorityGroupRecord {
        self.pauses.record(&self.memory, port, queue, now)
    }

    /// Returns each pool's fill and high-water mark.
    pub(crate) fn pools(&self) -> impl Iterator<Item = PoolRecord> {
        self.memory.records()
    }

    /// Returns the output queues on whose behalf the sender at `port` is paused, by output port.
    ///
    /// The flag is true if that queue alone is enough to keep the sender paused, whatever the
    /// others do: such queues form the edges of a PFC deadlock.
    pub(crate) fn full_queues(&self, port: u16, queue: usize) -> impl Iterator<Item = (u16, bool)> {
        self.pauses.full_queues(&self.memory, port, queue)
    }

    /// Keeps paused senders paused although they may resume: frames will be taken out and stored
    /// again.
    pub(crate) fn hold_back(&mut self) {
        self.pauses.hold_back();
    }

    /// Resumes the senders that may send at `now`, and ends [`SharedBuffer::hold_back`].
    pub(crate) fn stop_holding_back(&mut self, now: Instant) {
        self.pauses.stop_holding_back(&self.memory, now);
    }

    /// Sends XOFF again at `now` for each pause in force at `port`, whose link has another sender
    /// now.
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
            // Last, as pauses are judged by the fills without the frame.
            self.on_released(frame.place(), frame.others, now);
        }
    }

    #[inline(never)]
    fn release_seldom(&mut self, frame: QueuedFrame, now: Instant) {
        self.release(frame, now);
    }
}

impl Buffer for SharedBuffer {
    /// Armed while any sender is paused, because a departure may resume it.
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
        // The instant changes the paused time only.
        self.ingress(port, queue, Instant::START).is_paused
    }

    fn xoffs(&self, port: u16) -> u64 {
        let first = self.memory.group(port, 0);
        let own = first..first + self.memory.classes.len();
        // Without lossless classes there are no groups.
        let own = own.filter(|&group| group < self.memory.groups.len());
        own.map(|group| self.pauses.frames(group)[0]).sum()
    }
}

#[cfg(test)]
mod tests;
