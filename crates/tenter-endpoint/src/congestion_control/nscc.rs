//! NSCC, network signal based congestion control: a window that follows delays and marks.
//!
//! Source: the Ultra Ethernet Consortium's reference simulator (uet-htsim, 2025). The constants are
//! meant for 100 Gb/s and a 12 us round trip, and are scaled to other networks. The text of the
//! specification 1.0 was not at hand.
//!
//! ```text
//!                      not marked                          marked
//!   delay >= target    fair increase                       decrease by the mean delay
//!   delay <  target    increase by what is missing         none; another path
//! ```

use std::ops::RangeInclusive;

use tenter_language::config::{Share, component};
use tenter_language::units::{Instant, Time};

use super::delays::{Delays, IDLE_DELAY};
use super::{Control, Feedback, Link, Trim, Window};

/// Range for the target delay.
pub(super) const DELAYS: RangeInclusive<Time> = Time::from_ns(100)..=Time::from_us(1_000_000);

component! {
    /// The parameters of windows.
    pub struct Nscc {
        /// The queueing delay that windows aim at.
        target_delay: Option<Time> = absent "0.75 round trips where switches trim, else one", in DELAYS;
        /// Share of the delay above the target by which a window falls.
        decrease: Share = "0.8", from "the Ultra Ethernet Consortium's simulator";
        /// The weight of a sample in the mean delay.
        delay_weight: Share = "0.0125", from "the Ultra Ethernet Consortium's simulator";
        /// A window is cut to what got through in a round trip if that is less than the largest
        /// window over two to the power of this.
        quick_adapt_gate: u8 = "3", in 0..=16, from "the Ultra Ethernet Consortium's simulator";
    }
}

/// Bandwidth-delay product, in bytes, in the network for which the constants are meant.
const REFERENCE_BYTES: u128 = 150_000;
/// Round trip in that network.
const REFERENCE_ROUND_TRIP: Time = Time::from_us(12);
/// Full packets that must arrive before increases take effect.
const ADJUST_PACKETS: u64 = 8;
/// Share that one decrease leaves at least, in parts per million of the window.
const LEAST_LEFT_PPM: u64 = 500_000;
const WHOLE_PPM: u64 = 1_000_000;

/// The control and the link that an event concerns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules<'a> {
    control: &'a Nscc,
    link: &'a Link,
    /// Set if receivers grant credit as well.
    has_credit: bool,
}

/// One connection's window. Sizes are wire bytes.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    window: u64,
    most: u64,
    delays: Delays,
    /// Increases that have not taken effect, in bytes squared: divided by the window when they do.
    increase: u64,
    /// Bytes received since increases last took effect.
    received: u64,
    /// Instant at which `fulfil` last saw a full round trip and added its increase.
    adjusted: Instant,
    /// Bytes received since quick adaptation was last considered.
    achieved: u64,
    /// Instant at which the period for `achieved` ends.
    quick_adapt_after: Option<Instant>,
    /// Set by a trimmed packet: quick adaptation has a reason.
    asks_to_adapt: bool,
    /// Bytes that were in flight at the last quick adaptation; their marks are ignored.
    to_ignore: u64,
    /// Bytes received since the last quick adaptation.
    ignored: u64,
    /// Instant at which the window last fell.
    fell: Instant,
    /// Bytes received in a row without queueing delay.
    idle: u64,
    /// Set once `idle` exceeds a window.
    grows_fast: bool,
}

impl Nscc {
    pub(super) fn rules<'a>(&'a self, link: &'a Link, has_credit: bool) -> Rules<'a> {
        Rules {
            control: self,
            link,
            has_credit,
        }
    }
}

impl Control for Nscc {
    type Flow = Flow;
    const FROM_START: bool = true;

    fn on_link(self, link: &Link) -> Nscc {
        let usual = if link.trims {
            Time::from_ps(link.round_trip.ps() * 3 / 4)
        } else {
            link.round_trip
        };
        Nscc {
            target_delay: self.target_delay.or(Some(usual)),
            ..self
        }
    }

    fn start(&self, link: &Link, _: Instant) -> Flow {
        Flow {
            window: link.first_window(),
            most: link.max_window(link.round_trip),
            delays: Delays::new(link.round_trip),
            increase: 0,
            received: 0,
            adjusted: Instant::START,
            achieved: 0,
            quick_adapt_after: None,
            asks_to_adapt: false,
            to_ignore: 0,
            ignored: 0,
            fell: Instant::START,
            idle: 0,
            grows_fast: false,
        }
    }

    fn window(&self, flow: &Flow, _: &Link) -> Window {
        Window::Bytes(flow.window)
    }

    fn delays(&self, flow: &Flow, link: &Link) -> Option<(Time, Time)> {
        Some((flow.delays.base, self.rules(link, false).target()))
    }

    fn acknowledged(&self, flow: &mut Flow, link: &Link, feedback: &Feedback<'_>) {
        flow.acknowledged(self.rules(link, false), feedback);
    }

