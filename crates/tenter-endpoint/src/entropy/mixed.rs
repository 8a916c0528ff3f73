//! The kind `mixed`: values that were acknowledged without a mark are reused in their order. While
//! there are none, `bitmap` chooses.

use std::collections::VecDeque;

use super::bitmap::Bitmap;
use super::news::PathNews;
use super::split_mix::SplitMix;

/// Values to reuse, and the bitmap that chooses if there are none.
#[derive(Clone, Debug)]
pub(crate) struct Mixed {
    again: VecDeque<u16>,
    others: Bitmap,
}

impl Mixed {
    pub(super) fn new(values: u16, random: &mut SplitMix) -> Mixed {
        Mixed {
            again: VecDeque::new(),
            others: Bitmap::new(values, random),
        }
    }

    #[inline]
    pub(super) fn next(&mut self, random: &mut SplitMix) -> u16 {
        match self.again.pop_front() {
            Some(value) => value,
            None => self.others.next(random),
        }
    }

    pub(super) fn hear(&mut self, value: u16, news: PathNews) {
        self.others.hear(value, news);
        if news == PathNews::Good {
            self.again.push_back(value);
        }
    }
}
