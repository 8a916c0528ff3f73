//! Random numbers of one sender.

use tenter_engine::mix64;

/// Random numbers that depend on their seed and on nothing else.
///
/// Source: Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators" (2014).
#[derive(Clone, Copy, Debug)]
pub(crate) struct SplitMix {
    state: u64,
}

impl SplitMix {
    pub(crate) fn new(seed: u64) -> SplitMix {
        SplitMix { state: mix64(seed) }
    }

    /// A number from all there are.
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix64(self.state)
    }

    /// A number below a power of two.
    pub(super) fn below(&mut self, values: u16) -> u16 {
        (self.next() >> 40) as u16 & (values - 1)
    }
}
