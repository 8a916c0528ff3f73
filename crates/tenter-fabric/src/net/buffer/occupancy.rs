//! Admission: in which space a frame is stored, and how full each space is.

use super::frame::{Place, QueuedFrame};
use super::limits::{ClassRules, Pool, Watch, fits, shared_more, within};
use crate::net::class::ClassSpec;
use crate::net::memory::{BufferSharing, UNLIMITED_POOL};

const NEVER: u64 = u64::MAX;

/// Space in which the buffer stores a frame, or its refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// Memory that its queue has to itself: the frame is not charged.
    Private,
    /// Reserved or shared space, for its queue or priority group.
    Stored,
    /// Headroom for its priority group; the sender must pause.
    Headroom,
    /// No space: the frame is dropped or trimmed.
    Refused,
}

/// Fill of a pool of shared space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolRecord {
    /// The pool's size in bytes; `None` if it is unlimited.
    pub size_bytes: Option<u64>,
    /// Bytes in use at the moment.
    pub used_bytes: u64,
    /// Most bytes ever in use at once; `None` if the pool is unlimited.
    pub high_water_bytes: Option<u64>,
}

/// Headroom that the ports of a partition share, in bytes.
#[derive(Clone, Copy, Debug)]
struct HeadroomPool {
    size: u64,
    used: u64,
}

/// Frames that arrived through one port in one lossless class and are still stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct PriorityGroup {
    /// Bytes in reserved and shared space.
    pub(super) used: u64,
    /// Bytes in headroom, which fills last and empties first.
    pub(super) headroom: u64,
    /// Most bytes that may be in headroom.
    pub(super) headroom_size: u64,
    pub(super) headroom_high_water: u64,
}

impl PriorityGroup {
    fn new(headroom_size: u64) -> PriorityGroup {
        PriorityGroup {
            used: 0,
            headroom: 0,
            headroom_size,
            headroom_high_water: 0,
        }
    }
}

/// A switch's pools and priority groups, and the rules by which they take frames.
#[derive(Clone, Debug)]
pub(super) struct Occupancy {
    pub(super) classes: Vec<ClassRules>,
    /// Pools in the first partition, then those in the next.
    pub(super) pools: Vec<Pool>,
    /// Number of pools in a partition.
    pub(super) pools_each: usize,
    /// First pool in each port's partition; empty if there is one partition.
    partitions: Vec<u16>,
    /// Shared headroom in each partition; empty if each port has headroom to itself.
    headroom_pools: Vec<HeadroomPool>,
    /// By port, then queue; empty if no class is lossless.
    pub(super) groups: Vec<PriorityGroup>,
}

impl Occupancy {
    /// Makes an empty buffer. `headroom` has the bytes for each (port, class).
    pub(super) fn new(specs: &[ClassSpec], pool_bytes: &[u64], headroom: &[u64]) -> Occupancy {
        let rules = |spec: &ClassSpec| ClassRules::new(spec, pool_bytes[usize::from(spec.pool)]);
        let pool = |&size: &u64| Pool {
            size,
            used: 0,
            high_water: if size == UNLIMITED_POOL { NEVER } else { 0 },
        };
        Occupancy {
            classes: specs.iter().map(rules).collect(),
            pools: pool_bytes.iter().map(pool).collect(),
            pools_each: pool_bytes.len(),
            partitions: Vec::new(),
            headroom_pools: Vec::new(),
            groups: headroom.iter().copied().map(PriorityGroup::new).collect(),
        }
    }

