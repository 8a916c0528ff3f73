//! The shared packet buffer of a switch: who has taken how much of it, and who is paused for it.
//!
//! Frames are charged when they are stored and released when their first bit leaves. A departure
//! only ever lowers what is taken; so a frame that is admitted although some departures before it
//! have not been carried out yet would be admitted all the same, into the same part of the buffer.
//! Only a refusal, a pause and a new high-water mark need the exact state. That is what lets ports
//! be lazy.

mod egress;
mod limits;
mod pauses;

use std::collections::{BTreeMap, VecDeque};

use crate::class::{CLASSES, ClassSpec, Limit};
use crate::credit::{CreditSpec, InputBuffers, LaneBuffer};
use crate::journal::{Entry, Journal, JournalCounts};
use crate::spec::{BufferSharing, UNLIMITED_POOL};
use egress::FullQueues;
pub(crate) use egress::Place;
use limits::{ClassRules, Pool, Watch, fits, shared, shared_more, within};

const NEVER: u64 = u64::MAX;

/// What the buffer does with a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// Into reserved or shared space.
    Stored,
    /// Into headroom: the sender must pause.
    Headroom,
    /// Nowhere.
    Refused,
}

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

/// Word that the sender at the other end of a port's link is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Due {
    pub(crate) port: u16,
    pub(crate) queue: u8,
    pub(crate) word: Word,
}

/// What senders are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// To pause for so many quanta; zero lets the class go on.
    Pause(u16),
    /// Up to how many blocks it may send.
    Credit(u32),
}

/// Headroom that ports share.
#[derive(Clone, Copy, Debug)]
struct HeadroomPool {
    size: u64,
    used: u64,
}

/// What has arrived through one port in one lossless class and is still there.
#[derive(Clone, Copy, Debug)]
struct PriorityGroup {
    /// Bytes in reserved and shared space.
    used: u64,
    /// Bytes in headroom.
    headroom: u64,
    headroom_size: u64,
    /// When its sender was told to pause; `NEVER` when it may send.
    paused_since: u64,
    refresh_at: u64,
    /// How long it was paused before, in ps.
    paused: u64,
    headroom_high_water: u64,
    /// Pause frames that told it to pause and to go on, modulo 2³², so that a group has 64 bytes:
    /// [`SharedBuffer::wraps`] has the rest.
    xoff_frames: u32,
    xon_frames: u32,
}

/// What a port's priority group has been through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PriorityGroupRecord {
    /// Bytes of the group that are in the buffer.
    pub bytes: u64,
    /// Those of them that are in headroom.
    pub bytes_in_headroom: u64,
    /// How long the group's sender has been paused by this switch, in ps.
    pub paused: u64,
    /// Whether it is paused now.
    pub is_paused: bool,
    /// Headroom kept for the group, in bytes.
    pub headroom_bytes: u64,
    /// The most bytes of headroom that were ever taken.
    pub headroom_high_water_bytes: u64,
    /// Pause frames that told the group's sender to pause.
    pub xoff_frames: u64,
    /// Pause frames that let it go on.
    pub xon_frames: u64,
}

/// What a pool of shared space has been through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolRecord {
    /// Its size in bytes; `None` when it never runs out.
    pub size_bytes: Option<u64>,
    /// Bytes taken from it.
    pub used_bytes: u64,
    /// The most that ever were; `None` when it never runs out.
    pub high_water_bytes: Option<u64>,
}

/// Ports that are looked at for each visit for which bounds do not suffice, on average at most.
const PORTS_PER_LOOK: usize = 32;

