//! Payload that its receiver can verify byte by byte.

/// Bytes that the time stamp and its copy take at the start of a payload with room for both.
pub const STAMP_BYTES: usize = 16;

/// Step between words: 2⁶⁴ over the golden ratio, an odd number whose bits have no other structure.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// One packet's payload: 64-bit words that follow from trial, queue pair and sequence number,
/// headed by a time stamp and a disguised copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern(u64);

impl Pattern {
    /// Makes the pattern for the packet `sequence` on `queue_pair` in `trial`.
    pub fn new(trial: u64, queue_pair: u32, sequence: u32) -> Pattern {
        let mixed = trial ^ (u64::from(queue_pair) << 32 | u64::from(sequence));
        // The finaliser of SplitMix64 (Steele, Lea and Flood, 2014).
        let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        Pattern(mixed ^ mixed >> 31)
    }

    fn word(self, index: usize) -> u64 {
        self.0.wrapping_add((index as u64).wrapping_mul(STEP))
    }

    /// Fills `payload`, and writes `stamp` over its start if there is room for [`STAMP_BYTES`].
    pub fn fill(self, payload: &mut [u8], stamp: u64) {
        let mut word = self.0;
        let mut chunks = payload.chunks_exact_mut(8);
        for chunk in &mut chunks {
            chunk.copy_from_slice(&word.to_le_bytes());
            word = word.wrapping_add(STEP);
        }
        // A payload need not be a multiple of eight bytes long.
        let tail = chunks.into_remainder();
        let bytes = word.to_le_bytes();
        let count = tail.len();
        tail.copy_from_slice(&bytes[..count]);
        // The stamp is the only part that the receiver cannot predict, so a copy protects it. It is
        // disguised so that an all-zero payload does not pass as stamp 0 with its copy.
        if let Some(stamps) = payload.first_chunk_mut::<STAMP_BYTES>() {
            let disguised = stamp ^ self.word(1);
            stamps[..8].copy_from_slice(&stamp.to_le_bytes());
            stamps[8..].copy_from_slice(&disguised.to_le_bytes());
        }
    }

    /// Checks that each byte of `payload` is as [`Pattern::fill`] wrote it, and returns the time
    /// stamp; `None` if the payload is too short for one.
    ///
    /// # Errors
    /// Returns the offset of the first byte that differs, or 0 if the stamp differs from its copy.
    pub fn check(self, payload: &[u8]) -> Result<Option<u64>, usize> {
        let word_of = |bytes: &[u8]| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(word)
        };
        let stamp = payload.first_chunk::<STAMP_BYTES>().map(|stamps| {
            let (plain, disguised) = stamps.split_at(8);
            (word_of(plain), word_of(disguised) ^ self.word(1))
        });
        if stamp.is_some_and(|(plain, disguised)| plain != disguised) {
            return Err(0);
        }
        let begin = if stamp.is_some() { STAMP_BYTES } else { 0 };
        let mut expected = self.word(begin / 8);
        let body = &payload[begin..];
        let chunks = body.chunks_exact(8);
        // Differences are collected without a branch per word, so the compiler can compare several
        // words at once; the place is looked up only after a mismatch.
        let tail = chunks.remainder();
        let mut differing = 0_u64;
        for chunk in chunks {
            differing |= word_of(chunk) ^ expected;
            expected = expected.wrapping_add(STEP);
        }
        // If there is no tail, the mask is 0 and `word_of` an empty slice is 0, too.
        let mask = (1_u64 << (8 * tail.len())) - 1;
        differing |= word_of(tail) ^ expected & mask;
        if differing == 0 {
            Ok(stamp.map(|(plain, _)| plain))
        } else {
            Err(begin + self.first_difference(body, begin / 8))
        }
    }

    fn first_difference(self, body: &[u8], first_word: usize) -> usize {
        let bytes = (first_word..).flat_map(|index| self.word(index).to_le_bytes());
        let differs = body.iter().zip(bytes).position(|(&is, due)| is != due);
        differs.unwrap_or(0)
    }
}