    /// Divides an empty buffer for `ports` ports into partitions and pools their headroom.
    pub(super) fn share(&mut self, sharing: &BufferSharing, ports: usize) {
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

    /// Returns the index of a port's priority group in a class.
    #[inline]
    pub(super) fn group(&self, port: u16, queue: usize) -> usize {
        usize::from(port) * self.classes.len() + queue
    }

    #[inline]
    fn group_of(&self, place: Place) -> &PriorityGroup {
        &self.groups[self.group(place.input, place.queue)]
    }

    /// Returns the port and the queue that a priority group belongs to.
    pub(super) fn place(&self, group: u32) -> (u16, u8) {
        let classes = self.classes.len() as u32;
        ((group / classes) as u16, (group % classes) as u8)
    }

    /// Returns the index of the pool that a frame takes space from: its class's pool, in the
    /// partition of the port to which the frame is charged. A lossless class charges the input
    /// port, any other the output port.
    #[inline]
    pub(super) fn pool_of(&self, rules: &ClassRules, place: Place) -> usize {
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

    /// Returns a class's pools, one for each partition.
    pub(super) fn pools_of(&self, rules: &ClassRules) -> impl Iterator<Item = &Pool> {
        self.pools[rules.pool..].iter().step_by(self.pools_each)
    }

    /// Returns the index of the headroom pool that `port` shares.
    #[inline]
    fn headroom_pool_of(&self, port: u16) -> usize {
        let first = self.partitions.get(usize::from(port));
        first.map_or(0, |&first| usize::from(first) / self.pools_each)
    }

    /// Returns true if shared headroom has room for `bytes`, or ports do not share headroom.
    #[inline]
    fn has_headroom(&self, port: u16, bytes: u64) -> bool {
        let pool = self.headroom_pools.get(self.headroom_pool_of(port));
        pool.is_none_or(|pool| pool.used + bytes <= pool.size)
    }

    /// Decides in which space a frame that has to wait would be stored.
    #[inline]
    pub(super) fn admission(&self, frame: &QueuedFrame) -> Admission {
        let place = frame.place();
        let rules = &self.classes[place.queue];
        let pool = &self.pools[self.pool_of(rules, place)];
        if rules.lossless.is_none() {
            return if fits(rules, pool, frame.others, frame.bytes) {
                Admission::Stored
            } else {
                Admission::Refused
            };
        }
        let group = self.group_of(place);
        let stored = match rules.watch {
            Watch::Group => fits(rules, pool, group.used, frame.bytes),
            // These triggers pause senders before the pool is full, and the limit does not apply to
            // the group: the pool is used up before headroom is.
            Watch::Pool(..) | Watch::Queue => {
                pool.used + shared_more(rules, group.used, frame.bytes) <= pool.size
            }
        };
        if stored {
            Admission::Stored
        } else if group.headroom + frame.bytes <= group.headroom_size
            && self.has_headroom(place.input, frame.bytes)
        {
            Admission::Headroom
        } else {
            Admission::Refused
        }
    }

    /// Returns true if storing a frame would set the pool's high-water mark, or make the pool or
    /// the output queue pause senders: only the exact fill can decide that.
    #[inline]
    pub(super) fn needs_exact(&self, frame: &QueuedFrame) -> bool {
        let rules = &self.classes[frame.queue];
        let pool = &self.pools[self.pool_of(rules, frame.place())];
        let before = if rules.lossless.is_some() {
            self.group_of(frame.place()).used
        } else {
            frame.others
        };
        let used = pool.used + shared_more(rules, before, frame.bytes);
        used > pool.high_water
            || match rules.watch {
                Watch::Group => false,
                Watch::Pool(limit, _) => used > limit,
                Watch::Queue => !within(&rules.limit, pool, frame.queue_bytes()),
            }
    }

    /// Returns true if an output queue with `queue_bytes` is longer than its limit.
    #[inline]
    pub(super) fn is_over(&self, place: Place, queue_bytes: u64) -> bool {
        let rules = &self.classes[place.queue];
        let pool = &self.pools[self.pool_of(rules, place)];
        !within(&rules.limit, pool, queue_bytes)
    }

    /// Stores a frame in its priority group's headroom.
    pub(super) fn store_in_headroom(&mut self, place: Place, bytes: u64) {
        let index = self.group(place.input, place.queue);
        let group = &mut self.groups[index];
        group.headroom += bytes;
        group.headroom_high_water = group.headroom_high_water.max(group.headroom);
        let own = self.headroom_pool_of(place.input);
        if let Some(pool) = self.headroom_pools.get_mut(own) {
            pool.used += bytes;
        }
    }

    /// Removes a frame from the fills, from headroom first. Returns the bytes that were in
    /// headroom, for the caller to free shared headroom as well.
    #[expect(
        clippy::inline_always,
        reason = "once a packet; a call costs a third of it"
    )]
    #[inline(always)]
    pub(super) fn remove(&mut self, frame: QueuedFrame) -> u64 {
        let place = frame.place();
        let index = self.group(place.input, place.queue);
        let rules = &self.classes[place.queue];
        let number = self.pool_of(rules, place);
        let pool = &mut self.pools[number];
        if rules.lossless.is_none() {
            pool.used -= shared_more(rules, frame.others, frame.bytes);
            0
        } else {
            let group = &mut self.groups[index];
            let from_headroom = group.headroom.min(frame.bytes);
            group.headroom -= from_headroom;
            let rest = frame.bytes - from_headroom;
            group.used -= rest;
            pool.used -= shared_more(rules, group.used, rest);
            from_headroom
        }
    }

    /// As [`Occupancy::remove`], shared headroom included, for callers off the hot path.
    #[inline(never)]
    pub(super) fn remove_seldom(&mut self, frame: QueuedFrame) {
        let from_headroom = self.remove(frame);
        self.free_shared_headroom(frame.input, from_headroom);
    }

    /// Returns true if a pool may pass its high-water mark when `stored` bytes join `queues` (one
    /// bit each).
    #[inline]
    pub(super) fn may_peak(&self, queues: u8, stored: u64) -> bool {
        let mut classes = self.classes.iter().enumerate();
        classes.any(|(queue, rules)| {
            let mut pools = self.pools_of(rules);
            queues & (1 << queue) != 0 && pools.any(|pool| pool.used + stored > pool.high_water)
        })
    }

    /// Frees bytes of the headroom that `port` shares; does nothing if ports do not share any.
    pub(super) fn free_shared_headroom(&mut self, port: u16, bytes: u64) {
        let own = self.headroom_pool_of(port);
        if let Some(pool) = self.headroom_pools.get_mut(own) {
            pool.used -= bytes;
        }
    }

    /// Returns all fills that admission depends on: pools, shared headroom and groups.
    pub(super) fn fills(&self) -> impl Iterator<Item = u64> {
        let Occupancy {
            classes: _,
            pools,
            pools_each: _,
            partitions: _,
            headroom_pools,
            groups,
        } = self;
        let of_pool = |pool: &Pool| {
            let Pool {
                size: _,
                used,
                high_water: _,
            } = pool;
            *used
        };
        let of_group = |group: &PriorityGroup| {
            let PriorityGroup {
                used,
                headroom,
                headroom_size: _,
                headroom_high_water: _,
            } = group;
            [*used, *headroom]
        };
        let shared = headroom_pools.iter().map(|pool| pool.used);
        let pools = pools.iter().map(of_pool);
        pools.chain(shared).chain(groups.iter().flat_map(of_group))
    }

    /// Returns the fill and the high-water mark of each pool.
    pub(super) fn records(&self) -> impl Iterator<Item = PoolRecord> {
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
