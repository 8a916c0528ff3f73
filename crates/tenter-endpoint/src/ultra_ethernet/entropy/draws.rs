//! Random numbers of a connection.

use tenter_engine::mix64;

/// Random numbers of one connection, which depend on nothing else.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draws {
    state: u64,
}

impl Draws {
    pub(crate) fn new(seed: u64) -> Draws {
        Draws { state: mix64(seed) }
    }

    /// A number from all there are.
    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix64(self.state)
    }

    /// A number below a power of two.
    pub(super) fn below(&mut self, values: u16) -> u16 {
        (self.next() >> 40) as u16 & (values - 1)
    }
}
