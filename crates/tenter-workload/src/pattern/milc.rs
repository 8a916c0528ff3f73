//! MILC: lattice quantum chromodynamics, a four-dimensional stencil with a conjugate-gradient
//! solver.
//!
//! Origin: the MIMD Lattice Computation code. A step is one iteration of its staggered solver:
//! every rank gathers its neighbours' surfaces for the odd sites, then for the even ones; then all
//! ranks add up two scalars. Sizes follow from a local lattice with 16⁴ sites: a vector of 48 bytes
//! for each site of one colour in four layers (one for nearest neighbours, three for third
//! neighbours, as improved actions have them), that is 16³/2 · 48 · 4 = 393,216 bytes. The
//! computing time is assumed.

use tenter_language::config::component;
use tenter_language::units::{Bytes, Time};

use super::grid::{Grid, Sides};
use super::limits::{COMPUTE, SIZES};
use super::reduce::{all_reduce, everybody};
use super::{CommunicationMatrix, PatternError};
use crate::collective::{CollectiveMember, Factor};

pub(super) static MEMBER: CollectiveMember = CollectiveMember {
    collective: "pattern",
    algorithm: "milc",
    summary: "a four-dimensional stencil and two dot products",
    model_page: "docs/models/pattern-milc.md",
    ranks_max: u32::MAX,
    busbw: Factor::One,
};

component! {
    /// A four-dimensional stencil on a torus.
    pub struct Milc as "`jobs[].pattern` with `kind: milc`" {
        /// Computing time of all ranks before each step.
        compute: Time = "150us", in COMPUTE, from "assumed";
        /// Ranks along each of four dimensions, such as `4x4x2x2`; `auto` is as even as may be.
        grid: Sides<4> = "auto";
        /// Bytes to each of the eight neighbours, for the sites of one colour.
        face_bytes as "face": u64 as Bytes = "384KiB", in SIZES, from "16⁴ sites in each rank: 16³/2 vectors of 48 bytes in four layers";
        /// The buffer of each all-reduce.
        reduce_bytes as "reduce": u64 as Bytes = "8B", in SIZES, from "one number of double precision";
    }
}

impl Milc {
    pub(super) fn phases(&self, ranks: u32) -> Result<Vec<CommunicationMatrix>, PatternError> {
        let grid = Grid::new("milc", ranks, self.grid, true)?;
        let gather = grid.halo(1, &[self.face_bytes]);
        let mut phases = vec![gather.clone(), gather];
        for _ in 0..2 {
            phases.extend(all_reduce(ranks, &everybody(ranks), self.reduce_bytes));
        }
        Ok(phases)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_neighbours_and_the_closed_form() {
        // Sides of four and more have eight neighbours, of which none coincide.
        let milc = Milc {
            grid: Sides::of([4, 4, 4, 5]),
            ..Milc::default()
        };
        let phases = milc.phases(320).unwrap();
        // 320 ranks: 2⁸ of them exchange 8 times, and 64 more before and after, twice.
        assert_eq!(phases.len(), 2 + 2 * (8 + 2));
        for gather in &phases[..2] {
            assert!((0..320).all(|rank| gather.row(rank).len() == 8));
            assert!(gather.is_symmetric());
            assert_eq!(gather.total(), 320 * 8 * (384 << 10));
        }
        let sums: u64 = phases[2..].iter().map(CommunicationMatrix::total).sum();
        assert_eq!(sums, 2 * 8 * (256 * 8 + 2 * 64));
    }

    #[test]
    fn sides_of_two_have_one_neighbour_with_both_faces() {
        let gather = Milc::default().phases(16).unwrap().swap_remove(0);
        assert_eq!(
            gather.row(0),
            [(1, 786_432), (2, 786_432), (4, 786_432), (8, 786_432)]
        );
    }
}
