//! Rank placement in the dimensions of parallelism, and the groups that follow.

use std::fmt;
use std::str::FromStr;

use tenter_language::config::parsed;

use super::error::{Checked, wrong};
use super::model::ModelSpec;

/// A dimension over which ranks are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dimension {
    /// Tensor parallelism: each rank has a part in every matrix.
    Tensor,
    /// Context parallelism: each rank has a part in every sequence.
    Context,
    /// Data parallelism: each rank has other sequences.
    Data,
    /// Pipeline parallelism: each rank has other layers.
    Pipeline,
}

const WORDS: [(&str, Dimension); 4] = [
    ("tp", Dimension::Tensor),
    ("cp", Dimension::Context),
    ("dp", Dimension::Data),
    ("pp", Dimension::Pipeline),
];

/// Order in which rank numbers run through the dimensions, the fastest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankOrder([Dimension; 4]);

/// The default order is Megatron-LM's, `tp-cp-dp-pp`.
impl Default for RankOrder {
    fn default() -> RankOrder {
        RankOrder(WORDS.map(|(_, dimension)| dimension))
    }
}

impl FromStr for RankOrder {
    type Err = ();

    fn from_str(text: &str) -> Result<RankOrder, ()> {
        let dimension = |word: &str| {
            let found = WORDS.iter().find(|(own, _)| *own == word);
            found.map(|(_, dimension)| *dimension).ok_or(())
        };
        let order: Vec<Dimension> = text.split('-').map(dimension).collect::<Result<_, ()>>()?;
        let order: [Dimension; 4] = order.try_into().map_err(|_| ())?;
        let mut sorted = order;
        sorted.sort_unstable();
        // Four names of four without a repetition are all of them.
        let is_whole = sorted.windows(2).all(|two| two[0] != two[1]);
        is_whole.then_some(RankOrder(order)).ok_or(())
    }
}

impl fmt::Display for RankOrder {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = self.0.map(|of| WORDS.iter().find(|(_, own)| *own == of));
        let words: Vec<&str> = words.iter().flatten().map(|(word, _)| *word).collect();
        out.write_str(&words.join("-"))
    }
}

parsed!(RankOrder {
    "order of `tp`, `cp`, `dp` and `pp`",
    "is no order of the dimensions:",
    "name each of tp, cp, dp and pp once, for example `tp-cp-dp-pp`"
});

/// A rank's coordinates, or the grid's size in each dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Coordinate among tensor-parallel ranks, from 0.
    pub tp: u32,
    /// Coordinate among context-parallel ranks, from 0.
    pub cp: u32,
    /// Coordinate among data-parallel replicas, from 0.
    pub dp: u32,
    /// Pipeline stage that it computes, from 0.
    pub pp: u32,
}

/// Grid that maps ranks to coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Number of ranks along each dimension.
    pub size: Place,
    /// Order in which rank numbers run through them.
    pub order: RankOrder,
}

impl Place {
    fn of(&self, dimension: Dimension) -> u32 {
        match dimension {
            Dimension::Tensor => self.tp,
            Dimension::Context => self.cp,
            Dimension::Data => self.dp,
            Dimension::Pipeline => self.pp,
        }
    }

    fn of_mut(&mut self, dimension: Dimension) -> &mut u32 {
        match dimension {
            Dimension::Tensor => &mut self.tp,
            Dimension::Context => &mut self.cp,
            Dimension::Data => &mut self.dp,
            Dimension::Pipeline => &mut self.pp,
        }
    }
}

impl Grid {
    /// Returns the number of ranks in the grid.
    pub fn ranks(&self) -> u32 {
        self.size.tp * self.size.cp * self.size.dp * self.size.pp
    }

    /// Returns the coordinates of `rank`.
    pub fn place(&self, rank: u32) -> Place {
        let mut place = Place {
            tp: 0,
            cp: 0,
            dp: 0,
            pp: 0,
        };
        let mut rest = rank;
        for dimension in self.order.0 {
            let size = self.size.of(dimension);
            *place.of_mut(dimension) = rest % size;
            rest /= size;
        }
        place
    }

    /// Returns the rank at some coordinates.
    pub fn rank(&self, place: Place) -> u32 {
        let mut rank = 0;
        // The slowest dimension comes last in the order, and is the most significant digit.
        for dimension in self.order.0.into_iter().rev() {
            rank = rank * self.size.of(dimension) + place.of(dimension);
        }
        rank
    }

    /// Returns the ranks that differ from `place` only in `dimension`, itself included.
    pub fn along(&self, place: Place, dimension: Dimension) -> Vec<u32> {
        let at = |own: u32| {
            let mut there = place;
            *there.of_mut(dimension) = own;
            self.rank(there)
        };
        (0..self.size.of(dimension)).map(at).collect()
    }

