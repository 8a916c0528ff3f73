//! Swift: each window keeps its queue pair's round-trip time at a target.
//!
//! Source: Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the
//! Datacenter" (2020), algorithm 1 and section 3.5.

use tenter_language::config::{Share, component};
use tenter_language::units::{Instant, Time};

use super::{Answers, Control, Feedback, Link, SECOND, TICK_MIN, Window, part_of};

/// Fixed-point unit: windows are counted in 2⁻¹⁶ packet.
const PACKET: u64 = 1 << 16;
/// Upper bound of the window keys, in packets.
const PACKETS_MAX: u32 = 1 << 20;
/// Windows up to 0.1 packets add the whole scaling range to the target (section 3.5).
const SCALING_MIN_WINDOW: u64 = PACKET / 10;
/// Windows from 100 packets on add nothing to the target (section 3.5).
const SCALING_MAX_WINDOW: u64 = 100 * PACKET;
/// Smallest window, a thousandth of a packet: assumed.
const MIN_WINDOW: u64 = PACKET / 1000;

component! {
    /// The parameters of the window computation.
    pub struct Swift {
        /// The round-trip time that large windows aim at.
        base_target: Time = "25us", in TICK_MIN..=SECOND,
            from "Swift (2020), what it shows for its own fabric; it depends on the network";
        /// The most that small windows add to the target, so that many flows share a link fairly.
        scaling_range: Time = "100us", in Time::ZERO..=SECOND,
            from "assumed: four times the base target";
        /// Growth of a window in a round trip, in packets.
        additive_increase: u32 = "1", in 1..=1000, from "Swift (2020), algorithm 1";
        /// Multiplicative decrease.
        beta: Share = "0.8", from "Swift (2020), algorithm 1";
        /// The most that a window falls at once.
        max_decrease: Share = "0.5", from "Swift (2020), algorithm 1";
        /// The window of a new QP, in packets.
        initial_window: u32 = "100", in 1..=PACKETS_MAX, from "assumed";
        /// The largest window, in packets.
        max_window: u32 = "1024", in 1..=PACKETS_MAX, from "assumed";
    }
}

/// State of one queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flow {
    /// Window in units of 1/[`PACKET`] packet.
    window: u64,
    /// Instant of the last decrease.
    fell_at: Instant,
    /// Latest round-trip time; zero before the first acknowledgement.
    round_trip: Time,
    /// Line rate in bits per second.
    line: u64,
    /// Frame bytes of the latest packet, by which a window below one packet becomes a rate.
    frame_bytes: u64,
}

/// Returns 1/√w for a window of w packets, in units of 2⁻¹⁶.
fn inverse_root(window: u64) -> u64 {
    (1 << 32) / (window << 16).isqrt().max(1)
}

impl Swift {
    /// Returns the round-trip time that a window aims at.
    fn target(&self, window: u64) -> Time {
        let of = inverse_root(window);
        let most = inverse_root(SCALING_MIN_WINDOW);
        let least = inverse_root(SCALING_MAX_WINDOW);
        let above = of.clamp(least, most.max(least)) - least;
        let span = most.saturating_sub(least).max(1);
        self.base_target + Time::from_ps(part_of(self.scaling_range.ps(), above, span))
    }

    fn bounded(&self, window: u64) -> u64 {
        window.clamp(MIN_WINDOW, u64::from(self.max_window) * PACKET)
    }

    /// Cuts the window by `share` millionths, unless the last cut is less than a round trip ago:
    /// its effect cannot have been seen yet.
    fn lower(&self, flow: &mut Flow, share: u64, now: Instant) {
        if now < flow.fell_at + flow.round_trip {
            return;
        }
        let share = share.min(u64::from(self.max_decrease.ppm()));
        let less = part_of(flow.window, share, u64::from(Share::PARTS));
        flow.window = self.bounded(flow.window - less);
        flow.fell_at = now;
    }
}

impl Control for Swift {
    type Flow = Flow;
    const FROM_START: bool = true;

    fn answers(&self) -> Answers {
        Answers::BeforeOnePacketWaits
    }

    fn start(&self, link: &Link, _: Instant) -> Flow {
        Flow {
            window: self.bounded(u64::from(self.initial_window) * PACKET),
            fell_at: Instant::START,
            round_trip: Time::ZERO,
            line: link.line,
            frame_bytes: 0,
        }
    }

    /// Paces windows below one packet: the next packet follows R/w after the last one.
    fn rate(&self, flow: &mut Flow, _: Instant) -> u64 {
        if flow.window >= PACKET || flow.round_trip.is_zero() {
            return u64::MAX;
        }
        let wait = part_of(flow.round_trip.ps(), PACKET, flow.window);
        // A trillion picoseconds per second. Before the first packet its length is unknown, so the
        // shortest frame stands in.
        let rate = part_of(flow.frame_bytes.max(64) * 8, 1_000_000_000_000, wait);
        rate.clamp(1, flow.line)
    }

