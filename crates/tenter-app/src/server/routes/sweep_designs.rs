//! Designs of sweeps, by which lists name the places of trials.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::sweeps::{SweepAxisBody, axis, record_of};
use crate::server::error::ApiError;
use crate::server::state::{Shared, apart};

/// Variants, axes and readings of a sweep.
#[derive(Serialize, ToSchema)]
pub(crate) struct SweepDesign {
    /// Number of the sweep.
    id: i64,
    name: String,
    /// Names of the variants; a single one may be empty.
    variants: Vec<String>,
    axes: Vec<SweepAxisBody>,
    /// Points of the design: a value for each axis.
    points: Vec<Vec<String>>,
    readings: Vec<SweepDesignReading>,
}

/// A quantity read of each trial.
#[derive(Serialize, ToSchema)]
pub(crate) struct SweepDesignReading {
    name: String,
    /// Unit of the values; empty for counts and ratios.
    unit: String,
}

/// The designs of all sweeps, by which the places of trials are named.
#[utoipa::path(get, path = "/sweep-designs", operation_id = "sweep_designs", tag = "sweeps",
    responses((status = 200, body = Vec<SweepDesign>)))]
pub(crate) async fn designs(State(app): State<Shared>) -> Result<Json<Vec<SweepDesign>>, ApiError> {
    apart(move || {
        let sweeps = app.workspace.sweeps()?.into_iter();
        let designs = sweeps.map(|sweep| {
            let record = record_of(&sweep, &[]);
            let readings = record.readings.iter().map(|reading| SweepDesignReading {
                name: reading.name.clone(),
                unit: reading.unit.clone(),
            });
            SweepDesign {
                id: sweep.id,
                readings: readings.collect(),
                axes: (0..record.axes.len()).map(|at| axis(&record, at)).collect(),
                name: sweep.name,
                variants: record.variants,
                points: record.points,
            }
        });
        Ok(Json(designs.collect()))
    })
    .await
}
