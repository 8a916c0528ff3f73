//! Who is told to pause and to go on, and when that is said again.

use super::limits::{Pool, Watch, shared, within};
use super::{Due, NEVER, PausesBy, Place, SharedBuffer, Word};
use crate::class::PoolScope;

impl SharedBuffer {
    /// What senders of a class are paused for.
    pub(crate) fn pauses_by(&self, queue: usize) -> PausesBy {
        match self.classes[queue].watch {
            Watch::Account => PausesBy::Groups,
            Watch::Pool(..) => PausesBy::Pool,
            Watch::Egress => PausesBy::Queues,
        }
    }

    /// Whether queues of two classes take space from the same pool.
    pub(crate) fn shares_pool(&self, queue: usize, other: usize) -> bool {
        self.classes[queue].pool == self.classes[other].pool
    }

    /// The output ports for whose queues the sender at a port is paused; with each whether that
    /// lasts as long as the queue does not send, whatever else does.
    pub(crate) fn full_queues(&self, port: u16, queue: usize) -> impl Iterator<Item = (u16, bool)> {
        let rules = &self.classes[queue];
        let offset = rules.xon_offset();
        let pool = self.pools[self.pool_of(rules, Place::of_input(port, queue))];
        let groups = self.groups.iter().skip(queue).step_by(self.classes.len());
        let apart = groups.map(|group| group.used.min(rules.reserved) + group.headroom);
        let apart: u64 = apart.sum();
        self.full.of(port, queue).map(move |(output, bytes)| {
            // The least that the pool can come to hold is what waits there and is not apart.
            let used = pool.used.min(bytes.saturating_sub(apart));
            let emptied = Pool { used, ..pool };
            (output, !within(&rules.limit, &emptied, bytes + offset))
        })
    }

    /// Whether a frame has made its queue longer than its limit; by what the pool held before.
    #[inline]
    fn is_over(&self, place: Place, queue_bytes: u64, pool: &Pool) -> bool {
        let rules = &self.classes[place.queue];
        rules.watch == Watch::Egress && !within(&rules.limit, pool, queue_bytes)
    }

    /// A frame was put into its queue, which holds so much with it and whose class goes by the
    /// length of output queues.
    #[inline(never)]
    pub(super) fn judge_queue(&mut self, place: Place, queue_bytes: u64, pool: &Pool, now: u64) {
        if self.is_over(place, queue_bytes, pool) {
            self.full.hold(place, queue_bytes);
            self.pause(self.group(place.input, place.queue) as u32, now);
        } else if !self.full.is_empty() {
            self.full.note(place, queue_bytes);
        }
    }

    /// A frame has left its queue, which holds so much without it, while somebody is paused.
    #[inline(never)]
    pub(super) fn follow_release(&mut self, place: Place, queue_bytes: u64, now: u64) {
        if !self.full.is_empty() {
            self.full.note(place, queue_bytes);
        }
        if !self.holds_back {
            self.let_go_on(place, now);
        }
    }

    /// Lets senders go on that a departure has made room for: that of the frame's own group, all of
    /// the classes that wait for its pool, and those of queues that have become short enough.
    fn let_go_on(&mut self, place: Place, now: u64) {
        let freed = self.pool_of(&self.classes[place.queue], place);
        for waiting in 0..self.classes.len() {
            let rules = &self.classes[waiting];
            let pool = &self.pools[freed];
            let Watch::Pool(limit, _) = rules.watch else {
                continue;
            };
            let is_its = rules.pool == freed % self.pools_each;
            if is_its && (pool.used + rules.xon_offset() <= limit || pool.used == 0) {
                self.resume_all(waiting, freed, now);
            }
        }
        if !self.full.is_empty() {
            self.let_go_on_from_queues(freed, now);
        }
        self.let_group_go_on(place, now);
    }