    fn trimmed(&self, flow: &mut Flow, link: &Link, trim: &Trim) {
        flow.trimmed(self.rules(link, false), trim);
    }

    fn timed_out(&self, flow: &mut Flow, link: &Link, bytes: u64) {
        flow.window = flow.window.saturating_sub(bytes).max(link.full);
    }
}

impl Rules<'_> {
    fn target(self) -> Time {
        self.control.target_delay.unwrap_or(self.link.round_trip)
    }

    /// Scales `bytes` / `denominator` from the reference network to this one.
    fn scaled(self, bytes: u128, denominator: u128) -> u64 {
        (bytes * u128::from(self.link.product) / (REFERENCE_BYTES * denominator)) as u64
    }
}

impl Flow {
    fn bound(&mut self, rules: Rules<'_>) {
        self.window = rules.link.bounded(self.window, self.most);
    }

    fn note_round_trip(&mut self, rules: Rules<'_>, round_trip: Time) {
        if self.delays.lower(round_trip) {
            self.most = rules.link.max_window(round_trip);
        }
    }

    /// Moves the mean delay towards a sample. A high delay without a mark comes from a queue that
    /// has drained since. Like the reference simulator, the mean then takes a quarter of the base
    /// round trip instead.
    fn note_delay(&mut self, rules: Rules<'_>, delay: Time, marked: bool) {
        let believed = if !marked && delay > rules.target() {
            Time::from_ps(self.delays.base.ps() / 4)
        } else {
            delay
        };
        self.delays.draw(believed, rules.control.delay_weight.ppm());
    }

    fn acknowledged(&mut self, rules: Rules<'_>, answer: &Feedback<'_>) {
        self.achieved += answer.news;
        self.received += answer.news;
        self.ignored += answer.news;
        let delay = match answer.round_trip {
            Some(round_trip) => {
                self.note_round_trip(rules, round_trip);
                let delay = round_trip.saturating_sub(self.delays.base);
                self.note_delay(rules, delay, answer.marked);
                delay
            }
            // Without a known round trip the mean stands in, and teaches nothing new.
            None => self.delays.mean,
        };
        if self.adapts_quickly(rules, answer.now, answer.marked, delay, answer.in_flight) {
            return;
        }
        match (answer.marked, delay >= rules.target()) {
            (false, true) => self.increase_fairly(rules, answer.news),
            (false, false) => self.increase_by_room(rules, answer.news, delay),
            (true, true) => self.decrease(rules, answer.now),
            (true, false) => {}
        }
        self.bound(rules);
        let since = answer.now.saturating_since(self.adjusted);
        let enough = self.received > ADJUST_PACKETS * rules.link.full;
        if enough || since > rules.link.round_trip {
            self.fulfil(rules, answer.now, since);
        }
        self.bound(rules);
    }

    /// Increases in proportion to the acknowledged bytes, the same for all flows.
    fn increase_fairly(&mut self, rules: Rules<'_>, news: u64) {
        let bytes = 5 * u128::from(rules.link.payload) * u128::from(news);
        self.increase += rules.scaled(bytes, 1);
    }

    /// Increases by the room between delay and target.
    fn increase_by_room(&mut self, rules: Rules<'_>, news: u64, delay: Time) {
        self.increase_when_idle(rules, news, delay);
        if self.grows_fast {
            return;
        }
        let room = rules.target().saturating_sub(delay);
        let bytes = 4 * u128::from(rules.link.payload) * u128::from(news) * u128::from(room.ps());
        self.increase += rules.scaled(bytes, u128::from(REFERENCE_ROUND_TRIP.ps()));
    }

    /// Grows at once, without waiting for `fulfil`, after a whole window without delay.
    fn increase_when_idle(&mut self, rules: Rules<'_>, news: u64, delay: Time) {
        if delay >= IDLE_DELAY {
            self.idle = 0;
            self.grows_fast = false;
            return;
        }
        self.idle += news;
        self.grows_fast |= self.idle > self.window;
        if self.grows_fast {
            self.window += rules.scaled(u128::from(news), 4);
        }
    }

    /// Decreases by the mean delay above the target, once per round trip.
    fn decrease(&mut self, rules: Rules<'_>, now: Instant) {
        self.grows_fast = false;
        self.idle = 0;
        let mean = self.delays.mean;
        if mean <= rules.target() || now.saturating_since(self.fell) <= self.delays.base {
            return;
        }
        let above = u128::from(mean.ps() - rules.target().ps());
        let less = u128::from(rules.control.decrease.ppm()) * above / u128::from(mean.ps().max(1));
        let left = WHOLE_PPM.saturating_sub(less as u64).max(LEAST_LEFT_PPM);
        let window = u128::from(self.window) * u128::from(left) / u128::from(WHOLE_PPM);
        self.window = (window as u64).max(rules.link.full);
        self.fell = now;
    }

    /// Applies the gathered increases to the window.
    fn fulfil(&mut self, rules: Rules<'_>, now: Instant, since: Time) {
        self.window += self.increase / self.window.max(1);
        if since >= rules.link.round_trip {
            self.window += rules.scaled(15 * u128::from(rules.link.payload), 100);
            self.adjusted = now;
        }
        self.increase = 0;
        self.received = 0;
    }

