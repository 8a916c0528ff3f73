//! Routes for trials: queue, list, show, change, cancel, remove.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenter::report::{
    Fact, Format, Tile, TrialReport, facts, read_manifest, read_summary, sections, tiles,
};
use tenter::{Budget, TrialOrderKey, TrialQuery, TrialState, WorkspaceTrial};
use tenter_results::Summary;
use utoipa::{IntoParams, ToSchema};

use crate::server::error::{ApiError, ErrorBody};
use crate::server::extract::{Asked, At, Body};
use crate::server::resolve::resolve;
use crate::server::section_body::SectionBody;
use crate::server::state::{App, ProgressBody, Shared, apart};
use crate::server::trial_body::{TrialRow, told_trial};

/// Which trials are listed.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    /// A text that name, note, fabric, collective, digest or a tag has.
    search: Option<String>,
    /// A tag that it has.
    tag: Option<String>,
    /// Its state.
    state: Option<String>,
    /// The column that the list is in the order of; `created` unless given.
    sort: Option<String>,
    /// `asc` or `desc`; `desc` unless given.
    order: Option<String>,
    /// How many are passed over.
    offset: Option<usize>,
    /// The most that are listed; 100 unless given.
    limit: Option<usize>,
}

/// Maximum number of trials in one answer.
const LIMIT_MAX: usize = 10_000;

/// Trials of the workspace.
#[derive(Serialize, ToSchema)]
pub(crate) struct TrialRows {
    /// How many fit.
    total: usize,
    /// Those that were asked for.
    rows: Vec<TrialRow>,
}

/// The trials that fit, in an order.
#[utoipa::path(get, path = "/trials", tag = "trials", params(ListQuery),
    responses((status = 200, body = TrialRows), (status = 400, body = ErrorBody)))]
pub(crate) async fn list(
    State(app): State<Shared>,
    Asked(asked): Asked<ListQuery>,
) -> Result<Json<TrialRows>, ApiError> {
    let query = query_of(asked)?;
    apart(move || {
        // Trials that `tenter run` has put into the folder appear without a restart.
        app.search()?;
        let found = app.workspace.trials(&query)?;
        Ok(Json(TrialRows {
            total: found.total,
            rows: found.trials.into_iter().map(TrialRow::from).collect(),
        }))
    })
    .await
}

fn query_of(asked: ListQuery) -> Result<TrialQuery, ApiError> {
    let state = asked.state.filter(|state| !state.is_empty());
    let state = state.map(|state| {
        TrialState::of_word(&state).ok_or_else(|| {
            let words: Vec<&str> = TrialState::ALL.iter().map(|state| state.word()).collect();
            ApiError::bad(format!(
                "there is no such state; states are {}",
                words.join(", ")
            ))
        })
    });
    let sort = asked.sort.as_deref().unwrap_or("created");
    let order_by = TrialOrderKey::of_word(sort).ok_or_else(|| {
        let words: Vec<&str> = TrialOrderKey::ALL.iter().map(|key| key.word()).collect();
        ApiError::bad(format!(
            "there is no such order; orders are {}",
            words.join(", ")
        ))
    })?;
    Ok(TrialQuery {
        search: asked.search.unwrap_or_default(),
        tag: asked.tag.filter(|tag| !tag.is_empty()),
        state: state.transpose()?,
        order_by,
        descending: is_descending(asked.order.as_deref(), true)?,
        offset: asked.offset.unwrap_or(0),
        limit: Some(asked.limit.unwrap_or(100).min(LIMIT_MAX)),
    })
}

/// Parses `asc` or `desc`; returns true for `desc`.
pub(crate) fn is_descending(order: Option<&str>, unless_given: bool) -> Result<bool, ApiError> {
    match order {
        None | Some("") => Ok(unless_given),
        Some("asc") => Ok(false),
        Some("desc") => Ok(true),
        Some(_) => Err(ApiError::bad("the order is neither; write `asc` or `desc`")),
    }
}

/// A trial to be run.
#[derive(Deserialize, ToSchema)]
pub(crate) struct NewTrial {
    /// The scenario in YAML or JSON; it can name no files.
    text: String,
    /// What people call it; the name of the scenario unless given.
    name: Option<String>,
    /// Words to find it by.
    #[serde(default)]
    tags: Vec<String>,
}

/// Queues a trial.
#[utoipa::path(post, path = "/trials", tag = "trials", request_body = NewTrial,
    responses((status = 201, body = TrialRow), (status = 422, body = ErrorBody)))]
