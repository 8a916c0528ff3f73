//! Cartesian rank grids, laid out as `MPI_Dims_create` and `MPI_Cart_create` do.

use tenter_language::config::{Reader, Shape, Value, Written};

use super::{CommunicationMatrix, PatternError};

/// A grid's sides in `N` dimensions; without sides the grid is as even as possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sides<const N: usize>(Option<[u32; N]>);

impl<const N: usize> Sides<N> {
    /// Wraps given sides, the slowest coordinate first.
    pub(crate) fn of(sides: [u32; N]) -> Self {
        Sides(Some(sides))
    }
}

impl<const N: usize> Value for Sides<N> {
    type Bounds = ();

    fn shape((): ()) -> Shape {
        Shape::OrWord(Box::new(Shape::Parsed("sides with `x` between")), "auto")
    }

    fn read(reader: &mut dyn Reader, key: &str, (): ()) -> Option<Self> {
        if reader.is_word(key, "auto") {
            return Some(Sides(None));
        }
        let example = ["4"; N].join("x");
        let help = format!("write {N} sides, for example `{example}`, or `auto`");
        let mut read = None;
        reader.word(key, ["cannot be", &help], &mut |word| {
            let sides: Option<Vec<u32>> = word.split('x').map(|side| side.parse().ok()).collect();
            let sides: Option<[u32; N]> = sides.and_then(|sides| sides.try_into().ok());
            read = sides.filter(|sides| !sides.contains(&0));
            read.is_some()
        });
        read.map(Sides::of)
    }

    fn written(&self) -> Written {
        let sides = self.0.as_ref().map(|sides| word(sides));
        Written::word(sides.unwrap_or_else(|| "auto".to_owned()))
    }
}

/// Ranks on a grid in row-major order: the last coordinate changes fastest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Grid {
    sizes: Vec<u32>,
    /// Set if the first and the last rank in a row are neighbours.
    periodic: bool,
}

impl Grid {
    /// Builds a grid with the given sides. Without sides it is as even as the rank count allows,
    /// the longest side first.
    pub(super) fn new<const N: usize>(
        pattern: &'static str,
        ranks: u32,
        asked: Sides<N>,
        periodic: bool,
    ) -> Result<Grid, PatternError> {
        let sizes = asked
            .0
            .map_or_else(|| even(ranks, N), |sides| sides.to_vec());
        let product = sizes
            .iter()
            .try_fold(1_u32, |all, &size| all.checked_mul(size));
        if product != Some(ranks) {
            return Err(PatternError::GridNotFull {
                pattern,
                ranks,
                grid: word(&sizes),
                even: word(&even(ranks, N)),
            });
        }
        Ok(Grid { sizes, periodic })
    }

    pub(super) fn ranks(&self) -> u32 {
        self.sizes.iter().product()
    }

    /// Returns the longest side's length.
    pub(super) fn longest(&self) -> u32 {
        self.sizes.iter().copied().max().unwrap_or(1)
    }

    pub(super) fn coordinates(&self, rank: u32) -> Vec<u32> {
        let mut rest = rank;
        let mut found: Vec<u32> = self
            .sizes
            .iter()
            .rev()
            .map(|size| {
                let own = rest % size;
                rest /= size;
                own
            })
            .collect();
        found.reverse();
        found
    }

    pub(super) fn rank(&self, coordinates: &[u32]) -> u32 {
        let places = self.sizes.iter().zip(coordinates);
        places.fold(0, |rank, (size, own)| rank * size + own)
    }

    /// Returns the rank at `offsets` from the coordinates; `None` outside a grid that is not
    /// periodic.
    fn away(&self, coordinates: &[u32], offsets: &[i64]) -> Option<u32> {
        let places = self.sizes.iter().zip(coordinates).zip(offsets);
        let moved = places.map(|((&size, &own), offset)| {
            let place = i64::from(own) + offset;
            let inside = (0..i64::from(size)).contains(&place);
            (inside || self.periodic).then(|| place.rem_euclid(i64::from(size)) as u32)
        });
        Some(self.rank(&moved.collect::<Option<Vec<u32>>>()?))
    }

