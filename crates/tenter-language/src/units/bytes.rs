//! Byte counts that are read and printed with a unit.

use crate::units::dimensions::{RATE, SIZE, TIME};
use crate::units::parse::read_and_print;
use crate::units::text::four_digits;

read_and_print!(Bytes, count, SIZE, [&TIME, &RATE]);

/// A size in whole bytes, up to 64 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(u64);

impl Bytes {
    /// Makes a size from a byte count.
    pub const fn new(count: u64) -> Bytes {
        Bytes(count)
    }
    /// Returns the size as a byte count.
    pub const fn count(self) -> u64 {
        self.0
    }
    /// Rounds to four digits, for text only: `1.841GB`, not `1841234567B`.
    #[must_use]
    pub fn rounded(self) -> Bytes {
        Bytes(four_digits(self.0))
    }
}
