//! Certificates: proofs that all arrivals of a visit find room, in whatever order they and
//! departures come.

use super::limits::{Watch, fits, within};
use super::occupancy::Occupancy;
use crate::net::class::CLASSES;

/// Most ports scanned, on average, for each visit for which the bounds do not suffice.
const PORTS_PER_LOOK: usize = 32;

/// Upper bounds on the fills of output queues and priority groups.
#[derive(Clone, Debug)]
pub(super) struct Certificate {
    /// Bound on each queue's fullest output queue or priority group, in bytes. Departures do not
    /// lower it, so that they need not look for the new maximum.
    bounds: [u64; CLASSES],
    /// Visits for which the bounds did not suffice since they were last tightened.
    loose: usize,
}

impl Certificate {
    /// Makes the bounds for an empty buffer, all zero.
    pub(super) fn new() -> Certificate {
        Certificate {
            bounds: [0; CLASSES],
            loose: 0,
        }
    }

    /// Raises a queue's bound: an output queue or a priority group now holds `bytes`.
    #[inline]
    pub(super) fn raise(&mut self, queue: usize, bytes: u64) {
        let bound = &mut self.bounds[queue];
        *bound = (*bound).max(bytes);
    }

    /// Returns the bounds of the queues in `queues` (one bit each); `None` for the others.
    pub(super) fn bounds(&self, queues: u8) -> [Option<u64>; CLASSES] {
        std::array::from_fn(|queue| (queues & (1 << queue) != 0).then_some(self.bounds[queue]))
    }

    /// Sets the bounds to present fills, after they did not suffice for a visit. `longest` returns
    /// the bytes in a queue's longest output queue.
    ///
    /// A switch with many ports does so at some of its failures only: while one queue stays long,
    /// the scan gains nothing.
    pub(super) fn tighten(
        &mut self,
        memory: &Occupancy,
        ports: usize,
        longest: impl Fn(usize) -> u64,
    ) {
        self.loose += 1;
        // A scan takes a step for each port, a cost that several failures have to share.
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

/// Returns true if `arriving` bytes are certain to be stored and to pause no sender as far as
/// `queue` is concerned, whose fullest output queue or priority group holds `bytes`. The queue must
/// share its memory.
#[inline]
pub(super) fn all_fit(memory: &Occupancy, queue: usize, bytes: u64, arriving: u64) -> bool {
    let rules = &memory.classes[queue];
    // In the worst case all arrivals go into the fullest partition. `fits` adds the queue's part
    // once more, which only makes it stricter.
    let fullest = memory.pools_of(rules).max_by_key(|pool| pool.used);
    let mut pool = *fullest.expect("a class has a pool");
    pool.used += arriving;
    match rules.watch {
        Watch::Group => fits(rules, &pool, bytes, arriving),
        Watch::Pool(limit, _) => pool.used <= limit.min(pool.size),
        Watch::Queue => pool.used <= pool.size && within(&rules.limit, &pool, bytes + arriving),
    }
}