/// The buffer's books.
#[derive(Clone, Debug)]
pub(crate) struct SharedBuffer {
    /// The limit of each queue that has memory of its own, and `NEVER` for those that share.
    private_limits: [u64; CLASSES],
    /// Whether any queue has no memory of its own.
    shared: bool,
    /// Queues whose departures change the books, one bit each: those that share their memory, and
    /// all where senders go by credit.
    booked: u8,
    /// For each queue how full its fullest account is at most: departures do not lower it.
    bounds: [u64; CLASSES],
    /// Visits for which they did not suffice since they were last tightened.
    loose: usize,
    classes: Vec<ClassRules>,
    /// Those of the first partition of the buffer, then those of the next.
    pools: Vec<Pool>,
    /// How many a partition has.
    pools_each: usize,
    /// For each port the first pool of its partition; empty where there is but one.
    partitions: Vec<u16>,
    /// Headroom that ports share, of each partition; empty where each port has its own.
    headroom_pools: Vec<HeadroomPool>,
    /// By port, then queue; empty when no class is lossless.
    groups: Vec<PriorityGroup>,
    /// For groups with more pause frames than 32 bits count, how often the counts of those that
    /// told
    /// to pause and to go on have wrapped.
    wraps: BTreeMap<u32, [u64; 2]>,
    /// The groups whose senders are paused, in the order in which they were.
    paused: Vec<u32>,
    /// The output queues that they are paused for, where these decide.
    full: FullQueues,
    /// Which ports lead to hosts, where that decides who is paused; else empty.
    to_host: Vec<bool>,
    /// The earliest time at which one of them must be told again; `NEVER` when there is none.
    next_refresh: u64,
    /// What has become due and has not been sent, in order.
    due: VecDeque<Due>,
    /// How long a quantum lasts at each port, in ps.
    quantum_ps: Vec<u64>,
    journal: Journal,
    /// Whether senders that may go on are not told so yet.
    holds_back: bool,
    /// The input buffers of a fabric that sends by credit.
    inputs: Option<Box<InputBuffers>>,
}

impl SharedBuffer {
    /// The empty buffer of a switch. `headroom` has one size per port and class, class after class
    /// within a port; `quantum_ps` is how long 512 bits last at each port.
    pub(crate) fn new(
        specs: &[ClassSpec],
        pool_bytes: &[u64],
        headroom: &[u64],
        quantum_ps: Vec<u64>,
    ) -> SharedBuffer {
        let rules = |spec: &ClassSpec| ClassRules::new(spec, pool_bytes[usize::from(spec.pool)]);
        let pool = |&size: &u64| Pool {
            size,
            used: 0,
            high_water: if size == UNLIMITED_POOL { NEVER } else { 0 },
        };
        let group = |&headroom_size: &u64| PriorityGroup {
            used: 0,
            headroom: 0,
            headroom_size,
            paused_since: NEVER,
            refresh_at: NEVER,
            paused: 0,
            headroom_high_water: 0,
            xoff_frames: 0,
            xon_frames: 0,
        };
        let lossless = specs.iter().any(|spec| spec.lossless.is_some());
        let headroom = if lossless { headroom } else { &[] };
        let mut private_limits = [NEVER; CLASSES];
        for (limit, spec) in private_limits.iter_mut().zip(specs) {
            let unlimited = pool_bytes[usize::from(spec.pool)] == UNLIMITED_POOL;
            if let (Limit::Static(bytes), None, true) = (spec.limit, &spec.lossless, unlimited) {
                *limit = bytes + spec.reserved_bytes;
            }
        }
        let queues = private_limits[..specs.len()].iter().enumerate();
        let booked = queues.map(|(queue, &limit)| u8::from(limit == NEVER) << queue);
        SharedBuffer {
            booked: booked.sum(),
            bounds: [0; CLASSES],
            loose: 0,
            private_limits,
            shared: private_limits[..specs.len()].contains(&NEVER),
            classes: specs.iter().map(rules).collect(),
            pools: pool_bytes.iter().map(pool).collect(),
            pools_each: pool_bytes.len(),
            partitions: Vec::new(),
            headroom_pools: Vec::new(),
            groups: headroom.iter().map(group).collect(),
            wraps: BTreeMap::new(),
            paused: Vec::new(),
            full: FullQueues::default(),
            to_host: Vec::new(),
            next_refresh: NEVER,
            due: VecDeque::new(),
            quantum_ps,
            journal: Journal::default(),
            holds_back: false,
            inputs: None,
        }
    }

    /// Says which ports lead to hosts, before anything has happened.
    pub(crate) fn lead_to_hosts(&mut self, to_host: Vec<bool>) {
        self.to_host = to_host;
    }

