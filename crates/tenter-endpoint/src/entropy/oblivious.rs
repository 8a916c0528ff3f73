//! One value after the other, whatever becomes of packets.

use super::split_mix::SplitMix;

/// All values in a row, in an order that a number changes by exclusive or; each round has another.
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
        let value = (self.next ^ self.order) & (self.values - 1);
        self.next += 1;
        if self.next == self.values {
            self.next = 0;
            self.order = random.below(self.values);
        }
        value
    }
}
