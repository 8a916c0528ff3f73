//! The numbers of a reading of a sweep, for pictures, tables and comparisons.

use tenter_study::{SweepReading, SweepRecord};

use crate::pairing::Pairs;

/// A reading at a point for a variant.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Cell {
    /// The statistic over the seeds.
    pub(crate) value: Option<f64>,
    /// Whether that is a value as those of the seeds are, so that they may stand beside it.
    pub(crate) is_of_size: bool,
    /// Seeds and values, in the order of the seeds.
    pub(crate) seeds: Vec<(u64, f64)>,
}

/// The best variant at a point, beside the next best.
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
    /// Point by point, variant by variant, as read.
    raw: Vec<Cell>,
    /// The same as shown: over those of another variant, if the reading is against one.
    shown: Vec<Cell>,
}

impl Cell {
    /// The least and the greatest of several seeds.
    pub(crate) fn spread(&self) -> Option<(f64, f64)> {
        let values = || self.seeds.iter().map(|(_, value)| *value);
        let least = values().min_by(f64::total_cmp)?;
        let greatest = values().max_by(f64::total_cmp)?;
        (self.seeds.len() > 1 && self.is_of_size).then_some((least, greatest))
    }

    fn of(reading: &SweepReading, mut seeds: Vec<(u64, f64)>) -> Cell {
        seeds.sort_unstable_by_key(|(seed, _)| *seed);
        Cell {
            value: reading.of_seeds(seeds.iter().map(|(_, value)| *value).collect()),
            is_of_size: reading.has_a_best(),
            seeds,
        }
    }
}

/// Values of both with equal seeds.
pub(crate) fn paired(a: &[(u64, f64)], b: &[(u64, f64)]) -> Vec<(f64, f64)> {
    let of = |&(seed, value): &(u64, f64)| {
        let found = b.binary_search_by_key(&seed, |(seed, _)| *seed).ok()?;
        Some((value, b[found].1))
    };
    a.iter().filter_map(of).collect()
}

impl<'r> Numbers<'r> {
    /// Of a reading, given by its place.
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

    /// As shown.
    pub(crate) fn cell(&self, point: usize, variant: usize) -> &Cell {
        &self.shown[point * self.record.variants.len() + variant]
    }

    /// As read.
    pub(crate) fn raw(&self, point: usize, variant: usize) -> &Cell {
        &self.raw[point * self.record.variants.len() + variant]
    }

    /// All cells as shown.
    pub(crate) fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.shown.iter()
    }

    /// The best variant at a point, if several have values and one is alone in that.
    pub(crate) fn best(&self, point: usize) -> Option<Best> {
        if !self.reading.has_a_best() {
            return None;
        }
        let variants = 0..self.record.variants.len();
        let mut ranked: Vec<(usize, f64)> = variants
            .filter_map(|variant| Some((variant, self.raw(point, variant).value?)))
            .collect();
        // The sort is stable: of equal variants the first stays first.
        let more = self.reading.more_is_better;
        ranked.sort_by(|(_, a), (_, b)| if more { b.total_cmp(a) } else { a.total_cmp(b) });
        let [(variant, best), (runner_up, next), ..] = ranked.as_slice() else {
            return None;
        };
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

    /// The unit in which values are shown, and its number of units of the column.
    pub(crate) fn unit(&self) -> (String, f64) {
        if !self.reading.against.is_empty() {
            return (format!("times that of {}", self.reading.against), 1.0);
        }
        let sizes = self.cells().filter_map(|cell| cell.value);
        shown_unit(&self.reading.unit, sizes.map(f64::abs).fold(0.0, f64::max))
    }

    /// The name of a variant; nothing if there is only one.
    pub(crate) fn variant(&self, variant: usize) -> &str {
        match self.record.variants[variant].as_str() {
            "" => "all trials",
            name => name,
        }
    }

    /// The name of a point: `spines=4, size=1MiB`.
    pub(crate) fn point(&self, point: usize) -> String {
        point_name(self.record, point)
    }
}

/// The name of a point; empty if nothing was varied.
pub(crate) fn point_name(record: &SweepRecord, point: usize) -> String {
    let values = record.axes.iter().zip(&record.points[point]);
    let values = values.map(|(axis, value)| format!("{}={value}", axis.name));
    values.collect::<Vec<_>>().join(", ")
}

/// A unit in which the greatest value is a readable number, and its number of units of the column.
pub(crate) fn shown_unit(unit: &str, greatest: f64) -> (String, f64) {
    let mebi = f64::from(1 << 20);
    let (name, factor) = match unit {
        "ns" if greatest >= 1e9 => ("s", 1e9),
        "ns" if greatest >= 1e6 => ("ms", 1e6),
        "ns" if greatest >= 1e3 => ("µs", 1e3),
        "bytes" if greatest >= 1024.0 * mebi => ("GiB", 1024.0 * mebi),
        "bytes" if greatest >= mebi => ("MiB", mebi),
        "bytes" if greatest >= 1024.0 => ("KiB", 1024.0),
        unit => (unit, 1.0),
    };
    (name.to_owned(), factor)
}

fn over(reading: &SweepReading, cell: &Cell, other: &Cell) -> Cell {
    let ratio = |&(seed, value): &(u64, f64)| {
        let found = other.seeds.iter().find(|(of, _)| *of == seed)?;
        (found.1 != 0.0).then_some((seed, value / found.1))
    };
    Cell::of(reading, cell.seeds.iter().filter_map(ratio).collect())
}