    /// Divides the empty buffer of so many ports into partitions, and lets them share headroom.
    pub(crate) fn share(&mut self, sharing: &BufferSharing, ports: usize) {
        let parts = sharing.parts();
        if parts > 1 {
            for pool in &mut self.pools {
                pool.size = sharing.of_one_part(pool.size);
            }
            for rules in &mut self.classes {
                rules.fit(self.pools[rules.pool].size);
            }
            self.pools = self.pools.repeat(parts);
            let part_of = |port: usize| sharing.part_of_port(port, ports);
            let first = |port: usize| (part_of(port) * self.pools_each) as u16;
            self.partitions = (0..ports).map(first).collect();
        }
        if let Some(size) = sharing.headroom_pool_bytes {
            let size = sharing.of_one_part(size);
            self.headroom_pools = vec![HeadroomPool { size, used: 0 }; parts];
        }
    }

    /// The pool of headroom that a port shares.
    #[inline]
    fn headroom_pool_of(&self, port: u16) -> usize {
        let first = self.partitions.get(usize::from(port));
        first.map_or(0, |&first| usize::from(first) / self.pools_each)
    }

    /// Whether headroom that ports share has room for a frame, or there is none such.
    #[inline]
    fn has_headroom(&self, port: u16, frame: u64) -> bool {
        let pool = self.headroom_pools.get(self.headroom_pool_of(port));
        pool.is_none_or(|pool| pool.used + frame <= pool.size)
    }

    /// The pool that a frame takes space from: of its class, and in the partition of the port that
    /// its account belongs to.
    #[inline]
    fn pool_of(&self, rules: &ClassRules, place: Place) -> usize {
        if self.partitions.is_empty() {
            return rules.pool;
        }
        let port = if rules.lossless.is_some() {
            place.input
        } else {
            place.output
        };
        rules.pool + usize::from(self.partitions[usize::from(port)])
    }

    /// How many bytes a queue may hold that shares its memory with no other: nothing need be booked
    /// for it.
    #[inline]
    pub(crate) fn private_limit(&self, queue: usize) -> Option<u64> {
        let limit = self.private_limits[queue];
        (limit != NEVER).then_some(limit)
    }

    /// Whether any queue shares its memory.
    #[inline]
    pub(crate) fn is_shared(&self) -> bool {
        self.shared
    }

    /// How full the account is that decides about a frame that came through `port` for an output
    /// queue that holds `queue_bytes`.
    #[inline]
    pub(crate) fn account(&self, (port, queue): (u16, usize), queue_bytes: u64) -> u64 {
        if self.classes[queue].goes_by_queue() {
            queue_bytes
        } else {
            self.groups[self.group(port, queue)].used
        }
    }

    /// How full the accounts of these queues, one bit each, are at most.
    pub(crate) fn bounds(&self, queues: u8) -> [Option<u64>; CLASSES] {
        std::array::from_fn(|queue| (queues & (1 << queue) != 0).then_some(self.bounds[queue]))
    }

    /// The bounds have not sufficed: looks how full the fullest account of each queue is; `longest`
    /// says how much the longest output queue holds. Of switches with many ports only once in so
    /// many visits, for one queue that stays long makes the look useless each time.
    pub(crate) fn tighten_bounds(&mut self, ports: usize, longest: impl Fn(usize) -> u64) {
        self.loose += 1;
        if self.loose * PORTS_PER_LOOK < ports {
            return;
        }
        self.loose = 0;
        for (queue, rules) in self.classes.iter().enumerate() {
            self.bounds[queue] = if rules.goes_by_queue() {
                longest(queue)
            } else {
                let groups = self.groups[queue..].iter().step_by(self.classes.len());
                groups.map(|group| group.used).max().unwrap_or(0)
            };
        }
    }

    /// Whether frames of `arriving` bytes together are certain to be stored and to pause nobody, in
    /// whatever order they and departures come, when the fullest account concerned of each queue is
    /// no fuller than `fullest` says.
    pub(crate) fn all_fit(&self, arriving: u64, fullest: &[Option<u64>; CLASSES]) -> bool {
        for (queue, account) in fullest.iter().enumerate() {
            let Some(account) = *account else {
                continue;
            };
            if self.private_limits[queue] != NEVER {
                continue;
            }
            let rules = &self.classes[queue];
            // The fullest of its pools, if there are several: all may come into that one.
            let pools = self.pools[rules.pool..].iter().step_by(self.pools_each);
            let fullest = pools.max_by_key(|pool| pool.used);
            let mut pool = *fullest.expect("a class has a pool");
            pool.used += arriving;
            let certain = match rules.watch {
                Watch::Account => fits(rules, &pool, account, arriving),
                Watch::Pool(limit, _) => pool.used <= limit.min(pool.size),
                Watch::Egress => {
                    pool.used <= pool.size && within(&rules.limit, &pool, account + arriving)
                }
            };
            if !certain {
                return false;
            }
        }
        true
    }

