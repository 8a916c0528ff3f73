//! PFC state: the senders that are paused, what resumes them, and when pauses are repeated.

mod steady;

use std::collections::{BTreeMap, VecDeque};

use tenter_units::{Instant, Time};

use super::frame::{ControlMessage, PendingControl, Place};
use super::full_queues::FullQueues;
use super::limits::{Pool, Watch, shared, within};
use super::occupancy::Occupancy;
use crate::class::PoolScope;

/// What the senders of a class are paused for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PausesBy {
    /// What came from each of them.
    Groups,
    /// Output queues that they send into.
    Queues,
    /// What the pool holds.
    Pool,
}

/// What a port's priority group has been through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PriorityGroupRecord {
    /// Bytes of the group that are in the buffer.
    pub bytes: u64,
    /// Those of them that are in headroom.
    pub bytes_in_headroom: u64,
    /// How long the group's sender has been paused by this switch.
    pub paused: Time,
    /// Whether it is paused now.
    pub is_paused: bool,
    /// Headroom kept for the group, in bytes.
    pub headroom_bytes: u64,
    /// The most bytes of headroom that were ever taken.
    pub headroom_high_water_bytes: u64,
    /// Pause frames that told the group's sender to pause.
    pub xoff_frames: u64,
    /// Pause frames that resumed it.
    pub xon_frames: u64,
}

/// The pauses of the sender of one priority group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pause {
    /// When it was paused; [`Instant::NEVER`] when it may send.
    since: Instant,
    refresh_at: Instant,
    /// How long it was paused before.
    paused: Time,
    /// Pause frames that paused and resumed it, modulo 2³², so that two groups share a cache line:
    /// [`Pauses::wraps`] has the rest.
    pub(super) xoff_frames: u32,
    pub(super) xon_frames: u32,
}

impl Pause {
    const NONE: Pause = Pause {
        since: Instant::NEVER,
        refresh_at: Instant::NEVER,
        paused: Time::ZERO,
        xoff_frames: 0,
        xon_frames: 0,
    };

    fn lasts(&self) -> bool {
        !self.since.is_never()
    }
}

/// The senders that a switch has paused.
#[derive(Clone, Debug)]
pub(super) struct Pauses {
    /// By priority group.
    pub(super) groups: Vec<Pause>,
    /// For groups with more pause frames than 32 bits count, how often the counts of those that
    /// pause and resume have wrapped.
    wraps: BTreeMap<u32, [u64; 2]>,
    /// The groups whose senders are paused, in the order in which they were.
    paused: Vec<u32>,
    /// The output queues that they are paused for, where these decide.
    full: FullQueues,
    /// Which ports lead to hosts, where that decides who is paused; else empty.
    to_host: Vec<bool>,
    /// The earliest time at which a pause must be repeated; [`Instant::NEVER`] when none lasts.
    next_refresh: Instant,
    /// How long a quantum lasts at each port, in ps.
    quantum_ps: Vec<u64>,
    /// Whether senders that may resume stay paused for now.
    holds_back: bool,
    /// Control frames that have not been sent, in order.
    pub(super) pending: VecDeque<PendingControl>,
}

impl Pauses {
    /// No sender of these groups is paused. Of each port there are how long 512 bits last, in ps,
    /// and whether it leads to a host.
    pub(super) fn new(groups: usize, quantum_ps: Vec<u64>, to_host: Vec<bool>) -> Pauses {
        Pauses {
            groups: vec![Pause::NONE; groups],
            wraps: BTreeMap::new(),
            paused: Vec::new(),
            full: FullQueues::default(),
            to_host,
            next_refresh: Instant::NEVER,
            quantum_ps,
            holds_back: false,
            pending: VecDeque::new(),
        }
    }

    /// Whether any sender is paused.
    #[inline]
    pub(super) fn any(&self) -> bool {
        !self.paused.is_empty()
    }

