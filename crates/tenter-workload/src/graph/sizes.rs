//! Sizes in bytes, as they are stored.

/// Sizes of which each is a word: itself below 2 GiB, else its place among the large ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sizes {
    large: Vec<u64>,
}

/// Marks the place of a large size.
const LARGE: u32 = 1 << 31;

impl Sizes {
    /// The word of a size. At most 2^31 large ones have one: there are fewer operations.
    pub(super) fn word(&mut self, bytes: u64) -> u32 {
        match u32::try_from(bytes) {
            Ok(bytes) if bytes < LARGE => bytes,
            _ => {
                // Messages and receives of one size often come one after the other.
                if self.large.last() != Some(&bytes) {
                    self.large.push(bytes);
                }
                LARGE | (self.large.len() - 1) as u32
            }
        }
    }

    /// The size of a word, in bytes.
    #[inline]
    pub(super) fn bytes(&self, word: u32) -> u64 {
        if word < LARGE {
            u64::from(word)
        } else {
            self.large[(word & !LARGE) as usize]
        }
    }

    /// The memory that large sizes take beside their words, in bytes.
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