    /// The same of the group that a frame has left.
    fn let_group_go_on(&mut self, place: Place, now: u64) {
        let rules = &self.classes[place.queue];
        if rules.lossless.is_none() {
            return;
        }
        let index = self.group(place.input, place.queue);
        let group = &self.groups[index];
        if group.paused_since == NEVER || group.headroom != 0 {
            return;
        }
        let may = match rules.watch {
            Watch::Account => {
                let shared = shared(rules, group.used) + rules.xon_offset();
                let pool = &self.pools[self.pool_of(rules, place)];
                group.used == 0 || within(&rules.limit, pool, shared)
            }
            // In headroom alone, as the pool pauses others.
            Watch::Pool(_, scope) => !self.is_in_scope(scope, place.input),
            Watch::Egress => !self.full.holds(place.input, place.queue),
        };
        if may {
            self.resume(index as u32, now);
        }
    }

    /// Lets senders go on that are paused for queues which have become short enough, in part or by
    /// what has left the pool.
    #[inline(never)]
    fn let_go_on_from_queues(&mut self, freed: usize, now: u64) {
        let mut senders = Vec::new();
        let mut full = std::mem::take(&mut self.full);
        let is_short = |queue: usize, bytes: u64| {
            let rules = &self.classes[queue];
            let pool = &self.pools[freed];
            let offset = rules.xon_offset();
            rules.pool == freed && (bytes == 0 || within(&rules.limit, pool, bytes + offset))
        };
        full.release(is_short, |port, queue| senders.push((port, queue)));
        self.full = full;
        senders.sort_unstable();
        senders.dedup();
        for (port, queue) in senders {
            let index = self.group(port, queue);
            let group = &self.groups[index];
            let is_free = group.paused_since != NEVER && group.headroom == 0;
            if is_free && !self.full.holds(port, queue) {
                self.resume(index as u32, now);
            }
        }
    }

    fn is_in_scope(&self, scope: PoolScope, port: u16) -> bool {
        let to_host = self.to_host.get(usize::from(port));
        scope == PoolScope::All || to_host.is_some_and(|&to_host| to_host)
    }

    /// Pauses all senders of a class whose frames come into a pool.
    #[inline(never)]
    pub(super) fn pause_all(&mut self, (queue, pool): (usize, usize), now: u64) {
        let Watch::Pool(_, scope) = self.classes[queue].watch else {
            return;
        };
        let classes = self.classes.len();
        for index in (queue..self.groups.len()).step_by(classes) {
            let port = (index / classes) as u16;
            let place = Place::of_input(port, queue);
            let is_its = self.pool_of(&self.classes[queue], place) == pool;
            if is_its && self.is_in_scope(scope, port) {
                self.pause(index as u32, now);
            }
        }
    }

    /// Lets all senders of a class go on whose frames come into a pool, but for those whose
    /// headroom is not all free again.
    fn resume_all(&mut self, queue: usize, pool: usize, now: u64) {
        for index in self.paused.clone() {
            let (port, of) = self.place(index);
            let place = Place::of_input(port, queue);
            let has_headroom = self.groups[index as usize].headroom == 0;
            let is_its =
                usize::from(of) == queue && self.pool_of(&self.classes[queue], place) == pool;
            if has_headroom && is_its {
                self.resume(index, now);
            }
        }
    }

    /// From now on senders that may go on are not told so: frames are taken out and put in again.
    pub(crate) fn hold_back(&mut self) {
        self.holds_back = true;
    }

    /// Tells senders that may go on at `now`, and from now on at once.
    pub(crate) fn let_all_go_on(&mut self, now: u64) {
        self.holds_back = false;
        let mut paused = self.paused.clone();
        paused.sort_unstable();
        for index in paused {
            // One may let others go on.
            if self.groups[index as usize].paused_since != NEVER {
                let (port, queue) = self.place(index);
                self.let_go_on(Place::of_input(port, usize::from(queue)), now);
            }
        }
    }

    pub(super) fn pause(&mut self, index: u32, now: u64) {
        let group = &mut self.groups[index as usize];
        if group.paused_since != NEVER {
            return;
        }
        group.paused_since = now;
        self.paused.push(index);
        self.ask(index, now);
    }