    /// The output ports for whose queues the sender at a port is paused; with each whether that
    /// lasts as long as the queue does not send, whatever else does.
    pub(super) fn full_queues(
        &self,
        memory: &Occupancy,
        port: u16,
        queue: usize,
    ) -> impl Iterator<Item = (u16, bool)> {
        let rules = &memory.classes[queue];
        let offset = rules.xon_offset();
        let pool = memory.pools[memory.pool_of(rules, Place::of_input(port, queue))];
        let groups = memory.groups.iter().skip(queue);
        let groups = groups.step_by(memory.classes.len());
        let apart = groups.map(|group| group.used.min(rules.reserved) + group.headroom);
        let apart: u64 = apart.sum();
        self.full.of(port, queue).map(move |(output, bytes)| {
            // The least that the pool can come to hold is what waits there and is not apart.
            let used = pool.used.min(bytes.saturating_sub(apart));
            let emptied = Pool { used, ..pool };
            (output, !within(&rules.limit, &emptied, bytes + offset))
        })
    }

    /// A frame has joined its queue, which holds `queue_bytes` with it and whose class pauses by
    /// the length of output queues: by `is_over` its sender, too.
    pub(super) fn on_queued(
        &mut self,
        memory: &Occupancy,
        place: Place,
        queue_bytes: u64,
        is_over: bool,
        now: Instant,
    ) {
        if is_over {
            self.full.hold(place, queue_bytes);
            self.pause(memory, memory.group(place.input, place.queue) as u32, now);
        } else if !self.full.is_empty() {
            self.full.note(place, queue_bytes);
        }
    }

    /// A frame has left its queue, which holds `queue_bytes` without it, while a sender is paused.
    pub(super) fn on_released(
        &mut self,
        memory: &Occupancy,
        place: Place,
        queue_bytes: u64,
        now: Instant,
    ) {
        if !self.full.is_empty() {
            self.full.note(place, queue_bytes);
        }
        if !self.holds_back {
            self.resume_after(memory, place, now);
        }
    }

    /// Resumes senders that a departure has made room for: that of the frame's own group, all of
    /// the classes that wait for its pool, and those of queues that have become short enough.
    fn resume_after(&mut self, memory: &Occupancy, place: Place, now: Instant) {
        let freed = memory.pool_of(&memory.classes[place.queue], place);
        for (waiting, rules) in memory.classes.iter().enumerate() {
            let pool = &memory.pools[freed];
            let Watch::Pool(limit, _) = rules.watch else {
                continue;
            };
            let is_its = rules.pool == freed % memory.pools_each;
            if is_its && (pool.used + rules.xon_offset() <= limit || pool.used == 0) {
                self.resume_all(memory, waiting, freed, now);
            }
        }
        if !self.full.is_empty() {
            self.resume_from_queues(memory, freed, now);
        }
        self.resume_group(memory, place, now);
    }

    /// Resumes the sender of the group that a frame has left, if it may send.
    fn resume_group(&mut self, memory: &Occupancy, place: Place, now: Instant) {
        let rules = &memory.classes[place.queue];
        if rules.lossless.is_none() {
            return;
        }
        let index = memory.group(place.input, place.queue);
        let group = &memory.groups[index];
        if !self.groups[index].lasts() || group.headroom != 0 {
            return;
        }
        let may = match rules.watch {
            Watch::Group => {
                let shared = shared(rules, group.used) + rules.xon_offset();
                let pool = &memory.pools[memory.pool_of(rules, place)];
                group.used == 0 || within(&rules.limit, pool, shared)
            }
            // In headroom alone, as the pool pauses others.
            Watch::Pool(_, scope) => !self.is_in_scope(scope, place.input),
            Watch::Queue => !self.full.holds(place.input, place.queue),
        };
        if may {
            self.resume(memory, index as u32, now);
        }
    }

    /// Resumes senders that are paused for queues which have become short enough, in part or by
    /// what has left the pool.
    #[inline(never)]
    fn resume_from_queues(&mut self, memory: &Occupancy, freed: usize, now: Instant) {
        let mut senders = Vec::new();
        let is_short = |queue: usize, bytes: u64| {
            let rules = &memory.classes[queue];
            let pool = &memory.pools[freed];
            let offset = rules.xon_offset();
            rules.pool == freed && (bytes == 0 || within(&rules.limit, pool, bytes + offset))
        };
        let note = |port, queue| senders.push((port, queue));
        self.full.release(is_short, note);
        senders.sort_unstable();
        senders.dedup();
        for (port, queue) in senders {
            let index = memory.group(port, queue);
            let is_free = self.groups[index].lasts() && memory.groups[index].headroom == 0;
            if is_free && !self.full.holds(port, queue) {
                self.resume(memory, index as u32, now);
            }
        }
    }

