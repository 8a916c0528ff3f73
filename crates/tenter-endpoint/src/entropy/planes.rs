//! Entropy values of a connection whose packets leave on several planes.

use tenter_language::units::Instant;

use super::{Choice, EntropyKind, PathNews, SplitMix};

/// Entropy value and plane of a packet that has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) value: u16,
    pub(crate) plane: u8,
}

/// One choice for each plane: the same value leads over different links on another plane, so
/// outcomes count for their plane alone.
#[derive(Clone, Debug)]
pub(crate) struct Choices {
    /// Plane 0, stored inline: most NICs have no other.
    first: Choice,
    /// Choices for planes 1 and up.
    further: Box<[Choice]>,
}

impl Choices {
    /// Creates the state for a new connection with `values` entropy values on each of `planes`
    /// planes.
    pub(crate) fn start(
        kind: EntropyKind,
        values: u16,
        planes: u16,
        random: &mut SplitMix,
    ) -> Choices {
        let first = kind.start(values, random);
        let further = (1..planes).map(|_| kind.start(values, random)).collect();
        Choices { first, further }
    }

    #[inline]
    fn on(&mut self, plane: u8) -> &mut Choice {
        match usize::from(plane).checked_sub(1) {
            None => &mut self.first,
            Some(further) => &mut self.further[further],
        }
    }

    /// Returns the value of the next packet on `plane`.
    #[inline]
    pub(crate) fn next(&mut self, plane: u8, random: &mut SplitMix) -> Sent {
        let value = self.on(plane).next(random);
        Sent { value, plane }
    }

    /// Learns the outcome of a packet at `now`.
    #[inline]
    pub(crate) fn hear(&mut self, sent: Sent, news: PathNews, now: Instant) {
        self.on(sent.plane).hear(sent.value, news, now);
    }
}

#[cfg(test)]
mod tests {
    use tenter_language::units::Instant;

    use super::{Choices, Sent};
    use crate::entropy::{EntropyKind, PathNews, SplitMix};

    #[test]
    fn news_of_a_path_is_about_its_plane() {
        let mut random = SplitMix::new(7);
        let mut choices = Choices::start(EntropyKind::Bitmap, 8, 2, &mut random);
        let bad = Sent { value: 3, plane: 1 };
        choices.hear(bad, PathNews::TimedOut, Instant::from_ps(1_000));
        let mut taken = |plane| -> Vec<Sent> {
            let values = (0..8).map(|_| choices.next(plane, &mut random));
            values.collect()
        };
        let (first, second) = (taken(0), taken(1));
        assert!(first.contains(&Sent { value: 3, plane: 0 }));
        assert!(!second.contains(&bad));
        assert!(second.iter().all(|sent| sent.plane == 1));
    }
}
