//! Counts that follow from the number of ranks unless they are given.

use tenter_config::word_or;

/// A count, or the one that suits the ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Auto {
    /// As the ranks have it.
    Auto,
    /// As given.
    Given(u32),
}

word_or!(Auto { "auto" => Auto, Given(u32) });