pub(crate) async fn queue(
    State(app): State<Shared>,
    Body(asked, _held): Body<NewTrial>,
) -> Result<(StatusCode, Json<TrialRow>), ApiError> {
    let turns = Arc::clone(&app);
    let work = move |budget: &Budget| {
        let plan = resolve(&asked.text, budget)?;
        plan.check_within(budget)?;
        // Refused now rather than when its turn comes, perhaps hours later.
        plan.check_memory(false)?;
        let named = asked.name.filter(|name| !name.trim().is_empty());
        let name = named.unwrap_or_else(|| match plan.name() {
            "" => "trial".to_owned(),
            name => name.to_owned(),
        });
        let id = app
            .workspace
            .queue(&name, &asked.text, &plan, &asked.tags)?;
        let row = TrialRow::from(app.workspace.trial(id)?);
        told_trial(&app, id);
        app.wake();
        Ok((StatusCode::CREATED, Json(row)))
    };
    turns.turns.take(None, work).await
}

/// A trial with all that its folder says at a glance.
#[derive(Serialize, ToSchema)]
pub(crate) struct TrialBody {
    #[serde(flatten)]
    row: TrialRow,
    /// What people have noted, in Markdown.
    note: String,
    /// `summary.json`; missing before the trial has ended.
    #[schema(value_type = Option<crate::server::summary_schema::SummaryBody>)]
    summary: Option<Value>,
    /// The summary as `tenter run` prints it.
    summary_text: Option<String>,
    /// The numbers that are read first.
    tiles: Vec<TileBody>,
    /// The answers as `tenter run` prints them, in cells.
    sections: Vec<SectionBody>,
    /// What is printed of the whole trial.
    facts: Vec<FactBody>,
    /// The tables of the summary as comma-separated values.
    summary_csv: Option<String>,
    /// `manifest.json`: program, machine, time.
    manifest: Option<Value>,
    /// How far it is, while it runs.
    progress: Option<ProgressBody>,
    /// How far it was when its process ended, where that did not end the trial itself.
    #[schema(value_type = Option<ProgressBody>)]
    partial: Option<Value>,
}

/// One number with its name.
#[derive(Serialize, ToSchema)]
pub(crate) struct TileBody {
    label: &'static str,
    /// The number with its unit.
    value: String,
    /// What it is of, or what belongs to it.
    note: String,
}

/// A number of the whole trial in a sentence.
#[derive(Serialize, ToSchema)]
pub(crate) struct FactBody {
    label: &'static str,
    text: String,
}

impl From<Tile> for TileBody {
    fn from(Tile { label, value, note }: Tile) -> TileBody {
        TileBody { label, value, note }
    }
}

impl From<Fact> for FactBody {
    fn from(Fact { label, text }: Fact) -> FactBody {
        FactBody { label, text }
    }
}

/// Converts what `of` makes from a summary, item by item; empty without a summary.
fn told<T, U: From<T>>(summary: Option<&Summary>, of: impl Fn(&Summary) -> Vec<T>) -> Vec<U> {
    let items = summary.map(of).unwrap_or_default();
    items.into_iter().map(U::from).collect()
}

/// One trial.
#[utoipa::path(get, path = "/trials/{id}", tag = "trials",
    params(
        ("id" = i64, Path, description = "Number of the trial")),
    responses((status = 200, body = TrialBody), (status = 404, body = ErrorBody)))]
pub(crate) async fn show(
    State(app): State<Shared>,
    At(id): At<i64>,
) -> Result<Json<TrialBody>, ApiError> {
    apart(move || Ok(Json(body(&app, id)?))).await
}

/// Returns the trial with number `id`, or a 404.
pub(crate) fn found(app: &App, id: i64) -> Result<WorkspaceTrial, ApiError> {
    app.workspace.trial(id).map_err(|error| match error {
        tenter::Error::Asked(message) if message.starts_with("there is no trial") => {
            ApiError::missing("there is no such trial; /api/v1/trials lists them")
        }
        other => other.into(),
    })
}

fn body(app: &App, id: i64) -> Result<TrialBody, ApiError> {
    let trial = found(app, id)?;
    let folder = trial.folder.clone();
    let summary = folder
        .as_deref()
        .and_then(|folder| read_summary(folder).ok());
    // A trial of a sweep may have no folder; the ledger then has its summary.
    let summary = match summary {
        None => app.workspace.swept_summary(id)?,
        some => some,
    };
    let manifest = folder
        .as_deref()
        .and_then(|folder| read_manifest(folder).ok());
    let text = |format| {
        summary.as_ref().map(|summary| {
            let report = TrialReport {
                summary,
                fabric: &trial.headline.fabric,
                folder: folder.as_deref(),
                ideal: false,
            };
            report.render(format)
        })
    };
    let progress = app.run_of(id).and_then(|run| {
        let kept = run.progress.lock().unwrap_or_else(PoisonError::into_inner);
        kept.clone()
    });
    let last = match (trial.state, &summary) {
        (TrialState::Interrupted, None) => app.workspace.last_progress(id)?,
        _ => None,
    };
    Ok(TrialBody {
        note: app.workspace.note(id)?,
        tiles: told(summary.as_ref(), tiles),
        sections: told(summary.as_ref(), sections),
        facts: told(summary.as_ref(), facts),
        summary_text: text(Format::Table),
        summary_csv: text(Format::Csv),
        summary: summary
            .as_ref()
            .and_then(|summary| serde_json::to_value(summary).ok()),
        manifest: manifest.and_then(|manifest| serde_json::to_value(manifest).ok()),
        progress,
        partial: last.and_then(|text| serde_json::from_str(&text).ok()),
        row: trial.into(),
    })
}

