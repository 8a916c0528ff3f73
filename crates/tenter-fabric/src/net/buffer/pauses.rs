//! PFC state: which senders are paused, what resumes them, and when pauses are repeated.

mod steady;

use std::collections::{BTreeMap, VecDeque};

use tenter_language::units::{Instant, Time};

use super::frame::{ControlMessage, PendingControl, Place};
use super::full_queues::FullQueues;
use super::limits::{Pool, Watch, shared, within};
use super::occupancy::Occupancy;
use crate::net::class::PoolScope;

/// Quantity that pauses a class's senders when it exceeds its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PausesBy {
    /// Priority groups: each sender pauses for the bytes that came from it.
    Groups,
    /// Output queues: each sender pauses for the queues that it sends into.
    Queues,
    /// The pool's fill: its senders pause together.
    Pool,
}

/// Fill and pauses of one port's priority group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PriorityGroupRecord {
    /// The group's bytes in the buffer, headroom included.
    pub bytes: u64,
    /// The group's bytes that are in headroom.
    pub bytes_in_headroom: u64,
    /// Total time for which this switch has paused the group's sender.
    pub paused: Time,
    /// True if the sender is paused now.
    pub is_paused: bool,
    /// Most headroom that the group may use, in bytes.
    pub headroom_bytes: u64,
    /// Most headroom that was ever in use, in bytes.
    pub headroom_high_water_bytes: u64,
    /// XOFF frames to the group's sender, repetitions included.
    pub xoff_frames: u64,
    /// XON frames (pauses for zero quanta) to the group's sender.
    pub xon_frames: u64,
}

/// Pause state of one priority group's sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pause {
    /// Instant at which the pause in force began; [`Instant::NEVER`] if the sender may send.
    since: Instant,
    /// Instant at which XOFF is repeated; [`Instant::NEVER`] if the sender may send.
    refresh_at: Instant,
    /// Total time for which earlier pauses lasted.
    paused: Time,
    /// XOFF and XON frames, modulo 2³², so that two groups share a cache line; [`Pauses::wraps`]
    /// has the rest.
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

/// A switch's PFC state: the senders that it has paused.
#[derive(Clone, Debug)]
pub(super) struct Pauses {
    /// Each priority group's pause state, by group number.
    pub(super) groups: Vec<Pause>,
    /// Wraps of the 32-bit counts of XOFF and XON frames, for groups that have had any.
    wraps: BTreeMap<u32, [u64; 2]>,
    /// Groups whose senders are paused, in the order in which they were paused.
    paused: Vec<u32>,
    /// Output queues that keep senders paused, for classes with the `egress` trigger.
    full: FullQueues,
    /// True for ports that lead to hosts, to which a pool trigger may be limited; ports beyond the
    /// list lead to none.
    to_host: Vec<bool>,
    /// Earliest `refresh_at` among all groups; [`Instant::NEVER`] if no pause is in force.
    next_refresh: Instant,
    /// Duration of a pause quantum (512 bits) at each port, in ps.
    quantum_ps: Vec<u64>,
    /// Set while the frames of a held port are taken out and stored again one by one to reroute
    /// them. A sender that resumed and paused again for each frame would overrun its headroom, so
    /// senders resume only at the end.
    holds_back: bool,
    /// Control frames not yet sent, in the order in which they were decided.
    pub(super) pending: VecDeque<PendingControl>,
}

impl Pauses {
    /// Makes the state for `groups` priority groups, with no sender paused. At each port 512 bits
    /// last `quantum_ps`; `to_host` is true for ports that lead to hosts.
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

    /// Returns true if any sender is paused.
    #[inline]
    pub(super) fn any(&self) -> bool {
        !self.paused.is_empty()
    }

    /// Returns the output queues on whose behalf the sender at `port` is paused, by output port.
    ///
    /// The flag is true if that queue alone is enough to keep the sender paused, whatever the
    /// others do: such queues form the edges of a PFC deadlock.
    pub(super) fn full_queues(
        &self,
        memory: &Occupancy,
        port: u16,
        queue: usize,
    ) -> impl Iterator<Item = (u16, bool)> {
        let rules = &memory.classes[queue];
        let offset = rules.xon_offset();
        let pool = memory.pools[memory.pool_of(rules, Place::of_input(port, queue))];
        // Bytes in reserved space and headroom, at most: part of the queue may lie there and not in
        // the pool.
        let groups = memory.groups.iter().skip(queue);
        let groups = groups.step_by(memory.classes.len());
        let apart = groups.map(|group| group.used.min(rules.reserved) + group.headroom);
        let apart: u64 = apart.sum();
        self.full.of(port, queue).map(move |(output, bytes)| {
            // Even if all else leaves, the pool holds the queue's bytes that are not apart.
            let used = pool.used.min(bytes.saturating_sub(apart));
            let emptied = Pool { used, ..pool };
            (output, !within(&rules.limit, &emptied, bytes + offset))
        })
    }

    /// Handles a frame that has joined an output queue, in a class with the `egress` trigger. The
    /// queue holds `queue_bytes` with it; if it `is_over` its limit, the frame's sender is paused.
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

    /// Handles a frame that has left an output queue, which holds `queue_bytes` without it, while
    /// some sender is paused.
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

