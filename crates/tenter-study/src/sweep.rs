//! Sweeps: one scenario, what is varied, and what is read of its trials.
//!
//! ```text
//!   sweep.yaml ──▶ Sweep ──trials──▶ settings, seed … simulated by the caller … Tables
//!                    └──answer──▶ StudyAnswer, winners ◀── readings, seed by seed ──┘
//! ```

mod answer;
mod axis;
mod chart_keys;
mod charts;
mod design;
mod keys;
mod limits;
mod reading;
mod record;
mod seeds;

use std::collections::BTreeSet;

use tenter_config::{Component as _, Named, Written};
use tenter_scenario::{Diagnostics, Format, read_document};

pub use answer::{Measured, Winner};
pub use chart_keys::{ChartKeys, ChartKind};
pub use charts::SweepChart;
pub use design::PointValues;
pub use keys::{Better, Design, Keep, PublishedKeys, ReadingKeys, SweepKeys};
pub use record::{SweepAxis, SweepReading, SweepRecord, SweepValues};
pub use seeds::{SeedOf, TrialSeed};

use seeds::Seeds;

/// A sweep that holds: its description, its points and its seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// The description as it was written, with the readings that it has by default.
    pub keys: SweepKeys,
    /// Paths of the axes, and the values that they have together.
    points: Vec<PointValues>,
    variants: Vec<Variant>,
    seeds: Seeds,
    charts: Vec<SweepChart>,
}

/// One of several things that are compared.
#[derive(Clone, Debug, PartialEq)]
struct Variant {
    /// Its name; empty where there is one thing only.
    name: String,
    settings: Vec<String>,
}

/// One trial of a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepTrial {
    /// Index of its variant.
    pub variant: usize,
    /// Index of its point.
    pub point: usize,
    /// Its seeds, in the order of [`Sweep::seed_kinds`].
    pub seeds: Vec<TrialSeed>,
    /// What it changes of the scenario, as `--set` has it.
    pub settings: Vec<String>,
}

/// Why a sweep does not hold.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SweepError {
    /// Its text does not: all problems at once, with their places.
    #[error("{}", .0.render())]
    Description(Diagnostics),
    /// What it says does not go together.
    #[error("{name}: {what}")]
    Wrong {
        /// The name of the file.
        name: String,
        /// What is wrong, and the remedy.
        what: String,
    },
}

/// More trials than a ledger should hold.
const TRIALS_MAX: usize = 10_000_000;

impl Sweep {
    /// Reads a sweep; `name` is what messages call the text.
    ///
    /// # Errors
    /// When the text is no description of a sweep, or what it says does not go together.
    pub fn read(text: &str, name: &str, format: Format) -> Result<Sweep, SweepError> {
        let keys = read_document(text, name, format).map_err(SweepError::Description)?;
        Sweep::new(keys).map_err(|what| SweepError::Wrong {
            name: name.to_owned(),
            what,
        })
    }

    /// The sweep that a description describes.
    ///
    /// # Errors
    /// What does not go together, and the remedy.
    pub fn new(mut keys: SweepKeys) -> Result<Sweep, String> {
        let seeds = Seeds::read(&keys.seeds)?;
        let points = design::points(&keys)?;
        let variants = variants(&keys)?;
        if keys.readings.is_empty() {
            keys.readings.push(completion_time());
        }
        check_readings(&keys)?;
        let mut sweep = Sweep {
            keys,
            points,
            variants,
            seeds,
            charts: Vec::new(),
        };
        sweep.charts = charts::charts(&sweep.keys)?;
        if sweep.len() > TRIALS_MAX {
            return Err(format!(
                "it has {} trials, more than {TRIALS_MAX}; use fewer seeds, values or samples",
                sweep.len()
            ));
        }
        Ok(sweep)
    }

    /// The description with all of its keys, on one line; read again, it is the same sweep.
    pub fn to_yaml(&self) -> String {
        Written::mapping(self.keys.written()).to_string()
    }

    /// How many trials it has.
    pub fn len(&self) -> usize {
        self.points.len() * self.variants.len() * self.seeds.len()
    }

    /// Whether it has no trial, which none does.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether its readings need the flows of a trial.
    pub fn needs_flows(&self) -> bool {
        self.keys.readings.iter().any(ReadingKeys::is_of_flows)
    }

