//! Permitted ranges that all patterns share.

use std::ops::RangeInclusive;

use tenter_language::units::{Bytes, Time};

/// Computing times up to 1,000 s, as for all times in a job.
pub(super) const COMPUTE: RangeInclusive<Time> = Time::ZERO..=Time::from_us(1_000_000_000);
/// Message sizes in a step.
pub(super) const SIZES: RangeInclusive<Bytes> = Bytes::new(1)..=Bytes::new(1 << 40);
/// Upper limit for counts, more than any rank needs.
pub(super) const COUNT_MAX: u32 = 1 << 20;
