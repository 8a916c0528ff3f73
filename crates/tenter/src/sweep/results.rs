//! Sweep results: the answer, and a table with one row for each trial's collectives.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::report::{DIGEST_NOTE, FreeColumn, FreeTable, SEED_NOTE, SWEEP_FILE, write_shared};
use crate::studies::{
    Answers, Measured, SeedOf, StudyAnswer, Sweep, SweepTrial, TrialValue, Verdict, Winner,
};
use serde_json::json;
use tenter_results::{Cell, CollectiveRow, JobRow, Kind, Names, NoteRow, Row, Summary};

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

/// Columns of the results table that [`SweepResults::measured`] lacks, for one trial.
pub(super) struct Told {
    /// Seeds of the kinds that vary, in the order that [`Sweep::seed_kinds`] has.
    pub(super) seeds: Vec<u64>,
    pub(super) summary: Summary,
}

/// Makes the answer. Missing trials outside the selected part must not fail it: rows outside, and
/// rows compared with cells outside, are not judged instead of missed.
pub(super) fn answer(sweep: &Sweep, only: &Only, measured: &[Measured]) -> StudyAnswer {
    let mut answer = sweep.answer(measured);
    if only.is_all() {
        return answer;
    }
    for (case, (row, cell)) in answer.cases.iter_mut().zip(sweep.shown_cells()) {
        let is_meant = |cell: &usize| {
            let cell = &sweep.cells()[*cell];
            only.has(sweep, cell.point, cell.variant)
        };
        let has_all = is_meant(&cell) && sweep.rows()[row].others().iter().all(is_meant);
        if case.verdict == Verdict::Miss && !has_all {
            case.verdict = Verdict::NotJudged;
        }
    }
    answer
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

/// Writes the results table and the answer into the sweep's folder; `told` belongs to the measured
/// trials, in order.
pub(super) fn write(results: &SweepResults, told: &[Told]) -> Result<(), Error> {
    let SweepResults { folder, sweep, .. } = results;
    table(results, told).write(&folder.join(RESULTS_FILE))?;
    let mut document = json!(Answers {
        studies: vec![results.answer.clone()],
    });
    document["winners"] = json!(results.winners);
    document["sweep"] = json!(sweep.record(&results.measured));
    write_shared(&folder.join(SWEEP_FILE), &format!("{document:#}\n"))?;
    Ok(())
}

/// Lists the varied seeds, by kind, that have columns to themselves.
fn apart(sweep: &Sweep) -> impl Iterator<Item = SeedOf> + '_ {
    sweep.seed_kinds().filter(|of| *of != SeedOf::Trial)
}

/// Makes the results table: settings first, then readings, then job and collective columns.
fn table(results: &SweepResults, told: &[Told]) -> FreeTable {
    let sweep = &results.sweep;
    let axes: Vec<&str> = sweep.axes().collect();
    let variants: Vec<&str> = sweep.variants().collect();
    let mut columns = vec![
        FreeColumn::new("variant", Kind::Text, ""),
        FreeColumn::new("seed", Kind::Unsigned, ""),
        FreeColumn::new("digest", Kind::Text, ""),
        FreeColumn::new("notes", Kind::Text, ""),
    ];
    columns.extend(apart(sweep).map(|of| FreeColumn::new(of.path(), Kind::Unsigned, "")));
    columns.extend(
        axes.iter()
            .map(|path| FreeColumn::new(*path, Kind::Text, "")),
    );
    for reading in sweep.readings() {
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
    for (measured, Told { seeds, summary }) in results.measured.iter().zip(told) {
        let point = &sweep.points()[measured.point];
        let notes: Vec<String> = summary.notes.iter().map(NoteRow::line).collect();
        let notes = notes.join("\n");
        for job in &summary.jobs {
            for row in &job.collectives {
                let mut cells = vec![
                    Cell::Text(variants[measured.variant]),
                    Cell::Unsigned(measured.seed),
                    Cell::Text(&measured.digest),
                    Cell::Text(&notes),
                ];
                let kinds = sweep.seed_kinds().zip(seeds);
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
    let seeds: BTreeSet<u64> = results.measured.iter().map(|of| of.seed).collect();
    let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
    table.note(SEED_NOTE, &seeds.join(","));
    table.note(DIGEST_NOTE, &results.answer.digest);
    table.note("tenter.sweep", &sweep.keys.name);
    table
}
