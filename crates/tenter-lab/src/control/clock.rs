//! Clocks: an agent's own, and what a coordinator makes of it.

use std::time::Instant;

use serde::{Deserialize, Serialize};

/// A clock of this process that only goes forward, in ns since it was made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocalClock(Instant);

impl LocalClock {
    /// A clock that starts now.
    pub(crate) fn start() -> LocalClock {
        LocalClock(Instant::now())
    }

    /// What it shows, in ns.
    pub(crate) fn now_ns(&self) -> u64 {
        u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

/// One exchange of time stamps with an agent, in ns: those of the coordinator by its clock, that of
/// the agent by the agent's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "the unit is part of each")]
pub(crate) struct Exchange {
    /// When the coordinator asked.
    pub(crate) asked_ns: u64,
    /// What the agent's clock showed when it answered.
    pub(crate) agent_ns: u64,
    /// When the answer had come.
    pub(crate) answered_ns: u64,
}

impl Exchange {
    fn round_trip(&self) -> u64 {
        self.answered_ns.saturating_sub(self.asked_ns)
    }

    /// Agent's clock less coordinator's, if both ways took as long as each other.
    fn offset(&self) -> f64 {
        let middle = self.asked_ns as f64 + self.round_trip() as f64 / 2.0;
        self.agent_ns as f64 - middle
    }
}

/// An estimate of an agent's clock: what it shows when the coordinator's shows 0, and by how much
/// it goes faster.
///
/// Source: the clock filter of NTP (RFC 5905): of several exchanges that with the shortest round
/// trip has the least error, at most half of the round trip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ClockEstimate {
    /// Agent's clock less coordinator's at `at_ns`, in ns.
    pub(crate) offset_ns: f64,
    /// When, by the coordinator's clock.
    pub(crate) at_ns: f64,
    /// The greatest error of the offset, in ns.
    pub(crate) error_ns: f64,
    /// By how much it goes faster, in parts per million; 0 until it has been seen twice.
    pub(crate) drift_ppm: f64,
}

impl ClockEstimate {
    /// From exchanges in a short time; `None` without any.
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

    /// The same with the drift that a later estimate shows; none where both are so near that their
    /// errors would make most of it.
    #[must_use]
    pub(crate) fn until(self, later: &ClockEstimate) -> ClockEstimate {
        let apart = later.at_ns - self.at_ns;
        let moved = later.offset_ns - self.offset_ns;
        let error = self.error_ns + later.error_ns;
        let drift_ppm = if apart > 0.0 && moved.abs() > error {
            moved / apart * 1e6
        } else {
            0.0
        };
        ClockEstimate { drift_ppm, ..self }
    }

    /// What the agent's clock shows at a time of the coordinator's, in ns.
    pub(crate) fn agent_ns(&self, coordinator_ns: u64) -> u64 {
        let shown = coordinator_ns as f64 + self.offset_ns;
        if shown > 0.0 { shown as u64 } else { 0 }
    }

    /// A span since `at_ns` by the agent's clock, as the coordinator's would have it; both in ps.
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