    /// Which seeds differ from trial to trial: one kind at least; the first is what a trial is
    /// known by.
    pub fn seed_kinds(&self) -> impl Iterator<Item = SeedOf> + '_ {
        self.seeds.kinds()
    }

    /// Whether its readings need the samples of a trial.
    pub fn needs_samples(&self) -> bool {
        self.keys.readings.iter().any(ReadingKeys::is_of_samples)
    }

    /// The paths of its axes.
    pub fn axes(&self) -> impl ExactSizeIterator<Item = &str> {
        self.keys.axis_paths()
    }

    /// The names of its variants; one without a name where there are none.
    pub fn variants(&self) -> impl ExactSizeIterator<Item = &str> {
        self.variants.iter().map(|variant| variant.name.as_str())
    }

    /// Its points: a value for each axis.
    pub fn points(&self) -> &[PointValues] {
        &self.points
    }

    /// All trials: seed by seed within a variant, variant by variant within a point.
    pub fn trials(&self) -> impl Iterator<Item = SweepTrial> + '_ {
        let cells = (0..self.points.len())
            .flat_map(|point| (0..self.variants.len()).map(move |variant| (point, variant)));
        cells.flat_map(move |(point, variant)| {
            let settings = self.settings(point, variant);
            self.seeds.each().map(move |seeds| SweepTrial {
                variant,
                point,
                seeds,
                settings: settings.clone(),
            })
        })
    }

    /// What a point changes for a variant: the settings of all, of the variant, of the axes.
    fn settings(&self, point: usize, variant: usize) -> Vec<String> {
        let values = self.axes().zip(&self.points[point]);
        let axes = values.map(|(path, value)| format!("{path}={value}"));
        let own = self.variants[variant].settings.iter().cloned();
        settings(&self.keys.set).chain(own).chain(axes).collect()
    }

    /// What its axes are called where there is little room: the last part of each path, `size` of
    /// `jobs[0].collectives[0].size`, unless two of them end alike.
    pub fn axis_names(&self) -> Vec<&str> {
        self.keys.axis_names()
    }

    /// What a point is called: `spines=4, size=1MiB`; empty where there are no axes.
    pub fn point_name(&self, point: usize) -> String {
        let values = self.axis_names().into_iter().zip(&self.points[point]);
        let values = values.map(|(path, value)| format!("{path}={value}"));
        values.collect::<Vec<_>>().join(", ")
    }
}

/// The completion times of the jobs under test, of which the longest counts.
fn completion_time() -> ReadingKeys {
    ReadingKeys {
        name: "completion time".to_owned(),
        query: "max(jobs.jct_ns) where not background".to_owned(),
        statistic: tenter_record::Statistic::Median,
        published: Vec::new(),
        against: String::new(),
        better: Better::Less,
        band: None,
    }
}

fn settings(keys: &Named<Written>) -> impl Iterator<Item = String> + '_ {
    keys.0.iter().map(|(path, value)| format!("{path}={value}"))
}

fn variants(keys: &SweepKeys) -> Result<Vec<Variant>, String> {
    let named = keys.variants.0.iter().map(|(name, set)| Variant {
        name: name.clone(),
        settings: settings(set).collect(),
    });
    let named: Vec<Variant> = named.collect();
    // Names become folders and columns of tables.
    let plain = |c: char| c.is_alphanumeric() || "-_. +".contains(c);
    let odd = named
        .iter()
        .find(|variant| variant.name.is_empty() || !variant.name.chars().all(plain));
    if let Some(odd) = odd {
        return Err(format!(
            "the variant `{}` has a name that cannot be that of a folder; use letters, digits and hyphens",
            odd.name
        ));
    }
    if named.is_empty() {
        return Ok(vec![Variant {
            name: String::new(),
            settings: Vec::new(),
        }]);
    }
    Ok(named)
}

fn check_readings(keys: &SweepKeys) -> Result<(), String> {
    let mut names = BTreeSet::new();
    for reading in &keys.readings {
        reading.check()?;
        if !names.insert(&reading.name) {
            return Err(format!(
                "two readings are called `{}`; rename one of them",
                reading.name
            ));
        }
        let known = || keys.variants.0.iter().map(|(name, _)| name.as_str());
        if !reading.against.is_empty() && !known().any(|name| name == reading.against) {
            let help = tenter_units::suggestion(&reading.against, known());
            return Err(format!(
                "the reading `{}` is against the variant `{}`, which there is not; {help}",
                reading.name, reading.against
            ));
        }
        for row in &reading.published {
            check_published(keys, reading, row)?;
        }
    }
    Ok(())
}

/// Whether a published row is of a variant and of axes that there are.
fn check_published(
    keys: &SweepKeys,
    reading: &ReadingKeys,
    row: &PublishedKeys,
) -> Result<(), String> {
    let known = || keys.variants.0.iter().map(|(name, _)| name.as_str());
    if !row.variant.is_empty() && !known().any(|name| name == row.variant) {
        let help = tenter_units::suggestion(&row.variant, known());
        return Err(format!(
            "the reading `{}` has a published value of the variant `{}`, which there is not; {help}",
            reading.name, row.variant
        ));
    }
    let axes = || keys.axes.0.iter().map(|(path, _)| path.as_str());
    let unknown = |path: &&(String, Written)| !axes().any(|axis| is_axis(axis, &path.0));
    match row.at.0.iter().find(unknown) {
        Some((path, _)) => {
            let help = tenter_units::suggestion(path, axes());
            Err(format!(
                "the reading `{}` has a published value at `{path}`, which is no axis; {help}",
                reading.name
            ))
        }
        None => Ok(()),
    }
}

/// Whether a name is that of an axis: its path, or the last part of it.
fn is_axis(path: &str, name: &str) -> bool {
    path == name || path.rsplit_once('.').is_some_and(|(_, last)| last == name)
}

#[cfg(test)]
mod tests;
