//! Pictures that a page cannot draw from a trial's tables alone.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use tenter::Budget;
use tenter::report::{PictureGroup, TrialData};
use utoipa::{IntoParams, ToSchema};

use super::compare::{CompareQuery, names_apart};
use super::held_up::whole_trial;
use super::tables::folder_of;
use crate::server::error::{ApiError, ErrorBody};
use crate::server::extract::{Asked, At};
use crate::server::picture_body::PictureBody;
use crate::server::section_body::SectionBody;
use crate::server::state::Shared;

/// Pictures of one kind.
#[derive(Serialize, ToSchema)]
pub(crate) struct PictureGroupBody {
    /// The kind, for instance `operations`.
    name: &'static str,
    /// The heading of the pictures.
    title: &'static str,
    pictures: Vec<PictureBody>,
    /// Answers that stand below them.
    sections: Vec<SectionBody>,
}

impl From<&PictureGroup> for PictureGroupBody {
    fn from(group: &PictureGroup) -> PictureGroupBody {
        PictureGroupBody {
            name: group.name,
            title: group.title,
            pictures: group.pictures.iter().map(PictureBody::from).collect(),
            sections: group
                .sections
                .iter()
                .cloned()
                .map(SectionBody::from)
                .collect(),
        }
    }
}

/// Which pictures.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PicturesQuery {
    /// `operations`, `links`, `circuits`, `fct`, `jobs` or `time`; all of them without it.
    group: Option<String>,
}

/// The pictures of a trial beside those that its other routes give.
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
        let trial = whole_trial(&app, &folder, budget)?;
        let groups = tenter::report::pictures(&trial, asked.group.as_deref());
        Ok(Json(groups.iter().map(PictureGroupBody::from).collect()))
    };
    shared.whole_trials.take(None, work).await
}

/// The pictures of several trials on the same axes.
#[utoipa::path(get, path = "/compare/pictures", tag = "statistics", params(CompareQuery),
    responses(
        (status = 200, body = Vec<PictureGroupBody>),
        (status = 400, body = ErrorBody),
        (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody),
        (status = 422, body = ErrorBody)))]
pub(crate) async fn together(
    State(app): State<Shared>,
    Asked(asked): Asked<CompareQuery>,
) -> Result<Json<Vec<PictureGroupBody>>, ApiError> {
    let ids = asked.ids(&app)?;
    let shared = Arc::clone(&app);
    let work = move |budget: &Budget| {
        let names = names_apart(&app, &ids)?;
        let mut trials = Vec::new();
        for id in ids {
            trials.push(whole_trial(&app, &folder_of(&app, id)?, budget)?);
        }
        let trials: Vec<&TrialData> = trials.iter().map(|trial| &**trial).collect();
        let groups = tenter::report::pictures_together(&trials, &names);
        Ok(Json(groups.iter().map(PictureGroupBody::from).collect()))
    };
    shared.whole_trials.take(None, work).await
}
