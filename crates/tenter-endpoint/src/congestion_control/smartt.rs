//! `SMaRTT`: a window that follows the round-trip time and marks, at each acknowledgement.
//!
//! Source: Bonato et al., "SMaRTT-REPS: Sender-based Marked Rapidly-adapting Trimmed & Timed
//! Transport with Recycled Entropies" (2024), with the constants of its authors' simulator. NSCC is
//! the same idea, but it gathers increases and bases decreases on a mean.

use tenter_language::config::component;
use tenter_language::units::{Instant, Time};

use super::delays::{Delays, IDLE_DELAY};
use super::nscc::DELAYS;
use super::{Control, Feedback, Link, Trim, Window, part_of};

component! {
    /// The parameters of windows.
    pub struct Smartt {
        /// The queueing delay that windows aim at.
        target_delay: Time = "7us", in DELAYS, from "the simulator of SMaRTT's authors";
    }
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

impl Flow {
    fn bound(&mut self, link: &Link) {
        self.window = link.bounded(self.window, self.most);
    }

    fn note_round_trip(&mut self, link: &Link, round_trip: Time) {
        if self.delays.lower(round_trip) {
            self.most = link.max_window(round_trip);
        }
    }

    /// Increase that lets small windows catch up with large ones: a quarter packet per window.
    fn fair_increase(&self, link: &Link, news: u64) -> u64 {
        part_of(news, link.full, self.window * 4)
    }

    /// Decrease in proportion to the window, which costs large windows more.
    fn fair_decrease(&self, news: u64) -> u64 {
        part_of(part_of(news, 4, 5), self.window, self.most.max(1))
    }

    /// Lowers the window; a sequence without delay is over.
    fn fall(&mut self, less: u64) {
        self.idle = 0;
        self.window = self.window.saturating_sub(less);
    }

    fn increase(&mut self, link: &Link, news: u64, round_trip: Time, target: Time) {
        let delay = round_trip.saturating_sub(self.delays.base);
        self.idle = if delay < IDLE_DELAY {
            self.idle + news
        } else {
            0
        };
        if self.idle > self.window {
            self.window += 4 * link.full;
            return;
        }
        let room = target.saturating_sub(round_trip);
        let bytes = part_of(2 * link.full, room.ps(), round_trip.ps().max(1));
        let more = part_of(bytes, news, self.window).min(news);
        self.window += more + self.fair_increase(link, news);
    }

    /// Starts another period for `achieved` if the present one has ended.
    fn renew_period(&mut self, target: Time, now: Instant) {
        if self.adapt_after.is_none_or(|after| now > after) {
            self.achieved = 0;
            self.adapt_after = Some(now + self.delays.base + target);
        }
    }
}

impl Control for Smartt {
    type Flow = Flow;
    const FROM_START: bool = true;

    fn start(&self, link: &Link, _: Instant) -> Flow {
        Flow {
            window: link.first_window(),
            most: link.max_window(link.round_trip),
            delays: Delays::new(link.round_trip),
            idle: 0,
            achieved: 0,
            adapt_after: None,
            to_ignore: 0,
            ignored: 0,
        }
    }

    fn window(&self, flow: &Flow, _: &Link) -> Window {
        Window::Bytes(flow.window)
    }

    fn delays(&self, flow: &Flow, _: &Link) -> Option<(Time, Time)> {
        Some((flow.delays.base, self.target_delay))
    }

    fn acknowledged(&self, flow: &mut Flow, link: &Link, feedback: &Feedback<'_>) {
        let news = feedback.news;
        flow.achieved += news;
        flow.ignored += news;
        let round_trip = match feedback.round_trip {
            Some(round_trip) => {
                flow.note_round_trip(link, round_trip);
                round_trip
            }
            // Without a known round trip the latest delay stands in.
            None => flow.delays.base + flow.delays.mean,
        };
        flow.delays.mean = round_trip.saturating_sub(flow.delays.base);
        flow.renew_period(self.target_delay, feedback.now);
        if flow.ignored < flow.to_ignore && feedback.marked {
            return;
        }
        let target = flow.delays.base + self.target_delay;
        let late = round_trip >= target;
        match (feedback.marked, late) {
            (false, true) => flow.window += flow.fair_increase(link, news),
            (false, false) => flow.increase(link, news, round_trip, target),
            (true, true) => {
                let above = round_trip.saturating_sub(target);
                let less = part_of(news, above.ps(), round_trip.ps().max(1)).min(news);
                flow.fall(less + flow.fair_decrease(news));
            }
            (true, false) => flow.fall(flow.fair_decrease(news)),
        }
        flow.bound(link);
    }

    fn trimmed(&self, flow: &mut Flow, link: &Link, trim: &Trim) {
        flow.note_round_trip(link, trim.round_trip);
        flow.ignored += trim.bytes;
        let is_due = flow.adapt_after.is_some_and(|after| trim.now > after);
        if is_due && flow.ignored >= flow.to_ignore {
            // Quick adaptation: the window becomes the bytes that got through in the last period.
            flow.window = flow.achieved;
            flow.to_ignore = trim.in_flight;
            flow.ignored = 0;
            flow.renew_period(self.target_delay, trim.now);
        } else if flow.ignored >= flow.to_ignore {
            flow.fall(trim.bytes);
        }
        flow.bound(link);
    }

    fn timed_out(&self, flow: &mut Flow, link: &Link, bytes: u64) {
        flow.fall(bytes);
        flow.bound(link);
    }
}

#[cfg(test)]
mod tests {
    use tenter_language::units::{Instant, Time};

    use super::{Control, Feedback, Flow, Link, Smartt};

    /// The window after an acknowledgement of a full packet, from one of 100,000 bytes.
    fn after(delay_us: u64, marked: bool) -> i64 {
        let link = Link::of_gbps(100);
        let smartt = Smartt::default();
        let mut flow = Flow {
            window: 100_000,
            ..smartt.start(&link, Instant::START)
        };
        let feedback = Feedback {
            round_trip: Some(Time::from_us(10 + delay_us)),
            marked,
            news: 4_178,
            ..Feedback::default()
        };
        smartt.acknowledged(&mut flow, &link, &feedback);
        flow.window.cast_signed() - 100_000
    }

    #[test]
    fn each_acknowledgement_moves_the_window_by_delay_and_mark() {
        // A quarter of a packet in a window: 4,178 · 4,178 / 400,000.
        assert_eq!(after(8, false), 43);
        // 0.8 of the packet times the window over the largest, 3,342 · 100,000 / 187,500.
        assert_eq!(after(3, true), -1_782);
        // And the part of the round trip above the target: 4,178 · 3 / 20.
        assert_eq!(after(10, true), -1_782 - 626);
        // 2 packets times the room over the round trip, of a packet's share of the window.
        assert_eq!(after(3, false), (2 * 4_178 * 4 / 13) * 4_178 / 100_000 + 43);
    }
}
