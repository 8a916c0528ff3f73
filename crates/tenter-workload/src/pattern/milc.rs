//! MILC: lattice quantum chromodynamics, a four-dimensional stencil with a conjugate-gradient
//! solver.
//!
//! Origin: the MIMD Lattice Computation code. A step is one iteration of its staggered solver:
//! every rank gathers the surface of its neighbours for the odd sites, then for the even ones, then
//! all ranks add up two scalars. Sizes are those of a local lattice of 16⁴ sites: a vector of 48
//! bytes for each site of one colour in four layers (one for nearest neighbours, three for third
//! neighbours, as improved actions have them): 16³/2 · 48 · 4 = 393,216 bytes. The time to compute
//! is assumed.

use super::grid::Grid;
use super::reduce::{all_reduce, everybody};
use super::{CommunicationMatrix, PatternError};
use crate::collective::{CollectiveKind, CollectiveMember, Factor};

pub(super) static MEMBER: CollectiveMember = CollectiveMember {
    collective: "pattern",
    algorithm: "milc",
    summary: "a four-dimensional stencil and two dot products",
    model_page: "docs/models/pattern-milc.md",
    ranks_max: u32::MAX,
    busbw: Factor::One,
    default: CollectiveKind::AllToAllParallel,
};

/// A four-dimensional stencil on a torus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Milc {
    /// Ranks along each of four dimensions; empty for as even as may be.
    pub grid: Vec<u32>,
    /// Bytes to each of eight neighbours, for the sites of one colour.
    pub face_bytes: u64,
    /// Bytes of an all-reduce.
    pub reduce_bytes: u64,
}

impl Default for Milc {
    fn default() -> Milc {
        Milc {
            grid: Vec::new(),
            face_bytes: 384 << 10,
            reduce_bytes: 8,
        }
    }
}

impl Milc {
    pub(super) fn phases(&self, ranks: u32) -> Result<Vec<CommunicationMatrix>, PatternError> {
        let grid = Grid::new("milc", (ranks, 4), &self.grid, true)?;
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
            grid: vec![4, 4, 4, 5],
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
