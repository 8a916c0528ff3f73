//! One value after the other without those of which bad news has come: each has a penalty, and one
//! with a penalty is passed over.

use super::news::PathNews;
use super::split_mix::SplitMix;

/// The penalty of a value is no larger.
const MOST: u8 = 15;

/// Penalties by value, and the order of values.
#[derive(Clone, Debug)]
pub(crate) struct Bitmap {
    penalties: Box<[u8]>,
    next: u16,
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

    /// The value in turn, and the turn of the next one.
    fn turn(&mut self, random: &mut SplitMix) -> u16 {
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
        // Only the first that is passed over loses some of its penalty: otherwise a choice among
        // many bad ones would forgive them all.
        let mut forgiven = false;
        let mut value = self.turn(random);
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
