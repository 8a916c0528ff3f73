//! What links give to each flow, and in which order that is found.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use tenter_units::ById;

use crate::amounts::{FlowRate, Load};
use crate::links::LinkId;

/// What a link gives to its flows. A flow is *open* while its rate is looked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share {
    /// What flows that are not open leave of the link, below 0 where that is less than nothing.
    pub(crate) spare: i128,
    /// The sum of the weights of open flows.
    pub(crate) open: u64,
    /// The same of those that are not open and that it holds back, which all have its level.
    pub(crate) held: u64,
    pub(crate) level: FlowRate,
    /// The level at which it is in the queue.
    queued: FlowRate,
    /// No flow that is not open and that another link holds back has more; it may have less.
    pub(crate) most: FlowRate,
    /// By how much it may carry more or less than it can, in [`SLIP`].
    pub(crate) slip: u32,
    /// How often the pass has come to it.
    pub(crate) visits: u16,
    is_touched: bool,
}

/// 128 bits per second.
const SLIP: i128 = 1 << 40;

/// Not in the queue.
const NOT: FlowRate = FlowRate::UNLIMITED;

// A repair goes through those of all links of each flow.
const _: () = assert!(size_of::<Share>() == 64);

/// What flows of a weight load at a rate.
fn weighed(rate: FlowRate, weight: u64) -> i128 {
    (u128::from(rate.units()) * u128::from(weight)).cast_signed()
}

impl Share {
    /// What the level would be if all flows that it holds back were open.
    pub(crate) fn joint(&self) -> FlowRate {
        let weight = u128::from(self.open) + u128::from(self.held);
        let rest = self.spare + weighed(self.level, self.held);
        let rest = u128::try_from(rest).unwrap_or(0);
        let level = rest.checked_div(weight).unwrap_or(0);
        FlowRate::of_units(u64::try_from(level).unwrap_or(u64::MAX - 1))
    }

    /// No more than [`Share::joint`], and hardly less, without a division of 128 bits.
    fn about_joint(&self) -> FlowRate {
        /// Bits of loads that do not count.
        const LOW: u32 = 33;
        let rest = (self.spare + weighed(self.level, self.held)) >> LOW;
        let weight = (self.open + self.held) as f64 / (1_u64 << LOW) as f64;
        let level = rest as i64 as f64 / weight * (1.0 - 1e-12);
        FlowRate::of_units((level as u64).min(u64::MAX - 1))
    }

    /// What is left of it when its open flows have its level.
    fn rest_at_level(&self) -> i128 {
        self.spare - weighed(self.level, self.open)
    }

    /// What may be left of it at least.
    fn least(&self) -> i128 {
        -i128::from(self.slip) * SLIP
    }

    /// Whether it has more for the flows that it holds back.
    pub(crate) fn has_more(&self) -> bool {
        let weight = i128::from(self.open + self.held);
        let slack = i128::from(self.slip) * SLIP;
        self.held > 0 && self.rest_at_level() >= weight.max(slack)
    }

    /// Whether those that it holds back have too much.
    pub(crate) fn has_less(&self) -> bool {
        self.held > 0 && self.rest_at_level() < self.least()
    }

    /// By how much it may carry more or less than it can.
    pub(crate) fn tolerance(&self) -> u128 {
        (i128::from(self.slip) * SLIP).cast_unsigned()
    }

    /// Whether hardly anything is left of it.
    pub(crate) fn may_be_full(&self) -> bool {
        self.spare < SLIP
    }

    /// The level up to which nothing changes at it, by its joint level; `None` where nothing ever
    /// does.
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

/// The shares of all links.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shares {
    all: ById<LinkId, Share>,
    /// Links by levels up to which nothing changes at them, or lower ones: such a level may have
    /// risen since. Entries with other levels than that of the link are stale.
    queue: BinaryHeap<Reverse<(FlowRate, LinkId)>>,
    /// Links whose level may have become lower than that in the queue.
    touched: Vec<LinkId>,
    visited: Vec<LinkId>,
    /// How many flows are open.
    pub(crate) open: usize,
    /// Fewer links in the queue are not worth looking whether anything changes at them.
    unchecked: usize,
    /// Which part of a link may be left or too much, in millionths.
    tolerance: u32,
}

impl Shares {
    /// Lets links carry more or less than they can, by so many millionths of it.
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

    /// Something has changed at a link that may let its level fall, or rise where it has one.
    pub(crate) fn touch(&mut self, link: LinkId) -> &mut Share {
        let share = &mut self.all[link];
        if !share.is_touched {
            share.is_touched = true;
            self.touched.push(link);
        }
        share
    }

    /// Counts a visit; how many there have been of the link.
    pub(crate) fn visit(&mut self, link: LinkId) -> u16 {
        let share = &mut self.all[link];
        if share.visits == 0 {
            self.visited.push(link);
        }
        share.visits += 1;
        share.visits
    }

    /// The link at which something changes at the lowest level, and that level. It is not in the
    /// queue any more.
    pub(crate) fn next(&mut self) -> Option<(FlowRate, LinkId)> {
        for link in self.touched.drain(..) {
            let share = &mut self.all[link];
            share.is_touched = false;
            if let Some(key) = share.key(Share::about_joint)
                && key < share.queued
            {
                share.queued = key;
                self.queue.push(Reverse((key, link)));
            }
        }
        if self.open == 0 && self.queue.len() > self.unchecked {
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

    /// Takes links out of the queue at which nothing changes any more.
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
        self.unchecked = 2 * self.queue.len() + 16;
    }

    /// Takes the link out of the queue that was found to be the next.
    pub(crate) fn take(&mut self, link: LinkId) {
        self.queue.pop();
        self.all[link].queued = NOT;
    }

    /// Nothing is open any more.
    pub(crate) fn close(&mut self) {
        for link in self.visited.drain(..) {
            let share = &mut self.all[link];
            share.visits = 0;
        }
        self.unchecked = 0;
    }
}
