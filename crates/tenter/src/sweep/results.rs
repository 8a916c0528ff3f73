//! Sweep results: the answer, and a table with one row for each trial's collectives.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::json;
use tenter_record::{Cell, CollectiveRow, JobRow, Kind, Names, NoteRow, Row, Summary};
use tenter_report::{DIGEST_NOTE, FreeColumn, FreeTable, SEED_NOTE, SWEEP_FILE, write_shared};
use tenter_study::{
    Answers, Measured, SeedOf, StudyAnswer, Sweep, SweepTrial, TrialValue, Verdict, Winner,
};

use super::only::Only;
use super::progress::SweepProgress;
use crate::Error;

/// Results of a sweep.
#[derive(Clone, Debug)]
pub struct SweepResults {
    /// The sweep that was run.
    pub sweep: Sweep,
    /// Readings from each trial that has run, in trial order.
    pub measured: Vec<Measured>,
    /// Answer table: a row for each reading, point and variant.
    pub answer: StudyAnswer,
    /// Best variant at each point, for each reading.
    pub winners: Vec<Winner>,
    /// Failed trials, each with the reason.
    pub failures: Vec<(SweepTrial, String)>,
    /// Progress at the end.
    pub progress: SweepProgress,
    /// True if trials are left: an observer stopped the sweep, or other processes run them.
    pub was_cancelled: bool,
    /// Folder with ledger and tables.
    pub folder: PathBuf,
    pub(super) only: Only,
}

impl SweepResults {
    /// True if a variant's trials at a point belong to the [selected part](super::SweepRun::only).
    pub fn is_meant(&self, point: usize, variant: usize) -> bool {
        self.only.has(&self.sweep, point, variant)
    }
}

/// File name for the results table: one row for each collective in each trial.
pub const RESULTS_FILE: &str = "results.parquet";

/// A sweep that has ended, or was stopped, with its summaries.
pub(super) struct Finished {
    pub(super) sweep: Sweep,
    pub(super) variants: Vec<String>,
    /// Selected part.
    pub(super) only: Only,
    /// Trials that have run, each with its varied seeds and summary, in their order.
    pub(super) rows: Vec<(Measured, Vec<u64>, Summary)>,
    pub(super) failures: Vec<(SweepTrial, String)>,
    pub(super) progress: SweepProgress,
    pub(super) was_cancelled: bool,
    pub(super) folder: PathBuf,
}

impl Finished {
    /// Returns the sweep's answer. Missing trials outside the selected part must not fail it: rows
    /// outside, and rows divided by a variant outside, are not judged instead of missed.
    fn answer(&self, measured: &[Measured]) -> StudyAnswer {
        let mut answer = self.sweep.answer(measured);
        if self.only.is_all() || self.sweep.is_study() {
            return answer;
        }
        for (case, (row, cell)) in answer.cases.iter_mut().zip(self.sweep.shown_cells()) {
            let cell = &self.sweep.cells()[cell];
            let divisor = self.divisor(self.sweep.rows()[row].reading);
            let is_meant = |variant| self.only.has(&self.sweep, cell.point, variant);
            let has_all = is_meant(cell.variant) && divisor.is_none_or(is_meant);
            if case.verdict == Verdict::Miss && !has_all {
                case.verdict = Verdict::NotJudged;
            }
        }
        answer
    }

    /// Index of the variant by whose value a reading is divided.
    fn divisor(&self, reading: usize) -> Option<usize> {
        let against = self.sweep.keys.readings[reading].divisor()?;
        self.variants.iter().position(|of| *of == against)
    }

    /// Drops the summaries and computes the answer.
    pub(super) fn told(self) -> SweepResults {
        let measured: Vec<Measured> = self.rows.iter().map(|(of, _, _)| of.clone()).collect();
        SweepResults {
            answer: self.answer(&measured),
            winners: self.sweep.winners(&measured),
            only: self.only,
            sweep: self.sweep,
            measured,
            failures: self.failures,
            progress: self.progress,
            was_cancelled: self.was_cancelled,
            folder: self.folder,
        }
    }
}

