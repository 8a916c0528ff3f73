//! Routes for sweeps: queue, list, show, compare, cancel.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenter::report::{
    NamedRecord, ShownCell, ShownReading, axis_numbers, paired_rows, paired_sections, read_answers,
    read_sweep, shown_reading,
};
use tenter::studies::{CaseAnswer, Gate, Measured, StudyAnswer, SweepRecord};
use tenter::{Budget, TrialState, WorkspaceSweep, sweep_of};
use utoipa::{IntoParams, ToSchema};

use super::compare::numbers;
use super::studies::StudyCaseBody;

use crate::server::error::{ApiError, ErrorBody};
use crate::server::extract::{Asked, At, Body};
use crate::server::section_body::SectionBody;
use crate::server::state::{App, Shared, apart};
use crate::server::sweep_body::{SweepRow, told_sweep};

/// A sweep to be run.
#[derive(Deserialize, ToSchema)]
pub(crate) struct NewSweep {
    /// The description of the sweep in YAML.
    text: String,
    /// The scenario that is varied, in YAML; it stands for the key `scenario` of the description.
    /// Without it that key names a preset: `preset:NAME`.
    scenario: Option<String>,
}

/// A sweep with what it has left.
#[derive(Serialize, ToSchema)]
pub(crate) struct SweepBody {
    #[serde(flatten)]
    row: SweepRow,
    /// Its description in YAML.
    text: String,
    /// The scenario that is varied, in YAML; empty where the description names a preset.
    scenario: String,
    /// What is compared; one without a name where there is one thing only.
    variants: Vec<String>,
    axes: Vec<SweepAxisBody>,
    /// The points of the design: a value for each axis.
    points: Vec<Vec<String>>,
    readings: Vec<SweepReadingBody>,
    /// Charts that the description names; without any, all are drawn that say something.
    charts: Vec<SweepChartBody>,
    /// Rows with a band or a published value, as studies have them.
    cases: Vec<StudyCaseBody>,
    /// What it is about, in a sentence; may be empty.
    about: String,
    /// The digest of all of its trials; empty before its end.
    digest: String,
    /// What a reader of the values must know, of all trials together, a line for each note.
    notes: Vec<String>,
    /// Trials that have run, as they end.
    rows: Vec<SweepTrialBody>,
    /// Rows by reading, point and variant with their statistics over seeds, as `sweep.json` has
    /// them.
    #[schema(value_type = Option<Object>)]
    answer: Option<Value>,
}

/// What is varied.
#[derive(Serialize, ToSchema)]
pub(crate) struct SweepAxisBody {
    /// Path in the scenario.
    path: String,
    /// What it is called where there is little room.
    label: String,
    /// Its values in the order of the points.
    values: Vec<String>,
    /// The same as numbers in their base unit; missing where one is a word, or they measure
    /// different things.
    numbers: Option<Vec<f64>>,
    /// The unit of the numbers.
    unit: &'static str,
    /// Whether its values grow by a factor.
    log: bool,
}

/// A chart.
#[derive(Serialize, ToSchema)]
pub(crate) struct SweepChartBody {
    title: String,
    /// `bars`, `lines`, `heat` or `parallel`.
    kind: String,
    /// Places of its readings.
    readings: Vec<usize>,
    /// Place of the axis from left to right, and of that from top to bottom.
    x: Option<usize>,
    y: Option<usize>,
}

/// What is read of each trial.
#[derive(Serialize, ToSchema)]
pub(crate) struct SweepReadingBody {
    name: String,
    /// Unit of the values; empty for counts and ratios.
    unit: String,
    /// Whether greater values are better.
    more_is_better: bool,
    /// What is made of the values of several seeds.
    statistic: String,
    /// What is read.
    of: String,
    /// The unit of the following cells, which are over those of another variant where the reading
    /// is against one.
    shown_unit: String,
    /// Point by point, variant by variant.
    cells: Vec<SweepCellBody>,
    /// The best variant of each point where one is best.
    best: Vec<SweepBestBody>,
}

