//! Progress of a rank's operations: what each still waits for.

use tenter_engine::{prefetch_at, values_per_line};

/// One word per operation: a count for the operations it waits for, and two flags for receives. An
/// event touches one word only.
///
/// A receive with a known message is *asked* while it waits for the message, and *early* while the
/// message waits for it.
#[derive(Clone, Debug)]
pub(super) struct Progress(Vec<u32>);

/// Flag: the receive has asked for its message.
const ASKED: u32 = 1 << 31;
/// Flag: the message came before its receive asked.
const EARLY: u32 = 1 << 30;

impl Progress {
    /// Most operations that one operation can wait for.
    pub(super) const WAITS_MAX: u32 = EARLY - 1;

    /// Starts with the count that each operation waits for.
    pub(super) fn new(waits: Vec<u32>) -> Progress {
        Progress(waits)
    }

    /// Iterates over the operations that wait for nothing.
    pub(super) fn ready(&self) -> impl Iterator<Item = u32> + '_ {
        let words = (0..).zip(&self.0);
        words.filter_map(|(operation, word)| (word & Progress::WAITS_MAX == 0).then_some(operation))
    }

    /// Counts one operation that `operation` waits for as over; returns true if it was the last.
    pub(super) fn is_last(&mut self, operation: u32) -> bool {
        let word = &mut self.0[operation as usize];
        // The count is in the low bits, so the flags stay as they are.
        *word -= 1;
        *word & Progress::WAITS_MAX == 0
    }

    /// Prefetches the words one cache line ahead.
    #[inline]
    pub(super) fn prefetch_behind(&self, operation: u32) {
        prefetch_at(&self.0, operation as usize + values_per_line::<u32>());
    }

    /// Records that a receive asks for its message; returns true if the message is already here.
    pub(super) fn ask(&mut self, receive: u32) -> bool {
        self.meet(receive, EARLY, ASKED)
    }

    /// Records that a receive's message is here; returns true if the receive has asked for it.
    pub(super) fn arrived(&mut self, receive: u32) -> bool {
        self.meet(receive, ASKED, EARLY)
    }

    /// Clears flag `taken` if it is set, and otherwise sets flag `put`. Returns true if it was set.
    fn meet(&mut self, receive: u32, taken: u32, put: u32) -> bool {
        let word = &mut self.0[receive as usize];
        // Receive and message meet here, and the later one finds the flag of the earlier one.
        let was_there = *word & taken != 0;
        *word = if was_there {
            *word & !taken
        } else {
            *word | put
        };
        was_there
    }

    /// Iterates over the receives that wait for their known message.
    pub(super) fn asked(&self) -> impl Iterator<Item = u32> + '_ {
        let words = (0..).zip(&self.0);
        words.filter_map(|(receive, word)| (word & ASKED != 0).then_some(receive))
    }
}
