//! Sweeps: one scenario, what is varied, and what is read of its trials.
//!
//! ```text
//!   sweep.yaml ──▶ Sweep ──trials──▶ settings, seed … simulated by the caller … Tables
//!                    └──answer──▶ StudyAnswer, winners ◀── readings, seed by seed ──┘
//! ```

mod answer;
mod axis;
mod bundle;
mod cells;
mod chart_keys;
mod charts;
mod design;
mod keys;
mod limits;
mod published;
mod record;
mod rows;
mod seeds;
mod table;
mod winner;

use std::collections::BTreeSet;

use tenter_config::{Component as _, Written};
use tenter_scenario::{Diagnostics, Format, read_document};

pub use answer::Measured;
pub use cells::SweepCell;
pub use chart_keys::{ChartKeys, ChartKind};
pub use charts::SweepChart;
pub use design::PointValues;
pub use keys::{
    Better, Design, Keep, LeftOutKeys, PublishedKeys, QuickKeys, ReadingKeys, Sharing, SweepKeys,
    TableKeys,
};
pub use record::{SweepAxis, SweepReading, SweepRecord, SweepValues};
pub use rows::SweepRow;
pub use seeds::{SeedOf, TrialSeed};
pub use winner::Winner;

use crate::chosen::ChosenSeeds;
use crate::drawing::{Chart, Drawing};
use crate::error::StudyError;
use crate::read::Read;
use crate::registry::published_table;
use crate::unknown::UnknownVariant;
use bundle::Bundle;
use keys::is_axis;
use published::Lookup;
use rows::{Rows, Wrong};
use seeds::Seeds;

/// A sweep that holds: its description, its points, its seeds and its rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// The description as it was written, with the readings that it has by default.
    pub keys: SweepKeys,
    /// Whether this is its quick form.
    pub is_quick: bool,
    /// Whether the user has changed the scenario.
    is_changed: bool,
    /// The cells that the user has left out.
    pub left_out: Vec<String>,
    /// Paths of the axes, and the values that they have together.
    points: Vec<PointValues>,
    variants: Vec<String>,
    cells: Vec<SweepCell>,
    rows: Vec<SweepRow>,
    reads: Vec<Read>,
    seeds: Seeds,
    charts: Vec<SweepChart>,
    drawn: Vec<Chart>,
    drawings: Vec<Drawing>,
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
    /// A table of published values does not hold.
    #[error(transparent)]
    Table(#[from] StudyError),
}

/// More trials than a ledger should hold.
const TRIALS_MAX: usize = 10_000_000;

impl Sweep {
    /// Reads a sweep; `name` is what messages call the text. Published tables are those of the
    /// program.
    ///
    /// # Errors
    /// When the text is no description of a sweep, what it says does not go together, or a table
    /// does not hold.
    pub fn read(text: &str, name: &str, format: Format) -> Result<Sweep, SweepError> {
        let table = |name: &str| published_table(name).map(str::to_owned);
        Sweep::read_beside(text, name, format, &table)
    }

