//! What arrives at a node in one calendar bucket, and in which order it is served.

use tenter_units::Instant;

use crate::arrival::Arrival;
use crate::prefetch::{prefetch_at, values_per_line};

/// Below this many entries a comparison sort is faster than counting.
const COUNTING_FROM: usize = 16;
/// At most 2 to the power of so many spans of time to count in.
const COUNTING_BITS_MAX: u32 = 10;

/// Bits of a key that number the entry, and its input.
const INDEX_BITS: u32 = 27;
const INPUT_BITS: u32 = 16;
const OFFSET_SHIFT: u32 = INDEX_BITS + INPUT_BITS;
/// Buckets must be shorter than this, in ps, for offsets to fit into a key.
pub(crate) const BUCKET_PS_MAX: u64 = 1 << (64 - OFFSET_SHIFT);

/// An item and its place in the order.
#[derive(Clone, Copy, Debug)]
struct Entry<T> {
    /// (offset in the bucket, input, number in the inbox), most significant first.
    key: u64,
    item: T,
}

/// Items that arrive at one node in one bucket, in the order in which they were sent.
#[derive(Clone, Debug)]
pub(crate) struct Inbox<T> {
    /// The first `len` are items; the others are there to be overwritten.
    slots: Box<[Entry<T>]>,
    len: usize,
}

impl<T> Default for Inbox<T> {
    fn default() -> Self {
        Inbox {
            slots: Box::default(),
            len: 0,
        }
    }
}

/// Slots of an inbox that is filled for the first time.
const FIRST_SLOTS: usize = 4;

impl<T: Copy> Inbox<T> {
    #[inline]
    fn key(&self, offset: u64, input: u16) -> u64 {
        debug_assert!(
            self.len < 1 << INDEX_BITS,
            "a node gets more than 2^27 items in a bucket"
        );
        offset << OFFSET_SHIFT | u64::from(input) << INDEX_BITS | self.len as u64
    }

    #[inline]
    pub(crate) fn push(&mut self, offset: u64, input: u16, item: T) {
        let entry = Entry {
            key: self.key(offset, input),
            item,
        };
        if self.len == self.slots.len() {
            self.grow(entry);
        }
        self.slots[self.len] = entry;
        self.len += 1;
    }

    /// As [`Inbox::push`] of an item that arrives at `at`, if it is not the first and needs no
    /// memory; says whether that was so.
    #[inline]
    pub(crate) fn push_further(&mut self, offset: u64, input: u16, at: Instant, item: &T) -> bool
    where
        T: Arrival,
    {
        let key = self.key(offset, input);
        match self.slots.get_mut(self.len) {
            Some(slot) if self.len > 0 => {
                // Copied as it lies in memory and changed there: put together on the stack first,
                // the copy would have to wait for its parts.
                slot.key = key;
                slot.item = *item;
                slot.item.set_at(at);
                self.len += 1;
                true
            }
            _ => false,
        }
    }

    #[cold]
    fn grow(&mut self, fill: Entry<T>) {
        let mut slots = std::mem::take(&mut self.slots).into_vec();
        slots.resize((slots.len() * 2).max(FIRST_SLOTS), fill);
        self.slots = slots.into_boxed_slice();
    }

    #[inline]
    fn entries(&self) -> &[Entry<T>] {
        &self.slots[..self.len]
    }

    /// Prefetches the items.
    #[inline]
    pub(crate) fn prefetch(&self) {
        for place in (0..self.len).step_by(values_per_line::<Entry<T>>()) {
            prefetch_at(&self.slots, place);
        }
    }

