//! The tables of a sweep: one row for each collective of each trial, and the answer.

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

/// What a sweep has left.
#[derive(Clone, Debug)]
pub struct SweepResults {
    /// The sweep.
    pub sweep: Sweep,
    /// What was read of each trial that has run, in the order of the trials.
    pub measured: Vec<Measured>,
    /// A row for each reading, point and variant.
    pub answer: StudyAnswer,
    /// Which variant is best by each reading at each point.
    pub winners: Vec<Winner>,
    /// Trials that failed, and why.
    pub failures: Vec<(SweepTrial, String)>,
    /// How far it came.
    pub progress: SweepProgress,
    /// Whether its observer has stopped it.
    pub was_cancelled: bool,
    /// Where its ledger and its tables are.
    pub folder: PathBuf,
    pub(super) only: Only,
}

impl SweepResults {
    /// Whether the trials of a variant at a point belong to the [part](super::SweepRun::only) that
    /// was asked for.
    pub fn is_meant(&self, point: usize, variant: usize) -> bool {
        self.only.has(&self.sweep, point, variant)
    }
}

/// One row for each collective of each trial.
pub const RESULTS_FILE: &str = "results.parquet";

/// A sweep that has come to its end, or was stopped.
pub(super) struct Finished {
    pub(super) sweep: Sweep,
    pub(super) variants: Vec<String>,
    /// The part that was asked for.
    pub(super) only: Only,
    /// What has run, with all seeds that differ, in the order of the trials.
    pub(super) rows: Vec<(Measured, Vec<u64>, Summary)>,
    pub(super) failures: Vec<(SweepTrial, String)>,
    pub(super) progress: SweepProgress,
    pub(super) was_cancelled: bool,
    pub(super) folder: PathBuf,
}

impl Finished {
    /// What the trials have answered. Rows of other parts than the one that was asked for have no
    /// value, nor have rows that are divided by a variant of another part: none is judged by that.
    fn answer(&self, measured: &[Measured]) -> StudyAnswer {
        let mut answer = self.sweep.answer(measured);
        if self.only.is_all() || self.sweep.is_study() {
            return answer;
        }
        let cells = self.sweep.cells_of_answer();
        for (case, (reading, cell)) in answer.cases.iter_mut().zip(cells) {
            let is_meant = |variant| self.only.has(&self.sweep, cell.point, variant);
            let has_all = is_meant(cell.variant) && self.divisor(reading).is_none_or(is_meant);
            if case.verdict == Verdict::Miss && !has_all {
                case.verdict = Verdict::NotJudged;
            }
        }
        answer
    }

    /// The variant that a reading is divided by.
    fn divisor(&self, reading: usize) -> Option<usize> {
        let against = self.sweep.keys.readings[reading].divisor()?;
        self.variants.iter().position(|of| *of == against)
    }

    /// Without the summaries.
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

/// Columns of jobs beside those of collectives; other names stand for the same in both.
const OF_JOBS: [&str; 6] = [
    "job_name",
    "background",
    "jct_ns",
    "compute_ns",
    "exposed_communication_ns",
    "complete",
];

/// Writes the tables into the folder of the sweep.
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

/// The seeds that are set apart and differ from trial to trial.
fn apart(sweep: &Sweep) -> impl Iterator<Item = SeedOf> + '_ {
    sweep.seed_kinds().filter(|of| *of != SeedOf::Trial)
}

/// Settings first, then what was read, then the columns of jobs and collectives.
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