    /// Frames of `arriving` bytes together, in these queues (one bit each), will be stored before
    /// `end`: if a pool may become fuller than ever, the journal is opened.
    pub(crate) fn foresee(&mut self, arriving: u64, queues: u8, end: u64) {
        if self.may_peak(queues & self.booked, arriving) {
            self.journal.open(end);
        }
    }

    /// Another port begins its turn.
    #[inline]
    pub(crate) fn begin_port(&mut self) {
        self.journal.begin_port();
    }

    /// The port whose turn it is has obeyed a pause frame.
    pub(crate) fn note_obeyed(&mut self, now: u64) {
        self.journal.note_obeyed(now);
    }

    pub(crate) fn journal_counts(&self) -> JournalCounts {
        self.journal.counts()
    }

    /// Closes the journal: carries out what stands in it, in the order of time where that matters.
    #[inline]
    pub(crate) fn settle(&mut self) {
        if self.journal.is_open() {
            self.carry_out();
        }
    }

    fn carry_out(&mut self) {
        let mut journal = std::mem::take(&mut self.journal);
        journal.close();
        let queues = journal.charged_queues();
        if self.may_peak(queues, journal.charged_bytes()) {
            for slot in 0..journal.arrange() {
                let in_order = self.may_peak(queues, journal.charged_bytes_in(slot));
                self.carry_out_all(journal.entries_in(slot, in_order));
            }
        } else {
            self.carry_out_all(journal.entries().iter());
        }
        self.journal = journal;
    }

    /// Whether a pool may become fuller than ever when so many bytes are stored in these queues,
    /// one bit each.
    #[inline]
    fn may_peak(&self, queues: u8, stored: u64) -> bool {
        let mut classes = self.classes.iter().enumerate();
        classes.any(|(queue, rules)| {
            let mut pools = self.pools[rules.pool..].iter().step_by(self.pools_each);
            queues & (1 << queue) != 0 && pools.any(|pool| pool.used + stored > pool.high_water)
        })
    }

