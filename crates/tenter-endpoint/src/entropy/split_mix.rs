//! Pseudo-random numbers for the choices of one sender.

use tenter_engine::mix64;

/// `SplitMix64`, a generator whose numbers depend on its seed alone.
///
/// Source: Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators" (2014).
#[derive(Clone, Copy, Debug)]
pub(crate) struct SplitMix {
    state: u64,
}

impl SplitMix {
    /// Creates a generator. The seed is mixed first, so that similar seeds give unrelated numbers.
    pub(crate) fn new(seed: u64) -> SplitMix {
        SplitMix { state: mix64(seed) }
    }

    /// Returns the next 64 random bits.
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix64(self.state)
    }

    /// Returns a number in `0..values`, a power of two.
    pub(super) fn below(&mut self, values: u16) -> u16 {
        // The upper bits are mixed best, and a power of two needs no division.
        (self.next() >> 40) as u16 & (values - 1)
    }
}
