//! Answers: each row's value, made from its cells' trials, with the verdict.

use tenter_results::{Digest, Notes};

use super::Sweep;
use super::keys::{ReadingKeys, Sharing};
use super::rows::{self, SweepRow};
use crate::studies::answer::{AnswerVariant, CaseAnswer, Spread, StudyAnswer, Verdict};
use crate::studies::drawing::Chart;
use crate::studies::gate::Gate;
use crate::studies::pauses::{Pauses, TrialPauses};
use crate::studies::read::Read;
use crate::studies::value::{TrialValue, Value};

/// Values that readings read from one trial. Nothing else is kept for the answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Variant, as an index into [`Sweep::variants`].
    pub variant: usize,
    /// Point, as an index into [`Sweep::points`].
    pub point: usize,
    /// The trial's seed, or the first one if several kinds differ.
    pub seed: u64,
    /// Digest over the trial's tables.
    pub digest: String,
    /// Values in the order that [`Sweep::reads`] has; `None` if no row had one.
    pub values: Vec<Option<TrialValue>>,
    /// Notes for readers of the values.
    pub notes: Notes,
    /// The NICs' PFC pauses; only a study's trials have them.
    pub pauses: Option<TrialPauses>,
}

impl Measured {
    /// Returns the number that reading `read` (an index into [`Sweep::reads`]) gave; `None` if it
    /// gave none, or a text.
    pub(super) fn number(&self, read: usize) -> Option<f64> {
        self.values.get(read)?.as_ref()?.number()
    }
}

/// Trials grouped by cell index, each group sorted by seed.
pub(super) struct OfCells<'t>(Vec<Vec<&'t Measured>>);

impl<'t> OfCells<'t> {
    /// Groups `trials` by cell; trials outside all cells are left out.
    pub(super) fn new(sweep: &Sweep, trials: &'t [Measured]) -> OfCells<'t> {
        let mut of_cells = vec![Vec::new(); sweep.cells.len()];
        for trial in trials {
            if let Some((place, _)) = sweep.cell(trial.point, trial.variant) {
                of_cells[place].push(trial);
            }
        }
        for trials in &mut of_cells {
            // Workers finish trials in any order; the order of seeds makes answers independent of
            // it.
            trials.sort_by_key(|trial| trial.seed);
        }
        OfCells(of_cells)
    }

    /// Returns the trials that ran in the cell with index `cell`.
    pub(super) fn trials(&self, cell: usize) -> &[&'t Measured] {
        self.0.get(cell).map_or(&[], Vec::as_slice)
    }
}

impl Sweep {
    /// Makes the answer from the trials that have run: reading by reading, row by row, cell by
    /// cell. Cells that are not run have no row, and neither have rows compared with them.
    pub fn answer(&self, trials: &[Measured]) -> StudyAnswer {
        let of_cells = OfCells::new(self, trials);
        let shown = self.shown_cells();
        let cases = shown.map(|(row, cell)| self.case(&self.rows[row], cell, &of_cells));
        let cases = cases.collect();
        // A study says which charts it has; a sweep has one chart for each reading.
        let charts = if self.is_study() {
            self.drawn.clone()
        } else {
            self.keys.readings.iter().map(ReadingKeys::chart).collect()
        };
        StudyAnswer {
            study: self.keys.name.clone(),
            title: match self.keys.title.as_str() {
                "" => self.keys.description.clone(),
                title => title.to_owned(),
            },
            source: self.keys.source.clone(),
            quick: self.is_quick,
            variants: self.answer_variants(&of_cells),
            left_out: self.left_out.clone(),
            digest: self.digest(trials),
            cases,
            pauses: self.pauses(&of_cells),
            charts,
            drawings: self.drawings.clone(),
        }
    }

    /// Returns where each case of [`Sweep::answer`] comes from, in order: indices into
    /// [`Sweep::rows`] and [`Sweep::cells`]. Readings need not have a row for each cell.
    pub fn shown_cells(&self) -> impl Iterator<Item = (usize, usize)> {
        let is_run = |cell: &usize| self.cells[*cell].is_run;
        let rows = self.rows.iter().enumerate();
        let compared = rows.filter(move |(_, row)| row.others().iter().all(is_run));
        compared.flat_map(move |(place, row)| {
            let shown = row.shown.iter().copied().filter(is_run);
            shown.map(move |cell| (place, cell))
        })
    }

