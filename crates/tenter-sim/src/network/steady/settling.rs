//! How long a network takes to be steady after transfers have ended.

use tenter_units::Time;

/// It is known to no more than this.
const RESOLUTION: Time = Time::from_ns(250);

/// What was found after ends of transfers before: a network that goes from step to step takes as
/// long each time, so neither time nor looks need be spent on what is not steady yet.
#[derive(Debug, Default)]
pub(super) struct Settling {
    /// The shortest time after which it was steady; a shorter one is looked for only down to what
    /// is known not to be.
    steady: Option<Time>,
    /// The longest after which it was not.
    unsteady: Time,
}

impl Settling {
    /// So long after the next end it is looked at: halfway between the two, until they are close.
    /// Nothing where it is not known.
    pub(super) fn wait(&self) -> Option<Time> {
        let steady = self.steady?;
        let between = steady.saturating_sub(self.unsteady);
        Some(if between > RESOLUTION {
            self.unsteady + between / 2
        } else {
            steady
        })
    }

    /// So long after an end it was steady.
    pub(super) fn was_steady(&mut self, after: Time) {
        self.steady = Some(self.steady.map_or(after, |steady| steady.min(after)));
        if self.unsteady >= after {
            self.unsteady = Time::ZERO;
        }
    }

    /// So long after an end it was not.
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
