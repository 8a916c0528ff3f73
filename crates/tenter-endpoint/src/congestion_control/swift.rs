//! Swift: windows that keep the round-trip time at a target.
//!
//! Source: Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the
//! Datacenter" (2020), algorithm 1 and section 3.5.

use tenter_units::Time;

use super::{Control, Feedback, part_of};

/// Multiplicative decreases are given in these parts of one.
pub const PARTS: u32 = 1_000_000;
/// Windows are counted in these parts of a packet.
const PACKET: u64 = 1 << 16;

/// The parameters of the window computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Swift {
    /// The target for large windows.
    pub base_target: Time,
    /// What small windows add to it at most, so that many flows share a link fairly.
    pub scaling_range: Time,
    /// The window, in thousandths of a packet, from which on downwards all of it is added.
    pub scaling_min_window: u32,
    /// The window, in packets, from which on upwards nothing is added.
    pub scaling_max_window: u32,
    /// Additive increase in a round trip, in thousandths of a packet.
    pub additive: u32,
    /// Multiplicative decrease, in [`PARTS`] of one.
    pub beta: u32,
    /// The most a window falls at once, in [`PARTS`] of one.
    pub max_decrease: u32,
    /// The window of a new queue pair, in packets.
    pub initial_window: u32,
    /// The smallest window, in thousandths of a packet.
    pub min_window: u32,
    /// The largest window, in packets.
    pub max_window: u32,
}

impl Default for Swift {
    /// The paper's where it has them: additive increase 1, beta 0.8, at most 0.5 at once, scaling
    /// between windows of 0.1 and 100. Its targets depend on the network: 25 us, which it shows for
    /// its fabric, and a range of 100 us. A window is 0.001 to 1,024 packets and begins with 100:
    /// assumed.
    fn default() -> Swift {
        Swift {
            base_target: Time::from_us(25),
            scaling_range: Time::from_us(100),
            scaling_min_window: 100,
            scaling_max_window: 100,
            additive: 1000,
            beta: 800_000,
            max_decrease: 500_000,
            initial_window: 100,
            min_window: 1,
            max_window: 1024,
        }
    }
}

/// A queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flow {
    /// In parts of a [`PACKET`].
    window: u64,
    /// When it fell last, in ps.
    fell_at: u64,
    /// The last round-trip time, in ps.
    round_trip: u64,
    line: u64,
    /// Frame bytes of the packet sent last.
    frame_bytes: u64,
}

/// A window of thousandths of a packet, in parts of a [`PACKET`].
fn thousandths(window: u32) -> u64 {
    u64::from(window) * PACKET / 1000
}

/// One over the square root of a window, in 2^-16.
fn inverse_root(window: u64) -> u64 {
    (1 << 32) / (window << 16).isqrt().max(1)
}

impl Swift {
    /// The round-trip time that a window aims at, in ps.
    fn target(&self, window: u64) -> u64 {
        let of = inverse_root(window);
        let most = inverse_root(thousandths(self.scaling_min_window).max(1));
        let least = inverse_root(u64::from(self.scaling_max_window) * PACKET);
        let above = of.clamp(least, most.max(least)) - least;
        let span = most.saturating_sub(least).max(1);
        self.base_target.ps() + part_of(self.scaling_range.ps(), above, span)
    }

    fn bounded(&self, window: u64) -> u64 {
        let least = thousandths(self.min_window).max(1);
        window.clamp(least, (u64::from(self.max_window) * PACKET).max(least))
    }

    /// The window falls by a share of it, unless it has within the last round trip.
    fn lower(&self, flow: &mut Flow, share: u64, now: u64) {
        if now < flow.fell_at + flow.round_trip {
            return;
        }
        let share = share.min(u64::from(self.max_decrease));
        let less = part_of(flow.window, share, u64::from(PARTS));
        flow.window = self.bounded(flow.window - less);
        flow.fell_at = now;
    }
}

impl Control for Swift {
    type Flow = Flow;
    const FROM_START: bool = true;

    fn on_line(self, _: u64) -> Swift {
        self
    }

    fn start(&self, line: u64, _: u64) -> Flow {
        Flow {
            window: self.bounded(u64::from(self.initial_window) * PACKET),
            fell_at: 0,
            round_trip: 0,
            line,
            frame_bytes: 0,
        }
    }

    /// Below one packet, the next one waits for round trips over windows.
    fn rate(&self, flow: &mut Flow, _: u64) -> u64 {
        if flow.window >= PACKET || flow.round_trip == 0 {
            return u64::MAX;
        }
        let wait = part_of(flow.round_trip, PACKET, flow.window);
        let rate = part_of(flow.frame_bytes.max(64) * 8, 1_000_000_000_000, wait);
        rate.clamp(1, flow.line)
    }

    fn window(&self, flow: &Flow, _: u64) -> u32 {
        (flow.window / PACKET).clamp(1, u64::from(u32::MAX)) as u32
    }

    fn sent(&self, flow: &mut Flow, frame_bytes: u64) {
        flow.frame_bytes = frame_bytes;
    }

    fn notified(&self, _: &mut Flow, _: bool, _: u64) {}

    fn acknowledged(&self, flow: &mut Flow, feedback: &Feedback<'_>) {
        let Feedback {
            now,
            round_trip,
            packets,
            ..
        } = *feedback;
        flow.round_trip = round_trip;
        let target = self.target(flow.window);
        if packets > 0 && round_trip < target {
            let more = thousandths(self.additive) * u64::from(packets);
            let more = if flow.window >= PACKET {
                part_of(more, PACKET, flow.window)
            } else {
                more
            };
            flow.window = self.bounded(flow.window + more);
        } else if round_trip > target {
            let share = part_of(u64::from(self.beta), round_trip - target, round_trip);
            self.lower(flow, share, now);
        }
    }

    fn lost(&self, flow: &mut Flow, now: u64) {
        self.lower(flow, u64::from(self.max_decrease), now);
    }

    fn is_over(&self, _: &Flow) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::{Control, Feedback, Flow, PACKET, Swift};

    const US: u64 = 1_000_000;

    fn acknowledge(flow: &mut Flow, now_us: u64, round_trip_us: u64, packets: u32) -> f64 {
        let feedback = Feedback {
            now: now_us * US,
            round_trip: round_trip_us * US,
            packets,
            ..Feedback::default()
        };
        Swift::default().acknowledged(flow, &feedback);
        flow.window as f64 / PACKET as f64
    }

    fn with_window(window: u64) -> Flow {
        let mut flow = Swift::default().start(400_000_000_000, 0);
        flow.window = window;
        flow
    }

    #[test]
    fn targets_grow_as_windows_shrink() {
        let swift = Swift::default();
        let us = |window: u64| swift.target(window) as f64 / 1e6;
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
        flow.round_trip = 10 * US;
        // One packet in four round trips: 4158 * 8 bits in 40 us.
        assert_eq!(swift.rate(&mut flow, 0), 4158 * 8 * 1_000_000 / 40);
        assert_eq!(swift.window(&flow, 4096), 1);
        assert_eq!(swift.rate(&mut with_window(PACKET), 0), u64::MAX);
    }
}