    fn is_in_scope(&self, scope: PoolScope, port: u16) -> bool {
        let to_host = self.to_host.get(usize::from(port));
        scope == PoolScope::All || to_host.is_some_and(|&to_host| to_host)
    }

    /// Pauses all senders of a frame's class whose frames come into the same pool.
    pub(super) fn pause_all(&mut self, memory: &Occupancy, place: Place, now: Instant) {
        let (queue, rules) = (place.queue, &memory.classes[place.queue]);
        let Watch::Pool(_, scope) = rules.watch else {
            return;
        };
        let pool = memory.pool_of(rules, place);
        let classes = memory.classes.len();
        for index in (queue..memory.groups.len()).step_by(classes) {
            let port = (index / classes) as u16;
            let is_its = memory.pool_of(rules, Place::of_input(port, queue)) == pool;
            if is_its && self.is_in_scope(scope, port) {
                self.pause(memory, index as u32, now);
            }
        }
    }

    /// Resumes all senders of a class whose frames come into a pool, but for those whose headroom
    /// is not all free again.
    fn resume_all(&mut self, memory: &Occupancy, queue: usize, pool: usize, now: Instant) {
        let rules = &memory.classes[queue];
        for index in self.paused.clone() {
            let (port, of) = memory.place(index);
            let has_headroom = memory.groups[index as usize].headroom == 0;
            let is_its = usize::from(of) == queue
                && memory.pool_of(rules, Place::of_input(port, queue)) == pool;
            if has_headroom && is_its {
                self.resume(memory, index, now);
            }
        }
    }

    /// From now on senders that may resume stay paused: frames are taken out and put in again.
    pub(super) fn hold_back(&mut self) {
        self.holds_back = true;
    }

    /// Resumes senders that may send at `now`, and from now on at once.
    pub(super) fn stop_holding_back(&mut self, memory: &Occupancy, now: Instant) {
        self.holds_back = false;
        let mut paused = self.paused.clone();
        paused.sort_unstable();
        for index in paused {
            // One may resume others.
            if self.groups[index as usize].lasts() {
                let (port, queue) = memory.place(index);
                self.resume_after(memory, Place::of_input(port, usize::from(queue)), now);
            }
        }
    }

    /// Pauses the sender of a group, unless it is paused.
    pub(super) fn pause(&mut self, memory: &Occupancy, index: u32, now: Instant) {
        let group = &mut self.groups[index as usize];
        if group.lasts() {
            return;
        }
        group.since = now;
        self.paused.push(index);
        self.ask(memory, index, now);
    }

    /// Asks for a pause, for the first time or again.
    fn ask(&mut self, memory: &Occupancy, index: u32, now: Instant) {
        let (port, queue) = memory.place(index);
        let lossless = memory.classes[usize::from(queue)].lossless.as_ref();
        let lossless = lossless.expect("only lossless classes pause");
        let quanta = lossless.quanta;
        let percent = u64::from(lossless.refresh_percent);
        let lasts = self.quantum_ps[usize::from(port)] * u64::from(quanta);
        // At least a picosecond, or a pause of no quanta would be repeated for ever at one instant.
        let refresh_at = now + Time::from_ps((lasts * percent / 100).max(1));
        let group = &mut self.groups[index as usize];
        group.refresh_at = refresh_at;
        group.xoff_frames = group.xoff_frames.wrapping_add(1);
        if group.xoff_frames == 0 {
            self.wraps.entry(index).or_default()[0] += 1;
        }
        self.next_refresh = self.next_refresh.min(refresh_at);
        self.send(port, queue, quanta);
    }

    fn send(&mut self, port: u16, queue: u8, quanta: u16) {
        self.pending.push_back(PendingControl {
            port,
            queue,
            message: ControlMessage::Pause(quanta),
        });
    }

