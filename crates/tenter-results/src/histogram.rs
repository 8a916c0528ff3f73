//! Percentiles over any number of values, in bounded memory.

use crate::percentile::rank;

/// Value counts in cells, each at most 1/1,024 as wide as its values.
///
/// A cell holds the values whose eleven leading binary digits agree; smaller values have a cell
/// each. Greatest value, count and sum are exact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    cells: Vec<u64>,
    count: u64,
    sum: u128,
    greatest: u128,
}

/// Binary digits after the leading one that tell cells apart.
const DIGITS: u32 = 10;

fn cell_of(value: u128) -> usize {
    // The leading digits of longer values are 1,024 to 2,047, so the cells of successive shifts
    // adjoin.
    let shift = (u128::BITS - value.leading_zeros()).saturating_sub(DIGITS + 1);
    ((u128::from(shift) << DIGITS) + (value >> shift)) as usize
}

/// Returns a cell's greatest value.
fn end_of(cell: usize) -> u128 {
    let shift = (cell >> DIGITS).saturating_sub(1);
    let last = (cell - (shift << DIGITS)) as u128;
    // Ones are shifted in by `|`, since adding the width would exceed 128 bits in the last cell.
    (last << shift) | ((1 << shift) - 1)
}

impl Histogram {
    /// Adds one value to its cell.
    pub fn add(&mut self, value: u128) {
        let cell = cell_of(value);
        if cell >= self.cells.len() {
            self.cells.resize(cell + 1, 0);
        }
        self.cells[cell] += 1;
        self.count += 1;
        self.sum += value;
        self.greatest = self.greatest.max(value);
    }

    /// Adds all values in another histogram.
    pub fn merge(&mut self, other: &Histogram) {
        let cells = self.cells.len().max(other.cells.len());
        self.cells.resize(cells, 0);
        for (own, more) in self.cells.iter_mut().zip(&other.cells) {
            *own += more;
        }
        self.count += other.count;
        self.sum += other.sum;
        self.greatest = self.greatest.max(other.greatest);
    }

    /// Returns how many values were added.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the mean; `None` without values.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// Returns the greatest value; `None` without values.
    pub fn greatest(&self) -> Option<u128> {
        (self.count > 0).then_some(self.greatest)
    }

    /// Returns a percentile by nearest rank, in hundredths of a percent: at most 1/1,024 above the
    /// exact one, and never above the greatest value. `None` without values.
    pub fn at(&self, per_myriad: u32) -> Option<u128> {
        let rank = rank(self.count, u64::from(per_myriad), 10_000);
        let mut seen = 0;
        let cell = self.cells.iter().position(|&cell| {
            seen += cell;
            seen >= rank
        })?;
        Some(end_of(cell).min(self.greatest))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_few_values_by_hand() {
        let mut few = Histogram::default();
        assert_eq!(
            (few.at(5_000), few.mean(), few.greatest()),
            (None, None, None)
        );
        for value in [40, 20, 10, 30, 2_047] {
            few.add(value);
        }
        // Ranks 3, 5 and 1; up to 2,047 each value has a cell of its own.
        assert_eq!(
            [5_000, 9_999, 1].map(|at| few.at(at)),
            [Some(30), Some(2_047), Some(10)]
        );
        assert_eq!((few.count(), few.mean()), (5, Some(429.4)));
    }

    proptest! {
        /// A cell contains what is counted there, and is narrow.
        #[test]
        fn cells_are_narrow(value in any::<u128>(), shift in 0_u32..128) {
            let value = value >> shift;
            let end = end_of(cell_of(value));
            prop_assert!(end >= value && end - value <= value / 1_024);
            prop_assert_eq!(cell_of(end), cell_of(value));
            prop_assert!(end == u128::MAX || cell_of(end + 1) == cell_of(value) + 1);
        }

        /// Percentiles are those of the sorted values, to a cell.
        #[test]
        fn percentiles_are_those_of_the_values(
            mut values in prop::collection::vec(0_u128..1 << 40, 1..200),
            at in 1_u32..=10_000,
        ) {
            let (mut all, mut rest) = (Histogram::default(), Histogram::default());
            for (index, &value) in values.iter().enumerate() {
                if index % 3 == 0 { all.add(value) } else { rest.add(value) }
            }
            all.merge(&rest);
            values.sort_unstable();
            let rank = (values.len() as u64 * u64::from(at)).div_ceil(10_000).max(1);
            let exact = values[rank as usize - 1];
            let found = all.at(at).expect("not empty");
            prop_assert!(found >= exact && found - exact <= exact / 1_024, "{found} {exact}");
        }
    }
}
