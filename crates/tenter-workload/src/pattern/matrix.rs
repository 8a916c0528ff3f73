//! A matrix: bytes from each rank to each other, as somebody measured or made them.
//!
//! Origin: whatever the matrix is from. All of it is sent at once in each step; the time to compute
//! is nothing unless it is given.

use std::sync::Arc;

use super::{CommunicationMatrix, PatternError};
use crate::collective::{CollectiveKind, CollectiveMember, Factor};

pub(super) static MEMBER: CollectiveMember = CollectiveMember {
    collective: "pattern",
    algorithm: "matrix",
    summary: "a communication matrix of one's own",
    model_page: "docs/models/pattern-matrix.md",
    ranks_max: u32::MAX,
    busbw: Factor::One,
    default: CollectiveKind::AllToAllParallel,
};

/// A given matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matrix {
    /// Bytes per pair.
    pub matrix: Arc<CommunicationMatrix>,
}

impl Matrix {
    pub(super) fn phases(&self, ranks: u32) -> Result<Vec<CommunicationMatrix>, PatternError> {
        let rows = self.matrix.ranks();
        if ranks < rows {
            return Err(PatternError::LargerMatrix { ranks, rows });
        }
        if self.matrix.pairs() == 0 {
            return Err(PatternError::EmptyMatrix);
        }
        Ok(vec![CommunicationMatrix::of(
            ranks,
            self.matrix.iter().collect(),
        )])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_is_one_phase_over_at_least_its_ranks() {
        let of = |sends| Matrix {
            matrix: Arc::new(CommunicationMatrix::of(3, sends)),
        };
        let matrix = of(vec![(0, 2, 5), (2, 1, 7)]);
        let phases = matrix.phases(4).unwrap();
        assert_eq!(phases.len(), 1);
        assert_eq!((phases[0].ranks(), phases[0].total()), (4, 12));
        assert_eq!(
            matrix.phases(2).unwrap_err().to_string(),
            "matrix: it has 3 rows, and the job 2 ranks; give the job at least as many ranks"
        );
        assert_eq!(of(Vec::new()).phases(3), Err(PatternError::EmptyMatrix));
    }
}
