//! What each operation of a rank still waits for, and what is known of receives.

use tenter_engine::{prefetch_at, values_per_line};

/// The progress of the operations of a rank: a word for each, so that what one event needs of an
/// operation is in one place.
///
/// A receive that takes a certain transfer is either *asked*, when it waits for that, or *early*,
/// when the transfer came before.
#[derive(Clone, Debug)]
pub(super) struct Progress(Vec<u32>);

/// The receive has asked for its message.
const ASKED: u32 = 1 << 31;
/// The message of a receive is here before it asks.
const EARLY: u32 = 1 << 30;

impl Progress {
    /// The most that one operation can wait for.
    pub(super) const WAITS_MAX: u32 = EARLY - 1;

    /// Of operations that wait for so many things each.
    pub(super) fn new(waits: Vec<u32>) -> Progress {
        Progress(waits)
    }

    /// The operations that wait for nothing.
    pub(super) fn ready(&self) -> impl Iterator<Item = u32> + '_ {
        let words = (0..).zip(&self.0);
        words.filter_map(|(operation, word)| (word & Progress::WAITS_MAX == 0).then_some(operation))
    }

    /// One thing that an operation waits for is over; whether it was the last.
    pub(super) fn is_last(&mut self, operation: u32) -> bool {
        let word = &mut self.0[operation as usize];
        *word -= 1;
        *word & Progress::WAITS_MAX == 0
    }

    /// Prefetches the words of the operations that come soon behind one.
    #[inline]
    pub(super) fn prefetch_behind(&self, operation: u32) {
        prefetch_at(&self.0, operation as usize + values_per_line::<u32>());
    }

    /// A receive asks for its message; whether that is here.
    pub(super) fn ask(&mut self, receive: u32) -> bool {
        self.meet(receive, EARLY, ASKED)
    }

    /// The message of a receive is here; whether the receive has asked for it.
    pub(super) fn arrived(&mut self, receive: u32) -> bool {
        self.meet(receive, ASKED, EARLY)
    }

    /// Takes one mark if it is there, else puts the other.
    fn meet(&mut self, receive: u32, taken: u32, put: u32) -> bool {
        let word = &mut self.0[receive as usize];
        let was_there = *word & taken != 0;
        *word = if was_there {
            *word & !taken
        } else {
            *word | put
        };
        was_there
    }

    /// The receives that have asked for a certain message.
    pub(super) fn asked(&self) -> impl Iterator<Item = u32> + '_ {
        let words = (0..).zip(&self.0);
        words.filter_map(|(receive, word)| (word & ASKED != 0).then_some(receive))
    }
}