    /// Resumes the sender of a group, which is paused.
    pub(super) fn resume(&mut self, memory: &Occupancy, index: u32, now: Instant) {
        let group = &mut self.groups[index as usize];
        group.paused += now - group.since;
        group.since = Instant::NEVER;
        let was_next = group.refresh_at == self.next_refresh;
        group.refresh_at = Instant::NEVER;
        group.xon_frames = group.xon_frames.wrapping_add(1);
        if group.xon_frames == 0 {
            self.wraps.entry(index).or_default()[1] += 1;
        }
        self.paused.retain(|&other| other != index);
        if was_next {
            self.find_next_refresh();
        }
        let (port, queue) = memory.place(index);
        self.send(port, queue, 0);
    }

    /// Forgets at `now` that the sender at the other end of a port's link is paused: the link goes
    /// down, or comes up and no pause is known there.
    pub(super) fn forget(&mut self, memory: &Occupancy, port: u16, now: Instant) {
        let first = memory.group(port, 0);
        for index in first..first + memory.classes.len() {
            let Some(group) = self.groups.get_mut(index) else {
                return;
            };
            if !group.lasts() {
                continue;
            }
            group.paused += now - group.since;
            group.since = Instant::NEVER;
            group.refresh_at = Instant::NEVER;
            self.paused.retain(|&other| other as usize != index);
        }
        self.full.forget(port);
        self.find_next_refresh();
    }

    /// Asks again at `now` for all pauses that last at a port: another sender is at the other end.
    pub(super) fn repeat(&mut self, memory: &Occupancy, port: u16, now: Instant) {
        let first = memory.group(port, 0);
        for index in first..first + memory.classes.len() {
            if self.groups.get(index).is_some_and(Pause::lasts) {
                self.ask(memory, index as u32, now);
            }
        }
        self.find_next_refresh();
    }

    /// When the next pause must be repeated; [`Instant::NEVER`] when none lasts.
    #[inline]
    pub(super) fn next_refresh(&self) -> Instant {
        self.next_refresh
    }

    fn find_next_refresh(&mut self) {
        let groups = self.paused.iter();
        let times = groups.map(|&index| self.groups[index as usize].refresh_at);
        self.next_refresh = times.min().unwrap_or(Instant::NEVER);
    }

    /// Repeats the pauses that are due at `now`, in the order of ports.
    pub(super) fn refresh(&mut self, memory: &Occupancy, now: Instant) {
        let mut due: Vec<u32> = self.paused.clone();
        due.retain(|&index| self.groups[index as usize].refresh_at <= now);
        due.sort_unstable();
        for index in due {
            self.ask(memory, index, now);
        }
        self.find_next_refresh();
    }

    /// Pause frames that paused a group's sender, and that resumed it.
    pub(super) fn frames(&self, index: usize) -> [u64; 2] {
        let wraps = self.wraps.get(&(index as u32)).copied().unwrap_or_default();
        let group = &self.groups[index];
        let whole = |wraps: u64, rest: u32| wraps << 32 | u64::from(rest);
        [
            whole(wraps[0], group.xoff_frames),
            whole(wraps[1], group.xon_frames),
        ]
    }

    /// What a port's group has been through up to `now`.
    pub(super) fn record(
        &self,
        memory: &Occupancy,
        port: u16,
        queue: usize,
        now: Instant,
    ) -> PriorityGroupRecord {
        let index = memory.group(port, queue);
        let (Some(group), Some(pause)) = (memory.groups.get(index), self.groups.get(index)) else {
            return PriorityGroupRecord::default();
        };
        let [xoff_frames, xon_frames] = self.frames(index);
        let is_paused = pause.lasts();
        let since = if is_paused {
            now.saturating_since(pause.since)
        } else {
            Time::ZERO
        };
        PriorityGroupRecord {
            bytes: group.used + group.headroom,
            bytes_in_headroom: group.headroom,
            paused: pause.paused + since,
            is_paused,
            headroom_bytes: group.headroom_size,
            headroom_high_water_bytes: group.headroom_high_water,
            xoff_frames,
            xon_frames,
        }
    }
}
