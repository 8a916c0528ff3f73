//! Downloads of a trial's files.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use axum::extract::State;
use axum::http::header::{
    CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
};
use axum::response::{IntoResponse, Response};
use tenter::Budget;
use tenter::report::{OWN_FILE_REMEDY, TRACE_FILE, has_own, open_own, write_trace};

use super::held_up::whole_trial;
use super::tables::folder_of;
use super::trials::found;
use crate::server::error::{ApiError, ErrorBody};
use crate::server::extract::At;
use crate::server::named_trial::NamedTrial;
use crate::server::parts::in_parts;
use crate::server::state::{Shared, apart};
use crate::server::stored::named;

/// Content security policy for a downloaded report, on top of its own policy, which names its
/// script and style sheet by digest. The sandbox keeps a report from reaching this server.
const REPORT_POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; \
    style-src 'unsafe-inline'; img-src data:; sandbox allow-scripts allow-downloads";

/// A table of a trial as a Parquet file.
#[utoipa::path(get, path = "/trials/{id}/files/{file}", tag = "downloads",
    params(
        ("id" = i64, Path, description = "Number of the trial"),
        ("file" = String, Path, description = "Name of the table and `.parquet`")),
    responses(
        (status = 200, content_type = "application/vnd.apache.parquet", body = String),
        (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody)))]
pub(crate) async fn parquet(
    State(app): State<Shared>,
    At((id, file)): At<(i64, String)>,
) -> Result<Response, ApiError> {
    apart(move || {
        let table = file.strip_suffix(".parquet").unwrap_or_default();
        let table = named(table)?;
        let folder = folder_of(&app, id)?;
        let Some(path) = table.file(&folder) else {
            return Err(ApiError::missing(format!(
                "the table `{}` has no file of its own; `summary.json` of the trial has its rows",
                table.name
            )));
        };
        let name = format!("{}.parquet", table.name);
        sent(&path, &name, "application/vnd.apache.parquet")
    })
    .await
}

/// The trace of a trial, which ui.perfetto.dev opens.
#[utoipa::path(get, path = "/trials/{id}/trace.json", tag = "downloads",
    params(
        ("id" = i64, Path, description = "Number of the trial")),
    responses(
        (status = 200, content_type = "application/json", body = serde_json::Value),
        (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody),
        (status = 422, body = ErrorBody)))]
pub(crate) async fn trace(
    State(app): State<Shared>,
    At(id): At<i64>,
) -> Result<Response, ApiError> {
    let shared = Arc::clone(&app);
    let work = move |budget: &Budget| {
        let folder = folder_of(&app, id)?;
        let path = folder.join(TRACE_FILE);
        {
            // A second request for the same trace waits here, and then finds the file of the first.
            let _one = app.traces.lock();
            if !has_own(&path) {
                write_trace(&*whole_trial(&app, &folder, budget)?, &folder)?;
            }
        }
        sent(&path, &format!("trial-{id}-trace.json"), "application/json")
    };
    shared.whole_trials.take(None, work).await
}

/// The report of a trial: one HTML file that needs nothing else.
#[utoipa::path(get, path = "/trials/{id}/report.html", tag = "downloads",
    params(
        ("id" = i64, Path, description = "Number of the trial")),
    responses(
        (status = 200, content_type = "text/html", body = String),
        (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody),
        (status = 422, body = ErrorBody)))]
pub(crate) async fn report(
    State(app): State<Shared>,
    At(id): At<i64>,
) -> Result<Response, ApiError> {
    let shared = Arc::clone(&app);
    let work = move |budget: &Budget| {
        let folder = folder_of(&app, id)?;
        // A trial that was just read has no other owner, and is not copied.
        let data = Arc::unwrap_or_clone(whole_trial(&app, &folder, budget)?);
        let name = found(&app, id)?.name;
        let report_of = app
            .report_of
            .ok_or_else(|| ApiError::internal("no reports are written"))?;
        let page = report_of(vec![NamedTrial { name, data }])?;
        let headers = [
            (CONTENT_TYPE, "text/html; charset=utf-8".to_owned()),
            (CONTENT_SECURITY_POLICY, REPORT_POLICY.to_owned()),
            (
                CONTENT_DISPOSITION,
                format!("inline; filename=\"trial-{id}.html\""),
            ),
        ];
        Ok((headers, page).into_response())
    };
    shared.whole_trials.take(None, work).await
}

/// Bytes that are read from a file at a time.
const PART: usize = 256 << 10;

/// Sends a file in parts with [`PART`] bytes, as the client takes them.
fn sent(path: &Path, name: &str, kind: &str) -> Result<Response, ApiError> {
    let refused = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => {
            ApiError::missing("the trial has no such file; its tables are listed")
        }
        _ => ApiError::conflict(format!("{name}: {error}; {OWN_FILE_REMEDY}")),
    };
    let mut file = open_own(path).map_err(refused)?;
    let length = file.metadata().map_err(refused)?.len();
    let part = move || {
        let mut part = vec![0; PART];
        let read = file.read(&mut part)?;
        part.truncate(read);
        // An empty read is the end of the file.
        Ok((read > 0).then_some(part))
    };
    let headers = [
        (CONTENT_TYPE, kind.to_owned()),
        (CONTENT_LENGTH, length.to_string()),
        (
            CONTENT_DISPOSITION,
            format!("attachment; filename=\"{name}\""),
        ),
    ];
    Ok((headers, in_parts(part, None)).into_response())
}
