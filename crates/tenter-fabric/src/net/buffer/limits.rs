//! Limits on the shared bytes of a queue or priority group, and the triggers of pauses.

use crate::net::class::{ClassSpec, Limit, LosslessSpec, PfcTrigger, PoolScope};

/// Trigger that pauses a class's senders, in addition to the use of headroom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Watch {
    /// None (`ingress`): a priority group beyond its limit is in headroom, which pauses its sender.
    Group,
    /// A pool that holds more bytes than this (`pool`).
    Pool(u64, PoolScope),
    /// An output queue beyond its limit (`egress`), which pauses the senders whose frames go beyond
    /// it.
    Queue,
}

/// Rules by which the buffer treats one class's frames.
#[derive(Clone, Debug)]
pub(super) struct ClassRules {
    /// Index of the class's pool within a partition.
    pub(super) pool: usize,
    /// Bytes that each queue or priority group has to itself outside the pool.
    pub(super) reserved: u64,
    pub(super) limit: Limit,
    /// Trigger that pauses senders, beside the use of headroom.
    pub(super) watch: Watch,
    pub(super) lossless: Option<LosslessSpec>,
}

impl ClassRules {
    /// Makes the rules for a class whose pool has `pool_bytes` bytes.
    pub(super) fn new(spec: &ClassSpec, pool_bytes: u64) -> ClassRules {
        let trigger = spec.lossless.as_ref().map(|lossless| lossless.trigger);
        let watch = match trigger {
            None | Some(PfcTrigger::Ingress) => Watch::Group,
            Some(PfcTrigger::Egress) => Watch::Queue,
            Some(PfcTrigger::Pool(scope)) => Watch::Pool(spec.limit.of_all(pool_bytes), scope),
        };
        ClassRules {
            pool: usize::from(spec.pool),
            reserved: spec.reserved_bytes,
            limit: spec.limit,
            watch,
            lossless: spec.lossless.clone(),
        }
    }

    /// Adapts a pool trigger to a pool that now has `pool_bytes` bytes.
    pub(super) fn fit(&mut self, pool_bytes: u64) {
        if let Watch::Pool(limit, _) = &mut self.watch {
            *limit = self.limit.of_all(pool_bytes);
        }
    }

    /// Returns the bytes below the limit at which a paused sender may resume; 0 for a lossy class.
    #[inline]
    pub(super) fn xon_offset(&self) -> u64 {
        let lossless = self.lossless.as_ref();
        lossless.map_or(0, |lossless| lossless.xon_offset_bytes)
    }

    /// Returns true if the limit applies to output queues, false if to priority groups.
    #[inline]
    pub(super) fn goes_by_queue(&self) -> bool {
        self.lossless.is_none() || self.watch == Watch::Queue
    }
}

/// A pool of shared space, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pool {
    pub(super) size: u64,
    pub(super) used: u64,
    /// Highest fill so far; `u64::MAX`, and not kept, for an unlimited pool.
    pub(super) high_water: u64,
}

impl Pool {
    #[inline]
    pub(super) fn take(&mut self, bytes: u64) {
        self.used += bytes;
        self.high_water = self.high_water.max(self.used);
    }
}

/// Returns the shared part of the `bytes` in a queue or priority group: reserved space fills first.
#[inline]
pub(super) fn shared(rules: &ClassRules, bytes: u64) -> u64 {
    bytes.saturating_sub(rules.reserved)
}

/// Returns the shared bytes that `frame` bytes add to a queue or priority group with `before`
/// bytes.
#[inline]
pub(super) fn shared_more(rules: &ClassRules, before: u64, frame: u64) -> u64 {
    shared(rules, before + frame) - shared(rules, before)
}

/// Returns true if a queue or priority group with `before` bytes may store `frame` bytes more.
#[inline]
pub(super) fn fits(rules: &ClassRules, pool: &Pool, before: u64, frame: u64) -> bool {
    let more = shared_more(rules, before, frame);
    let shared = shared(rules, before + frame);
    // A frame within the reserved bytes needs nothing from the pool.
    more == 0 || (pool.used + more <= pool.size && within(&rules.limit, pool, shared))
}

/// Returns true if `shared` bytes in one queue or priority group are within the limit.
#[inline]
pub(super) fn within(limit: &Limit, pool: &Pool, shared: u64) -> bool {
    match limit {
        Limit::Static(bytes) | Limit::AtRate { bytes, .. } => shared <= *bytes,
        Limit::Dynamic {
            numerator,
            denominator,
        } => {
            // A certificate adds all arrivals to `used`, which may then exceed the size.
            let free = pool.size - pool.used.min(pool.size);
            // In 128 bits, as bytes times a numerator may exceed 64.
            let most = u128::from(free) * u128::from(*numerator);
            u128::from(shared) * u128::from(*denominator) <= most
        }
        Limit::Levels(levels) => shared <= levels.limit(pool.used),
    }
}
