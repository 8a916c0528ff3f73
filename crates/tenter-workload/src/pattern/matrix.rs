//! Matrix: bytes from each rank to each other, measured or made by another program.
//!
//! Origin: whatever the matrix comes from. All of it is sent at once in each step. The computing
//! time is 0 unless it is given.

use std::sync::Arc;

use tenter_language::config::{Reader, component};
use tenter_language::units::Time;

use super::limits::COMPUTE;
use super::sends::Sends;
use super::{CommunicationMatrix, PatternError};
use crate::collective::{CollectiveMember, Factor};

pub(super) static MEMBER: CollectiveMember = CollectiveMember {
    collective: "pattern",
    algorithm: "matrix",
    summary: "a communication matrix of one's own",
    model_page: "docs/models/pattern-matrix.md",
    ranks_max: u32::MAX,
    busbw: Factor::One,
};

component! {
    /// A communication matrix of your own, from a file or a list.
    pub struct Matrix as "`jobs[].pattern` with `kind: matrix`",
        derive(Clone, Debug, PartialEq, Eq) {
        /// Computing time of all ranks before each step.
        compute: Time = "0ns", in COMPUTE;
        /// A communication matrix, `.csv`, `.mtx` or `.txt`; its path counts from the folder of the
        /// scenario.
        file: Option<String> = absent "this or `sends`", in PATH_MAX;
        /// Source, destination and bytes of each send, with semicolons between:
        /// `0 1 65536; 1 0 128`.
        sends: Option<Sends> = absent "this or `file`";
        check has_sends;
    }
}

/// Longest accepted path in bytes.
const PATH_MAX: usize = 4_096;

/// Refuses a mapping without a matrix; a `file` has been read into `sends` by now.
fn has_sends(own: &Matrix, reader: &mut dyn Reader) -> bool {
    let has = own.sends.is_some();
    if !has {
        let help = "add `file: demand.csv`, or `sends: 0 1 65536; 1 0 65536`";
        reader.refuse_all("lacks `file` or `sends`", help);
    }
    has
}

impl Matrix {
    /// Makes the pattern that sends this matrix in each step.
    pub fn of(matrix: CommunicationMatrix) -> Matrix {
        Matrix {
            compute: Time::ZERO,
            file: None,
            sends: Some(Sends(Arc::new(matrix))),
        }
    }

    /// Returns the pairs that the matrix has.
    pub(super) fn pairs(&self) -> usize {
        self.sends.as_ref().map_or(0, |sends| sends.0.pairs())
    }

    pub(super) fn phases(&self, ranks: u32) -> Result<Vec<CommunicationMatrix>, PatternError> {
        let Some(Sends(matrix)) = &self.sends else {
            return Err(PatternError::EmptyMatrix);
        };
        let rows = matrix.ranks();
        if ranks < rows {
            return Err(PatternError::LargerMatrix { ranks, rows });
        }
        if matrix.pairs() == 0 {
            return Err(PatternError::EmptyMatrix);
        }
        // Ranks beyond the matrix send nothing.
        let sends = matrix.iter().collect();
        Ok(vec![CommunicationMatrix::of(ranks, sends)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_is_one_phase_over_at_least_its_ranks() {
        let of = |sends| Matrix::of(CommunicationMatrix::of(3, sends));
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
