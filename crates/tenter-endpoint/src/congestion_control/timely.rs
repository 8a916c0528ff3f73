//! TIMELY: each rate follows the round-trip time and its gradient.
//!
//! Source: Mittal et al., "TIMELY: RTT-based Congestion Control for the Datacenter" (2015),
//! algorithm 1 and section 4.4.

use tenter_language::config::{Reader, Share, component};
use tenter_language::units::{Instant, Rate, Time};

use super::{Control, Feedback, Link, RATES, SECOND, TICK_MIN, part_of};

component! {
    /// The parameters of the rate computation.
    pub struct Timely {
        /// Below this round-trip time the rate rises whatever the gradient.
        low: Time = "50us", in TICK_MIN..=SECOND, from "TIMELY (2015), section 5";
        /// Above this round-trip time the rate falls whatever the gradient.
        high: Time = "500us", in TICK_MIN..=SECOND, from "TIMELY (2015), section 5";
        /// Unit of gradients: the round-trip time of an idle network.
        base_round_trip: Time = "20us", in TICK_MIN..=SECOND, from "TIMELY (2015), section 5";
        /// Weight of a new difference of round-trip times in their average.
        weight: Share = "0.875", from "TIMELY (2015), section 5";
        /// Multiplicative decrease.
        beta: Share = "0.8", from "TIMELY (2015), section 5";
        /// Additive increase.
        additive_increase: Rate = "10Mbps", in RATES, from "TIMELY (2015), section 5, at 10 Gb/s";
        /// The line rate that `additive_increase` and `min_rate` are meant for: on other lines they
        /// are in proportion.
        scale_from: Option<Rate> = "10Gbps", in RATES;
        /// After this many times in a row without a rising round-trip time, the rate rises
        /// `hyper_factor` times as much.
        hyper_after: u32 = "5", in 1..=1000, from "TIMELY (2015), section 4.4";
        /// Factor of this faster increase over `additive_increase`.
        hyper_factor: u32 = "5", in 1..=1000, from "TIMELY (2015), section 4.4";
        /// The rate never falls below.
        min_rate: Rate = "10Mbps", in RATES, from "assumed: the paper has none";
        check thresholds;
    }
}

/// Checks that the upper threshold is not below the lower one.
fn thresholds(timely: &Timely, reader: &mut dyn Reader) -> bool {
    let holds = timely.low <= timely.high;
    if !holds {
        let remedy = "give `high` at least as much as `low`";
        reader.refuse("high", "is less than `low`", remedy);
    }
    holds
}

/// State of one queue pair. Rates are in bits per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flow {
    rate: u64,
    line: u64,
    /// Previous round-trip time; zero before the first.
    round_trip: Time,
    /// Smoothed difference between successive round-trip times, in ps.
    difference: i64,
    /// Acknowledgements between both thresholds since the gradient was last positive.
    falling: u32,
}

impl Timely {
    /// Raises the rate by `times` additive increases, up to the line rate.
    fn raise(&self, flow: &mut Flow, times: u32) {
        let more = self.additive_increase.bits_per_second() * u64::from(times);
        flow.rate = (flow.rate + more).min(flow.line);
    }

    /// Lowers the rate by the share `beta` · `part` / `whole`, down to the minimum rate.
    fn lower(&self, flow: &mut Flow, part: u64, whole: u64) {
        // A gradient above 1/`beta` would take more than the whole rate.
        let share = part_of(u64::from(self.beta.ppm()), part, whole).min(u64::from(Share::PARTS));
        let less = part_of(flow.rate, share, u64::from(Share::PARTS));
        // The minimum may lie above the present rate on a slow line; a decrease must never raise
        // the rate.
        let min = self.min_rate.bits_per_second().min(flow.rate);
        flow.rate = (flow.rate - less).max(min);
    }
}

impl Control for Timely {
    type Flow = Flow;
    const FROM_START: bool = true;

    fn on_link(self, link: &Link) -> Timely {
        let scaled = |rate: Rate| {
            self.scale_from.map_or(rate, |from| {
                let rate = part_of(rate.bits_per_second(), link.line, from.bits_per_second());
                Rate::from_bits_per_second(rate.max(1))
            })
        };
        Timely {
            additive_increase: scaled(self.additive_increase),
            min_rate: scaled(self.min_rate),
            scale_from: None,
            ..self
        }
    }

    fn start(&self, link: &Link, _: Instant) -> Flow {
        Flow {
            rate: link.line,
            line: link.line,
            round_trip: Time::ZERO,
            difference: 0,
            falling: 0,
        }
    }

