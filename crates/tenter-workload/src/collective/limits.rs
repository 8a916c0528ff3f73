//! Permitted ranges for the keys of collectives.

use std::ops::RangeInclusive;

use tenter_language::units::Bytes;

/// Rank numbers; whether the job has the rank is checked when the schedule is built.
pub(super) const RANKS: RangeInclusive<u32> = 0..=u32::MAX;

/// Numbers of NPUs that a host may have.
pub(super) const COUNTS: RangeInclusive<u32> = 1..=u32::MAX;

/// Bytes in a transfer, which may be empty.
pub(super) const BYTES: RangeInclusive<Bytes> = Bytes::new(0)..=Bytes::new(1 << 40);

/// Chunk lengths; no collective moves more than this per rank.
pub(super) const CHUNKS: RangeInclusive<Bytes> = Bytes::new(1)..=Bytes::new(1 << 40);