/// A reading at a point for a variant.
#[derive(Serialize, ToSchema)]
pub(crate) struct SweepCellBody {
    /// Place of the point.
    point: usize,
    /// Place of the variant.
    variant: usize,
    /// The statistic over the seeds.
    value: Option<f64>,
    /// The least and the greatest of several seeds, where the statistic is a value like theirs.
    least: Option<f64>,
    greatest: Option<f64>,
    /// Seeds, in decimal, and their values.
    seeds: Vec<String>,
    values: Vec<f64>,
}

/// The best variant at a point beside the next best, paired by seed.
#[derive(Serialize, ToSchema)]
pub(crate) struct SweepBestBody {
    /// Place of the point.
    point: usize,
    /// Places of the variants.
    variant: usize,
    runner_up: usize,
    /// For instance `37.2 % less`.
    difference: String,
    /// The interval, the wins and the sign test, in words.
    confidence: String,
    significant: bool,
}

/// A trial of a sweep.
#[derive(Serialize, ToSchema)]
pub(crate) struct SweepTrialBody {
    variant: String,
    /// A value for each axis.
    point: Vec<String>,
    /// Seed, in decimal.
    seed: String,
    /// A value for each reading.
    values: Vec<Option<f64>>,
    /// Its number among the trials of the workspace, if it has a row there.
    trial: Option<i64>,
}

/// Queues a sweep.
#[utoipa::path(post, path = "/sweeps", operation_id = "sweep_queue", tag = "sweeps",
    request_body = NewSweep,
    responses((status = 201, body = SweepRow), (status = 422, body = ErrorBody)))]
pub(crate) async fn queue(
    State(app): State<Shared>,
    Body(asked, _held): Body<NewSweep>,
) -> Result<(StatusCode, Json<SweepRow>), ApiError> {
    let turns = Arc::clone(&app);
    let work = move |budget: &Budget| {
        let scenario = asked.scenario.unwrap_or_default();
        let run = sweep_of(&asked.text, &scenario)?;
        run.check(budget)?;
        let id = app.workspace.queue_sweep(&run, &asked.text, &scenario)?;
        let row = SweepRow::from(&found(&app, id)?);
        app.events.tell("sweep", &row);
        app.wake();
        Ok((StatusCode::CREATED, Json(row)))
    };
    turns.turns.take(None, work).await
}

/// The sweeps, the newest first.
#[utoipa::path(get, path = "/sweeps", operation_id = "sweep_list", tag = "sweeps",
    responses(
        (status = 200, body = Vec<SweepRow>)))]
pub(crate) async fn list(State(app): State<Shared>) -> Result<Json<Vec<SweepRow>>, ApiError> {
    apart(move || {
        Ok(Json(
            app.workspace.sweeps()?.iter().map(SweepRow::from).collect(),
        ))
    })
    .await
}

fn found(app: &App, id: i64) -> Result<WorkspaceSweep, ApiError> {
    let sweep = app.workspace.sweep(id)?;
    sweep.ok_or_else(|| ApiError::missing("there is no such sweep; /api/v1/sweeps lists them"))
}

/// One sweep.
#[utoipa::path(get, path = "/sweeps/{id}", operation_id = "sweep_show", tag = "sweeps",
    params(
        ("id" = i64, Path, description = "Number of the sweep")),
    responses((status = 200, body = SweepBody), (status = 404, body = ErrorBody)))]
pub(crate) async fn show(
    State(app): State<Shared>,
    At(id): At<i64>,
) -> Result<Json<SweepBody>, ApiError> {
    apart(move || Ok(Json(body(&app, &found(&app, id)?)?))).await
}

/// Returns the record in the sweep's folder, with the folder, if the sweep has ended.
fn ended(sweep: &WorkspaceSweep) -> Option<(SweepRecord, &Path)> {
    // The folder may still have the files of an earlier run of the same sweep.
    let is_over = !matches!(sweep.state, TrialState::Queued | TrialState::Running);
    let folder = sweep.folder.as_deref().filter(|_| is_over)?;
    Some((read_sweep(folder).ok().flatten()?, folder))
}

