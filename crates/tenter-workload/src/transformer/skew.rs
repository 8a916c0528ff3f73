//! Uneven expert popularity, and the all-to-all that follows from it.

use std::fmt;
use std::str::FromStr;

use tenter_language::config::parsed;
use tenter_language::units::Bytes;

use crate::collective::{CollectiveKind, Direction, StepList, StepSpec, Steps};

/// Zipf exponent, 0 to 4: the token share that the `r`-th most popular expert gets is proportional
/// to `r` to the power of minus the exponent. With 0 all experts get the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Skew(pub f64);

impl FromStr for Skew {
    type Err = ();

    fn from_str(word: &str) -> Result<Skew, ()> {
        let exponent = word.parse().map_err(|_| ())?;
        let holds = (0.0..=4.0).contains(&exponent);
        holds.then_some(Skew(exponent)).ok_or(())
    }
}

impl fmt::Display for Skew {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

parsed!(Skew {
    "decimal, 0 to 4",
    "cannot be",
    "give a number from 0 to 4, 0 for experts that are all alike"
});

impl Skew {
    /// Returns true if all experts get the same share.
    pub fn is_even(self) -> bool {
        self.0 <= 0.0
    }

    /// Returns the token share that each of `ranks` ranks gets. Experts are dealt to ranks one by
    /// one, the most popular first.
    pub fn shares(self, experts: u32, ranks: u32) -> Vec<f64> {
        let mut shares = vec![0.0; ranks as usize];
        for place in 0..experts {
            shares[(place % ranks) as usize] += f64::from(place + 1).powf(-self.0);
        }
        // Normalised here, so that the shares add up to 1.
        let all: f64 = shares.iter().sum();
        shares.iter().map(|share| share / all).collect()
    }
}

/// Builds an all-to-all in which each rank sends `bytes`, split over ranks by `shares`, or gets
/// them back. Returns `None` if nothing is left to send.
pub(crate) fn all_to_all(shares: &[f64], bytes: u64, way: Direction) -> Option<CollectiveKind> {
    let ranks = 0..shares.len() as u32;
    let mut steps = Vec::new();
    for source in ranks.clone() {
        for (expert, share) in ranks.clone().zip(shares) {
            let sent = (bytes as f64 * share).round() as u64;
            // Tokens for the rank's own experts cross no network.
            if source == expert || sent == 0 {
                continue;
            }
            let (rank, peer) = match way {
                Direction::Dispatch => (source, expert),
                Direction::Combine => (expert, source),
            };
            steps.push(StepSpec {
                rank,
                peer,
                bytes: Bytes::new(sent),
                // All messages may start at once.
                after: Vec::new(),
            });
        }
    }
    // A list without steps is refused, for instance if rounding left no bytes for anyone.
    let list = StepList::new(steps).ok()?;
    Some(CollectiveKind::Steps(Steps {
        file: None,
        steps: Some(list),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of four experts on two ranks with an exponent of 1 the first has 1 + 1/3 of 25/12, the
    /// second 1/2 + 1/4.
    #[test]
    fn shares_are_those_of_zipf() {
        let shares = Skew(1.0).shares(4, 2);
        assert!((shares[0] - 0.64).abs() < 1e-12, "{shares:?}");
        assert!((shares[1] - 0.36).abs() < 1e-12, "{shares:?}");
        assert_eq!(Skew(0.0).shares(4, 2), [0.5, 0.5]);
        for text in ["-1", "5", "x", "nan"] {
            assert_eq!(text.parse::<Skew>(), Err(()), "{text}");
        }
    }
}
