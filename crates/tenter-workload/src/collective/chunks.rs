//! A buffer cut into as many chunks as there are ranks.

/// A buffer of a size in bytes, cut into chunks that differ by at most one byte.
///
/// Chunk i is bytes ⌊i·S/n⌋ to ⌊(i+1)·S/n⌋, so the chunks add up to exactly S and the longer ones
/// are spread evenly.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunks {
    quotient: u64,
    remainder: u64,
    count: u32,
}

impl Chunks {
    pub(super) fn new(size_bytes: u64, count: u32) -> Chunks {
        let parts = u64::from(count);
        Chunks {
            quotient: size_bytes / parts,
            remainder: size_bytes % parts,
            count,
        }
    }

    pub(super) fn count(self) -> u32 {
        self.count
    }

    /// The length of all chunks together, in bytes.
    pub(super) fn total(self) -> u64 {
        self.offset(self.count)
    }

    /// Where a chunk begins, in bytes; of the number of chunks itself, where the last one ends.
    #[inline]
    pub(super) fn offset(self, chunk: u32) -> u64 {
        // i·S/n = i·quotient + i·remainder/n; the products stay below n² < 2⁶⁴ where i·S might not.
        let i = u64::from(chunk);
        i * self.quotient + i * self.remainder / u64::from(self.count)
    }

    /// The length of one chunk in bytes.
    #[inline]
    pub(super) fn bytes(self, chunk: u32) -> u64 {
        if self.remainder == 0 {
            return self.quotient;
        }
        self.offset(chunk + 1) - self.offset(chunk)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lengths(size_bytes: u64, count: u32) -> Vec<u64> {
        (0..count)
            .map(|i| Chunks::new(size_bytes, count).bytes(i))
            .collect()
    }

    #[test]
    fn uneven_sizes_spread_the_longer_chunks() {
        // ⌊i·10/4⌋ = 0, 2, 5, 7, 10.
        assert_eq!(lengths(10, 4), [2, 3, 2, 3]);
        // ⌊i·3/5⌋ = 0, 0, 1, 1, 2, 3: chunks of no bytes are legal.
        assert_eq!(lengths(3, 5), [0, 1, 0, 1, 1]);
        assert_eq!(lengths(8, 4), [2, 2, 2, 2]);
    }

    proptest! {
        #[test]
        fn chunks_add_up_and_differ_by_one(size in 1..=u64::MAX, count in 1_u32..300) {
            let lengths = lengths(size, count);
            prop_assert_eq!(lengths.iter().sum::<u64>(), size);
            let least = size / u64::from(count);
            prop_assert!(lengths.iter().all(|&bytes| bytes == least || bytes == least + 1));
            prop_assert_eq!(Chunks::new(size, count).total(), size);
        }
    }
}
