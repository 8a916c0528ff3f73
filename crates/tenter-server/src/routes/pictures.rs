//! The pictures of a trial that reports have and tables do not give.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use tenter::Budget;
use tenter_report::PictureGroup;
use utoipa::{IntoParams, ToSchema};

use super::held_up::whole_trial;
use super::tables::folder_of;
use crate::error::{ApiError, ErrorBody};
use crate::extract::{Asked, At};
use crate::picture_body::PictureBody;
use crate::state::Shared;

/// Pictures of one kind.
#[derive(Serialize, ToSchema)]
pub(crate) struct PictureGroupBody {
    /// The kind: `operations`, `links` or `circuits`.
    name: &'static str,
    /// The heading of the pictures in a report.
    title: &'static str,
    pictures: Vec<PictureBody>,
}

impl From<&PictureGroup> for PictureGroupBody {
    fn from(group: &PictureGroup) -> PictureGroupBody {
        PictureGroupBody {
            name: group.name,
            title: group.title,
            pictures: group.pictures.iter().map(PictureBody::from).collect(),
        }
    }
}

/// Which pictures.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PicturesQuery {
    /// `operations`, `links` or `circuits`; all of them without it.
    group: Option<String>,
}

/// The pictures of a trial beside those that its other routes give, as its report has them.
#[utoipa::path(get, path = "/trials/{id}/pictures", tag = "statistics",
    params(
        ("id" = i64, Path, description = "Number of the trial"),
        PicturesQuery),
    responses(
        (status = 200, body = Vec<PictureGroupBody>),
        (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody),
        (status = 422, body = ErrorBody)))]
pub(crate) async fn pictures(
    State(app): State<Shared>,
    At(id): At<i64>,
    Asked(asked): Asked<PicturesQuery>,
) -> Result<Json<Vec<PictureGroupBody>>, ApiError> {
    let shared = Arc::clone(&app);
    let work = move |budget: &Budget| {
        let folder = folder_of(&app, id)?;
        let trial = whole_trial(&folder, budget)?;
        let groups = tenter_report::pictures(&trial, asked.group.as_deref());
        Ok(Json(groups.iter().map(PictureGroupBody::from).collect()))
    };
    shared.whole_trials.take(None, work).await
}
