//! Sweeps: one scenario, varied by variants, axes and seeds, and readings from its trials.
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
mod checks;
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

use crate::resolve::{Diagnostics, Format, read_document};
use tenter_language::config::{Component as _, Written};

pub use answer::Measured;
pub use cells::SweepCell;
pub use chart_keys::{ChartKeys, ChartKind};
pub use charts::SweepChart;
pub use design::PointValues;
pub use keys::{
    Better, Design, Keep, LeftOutKeys, PublishedKeys, QuickKeys, ReadingKeys, Sharing, SweepKeys,
    TableKeys,
};
pub use published::TableText;
pub use record::{SweepAxis, SweepReading, SweepRecord, SweepValues};
pub use rows::SweepRow;
pub use seeds::{SeedOf, TrialSeed};
pub use winner::Winner;

use crate::studies::chosen::ChosenSeeds;
use crate::studies::drawing::{Chart, Drawing};
use crate::studies::error::StudyError;
use crate::studies::read::Read;
use crate::studies::registry::published_table;
use crate::studies::unknown::UnknownVariant;
use published::Lookup;
use rows::{Rows, Wrong};
use seeds::Seeds;

/// A sweep whose description was read and checked: its points, cells, rows and seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// The description as written; without readings, the default reading was added.
    pub keys: SweepKeys,
    /// True if this is the quick form.
    pub is_quick: bool,
    /// True if the user changed the scenario, so that published rows are not judged.
    is_changed: bool,
    /// Cells that the user left out, by name.
    pub left_out: Vec<String>,
    /// Points in the order in which they are run: a value for each axis.
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
    /// Variant, as an index into [`Sweep::variants`].
    pub variant: usize,
    /// Point, as an index into [`Sweep::points`].
    pub point: usize,
    /// A seed for each kind, in the order that [`Sweep::seed_kinds`] has.
    pub seeds: Vec<TrialSeed>,
    /// Changes to the scenario, as `--set` takes them: `PATH=VALUE`. Later ones override earlier
    /// ones.
    pub settings: Vec<String>,
}

/// Reason why a sweep is invalid.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SweepError {
    /// The text is invalid: all problems at once, with their places.
    #[error("{}", .0.render())]
    Description(Diagnostics),
    /// The parts of the description do not fit together.
    #[error("{name}: {what}")]
    Wrong {
        /// File name that messages show.
        name: String,
        /// The problem, and what remedies it.
        what: String,
    },
    /// A table with published values is invalid.
    #[error(transparent)]
    Table(#[from] StudyError),
}

/// Most trials that a sweep may have; the ledger records each.
const TRIALS_MAX: usize = 10_000_000;

impl Sweep {
    /// Reads a sweep's description; `name` is the file's name in messages. Published tables are the
    /// embedded ones.
    ///
    /// # Errors
    /// Fails if the text is no sweep description, if its parts do not fit together, or if a table
    /// is invalid.
    pub fn read(text: &str, name: &str, format: Format) -> Result<Sweep, SweepError> {
        let table = |name: &str| Ok(published_table(name).map(str::to_owned));
        Sweep::read_beside(text, name, format, &table)
    }

