//! How much a sweep may have.

/// Names and paths have no more characters.
pub(super) const WORDS: usize = 4_096;
/// More points than a ledger should hold.
pub(super) const SAMPLES_MAX: u32 = 1_000_000;
