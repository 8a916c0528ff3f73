//! What a sweep has left, in one value: what was varied, what was read, and of each trial what was
//! read of it. Reports and comparisons are made of it.

use serde::{Deserialize, Serialize};
use tenter_config::Written;
use tenter_record::{NoteRow, Notes, Statistic};

use super::Sweep;
use super::answer::Measured;
use super::charts::SweepChart;
use super::keys::{Better, ReadingKeys};
use crate::noted::{Noted, noted};

/// The trials of a sweep and the values of its readings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SweepRecord {
    /// What it is called.
    pub name: String,
    /// What it is about, in a sentence.
    pub description: String,
    /// The scenario that was varied.
    pub scenario: String,
    /// Settings of all trials: paths and values.
    pub set: Vec<(String, String)>,
    /// What was varied.
    pub axes: Vec<SweepAxis>,
    /// What was compared; one without a name where there is one thing only.
    pub variants: Vec<String>,
    /// A value for each axis.
    pub points: Vec<Vec<String>>,
    /// What was read.
    pub readings: Vec<SweepReading>,
    /// The pictures that were asked for; where there are none, all are drawn that say something.
    #[serde(default)]
    pub charts: Vec<SweepChart>,
    /// The trials that have run: point by point, variant by variant, seed by seed.
    pub trials: Vec<SweepValues>,
    /// What a reader of the values must know: for each variant the notes of its trials, equal ones
    /// once; empty in records of an earlier version.
    #[serde(default)]
    pub notes: Vec<Vec<NoteRow>>,
    /// One digest for all of them.
    pub digest: String,
}

impl SweepRecord {
    /// The notes, warnings first, each once with the variants that have it.
    pub fn noted(&self) -> Vec<Noted<'_>> {
        let names = self.variants.iter().map(String::as_str);
        noted(names.zip(self.notes.iter().map(Vec::as_slice)))
    }
}

/// An axis of a sweep.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SweepAxis {
    /// The path of the scenario that takes its values.
    pub path: String,
    /// What it is called where there is little room.
    pub name: String,
    /// Whether it is a range whose values grow by a factor.
    pub log: bool,
}

/// A reading of a sweep.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SweepReading {
    /// What it is called.
    pub name: String,
    /// What is read: readings with the same text read the same.
    pub of: String,
    /// The unit of the values; empty for counts and ratios.
    pub unit: String,
    /// The variant that values are divided by in answers, seed by seed; empty where there is none.
    /// The values of the record are not divided.
    pub against: String,
    /// Whether greater values are better.
    pub more_is_better: bool,
    /// What is made of the values of several seeds, for instance `median`.
    pub statistic: String,
}

/// What was read of one trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SweepValues {
    /// Index of its point.
    pub point: usize,
    /// Index of its variant.
    pub variant: usize,
    /// Its seed.
    pub seed: u64,
    /// Digest of its results.
    pub digest: String,
    /// A value for each reading; missing where no row had one.
    pub values: Vec<Option<f64>>,
}

impl Sweep {
    /// The record, of what was read of the trials that have run.
    pub fn record(&self, trials: &[Measured]) -> SweepRecord {
        let names = self.axis_names();
        let axes = self.keys.axes.0.iter().zip(names);
        let axes = axes.map(|((path, written), name)| SweepAxis {
            path: path.clone(),
            name: name.to_owned(),
            log: grows_by_a_factor(written),
        });
        let mut values: Vec<SweepValues> = trials.iter().map(SweepValues::of).collect();
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
            charts: self.charts.clone(),
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

    fn set(&self) -> Vec<(String, String)> {
        let set = self.keys.set.0.iter();
        set.map(|(path, value)| (path.clone(), value.to_string()))
            .collect()
    }
}

impl Sweep {
    /// What is read of each trial, with the reading that asks for it first.
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
    fn of_several(&self) -> Statistic {
        self.known_statistic().unwrap_or(Statistic::Median)
    }

    /// Its statistic; nothing where there is no such statistic. Earlier versions had other words.
    pub fn known_statistic(&self) -> Option<Statistic> {
        let word = match self.statistic.as_str() {
            "least" => "min",
            "greatest" => "max",
            "deviation" => "stddev",
            word => word,
        };
        word.parse().ok()
    }

    /// What its statistic makes of values; nothing where there are none.
    pub fn of_seeds(&self, values: Vec<f64>) -> Option<f64> {
        self.of_several().of(values)
    }

    /// Whether a variant may be best by it: not by how far seeds are apart, or how many they are.
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

fn grows_by_a_factor(written: &Written) -> bool {
    match written {
        Written::Map(keys) => keys.iter().any(|(key, value)| {
            key == "factor" || (key == "scale" && *value == Written::word("log"))
        }),
        _ => false,
    }
}
