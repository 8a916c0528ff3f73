//! A set of packet numbers, one bit each, in a window that moves upwards.

use std::collections::VecDeque;

/// Packet numbers that one word covers.
const WORD: u32 = u64::BITS;
/// Mask for word indices: all numbers modulo 2³² take one word more than this.
const WORDS: u32 = u32::MAX / WORD;

/// A set of packet numbers, modulo 2³² and all close to each other.
#[derive(Clone, Debug, Default)]
pub(super) struct Bits {
    /// Index of the first word: its lowest number divided by [`WORD`].
    first: u32,
    words: VecDeque<u64>,
}

impl Bits {
    /// Returns the position in `words` at which a number's word lies.
    #[inline]
    fn place(&self, number: u32) -> usize {
        ((number / WORD).wrapping_sub(self.first) & WORDS) as usize
    }

    /// Returns true if the number is in the set.
    #[inline]
    pub(super) fn has(&self, number: u32) -> bool {
        let word = self.words.get(self.place(number)).copied().unwrap_or(0);
        word >> (number % WORD) & 1 != 0
    }

    /// Adds a number, which must not lie before the window.
    #[inline]
    pub(super) fn add(&mut self, number: u32) {
        let place = self.place(number);
        while self.words.len() <= place {
            self.words.push_back(0);
        }
        self.words[place] |= 1 << (number % WORD);
    }

    /// Returns which among the 64 numbers from `number` on are in the set, the first in the lowest
    /// bit.
    #[inline]
    pub(super) fn from(&self, number: u32) -> u64 {
        let place = self.place(number);
        let word = |place: usize| self.words.get(place).copied().unwrap_or(0);
        let shift = number % WORD;
        if shift == 0 {
            return word(place);
        }
        word(place) >> shift | word(place + 1) << (WORD - shift)
    }

    /// Moves the window up to `number`; smaller numbers must not be looked up any more.
    #[inline]
    pub(super) fn drop_before(&mut self, number: u32) {
        let passed = self.place(number);
        if passed == 0 {
            return;
        }
        for _ in 0..passed.min(self.words.len()) {
            self.words.pop_front();
        }
        self.first = number / WORD;
    }
}

#[cfg(test)]
mod tests {
    use super::Bits;

    #[test]
    fn a_window_holds_what_was_added_and_moves_past_the_last_number() {
        let start = u32::MAX - 100;
        let mut bits = Bits::default();
        bits.drop_before(start);
        let added: Vec<u32> = (0..300).filter(|nth| nth % 7 == 3).collect();
        for nth in &added {
            bits.add(start.wrapping_add(*nth));
        }
        for nth in 0..300_u32 {
            let number = start.wrapping_add(nth);
            assert_eq!(bits.has(number), added.contains(&nth), "{nth}");
            let map = bits.from(number);
            for bit in 0..64 {
                let is_there = added.contains(&(nth + bit));
                assert_eq!(map >> bit & 1 == 1, is_there, "{nth} + {bit}");
            }
        }
        bits.drop_before(start.wrapping_add(200));
        assert!(bits.has(start.wrapping_add(206)) && !bits.has(start.wrapping_add(207)));
        assert!(!bits.has(start.wrapping_add(3)), "before the window");
        bits.drop_before(start.wrapping_add(100_000));
        assert!(bits.words.is_empty() && bits.from(start.wrapping_add(100_000)) == 0);
    }
}
