//! Values that were acknowledged without a mark are used again, in their order; while there are
//! none, the choice is that of `bitmap`.

use std::collections::VecDeque;

use super::bitmap::Bitmap;
use super::draws::Draws;
use super::news::PathNews;

/// The values to use again.
#[derive(Clone, Debug)]
pub(crate) struct Mixed {
    again: VecDeque<u16>,
    others: Bitmap,
}

impl Mixed {
    pub(super) fn new(values: u16, draws: &mut Draws) -> Mixed {
        Mixed {
            again: VecDeque::new(),
            others: Bitmap::new(values, draws),
        }
    }

    #[inline]
    pub(super) fn next(&mut self, draws: &mut Draws) -> u16 {
        match self.again.pop_front() {
            Some(value) => value,
            None => self.others.next(draws),
        }
    }

    pub(super) fn hear(&mut self, value: u16, news: PathNews) {
        self.others.hear(value, news);
        if news == PathNews::Good {
            self.again.push_back(value);
        }
    }
}