    /// Carries out entries of the journal: nobody is paused, nor will be.
    #[inline]
    fn carry_out_all<'a>(&mut self, entries: impl Iterator<Item = &'a Entry>) {
        // In registers for as long as entries concern the same pool.
        let mut number = 0;
        let mut pool = self.pools[number];
        for entry in entries {
            let queue = usize::from(entry.queue);
            let rules = &self.classes[queue];
            let place = Place {
                input: entry.port,
                output: entry.output,
                queue,
            };
            let own = self.pool_of(rules, place);
            if own != number {
                self.pools[number] = pool;
                number = own;
                pool = self.pools[number];
            }
            let mut of_queue = entry.queue_bytes;
            let account = if rules.lossless.is_none() {
                &mut of_queue
            } else {
                let index = self.group(entry.port, queue);
                let group = &mut self.groups[index];
                if group.headroom > 0 && entry.change < 0 {
                    // Left of a pause that has been forgotten.
                    let frame = u64::from(entry.change.unsigned_abs());
                    self.pools[number] = pool;
                    self.release_seldom(place, (entry.queue_bytes, frame), NEVER);
                    pool = self.pools[number];
                    continue;
                }
                &mut group.used
            };
            let before = *account;
            let after = before.wrapping_add_signed(i64::from(entry.change));
            *account = after;
            let decides = if rules.watch == Watch::Egress {
                let change = i64::from(entry.change);
                entry.queue_bytes.wrapping_add_signed(change)
            } else {
                after
            };
            if decides > self.bounds[queue] {
                self.bounds[queue] = decides;
            }
            pool.used = pool.used + shared(rules, after) - shared(rules, before);
            pool.high_water = pool.high_water.max(pool.used);
            debug_assert!(
                entry.change < 0
                    || match rules.watch {
                        Watch::Account => true,
                        Watch::Pool(limit, _) => pool.used <= limit,
                        Watch::Egress => within(&rules.limit, &pool, decides),
                    },
                "a frame that was certain to pause nobody does"
            );
        }
        self.pools[number] = pool;
    }

    /// Whether some sender is paused: then a departure may have to let it go on, so all departures
    /// must be carried out in the order of time. Where senders go by credit, each may.
    #[inline]
    pub(crate) fn is_armed(&self) -> bool {
        !self.paused.is_empty() || self.inputs.is_some()
    }

    /// Whether senders must be told something.
    #[inline]
    pub(crate) fn has_due(&self) -> bool {
        !self.due.is_empty()
    }

    /// The first thing that senders must be told.
    pub(crate) fn take_due(&mut self) -> Option<Due> {
        self.due.pop_front()
    }

    /// All that senders must be told now, in order.
    pub(crate) fn take_all_due(&mut self) -> VecDeque<Due> {
        std::mem::take(&mut self.due)
    }

    /// Gives each of so many ports an input buffer for each class, to which senders have credit.
    pub(crate) fn divide(&mut self, spec: &CreditSpec, ports: usize) {
        let inputs = InputBuffers::new(spec, ports, self.classes.len());
        self.inputs = Some(Box::new(inputs));
        self.booked = u8::MAX;
    }

    /// Whether the departure of a frame from a queue must be [released](SharedBuffer::release).
    #[inline]
    pub(crate) fn is_booked(&self, queue: usize) -> bool {
        self.booked & (1 << queue) != 0
    }

    /// Whether senders go by credit.
    #[inline]
    pub(crate) fn grants_credit(&self) -> bool {
        self.inputs.is_some()
    }

    /// The input buffer of a port and a queue, where senders go by credit.
    pub(crate) fn input(&self, port: u16, queue: usize) -> Option<&LaneBuffer> {
        self.inputs.as_ref().map(|inputs| inputs.of(port, queue))
    }

    /// Takes a frame into the input buffer of its port and queue, for which it had credit.
    pub(crate) fn take_in(&mut self, input: (u16, usize), frame_bytes: u16) {
        if let Some(inputs) = &mut self.inputs {
            inputs.of_mut(input).take(frame_bytes);
        }
    }

    /// A frame leaves the input buffer of its port and queue.
    #[inline(never)]
    pub(crate) fn give_back(&mut self, input: (u16, usize), frame_bytes: u16) {
        if let Some(inputs) = &mut self.inputs {
            let limit = inputs.of_mut(input).free(frame_bytes);
            self.tell_limit(input, limit);
        }
    }

    /// So many blocks were sent to the input buffer of a port and queue and lost.
    pub(crate) fn adjust_credit(&mut self, input: (u16, usize), blocks: u32) {
        if let Some(inputs) = &mut self.inputs {
            let limit = inputs.of_mut(input).adjust(blocks);
            self.tell_limit(input, limit);
        }
    }

    fn tell_limit(&mut self, (port, queue): (u16, usize), limit: Option<u32>) {
        self.due.extend(limit.map(|limit| Due {
            port,
            queue: queue as u8,
            word: Word::Credit(limit),
        }));
    }

    /// The link of a port comes up: its sender must be told what it may send.
    pub(crate) fn renew_credit(&mut self, port: u16) {
        let Some(inputs) = &mut self.inputs else {
            return;
        };
        for queue in 0..self.classes.len() {
            let limit = inputs.of_mut((port, queue)).renew();
            self.due.push_back(Due {
                port,
                queue: queue as u8,
                word: Word::Credit(limit),
            });
        }
    }

    #[inline]
    fn group(&self, port: u16, queue: usize) -> usize {
        usize::from(port) * self.classes.len() + queue
    }

    /// Pause frames that have told the sender at a port to pause any class.
    pub(crate) fn xoffs(&self, port: u16) -> u64 {
        let groups = (0..).zip(&self.groups).skip(self.group(port, 0));
        let own = groups.take(self.classes.len());
        own.map(|(index, group)| self.pause_frames(index, group)[0])
            .sum()
    }

    /// Pause frames that have told a group's sender to pause, and to go on.
    fn pause_frames(&self, index: u32, group: &PriorityGroup) -> [u64; 2] {
        let wraps = self.wraps.get(&index).copied().unwrap_or_default();
        let whole = |wraps: u64, rest: u32| wraps << 32 | u64::from(rest);
        [
            whole(wraps[0], group.xoff_frames),
            whole(wraps[1], group.xon_frames),
        ]
    }

    /// Whether a class is lossless.
    pub(crate) fn is_lossless(&self, queue: usize) -> bool {
        self.classes[queue].lossless.is_some()
    }

    /// What would become of a frame that is to wait in an output queue that holds `queue_bytes`.
    #[inline]
    pub(crate) fn admission(&self, place: Place, queue_bytes: u64, frame: u64) -> Admission {
        let rules = &self.classes[place.queue];
        let pool = &self.pools[self.pool_of(rules, place)];
        if rules.lossless.is_none() {
            return if fits(rules, pool, queue_bytes, frame) {
                Admission::Stored
            } else {
                Admission::Refused
            };
        }
        let group = &self.groups[self.group(place.input, place.queue)];
        let stored = match rules.watch {
            Watch::Account => fits(rules, pool, group.used, frame),
            // Beyond what pauses senders, too, the pool is used before headroom.
            Watch::Pool(..) | Watch::Egress => {
                pool.used + shared_more(rules, group.used, frame) <= pool.size
            }
        };
        if stored {
            Admission::Stored
        } else if group.headroom + frame <= group.headroom_size
            && self.has_headroom(place.input, frame)
        {
            Admission::Headroom
        } else {
            Admission::Refused
        }
    }

    /// Whether storing a frame makes the pool fuller than ever, or makes it or its queue pause
    /// senders: that must be judged by the exact state.
    #[inline]
    pub(crate) fn needs_exact(&self, place: Place, queue_bytes: u64, frame: u64) -> bool {
        let rules = &self.classes[place.queue];
        let pool = &self.pools[self.pool_of(rules, place)];
        let account = if rules.lossless.is_some() {
            self.groups[self.group(place.input, place.queue)].used
        } else {
            queue_bytes
        };
        let used = pool.used + shared_more(rules, account, frame);
        used > pool.high_water
            || match rules.watch {
                Watch::Account => false,
                Watch::Pool(limit, _) => used > limit,
                Watch::Egress => !within(&rules.limit, pool, queue_bytes + frame),
            }
    }

    /// Stores a frame as [`SharedBuffer::admission`] has said, with `queue_bytes` in its queue
    /// before it.
    #[expect(
        clippy::inline_always,
        reason = "once a packet; a call costs a third of it"
    )]
    #[inline(always)]
    pub(crate) fn charge(
        &mut self,
        admission: Admission,
        place: Place,
        (queue_bytes, frame): (u64, u64),
        now: u64,
    ) {
        if self.journal.is_open() {
            self.journal.charge(now, place, (queue_bytes, frame));
            return;
        }
        if admission == Admission::Headroom {
            self.charge_headroom(place, (queue_bytes, frame), now);
            return;
        }
        let queue = place.queue;
        let index = self.group(place.input, queue);
        let rules = &self.classes[queue];
        let number = self.pool_of(rules, place);
        let pool = &mut self.pools[number];
        let bound = &mut self.bounds[queue];
        if rules.lossless.is_none() {
            *bound = (*bound).max(queue_bytes + frame);
            pool.take(shared_more(rules, queue_bytes, frame));
            return;
        }
        let group = &mut self.groups[index];
        let before = *pool;
        pool.take(shared_more(rules, group.used, frame));
        group.used += frame;
        match rules.watch {
            Watch::Account => *bound = (*bound).max(group.used),
            Watch::Pool(limit, _) => {
                *bound = (*bound).max(group.used);
                if pool.used > limit {
                    self.pause_all((queue, number), now);
                }
            }
            Watch::Egress => {
                *bound = (*bound).max(queue_bytes + frame);
                self.judge_queue(place, queue_bytes + frame, &before, now);
            }
        }
    }

    /// Stores a frame in headroom, and pauses its sender.
    #[inline(never)]
    fn charge_headroom(&mut self, place: Place, (queue_bytes, frame): (u64, u64), now: u64) {
        let index = self.group(place.input, place.queue);
        let group = &mut self.groups[index];
        group.headroom += frame;
        group.headroom_high_water = group.headroom_high_water.max(group.headroom);
        let own = self.headroom_pool_of(place.input);
        if let Some(pool) = self.headroom_pools.get_mut(own) {
            pool.used += frame;
        }
        let rules = &self.classes[place.queue];
        let number = self.pool_of(rules, place);
        match rules.watch {
            Watch::Account => {}
            Watch::Pool(..) => self.pause_all((place.queue, number), now),
            Watch::Egress => {
                let bound = &mut self.bounds[place.queue];
                *bound = (*bound).max(queue_bytes + frame);
                let pool = self.pools[number];
                self.judge_queue(place, queue_bytes + frame, &pool, now);
            }
        }
        self.pause(index as u32, now);
    }

    /// Releases a frame that leaves at `now` an output queue that held `queue_bytes` with it.
    #[expect(
        clippy::inline_always,
        reason = "once a packet; a call costs a third of it"
    )]
    #[inline(always)]
    pub(crate) fn release(&mut self, place: Place, (queue_bytes, frame): (u64, u64), now: u64) {
        let queue = place.queue;
        if self.private_limits[queue] != NEVER {
            if self.inputs.is_some() {
                self.give_back((place.input, queue), frame as u16);
            }
            return;
        }
        if self.journal.is_open() {
            self.journal.release(now, place, (queue_bytes, frame));
            return;
        }
        let index = self.group(place.input, queue);
        let rules = &self.classes[queue];
        let number = self.pool_of(rules, place);
        let pool = &mut self.pools[number];
        if rules.lossless.is_none() {
            pool.used -= shared_more(rules, queue_bytes - frame, frame);
        } else {
            let group = &mut self.groups[index];
            let from_headroom = group.headroom.min(frame);
            group.headroom -= from_headroom;
            let rest = frame - from_headroom;
            group.used -= rest;
            pool.used -= shared_more(rules, group.used, rest);
            if from_headroom > 0 {
                self.give_headroom_back(place.input, from_headroom);
            }
        }
        if !self.paused.is_empty() {
            self.follow_release(place, queue_bytes - frame, now);
        }
    }

    #[inline(never)]
    fn give_headroom_back(&mut self, port: u16, bytes: u64) {
        let own = self.headroom_pool_of(port);
        if let Some(pool) = self.headroom_pools.get_mut(own) {
            pool.used -= bytes;
        }
    }

    /// As [`SharedBuffer::release`], for where that is seldom.
    #[inline(never)]
    pub(crate) fn release_seldom(&mut self, place: Place, bytes: (u64, u64), now: u64) {
        self.release(place, bytes, now);
    }

    /// What a port's group has been through up to `now`.
    pub(crate) fn ingress(&self, port: u16, queue: usize, now: u64) -> PriorityGroupRecord {
        let index = self.group(port, queue);
        let Some(group) = self.groups.get(index) else {
            return PriorityGroupRecord::default();
        };
        let [xoff_frames, xon_frames] = self.pause_frames(index as u32, group);
        let is_paused = group.paused_since != NEVER;
        let since = if is_paused {
            now.saturating_sub(group.paused_since)
        } else {
            0
        };
        PriorityGroupRecord {
            bytes: group.used + group.headroom,
            bytes_in_headroom: group.headroom,
            paused: group.paused + since,
            is_paused,
            headroom_bytes: group.headroom_size,
            headroom_high_water_bytes: group.headroom_high_water,
            xoff_frames,
            xon_frames,
        }
    }

    /// What each pool has been through.
    pub(crate) fn pools(&self) -> impl Iterator<Item = PoolRecord> {
        self.pools.iter().map(|pool| {
            let limited = pool.size != UNLIMITED_POOL;
            PoolRecord {
                size_bytes: limited.then_some(pool.size),
                used_bytes: pool.used,
                high_water_bytes: limited.then_some(pool.high_water),
            }
        })
    }
}

#[cfg(test)]
mod tests;