    /// Prefetches the room for the next item.
    #[inline]
    pub(crate) fn prefetch_room(&self) {
        prefetch_at(&self.slots, self.len);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn has_room(&self) -> bool {
        !self.slots.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    /// Takes out everything of one input, in the order in which it was sent.
    pub(crate) fn take_out(&mut self, input: u16, out: &mut Vec<T>) {
        let mut kept = 0;
        for index in 0..self.len {
            let entry = self.slots[index];
            if input_of(entry.key) == input {
                out.push(entry.item);
                continue;
            }
            // Keys say where their entry is.
            self.slots[kept] = Entry {
                key: entry.key >> INDEX_BITS << INDEX_BITS | kept as u64,
                item: entry.item,
            };
            kept += 1;
        }
        self.len = kept;
    }

    /// Every item with its input.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u16, &T)> {
        self.entries()
            .iter()
            .map(|entry| (input_of(entry.key), &entry.item))
    }
}

fn input_of(key: u64) -> u16 {
    (key >> INDEX_BITS) as u16
}

/// The arrivals of one visit in the order (time, input).
///
/// Items of one input never arrive at the same instant where it is that of a wire, which carries
/// one after the other. Those of other inputs may, and keep the order in which their one sender has
/// sent them. So the order depends on nothing but what arrives, not on which sender was served
/// first.
#[derive(Debug)]
pub struct EventList<T> {
    inbox: Inbox<T>,
    keys: Vec<u64>,
    /// How many of the keys are served in this visit.
    arrivals: usize,
    scratch: Vec<u64>,
    /// Where each span of time starts among the sorted keys.
    starts: Vec<u32>,
}

impl<T> Default for EventList<T> {
    fn default() -> Self {
        EventList {
            inbox: Inbox::default(),
            keys: Vec::new(),
            arrivals: 0,
            scratch: Vec::new(),
            starts: Vec::new(),
        }
    }
}

impl<T: Copy> EventList<T> {
    /// The event list of what arrives at a node, each item with its offset in ps in a bucket that
    /// lasts
    /// `length`, and its input: for those who visit a node without an engine.
    pub fn of(arrivals: impl IntoIterator<Item = (u64, u16, T)>, length: u64) -> EventList<T> {
        let mut inbox = Inbox::default();
        for (offset, input, item) in arrivals {
            inbox.push(offset, input, item);
        }
        let mut event_list = EventList::default();
        event_list.take(inbox, length);
        event_list
    }

    /// Takes an inbox of a bucket of `length` ps; returns the empty one it held before.
    #[inline]
    pub(crate) fn take(&mut self, inbox: Inbox<T>, length: u64) -> Inbox<T> {
        let mut empty = std::mem::replace(&mut self.inbox, inbox);
        empty.clear();
        let entries = self.inbox.entries();
        self.arrivals = entries.len();
        self.keys.clear();
        self.keys.extend(entries.iter().map(|entry| entry.key));
        // Through one input everything comes in order; through several it hardly ever does, and to
        // look for where it does not would end in a branch that cannot be foreseen.
        let input = |key: Option<&u64>| key.copied().map(input_of);
        let ends_alike = input(self.keys.first()) == input(self.keys.last());
        if !ends_alike || !self.keys.is_sorted() {
            self.sort(length);
        }
        empty
    }

    /// The arrivals in order, each with the input it came through.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = (&T, u16)> {
        self.keys[..self.arrivals].iter().map(|&key| self.item(key))
    }

    /// How many arrivals there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.arrivals
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.arrivals == 0
    }

    /// One arrival, by its place in the order, with the input it came through.
    ///
    /// # Panics
    /// When there are not so many.
    #[inline]
    pub fn get(&self, place: usize) -> (&T, u16) {
        self.item(self.keys[place])
    }

    #[inline]
    fn item(&self, key: u64) -> (&T, u16) {
        let index = (key & ((1 << INDEX_BITS) - 1)) as usize;
        (&self.inbox.slots[index].item, input_of(key))
    }

    /// Leaves what arrives at or after `offset` to a later visit: hands it to `later`.
    pub(crate) fn cut(&mut self, offset: u64, mut later: impl FnMut(u64, u16, T)) {
        let arrivals = self
            .keys
            .partition_point(|key| key >> OFFSET_SHIFT < offset);
        for &key in &self.keys[arrivals..] {
            let (&item, input) = self.item(key);
            later(key >> OFFSET_SHIFT, input, item);
        }
        self.arrivals = arrivals;
    }

    fn sort(&mut self, length: u64) {
        if self.keys.len() < COUNTING_FROM {
            self.keys.sort_unstable();
        } else {
            self.counting_sort(length);
        }
    }

    /// Spreads the keys over spans of equal time, one to four for each key up to some hundred, then
    /// repairs the order within spans by insertion: linear, because a span holds few.
    fn counting_sort(&mut self, length: u64) {
        let count = self.keys.len();
        let bits = (usize::BITS - count.leading_zeros() + 1).min(COUNTING_BITS_MAX);
        let shift = OFFSET_SHIFT + (64 - length.leading_zeros()).saturating_sub(bits);
        self.starts.clear();
        self.starts.resize(1 << bits, 0);
        let starts = &mut self.starts[..];
        let mask = starts.len() - 1;
        for &key in &self.keys {
            starts[(key >> shift) as usize & mask] += 1;
        }
        let mut before = 0;
        for start in starts.iter_mut() {
            before += std::mem::replace(start, before);
        }
        // What is left from an earlier visit is overwritten: only the length matters.
        self.scratch.resize(count, 0);
        let sorted = &mut self.scratch[..count];
        for &key in &self.keys {
            let start = &mut starts[(key >> shift) as usize & mask];
            sorted[*start as usize] = key;
            *start += 1;
        }
        insertion_sort(sorted);
        std::mem::swap(&mut self.keys, &mut self.scratch);
        self.keys.truncate(count);
    }
}