    /// The same, where `table` gives the text of a published table by its name.
    ///
    /// # Errors
    /// As [`Sweep::read`].
    pub fn read_beside(
        text: &str,
        name: &str,
        format: Format,
        table: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Sweep, SweepError> {
        let keys = read_document(text, name, format).map_err(SweepError::Description)?;
        Sweep::of(keys, table).map_err(|wrong| match wrong {
            Wrong::Table(error) => SweepError::Table(error),
            Wrong::Description(what) => SweepError::Wrong {
                name: name.to_owned(),
                what,
            },
        })
    }

    fn of(mut keys: SweepKeys, table: &dyn Fn(&str) -> Option<String>) -> Result<Sweep, Wrong> {
        if keys.readings.is_empty() {
            keys.readings.push(completion_time());
        }
        let seeds = Seeds::read(&keys.seeds)?;
        let variants = cells::variants(&keys)?;
        check(&keys, &variants, &seeds)?;
        let lookup = Lookup::read(&keys, table)?;
        let (points, quick) = points(&keys, &lookup)?;
        let axes = cells::axes(&keys)?;
        let cells = cells::cells(&keys, &axes, &variants, &points, quick.as_ref())?;
        let names: Vec<String> = variants.iter().map(|of| of.name.clone()).collect();
        let of_rows = names.iter().map(String::as_str).collect();
        let mut rows = Rows::new(&keys, &axes, of_rows, &points, &cells, &lookup);
        rows.make()?;
        let (rows, reads) = (rows.made, rows.reads);
        let is_study = keys.published.is_some();
        let drawn = if is_study {
            charts::of_study(&keys)
        } else {
            Vec::new()
        };
        let charts = if is_study {
            Vec::new()
        } else {
            charts::charts(&keys)?
        };
        let drawings = Drawing::read_all(&keys.drawings, |name| {
            cells.iter().any(|of| of.name == name)
        })?;
        let sweep = Sweep {
            is_quick: false,
            is_changed: false,
            left_out: Vec::new(),
            points,
            variants: names,
            cells,
            rows,
            reads,
            seeds,
            charts,
            drawn,
            drawings,
            keys,
        };
        if sweep.len() > TRIALS_MAX {
            return Err(Wrong::Description(format!(
                "it has {} trials, more than {TRIALS_MAX}; use fewer seeds, values or samples",
                sweep.len()
            )));
        }
        Ok(sweep)
    }

    /// The quick form: fewer seeds, cells and rows, and other settings; nothing to run where there
    /// is none.
    #[must_use]
    pub fn quick(mut self) -> Sweep {
        let chosen = self.seeds.chosen.as_ref();
        let runs = chosen.and_then(|chosen| chosen.quick_runs);
        let settings: Vec<String> = match &self.keys.quick {
            Some(quick) if runs != Some(0) => cells::settings(&quick.set.0).collect(),
            _ => {
                self.cells.iter_mut().for_each(|cell| cell.is_run = false);
                self.rows.clear();
                Vec::new()
            }
        };
        for cell in &mut self.cells {
            cell.is_run &= cell.quick;
            cell.settings.extend(settings.iter().cloned());
        }
        self.rows.retain(|row| row.quick);
        self.is_quick = true;
        match runs {
            Some(runs) => self.with_seeds(runs),
            None => self,
        }
    }

    /// Without judging published values, because the user has changed the scenario.
    #[must_use]
    pub fn otherwise_set(mut self) -> Sweep {
        self.is_changed = true;
        for row in &mut self.rows {
            let is_published = row.origin == crate::Origin::Published;
            row.quick_judged &= !(is_published && row.gate != crate::Gate::Info);
        }
        self
    }

    /// The settings of all trials, `PATH=VALUE`.
    pub fn settings_of_all(&self) -> Vec<String> {
        let quick = self.keys.quick.iter().filter(|_| self.is_quick);
        let quick = quick.flat_map(|quick| cells::settings(&quick.set.0));
        cells::settings(&self.keys.set.0).chain(quick).collect()
    }

    /// The names of the published tables that it reads.
    pub fn tables(&self) -> BTreeSet<&str> {
        let own = self.keys.published.iter().map(|of| &of.table);
        let readings = self.keys.readings.iter().flat_map(|of| &of.tables);
        own.chain(readings).map(String::as_str).collect()
    }

    /// Whether it has a quick form.
    pub fn has_quick(&self) -> bool {
        let quick = self.clone().quick();
        !quick.rows.is_empty() && quick.cells.iter().any(|cell| cell.is_run)
    }

    /// The first seeds alone.
    #[must_use]
    pub fn with_seeds(mut self, most: usize) -> Sweep {
        self.seeds = self.seeds.limited(most);
        self
    }

    /// Leaves out all cells but these: they are not run, and what is read from them, or beside
    /// them, has no row. An empty list leaves out none.
    ///
    /// # Errors
    /// When one of the names is not that of a cell.
    pub fn keep(&mut self, names: &[String]) -> Result<(), UnknownVariant> {
        let known = |name: &String| self.cells.iter().any(|cell| cell.name == *name);
        if let Some(given) = names.iter().find(|name| !known(name)) {
            let known = self.cells.iter().map(|cell| cell.name.clone());
            return Err(UnknownVariant {
                study: self.keys.name.clone(),
                given: given.clone(),
                known: known.collect(),
            });
        }
        for cell in &mut self.cells {
            if !names.is_empty() && !names.contains(&cell.name) {
                cell.is_run = false;
                self.left_out.push(cell.name.clone());
            }
        }
        Ok(())
    }

    /// The description with all of its keys, on one line; read again, it is the same sweep.
    pub fn to_yaml(&self) -> String {
        Written::mapping(self.keys.written()).to_string()
    }

    /// How many trials it has.
    pub fn len(&self) -> usize {
        self.cells.iter().filter(|cell| cell.is_run).count() * self.seeds.len()
    }

    /// Whether its readings are held against a table of published values.
    pub fn is_study(&self) -> bool {
        self.keys.published.is_some()
    }

    /// The cells: each variant at each point where it is run.
    pub fn cells(&self) -> &[SweepCell] {
        &self.cells
    }

    /// The rows of its answer.
    pub fn rows(&self) -> &[SweepRow] {
        &self.rows
    }

    /// What is read of each trial.
    pub fn reads(&self) -> &[Read] {
        &self.reads
    }

    /// The conditions that its seeds meet, where it has any.
    pub fn chosen_seeds(&self) -> Option<&ChosenSeeds> {
        self.seeds.chosen.as_ref()
    }

    /// Whether it has no trial, as a quick form that there is not.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether its readings need the flows of a trial.
    pub fn needs_flows(&self) -> bool {
        self.reads.iter().any(Read::is_of_flows)
    }

    /// Which seeds differ from trial to trial: one kind at least; the first is what a trial is
    /// known by.
    pub fn seed_kinds(&self) -> impl Iterator<Item = SeedOf> + '_ {
        self.seeds.kinds()
    }

