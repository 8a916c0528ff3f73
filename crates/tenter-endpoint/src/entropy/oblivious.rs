//! The kind `oblivious`: values are taken in turn, whatever the outcome of packets.

use super::split_mix::SplitMix;

/// Position in a round over all values. Each round has its own order: the value at position p is p
/// XOR `order`.
#[derive(Clone, Debug)]
pub(crate) struct Oblivious {
    values: u16,
    next: u16,
    order: u16,
}

impl Oblivious {
    pub(super) fn new(values: u16, random: &mut SplitMix) -> Oblivious {
        Oblivious {
            values,
            next: 0,
            order: random.below(values),
        }
    }

    #[inline]
    pub(super) fn next(&mut self, random: &mut SplitMix) -> u16 {
        // XOR with a constant permutes the values, because their number is a power of two: each
        // occurs once per round.
        let value = (self.next ^ self.order) & (self.values - 1);
        self.next += 1;
        if self.next == self.values {
            self.next = 0;
            self.order = random.below(self.values);
        }
        value
    }
}