/// Job columns that are added to those for collectives; the other names exist in both.
const OF_JOBS: [&str; 6] = [
    "job_name",
    "background",
    "jct_ns",
    "compute_ns",
    "exposed_communication_ns",
    "complete",
];

/// Writes the results table and the answer into the sweep's folder.
pub(super) fn write(finished: &Finished) -> Result<(), Error> {
    let measured: Vec<Measured> = finished.rows.iter().map(|(of, _, _)| of.clone()).collect();
    let answers = Answers {
        studies: vec![finished.answer(&measured)],
    };
    let digest = &answers.studies[0].digest;
    table(finished, digest).write(&finished.folder.join(RESULTS_FILE))?;
    let mut document = json!(answers);
    document["winners"] = json!(finished.sweep.winners(&measured));
    document["sweep"] = json!(finished.sweep.record(&measured));
    write_shared(
        &finished.folder.join(SWEEP_FILE),
        &format!("{document:#}\n"),
    )?;
    Ok(())
}

/// Lists the varied seeds, by kind, that have columns to themselves.
fn apart(sweep: &Sweep) -> impl Iterator<Item = SeedOf> + '_ {
    sweep.seed_kinds().filter(|of| *of != SeedOf::Trial)
}

/// Makes the results table: settings first, then readings, then job and collective columns.
fn table(finished: &Finished, digest: &str) -> FreeTable {
    let axes: Vec<&str> = finished.sweep.axes().collect();
    let mut columns = vec![
        FreeColumn::new("variant", Kind::Text, ""),
        FreeColumn::new("seed", Kind::Unsigned, ""),
        FreeColumn::new("digest", Kind::Text, ""),
        FreeColumn::new("notes", Kind::Text, ""),
    ];
    columns.extend(apart(&finished.sweep).map(|of| FreeColumn::new(of.path(), Kind::Unsigned, "")));
    columns.extend(
        axes.iter()
            .map(|path| FreeColumn::new(*path, Kind::Text, "")),
    );
    for reading in finished.sweep.readings() {
        columns.push(FreeColumn::new(
            &reading.name,
            Kind::Float,
            reading.unit.as_str(),
        ));
    }
    let of_jobs: Vec<_> = JobRow::COLUMNS
        .iter()
        .filter(|column| OF_JOBS.contains(&column.name))
        .collect();
    for column in &of_jobs {
        columns.push(FreeColumn::new(column.name, column.kind, column.unit));
    }
    for column in CollectiveRow::COLUMNS {
        columns.push(FreeColumn::new(column.name, column.kind, column.unit));
    }
    let names = Names::default();
    let mut table = FreeTable::new("results", columns);
    for (measured, seeds, summary) in &finished.rows {
        let point = &finished.sweep.points()[measured.point];
        let notes: Vec<String> = summary.notes.iter().map(NoteRow::line).collect();
        let notes = notes.join("\n");
        for job in &summary.jobs {
            for row in &job.collectives {
                let mut cells = vec![
                    Cell::Text(&finished.variants[measured.variant]),
                    Cell::Unsigned(measured.seed),
                    Cell::Text(&measured.digest),
                    Cell::Text(&notes),
                ];
                let kinds = finished.sweep.seed_kinds().zip(seeds);
                let apart = kinds.filter(|(of, _)| *of != SeedOf::Trial);
                cells.extend(apart.map(|(_, seed)| Cell::Unsigned(*seed)));
                cells.extend(point.iter().map(|value| Cell::Text(value)));
                let values = measured.values.iter();
                let number =
                    |value: &Option<TrialValue>| value.as_ref().and_then(TrialValue::number);
                cells.extend(values.map(|value| number(value).map_or(Cell::Missing, Cell::Float)));
                cells.extend(of_jobs.iter().map(|column| (column.cell)(&job.job, &names)));
                let own = CollectiveRow::COLUMNS.iter();
                cells.extend(own.map(|column| (column.cell)(row, &names)));
                table.push(&cells);
            }
        }
    }
    let seeds: BTreeSet<u64> = finished.rows.iter().map(|(of, _, _)| of.seed).collect();
    let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
    table.note(SEED_NOTE, &seeds.join(","));
    table.note(DIGEST_NOTE, digest);
    table.note("tenter.sweep", &finished.sweep.keys.name);
    table
}
