//! Buffers that are cut into a given number of chunks, or into chunks with a given length.

use super::member::CollectiveMember;
use crate::WorkloadError;

/// A buffer that is cut into `count` chunks, which differ by at most one byte.
///
/// Chunk i covers bytes ⌊i·S/n⌋ to ⌊(i+1)·S/n⌋. So the chunks add up to exactly S, and the longer
/// ones are spread evenly.
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

    /// Returns the buffer's length in bytes.
    pub(super) fn total(self) -> u64 {
        self.offset(self.count)
    }

    /// Returns the byte at which `chunk` begins; for `chunk == count`, the end of the buffer.
    #[inline]
    pub(super) fn offset(self, chunk: u32) -> u64 {
        // i·S/n = i·quotient + i·remainder/n. The first term is at most S and i·remainder is below
        // n² < 2⁶⁴, while i·S might overflow.
        let i = u64::from(chunk);
        i * self.quotient + i * self.remainder / u64::from(self.count)
    }

    /// Returns the length of `chunk`, in bytes.
    #[inline]
    pub(super) fn bytes(self, chunk: u32) -> u64 {
        if self.remainder == 0 {
            return self.quotient;
        }
        self.offset(chunk + 1) - self.offset(chunk)
    }
}

/// Most chunks in a buffer: one tebibyte in chunks of 512 KiB.
const PIECES_MAX: u32 = 1 << 21;

/// A buffer that is cut into chunks of `chunk_bytes`, the last of which may be shorter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pieces {
    size_bytes: u64,
    chunk_bytes: u64,
    count: u32,
}

impl Pieces {
    /// Cuts `size_bytes` for an algorithm that makes `transfers_per_chunk` transfers for each
    /// chunk. An empty buffer is one empty chunk.
    ///
    /// # Errors
    /// More than [`PIECES_MAX`] chunks, or more transfers than ids.
    pub(super) fn new(
        member: &CollectiveMember,
        size_bytes: u64,
        chunk_bytes: u64,
        transfers_per_chunk: u32,
    ) -> Result<Pieces, WorkloadError> {
        let most = u64::from((u32::MAX / transfers_per_chunk).min(PIECES_MAX));
        let least = size_bytes.div_ceil(most).max(1);
        if chunk_bytes < least {
            return Err(WorkloadError::TooManyChunks {
                collective: member.to_string(),
                chunk_bytes,
                size_bytes,
                least,
            });
        }
        Ok(Pieces {
            size_bytes,
            chunk_bytes,
            count: size_bytes.div_ceil(chunk_bytes).max(1) as u32,
        })
    }

    /// Returns a buffer of at most the same length that is cut at the same places; chunks beyond
    /// its end are empty. Two trees with halves that differ by a byte thus have equally many
    /// chunks.
    pub(super) fn shortened(self, size_bytes: u64) -> Pieces {
        Pieces { size_bytes, ..self }
    }

    pub(super) fn count(self) -> u32 {
        self.count
    }

    /// Returns the length of `chunk` in bytes.
    #[inline]
    pub(super) fn bytes(self, chunk: u32) -> u64 {
        let before = u64::from(chunk).saturating_mul(self.chunk_bytes);
        self.size_bytes.saturating_sub(before).min(self.chunk_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::BroadcastRing;
    use crate::collective::algorithm::Collective;
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

    #[test]
    fn pieces_have_a_length_but_for_the_last() {
        let member = &BroadcastRing::MEMBER;
        let lengths =
            |pieces: Pieces| -> Vec<u64> { (0..pieces.count()).map(|i| pieces.bytes(i)).collect() };
        let pieces = |size, chunk| Pieces::new(member, size, chunk, 3).unwrap();
        assert_eq!(lengths(pieces(10, 4)), [4, 4, 2]);
        assert_eq!(lengths(pieces(8, 4)), [4, 4]);
        assert_eq!(lengths(pieces(3, 4)), [3]);
        assert_eq!(lengths(pieces(0, 4)), [0]);
        assert_eq!(lengths(pieces(9, 4).shortened(8)), [4, 4, 0]);
        // A tebibyte in 2²¹ chunks, and in less when each is sent 3,000 times: ⌊(2³²−1)/3,000⌋ =
        // 1,431,655 chunks are at least 768,001 bytes long.
        assert_eq!(pieces(1 << 40, 512 << 10).count(), 1 << 21);
        let refused = |chunk_bytes, transfers| {
            let refused = Pieces::new(member, 1 << 40, chunk_bytes, transfers);
            refused.unwrap_err().to_string()
        };
        assert_eq!(
            refused(512, 3),
            "broadcast (ring): chunks of 512 bytes are too many for a buffer of 1099511627776 \
             bytes; cut it into chunks of at least 524288 bytes"
        );
        assert!(refused(512 << 10, 3_000).contains("at least 768001 bytes"));
        assert!(Pieces::new(member, 1, 0, 3).is_err());
    }

    proptest! {
        #[test]
        fn pieces_add_up(size in 0_u64..1 << 30, chunk in 1_u64 << 9..1 << 32) {
            let member = &BroadcastRing::MEMBER;
            let pieces = Pieces::new(member, size, chunk, 7).unwrap();
            let sum: u64 = (0..pieces.count()).map(|i| pieces.bytes(i)).sum();
            prop_assert_eq!(sum, size);
        }

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