    /// Reads a sweep's description as [`Sweep::read`] does; `table` returns a published table's
    /// text by its name.
    ///
    /// # Errors
    /// Fails as [`Sweep::read`] does.
    pub fn read_beside(
        text: &str,
        name: &str,
        format: Format,
        table: &TableText<'_>,
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

    fn of(mut keys: SweepKeys, table: &TableText<'_>) -> Result<Sweep, Wrong> {
        if keys.readings.is_empty() {
            keys.readings.push(completion_time());
        }
        let seeds = Seeds::read(&keys.seeds)?;
        let variants = cells::variants(&keys)?;
        checks::check(&keys, &variants, &seeds)?;
        let lookup = Lookup::read(&keys, table)?;
        // Points come before cells, and cells before rows: each needs the indices of the one
        // before.
        let (points, quick) = points(&keys, &lookup)?;
        let axes = cells::axes(&keys)?;
        let cells = cells::cells(&keys, &axes, &variants, &points, quick.as_ref())?;
        let names: Vec<String> = variants.iter().map(|of| of.name.clone()).collect();
        let of_rows = names.iter().map(String::as_str).collect();
        let mut rows = Rows::new(&keys, &axes, of_rows, &points, &cells, &lookup);
        rows.make()?;
        let (rows, reads) = (rows.made, rows.reads);
        let is_study = keys.published.is_some();
        // A study's charts are bars by metric; a sweep's charts are pictures over axes. One
        // description has only one kind, by the key `published`.
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
        // Points were limited before they were built; cells and seeds multiply them.
        if sweep.len() > TRIALS_MAX {
            return Err(Wrong::Description(format!(
                "it has {} trials, more than {TRIALS_MAX}; use fewer seeds, values or samples",
                sweep.len()
            )));
        }
        Ok(sweep)
    }

    /// Returns the quick form: fewer seeds, cells and rows, and the settings under `quick`. If the
    /// study has no quick form, the result has no trials and no rows.
    #[must_use]
    pub fn quick(mut self) -> Sweep {
        // `quick_runs: 0` means that one or a few seeds would say nothing, as for a distribution.
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
            // Quick settings come last, so they override those of variants and axes.
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

    /// Marks the scenario as changed by the user: published values are then not judged, while the
    /// project's own expectations still are.
    #[must_use]
    pub fn otherwise_set(mut self) -> Sweep {
        self.is_changed = true;
        for row in &mut self.rows {
            // Rows for information have no verdict that the change could spoil.
            let is_published = row.origin == crate::studies::Origin::Published;
            row.quick_judged &= !(is_published && row.gate != crate::studies::Gate::Info);
        }
        self
    }

    /// Returns the settings that all trials have, `PATH=VALUE`, those under `quick` last.
    pub fn settings_of_all(&self) -> Vec<String> {
        let quick = self.keys.quick.iter().filter(|_| self.is_quick);
        let quick = quick.flat_map(|quick| cells::settings(&quick.set.0));
        cells::settings(&self.keys.set.0).chain(quick).collect()
    }

    /// Returns the published tables that the readings use, by name.
    pub fn tables(&self) -> BTreeSet<&str> {
        let own = self.keys.published.iter().map(|of| &of.table);
        let readings = self.keys.readings.iter().flat_map(|of| &of.tables);
        own.chain(readings).map(String::as_str).collect()
    }

    /// Returns true if the quick form has anything to run.
    pub fn has_quick(&self) -> bool {
        let quick = self.clone().quick();
        !quick.rows.is_empty() && quick.cells.iter().any(|cell| cell.is_run)
    }

    /// Keeps only the first `most` seeds.
    #[must_use]
    pub fn with_seeds(mut self, most: usize) -> Sweep {
        self.seeds = self.seeds.limited(most);
        self
    }

    /// Leaves out all cells but the named ones: they are not run, and no row reads them or is
    /// compared with them. An empty list leaves out none.
    ///
    /// # Errors
    /// Fails if one of the names is no cell's.
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

    /// Writes the description with all its keys on one line; read again, it gives the same sweep.
    pub fn to_yaml(&self) -> String {
        Written::mapping(self.keys.written()).to_string()
    }

    /// Returns the trial count: cells to run times seeds.
    pub fn len(&self) -> usize {
        self.cells.iter().filter(|cell| cell.is_run).count() * self.seeds.len()
    }

    /// Returns true if the sweep is a study: its readings are held against a table.
    pub fn is_study(&self) -> bool {
        self.keys.published.is_some()
    }

    /// Returns the cells, point by point: each variant at each point where it is run.
    pub fn cells(&self) -> &[SweepCell] {
        &self.cells
    }

    /// Returns the rows of the answer, reading by reading.
    pub fn rows(&self) -> &[SweepRow] {
        &self.rows
    }

    /// Returns the readings to make from each trial. [`Measured::values`] has the same order.
    pub fn reads(&self) -> &[Read] {
        &self.reads
    }

    /// Returns the conditions on the seeds, if the description has any.
    pub fn chosen_seeds(&self) -> Option<&ChosenSeeds> {
        self.seeds.chosen.as_ref()
    }

    /// Returns true if there is no trial, as in a quick form that the study does not have.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns true if a reading needs the trials' flow rows.
    pub fn needs_flows(&self) -> bool {
        self.reads.iter().any(Read::is_of_flows)
    }

    /// Returns the kinds of seed that differ from trial to trial, at least one. The first one
    /// identifies a trial.
    pub fn seed_kinds(&self) -> impl Iterator<Item = SeedOf> + '_ {
        self.seeds.kinds()
    }

    /// Returns true if a reading needs the trials' samples.
    pub fn needs_samples(&self) -> bool {
        self.reads.iter().any(Read::is_of_samples)
    }

    /// Returns the axis names: scenario paths, or free names if the values are named bundles.
    pub fn axes(&self) -> impl ExactSizeIterator<Item = &str> {
        self.keys.axis_paths()
    }

    /// Returns the variant names; a sweep without variants has one with an empty name.
    pub fn variants(&self) -> impl ExactSizeIterator<Item = &str> {
        self.variants.iter().map(String::as_str)
    }

    /// Returns the points: each has a value for each axis, in axis order.
    pub fn points(&self) -> &[PointValues] {
        &self.points
    }

    /// Returns all trials: points outermost, then variants, then seeds. If conditions choose the
    /// seeds, these are the first candidates, and the caller replaces them.
    pub fn trials(&self) -> impl Iterator<Item = SweepTrial> + '_ {
        let cells = self.cells.iter().filter(|cell| cell.is_run);
        cells.flat_map(move |cell| {
            self.seeds().map(move |seeds| SweepTrial {
                seeds,
                ..cell.trial()
            })
        })
    }

