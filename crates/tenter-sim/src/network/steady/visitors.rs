//! The three passes over a state: its values are recorded, compared with those a period earlier, or
//! advanced by some periods.

use tenter_fabric::net::{FlowEnd, SENT_UNIT_PS, SendSlot, UnderWay, Visitor};
use tenter_language::units::{Instant, Time};

use super::latency::Starts;
use super::numbers::Numbers;
use super::shifts::Shifts;

/// The pass that records the values.
#[derive(Debug)]
pub(super) struct Notes<'a> {
    pub(super) values: &'a mut Vec<u64>,
    /// Set if a component's state cannot be visited.
    pub(super) refused: &'a mut bool,
    /// Set if a component's state cannot be compared over whole steps.
    pub(super) refused_steps: &'a mut bool,
}

impl Visitor for Notes<'_> {
    fn is_over_steps(&self) -> bool {
        false
    }

    fn exact(&mut self, value: u64) {
        self.values.push(value);
    }

    fn instant(&mut self, at: &mut Instant) {
        self.values.push(at.ps());
    }

    fn deadline(&mut self, at: Instant) {
        self.values.push(at.ps());
    }

    fn total(&mut self, count: &mut u64) {
        self.values.push(*count);
    }

    fn total_u32(&mut self, count: &mut u32) {
        self.values.push(u64::from(*count));
    }

    fn sequence(&mut self, _: FlowEnd, number: &mut u32) {
        self.values.push(u64::from(*number));
    }

    fn sequence_or_fixed(&mut self, _: FlowEnd, number: &mut u32) -> bool {
        self.values.push(u64::from(*number));
        false
    }

    fn left(&mut self, _: FlowEnd, _: u32) {}

    fn tag_of_request(&mut self, tag: &mut u64) {
        self.values.push(*tag);
    }

    fn sent(&mut self, _: UnderWay, _: &mut u32) {}

    fn refuse(&mut self) {
        *self.refused = true;
    }

    fn refuse_steps(&mut self) {
        *self.refused_steps = true;
    }
}

/// The extent to which a steady state continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    /// The first instant at which something happens that is not part of the period.
    pub(super) until: Instant,
    /// Largest number of further periods.
    pub(super) periods: u64,
}

impl Bounds {
    pub(super) const NONE: Bounds = Bounds {
        until: Instant::NEVER,
        periods: u64::MAX,
    };
}

/// The pass that compares the values with those a period earlier.
#[derive(Debug)]
pub(super) struct Comparison<'a> {
    pub(super) before: std::slice::Iter<'a, u64>,
    pub(super) now: Instant,
    pub(super) period: Time,
    pub(super) advance: &'a Numbers,
    pub(super) bounds: &'a mut Bounds,
    /// Data packets under way, with the send times that they carry.
    pub(super) under_way: &'a mut Vec<(UnderWay, u32)>,
    /// If the period consists of whole steps, how transfers follow each other.
    pub(super) steps: Option<&'a mut Shifts>,
    /// Cleared at the first difference.
    pub(super) is_same: bool,
}

impl Comparison<'_> {
    /// Returns the value a period earlier.
    #[inline]
    fn last(&mut self) -> u64 {
        if let Some(&last) = self.before.next() {
            return last;
        }
        self.is_same = false;
        0
    }

    #[inline]
    fn require(&mut self, holds: bool) {
        self.is_same &= holds;
    }

    fn bound(&mut self, periods: u64) {
        self.bounds.periods = self.bounds.periods.min(periods);
    }

    /// Compares a count, which grows by the same in each period, and bounds the periods so that it
    /// does not exceed `most`.
    #[inline]
    fn growing(&mut self, count: u64, most: u64) {
        let last = self.last();
        match count.checked_sub(last) {
            None => self.is_same = false,
            Some(0) => {}
            Some(more) => self.bound((most - count) / more),
        }
    }
}