    /// Whether its readings need the samples of a trial.
    pub fn needs_samples(&self) -> bool {
        self.reads.iter().any(Read::is_of_samples)
    }

    /// The paths of its axes.
    pub fn axes(&self) -> impl ExactSizeIterator<Item = &str> {
        self.keys.axis_paths()
    }

    /// The names of its variants; one without a name where there are none.
    pub fn variants(&self) -> impl ExactSizeIterator<Item = &str> {
        self.variants.iter().map(String::as_str)
    }

    /// Its points: a value for each axis.
    pub fn points(&self) -> &[PointValues] {
        &self.points
    }

    /// All trials: seed by seed within a variant, variant by variant within a point. Where seeds
    /// are chosen by their paths, these are the first ones that may be.
    pub fn trials(&self) -> impl Iterator<Item = SweepTrial> + '_ {
        let cells = self.cells.iter().filter(|cell| cell.is_run);
        cells.flat_map(move |cell| {
            self.seeds().map(move |seeds| SweepTrial {
                seeds,
                ..cell.trial()
            })
        })
    }

    /// The seeds of each trial of a cell, or the first ones of those that conditions choose from.
    pub fn seeds(&self) -> impl Iterator<Item = Vec<TrialSeed>> + '_ {
        self.seeds.each()
    }

    /// What its axes are called where there is little room: the last part of each path, `size` of
    /// `jobs[0].collectives[0].size`, unless two of them end alike.
    pub fn axis_names(&self) -> Vec<&str> {
        self.keys.axis_names()
    }

    /// What a point is called: `spines=4, size=1MiB`; empty where there are no axes.
    pub fn point_name(&self, point: usize) -> &str {
        let mut cells = self.cells.iter();
        cells
            .find(|cell| cell.point == point)
            .map_or("", |cell| &cell.case)
    }

    /// The cell of a variant at a point, and its place.
    pub fn cell(&self, point: usize, variant: usize) -> Option<(usize, &SweepCell)> {
        let mut cells = self.cells.iter().enumerate();
        cells.find(|(_, cell)| (cell.point, cell.variant) == (point, variant))
    }
}

/// The points, and those of a quick run where rows of a table say which.
fn points(
    keys: &SweepKeys,
    lookup: &Lookup<'_>,
) -> Result<(Vec<PointValues>, Option<BTreeSet<usize>>), Wrong> {
    if keys.design != Design::Rows {
        return Ok((design::points(keys)?, None));
    }
    let points = lookup.points()?;
    if points.is_empty() {
        return Err(Wrong::Description(
            "no row of the table is run; check `published.rows` and `left_out`".to_owned(),
        ));
    }
    let places = points.iter().enumerate();
    let quick = places.filter_map(|(place, (_, quick))| quick.then_some(place));
    let quick = quick.collect();
    Ok((
        points.into_iter().map(|(point, _)| point).collect(),
        Some(quick),
    ))
}

/// The completion times of the measured jobs, of which the longest counts.
fn completion_time() -> ReadingKeys {
    ReadingKeys {
        name: "completion time".to_owned(),
        query: "max(jobs.jct_ns) where not background".to_owned(),
        ..ReadingKeys::plain()
    }
}

/// What the parts of a description do not say of each other.
fn check(keys: &SweepKeys, variants: &[Bundle], seeds: &Seeds) -> Result<(), String> {
    let mut names = BTreeSet::new();
    for reading in &keys.readings {
        let of_cells = reading.case.is_empty() && !reading.each_row;
        if of_cells && reading.name.is_empty() {
            return Err("a reading has no `name`; give it one".to_owned());
        }
        if of_cells && keys.published.is_none() && !names.insert(&reading.name) {
            return Err(format!(
                "two readings are called `{}`; rename one of them",
                reading.name
            ));
        }
        for row in &reading.published {
            check_published(keys, variants, reading, row)?;
        }
    }
    let by = seeds.chosen.as_ref().and_then(|chosen| chosen.by.as_ref());
    let known = |name: &&String| variants.iter().any(|of| of.name == **name);
    match by.filter(|by| !known(by)) {
        Some(by) => Err(format!(
            "`seeds.by` names the variant `{by}`, which there is not; {}",
            tenter_units::suggestion(by, variants.iter().map(|of| of.name.as_str()))
        )),
        None => Ok(()),
    }
}

/// Whether a published row is of a variant and of axes that there are.
fn check_published(
    keys: &SweepKeys,
    variants: &[Bundle],
    reading: &ReadingKeys,
    row: &PublishedKeys,
) -> Result<(), String> {
    let known = || variants.iter().map(|of| of.name.as_str());
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

impl SweepCell {
    /// A trial of it, without seeds.
    pub fn trial(&self) -> SweepTrial {
        SweepTrial {
            variant: self.variant,
            point: self.point,
            seeds: Vec::new(),
            settings: self.settings.clone(),
        }
    }
}

impl ReadingKeys {
    /// One with nothing but defaults.
    fn plain() -> ReadingKeys {
        tenter_config::default_of()
    }
}

#[cfg(test)]
mod tests;
