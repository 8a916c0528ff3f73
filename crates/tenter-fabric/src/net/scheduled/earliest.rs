//! The earliest of a few instants that change often.

use tenter_language::units::Instant;

/// An instant for each of a few places, with the earliest at hand: among several at once, that of
/// the lowest place.
#[derive(Clone, Debug)]
pub(crate) struct Earliest {
    at: Vec<Instant>,
    /// Place of the earliest instant.
    first: usize,
}

impl Earliest {
    pub(crate) fn new(places: usize) -> Earliest {
        Earliest {
            at: vec![Instant::NEVER; places],
            first: 0,
        }
    }

    /// Returns the earliest instant and its place.
    #[inline]
    pub(crate) fn first(&self) -> (Instant, usize) {
        (
            self.at.get(self.first).copied().unwrap_or(Instant::NEVER),
            self.first,
        )
    }

    #[inline]
    pub(crate) fn set(&mut self, place: usize, at: Instant) {
        let before = std::mem::replace(&mut self.at[place], at);
        if (at, place) < (self.at[self.first], self.first) {
            self.first = place;
        } else if place == self.first && at > before {
            // Only when the earliest itself has moved back must the others be compared.
            self.look();
        }
    }

    fn look(&mut self) {
        let earliest = self.at.iter().copied().min().unwrap_or(Instant::NEVER);
        let first = self.at.iter().position(|&at| at == earliest);
        self.first = first.unwrap_or(0);
    }
}

#[cfg(test)]
mod tests {
    use super::Earliest;
    use tenter_engine::mix64;
    use tenter_language::units::Instant;

    #[test]
    fn it_is_the_least_of_all_at_any_time() {
        let mut earliest = Earliest::new(5);
        let mut plain = [Instant::NEVER; 5];
        assert_eq!(earliest.first(), (Instant::NEVER, 0));
        for step in 0..2_000 {
            let place = (mix64(step) % 5) as usize;
            let at = match mix64(step + 9_999) % 8 {
                7 => Instant::NEVER,
                at => Instant::from_ps(at),
            };
            earliest.set(place, at);
            plain[place] = at;
            let expected = plain.iter().copied().zip(0..).min();
            assert_eq!(Some(earliest.first()), expected);
        }
    }
}
