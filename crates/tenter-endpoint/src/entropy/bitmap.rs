//! The kind `bitmap`: each value has a penalty, which bad outcomes raise. Values are taken in turn,
//! and those with a penalty are skipped.

use super::news::PathNews;
use super::split_mix::SplitMix;

/// Largest penalty that a value can have.
const MOST: u8 = 15;

/// Penalties by value, and the present position in the round.
#[derive(Clone, Debug)]
pub(crate) struct Bitmap {
    penalties: Box<[u8]>,
    /// Position in the present round.
    next: u16,
    /// Mask for the present round: the value at position p is p XOR `order`.
    order: u16,
}

impl Bitmap {
    pub(super) fn new(values: u16, random: &mut SplitMix) -> Bitmap {
        Bitmap {
            penalties: vec![0; usize::from(values)].into(),
            next: 0,
            order: random.below(values),
        }
    }

    fn values(&self) -> u16 {
        self.penalties.len() as u16
    }

    /// Returns the value at the present position and advances; each new round draws another order.
    fn turn(&mut self, random: &mut SplitMix) -> u16 {
        // XOR with a constant permutes the values, because their number is a power of two: each
        // occurs once per round.
        let value = (self.next ^ self.order) & (self.values() - 1);
        self.next += 1;
        if self.next == self.values() {
            self.next = 0;
            self.order = random.below(self.values());
        }
        value
    }

    #[inline]
    pub(super) fn next(&mut self, random: &mut SplitMix) -> u16 {
        // Only the first skipped value loses a point of its penalty. If each skipped one did, a
        // single choice among many bad values would forgive them all.
        let mut forgiven = false;
        let mut value = self.turn(random);
        // With penalties everywhere, two rounds without a good value end the search with a bad one.
        for _ in 0..2 * self.penalties.len() {
            let penalty = &mut self.penalties[usize::from(value)];
            if *penalty == 0 {
                break;
            }
            if !forgiven {
                *penalty -= 1;
                forgiven = true;
            }
            value = self.turn(random);
        }
        value
    }

    pub(super) fn hear(&mut self, value: u16, news: PathNews) {
        let more = match news {
            PathNews::Good => return,
            PathNews::Marked => 1,
            PathNews::Trimmed | PathNews::Lost => 4,
            PathNews::TimedOut => MOST,
        };
        let penalty = &mut self.penalties[usize::from(value)];
        *penalty = (*penalty + more).min(MOST);
    }
}
