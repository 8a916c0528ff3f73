//! Lists of collective sizes.

/// The sizes a collective is run with, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SizeList {
    /// These, in this order, in bytes.
    Explicit(Vec<u64>),
    /// `start`, `start · multiplier`, … as long as they are at most `end`: the `-b`, `-f` and `-e`
    /// of nccl-tests.
    Range {
        /// The first size in bytes.
        start: u64,
        /// From one size to the next.
        multiplier: u64,
        /// The last size in bytes, if the multiplication hits it; none is larger.
        end: u64,
    },
}

/// Why a list of sizes makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SizeError {
    /// Nothing in the list.
    #[error("the list of sizes is empty; give at least one size")]
    Empty,
    /// A size of zero in the list.
    #[error("size {position} of the list is 0 bytes; give at least 1 byte or leave it out")]
    Zero {
        /// Which one, from 1.
        position: usize,
    },
    /// A range that starts at zero.
    #[error("a range of sizes cannot start at 0 bytes; give a start of at least 1 byte")]
    ZeroStart,
    /// A range that does not grow.
    #[error("a multiplier of {multiplier} never gets from start to end; give 2 or more")]
    MultiplierTooSmall {
        /// The multiplier.
        multiplier: u64,
    },
    /// A range that ends before it starts.
    #[error(
        "the range ends at {end} bytes, before its start of {start}; swap them or raise the end"
    )]
    EndBeforeStart {
        /// The start in bytes.
        start: u64,
        /// The end in bytes.
        end: u64,
    },
}

impl SizeList {
    /// The sizes in bytes, at least one and none of them zero.
    ///
    /// # Errors
    /// An empty list, a size of 0, a range that does not grow or ends before it starts.
    pub fn expand(&self) -> Result<Vec<u64>, SizeError> {
        match self {
            SizeList::Explicit(sizes) => {
                if sizes.is_empty() {
                    return Err(SizeError::Empty);
                }
                match sizes.iter().position(|&size| size == 0) {
                    Some(index) => Err(SizeError::Zero {
                        position: index + 1,
                    }),
                    None => Ok(sizes.clone()),
                }
            }
            &SizeList::Range {
                start,
                multiplier,
                end,
            } => expand_range(start, multiplier, end),
        }
    }
}

fn expand_range(start: u64, multiplier: u64, end: u64) -> Result<Vec<u64>, SizeError> {
    if start == 0 {
        return Err(SizeError::ZeroStart);
    }
    if end < start {
        return Err(SizeError::EndBeforeStart { start, end });
    }
    // A range of one size needs no multiplier that makes sense.
    if multiplier < 2 && end > start {
        return Err(SizeError::MultiplierTooSmall { multiplier });
    }
    let next = |&size: &u64| size.checked_mul(multiplier).filter(|&size| size <= end);
    let sizes = std::iter::successors(Some(start), next);
    Ok(if end == start {
        vec![start]
    } else {
        sizes.collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: u64, multiplier: u64, end: u64) -> Result<Vec<u64>, SizeError> {
        SizeList::Range {
            start,
            multiplier,
            end,
        }
        .expand()
    }

    #[test]
    fn ranges_include_their_end_when_they_hit_it() {
        let mebi = |sizes: &[u64]| sizes.iter().map(|size| size << 20).collect::<Vec<_>>();
        assert_eq!(
            range(16 << 20, 2, 256 << 20).unwrap(),
            mebi(&[16, 32, 64, 128, 256])
        );
        assert_eq!(range(16 << 20, 4, 250 << 20).unwrap(), mebi(&[16, 64]));
        assert_eq!(range(5, 2, 5).unwrap(), [5]);
        assert_eq!(range(5, 1, 5).unwrap(), [5]);
    }

    #[test]
    fn ranges_stop_where_64_bits_do() {
        let sizes = range(1, 2, u64::MAX).unwrap();
        assert_eq!((sizes.len(), sizes[63]), (64, 1 << 63));
    }

    #[test]
    fn explicit_lists_keep_their_order() {
        assert_eq!(
            SizeList::Explicit(vec![9, 3, 9]).expand().unwrap(),
            [9, 3, 9]
        );
    }

    #[test]
    fn senseless_lists_are_refused() {
        assert_eq!(SizeList::Explicit(vec![]).expand(), Err(SizeError::Empty));
        let refused = SizeList::Explicit(vec![1, 0]).expand();
        assert_eq!(refused, Err(SizeError::Zero { position: 2 }));
        assert_eq!(range(0, 2, 9), Err(SizeError::ZeroStart));
        assert_eq!(
            range(1, 1, 9),
            Err(SizeError::MultiplierTooSmall { multiplier: 1 })
        );
        assert_eq!(
            range(9, 2, 1),
            Err(SizeError::EndBeforeStart { start: 9, end: 1 })
        );
    }
}
