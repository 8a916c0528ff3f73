//! Times that a recording gives for the operations of a graph.

use tenter_language::units::Time;

/// Time at which an operation ran in the recording from which it comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// Time since the recording began; `None` if only the duration is known.
    pub start: Option<Time>,
    /// Time from its start to its end.
    pub took: Time,
}

/// A recorded time as it is stored, in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stored {
    place: u32,
    start: u64,
    took: u64,
}

/// Start that is not known.
const UNKNOWN: u64 = u64::MAX;

/// Times recorded for a rank's operations, ascending by place. Operations without one have no
/// entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MeasuredOperations(Vec<Stored>);

impl MeasuredOperations {
    /// Memory that one entry takes, in bytes.
    pub(super) const ENTRY_BYTES: usize = size_of::<Stored>();

    pub(super) fn set(&mut self, place: u32, measured: Measured) {
        let stored = Stored {
            place,
            start: measured.start.map_or(UNKNOWN, Time::ps),
            took: measured.took.ps(),
        };
        // Operations mostly come in order of their places, so this is an append.
        match self.find(place) {
            Ok(known) => self.0[known] = stored,
            Err(next) => self.0.insert(next, stored),
        }
    }

    fn find(&self, place: u32) -> Result<usize, usize> {
        if self.0.last().is_none_or(|last| last.place < place) {
            return Err(self.0.len());
        }
        self.0.binary_search_by_key(&place, |stored| stored.place)
    }

    pub(super) fn get(&self, place: u32) -> Option<Measured> {
        let stored = self.0[self.find(place).ok()?];
        Some(Measured {
            start: (stored.start != UNKNOWN).then(|| Time::from_ps(stored.start)),
            took: Time::from_ps(stored.took),
        })
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns memory reserved for further entries.
    pub(super) fn shrink(&mut self) {
        self.0.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_found_in_any_order_and_take_no_more_than_they_are() {
        let of = |start: Option<u64>, took| Measured {
            start: start.map(Time::from_ps),
            took: Time::from_ps(took),
        };
        let mut measured = MeasuredOperations::default();
        for (place, start, took) in [(7, Some(1), 2), (1_000_000, None, 3), (2, Some(0), 0)] {
            measured.set(place, of(start, took));
        }
        measured.set(7, of(Some(4), 5));
        assert_eq!(measured.len(), 3);
        assert_eq!(measured.get(7), Some(of(Some(4), 5)));
        assert_eq!(measured.get(1_000_000), Some(of(None, 3)));
        assert_eq!(measured.get(2), Some(of(Some(0), 0)));
        assert_eq!(
            [0, 8, 2_000_000].map(|place| measured.get(place)),
            [None; 3]
        );
    }
}
