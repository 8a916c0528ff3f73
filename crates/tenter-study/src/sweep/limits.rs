//! Limits on the size of a sweep.

/// Most characters in a name or path.
pub(super) const WORDS: usize = 4_096;
/// Most points of a sweep, and most values of an axis.
pub(super) const SAMPLES_MAX: u32 = 1_000_000;
