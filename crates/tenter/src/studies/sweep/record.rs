//! Record of a sweep: its design, its readings, and each trial's values, in one value. Reports and
//! comparisons are made from it.

use serde::{Deserialize, Serialize};
use tenter_language::config::Written;
use tenter_results::{NoteRow, Notes, Statistic};

use super::Sweep;
use super::answer::Measured;
use super::charts::SweepChart;
use super::keys::{Better, ReadingKeys};
use crate::studies::noted::{Noted, noted};

/// Everything that a finished sweep leaves for reports: its design, readings and trials.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SweepRecord {
    /// Sweep name, also that of its folder.
    pub name: String,
    /// Description in one sentence; may be empty.
    pub description: String,
    /// The scenario that was varied: a path or `preset:NAME`.
    pub scenario: String,
    /// Settings that all trials have, as pairs: path and value.
    pub set: Vec<(String, String)>,
    /// Axes in the description's order.
    pub axes: Vec<SweepAxis>,
    /// Variant names; a sweep without variants has one with an empty name.
    pub variants: Vec<String>,
    /// Points, each with a value for each axis.
    pub points: Vec<Vec<String>>,
    /// Readings, in the order that [`SweepValues::values`] has.
    pub readings: Vec<SweepReading>,
    /// Pictures that the description names; if empty, the page shows every picture with
    /// information.
    #[serde(default)]
    pub charts: Vec<SweepChart>,
    /// Trials that have run: points outermost, then variants, then seeds.
    pub trials: Vec<SweepValues>,
    /// For each variant the notes of its trials, equal ones once. Empty in records that an earlier
    /// version wrote.
    #[serde(default)]
    pub notes: Vec<Vec<NoteRow>>,
    /// One digest over all trials.
    pub digest: String,
}

impl SweepRecord {
    /// Returns the notes, warnings first; each appears once with the variants that have it.
    pub fn noted(&self) -> Vec<Noted<'_>> {
        let names = self.variants.iter().map(String::as_str);
        noted(names.zip(self.notes.iter().map(Vec::as_slice)))
    }
}

/// An axis, as reports show it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SweepAxis {
    /// Scenario path that takes the values.
    pub path: String,
    /// Short name for tables and charts.
    pub name: String,
    /// True if the values grow by a factor, so that charts space them evenly in the logarithm.
    pub log: bool,
}

/// A reading, as reports show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SweepReading {
    /// Name in tables and charts.
    pub name: String,
    /// Key of the value that is read: readings with equal keys read the same value.
    pub of: String,
    /// Unit that the values have; empty for counts and ratios.
    pub unit: String,
    /// Variant by whose values an answer divides, seed by seed; empty without one. The record's
    /// values are not divided.
    pub against: String,
    /// True if greater values are better.
    pub more_is_better: bool,
    /// Statistic that answers take over the seeds, for instance `median`.
    pub statistic: String,
}

/// Values read from one trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SweepValues {
    /// Point, as an index into [`SweepRecord::points`].
    pub point: usize,
    /// Variant, as an index into [`SweepRecord::variants`].
    pub variant: usize,
    /// The trial's seed, or the first one if several kinds differ.
    pub seed: u64,
    /// Digest over the trial's tables.
    pub digest: String,
    /// A number for each reading; `None` if no row had one.
    pub values: Vec<Option<f64>>,
}

