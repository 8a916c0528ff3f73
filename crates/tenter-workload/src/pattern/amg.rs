//! AMG: one cycle of algebraic multigrid, a three-dimensional stencil at several distances.
//!
//! Origin: the AMG benchmark from Lawrence Livermore National Laboratory (`BoomerAMG` in hypre).
//! Each level halves the points of a rank along each edge. Once a rank would have fewer than it
//! should keep, two ranks along each dimension hand their points to one of them, and from then on
//! neighbours are twice as far away. Assumed are the threshold at which ranks drop out, the 26
//! neighbours on all levels, the point counts and the computing time.

use std::ops::RangeInclusive;

use tenter_language::config::component;
use tenter_language::units::{Bytes, Time};

use super::grid::{Grid, Sides};
use super::limits::{COMPUTE, SIZES};
use super::reduce::{all_reduce, everybody};
use super::{CommunicationMatrix, PatternError};
use crate::collective::{CollectiveMember, Factor};

pub(super) static MEMBER: CollectiveMember = CollectiveMember {
    collective: "pattern",
    algorithm: "amg",
    summary: "a three-dimensional stencil down and up a hierarchy of distances",
    model_page: "docs/models/pattern-amg.md",
    ranks_max: u32::MAX,
    busbw: Factor::One,
};

/// Bytes per point: a double-precision number.
const POINT_BYTES: u64 = 8;

component! {
    /// A multigrid cycle over a three-dimensional stencil.
    pub struct Amg as "`jobs[].pattern` with `kind: amg`" {
        /// Computing time of all ranks before each step.
        compute: Time = "300us", in COMPUTE, from "assumed";
        /// Ranks along each of three dimensions, such as `4x4x4`; `auto` is as even as may be.
        grid: Sides<3> = "auto";
        /// Points of 8 bytes along an edge of a rank's block on the finest level.
        points: u32 = "64", in POINTS, from "assumed";
        /// The least points of a rank on a coarser level; a rank with fewer hands them to another.
        least_points: u32 = "16", in POINTS, from "assumed";
        /// The buffer of each all-reduce.
        reduce_bytes as "reduce": u64 as Bytes = "8B", in SIZES, from "one number of double precision";
    }
}

/// Permitted points along an edge; their cube must still fit a byte count.
const POINTS: RangeInclusive<u32> = 1..=10_000;

/// A level: the distance between neighbours, and the points along the edge of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Level {
    distance: u32,
    points: u64,
}

impl Amg {
    /// Lists the levels from the finest to the coarsest on which more than one rank takes part.
    fn levels(&self, longest: u32) -> Vec<Level> {
        let least = u64::from(self.least_points.max(1));
        let finest = Level {
            distance: 1,
            points: u64::from(self.points.max(1)),
        };
        let coarser = |level: &Level| {
            let next = if level.points / 2 >= least {
                Level {
                    points: level.points / 2,
                    ..*level
                }
            } else {
                Level {
                    distance: level.distance * 2,
                    ..*level
                }
            };
            // Ranks at multiples of the distance take part; with one rank left, nothing is
            // exchanged.
            (next.distance < longest).then_some(next)
        };
        std::iter::successors(Some(finest), coarser).collect()
    }

    pub(super) fn phases(&self, ranks: u32) -> Result<Vec<CommunicationMatrix>, PatternError> {
        let grid = Grid::new("amg", ranks, self.grid, false)?;
        let levels = self.levels(grid.longest());
        let mut down = Vec::new();
        let mut last = levels[0];
        for &level in &levels {
            if level.distance > last.distance {
                down.push(handed_over(&grid, level));
            }
            let face = level.points * level.points * POINT_BYTES;
            let edge = level.points * POINT_BYTES;
            down.push(grid.halo(level.distance, &[face, edge, POINT_BYTES]));
            last = level;
        }
        // On the way up, points that were handed over are given back, and each level is smoothed
        // once more. The coarsest level is not repeated.
        let back = |matrix: &CommunicationMatrix| {
            CommunicationMatrix::of(ranks, matrix.iter().map(|(a, b, n)| (b, a, n)).collect())
        };
        let up: Vec<_> = down.iter().rev().skip(1).map(back).collect();
        let mut phases = down;
        phases.extend(up);
        for _ in 0..2 {
            phases.extend(all_reduce(ranks, &everybody(ranks), self.reduce_bytes));
        }
        Ok(phases)
    }
}

/// Returns what ranks that drop out before a level hand to the rank that goes on: their points on
/// it, an eighth of the block that the other rank then has.
fn handed_over(grid: &Grid, level: Level) -> CommunicationMatrix {
    let half = level.distance / 2;
    let bytes = level.points.pow(3).div_ceil(8) * POINT_BYTES;
    let mut sends = Vec::new();
    for rank in 0..grid.ranks() {
        let own = grid.coordinates(rank);
        if own.iter().all(|place| place.is_multiple_of(half)) {
            let goes_on: Vec<u32> = own
                .iter()
                .map(|c| c / level.distance * level.distance)
                .collect();
            sends.push((rank, grid.rank(&goes_on), bytes));
        }
    }
    CommunicationMatrix::of(grid.ranks(), sends)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_by_hand() {
        let level = |distance, points| Level { distance, points };
        // 64, 32 and 16 points; then every second rank, and every fourth of eight.
        assert_eq!(
            Amg::default().levels(8),
            [
                level(1, 64),
                level(1, 32),
                level(1, 16),
                level(2, 16),
                level(4, 16)
            ]
        );
    }

    #[test]
    fn a_cycle_of_64_ranks_is_the_closed_form() {
        let phases = Amg::default().phases(64).unwrap();
        // Three levels, handing over, one more level; the same back but for the coarsest; two dot
        // products of six exchanges.
        assert_eq!(phases.len(), 5 + 4 + 12);
        // 4×4×4: 144 pairs behind a face, 108 behind an edge twice, 27 behind a corner four times.
        let halo = |points: u64| 2 * (144 * points * points + 216 * points + 108) * 8;
        assert_eq!(phases[0].total(), halo(64));
        assert_eq!(phases[1].total(), halo(32));
        assert_eq!(phases[2].total(), halo(16));
        // 56 ranks hand over 16³/8 points of 8 bytes to the 8 others.
        assert_eq!(phases[3].total(), 56 * 512 * 8);
        // 2×2×2: 12 faces, 6 · 2 edges, 4 corners.
        assert_eq!(phases[4].total(), 2 * (12 * 256 + 12 * 16 + 4) * 8);
        let peers: Vec<u32> = phases[4].row(0).iter().map(|(dst, _)| *dst).collect();
        assert_eq!(
            peers,
            [2, 8, 10, 32, 34, 40]
                .into_iter()
                .chain([42])
                .collect::<Vec<u32>>()
        );
        let totals: Vec<u64> = phases[..9].iter().map(CommunicationMatrix::total).collect();
        assert!(totals.iter().eq(totals.iter().rev()), "{totals:?}");
        assert!(CommunicationMatrix::sum(&phases).is_symmetric());
    }

    #[test]
    fn any_number_of_ranks_has_a_cycle() {
        for ranks in 2..70 {
            let phases = Amg::default().phases(ranks).unwrap();
            assert!(
                phases.iter().all(|phase| phase.pairs() > 0),
                "{ranks} ranks"
            );
        }
    }
}