    /// Returns a study's cells, or a sweep's variants, with the trials that have run.
    fn answer_variants(&self, of_cells: &OfCells<'_>) -> Vec<AnswerVariant> {
        let is_study = self.is_study();
        let mut variants: Vec<(AnswerVariant, Vec<&Measured>)> = Vec::new();
        for (place, cell) in self.cells.iter().enumerate() {
            let trials = of_cells.trials(place);
            if is_study && trials.is_empty() {
                continue;
            }
            let name = if is_study { &cell.name } else { &cell.bar };
            // The cells of a sweep's variant, one for each point, become one entry.
            let known = variants.iter_mut().find(|(of, _)| of.name == *name);
            if let Some((_, of)) = known.filter(|_| !is_study) {
                of.extend(trials);
                continue;
            }
            let variant = AnswerVariant {
                name: name.clone(),
                about: cell.about.clone(),
                ..AnswerVariant::default()
            };
            variants.push((variant, trials.to_vec()));
        }
        // A study without `runs` counts its seeds from the scenario's own, so the trial count is
        // enough.
        let names_seeds = !is_study || self.seeds.chosen.is_some();
        let filled = variants.into_iter().map(|(variant, trials)| {
            let mut seeds: Vec<u64> = trials.iter().map(|trial| trial.seed).collect();
            seeds.sort_unstable();
            seeds.dedup();
            AnswerVariant {
                trials: trials.len(),
                seeds: if names_seeds { seeds } else { Vec::new() },
                notes: Notes::of_all(trials.iter().map(|trial| &trial.notes)).0,
                ..variant
            }
        });
        filled.collect()
    }

    /// Returns the pauses in each cell in which a NIC was paused.
    fn pauses(&self, of_cells: &OfCells<'_>) -> Vec<Pauses> {
        let cells = self.cells.iter().enumerate();
        let pauses = cells.filter_map(|(place, cell)| {
            let trials = of_cells.trials(place).iter();
            let pauses: Vec<&TrialPauses> =
                trials.filter_map(|trial| trial.pauses.as_ref()).collect();
            Pauses::of(&cell.name, &pauses)
        });
        pauses.collect()
    }

    /// Computes one digest over all trials. The digest covers which trial gave which results, and
    /// does not depend on the trials' order.
    pub(super) fn digest(&self, trials: &[Measured]) -> String {
        let mut trials: Vec<&Measured> = trials.iter().collect();
        trials.sort_unstable_by_key(|trial| (trial.point, trial.variant, trial.seed));
        let mut digest = Digest::new();
        for trial in trials {
            let place = self.cell(trial.point, trial.variant);
            let mut record = match (self.is_study(), place) {
                // A study's recorded digests count cells and leave out seeds, so its digest must as
                // well.
                (true, Some((place, _))) => vec![place as u64],
                _ => vec![trial.point as u64, trial.variant as u64, trial.seed],
            };
            record.extend(trial.digest.bytes().map(u64::from));
            digest.add(&record);
        }
        digest.to_hex()
    }

    /// Makes the answer for one cell that `row` shows.
    fn case(&self, row: &SweepRow, cell: usize, of_cells: &OfCells<'_>) -> CaseAnswer {
        let reading = &self.keys.readings[row.reading];
        let trials = of_cells.trials(cell);
        let counted = trials.iter().filter(|trial| row.counts(trial));
        let counted: Vec<&Measured> = counted.copied().collect();
        let read = &self.reads[row.read];
        let values: Vec<Value> = counted
            .iter()
            .filter_map(|trial| row.value(read, trial, of_cells))
            .collect();
        let spread = Spread::of(&values);
        // With `every_seed`, one seed without a value leaves the row without a value.
        let is_missing = reading.every_seed && values.len() < trials.len();
        // A pooled statistic is taken once over the rows of all seeds; any other is taken over one
        // value from each seed.
        let (measured, words) = match read.pooled() {
            _ if is_missing => (None, None),
            Some(_) => (row.pooled(read, &counted, of_cells), Some("all".to_owned())),
            None => of_seeds(reading, values),
        };
        let several = trials.len() > 1;
        let statistic =
            words.filter(|_| several && (measured.is_some() || read.pooled().is_some()));
        let statistic = statistic.map(|words| format!("{words} of {} seeds", trials.len()));
        let says_range = row.counts_values && !reading.every_seed;
        let range = spread.filter(|_| says_range).map(Spread::words);
        let is_judged = row.judged == Some(cell);
        let is_other = self.is_quick || self.is_changed;
        // Cells beside the judged one are shown for information, without the band.
        let (gate, band) = if is_judged {
            (row.gate, row.band)
        } else {
            (Gate::Info, None)
        };
        let number = measured.as_ref().and_then(Value::number);
        CaseAnswer {
            case: row.case.clone(),
            bar: row.bar.clone(),
            metric: row.metric.clone(),
            variant: if self.is_study() {
                self.cells[cell].name.clone()
            } else {
                self.cells[cell].bar.clone()
            },
            published: row.published.clone(),
            origin: row.origin,
            verdict: if is_judged && is_other && !row.quick_judged {
                Verdict::NotJudged
            } else {
                Verdict::of(gate, band, number)
            },
            measured,
            statistic: statistic.map(|words| words + &range.unwrap_or_default()),
            // The spread of values says nothing about a statistic that is itself a spread or a
            // count.
            spread: spread.filter(|_| several && !is_missing && reading.statistic.is_of_size()),
            band,
            gate,
        }
    }
}

impl SweepRow {
    /// Returns true if the trial meets the row's condition on shared uplinks, or if there is none.
    pub(super) fn counts(&self, trial: &Measured) -> bool {
        let Some((place, sharing)) = self.condition else {
            return true;
        };
        let shared = trial.number(place);
        match sharing {
            Sharing::SharesAnUplink => shared.is_some_and(|count| count > 0.0),
            Sharing::SharesNoUplink => shared == Some(0.0),
        }
    }