impl Sweep {
    /// Makes the record from the values of the trials that have run.
    pub fn record(&self, trials: &[Measured]) -> SweepRecord {
        let names = self.axis_names();
        let axes = self.keys.axes.0.iter().zip(names);
        let axes = axes.map(|((path, written), name)| SweepAxis {
            path: path.clone(),
            name: name.to_owned(),
            log: grows_by_a_factor(written),
        });
        let mut values: Vec<SweepValues> = trials.iter().map(SweepValues::of).collect();
        // Workers finish trials in any order; the record has one order.
        values.sort_by_key(|trial| (trial.point, trial.variant, trial.seed));
        SweepRecord {
            name: self.keys.name.clone(),
            description: self.keys.description.clone(),
            scenario: self.keys.scenario.clone(),
            set: self.set(),
            axes: axes.collect(),
            variants: self.variants().map(str::to_owned).collect(),
            points: self.points().to_vec(),
            readings: self.readings(),
            charts: self
                .charts
                .iter()
                .map(|chart| self.resolved(chart))
                .collect(),
            trials: values,
            notes: (0..self.variants.len())
                .map(|variant| {
                    let of = trials.iter().filter(|trial| trial.variant == variant);
                    Notes::of_all(of.map(|trial| &trial.notes)).0
                })
                .collect(),
            digest: self.digest(trials),
        }
    }

    /// Replaces a chart's readings by what they read, as [`SweepRecord::readings`] lists it.
    fn resolved(&self, chart: &SweepChart) -> SweepChart {
        let readings = chart.readings.iter();
        let reads = readings.filter_map(|reading| Some(self.row_of(*reading)?.read));
        SweepChart {
            readings: reads.collect(),
            ..chart.clone()
        }
    }

    fn set(&self) -> Vec<(String, String)> {
        let set = self.keys.set.0.iter();
        set.map(|(path, value)| (path.clone(), value.to_string()))
            .collect()
    }
}

impl Sweep {
    /// Returns the readings made from each trial, each described by the first reading that asks for
    /// it.
    pub fn readings(&self) -> Vec<SweepReading> {
        let reads = self.reads.iter().enumerate().map(|(place, read)| {
            let row = self.rows.iter().find(|row| row.read == place);
            let keys = row.map(|row| &self.keys.readings[row.reading]);
            SweepReading {
                name: match keys {
                    Some(keys) if !self.is_study() => keys.name.clone(),
                    _ => read.key(),
                },
                of: read.key(),
                unit: read.unit(),
                against: keys.and_then(ReadingKeys::divisor).unwrap_or_default(),
                more_is_better: keys.is_some_and(|keys| keys.better == Better::More),
                statistic: keys
                    .map_or(Statistic::Median, |keys| keys.statistic)
                    .to_string(),
            }
        });
        reads.collect()
    }
}

impl SweepReading {
    /// Returns the statistic over the seeds; a word that this version does not know counts as
    /// `median`.
    fn of_several(&self) -> Statistic {
        self.known_statistic().unwrap_or(Statistic::Median)
    }

    /// Returns the statistic, or `None` if this version has none with that name.
    pub fn known_statistic(&self) -> Option<Statistic> {
        let word = match self.statistic.as_str() {
            // Records that earlier versions wrote have these words.
            "least" => "min",
            "greatest" => "max",
            "deviation" => "stddev",
            word => word,
        };
        word.parse().ok()
    }

    /// Applies the statistic to the seeds' `values`; `None` if there are none.
    pub fn of_seeds(&self, values: Vec<f64>) -> Option<f64> {
        self.of_several().of(values)
    }

    /// Returns true if the statistic ranks variants. The spread between seeds and their number do
    /// not.
    pub fn has_a_best(&self) -> bool {
        self.of_several().is_of_size()
    }
}

impl SweepValues {
    fn of(measured: &Measured) -> SweepValues {
        SweepValues {
            point: measured.point,
            variant: measured.variant,
            seed: measured.seed,
            digest: measured.digest.clone(),
            values: (0..measured.values.len())
                .map(|read| measured.number(read))
                .collect(),
        }
    }
}

/// Returns true if the axis is a range with a `factor` or with `scale: log`.
fn grows_by_a_factor(written: &Written) -> bool {
    match written {
        Written::Map(keys) => keys.iter().any(|(key, value)| {
            key == "factor" || (key == "scale" && *value == Written::word("log"))
        }),
        _ => false,
    }
}
