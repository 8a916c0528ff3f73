//! Limits on a sweep's size.

/// Most characters in a name or path.
pub(super) const WORDS: usize = 4_096;
/// Most points in a sweep, and most values on an axis.
pub(super) const SAMPLES_MAX: u32 = 1_000_000;
