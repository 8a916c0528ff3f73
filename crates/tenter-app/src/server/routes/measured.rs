//! Trials beside measurement files.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use tenter::report::{
    Beside, Measured, NamedSummary, collective_of_program, measured_group, read_summary,
};
use utoipa::ToSchema;

use super::compare::{checked, names_apart};
use super::pictures::PictureGroupBody;
use super::tables::folder_of;
use crate::server::error::{ApiError, ErrorBody};
use crate::server::extract::Body;
use crate::server::state::{Shared, apart};

/// Trials and the files that they are put beside.
#[derive(Deserialize, ToSchema)]
pub(crate) struct MeasuredQuery {
    /// Numbers of trials.
    ids: Vec<i64>,
    files: Vec<MeasuredFile>,
    /// The collective of files that do not name theirs, or the program of nccl-tests that wrote
    /// them.
    collective: Option<String>,
}

/// A file of measurements.
#[derive(Deserialize, ToSchema)]
pub(crate) struct MeasuredFile {
    name: String,
    text: String,
}

/// Trials beside files of measurements, size by size.
#[derive(Serialize, ToSchema)]
pub(crate) struct MeasuredBody {
    /// A picture and a table for each file and operation.
    group: PictureGroupBody,
    /// What raises doubts about the comparison, a sentence each.
    doubts: Vec<String>,
}

impl From<&Beside> for MeasuredBody {
    fn from(beside: &Beside) -> MeasuredBody {
        MeasuredBody {
            group: PictureGroupBody::from(&measured_group(beside)),
            doubts: beside.doubts.clone(),
        }
    }
}

/// Puts trials beside files of measurements.
#[utoipa::path(post, path = "/compare/measured", tag = "statistics",
    request_body = MeasuredQuery,
    responses(
        (status = 200, body = MeasuredBody),
        (status = 400, body = ErrorBody),
        (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody),
        (status = 422, body = ErrorBody)))]
pub(crate) async fn measured(
    State(app): State<Shared>,
    Body(asked, _held): Body<MeasuredQuery>,
) -> Result<Json<MeasuredBody>, ApiError> {
    apart(move || {
        let ids = checked(&app, asked.ids)?;
        let mut trials = Vec::new();
        for (id, name) in ids.iter().zip(names_apart(&app, &ids)?) {
            let summary = read_summary(&folder_of(&app, *id)?)?;
            trials.push(NamedSummary { name, summary });
        }
        let refused =
            |why: String| ApiError::new(axum::http::StatusCode::UNPROCESSABLE_ENTITY, why);
        let mut files = Vec::new();
        for MeasuredFile { name, text } in &asked.files {
            let read = Measured::parse(name, text);
            files.extend(read.map_err(|error| refused(format!("{name}: {error}")))?);
        }
        let collective = asked.collective.as_deref();
        let collective = collective.map(|name| collective_of_program(name).unwrap_or(name));
        let beside = Beside::of(&trials, &files, collective).map_err(refused)?;
        if beside.rows.is_empty() {
            return Err(refused(
                "no size is both in a trial and in a file".to_owned(),
            ));
        }
        Ok(Json(MeasuredBody::from(&beside)))
    })
    .await
}
