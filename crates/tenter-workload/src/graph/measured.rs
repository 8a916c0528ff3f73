//! What a recording has measured of its operations.

use tenter_units::Time;

/// When an operation was carried out where it was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// From the start of the recording; `None` where only how long it took is known.
    pub start: Option<Time>,
    /// How long it took.
    pub took: Time,
}

/// As it is stored, in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stored {
    start: u64,
    took: u64,
}

/// Stands for a time that is not known.
const UNKNOWN: u64 = u64::MAX;

impl Stored {
    const NONE: Stored = Stored {
        start: UNKNOWN,
        took: UNKNOWN,
    };
}

/// What was measured of the operations of a rank: nothing, or an entry for each up to the last one
/// of which something was.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MeasuredOperations(Vec<Stored>);

impl MeasuredOperations {
    /// Bytes of an entry.
    pub(super) const ENTRY_BYTES: usize = size_of::<Stored>();

    pub(super) fn set(&mut self, place: u32, measured: Measured) {
        let place = place as usize;
        if self.0.len() <= place {
            self.0.resize(place + 1, Stored::NONE);
        }
        self.0[place] = Stored {
            start: measured.start.map_or(UNKNOWN, Time::ps),
            took: measured.took.ps(),
        };
    }

    pub(super) fn get(&self, place: u32) -> Option<Measured> {
        let stored = self.0.get(place as usize)?;
        (stored.took != UNKNOWN).then(|| Measured {
            start: (stored.start != UNKNOWN).then(|| Time::from_ps(stored.start)),
            took: Time::from_ps(stored.took),
        })
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}