    /// Resumes senders that a departure has made room for: the frame's own, all that wait for its
    /// pool, and those paused for queues that have become short enough.
    fn resume_after(&mut self, memory: &Occupancy, place: Place, now: Instant) {
        let freed = memory.pool_of(&memory.classes[place.queue], place);
        for (waiting, rules) in memory.classes.iter().enumerate() {
            let pool = &memory.pools[freed];
            let Watch::Pool(limit, _) = rules.watch else {
                continue;
            };
            // `freed` counts the pools of all partitions, `rules.pool` those of one. An empty pool
            // resumes senders even if the XON offset is above the limit.
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

    /// Resumes the sender to the group that a frame has left, if it may send.
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
                // An empty group may send even if the XON offset is above the limit.
                let shared = shared(rules, group.used) + rules.xon_offset();
                let pool = &memory.pools[memory.pool_of(rules, place)];
                group.used == 0 || within(&rules.limit, pool, shared)
            }
            // A sender beyond the scope was paused for headroom alone, which is free again; one
            // within it resumes with the pool.
            Watch::Pool(_, scope) => !self.is_in_scope(scope, place.input),
            Watch::Queue => !self.full.holds(place.input, place.queue),
        };
        if may {
            self.resume(memory, index as u32, now);
        }
    }

    /// Resumes senders that are paused for queues which have become short enough: frames have left
    /// the queue, or the pool has more free bytes.
    #[inline(never)]
    fn resume_from_queues(&mut self, memory: &Occupancy, freed: usize, now: Instant) {
        let mut senders = Vec::new();
        let is_short = |queue: usize, bytes: u64| {
            let rules = &memory.classes[queue];
            let pool = &memory.pools[freed];
            let offset = rules.xon_offset();
            // Buffers with partitions have no `egress` trigger, so `freed` is the class's pool.
            rules.pool == freed && (bytes == 0 || within(&rules.limit, pool, bytes + offset))
        };
        let note = |port, queue| senders.push((port, queue));
        self.full.release(is_short, note);
        // A sender may be paused for several queues; XON frames go out in the order of ports.
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

    /// Pauses the senders within the scope whose frames in this class take space from the same
    /// pool.
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

    /// Resumes a class's paused senders whose frames take space from `pool`, except those with
    /// bytes left in headroom.
    fn resume_all(&mut self, memory: &Occupancy, queue: usize, pool: usize, now: Instant) {
        let rules = &memory.classes[queue];
        // A copy, since resuming a group takes it off the list.
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

    /// Keeps paused senders paused although they may resume: frames will be taken out and stored
    /// again.
    pub(super) fn hold_back(&mut self) {
        self.holds_back = true;
    }

    /// Resumes the senders that may send at `now`, and lets later ones resume at once.
    pub(super) fn stop_holding_back(&mut self, memory: &Occupancy, now: Instant) {
        self.holds_back = false;
        let mut paused = self.paused.clone();
        // XON frames go out in the order of ports, not in that of the pauses.
        paused.sort_unstable();
        for index in paused {
            // An earlier group of the list may have resumed this one with its own.
            if self.groups[index as usize].lasts() {
                let (port, queue) = memory.place(index);
                self.resume_after(memory, Place::of_input(port, usize::from(queue)), now);
            }
        }
    }

    /// Pauses a group's sender, unless it is paused already.
    pub(super) fn pause(&mut self, memory: &Occupancy, index: u32, now: Instant) {
        let group = &mut self.groups[index as usize];
        if group.lasts() {
            return;
        }
        group.since = now;
        self.paused.push(index);
        self.ask(memory, index, now);
    }

    /// Sends XOFF to a group's sender, for the first time or again, and plans the next repetition.
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

    /// Resumes a group's sender, which must be paused.
    pub(super) fn resume(&mut self, memory: &Occupancy, index: u32, now: Instant) {
        let group = &mut self.groups[index as usize];
        group.paused += now - group.since;
        group.since = Instant::NEVER;
        // The earliest repetition is searched anew only if it was this one.
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

    /// Ends at `now` all pauses at `port` without XON: the link goes down, or comes up and no pause
    /// is known at its other end.
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

    /// Sends XOFF again at `now` for each pause in force at `port`, whose link has another sender
    /// now.
    pub(super) fn repeat(&mut self, memory: &Occupancy, port: u16, now: Instant) {
        let first = memory.group(port, 0);
        for index in first..first + memory.classes.len() {
            if self.groups.get(index).is_some_and(Pause::lasts) {
                self.ask(memory, index as u32, now);
            }
        }
        self.find_next_refresh();
    }

    /// Returns when the next pause is repeated; [`Instant::NEVER`] if no pause is in force.
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
        // In the order of ports, as everything that is due at one instant.
        for index in due {
            self.ask(memory, index, now);
        }
        self.find_next_refresh();
    }

    /// Returns how many XOFF and XON frames went to a group's sender.
    pub(super) fn frames(&self, index: usize) -> [u64; 2] {
        let wraps = self.wraps.get(&(index as u32)).copied().unwrap_or_default();
        let group = &self.groups[index];
        let whole = |wraps: u64, rest: u32| wraps << 32 | u64::from(rest);
        [
            whole(wraps[0], group.xoff_frames),
            whole(wraps[1], group.xon_frames),
        ]
    }

    /// Returns the fill and the pauses of a port's priority group up to `now`; all zero in a switch
    /// without lossless classes.
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
        // A pause that lasts is not in the group's total yet.
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
