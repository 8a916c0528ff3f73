//! A growable FIFO of small values in one power-of-two buffer.

use crate::prefetch::{prefetch_at, values_per_line};

/// A first-in first-out queue of `Copy` values. It holds no memory until the first push.
#[derive(Clone, Debug)]
pub struct Ring<T> {
    slots: Vec<T>,
    head: u32,
    len: u32,
}

/// Most FIFOs of a big fabric hold one or two values at a time, and most never any.
const FIRST_CAPACITY: usize = 1;

impl<T> Default for Ring<T> {
    fn default() -> Self {
        Ring {
            slots: Vec::new(),
            head: 0,
            len: 0,
        }
    }
}

impl<T: Copy> Ring<T> {
    /// How many values wait.
    #[inline]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether none waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The value that has waited longest.
    #[inline]
    pub fn front(&self) -> Option<&T> {
        if self.len == 0 {
            None
        } else {
            Some(&self.slots[self.head as usize])
        }
    }

    /// The first value, for changes.
    pub fn front_mut(&mut self) -> Option<&mut T> {
        let first = self.head as usize;
        (self.len > 0).then(|| &mut self.slots[first])
    }

    /// Prefetches the values that have waited longest, so many at most.
    #[inline]
    pub fn prefetch(&self, most: usize) {
        self.prefetch_from(self.head, most.min(self.len()));
    }

    /// Prefetches the room for the next values, so many at most.
    #[inline]
    pub fn prefetch_room(&self, most: usize) {
        let room = self.slots.len() - self.len();
        self.prefetch_from(self.head + self.len, most.min(room));
    }

    #[inline]
    fn prefetch_from(&self, first: u32, count: usize) {
        let mask = self.slots.len().wrapping_sub(1);
        for place in (0..count).step_by(values_per_line::<T>()) {
            prefetch_at(&self.slots, (first as usize + place) & mask);
        }
    }

    /// The value with `index` older ones before it.
    ///
    /// # Panics
    /// When fewer values wait.
    #[inline]
    pub fn get_mut(&mut self, index: usize) -> &mut T {
        assert!(index < self.len as usize, "only {} values wait", self.len);
        let mask = self.slots.len() - 1;
        &mut self.slots[(self.head as usize + index) & mask]
    }

    /// Appends a value.
    #[inline]
    pub fn push(&mut self, value: T) {
        self.push_copy(&value);
    }

    /// Appends a copy of a value, and gives access to it for changes.
    #[inline]
    pub fn push_copy(&mut self, value: &T) -> &mut T {
        if self.len as usize == self.slots.len() {
            self.grow(*value);
        }
        let mask = self.slots.len() - 1;
        let at = (self.head + self.len) as usize & mask;
        self.len += 1;
        let slot = &mut self.slots[at];
        *slot = *value;
        slot
    }

    /// Removes the value that has waited longest.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        if self.len == 0 {
            return None;
        }
        let value = self.slots[self.head as usize];
        self.head = (self.head + 1) & (self.slots.len() as u32 - 1);
        self.len -= 1;
        Some(value)
    }

    /// Removes the value that has waited longest, if any waits.
    #[inline]
    pub fn remove_front(&mut self) {
        if self.len > 0 {
            self.head = (self.head + 1) & (self.slots.len() as u32 - 1);
            self.len -= 1;
        }
    }

    /// The value that was appended last.
    pub fn last(&self) -> Option<&T> {
        let place = (self.len as usize).checked_sub(1)?;
        let mask = self.slots.len() - 1;
        Some(&self.slots[(self.head as usize + place) & mask])
    }

    /// Removes the value that was appended last.
    pub fn pop_last(&mut self) -> Option<T> {
        let value = self.last().copied()?;
        self.len -= 1;
        Some(value)
    }

    /// All waiting values, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        let mask = self.slots.len().wrapping_sub(1);
        (0..self.len as usize).map(move |i| &self.slots[(self.head as usize + i) & mask])
    }

    #[cold]
    fn grow(&mut self, fill: T) {
        let capacity = self.slots.len();
        let doubled = (capacity * 2).max(FIRST_CAPACITY);
        let mut slots = Vec::with_capacity(doubled);
        slots.extend_from_slice(&self.slots[self.head as usize..]);
        slots.extend_from_slice(&self.slots[..self.head as usize]);
        slots.resize(doubled, fill);
        self.slots = slots;
        self.head = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::Ring;
    use std::collections::VecDeque;

    #[test]
    fn behaves_like_a_deque_through_growth_and_wrap_around() {
        let mut ring = Ring::default();
        let mut model = VecDeque::new();
        let mut state = 12_345_u64;
        for i in 0..10_000_u64 {
            state = crate::mix64(state);
            if state % 5 < 3 {
                ring.push(i);
                model.push_back(i);
            } else {
                assert_eq!(ring.pop(), model.pop_front());
            }
            assert_eq!(ring.len(), model.len());
            assert_eq!(ring.front(), model.front());
        }
        assert!(ring.iter().eq(model.iter()));
    }
}
