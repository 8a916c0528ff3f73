//! Levels that links give, and the order in which a pass finds them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use tenter_language::units::ById;

use crate::fluid::amounts::{FlowRate, Load};
use crate::fluid::links::LinkId;

/// A link's state in a repair. A flow is *open* while the repair looks for its rate. A link *holds*
/// a flow if it is the flow's bottleneck.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share {
    /// Capacity that flows which are not open leave unused; negative if they exceed it.
    pub(crate) spare: i128,
    /// Sum of the open flows' weights.
    pub(crate) open: u64,
    /// Sum of the weights that flows have which this link holds and which are not open. All have
    /// the link's `level` as their rate.
    pub(crate) held: u64,
    pub(crate) level: FlowRate,
    /// Level in the link's valid queue entry.
    queued: FlowRate,
    /// Upper bound for the rates that flows on the link have if they are neither open nor held by
    /// it. It may be too high.
    pub(crate) most: FlowRate,
    /// Load by which the link may miss its capacity either way, in units of [`SLIP`].
    pub(crate) slip: u32,
    /// Visits in the present pass.
    pub(crate) visits: u16,
    is_touched: bool,
}

/// 128 bits per second, in load units.
const SLIP: i128 = 1 << 40;

/// Mark of a link without an entry in the queue.
const NOT: FlowRate = FlowRate::UNLIMITED;

// A repair touches the share of every link of every flow: each is one cache line.
const _: () = assert!(size_of::<Share>() == 64);

/// Returns the load that flows with a total `weight` make at `rate`.
pub(crate) fn weighed(rate: FlowRate, weight: u64) -> i128 {
    (u128::from(rate.units()) * u128::from(weight)).cast_signed()
}

impl Share {
    /// Returns the level that the link would give if all flows that it holds were open too.
    pub(crate) fn joint(&self) -> FlowRate {
        let weight = u128::from(self.open) + u128::from(self.held);
        let rest = self.spare + weighed(self.level, self.held);
        let rest = u128::try_from(rest).unwrap_or(0);
        let level = rest.checked_div(weight).unwrap_or(0);
        FlowRate::of_units(u64::try_from(level).unwrap_or(u64::MAX - 1))
    }

    /// Returns a value not above [`Share::joint`], and barely below it, without a 128-bit division.
    /// It serves as the first key in the queue, where any lower bound is correct.
    fn about_joint(&self) -> FlowRate {
        /// Low bits that are cut off loads, so that the rest fits a float.
        const LOW: u32 = 33;
        let rest = (self.spare + weighed(self.level, self.held)) >> LOW;
        let weight = (self.open + self.held) as f64 / (1_u64 << LOW) as f64;
        // The factor outweighs the rounding of floats, so that the result is never too high.
        let level = rest as i64 as f64 / weight * (1.0 - 1e-12);
        FlowRate::of_units((level as u64).min(u64::MAX - 1))
    }

    /// Returns the capacity left if the open flows had the link's level.
    fn rest_at_level(&self) -> i128 {
        self.spare - weighed(self.level, self.open)
    }

    /// Returns the lowest capacity that may be left: below 0 by the tolerance.
    fn least(&self) -> i128 {
        -i128::from(self.slip) * SLIP
    }

    /// Returns true if the link could raise the flows that it holds. A remainder below one rate
    /// unit per flow cannot be shared out.
    pub(crate) fn has_more(&self) -> bool {
        let weight = i128::from(self.open + self.held);
        let slack = i128::from(self.slip) * SLIP;
        self.held > 0 && self.rest_at_level() >= weight.max(slack)
    }

    /// Returns true if the flows that the link holds have to lower their rates.
    pub(crate) fn has_less(&self) -> bool {
        self.held > 0 && self.rest_at_level() < self.least()
    }

    /// Returns the load by which the link may miss its capacity.
    pub(crate) fn tolerance(&self) -> u128 {
        (i128::from(self.slip) * SLIP).cast_unsigned()
    }

    /// Returns true if hardly any capacity is left.
    pub(crate) fn may_be_full(&self) -> bool {
        self.spare < SLIP
    }

    /// Returns true if the link has no [`key`](Share::key): nothing changes at it at any level.
    #[expect(
        clippy::needless_bitwise_bool,
        reason = "the answers cannot be predicted: one condition costs less than several branches"
    )]
    pub(crate) fn is_calm(&self) -> bool {
        let slack = i128::from(self.slip) * SLIP;
        let may_rise = (self.held > 0) & (self.spare >= slack.max(i128::from(self.held)));
        (self.open == 0) & (self.spare >= -slack) & !may_rise
    }

    /// Returns the level up to which nothing changes at the link, or `None` if nothing changes at
    /// any level. `joint` computes the joint level, exactly or as a lower bound.
    fn key(&self, joint: impl FnOnce(&Share) -> FlowRate) -> Option<FlowRate> {
        if self.held == 0 {
            return (self.open > 0 || self.spare < self.least()).then(|| joint(self));
        }
        if self.has_less() {
            return Some(joint(self));
        }
        let changes = self.open > 0 || self.has_more();
        changes.then_some(self.level)
    }
}