    /// Returns the seeds that each cell's trials have; if conditions choose them, the first
    /// candidates.
    pub fn seeds(&self) -> impl Iterator<Item = Vec<TrialSeed>> + '_ {
        self.seeds.each()
    }

    /// Returns short axis names: the last part of each path, `size` for
    /// `jobs[0].collectives[0].size`, or the whole path if two end alike.
    pub fn axis_names(&self) -> Vec<&str> {
        self.keys.axis_names()
    }

    /// Returns a point's name, such as `spines=4, size=1MiB`; empty without axes.
    pub fn point_name(&self, point: usize) -> &str {
        let first = self.cells.partition_point(|cell| cell.point < point);
        let cell = self.cells.get(first).filter(|cell| cell.point == point);
        cell.map_or("", |cell| &cell.case)
    }

    /// Returns a trial's name for messages: its variant and its point.
    pub fn trial_name(&self, trial: &SweepTrial) -> String {
        let variant = self.variants.get(trial.variant).map_or("", String::as_str);
        let parts = [variant, self.point_name(trial.point)];
        let parts = parts.into_iter().filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join(", ")
    }

    /// Returns the index and the cell of a variant at a point; `None` if the variant is not run
    /// there.
    pub fn cell(&self, point: usize, variant: usize) -> Option<(usize, &SweepCell)> {
        // Cells are made point by point, and variant by variant at each.
        let key = |cell: &SweepCell| (cell.point, cell.variant);
        let place = self.cells.binary_search_by_key(&(point, variant), key);
        let place = place.ok()?;
        Some((place, &self.cells[place]))
    }

    /// Returns a row that a reading makes: all of them read the same, and count the same seeds.
    fn row_of(&self, reading: usize) -> Option<&SweepRow> {
        self.rows.iter().find(|row| row.reading == reading)
    }
}

/// Returns the points, and, if table rows define them, the indices that the quick form has.
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

/// Returns the default reading: the completion time of the slowest measured job.
fn completion_time() -> ReadingKeys {
    ReadingKeys {
        name: "completion time".to_owned(),
        query: "max(jobs.jct_ns) where not background".to_owned(),
        ..ReadingKeys::plain()
    }
}

impl SweepCell {
    /// Returns the cell's trial, still without seeds.
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
    /// Returns a reading that has only defaults.
    fn plain() -> ReadingKeys {
        tenter_language::config::default_of()
    }
}

#[cfg(test)]
mod tests;
