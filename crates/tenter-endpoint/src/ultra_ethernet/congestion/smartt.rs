//! `SMaRTT`: a window that follows the round-trip time and marks, at each acknowledgement.
//!
//! Source: Bonato et al., "SMaRTT-REPS: Sender-based Marked Rapidly-adapting Trimmed & Timed
//! Transport with Recycled Entropies" (2024), with the constants of its authors' simulator. NSCC is
//! the same idea, but it gathers increases and bases decreases on a mean.

use tenter_config::component;
use tenter_units::{Instant, Time};

use super::answer::{Answer, Trim};
use super::delay::{Delays, IDLE_DELAY};
use super::link::Link;
use super::nscc::DELAYS;

component! {
    /// The parameters of windows.
    pub struct Smartt {
        /// The queueing delay that windows aim at.
        target_delay: Time = "7us", in DELAYS, from "the simulator of SMaRTT's authors";
    }
}

/// Rules for all windows at a NIC.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    link: Link,
    target: Time,
}

/// One connection's window. Sizes are wire bytes.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    window: u64,
    /// Largest window, for the shortest round trip seen.
    most: u64,
    delays: Delays,
    /// Bytes received in a row without queueing delay.
    idle: u64,
    /// Bytes received in the present period.
    achieved: u64,
    /// Instant at which the present period ends.
    adapt_after: Option<Instant>,
    /// Bytes in flight at the last quick adaptation; their marks are ignored.
    to_ignore: u64,
    /// Bytes received since the last quick adaptation.
    ignored: u64,
}

impl Rules {
    pub(super) fn new(spec: Smartt, link: &Link) -> Rules {
        Rules {
            link: *link,
            target: spec.target_delay,
        }
    }

    pub(super) fn start(&self) -> Flow {
        Flow {
            window: self.link.first_window(),
            most: self.link.max_window(self.link.round_trip),
            delays: Delays::new(self.link.round_trip),
            idle: 0,
            achieved: 0,
            adapt_after: None,
            to_ignore: 0,
            ignored: 0,
        }
    }
}

/// Returns `bytes` · `of` / `whole`, computed with 128 bits.
fn part(bytes: u64, of: u64, whole: u64) -> u64 {
    (u128::from(bytes) * u128::from(of) / u128::from(whole.max(1))) as u64
}

impl Flow {
    pub(super) fn window(&self) -> u64 {
        self.window
    }

    pub(super) fn delays(&self, rules: &Rules) -> (Time, Time) {
        (self.delays.base, rules.target)
    }

    fn bound(&mut self, rules: &Rules) {
        self.window = rules.link.bounded(self.window, self.most);
    }

    pub(super) fn answered(&mut self, rules: &Rules, answer: &Answer) {
        let news = answer.news;
        self.achieved += news;
        self.ignored += news;
        let round_trip = match answer.round_trip {
            Some(round_trip) => {
                self.note_round_trip(rules, round_trip);
                round_trip
            }
            // Without a known round trip the latest delay stands in.
            None => self.delays.base + self.delays.mean,
        };
        self.delays.mean = round_trip.saturating_sub(self.delays.base);
        self.renew_period(rules, answer.now);
        if self.ignored < self.to_ignore && answer.marked {
            return;
        }
        let target = self.delays.base + rules.target;
        let late = round_trip >= target;
        match (answer.marked, late) {
            (false, true) => self.window += self.fair_increase(rules, news),
            (false, false) => self.increase(rules, news, round_trip, target),
            (true, true) => {
                let above = round_trip.saturating_sub(target);
                let less = part(news, above.ps(), round_trip.ps()).min(news);
                self.fall(less + self.fair_decrease(news));
            }
            (true, false) => self.fall(self.fair_decrease(news)),
        }
        self.bound(rules);
    }

    fn note_round_trip(&mut self, rules: &Rules, round_trip: Time) {
        if self.delays.lower(round_trip) {
            self.most = rules.link.max_window(round_trip);
        }
    }

    /// Increase that lets small windows catch up with large ones: a quarter packet per window.
    fn fair_increase(&self, rules: &Rules, news: u64) -> u64 {
        part(news, rules.link.full, self.window * 4)
    }

    /// Decrease in proportion to the window, which costs large windows more.
    fn fair_decrease(&self, news: u64) -> u64 {
        part(part(news, 4, 5), self.window, self.most)
    }

    /// Lowers the window; a sequence without delay is over.
    fn fall(&mut self, less: u64) {
        self.idle = 0;
        self.window = self.window.saturating_sub(less);
    }

    fn increase(&mut self, rules: &Rules, news: u64, round_trip: Time, target: Time) {
        let delay = round_trip.saturating_sub(self.delays.base);
        self.idle = if delay < IDLE_DELAY {
            self.idle + news
        } else {
            0
        };
        if self.idle > self.window {
            self.window += 4 * rules.link.full;
            return;
        }
        let room = target.saturating_sub(round_trip);
        let bytes = part(2 * rules.link.full, room.ps(), round_trip.ps());
        let more = part(bytes, news, self.window).min(news);
        self.window += more + self.fair_increase(rules, news);
    }

    /// Starts another period for `achieved` if the present one has ended.
    fn renew_period(&mut self, rules: &Rules, now: Instant) {
        if self.adapt_after.is_none_or(|after| now > after) {
            self.achieved = 0;
            self.adapt_after = Some(now + self.delays.base + rules.target);
        }
    }

    pub(super) fn trimmed(&mut self, rules: &Rules, trim: &Trim) {
        self.note_round_trip(rules, trim.round_trip);
        self.ignored += trim.bytes;
        let is_due = self.adapt_after.is_some_and(|after| trim.now > after);
        if is_due && self.ignored >= self.to_ignore {
            // Quick adaptation: the window becomes the bytes that got through in the last period.
            self.window = self.achieved;
            self.to_ignore = trim.in_flight;
            self.ignored = 0;
            self.renew_period(rules, trim.now);
        } else if self.ignored >= self.to_ignore {
            self.fall(trim.bytes);
        }
        self.bound(rules);
    }

    pub(super) fn timed_out(&mut self, rules: &Rules, bytes: u64) {
        self.fall(bytes);
        self.bound(rules);
    }
}