    fn rate(&self, flow: &mut Flow, _: Instant) -> u64 {
        if flow.rate == flow.line {
            return u64::MAX;
        }
        flow.rate
    }

    fn acknowledged(&self, flow: &mut Flow, _: &Link, feedback: &Feedback<'_>) {
        // A duplicate has no round-trip time to learn from: it answers an old packet.
        let Some(round_trip) = feedback.round_trip.filter(|_| feedback.news > 0) else {
            return;
        };
        let before = std::mem::replace(&mut flow.round_trip, round_trip);
        // The first round-trip time has no predecessor to form a gradient with.
        if before.is_zero() {
            return;
        }
        let parts = i64::from(Share::PARTS);
        let weight = i64::from(self.weight.ppm());
        // Round-trip times are below 2³⁹ ps, the span that send times on the wire can express, so
        // the products with weights in millionths fit into 63 bits.
        let new = round_trip.ps().cast_signed() - before.ps().cast_signed();
        flow.difference = ((parts - weight) * flow.difference + weight * new) / parts;
        if flow.difference > 0 {
            flow.falling = 0;
        }
        if round_trip < self.low {
            self.raise(flow, 1);
        } else if round_trip > self.high {
            self.lower(flow, (round_trip - self.high).ps(), round_trip.ps());
        } else if flow.difference <= 0 {
            flow.falling += 1;
            let often = flow.falling >= self.hyper_after;
            self.raise(flow, if often { self.hyper_factor } else { 1 });
        } else {
            self.lower(
                flow,
                flow.difference.cast_unsigned(),
                self.base_round_trip.ps(),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use tenter_language::units::{Instant, Time};

    use super::{Control, Feedback, Flow, Link, Timely};

    const GBPS: u64 = 1_000_000_000;

    fn after(control: &Timely, flow: &mut Flow, round_trips_us: &[u64]) -> u64 {
        for round_trip in round_trips_us {
            let feedback = Feedback {
                now: Instant::START,
                round_trip: Some(Time::from_ps(round_trip * 1_000_000)),
                news: 4_178,
                ..Feedback::default()
            };
            control.acknowledged(flow, &Link::of_gbps(10), &feedback);
        }
        flow.rate
    }

    fn at(rate: u64) -> (Timely, Flow) {
        let control = Timely::default().on_link(&Link::of_gbps(10));
        let mut flow = control.start(&Link::of_gbps(10), Instant::START);
        flow.rate = rate;
        (control, flow)
    }

    #[test]
    fn the_first_round_trip_changes_nothing_and_low_ones_add() {
        let (control, mut flow) = at(GBPS);
        assert_eq!(after(&control, &mut flow, &[40]), GBPS);
        // Below 50 us: 10 Mb/s each, however fast it rises.
        assert_eq!(after(&control, &mut flow, &[45, 20, 49]), GBPS + 30_000_000);
    }

    #[test]
    fn high_round_trips_take_a_share_of_the_rate() {
        let (control, mut flow) = at(GBPS);
        // 1 - 0.8 (1 - 500/1000) = 0.6.
        assert_eq!(after(&control, &mut flow, &[1000, 1000]), 600_000_000);
    }

    #[test]
    fn between_the_thresholds_the_gradient_decides() {
        let (control, mut flow) = at(GBPS);
        // From 100 to 104 us: 0.875 * 4 = 3.5 us of 20 us, so 1 - 0.8 * 0.175 = 0.86.
        assert_eq!(after(&control, &mut flow, &[100, 104]), 860_000_000);
        // Falling: one step each for four times, then five each.
        let (control, mut flow) = at(GBPS);
        let rate = after(&control, &mut flow, &[100, 100, 100, 100, 100]);
        assert_eq!(rate, GBPS + 4 * 10_000_000);
        assert_eq!(after(&control, &mut flow, &[100]), rate + 5 * 10_000_000);
    }

    #[test]
    fn steps_are_in_proportion_to_the_line_and_rates_stay_in_bounds() {
        let control = Timely::default().on_link(&Link::of_gbps(400));
        assert_eq!(control.additive_increase.bits_per_second(), 400_000_000);
        let mut flow = control.start(&Link::of_gbps(400), Instant::START);
        assert_eq!(after(&control, &mut flow, &[10, 10]), 400 * GBPS);
        // A gradient beyond one takes all but the least rate, 10 Mb/s at 10G.
        assert_eq!(after(&control, &mut flow, &[60, 400]), 400_000_000);
    }
}