impl Visitor for Comparison<'_> {
    fn is_over_steps(&self) -> bool {
        self.steps.is_some()
    }

    #[inline]
    fn exact(&mut self, value: u64) {
        let last = self.last();
        self.require(last == value);
    }

    #[inline]
    fn instant(&mut self, at: &mut Instant) {
        let last = self.last();
        if last == at.ps() {
            // An event that is due now has not happened yet. One that was due within the period has
            // happened, and will not happen again in the next.
            if *at >= self.now {
                self.bounds.until = self.bounds.until.min(*at);
            } else {
                self.require(last.saturating_add(self.period.ps()) < self.now.ps());
            }
        } else {
            self.require(last.checked_add(self.period.ps()) == Some(at.ps()));
        }
    }

    fn deadline(&mut self, at: Instant) {
        self.exact(at.ps());
        if at >= self.now {
            self.bounds.until = self.bounds.until.min(at);
        }
    }

    #[inline]
    fn total(&mut self, count: &mut u64) {
        self.growing(*count, u64::MAX);
    }

    #[inline]
    fn total_u32(&mut self, count: &mut u32) {
        self.growing(u64::from(*count), u64::from(u32::MAX));
    }

    #[inline]
    fn sequence(&mut self, of: FlowEnd, number: &mut u32) {
        let last = self.last();
        let advance = u64::from(number.wrapping_sub(last as u32));
        let same = advance == u64::from(self.advance.of(of));
        self.require(same);
    }

    fn sequence_or_fixed(&mut self, of: FlowEnd, number: &mut u32) -> bool {
        let last = self.last();
        if last == u64::from(*number) {
            return false;
        }
        let advance = number.wrapping_sub(last as u32);
        let same = advance == self.advance.of(of);
        self.require(same);
        true
    }

    fn timeout(&mut self, at: Instant, of: SendSlot) {
        // Timeouts may differ over whole steps: both values are read and ignored.
        if self.is_over_steps() {
            self.last();
            self.last();
        } else {
            self.deadline(at);
            self.exact(u64::from(of.number()));
        }
    }

    fn tag_of_request(&mut self, tag: &mut u64) {
        let last = self.last();
        let agrees = match &mut self.steps {
            _ if last == *tag => true,
            Some(shifts) => shifts.learn(last, *tag),
            None => false,
        };
        self.require(agrees);
    }

    fn left(&mut self, of: FlowEnd, numbers: u32) {
        if let Some(periods) = numbers.checked_div(self.advance.of(of)) {
            self.bound(u64::from(periods));
        }
    }

    fn sent(&mut self, of: UnderWay, sent: &mut u32) {
        self.under_way.push((of, *sent));
    }

    fn refuse(&mut self) {
        self.is_same = false;
    }
}

/// The pass that advances the values by some periods.
#[derive(Debug)]
pub(super) struct Leap<'a> {
    pub(super) before: std::slice::Iter<'a, u64>,
    pub(super) periods: u64,
    /// Length of all these periods together.
    pub(super) span: Time,
    pub(super) advance: &'a Numbers,
    pub(super) starts: &'a Starts,
    /// If periods consist of whole steps, how transfers follow each other.
    pub(super) steps: Option<&'a Shifts>,
}

impl Leap<'_> {
    /// Advances a sequence number by all periods.
    #[inline]
    fn go_on(&self, of: FlowEnd, number: &mut u32) {
        let advance = self.advance.of(of).wrapping_mul(self.periods as u32);
        *number = number.wrapping_add(advance);
    }

    #[inline]
    fn last(&mut self) -> u64 {
        self.before.next().copied().unwrap_or(0)
    }
}

impl Visitor for Leap<'_> {
    fn is_over_steps(&self) -> bool {
        self.steps.is_some()
    }

    #[inline]
    fn exact(&mut self, _: u64) {
        self.last();
    }

    #[inline]
    fn instant(&mut self, at: &mut Instant) {
        // An instant that moved with the period moves on; one that did not move stays.
        if self.last() != at.ps() {
            *at += self.span;
        }
    }

    fn deadline(&mut self, _: Instant) {
        self.last();
    }

    #[inline]
    fn total(&mut self, count: &mut u64) {
        *count += (*count - self.last()) * self.periods;
    }

    #[inline]
    fn total_u32(&mut self, count: &mut u32) {
        let more = (u64::from(*count) - self.last()) * self.periods;
        // The comparison has bounded the periods so that this does not wrap.
        *count = count.wrapping_add(more as u32);
    }

    #[inline]
    fn sequence(&mut self, of: FlowEnd, number: &mut u32) {
        self.last();
        self.go_on(of, number);
    }

    fn sequence_or_fixed(&mut self, of: FlowEnd, number: &mut u32) -> bool {
        if self.last() == u64::from(*number) {
            return false;
        }
        self.go_on(of, number);
        true
    }

    fn left(&mut self, _: FlowEnd, _: u32) {}

    fn tag_of_request(&mut self, tag: &mut u64) {
        let is_followed = self.last() != *tag;
        if let Some(shifts) = self.steps.filter(|_| is_followed) {
            *tag = shifts.tag_after(*tag, self.periods);
        }
    }

    fn sent(&mut self, of: UnderWay, sent: &mut u32) {
        if let Some(start) = self.starts.of(self.advance, of.host, of.slot, of.sequence) {
            *sent = ((start + self.span).ps() / SENT_UNIT_PS) as u32;
        }
    }

    fn refuse(&mut self) {}
}