    /// Returns the trial's value, compared with the values that other cells' trials have for the
    /// same seed; `None` if one is missing.
    fn value(&self, read: &Read, trial: &Measured, of_cells: &OfCells<'_>) -> Option<Value> {
        let value = trial.values.get(self.read)?.as_ref()?;
        let Some((against, others)) = &self.against else {
            return match value {
                TrialValue::Several(_) => read.number(value).map(Value::Number),
                TrialValue::One(value) => Some(value.clone()),
            };
        };
        let others = others.iter().map(|cell| {
            let mut trials = of_cells.trials(*cell).iter();
            // Equal seeds hash and draw alike, so the comparison is free of the luck of the draw.
            let same = trials.find(|other| other.seed == trial.seed)?;
            read.number(same.values.get(self.read)?.as_ref()?)
        });
        let others: Option<Vec<f64>> = others.collect();
        Some(Value::Number(against.of(read.number(value)?, &others?)))
    }

    /// Returns the statistic over the rows from all `trials`, compared with the same statistic in
    /// the other cells.
    fn pooled(&self, read: &Read, trials: &[&Measured], of_cells: &OfCells<'_>) -> Option<Value> {
        let of = |trials: &mut dyn Iterator<Item = &&Measured>| {
            let values =
                trials.filter_map(|trial| match trial.values.get(self.read)?.as_ref()? {
                    TrialValue::Several(values) => Some(values.iter().copied()),
                    TrialValue::One(_) => None,
                });
            read.pooled()?.of(values.flatten().collect())
        };
        let value = of(&mut trials.iter())?;
        let Some((against, others)) = &self.against else {
            return Some(Value::Number(value));
        };
        let others = others.iter().map(|cell| {
            let trials = of_cells.trials(*cell).iter();
            of(&mut trials.filter(|trial| self.counts(trial)))
        });
        let others: Option<Vec<f64>> = others.collect();
        Some(Value::Number(against.of(value, &others?)))
    }
}

/// Returns the reading's statistic over the seeds' values, with its name; for texts, which have no
/// statistic, the first value.
fn of_seeds(reading: &ReadingKeys, values: Vec<Value>) -> (Option<Value>, Option<String>) {
    let numbers: Option<Vec<f64>> = values.iter().map(Value::number).collect();
    match numbers {
        Some(numbers) => {
            let value = reading.statistic.of(numbers);
            (
                value.map(Value::Number),
                Some(reading.statistic.to_string()),
            )
        }
        None => (values.into_iter().next(), Some("first".to_owned())),
    }
}

impl ReadingKeys {
    /// Returns the variant by whose value the reading divides; `None` without such a ratio.
    pub fn divisor(&self) -> Option<String> {
        match rows::against(self).ok()?? {
            crate::studies::against::Against::RatioTo(other) => Some(other),
            _ => None,
        }
    }

    /// Returns the metric's name, with the unit behind it, or as the ratio that it is.
    pub(super) fn metric(&self) -> String {
        match (self.divisor(), self.unit().as_str()) {
            (None, "") => self.name.clone(),
            (None, unit) => format!("{} ({unit})", self.name),
            (Some(other), _) => format!("{} over that of {other}", self.name),
        }
    }

    /// Returns the value's unit; empty if it has none.
    pub fn unit(&self) -> String {
        let query = self.query.parse::<crate::studies::NumberQuery>();
        query.map_or_else(|_| String::new(), |query| query.unit().to_owned())
    }

    /// Makes the bar chart for a sweep's reading.
    fn chart(&self) -> Chart {
        Chart {
            title: self.name.clone(),
            metrics: vec![self.metric()],
            bars: Vec::new(),
            axis: match self.divisor() {
                Some(other) => format!("times that of {other}"),
                None => self.unit(),
            },
        }
    }
}
