//! The settling time: how long after transfers have ended a network becomes steady.

use tenter_language::units::Time;

/// Precision with which the settling time is determined.
const RESOLUTION: Time = Time::from_ns(250);

/// Experience from earlier ends of transfers. A network that goes from step to step needs the same
/// time after each, so no time and no comparisons are spent on states that are not steady yet.
#[derive(Debug, Default)]
pub(super) struct Settling {
    /// Shortest time after an end at which the state was steady.
    steady: Option<Time>,
    /// Longest time at which it was not; shorter settling times are not tried.
    unsteady: Time,
}

impl Settling {
    /// Returns how long after the next end the state should be taken: halfway between the two,
    /// until they are close. `None` without experience.
    pub(super) fn wait(&self) -> Option<Time> {
        let steady = self.steady?;
        let between = steady.saturating_sub(self.unsteady);
        Some(if between > RESOLUTION {
            self.unsteady + between / 2
        } else {
            steady
        })
    }

    /// Records that the state was steady `after` an end.
    pub(super) fn was_steady(&mut self, after: Time) {
        self.steady = Some(self.steady.map_or(after, |steady| steady.min(after)));
        // Conflicting experience: what was too early once is steady now, so the bound is given up.
        if self.unsteady >= after {
            self.unsteady = Time::ZERO;
        }
    }

    /// Records that the state was not steady `after` an end.
    pub(super) fn was_unsteady(&mut self, after: Time) {
        self.unsteady = self.unsteady.max(after);
        self.steady = self.steady.filter(|steady| *steady > after);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_found_and_forgotten_when_it_is_longer() {
        let looks = |settling: &mut Settling, needed: u64| {
            for _ in 0..12 {
                let after = settling.wait().unwrap_or(Time::from_ns(5_000));
                if after >= Time::from_ns(needed) {
                    settling.was_steady(after);
                } else {
                    settling.was_unsteady(after);
                    settling.was_steady(after + Time::from_ns(2_000));
                }
            }
            settling.wait().map(|wait| wait.ps() / 1_000)
        };
        let mut settling = Settling::default();
        assert_eq!(settling.wait(), None);
        for needed in [700, 1_300, 3_100] {
            let wait = looks(&mut settling, needed).expect("known");
            assert!(
                (needed..needed + 300).contains(&wait),
                "{wait} for {needed}"
            );
        }
    }
}
