//! Sweeps of the workspace.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenter::{Budget, TrialState, WorkspaceSweep, sweep_of};
use tenter_report::{read_answers, read_sweep};
use tenter_study::{Measured, StudyAnswer, SweepRecord};
use utoipa::ToSchema;

use crate::error::{ApiError, ErrorBody};
use crate::extract::{At, Body};
use crate::state::{App, Shared, apart};
use crate::sweep_body::{SweepRow, told_sweep};

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
    readings: Vec<SweepReadingBody>,
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

/// What a sweep has left, or while it runs what there is of it.
fn results(sweep: &WorkspaceSweep, measured: &[Measured]) -> (SweepRecord, Option<StudyAnswer>) {
    let folder = sweep.folder.as_deref();
    // What lies there may be of an earlier run.
    let is_over = !matches!(sweep.state, TrialState::Queued | TrialState::Running);
    let folder = folder.filter(|_| is_over);
    if let Some(record) = folder.and_then(|folder| read_sweep(folder).ok().flatten()) {
        let answers = folder.and_then(|folder| read_answers(folder).ok().flatten());
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
    let axis = |(place, axis): (usize, &tenter_study::SweepAxis)| {
        let mut values: Vec<String> = Vec::new();
        for point in &record.points {
            if let Some(value) = point.get(place).filter(|value| !values.contains(value)) {
                values.push(value.clone());
            }
        }
        SweepAxisBody {
            path: axis.path.clone(),
            label: axis.name.clone(),
            values,
        }
    };
    let readings = record.readings.iter().map(|reading| SweepReadingBody {
        name: reading.name.clone(),
        unit: reading.unit.clone(),
        more_is_better: reading.more_is_better,
        statistic: reading.statistic.clone(),
    });
    let rows = record.trials.iter().map(|trial| SweepTrialBody {
        variant: record.variants[trial.variant].clone(),
        point: record.points[trial.point].clone(),
        seed: trial.seed.to_string(),
        values: trial.values.clone(),
        trial: ids.get(&(trial.variant, trial.point, trial.seed)).copied(),
    });
    let notes = record.noted();
    let notes = notes.iter().map(|note| note.line(record.variants.len()));
    Ok(SweepBody {
        notes: notes.collect(),
        row: sweep.into(),
        text: sweep.description.clone(),
        scenario: sweep.scenario.clone(),
        axes: record.axes.iter().enumerate().map(axis).collect(),
        readings: readings.collect(),
        rows: rows.collect(),
        answer: answer.and_then(|answer| serde_json::to_value(answer).ok()),
        variants: record.variants,
    })
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
