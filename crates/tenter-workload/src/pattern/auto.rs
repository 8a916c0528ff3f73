//! Counts that follow from the rank count unless they are given.

use tenter_language::config::word_or;

/// A count that is given, or derived from the rank count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Auto {
    /// Derived from the rank count; each key says how.
    Auto,
    /// Given as a number in the scenario.
    Given(u32),
}

word_or!(Auto { "auto" => Auto, Given(u32) });
