//! Bounds that the keys of all patterns share.

use std::ops::RangeInclusive;

use tenter_units::{Bytes, Time};

/// A thousand seconds, as for all times of a job.
pub(super) const COMPUTE: RangeInclusive<Time> = Time::ZERO..=Time::from_us(1_000_000_000);
/// No message of a step is larger.
pub(super) const SIZES: RangeInclusive<Bytes> = Bytes::new(1)..=Bytes::new(1 << 40);
/// More than any rank has of anything.
pub(super) const COUNT_MAX: u32 = 1 << 20;