/// Returns a sweep's record: from its folder when it has ended, else from the trials that have run
/// so far.
pub(super) fn record_of(sweep: &WorkspaceSweep, measured: &[Measured]) -> SweepRecord {
    ended(sweep).map_or_else(
        || match sweep_of(&sweep.description, &sweep.scenario) {
            Ok(run) => run.sweep().record(measured),
            Err(_) => SweepRecord::default(),
        },
        |(record, _)| record,
    )
}

/// Returns a sweep's record as [`record_of`] does, and its answer.
fn results(sweep: &WorkspaceSweep, measured: &[Measured]) -> (SweepRecord, Option<StudyAnswer>) {
    if let Some((record, folder)) = ended(sweep) {
        let answers = read_answers(folder).ok().flatten();
        let answer = answers.and_then(|answers| answers.studies.into_iter().next());
        return (record, answer);
    }
    match sweep_of(&sweep.description, &sweep.scenario) {
        Ok(run) => {
            let answer = run.sweep().answer(measured);
            (run.sweep().record(measured), Some(answer))
        }
        Err(_) => (SweepRecord::default(), None),
    }
}

fn body(app: &App, sweep: &WorkspaceSweep) -> Result<SweepBody, ApiError> {
    let noted = app.workspace.measured(sweep.id)?;
    let key = |measured: &Measured| (measured.variant, measured.point, measured.seed);
    let ids = noted
        .iter()
        .filter_map(|(measured, id)| Some((key(measured), (*id)?)));
    let ids: BTreeMap<(usize, usize, u64), i64> = ids.collect();
    let measured: Vec<Measured> = noted.into_iter().map(|(measured, _)| measured).collect();
    let (record, answer) = results(sweep, &measured);
    Ok(SweepBody {
        text: sweep.description.clone(),
        scenario: sweep.scenario.clone(),
        answer: answer
            .as_ref()
            .and_then(|answer| serde_json::to_value(answer).ok()),
        ..SweepBody::of(sweep.into(), &record, answer.as_ref(), &ids)
    })
}

impl SweepBody {
    /// Makes a sweep's body from its record; `ids` has its trials' workspace numbers by variant,
    /// point and seed.
    pub(crate) fn of(
        row: SweepRow,
        record: &SweepRecord,
        answer: Option<&StudyAnswer>,
        ids: &BTreeMap<(usize, usize, u64), i64>,
    ) -> SweepBody {
        let rows = record.trials.iter().map(|trial| SweepTrialBody {
            variant: record.variants[trial.variant].clone(),
            point: record.points[trial.point].clone(),
            seed: trial.seed.to_string(),
            values: trial.values.clone(),
            trial: ids.get(&(trial.variant, trial.point, trial.seed)).copied(),
        });
        let notes = record.noted();
        let notes = notes.iter().map(|note| note.line(record.variants.len()));
        let cases = answer.iter().flat_map(|answer| &answer.cases);
        // A row for information without a published value repeats what the readings show.
        let says = |case: &&CaseAnswer| case.gate != Gate::Info || case.published.is_some();
        let charts = record.charts.iter().map(|chart| SweepChartBody {
            title: chart.title.clone(),
            kind: chart.kind.clone(),
            readings: chart.readings.clone(),
            x: chart.x,
            y: chart.y,
        });
        SweepBody {
            notes: notes.collect(),
            row,
            text: String::new(),
            scenario: String::new(),
            axes: (0..record.axes.len()).map(|at| axis(record, at)).collect(),
            points: record.points.clone(),
            readings: (0..record.readings.len())
                .map(|at| reading(record, at))
                .collect(),
            charts: charts.collect(),
            cases: cases.filter(says).map(StudyCaseBody::from).collect(),
            about: record.description.clone(),
            digest: record.digest.clone(),
            rows: rows.collect(),
            // The page shows none of it, and a report would be larger by a third.
            answer: None,
            variants: record.variants.clone(),
        }
    }
}

