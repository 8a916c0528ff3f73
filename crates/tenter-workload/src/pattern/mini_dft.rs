//! `MiniDFT`: plane-wave density functional theory, dominated by three-dimensional Fourier
//! transforms.
//!
//! Origin: the `MiniDFT` mini-app from NERSC, taken from Quantum ESPRESSO. Ranks form rows and
//! columns of pencils. A transform exchanges within each row, then within each column; the inverse
//! goes the other way round; then all ranks add up a result. The block follows from a grid of 128³
//! complex numbers on 64 ranks: 128³ · 16 / 64 / 8 = 65,536 bytes. The all-reduce and the computing
//! time are assumed.

use tenter_language::config::component;
use tenter_language::units::{Bytes, Time};

use super::auto::Auto;
use super::grid::even;
use super::limits::{COMPUTE, SIZES};
use super::reduce::{all_reduce, everybody};
use super::{CommunicationMatrix, PatternError};
use crate::collective::{CollectiveMember, Factor};

pub(super) static MEMBER: CollectiveMember = CollectiveMember {
    collective: "pattern",
    algorithm: "mini-dft",
    summary: "all-to-alls in rows and columns of ranks, and an all-reduce",
    model_page: "docs/models/pattern-mini-dft.md",
    ranks_max: u32::MAX,
    busbw: Factor::One,
};

component! {
    /// A three-dimensional Fourier transform over pencils, and back.
    pub struct MiniDft as "`jobs[].pattern` with `kind: mini-dft`" {
        /// Computing time of all ranks before each step.
        compute: Time = "200us", in COMPUTE, from "assumed";
        /// Rows of ranks that follow each other, a divisor of their number; `auto` is the most even
        /// one, with rows longer than columns.
        rows: Auto = "auto", in 1..=u32::MAX;
        /// Bytes from a rank to each other one of its row, and of its column.
        block_bytes as "block": u64 as Bytes = "64KiB", in SIZES, from "a grid of 128³ complex numbers on 64 ranks";
        /// The buffer of the all-reduce.
        reduce_bytes as "reduce": u64 as Bytes = "8KiB", in SIZES, from "assumed";
    }
}

impl MiniDft {
    pub(super) fn phases(&self, ranks: u32) -> Result<Vec<CommunicationMatrix>, PatternError> {
        // By default rows are the longer side, so that more of an exchange is between consecutive
        // ranks.
        let rows = match self.rows {
            Auto::Auto => even(ranks, 2)[1],
            Auto::Given(rows) => rows,
        };
        if !ranks.is_multiple_of(rows) {
            return Err(PatternError::NotDivided {
                pattern: "mini-dft",
                ranks,
                key: "rows",
                given: rows,
            });
        }
        let columns = ranks / rows;
        let row = |rank: u32| rank / columns;
        let column = |rank: u32| rank % columns;
        let in_rows = |src| (0..columns).map(move |other| row(src) * columns + other);
        let in_columns = |src| (0..rows).map(move |other| other * columns + column(src));
        let exchange = |peers: &dyn Fn(u32) -> Vec<u32>| {
            let of = |src| {
                peers(src)
                    .into_iter()
                    .map(move |dst| (src, dst, self.block_bytes))
            };
            CommunicationMatrix::of(ranks, (0..ranks).flat_map(of).collect())
        };
        let rows = exchange(&|src| in_rows(src).collect());
        let columns = exchange(&|src| in_columns(src).collect());
        let mut phases = vec![rows.clone(), columns.clone(), columns, rows];
        // A single row or column has no ranks to exchange with.
        phases.retain(|phase| phase.pairs() > 0);
        phases.extend(all_reduce(ranks, &everybody(ranks), self.reduce_bytes));
        Ok(phases)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_columns_and_the_closed_form() {
        let dft = MiniDft {
            rows: Auto::Given(4),
            block_bytes: 1_000,
            reduce_bytes: 8,
            ..MiniDft::default()
        };
        let phases = dft.phases(24).unwrap();
        // 24 ranks: 16 exchange four times, and 8 more before and after.
        assert_eq!(phases.len(), 4 + 6);
        assert_eq!(phases[0], phases[3]);
        assert_eq!(phases[1], phases[2]);
        assert_eq!(phases[0].total(), 24 * 5 * 1_000);
        assert_eq!(phases[1].total(), 24 * 3 * 1_000);
        let peers: Vec<u32> = phases[0].row(7).iter().map(|(dst, _)| *dst).collect();
        assert_eq!(peers, [6, 8, 9, 10, 11]);
        let peers: Vec<u32> = phases[1].row(7).iter().map(|(dst, _)| *dst).collect();
        assert_eq!(peers, [1, 13, 19]);
        let all = CommunicationMatrix::sum(&phases[..4]);
        assert!(all.is_symmetric());
        assert_eq!(all.total(), 2 * 24 * (5 + 3) * 1_000);
    }

    #[test]
    fn a_prime_number_of_ranks_is_one_row() {
        let phases = MiniDft::default().phases(5).unwrap();
        assert_eq!(phases[0].pairs(), 20);
        assert_eq!(phases[0], phases[1]);
    }

    #[test]
    fn rows_divide_the_ranks() {
        let dft = MiniDft {
            rows: Auto::Given(5),
            ..MiniDft::default()
        };
        assert_eq!(
            dft.phases(24).unwrap_err().to_string(),
            "mini-dft: `rows` is 5, which does not divide 24 ranks; give a divisor of that number"
        );
    }
}