/// All links' shares, and the queue that orders a pass.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shares {
    all: ById<LinkId, Share>,
    /// Links by the level up to which nothing changes at them, lowest first. A key may be too low,
    /// since the link's level may have risen since; it is then corrected when it is popped. An
    /// entry that differs from the link's `queued` is stale.
    queue: BinaryHeap<Reverse<(FlowRate, LinkId)>>,
    /// Links whose level may have fallen below their key in the queue.
    touched: Vec<LinkId>,
    /// Links visited in the present pass.
    visited: Vec<LinkId>,
    /// Number of flows that are open now.
    pub(crate) open: usize,
    /// Queue length below which no search for idle entries pays off.
    unchecked: usize,
    /// Part by which a link may miss its capacity, in millionths.
    tolerance: u32,
}

impl Shares {
    /// Lets links miss their capacity by `ppm` millionths. Links that exist already keep their
    /// tolerance.
    pub(crate) fn tolerate(&mut self, ppm: u32) {
        self.tolerance = ppm;
    }

    pub(crate) fn set_capacity(&mut self, link: LinkId, [before, after]: [Load; 2]) {
        let slip = self.slip(after);
        let share = self.touch(link);
        share.spare += after.0.cast_signed() - before.0.cast_signed();
        share.slip = slip;
    }

    fn slip(&self, capacity: Load) -> u32 {
        let part = capacity.0 / 1_000_000 * u128::from(self.tolerance);
        u32::try_from(part / SLIP as u128).unwrap_or(u32::MAX)
    }

    pub(crate) fn add_link(&mut self, capacity: Load) {
        let slip = self.slip(capacity);
        self.all.push(Share {
            spare: capacity.0.cast_signed(),
            open: 0,
            held: 0,
            level: FlowRate::default(),
            queued: NOT,
            most: FlowRate::default(),
            slip,
            visits: 0,
            is_touched: false,
        });
    }

    pub(crate) fn of(&self, link: LinkId) -> &Share {
        &self.all[link]
    }

    pub(crate) fn of_mut(&mut self, link: LinkId) -> &mut Share {
        &mut self.all[link]
    }

    /// Notes that something has changed at the link which may lower its key, and returns its share.
    pub(crate) fn touch(&mut self, link: LinkId) -> &mut Share {
        let share = &mut self.all[link];
        if !share.is_touched {
            share.is_touched = true;
            self.touched.push(link);
        }
        share
    }

    /// Counts a visit to the link in the present pass, and returns the count.
    pub(crate) fn visit(&mut self, link: LinkId) -> u16 {
        let share = &mut self.all[link];
        if share.visits == 0 {
            self.visited.push(link);
        }
        share.visits += 1;
        share.visits
    }

    /// Returns the lowest level at which something changes, and the link. The caller
    /// [takes](Self::take) its entry, or calls again after other changes.
    pub(crate) fn next(&mut self) -> Option<(FlowRate, LinkId)> {
        for link in self.touched.drain(..) {
            let share = &mut self.all[link];
            share.is_touched = false;
            // A key that has risen keeps its entry, which is a lower bound; only a lower key needs
            // a new one.
            if let Some(key) = share.key(Share::about_joint)
                && key < share.queued
            {
                share.queued = key;
                self.queue.push(Reverse((key, link)));
            }
        }
        if self.open == 0 && self.queue.len() > self.unchecked {
            // With no flow open, most entries belong to links at which nothing changes any more.
            self.drop_idle();
        }
        while let Some(mut first) = self.queue.peek_mut() {
            let Reverse((level, link)) = *first;
            let share = &mut self.all[link];
            if share.queued != level {
                PeekMut::pop(first);
                continue;
            }
            match share.key(Share::joint) {
                Some(key) if key > level => {
                    share.queued = key;
                    // The key was a lower bound. It goes back into the queue with its exact value.
                    *first = Reverse((key, link));
                }
                Some(_) => return Some((level, link)),
                None => {
                    share.queued = NOT;
                    PeekMut::pop(first);
                }
            }
        }
        None
    }

    /// Removes the entries for links at which nothing changes any more.
    fn drop_idle(&mut self) {
        let shares = &mut self.all;
        self.queue.retain(|Reverse((level, link))| {
            let share = &mut shares[*link];
            if share.queued != *level {
                return false;
            }
            let changes = share.key(|_| NOT).is_some();
            if !changes {
                share.queued = NOT;
            }
            changes
        });
        // Doubling keeps the cost of these scans proportional to the count of pushes.
        self.unchecked = 2 * self.queue.len() + 16;
    }

    /// Removes the entry for the link that [`next`](Self::next) has returned.
    pub(crate) fn take(&mut self, link: LinkId) {
        self.queue.pop();
        self.all[link].queued = NOT;
    }

    /// Ends a pass: no flow is open any more.
    pub(crate) fn close(&mut self) {
        for link in self.visited.drain(..) {
            let share = &mut self.all[link];
            share.visits = 0;
        }
        self.unchecked = 0;
    }
}
