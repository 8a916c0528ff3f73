//! How much of a pool a queue or priority group may hold, and what is compared with it.

use crate::class::{ClassSpec, Limit, LosslessSpec, PfcTrigger, PoolScope};

/// What pauses the senders of a class beside the use of headroom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Watch {
    /// Nothing: a priority group beyond its limit is in headroom.
    Group,
    /// The pool, when it holds more than this.
    Pool(u64, PoolScope),
    /// Each output queue beyond the limit pauses those that send into it.
    Queue,
}

#[derive(Clone, Debug)]
pub(super) struct ClassRules {
    pub(super) pool: usize,
    pub(super) reserved: u64,
    pub(super) limit: Limit,
    pub(super) watch: Watch,
    pub(super) lossless: Option<LosslessSpec>,
}

impl ClassRules {
    /// The rules of a class whose pool has this size.
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

    /// Its pool has another size.
    pub(super) fn fit(&mut self, pool_bytes: u64) {
        if let Watch::Pool(limit, _) = &mut self.watch {
            *limit = self.limit.of_all(pool_bytes);
        }
    }

    /// How far below its limit a paused sender may resume.
    #[inline]
    pub(super) fn xon_offset(&self) -> u64 {
        let lossless = self.lossless.as_ref();
        lossless.map_or(0, |lossless| lossless.xon_offset_bytes)
    }

    /// Whether the fill of an output queue decides, rather than that of a priority group.
    #[inline]
    pub(super) fn goes_by_queue(&self) -> bool {
        self.lossless.is_none() || self.watch == Watch::Queue
    }
}

/// A pool of shared space.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pool {
    pub(super) size: u64,
    pub(super) used: u64,
    /// `u64::MAX`, and not kept, where the pool is unlimited.
    pub(super) high_water: u64,
}

impl Pool {
    #[inline]
    pub(super) fn take(&mut self, bytes: u64) {
        self.used += bytes;
        self.high_water = self.high_water.max(self.used);
    }
}

/// The shared bytes among all bytes of a queue or priority group.
#[inline]
pub(super) fn shared(rules: &ClassRules, bytes: u64) -> u64 {
    bytes.saturating_sub(rules.reserved)
}

/// The shared bytes that are added when `frame` bytes come on top of `before`.
#[inline]
pub(super) fn shared_more(rules: &ClassRules, before: u64, frame: u64) -> u64 {
    shared(rules, before + frame) - shared(rules, before)
}

/// Whether a queue or priority group that holds `before` may take one more frame.
#[inline]
pub(super) fn fits(rules: &ClassRules, pool: &Pool, before: u64, frame: u64) -> bool {
    let more = shared_more(rules, before, frame);
    let shared = shared(rules, before + frame);
    more == 0 || (pool.used + more <= pool.size && within(&rules.limit, pool, shared))
}

#[inline]
pub(super) fn within(limit: &Limit, pool: &Pool, shared: u64) -> bool {
    match limit {
        Limit::Static(bytes) | Limit::AtRate { bytes, .. } => shared <= *bytes,
        Limit::Dynamic {
            numerator,
            denominator,
        } => {
            let free = pool.size - pool.used.min(pool.size);
            let most = u128::from(free) * u128::from(*numerator);
            u128::from(shared) * u128::from(*denominator) <= most
        }
        Limit::Levels(levels) => shared <= levels.limit(pool.used),
    }
}