    /// Asks for a pause, for the first time or again.
    fn ask(&mut self, index: u32, now: u64) {
        let (port, queue) = self.place(index);
        let lossless = self.classes[usize::from(queue)].lossless.as_ref();
        let lossless = lossless.expect("only lossless classes pause");
        let quanta = lossless.quanta;
        let percent = u64::from(lossless.refresh_percent);
        let lasts = self.quantum_ps[usize::from(port)] * u64::from(quanta);
        // At least a picosecond, or a pause of no quanta would be repeated for ever at one instant.
        let refresh_at = now + (lasts * percent / 100).max(1);
        let group = &mut self.groups[index as usize];
        group.refresh_at = refresh_at;
        group.xoff_frames = group.xoff_frames.wrapping_add(1);
        if group.xoff_frames == 0 {
            self.wraps.entry(index).or_default()[0] += 1;
        }
        self.next_refresh = self.next_refresh.min(refresh_at);
        self.due.push_back(Due {
            port,
            queue,
            word: Word::Pause(quanta),
        });
    }

    pub(super) fn resume(&mut self, index: u32, now: u64) {
        let group = &mut self.groups[index as usize];
        group.paused += now - group.paused_since;
        group.paused_since = NEVER;
        let was_next = group.refresh_at == self.next_refresh;
        group.refresh_at = NEVER;
        group.xon_frames = group.xon_frames.wrapping_add(1);
        if group.xon_frames == 0 {
            self.wraps.entry(index).or_default()[1] += 1;
        }
        self.paused.retain(|&other| other != index);
        if was_next {
            self.find_next_refresh();
        }
        let (port, queue) = self.place(index);
        self.due.push_back(Due {
            port,
            queue,
            word: Word::Pause(0),
        });
    }

    /// Forgets at `now` that the sender at the other end of a port's link has been told to pause:
    /// the link is down, or comes up and nobody there knows.
    pub(crate) fn forget_pauses(&mut self, port: u16, now: u64) {
        let classes = self.classes.len();
        let first = usize::from(port) * classes;
        for index in first..first + classes {
            let Some(group) = self.groups.get_mut(index) else {
                return;
            };
            if group.paused_since == NEVER {
                continue;
            }
            group.paused += now - group.paused_since;
            group.paused_since = NEVER;
            group.refresh_at = NEVER;
            self.paused.retain(|&other| other as usize != index);
        }
        self.full.forget(port);
        self.find_next_refresh();
    }

    /// Asks again at `now` for all pauses that last at a port: somebody else is at the other end.
    pub(crate) fn repeat_pauses(&mut self, port: u16, now: u64) {
        let first = self.group(port, 0);
        for index in first..first + self.classes.len() {
            let lasts = self.groups.get(index);
            if lasts.is_some_and(|group| group.paused_since != NEVER) {
                self.ask(index as u32, now);
            }
        }
        self.find_next_refresh();
    }

    fn place(&self, index: u32) -> (u16, u8) {
        let classes = self.classes.len() as u32;
        ((index / classes) as u16, (index % classes) as u8)
    }

    /// When the next pause must be repeated; `u64::MAX` when none lasts.
    #[inline]
    pub(crate) fn next_refresh(&self) -> u64 {
        self.next_refresh
    }

    fn find_next_refresh(&mut self) {
        let groups = self.paused.iter();
        let times = groups.map(|&index| self.groups[index as usize].refresh_at);
        self.next_refresh = times.min().unwrap_or(NEVER);
    }

    /// Repeats the pauses that are due at `now`, in the order of ports.
    pub(crate) fn refresh(&mut self, now: u64) {
        let mut due: Vec<u32> = self.paused.clone();
        due.retain(|&index| self.groups[index as usize].refresh_at <= now);
        due.sort_unstable();
        for index in due {
            self.ask(index, now);
        }
        self.find_next_refresh();
    }
}