fn insertion_sort(keys: &mut [u64]) {
    for i in 1..keys.len() {
        let key = keys[i];
        let mut j = i;
        while j > 0 && keys[j - 1] > key {
            keys[j] = keys[j - 1];
            j -= 1;
        }
        keys[j] = key;
    }
}

#[cfg(test)]
mod tests {
    use super::{EventList, Inbox};
    use crate::mix64;

    /// An inbox with `count` items of distinct (time, input), filled in a scrambled order.
    fn inbox(count: u64, length: u64) -> (Inbox<u64>, Vec<(u64, u16, u64)>) {
        let mut inbox = Inbox::default();
        let mut expected = std::collections::BTreeMap::new();
        for item in 0..count {
            let random = mix64(item);
            let place = (random % length, (random >> 40) as u16);
            if expected.insert(place, item).is_none() {
                inbox.push(place.0, place.1, item);
            }
        }
        // Items whose place was taken twice were pushed once, under the first value.
        let mut values: Vec<_> = inbox.iter().map(|(input, item)| (input, *item)).collect();
        let offset = |item: u64| mix64(item) % length;
        values.sort_unstable_by_key(|&(input, item)| (offset(item), input));
        (
            inbox,
            values
                .into_iter()
                .map(|(input, item)| (offset(item), input, item))
                .collect(),
        )
    }

    #[test]
    fn what_one_input_brings_can_be_taken_out() {
        let mut inbox = Inbox::default();
        for (offset, input, item) in [(30, 1, 1_u64), (20, 2, 2), (10, 1, 3), (20, 0, 4)] {
            inbox.push(offset, input, item);
        }
        let mut lost = Vec::new();
        inbox.take_out(1, &mut lost);
        assert_eq!(lost, [1, 3]);
        inbox.push(5, 1, 5);
        let mut event_list = EventList::default();
        event_list.take(inbox, 100);
        let order: Vec<(u64, u16)> = event_list
            .iter()
            .map(|(item, input)| (*item, input))
            .collect();
        assert_eq!(order, [(5, 1), (4, 0), (2, 2)]);
    }

    #[test]
    fn order_is_time_then_input_at_any_size() {
        for count in [1, 5, 63, 64, 400, 5_000] {
            for length in [1, 100, 650_000, 2_000_000] {
                let (inbox, expected) = inbox(count, length);
                let mut event_list = EventList::default();
                event_list.take(inbox, length);
                let got: Vec<_> = event_list
                    .iter()
                    .map(|(item, input)| (*item, input))
                    .collect();
                let expected: Vec<_> = expected.iter().map(|e| (e.2, e.1)).collect();
                assert_eq!(got, expected, "{count} items in {length} ps");
            }
        }
    }

    #[test]
    fn a_cut_keeps_what_comes_later() {
        let (inbox, expected) = inbox(300, 1_000);
        let mut event_list = EventList::default();
        event_list.take(inbox, 1_000);
        let mut later = Vec::new();
        event_list.cut(400, |offset, input, item| later.push((offset, input, item)));
        let at = expected.partition_point(|e| e.0 < 400);
        assert_eq!(event_list.iter().count(), at);
        assert_eq!(later, expected[at..]);
    }
}
