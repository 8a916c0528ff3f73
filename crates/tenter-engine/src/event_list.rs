//! A node's arrivals in one calendar bucket, and the order in which they are served.

use tenter_language::units::Instant;

use crate::arrival::Arrival;
use crate::prefetch::{prefetch_at, values_per_line};

/// Entries from which counting is faster than a comparison sort.
const COUNTING_FROM: usize = 16;
/// Bits for the largest number of time slots to count in: more slots would take longer to clear
/// than they save.
const COUNTING_BITS_MAX: u32 = 10;

/// Bits in a key for the entry's place in the inbox.
const INDEX_BITS: u32 = 27;
/// Bits in a key for the input.
const INPUT_BITS: u32 = 16;
/// Bit position at which a key's time offset begins.
const OFFSET_SHIFT: u32 = INDEX_BITS + INPUT_BITS;
/// Upper bound of the bucket length, in ps: offsets in a bucket must fit into a key.
pub(crate) const BUCKET_PS_MAX: u64 = 1 << (64 - OFFSET_SHIFT);

/// An item with its sorting key.
#[derive(Clone, Copy, Debug)]
struct Entry<T> {
    /// (offset in the bucket in ps, input, place in the inbox), most significant first.
    key: u64,
    item: T,
}

/// Items that arrive at one node in one bucket, in the order in which they were sent.
#[derive(Clone, Debug)]
pub(crate) struct Inbox<T> {
    /// Storage. The first `len` slots hold items; the others hold leftovers that pushes overwrite.
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

/// Slots that an inbox has after its first allocation.
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

    /// Pushes an item like [`Inbox::push`], with `at` as its arrival time, and returns true; or
    /// returns false if the item is the inbox's first or needs an allocation, and pushes nothing.
    #[inline]
    pub(crate) fn push_further(&mut self, offset: u64, input: u16, at: Instant, item: &T) -> bool
    where
        T: Arrival,
    {
        let key = self.key(offset, input);
        match self.slots.get_mut(self.len) {
            Some(slot) if self.len > 0 => {
                // The item is copied as a block and changed in place. Assembled on the stack first,
                // the copy would stall until all stores to its parts have completed.
                slot.key = key;
                slot.item = *item;
                slot.item.set_at(at);
                self.len += 1;
                true
                // A first item must also wake the node, which the slow path does.
            }
            _ => false,
        }
    }

    #[cold]
    fn grow(&mut self, fill: Entry<T>) {
        // `fill` only initialises the new slots; it spares the items a default value.
        let mut slots = std::mem::take(&mut self.slots).into_vec();
        slots.resize((slots.len() * 2).max(FIRST_SLOTS), fill);
        self.slots = slots.into_boxed_slice();
    }

    #[inline]
    fn entries(&self) -> &[Entry<T>] {
        &self.slots[..self.len]
    }

    /// Prefetches all items, before the visit that handles them.
    #[inline]
    pub(crate) fn prefetch(&self) {
        // One request per cache line.
        for place in (0..self.len).step_by(values_per_line::<Entry<T>>()) {
            prefetch_at(&self.slots, place);
        }
    }