    /// Returns the ranks that hold the same weights, experts aside: all data-parallel and
    /// context-parallel coordinates. Ascending.
    pub fn replicas(&self, place: Place) -> Vec<u32> {
        let mut ranks: Vec<u32> = (0..self.size.dp)
            .flat_map(|dp| self.along(Place { dp, ..place }, Dimension::Context))
            .collect();
        // With another order of dimensions the numbers may interleave.
        ranks.sort_unstable();
        ranks
    }

    /// Returns the ranks in stage `pp`, ascending.
    pub fn stage(&self, pp: u32) -> Vec<u32> {
        let all = 0..self.ranks();
        all.filter(|&rank| self.place(rank).pp == pp).collect()
    }
}

/// Returns the ranks over which `stage[index]` and its neighbours spread their experts: `ep` in
/// all.
pub(crate) fn expert_group(stage: &[u32], index: usize, ep: u32) -> Vec<u32> {
    let ep = ep as usize;
    let first = index / ep * ep;
    // Checks have refused an `ep` that does not divide the stage; the bound only avoids a panic.
    stage[first..(first + ep).min(stage.len())].to_vec()
}

/// Returns the ranks in `stage` that hold the same experts as `stage[index]`.
pub(crate) fn expert_replicas(stage: &[u32], index: usize, ep: u32) -> Vec<u32> {
    let ep = ep as usize;
    stage.iter().skip(index % ep).step_by(ep).copied().collect()
}

/// Checks that each tensor-parallel rank gets whole key-value heads, or that each head is on
/// equally many ranks.
pub(crate) fn check_kv_heads(key: &str, tp: u32, model: &ModelSpec) -> Checked<()> {
    let kv_heads = model.kv_heads();
    let fits = |tp: &u32| kv_heads.is_multiple_of(*tp) || tp.is_multiple_of(kv_heads);
    if fits(&tp) {
        return Ok(());
    }
    // A suggestion must pass the other checks on `tp`, too; 1 always does, so there is one.
    let divide = |of: &u32| model.heads.is_multiple_of(*of) && model.ffn.is_multiple_of(*of);
    let below = (1..tp).rev().find(|of| fits(of) && divide(of));
    let above = (tp..=model.heads).find(|of| fits(of) && divide(of));
    let ways: Vec<String> = below
        .into_iter()
        .chain(above)
        .map(|of| of.to_string())
        .collect();
    let what = format!(
        "is {tp}, which neither divides the heads of keys and values ({kv_heads}) nor is a multiple of them"
    );
    wrong(key, what, format!("give {}", ways.join(" or ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(order: &str) -> Grid {
        Grid {
            size: Place {
                tp: 2,
                cp: 1,
                dp: 3,
                pp: 2,
            },
            order: order.parse().expect("it is an order"),
        }
    }

    #[test]
    fn ranks_count_through_the_dimensions_in_their_order() {
        let usual = grid("tp-cp-dp-pp");
        let place = usual.place(9);
        assert_eq!((place.tp, place.dp, place.pp), (1, 1, 1));
        assert_eq!(usual.along(place, Dimension::Tensor), [8, 9]);
        assert_eq!(usual.replicas(place), [7, 9, 11]);
        assert_eq!(usual.along(place, Dimension::Pipeline), [3, 9]);
        let other = grid("pp-tp-cp-dp");
        assert_eq!(other.along(other.place(5), Dimension::Pipeline), [4, 5]);
        for order in ["tp-cp-dp-pp", "pp-tp-cp-dp", "dp-pp-cp-tp"] {
            let grid = grid(order);
            assert_eq!(grid.order.to_string(), order);
            for rank in 0..grid.ranks() {
                assert_eq!(grid.rank(grid.place(rank)), rank);
            }
        }
    }

    #[test]
    fn experts_are_spread_over_neighbours_of_a_stage() {
        let stage = grid("tp-cp-dp-pp").stage(1);
        assert_eq!(stage, [6, 7, 8, 9, 10, 11]);
        assert_eq!(expert_group(&stage, 3, 2), [8, 9]);
        assert_eq!(expert_replicas(&stage, 3, 2), [7, 9, 11]);
    }

    #[test]
    fn orders_name_each_dimension_once() {
        for text in ["", "tp", "tp-cp-dp-dp", "tp-cp-dp-pp-ep", "tp cp dp pp"] {
            assert_eq!(text.parse::<RankOrder>(), Err(()), "{text}");
        }
    }
}
