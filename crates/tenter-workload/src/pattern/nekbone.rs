//! Nekbone: spectral elements on a box of ranks, solved by conjugate gradients.
//!
//! Origin: the Nekbone mini-app from Argonne National Laboratory. The solver of the app (`cg.f`)
//! iterates over a dot product, the operator with its gather-scatter over what elements share at
//! faces, edges and corners, and two more dot products. Sizes follow from 8³ elements of order nine
//! on each rank: 73 points along an edge, 73² on a face, 8 bytes each. The computing time is
//! assumed.

use tenter_language::config::component;
use tenter_language::units::{Bytes, Time};

use super::grid::{Grid, Sides};
use super::limits::{COMPUTE, SIZES};
use super::reduce::{all_reduce, everybody};
use super::{CommunicationMatrix, PatternError};
use crate::collective::{CollectiveMember, Factor};

pub(super) static MEMBER: CollectiveMember = CollectiveMember {
    collective: "pattern",
    algorithm: "nekbone",
    summary: "a three-dimensional stencil of up to 26 neighbours and three dot products",
    model_page: "docs/models/pattern-nekbone.md",
    ranks_max: u32::MAX,
    busbw: Factor::One,
};

component! {
    /// A three-dimensional stencil of up to 26 neighbours.
    pub struct Nekbone as "`jobs[].pattern` with `kind: nekbone`" {
        /// Computing time of all ranks before each step.
        compute: Time = "100us", in COMPUTE, from "assumed";
        /// Ranks along each of three dimensions, such as `4x4x4`; `auto` is as even as may be.
        grid: Sides<3> = "auto";
        /// Bytes to a neighbour behind a face.
        face_bytes as "face": u64 as Bytes = "42632B", in SIZES, from "8³ elements of order nine in each rank: 73² points of 8 bytes";
        /// Bytes to a neighbour behind an edge.
        edge_bytes as "edge": u64 as Bytes = "584B", in SIZES, from "73 points";
        /// Bytes to a neighbour behind a corner.
        corner_bytes as "corner": u64 as Bytes = "8B", in SIZES, from "one point";
        /// The buffer of each all-reduce.
        reduce_bytes as "reduce": u64 as Bytes = "8B", in SIZES, from "one number of double precision";
    }
}

impl Nekbone {
    pub(super) fn phases(&self, ranks: u32) -> Result<Vec<CommunicationMatrix>, PatternError> {
        let grid = Grid::new("nekbone", ranks, self.grid, false)?;
        let dot = all_reduce(ranks, &everybody(ranks), self.reduce_bytes);
        let mut phases = dot.clone();
        phases.push(grid.halo(1, &[self.face_bytes, self.edge_bytes, self.corner_bytes]));
        phases.extend(dot.clone());
        phases.extend(dot);
        Ok(phases)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_and_totals_are_the_closed_form() {
        let (x, y, z) = (5, 4, 3);
        let nekbone = Nekbone {
            grid: Sides::of([x, y, z]),
            ..Nekbone::default()
        };
        let ranks = x * y * z;
        let phases = nekbone.phases(ranks).unwrap();
        // 60 ranks: 32 exchange five times, and 28 more before and after.
        assert_eq!(phases.len(), 3 * 7 + 1);
        let halo = &phases[7];
        assert!(halo.is_symmetric());
        // Rank (2, 1, 1) has all 26; a corner of the box has 7.
        assert_eq!(halo.row((2 * y + 1) * z + 1).len(), 26);
        assert_eq!(halo.row(0).len(), 7);
        // Pairs of ranks behind a face, an edge and a corner, both ways.
        let faces = (x - 1) * y * z + x * (y - 1) * z + x * y * (z - 1);
        let edges = (x - 1) * (y - 1) * z + (x - 1) * y * (z - 1) + x * (y - 1) * (z - 1);
        let corners = (x - 1) * (y - 1) * (z - 1);
        let total =
            2 * u64::from(faces) * 42_632 + 4 * u64::from(edges) * 584 + 8 * u64::from(corners) * 8;
        assert_eq!(halo.total(), total);
    }
}
