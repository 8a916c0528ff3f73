//! Certificates: whether everything that arrives in a visit is certain to find room, in whatever
//! order it and departures come.

use super::limits::{Watch, fits, within};
use super::occupancy::Occupancy;
use crate::class::CLASSES;

/// A switch looks at no more ports than this, on average, for each visit for which bounds do not
/// suffice.
const PORTS_PER_LOOK: usize = 32;

/// Bounds of how full queues and priority groups are.
#[derive(Clone, Debug)]
pub(super) struct Certificate {
    /// For each queue how full its fullest queue or priority group is at most: departures do not
    /// lower it.
    bounds: [u64; CLASSES],
    /// Visits for which they did not suffice since they were last tightened.
    loose: usize,
}

impl Certificate {
    /// That of an empty buffer.
    pub(super) fn new() -> Certificate {
        Certificate {
            bounds: [0; CLASSES],
            loose: 0,
        }
    }

    /// A queue, or a priority group of it, holds this many bytes now.
    #[inline]
    pub(super) fn raise(&mut self, queue: usize, bytes: u64) {
        let bound = &mut self.bounds[queue];
        *bound = (*bound).max(bytes);
    }

    /// The bounds of these queues, one bit each.
    pub(super) fn bounds(&self, queues: u8) -> [Option<u64>; CLASSES] {
        std::array::from_fn(|queue| (queues & (1 << queue) != 0).then_some(self.bounds[queue]))
    }

    /// The bounds have not sufficed: looks how full the fullest queue or priority group of each
    /// queue is; `longest` says how much the longest output queue holds. A switch with many ports
    /// looks once in several visits only, for one queue that stays long makes the look useless.
    pub(super) fn tighten(
        &mut self,
        memory: &Occupancy,
        ports: usize,
        longest: impl Fn(usize) -> u64,
    ) {
        self.loose += 1;
        if self.loose * PORTS_PER_LOOK < ports {
            return;
        }
        self.loose = 0;
        for (queue, rules) in memory.classes.iter().enumerate() {
            self.bounds[queue] = if rules.goes_by_queue() {
                longest(queue)
            } else {
                let groups = memory.groups[queue..].iter().step_by(memory.classes.len());
                groups.map(|group| group.used).max().unwrap_or(0)
            };
        }
    }
}

/// Whether frames of `arriving` bytes together are certain to be stored and to pause no sender, as
/// far as a queue that shares its memory is concerned, when it or its fullest priority group holds
/// `bytes`.
#[inline]
pub(super) fn all_fit(memory: &Occupancy, queue: usize, bytes: u64, arriving: u64) -> bool {
    let rules = &memory.classes[queue];
    // All may come into the fullest of its pools.
    let fullest = memory.pools_of(rules).max_by_key(|pool| pool.used);
    let mut pool = *fullest.expect("a class has a pool");
    pool.used += arriving;
    match rules.watch {
        Watch::Group => fits(rules, &pool, bytes, arriving),
        Watch::Pool(limit, _) => pool.used <= limit.min(pool.size),
        Watch::Queue => pool.used <= pool.size && within(&rules.limit, &pool, bytes + arriving),
    }
}