    fn window(&self, flow: &Flow, _: &Link) -> Window {
        // Even a window below one packet allows one; `rate` spaces them out.
        Window::Packets((flow.window / PACKET).clamp(1, u64::from(u32::MAX)) as u32)
    }

    fn sent(&self, flow: &mut Flow, frame_bytes: u64) {
        flow.frame_bytes = frame_bytes;
    }

    fn acknowledged(&self, flow: &mut Flow, link: &Link, feedback: &Feedback<'_>) {
        let now = feedback.now;
        let Some(round_trip) = feedback.round_trip else {
            return;
        };
        let packets = feedback.news / link.full;
        flow.round_trip = round_trip;
        let target = self.target(flow.window);
        if packets > 0 && round_trip < target {
            let more = u64::from(self.additive_increase) * PACKET * packets;
            // Growth per window is constant: w acknowledged packets together add
            // `additive_increase`. Below one packet the paper adds all of it with each
            // acknowledgement.
            let more = if flow.window >= PACKET {
                part_of(more, PACKET, flow.window)
            } else {
                more
            };
            flow.window = self.bounded(flow.window + more);
        } else if round_trip > target {
            let above = (round_trip - target).ps();
            let share = part_of(u64::from(self.beta.ppm()), above, round_trip.ps());
            self.lower(flow, share, now);
        }
    }

    fn lost(&self, flow: &mut Flow, _: &Link, now: Instant) {
        self.lower(flow, u64::from(self.max_decrease.ppm()), now);
    }
}

#[cfg(test)]
mod tests {
    use tenter_language::units::{Instant, Time};

    use super::{Control, Feedback, Flow, Link, PACKET, Swift, Window};

    const US: u64 = 1_000_000;

    fn acknowledge(flow: &mut Flow, now_us: u64, round_trip_us: u64, packets: u64) -> f64 {
        let feedback = Feedback {
            now: Instant::from_ps(now_us * US),
            round_trip: Some(Time::from_ps(round_trip_us * US)),
            news: packets * 4_178,
            ..Feedback::default()
        };
        Swift::default().acknowledged(flow, &Link::of_gbps(400), &feedback);
        flow.window as f64 / PACKET as f64
    }

    fn with_window(window: u64) -> Flow {
        let mut flow = Swift::default().start(&Link::of_gbps(400), Instant::START);
        flow.window = window;
        flow
    }

    #[test]
    fn targets_grow_as_windows_shrink() {
        let swift = Swift::default();
        let us = |window: u64| swift.target(window).ps() as f64 / 1e6;
        // 100 us * (1/sqrt(w) - 1/10) / (1/sqrt(0.1) - 1/10) on top of 25 us.
        for (window, expected) in [
            (100 * PACKET, 25.0),
            (1000 * PACKET, 25.0),
            (PACKET, 25.0 + 100.0 * 0.9 / 3.0623),
            (4 * PACKET, 25.0 + 100.0 * 0.4 / 3.0623),
            (PACKET / 10, 125.0),
            (PACKET / 100, 125.0),
        ] {
            let got = us(window);
            assert!((got - expected).abs() < 0.05, "{window}: {got} {expected}");
        }
    }

    #[test]
    fn a_round_trip_below_the_target_adds_one_packet_per_window() {
        let mut flow = with_window(50 * PACKET);
        let window = (0..50).fold(0.0, |_, _| acknowledge(&mut flow, 10, 10, 1));
        assert!((window - 51.0).abs() < 0.02, "{window}");
        // Below one packet each acknowledged packet adds one.
        let mut flow = with_window(PACKET / 2);
        assert!((acknowledge(&mut flow, 10, 10, 1) - 1.5).abs() < 0.01);
    }

    #[test]
    fn a_round_trip_above_the_target_takes_a_share_once_in_a_round_trip() {
        // 25 us for 200 packets: at 50 us 0.8 * 25/50 = 0.4 of it.
        let mut flow = with_window(200 * PACKET);
        assert!((acknowledge(&mut flow, 100, 50, 1) - 120.0).abs() < 0.01);
        assert!((acknowledge(&mut flow, 149, 50, 1) - 120.0).abs() < 0.01);
        assert!((acknowledge(&mut flow, 150, 50, 1) - 72.0).abs() < 5.0);
        // Never more than half at once.
        let mut flow = with_window(200 * PACKET);
        assert!((acknowledge(&mut flow, 1000, 900, 1) - 100.0).abs() < 0.01);
    }

    #[test]
    fn below_one_packet_it_waits() {
        let swift = Swift::default();
        let mut flow = with_window(PACKET / 4);
        swift.sent(&mut flow, 4158);
        flow.round_trip = Time::from_ps(10 * US);
        // One packet in four round trips: 4158 * 8 bits in 40 us.
        assert_eq!(
            swift.rate(&mut flow, Instant::START),
            4158 * 8 * 1_000_000 / 40
        );
        assert_eq!(swift.window(&flow, &Link::of_gbps(400)), Window::Packets(1));
        assert_eq!(
            swift.rate(&mut with_window(PACKET), Instant::START),
            u64::MAX
        );
    }
}
