//! Values of a sweep's reading, for pictures, tables and comparisons.

use crate::studies::{SweepReading, SweepRecord};

use crate::report::pairing::{Pairs, SIGNIFICANT};
use crate::report::time_unit::TimeUnit;

/// A reading in the form that pages show.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownReading {
    /// Unit for the values, before a readable one is chosen; a phrase if the reading is against a
    /// variant.
    pub unit: String,
    /// Cells, point by point and within a point variant by variant.
    pub cells: Vec<ShownCell>,
    /// Best variant for each point that has one.
    pub best: Vec<BestVariant>,
}

/// A reading's value at a point for a variant.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownCell {
    /// Point index in the record.
    pub point: usize,
    /// Variant index in the record.
    pub variant: usize,
    /// Statistic over the seeds, in `unit`; `None` without values.
    pub value: Option<f64>,
    /// Least and greatest value over several seeds; `None` if the statistic is not comparable with
    /// values, as a standard deviation is not.
    pub spread: Option<(f64, f64)>,
    /// Seeds with their values, by seed.
    pub seeds: Vec<(u64, f64)>,
}

/// Best variant at a point, compared with the next best seed by seed.
#[derive(Clone, Debug, PartialEq)]
pub struct BestVariant {
    /// Point index in the record.
    pub point: usize,
    /// Index of the best variant in the record.
    pub variant: usize,
    /// Index of the next best variant in the record.
    pub runner_up: usize,
    /// Difference from the next best, such as `37.2 % less`.
    pub difference: String,
    /// Confidence interval, wins and sign test, in words.
    pub confidence: String,
    /// True if the sign test calls the difference significant.
    pub is_significant: bool,
}

/// Returns the reading with index `place` in the form that pages show.
pub fn shown_reading(record: &SweepRecord, place: usize) -> ShownReading {
    let numbers = Numbers::of(record, place);
    let variants = record.variants.len();
    let cells = numbers
        .shown
        .iter()
        .enumerate()
        .map(|(at, cell)| ShownCell {
            point: at / variants,
            variant: at % variants,
            value: cell.value,
            spread: cell.spread(),
            seeds: cell.seeds.clone(),
        });
    let best = (0..record.points.len()).filter_map(|point| {
        let best = numbers.best(point)?;
        Some(BestVariant {
            point,
            variant: best.variant,
            runner_up: best.runner_up,
            difference: best.pairs.difference(),
            confidence: best.pairs.confidence(),
            is_significant: best.pairs.p_value < SIGNIFICANT,
        })
    });
    ShownReading {
        unit: match numbers.reading.against.as_str() {
            "" => numbers.reading.unit.clone(),
            against => format!("times that of {against}"),
        },
        cells: cells.collect(),
        best: best.collect(),
    }
}

/// A reading's value at a point for a variant.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Cell {
    /// Statistic over all seeds' values.
    pub(crate) value: Option<f64>,
    /// True if the statistic is a value like those of the seeds, so that these may be shown beside
    /// it.
    pub(crate) is_of_size: bool,
    /// Seeds with their values, by seed.
    pub(crate) seeds: Vec<(u64, f64)>,
}

/// Best variant at a point, with the next best.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Best {
    pub(crate) variant: usize,
    pub(crate) runner_up: usize,
    pub(crate) pairs: Pairs,
}

/// A reading at all points for all variants.
#[derive(Clone, Debug)]
pub(crate) struct Numbers<'r> {
    pub(crate) record: &'r SweepRecord,
    pub(crate) reading: &'r SweepReading,
    /// Cells with the values as read, point by point and within a point variant by variant.
    raw: Vec<Cell>,
    /// Cells as shown: if the reading is against a variant, values are ratios to that variant's.
    shown: Vec<Cell>,
}

