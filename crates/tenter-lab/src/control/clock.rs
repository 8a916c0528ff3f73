//! The local clock, and what the coordinator knows about an agent's clock.

use std::time::Instant;

use serde::{Deserialize, Serialize};

/// This process's monotonic clock, in ns since it was started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocalClock(Instant);

impl LocalClock {
    /// Starts a clock that shows 0 now.
    pub(crate) fn start() -> LocalClock {
        LocalClock(Instant::now())
    }

    /// Returns the time since the start in ns.
    pub(crate) fn now_ns(&self) -> u64 {
        u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

/// One exchange of time stamps with an agent, in ns: two by the coordinator's clock, one by the
/// agent's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "the unit is part of each")]
pub(crate) struct Exchange {
    /// Time at which the coordinator sent its ping.
    pub(crate) asked_ns: u64,
    /// The agent's clock when it answered.
    pub(crate) agent_ns: u64,
    /// Time at which the coordinator received the answer.
    pub(crate) answered_ns: u64,
}

impl Exchange {
    fn round_trip(&self) -> u64 {
        self.answered_ns.saturating_sub(self.asked_ns)
    }

    /// Returns agent's clock minus coordinator's, on the assumption that both directions took
    /// equally long.
    fn offset(&self) -> f64 {
        let middle = self.asked_ns as f64 + self.round_trip() as f64 / 2.0;
        self.agent_ns as f64 - middle
    }
}

/// An estimate of an agent's clock: its offset from the coordinator's clock at `at_ns`, and its
/// drift since then.
///
/// Source: the clock filter of NTP (RFC 5905). Of several exchanges, the one with the shortest
/// round trip has the smallest error: at most half its round trip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ClockEstimate {
    /// Agent's clock minus coordinator's at `at_ns`, in ns.
    pub(crate) offset_ns: f64,
    /// Coordinator's time at which the offset was taken, in ns.
    pub(crate) at_ns: f64,
    /// Largest possible error in `offset_ns`, in ns.
    pub(crate) error_ns: f64,
    /// Parts per million by which the agent's clock runs faster; 0 while no later exchange has
    /// shown a drift beyond the errors.
    pub(crate) drift_ppm: f64,
}

impl ClockEstimate {
    /// Estimates the clock from exchanges made shortly after each other; `None` if there are none.
    pub(crate) fn of(exchanges: &[Exchange]) -> Option<ClockEstimate> {
        let best = exchanges
            .iter()
            .min_by_key(|exchange| exchange.round_trip())?;
        let half = best.round_trip() as f64 / 2.0;
        Some(ClockEstimate {
            offset_ns: best.offset(),
            at_ns: best.asked_ns as f64 + half,
            error_ns: half,
            drift_ppm: 0.0,
        })
    }

    /// Returns this estimate with the drift that `later` shows. The drift is 0 if the offsets
    /// differ by no more than both errors together.
    #[must_use]
    pub(crate) fn until(self, later: &ClockEstimate) -> ClockEstimate {
        let apart = later.at_ns - self.at_ns;
        let moved = later.offset_ns - self.offset_ns;
        let error = self.error_ns + later.error_ns;
        // A smaller change may be an error in either offset.
        let drift_ppm = if apart > 0.0 && moved.abs() > error {
            moved / apart * 1e6
        } else {
            0.0
        };
        ClockEstimate { drift_ppm, ..self }
    }

    /// Returns the agent's clock, in ns, at `coordinator_ns` by the coordinator's. Drift is left
    /// out: the time asked for is close to `at_ns`.
    pub(crate) fn agent_ns(&self, coordinator_ns: u64) -> u64 {
        let shown = coordinator_ns as f64 + self.offset_ns;
        if shown > 0.0 { shown as u64 } else { 0 }
    }

    /// Converts a span measured by the agent's clock into one by the coordinator's; both in ps.
    pub(crate) fn corrected_ps(&self, ps: u64) -> u64 {
        (ps as f64 / (1.0 + self.drift_ppm / 1e6)).round() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_round_trip_tells_the_offset() {
        // An agent whose clock is 1,000,000 ahead; the ways take 50 + 50, or 400 + 50.
        let exchanges = [
            Exchange {
                asked_ns: 1_000,
                agent_ns: 1_001_400,
                answered_ns: 1_450,
            },
            Exchange {
                asked_ns: 2_000,
                agent_ns: 1_002_050,
                answered_ns: 2_100,
            },
        ];
        let clock = ClockEstimate::of(&exchanges).expect("two");
        assert!((clock.offset_ns - 1_000_000.0).abs() < 1e-6);
        assert!((clock.error_ns - 50.0).abs() < 1e-6);
        assert_eq!(clock.agent_ns(5_000), 1_005_000);
        assert_eq!(ClockEstimate::of(&[]), None);
    }

    #[test]
    fn drift_is_what_is_more_than_errors() {
        let first = ClockEstimate {
            offset_ns: 0.0,
            at_ns: 0.0,
            error_ns: 1_000.0,
            drift_ppm: 0.0,
        };
        // 100 us in 10 s are 10 ppm; 1.5 us are less than both errors.
        let at = |offset_ns| ClockEstimate {
            offset_ns,
            at_ns: 1e10,
            ..first
        };
        assert!((first.until(&at(100_000.0)).drift_ppm - 10.0).abs() < 1e-9);
        assert!(first.until(&at(1_500.0)).drift_ppm.abs() < 1e-9);
        let drifting = first.until(&at(100_000.0));
        assert_eq!(drifting.corrected_ps(1_000_010_000_000), 1_000_000_000_000);
    }
}
