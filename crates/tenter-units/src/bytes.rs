//! Sizes.

use crate::parse::{Dimension, read_and_print};

pub(crate) const SIZE: Dimension = Dimension {
    noun: "size",
    article: "a size",
    smallest: "bytes",
    usual: "B",
    example: "128KiB",
    units: &[
        ("B", 1),
        ("kB", 1_000),
        ("KiB", 1 << 10),
        ("MB", 1_000_000),
        ("MiB", 1 << 20),
        ("GB", 1_000_000_000),
        ("GiB", 1 << 30),
        ("TB", 1_000_000_000_000),
        ("TiB", 1 << 40),
    ],
    spellings: &[("KB", 1_000)],
};

read_and_print!(Bytes, count, SIZE, [&crate::time::TIME, &crate::rate::RATE]);

/// A size in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(u64);

impl Bytes {
    /// From a count of bytes.
    pub const fn new(count: u64) -> Bytes {
        Bytes(count)
    }
    /// The count of bytes.
    pub const fn count(self) -> u64 {
        self.0
    }
}