impl Cell {
    /// Returns the least and greatest value over several seeds.
    pub(crate) fn spread(&self) -> Option<(f64, f64)> {
        let values = || self.seeds.iter().map(|(_, value)| *value);
        let least = values().min_by(f64::total_cmp)?;
        let greatest = values().max_by(f64::total_cmp)?;
        (self.seeds.len() > 1 && self.is_of_size).then_some((least, greatest))
    }

    fn of(reading: &SweepReading, mut seeds: Vec<(u64, f64)>) -> Cell {
        // `paired` searches by seed.
        seeds.sort_unstable_by_key(|(seed, _)| *seed);
        Cell {
            value: reading.of_seeds(seeds.iter().map(|(_, value)| *value).collect()),
            is_of_size: reading.has_a_best(),
            seeds,
        }
    }
}

/// Pairs values that have equal seeds. Both lists are sorted by seed.
pub(crate) fn paired(a: &[(u64, f64)], b: &[(u64, f64)]) -> Vec<(f64, f64)> {
    let of = |&(seed, value): &(u64, f64)| {
        let found = b.binary_search_by_key(&seed, |(seed, _)| *seed).ok()?;
        Some((value, b[found].1))
    };
    a.iter().filter_map(of).collect()
}

impl<'r> Numbers<'r> {
    /// Collects the values for the reading with index `place`.
    pub(crate) fn of(record: &'r SweepRecord, place: usize) -> Numbers<'r> {
        let reading = &record.readings[place];
        let variants = record.variants.len();
        let mut seeds = vec![Vec::new(); record.points.len() * variants];
        for trial in &record.trials {
            let cell = seeds.get_mut(trial.point * variants + trial.variant);
            let value = trial.values.get(place).copied().flatten();
            if let (Some(cell), Some(value)) = (cell, value) {
                cell.push((trial.seed, value));
            }
        }
        let raw: Vec<Cell> = seeds
            .into_iter()
            .map(|seeds| Cell::of(reading, seeds))
            .collect();
        // A reading against a variant that the record lacks is shown as it is.
        let against = record
            .variants
            .iter()
            .position(|name| *name == reading.against && !name.is_empty());
        let shown = match against {
            None => raw.clone(),
            Some(other) => raw
                .iter()
                .enumerate()
                .map(|(at, cell)| over(reading, cell, &raw[at / variants * variants + other]))
                .collect(),
        };
        Numbers {
            record,
            reading,
            raw,
            shown,
        }
    }

    /// Returns a cell with the values as read.
    pub(crate) fn raw(&self, point: usize, variant: usize) -> &Cell {
        &self.raw[point * self.record.variants.len() + variant]
    }

    /// Returns the best variant at a point, if at least two have values and the best is not tied.
    pub(crate) fn best(&self, point: usize) -> Option<Best> {
        if !self.reading.has_a_best() {
            return None;
        }
        let variants = 0..self.record.variants.len();
        let mut ranked: Vec<(usize, f64)> = variants
            .filter_map(|variant| Some((variant, self.raw(point, variant).value?)))
            .collect();
        // The sort is stable, so tied variants keep their order.
        let more = self.reading.more_is_better;
        ranked.sort_by(|(_, a), (_, b)| if more { b.total_cmp(a) } else { a.total_cmp(b) });
        let [(variant, best), (runner_up, next), ..] = ranked.as_slice() else {
            return None;
        };
        // A tie has no best variant.
        if best.total_cmp(next).is_eq() {
            return None;
        }
        let seeds = |variant: usize| self.raw(point, variant).seeds.as_slice();
        let pairs = paired(seeds(*variant), seeds(*runner_up));
        Some(Best {
            variant: *variant,
            runner_up: *runner_up,
            pairs: Pairs::of(&pairs, self.reading.more_is_better)?,
        })
    }

    /// Returns a variant's name, or `all trials` for the unnamed one.
    pub(crate) fn variant(&self, variant: usize) -> &str {
        match self.record.variants[variant].as_str() {
            "" => "all trials",
            name => name,
        }
    }
}

/// Names a point by its settings; empty if nothing is varied.
pub(crate) fn point_name(record: &SweepRecord, point: usize) -> String {
    let values = record.axes.iter().zip(&record.points[point]);
    let values = values.map(|(axis, value)| format!("{}={value}", axis.name));
    values.collect::<Vec<_>>().join(", ")
}

/// Returns a unit in which `greatest` is a readable number, and its size in the column's units.
pub(crate) fn shown_unit(unit: &str, greatest: f64) -> (String, f64) {
    let mebi = f64::from(1 << 20);
    if unit == "ns" {
        let unit = TimeUnit::of_ns(greatest);
        return (unit.name.to_owned(), unit.ns);
    }
    let (name, factor) = match unit {
        "bytes" if greatest >= 1024.0 * mebi => ("GiB", 1024.0 * mebi),
        "bytes" if greatest >= mebi => ("MiB", mebi),
        "bytes" if greatest >= 1024.0 => ("KiB", 1024.0),
        unit => (unit, 1.0),
    };
    (name.to_owned(), factor)
}

// Ratios are taken seed by seed, so that what a seed does to both variants cancels out.
fn over(reading: &SweepReading, cell: &Cell, other: &Cell) -> Cell {
    let ratio = |&(seed, value): &(u64, f64)| {
        let found = other.seeds.iter().find(|(of, _)| *of == seed)?;
        (found.1 != 0.0).then_some((seed, value / found.1))
    };
    Cell::of(reading, cell.seeds.iter().filter_map(ratio).collect())
}

#[cfg(test)]
mod tests {
    use super::{BestVariant, ShownCell, shown_reading};
    use crate::report::planted;