/// What is changed of a trial; what is left out stays.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TrialChange {
    /// What people call it.
    name: Option<String>,
    /// All of its tags.
    tags: Option<Vec<String>>,
    /// Its note in Markdown.
    note: Option<String>,
}

/// Renames, tags or annotates a trial.
#[utoipa::path(patch, path = "/trials/{id}", tag = "trials", request_body = TrialChange,
    params(("id" = i64, Path, description = "Number of the trial")),
    responses(
        (status = 200, body = TrialRow),
        (status = 404, body = ErrorBody),
        (status = 422, body = ErrorBody)))]
pub(crate) async fn change(
    State(app): State<Shared>,
    At(id): At<i64>,
    Body(asked, _held): Body<TrialChange>,
) -> Result<Json<TrialRow>, ApiError> {
    apart(move || {
        found(&app, id)?;
        if let Some(name) = &asked.name {
            app.workspace.rename(id, name)?;
        }
        if let Some(tags) = &asked.tags {
            app.workspace.set_tags(id, tags)?;
        }
        if let Some(note) = &asked.note {
            app.workspace.set_note(id, note)?;
        }
        told_trial(&app, id);
        Ok(Json(found(&app, id)?.into()))
    })
    .await
}

/// Removes a trial with its folder.
#[utoipa::path(delete, path = "/trials/{id}", tag = "trials",
    params(
        ("id" = i64, Path, description = "Number of the trial")),
    responses(
        (status = 204),
        (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody)))]
pub(crate) async fn remove(
    State(app): State<Shared>,
    At(id): At<i64>,
) -> Result<StatusCode, ApiError> {
    apart(move || {
        if found(&app, id)?.state == TrialState::Running {
            return Err(ApiError::conflict(
                "the trial is running; cancel it before it is removed",
            ));
        }
        app.workspace.remove(id)?;
        told_trial(&app, id);
        Ok(StatusCode::NO_CONTENT)
    })
    .await
}

/// Cancels a trial that waits or runs; what it has until then is kept.
#[utoipa::path(post, path = "/trials/{id}/cancel", tag = "trials",
    params(
        ("id" = i64, Path, description = "Number of the trial")),
    responses(
        (status = 202, body = TrialRow),
        (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody)))]
pub(crate) async fn cancel(
    State(app): State<Shared>,
    At(id): At<i64>,
) -> Result<(StatusCode, Json<TrialRow>), ApiError> {
    apart(move || {
        let trial = found(&app, id)?;
        if app.workspace.cancel_queued(id)? {
            told_trial(&app, id);
        } else if let Some(run) = app.run_of(id) {
            run.is_cancelled.store(true, Ordering::Relaxed);
        } else {
            return Err(ApiError::conflict(format!(
                "the trial is {}; only one that waits or runs here can be cancelled",
                trial.state.word()
            )));
        }
        Ok((StatusCode::ACCEPTED, Json(found(&app, id)?.into())))
    })
    .await
}

/// A tag and how many trials have it.
#[derive(Serialize, ToSchema)]
pub(crate) struct TagBody {
    tag: String,
    trials: u64,
}

/// The tags of all trials.
#[utoipa::path(get, path = "/tags", tag = "trials",
    responses(
        (status = 200, body = Vec<TagBody>)))]
pub(crate) async fn tags(State(app): State<Shared>) -> Result<Json<Vec<TagBody>>, ApiError> {
    apart(move || {
        let tags = app.workspace.tags()?.into_iter();
        Ok(Json(
            tags.map(|(tag, trials)| TagBody { tag, trials }).collect(),
        ))
    })
    .await
}

/// The scenario of a trial as it was written.
#[utoipa::path(get, path = "/trials/{id}/config", tag = "trials",
    params(
        ("id" = i64, Path, description = "Number of the trial")),
    responses(
        (status = 200, content_type = "text/yaml", body = String),
        (status = 404, body = ErrorBody)))]
pub(crate) async fn config(
    State(app): State<Shared>,
    At(id): At<i64>,
) -> Result<Response, ApiError> {
    apart(move || {
        found(&app, id)?;
        let text = app.workspace.scenario(id)?;
        Ok(([(CONTENT_TYPE, "text/yaml; charset=utf-8")], text).into_response())
    })
    .await
}