    /// Cuts the window to the bytes that got through in the last period, if these are few and there
    /// is a reason. Returns true if it did, or if this event concerns packets sent before and must
    /// be ignored.
    fn adapts_quickly(
        &mut self,
        rules: Rules<'_>,
        now: Instant,
        marked: bool,
        delay: Time,
        in_flight: u64,
    ) -> bool {
        let mut ignores = false;
        // Packets that were in flight at the last cut say nothing about the window that it has
        // left.
        if self.ignored < self.to_ignore && marked {
            ignores = true;
        } else if self.quick_adapt_after.is_none_or(|after| now > after) {
            let has_reason = self.asks_to_adapt || delay > rules.target() * 4;
            let is_little = self.achieved < self.most >> rules.control.quick_adapt_gate;
            // The first period has no beginning, so its bytes are no reason for a cut.
            if self.quick_adapt_after.is_some() && has_reason && is_little {
                self.window = self.achieved.max(rules.link.full);
                self.to_ignore = in_flight;
                self.ignored = 0;
                self.asks_to_adapt = false;
                ignores = true;
            }
            self.achieved = 0;
            self.quick_adapt_after = Some(now + self.delays.base + rules.target());
        }
        if ignores {
            self.increase = 0;
            self.received = 0;
        }
        ignores
    }

    pub(super) fn trimmed(&mut self, rules: Rules<'_>, trim: &Trim) {
        self.note_round_trip(rules, trim.round_trip);
        self.ignored += trim.bytes;
        // The queue was full. Its delay is unknown, so count a round trip of the network.
        self.note_delay(rules, rules.link.round_trip, true);
        self.asks_to_adapt = true;
        let adapts = self.adapts_quickly(rules, trim.now, true, Time::ZERO, trim.in_flight);
        // With credit the receiver looks after its own link.
        let is_of_receiver = rules.has_credit && trim.at_last_hop;
        if !adapts && !is_of_receiver {
            self.window = self.window.saturating_sub(trim.bytes);
            self.bound(rules);
        }
    }
}

#[cfg(test)]
mod tests {
    use tenter_language::units::{Instant, Rate, Time};

    use super::{Control, Feedback, Flow, Link, Nscc, Trim};

    /// 100 Gb/s and 12 us, the network for which the constants are meant; windows of 125,000 bytes.
    fn start() -> (Nscc, Link, Flow) {
        let link = Link {
            trims: true,
            ..Link::new(Rate::from_gbps(100), Time::from_us(12), 4_086, 4_150)
        };
        let nscc = Nscc::default().on_link(&link);
        let mut flow = nscc.start(&link, Instant::START);
        assert_eq!(flow.window, 225_000);
        let trim = Trim {
            now: Instant::START,
            round_trip: Time::from_us(12),
            bytes: 100_000,
            at_last_hop: true,
            in_flight: 225_000,
        };
        nscc.trimmed(&mut flow, &link, &trim);
        assert_eq!(flow.window, 125_000);
        (nscc, link, flow)
    }

    fn answer(now: Instant, delay_us: u64, marked: bool) -> Feedback<'static> {
        Feedback {
            now,
            round_trip: Some(Time::from_us(12 + delay_us)),
            marked,
            news: 4_150,
            in_flight: 125_000,
            ..Feedback::default()
        }
    }

    fn after(answers: usize, delay_us: u64, marked: bool) -> u64 {
        let (nscc, link, mut flow) = start();
        for _ in 0..answers {
            let answer = answer(Instant::START, delay_us, marked);
            nscc.acknowledged(&mut flow, &link, &answer);
        }
        flow.window
    }

    #[test]
    fn windows_grow_after_eight_packets_without_marks() {
        assert_eq!(after(8, 10, false), 125_000);
        // 9 * 5 * 4,086 * 4,150 / 125,000.
        assert_eq!(after(9, 10, false), 125_000 + 6_104);
        // 9 * 4 * 4,086 * 4,150 * (9 - 3) / 12 / 125,000.
        assert_eq!(after(9, 3, false), 125_000 + 2_441);
    }

    #[test]
    fn marks_below_the_target_leave_windows_alone() {
        assert_eq!(after(9, 1, true), 125_000);
    }

    #[test]
    fn windows_fall_to_half_at_most_once_in_a_round_trip() {
        let (nscc, link, mut flow) = start();
        for _ in 0..1_000 {
            nscc.acknowledged(&mut flow, &link, &answer(Instant::START, 30, true));
        }
        assert_eq!(flow.window, 125_000);
        let later = Instant::START + Time::from_us(20);
        nscc.acknowledged(&mut flow, &link, &answer(later, 30, true));
        // After a round trip 0.15 packets are added.
        assert_eq!(flow.window, 62_500 + 612);
        nscc.acknowledged(&mut flow, &link, &answer(later, 30, true));
        assert_eq!(flow.window, 62_500 + 612);
    }
}
