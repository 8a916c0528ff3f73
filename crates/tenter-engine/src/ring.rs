//! A growable FIFO of small values in one power-of-two buffer.

use crate::prefetch::{prefetch_at, values_per_line};

/// A first-in first-out queue of `Copy` values. A new ring holds no memory until the first push.
#[derive(Clone, Debug)]
pub struct Ring<T> {
    /// Storage whose length is zero or a power of two, so that a mask wraps an index.
    slots: Vec<T>,
    /// Index in `slots` at which the oldest value lies.
    head: u32,
    /// Number of values in the queue.
    len: u32,
}

/// Values that the first allocation holds. Most FIFOs in a big fabric hold one or two values at a
/// time, and most never hold any.
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
    /// Returns the number of waiting values.
    #[inline]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Returns true if no value waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the oldest value; `None` if no value waits.
    #[inline]
    pub fn front(&self) -> Option<&T> {
        if self.len == 0 {
            None
        } else {
            Some(&self.slots[self.head as usize])
        }
    }

    /// Returns the oldest value for changes.
    pub fn front_mut(&mut self) -> Option<&mut T> {
        let first = self.head as usize;
        (self.len > 0).then(|| &mut self.slots[first])
    }

    /// Prefetches the `most` oldest values, or all if fewer wait.
    #[inline]
    pub fn prefetch(&self, most: usize) {
        self.prefetch_from(self.head, most.min(self.len()));
    }

    /// Prefetches the slots for the next `most` pushes, as far as the storage has room.
    #[inline]
    pub fn prefetch_room(&self, most: usize) {
        let room = self.slots.len() - self.len();
        self.prefetch_from(self.head + self.len, most.min(room));
    }

    #[inline]
    fn prefetch_from(&self, first: u32, count: usize) {
        // An empty storage wraps to a mask of all ones; `prefetch_at` tolerates any index.
        let mask = self.slots.len().wrapping_sub(1);
        for place in (0..count).step_by(values_per_line::<T>()) {
            prefetch_at(&self.slots, (first as usize + place) & mask);
        }
    }

    /// Returns the value that `index` older ones precede.
    ///
    /// # Panics
    /// If at most `index` values wait.
    #[inline]
    pub fn get_mut(&mut self, index: usize) -> &mut T {
        assert!(index < self.len as usize, "only {} values wait", self.len);
        let mask = self.slots.len() - 1;
        &mut self.slots[(self.head as usize + index) & mask]
    }

    /// Appends `value` as the newest.
    #[inline]
    pub fn push(&mut self, value: T) {
        self.push_copy(&value);
    }

    /// Appends a copy of `value`, and returns the copy for changes.
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

    /// Removes and returns the oldest value.
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

    /// Removes the oldest value if there is one. Unlike [`Ring::pop`] it copies nothing.
    #[inline]
    pub fn remove_front(&mut self) {
        if self.len > 0 {
            self.head = (self.head + 1) & (self.slots.len() as u32 - 1);
            self.len -= 1;
        }
    }

    /// Returns the newest value; `None` if no value waits.
    pub fn last(&self) -> Option<&T> {
        let place = (self.len as usize).checked_sub(1)?;
        let mask = self.slots.len() - 1;
        Some(&self.slots[(self.head as usize + place) & mask])
    }

    /// Removes and returns the newest value.
    pub fn pop_last(&mut self) -> Option<T> {
        let value = self.last().copied()?;
        self.len -= 1;
        Some(value)
    }

    /// Iterates over the waiting values, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        let mask = self.slots.len().wrapping_sub(1);
        (0..self.len as usize).map(move |i| &self.slots[(self.head as usize + i) & mask])
    }

    #[cold]
    fn grow(&mut self, fill: T) {
        // `fill` only initialises the new slots: they lie behind `len`, and pushes overwrite them.
        let capacity = self.slots.len();
        let doubled = (capacity * 2).max(FIRST_CAPACITY);
        let mut slots = Vec::with_capacity(doubled);
        // Full, the ring starts at `head`; unrolled, its oldest value comes to lie at 0.
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
