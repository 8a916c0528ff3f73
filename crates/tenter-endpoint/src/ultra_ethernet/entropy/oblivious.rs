//! One value after the other, whatever becomes of packets.

use super::draws::Draws;

/// All values in a row, in an order that a number changes by exclusive or; each round has another.
#[derive(Clone, Debug)]
pub(crate) struct Oblivious {
    values: u16,
    next: u16,
    order: u16,
}

impl Oblivious {
    pub(super) fn new(values: u16, draws: &mut Draws) -> Oblivious {
        Oblivious {
            values,
            next: 0,
            order: draws.below(values),
        }
    }

    #[inline]
    pub(super) fn next(&mut self, draws: &mut Draws) -> u16 {
        let value = (self.next ^ self.order) & (self.values - 1);
        self.next += 1;
        if self.next == self.values {
            self.next = 0;
            self.order = draws.below(self.values);
        }
        value
    }
}