    /// Returns the halo exchange of the ranks whose coordinates are all multiples of `distance`,
    /// each with its nearest neighbours among them. A neighbour that differs in k + 1 dimensions
    /// receives `bytes[k]`. If two neighbours are the same rank, it receives the bytes for both.
    pub(super) fn halo(&self, distance: u32, bytes: &[u64]) -> CommunicationMatrix {
        let mut sends = Vec::new();
        let dimensions = self.sizes.len() as u32;
        for src in 0..self.ranks() {
            let own = self.coordinates(src);
            if own.iter().any(|place| !place.is_multiple_of(distance)) {
                continue;
            }
            // Each direction is a number in base three, with one digit (−1, 0 or 1) per dimension.
            for direction in 0..3_u32.pow(dimensions) {
                let digit = |place: u32| i64::from(direction / 3_u32.pow(place) % 3) - 1;
                let offsets: Vec<i64> = (0..dimensions).map(digit).collect();
                let differing = offsets.iter().filter(|offset| **offset != 0).count();
                if differing == 0 || differing > bytes.len() {
                    continue;
                }
                let offsets: Vec<i64> = offsets.iter().map(|o| o * i64::from(distance)).collect();
                if let Some(dst) = self.away(&own, &offsets) {
                    sends.push((src, dst, bytes[differing - 1]));
                }
            }
        }
        CommunicationMatrix::of(self.ranks(), sends)
    }
}

/// Returns sides in words: `4x4x2`.
fn word(sizes: &[u32]) -> String {
    let words: Vec<String> = sizes.iter().map(u32::to_string).collect();
    words.join("x")
}

/// Returns `dimensions` sides in descending order whose product is `ranks` and which differ least.
pub(super) fn even(ranks: u32, dimensions: usize) -> Vec<u32> {
    /// Tries all descending sides; the first with the least difference stays.
    fn search(rest: u32, left: usize, sides: &mut Vec<u32>, best: &mut Vec<u32>) {
        let most = sides.last().copied().unwrap_or(u32::MAX);
        if left == 1 {
            if rest > most {
                return;
            }
            sides.push(rest);
            let spread = |of: &[u32]| of.first().zip(of.last()).map(|(a, b)| a - b);
            if best.is_empty() || spread(sides) < spread(best) {
                best.clone_from(sides);
            }
            sides.pop();
            return;
        }
        for side in (1..=rest.min(most)).filter(|side| rest.is_multiple_of(*side)) {
            sides.push(side);
            search(rest / side, left - 1, sides, best);
            sides.pop();
        }
    }
    let (mut sides, mut best) = (Vec::new(), Vec::new());
    search(ranks.max(1), dimensions, &mut sides, &mut best);
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_as_even_as_they_can_be() {
        assert_eq!(even(64, 3), [4, 4, 4]);
        assert_eq!(even(64, 4), [4, 4, 2, 2]);
        assert_eq!(even(1_024, 3), [16, 8, 8]);
        assert_eq!(even(4_096, 4), [8, 8, 8, 8]);
        assert_eq!(even(12, 2), [4, 3]);
        assert_eq!(even(7, 3), [7, 1, 1]);
    }

    #[test]
    fn the_last_coordinate_changes_fastest() {
        let grid = Grid::new("test", 24, Sides::of([4, 3, 2]), false).unwrap();
        assert_eq!(grid.coordinates(23), [3, 2, 1]);
        assert_eq!(grid.coordinates(1), [0, 0, 1]);
        assert!((0..24).all(|rank| grid.rank(&grid.coordinates(rank)) == rank));
    }

    #[test]
    fn grids_that_do_not_fit_are_refused() {
        let refused = Grid::new("milc", 24, Sides::of([4, 4, 2]), true).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "milc: a grid of 4x4x2 is not for 24 ranks; give sides whose product is that, such as \
             4x3x2"
        );
    }

    #[test]
    fn halos_by_hand() {
        // A row of three: its ends meet only in a ring.
        let row = Grid::new("test", 3, Sides::<1>(None), false).unwrap();
        assert_eq!(row.halo(1, &[5]).pairs(), 4);
        let ring = Grid::new("test", 3, Sides::<1>(None), true).unwrap();
        assert_eq!(ring.halo(1, &[5]).pairs(), 6);
        // Of two, the neighbours on both sides are the same.
        let pair = Grid::new("test", 2, Sides::<1>(None), true).unwrap();
        assert_eq!(pair.halo(1, &[5]).row(0), [(1, 10)]);
        // Two by two: faces along both sides and an edge across; 0 is (0, 0) and 3 is (1, 1).
        let square = Grid::new("test", 4, Sides::<2>(None), false).unwrap();
        assert_eq!(square.halo(1, &[7, 2]).row(0), [(1, 7), (2, 7), (3, 2)]);
        // In a row of five, every other one.
        let row = Grid::new("test", 5, Sides::<1>(None), false).unwrap();
        let far = row.halo(2, &[1]);
        assert_eq!(far.row(2), [(0, 1), (4, 1)]);
        assert_eq!(far.pairs(), 4);
    }
}
