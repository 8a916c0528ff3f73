//! Sizes in bytes, packed into 32-bit words.

/// Large sizes by index. A word holds a size below 2 GiB directly, or a flag and an index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sizes {
    large: Vec<u64>,
}

/// Flag: the other bits are an index into the large sizes.
const LARGE: u32 = 1 << 31;

impl Sizes {
    /// Packs a size. The index cannot overflow, since there are fewer than 2^31 operations.
    pub(super) fn word(&mut self, bytes: u64) -> u32 {
        match u32::try_from(bytes) {
            Ok(bytes) if bytes < LARGE => bytes,
            _ => {
                // Messages and receives of equal size often follow one another, so this saves most
                // duplicates.
                if self.large.last() != Some(&bytes) {
                    self.large.push(bytes);
                }
                LARGE | (self.large.len() - 1) as u32
            }
        }
    }

    /// Unpacks a word into bytes.
    #[inline]
    pub(super) fn bytes(&self, word: u32) -> u64 {
        if word < LARGE {
            u64::from(word)
        } else {
            self.large[(word & !LARGE) as usize]
        }
    }

    /// Returns the bytes that the table takes beside the words.
    pub(super) fn memory_bytes(&self) -> u64 {
        (self.large.len() * size_of::<u64>()) as u64
    }

    pub(super) fn shrink(&mut self) {
        self.large.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_read_as_it_was_stored() {
        let mut sizes = Sizes::default();
        let given = [
            0,
            1,
            (1 << 31) - 1,
            1 << 31,
            u64::from(u32::MAX) + 1,
            u64::MAX,
        ];
        let words = given.map(|bytes| sizes.word(bytes));
        assert_eq!(words.map(|word| sizes.bytes(word)), given);
        assert_eq!(sizes.memory_bytes(), 24);
    }
}