pub(super) fn axis(record: &SweepRecord, place: usize) -> SweepAxisBody {
    let axis = &record.axes[place];
    let mut known = BTreeSet::new();
    let values = record.points.iter().filter_map(|point| point.get(place));
    let values = values.filter(|value| known.insert(*value)).cloned();
    let values: Vec<String> = values.collect();
    let (numbers, unit) = axis_numbers(&values).unzip();
    SweepAxisBody {
        path: axis.path.clone(),
        label: axis.name.clone(),
        values,
        numbers,
        unit: unit.unwrap_or_default(),
        log: axis.log,
    }
}

fn reading(record: &SweepRecord, place: usize) -> SweepReadingBody {
    let reading = &record.readings[place];
    let ShownReading { unit, cells, best } = shown_reading(record, place);
    let cell = |cell: ShownCell| {
        let (seeds, values) = cell
            .seeds
            .iter()
            .map(|(seed, value)| (seed.to_string(), *value))
            .unzip();
        SweepCellBody {
            point: cell.point,
            variant: cell.variant,
            value: cell.value,
            least: cell.spread.map(|(least, _)| least),
            greatest: cell.spread.map(|(_, greatest)| greatest),
            seeds,
            values,
        }
    };
    let best = best.into_iter().map(|best| SweepBestBody {
        point: best.point,
        variant: best.variant,
        runner_up: best.runner_up,
        difference: best.difference,
        confidence: best.confidence,
        significant: best.is_significant,
    });
    SweepReadingBody {
        name: reading.name.clone(),
        unit: reading.unit.clone(),
        more_is_better: reading.more_is_better,
        statistic: reading.statistic.clone(),
        // A reading of all rows ends with an empty condition, which is left out.
        of: reading.of.trim_end_matches(" where {}").to_owned(),
        shown_unit: unit,
        cells: cells.into_iter().map(cell).collect(),
        best: best.collect(),
    }
}

/// Which sweeps.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct TogetherQuery {
    /// Numbers of sweeps, parted by commas; differences are against the first.
    ids: String,
}

/// What sweeps have in common, seed by seed at equal settings.
#[derive(Serialize, ToSchema)]
pub(crate) struct SweepsTogether {
    /// A section for each reading, as `tenter compare` prints it.
    pub(crate) sections: Vec<SectionBody>,
}

/// Sweeps side by side.
#[utoipa::path(get, path = "/sweeps-together", operation_id = "sweep_together", tag = "sweeps",
    params(TogetherQuery),
    responses(
        (status = 200, body = SweepsTogether),
        (status = 400, body = ErrorBody),
        (status = 404, body = ErrorBody)))]
pub(crate) async fn together(
    State(app): State<Shared>,
    Asked(asked): Asked<TogetherQuery>,
) -> Result<Json<SweepsTogether>, ApiError> {
    apart(move || {
        let mut records = Vec::new();
        for id in numbers(&asked.ids)? {
            let sweep = found(&app, id)?;
            let record = record_of(&sweep, &[]);
            let name = format!("{} ({id})", sweep.name);
            records.push(NamedRecord { name, record });
        }
        let rows = paired_rows(&records).map_err(ApiError::bad)?;
        let sections = paired_sections(&rows).into_iter();
        Ok(Json(SweepsTogether {
            sections: sections.map(SectionBody::from).collect(),
        }))
    })
    .await
}

/// Cancels a sweep that waits or runs; trials that have run are kept.
#[utoipa::path(post, path = "/sweeps/{id}/cancel", operation_id = "sweep_cancel", tag = "sweeps",
    params(
        ("id" = i64, Path, description = "Number of the sweep")),
    responses(
        (status = 202, body = SweepRow),
        (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody)))]
pub(crate) async fn cancel(
    State(app): State<Shared>,
    At(id): At<i64>,
) -> Result<(StatusCode, Json<SweepRow>), ApiError> {
    apart(move || {
        let sweep = found(&app, id)?;
        if app.workspace.cancel_queued_sweep(id)? {
            told_sweep(&app, id);
        } else if !app.cancel_sweep(id) {
            return Err(ApiError::conflict(format!(
                "the sweep is {}; only one that waits or runs here can be cancelled",
                sweep.state.word()
            )));
        }
        Ok((
            StatusCode::ACCEPTED,
            Json(SweepRow::from(&found(&app, id)?)),
        ))
    })
    .await
}
