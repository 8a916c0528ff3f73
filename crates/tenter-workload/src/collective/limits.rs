//! Bounds of the keys of collectives.

use std::ops::RangeInclusive;

use tenter_units::Bytes;

/// Ranks, by their numbers.
pub(super) const RANKS: RangeInclusive<u32> = 0..=u32::MAX;

/// Numbers of NPUs.
pub(super) const COUNTS: RangeInclusive<u32> = 1..=u32::MAX;

/// Bytes of a transfer, which may have none.
pub(super) const BYTES: RangeInclusive<Bytes> = Bytes::new(0)..=Bytes::new(1 << 40);

/// Lengths of chunks; no collective moves more per rank.
pub(super) const CHUNKS: RangeInclusive<Bytes> = Bytes::new(1)..=Bytes::new(1 << 40);
