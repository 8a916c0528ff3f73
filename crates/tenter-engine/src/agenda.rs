//! The order of a node's arrivals in one window.

/// Below this many entries a comparison sort is faster than counting.
const COUNTING_FROM: usize = 48;
const BUCKET_BITS: u32 = 9;

/// The arrivals of one visit, in the order (time, input, FIFO order).
///
/// Arrivals are gathered input by input in ascending order, each input already sorted by time, so
/// the position at which an item was gathered breaks ties by input and FIFO order. Sorting the
/// pairs (time, position) is all that is left.
#[derive(Debug)]
pub(crate) struct Agenda<T> {
    pub(crate) items: Vec<(T, u16)>,
    /// (time since the window's start) << 32 | position.
    keys: Vec<u64>,
    sorted: Vec<u64>,
}

impl<T> Default for Agenda<T> {
    fn default() -> Self {
        Agenda {
            items: Vec::new(),
            keys: Vec::new(),
            sorted: Vec::new(),
        }
    }
}

impl<T: Copy> Agenda<T> {
    pub(crate) fn clear(&mut self) {
        self.items.clear();
        self.keys.clear();
    }

    #[inline]
    pub(crate) fn add(&mut self, offset: u64, input: u16, item: T) {
        self.keys.push(offset << 32 | self.items.len() as u64);
        self.items.push((item, input));
    }

    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    /// The `rank`-th arrival and its input, after [`Agenda::sort`].
    #[inline]
    pub(crate) fn get(&self, rank: usize) -> (T, u16) {
        self.items[self.keys[rank] as u32 as usize]
    }

    /// Sorts; `length` is the window's length, which bounds every offset.
    pub(crate) fn sort(&mut self, length: u64) {
        if self.keys.len() < COUNTING_FROM {
            self.keys.sort_unstable();
        } else {
            self.counting_sort(length);
        }
    }

    /// Spreads the keys over buckets of equal time, then repairs the order within buckets by
    /// insertion: linear, because a bucket holds a few keys.
    fn counting_sort(&mut self, length: u64) {
        let shift = 32 + (64 - length.leading_zeros()).saturating_sub(BUCKET_BITS);
        let mut starts = [0_u32; (1 << BUCKET_BITS) + 1];
        for &key in &self.keys {
            starts[(key >> shift) as usize + 1] += 1;
        }
        for bucket in 1..starts.len() {
            starts[bucket] += starts[bucket - 1];
        }
        self.sorted.clear();
        self.sorted.resize(self.keys.len(), 0);
        for &key in &self.keys {
            let start = &mut starts[(key >> shift) as usize];
            self.sorted[*start as usize] = key;
            *start += 1;
        }
        std::mem::swap(&mut self.keys, &mut self.sorted);
        insertion_sort(&mut self.keys);
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
    use super::Agenda;
    use crate::mix64;

    #[test]
    fn order_is_time_then_input_then_fifo_order_at_any_size() {
        for count in [1_u64, 5, 47, 48, 400, 3_000] {
            for length in [1_u64, 100, 650_000, 3_000_000] {
                let mut agenda = Agenda::default();
                let mut expected = Vec::new();
                for input in 0..7_u16 {
                    let mut times: Vec<u64> = (0..count)
                        .map(|i| mix64(i * 7 + u64::from(input)) % length)
                        .collect();
                    times.sort_unstable();
                    for (order, &time) in times.iter().enumerate() {
                        agenda.add(time, input, order);
                        expected.push((time, input, order));
                    }
                }
                agenda.sort(length);
                expected.sort_unstable();
                let got: Vec<_> = (0..agenda.len()).map(|rank| agenda.get(rank)).collect();
                let expected: Vec<_> = expected.iter().map(|&(_, i, o)| (o, i)).collect();
                assert_eq!(got, expected);
            }
        }
    }
}
