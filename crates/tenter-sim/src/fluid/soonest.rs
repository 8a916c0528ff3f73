//! The soonest of many instants, any of which may change at any time.

use tenter_language::units::Instant;

/// Instants by index, in a tournament tree: each match is won by the sooner one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Soonest {
    /// Winner of all at 1, of the halves at 2 and 3, and so on; the second half of the list holds
    /// the instants themselves.
    winners: Vec<Instant>,
    places: usize,
}

impl Soonest {
    /// Adds an index, whose instant is never.
    pub(crate) fn push(&mut self) {
        self.places += 1;
        if 2 * self.places <= self.winners.len() {
            return;
        }
        let before = self.winners.len() / 2;
        // With a power of two, parents and children are found by halving and doubling the index.
        let half = self.places.next_power_of_two();
        let mut winners = vec![Instant::NEVER; 2 * half];
        winners[half..half + before].copy_from_slice(&self.winners[before..]);
        for place in (1..half).rev() {
            winners[place] = winners[2 * place].min(winners[2 * place + 1]);
        }
        self.winners = winners;
    }

    pub(crate) fn set(&mut self, place: usize, at: Instant) {
        let mut place = self.winners.len() / 2 + place;
        self.winners[place] = at;
        while place > 1 {
            let winner = self.winners[place].min(self.winners[place ^ 1]);
            place /= 2;
            // If a winner stays, so do all those above it.
            if self.winners[place] == winner {
                break;
            }
            self.winners[place] = winner;
        }
    }

    /// Returns the soonest instant, or never.
    pub(crate) fn first(&self) -> Instant {
        self.winners.get(1).copied().unwrap_or(Instant::NEVER)
    }

    /// Calls `found` in ascending order for each index whose instant is not after `at`.
    pub(crate) fn up_to(&self, at: Instant, mut found: impl FnMut(usize)) {
        let half = self.winners.len() / 2;
        let mut open = vec![1];
        while let Some(place) = open.pop() {
            if self.winners.get(place).is_none_or(|winner| *winner > at) {
                continue;
            }
            if place >= half {
                found(place - half);
            } else {
                // The left child is pushed last and popped first: indices come in ascending order.
                open.extend([2 * place + 1, 2 * place]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soonest_is_first_whatever_changes() {
        let mut soonest = Soonest::default();
        let mut all: Vec<u64> = Vec::new();
        let mut draw = 1_u64;
        for step in 0..400 {
            draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            if step % 5 == 0 {
                soonest.push();
                all.push(u64::MAX);
            }
            let place = (draw >> 33) as usize % all.len();
            all[place] = (draw >> 40) % 50;
            soonest.set(place, Instant::from_ps(all[place]));
            let least = all.iter().copied().min().expect("some");
            assert_eq!(soonest.first().ps(), least);
            let mut found = Vec::new();
            soonest.up_to(Instant::from_ps(least), |place| found.push(place));
            let expected = (0..all.len()).filter(|place| all[*place] == least);
            assert_eq!(found, expected.collect::<Vec<_>>());
        }
    }
}