    /// Prefetches the slot that the next push fills.
    #[inline]
    pub(crate) fn prefetch_room(&self) {
        prefetch_at(&self.slots, self.len);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns true if the inbox has storage, used or not.
    pub(crate) fn has_room(&self) -> bool {
        !self.slots.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    /// Moves the items that came through `input` to `out`, in the order in which they were sent.
    pub(crate) fn take_out(&mut self, input: u16, out: &mut Vec<T>) {
        let mut kept = 0;
        for index in 0..self.len {
            let entry = self.slots[index];
            if input_of(entry.key) == input {
                out.push(entry.item);
                continue;
            }
            // A key holds its entry's place, and the entry moves up.
            self.slots[kept] = Entry {
                key: entry.key >> INDEX_BITS << INDEX_BITS | kept as u64,
                item: entry.item,
            };
            kept += 1;
        }
        self.len = kept;
    }

    /// Iterates over the items, each with its input.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u16, &T)> {
        self.entries()
            .iter()
            .map(|entry| (input_of(entry.key), &entry.item))
    }
}

fn input_of(key: u64) -> u16 {
    (key >> INDEX_BITS) as u16
}

/// One visit's arrivals, ordered by (time, input).
///
/// Items through a link's input never arrive at the same instant, because the wire carries one
/// after the other. At other inputs they may, and then keep the order in which their only sender
/// sent them. So the order depends only on what arrives, not on which sender the engine served
/// first.
#[derive(Debug)]
pub struct EventList<T> {
    /// The items, in the order in which they were sent.
    inbox: Inbox<T>,
    /// The keys of `inbox`, sorted: each ends with the place of its item.
    keys: Vec<u64>,
    /// Number of `keys` that belong to this visit; the others were left to a later one.
    arrivals: usize,
    /// Memory that is reused by every sort.
    scratch: Vec<u64>,
    /// For each time slot in the counting sort, the place at which its next key goes into the
    /// sorted list.
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
    /// Makes the event list of `arrivals`, each (offset in ps within a bucket of `length` ps,
    /// input, item), for callers that visit a node without an engine.
    pub fn of(arrivals: impl IntoIterator<Item = (u64, u16, T)>, length: u64) -> EventList<T> {
        let mut inbox = Inbox::default();
        for (offset, input, item) in arrivals {
            inbox.push(offset, input, item);
        }
        let mut event_list = EventList::default();
        event_list.take(inbox, length);
        event_list
    }

    /// Replaces the contents by `inbox`, whose bucket lasts `length` ps; returns the previous
    /// inbox, emptied, for reuse.
    #[inline]
    pub(crate) fn take(&mut self, inbox: Inbox<T>, length: u64) -> Inbox<T> {
        let mut empty = std::mem::replace(&mut self.inbox, inbox);
        empty.clear();
        let entries = self.inbox.entries();
        self.arrivals = entries.len();
        self.keys.clear();
        self.keys.extend(entries.iter().map(|entry| entry.key));
        // Items through one input were sent in the order of arrival. With several inputs the list
        // is hardly ever in order, so the check is skipped: it would end in an unpredictable
        // branch.
        let input = |key: Option<&u64>| key.copied().map(input_of);
        let ends_alike = input(self.keys.first()) == input(self.keys.last());
        if !ends_alike || !self.keys.is_sorted() {
            self.sort(length);
        }
        empty
    }

    /// Iterates over the arrivals in order, each with its input.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = (&T, u16)> {
        self.keys[..self.arrivals].iter().map(|&key| self.item(key))
    }

    /// Returns the number of arrivals.
    #[inline]
    pub fn len(&self) -> usize {
        self.arrivals
    }

    /// Returns true if nothing arrives in this visit.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.arrivals == 0
    }

    /// Returns the arrival at `place` in the order, with its input.
    ///
    /// # Panics
    /// If `place` exceeds the arrivals, those that were left to a later visit included.
    #[inline]
    pub fn get(&self, place: usize) -> (&T, u16) {
        self.item(self.keys[place])
    }

    #[inline]
    fn item(&self, key: u64) -> (&T, u16) {
        let index = (key & ((1 << INDEX_BITS) - 1)) as usize;
        (&self.inbox.slots[index].item, input_of(key))
    }

    /// Removes the arrivals at or after `offset` (in ps) from this visit, and passes them to
    /// `later`.
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

    /// Distributes the keys over time slots of equal length, then repairs the order within slots by
    /// insertion. With up to some 250 keys there are two to four slots for each key. Sorting is
    /// linear, because a slot holds few keys.
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
        // Keys from an earlier visit remain, and are overwritten: only the length matters.
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