    /// Half of the first variant's time for the second; seeds add a tenth of a percent each.
    fn value(point: usize, variant: usize, seed: u64) -> f64 {
        1e6 * (point + 1) as f64 * [1.0, 0.5][variant] * (1.0 + seed as f64 / 1_000.0)
    }

    #[test]
    fn the_best_is_named_with_its_confidence() {
        let record = planted::record(&["a", "b"], &[], 1..=6, value);
        let shown = shown_reading(&record, 0);
        let expected = BestVariant {
            point: 0,
            variant: 1,
            runner_up: 0,
            difference: "50.0 % less".to_owned(),
            confidence:
                "95 % interval -50.0 to -50.0 %, better with 6 of 6 seeds, p = 0.031, significant"
                    .to_owned(),
            is_significant: true,
        };
        assert_eq!(shown.best, [expected]);
        // Equal variants have no best.
        let equal = planted::record(&["a", "b"], &[], 1..=6, |_, _, _| 1.0);
        assert_eq!(shown_reading(&equal, 0).best, []);
    }

    #[test]
    fn cells_have_the_median_between_the_least_and_the_greatest_of_their_seeds() {
        let sizes: &[(&str, &[&str])] = &[("size", &["1MiB", "2MiB"])];
        let record = planted::record(&["a", "b"], sizes, 1..=3, |point, variant, seed| {
            (10 * point + variant) as f64 + seed as f64 / 4.0
        });
        let shown = shown_reading(&record, 0);
        let expected = ShownCell {
            point: 1,
            variant: 0,
            value: Some(10.5),
            spread: Some((10.25, 10.75)),
            seeds: vec![(1, 10.25), (2, 10.5), (3, 10.75)],
        };
        assert_eq!(shown.cells[2], expected);
        assert_eq!((shown.cells.len(), shown.unit.as_str()), (4, "ns"));
    }

    #[test]
    fn against_a_variant_values_are_multiples_of_its() {
        let mut record = planted::record(&["a", "b"], &[], 1..=3, value);
        record.readings[0].against = "a".to_owned();
        let shown = shown_reading(&record, 0);
        assert_eq!(shown.unit, "times that of a");
        let values: Vec<Option<f64>> = shown.cells.iter().map(|cell| cell.value).collect();
        assert_eq!(values, [Some(1.0), Some(0.5)]);
    }
}
