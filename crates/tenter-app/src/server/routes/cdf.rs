//! Distributions of flow completion times and latencies, job by job.

use std::path::Path;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use tenter::report::TrialTable;
use tenter_results::nearest_rank;
use utoipa::{IntoParams, ToSchema};

use super::tables::folder_of;
use crate::server::distribution::points;
use crate::server::error::{ApiError, ErrorBody};
use crate::server::extract::{Asked, At};
use crate::server::state::{App, Shared, apart};
use crate::server::stored::named;

/// Of which flows, and what of them.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct CdfQuery {
    /// Index of the job; all unless given.
    job: Option<u32>,
    /// Index of the collective in the job's run order; all unless given.
    collective: Option<u32>,
    /// `fct` (flow completion time, the default) or `latency` (the mean over the frames of a flow).
    of: Option<String>,
}

/// Distributions, one for each job.
#[derive(Serialize, ToSchema)]
pub(crate) struct CdfBody {
    /// `fct` or `latency`.
    of: String,
    /// Unit of the values.
    unit: &'static str,
    jobs: Vec<JobCdf>,
}

/// The distribution of one job.
#[derive(Clone, Serialize, ToSchema)]
pub(crate) struct JobCdf {
    job: u32,
    name: String,
    /// Flows.
    count: usize,
    p50: Option<f64>,
    p95: Option<f64>,
    p99: Option<f64>,
    p999: Option<f64>,
    max: Option<f64>,
    /// A value, and the share of the flows that took no longer; the last thousandth is whole.
    #[schema(value_type = Vec<Vec<f64>>)]
    points: Vec<(f64, f64)>,
}

/// Computes the distributions in `column` from a trial's flows, one for each job that has any;
/// `job` and `collective` restrict the flows.
pub(crate) fn distributions(
    app: &App,
    folder: &Path,
    job: Option<u32>,
    collective: Option<u32>,
    column: &str,
) -> Result<Vec<JobCdf>, ApiError> {
    let table = flows()?;
    let names = ["job", "collective_index", column];
    let [jobs, collectives, values] = app.cache.columns(folder, &table, names)?;
    let names = job_names(app, folder)?;
    let mut of_jobs: Vec<Vec<f64>> = vec![Vec::new(); names.len()];
    for ((of_job, of_collective), value) in jobs.iter().zip(&*collectives).zip(&*values) {
        let of_job = *of_job as u32;
        let is_meant = job.is_none_or(|job| job == of_job)
            && collective.is_none_or(|collective| collective == *of_collective as u32);
        if is_meant
            // A flow that did not end has no completion time (NaN).
            && value.is_finite()
            && let Some(values) = of_jobs.get_mut(of_job as usize)
        {
            values.push(*value);
        }
    }
    let body = |(number, (name, mut values)): (usize, (String, Vec<f64>))| {
        values.sort_unstable_by(f64::total_cmp);
        JobCdf {
            job: number as u32,
            name,
            count: values.len(),
            p50: nearest_rank(&values, 500),
            p95: nearest_rank(&values, 950),
            p99: nearest_rank(&values, 990),
            p999: nearest_rank(&values, 999),
            max: values.last().copied(),
            points: points(&values),
        }
    };
    let all = names.into_iter().zip(of_jobs).enumerate();
    Ok(all.map(body).filter(|cdf| cdf.count > 0).collect())
}

pub(crate) fn flows() -> Result<TrialTable, ApiError> {
    named("flows")
}

/// Returns a trial's job names, by job index.
pub(crate) fn job_names(app: &App, folder: &Path) -> Result<Vec<String>, ApiError> {
    if let Ok(summary) = tenter::report::read_summary(folder) {
        return Ok(summary.jobs.into_iter().map(|job| job.job.name).collect());
    }
    // An interrupted trial has no summary: jobs are then numbered as far as its flows name them.
    let jobs = app.cache.column(folder, &flows()?, "job")?;
    let count = jobs.iter().fold(0.0, |most: f64, job| most.max(job + 1.0));
    Ok((0..count as u32).map(|job| format!("job {job}")).collect())
}

/// Distributions of the flows of a trial, job by job.
#[utoipa::path(get, path = "/trials/{id}/cdf", tag = "statistics",
    params(("id" = i64, Path, description = "Number of the trial"), CdfQuery),
    responses(
        (status = 200, body = CdfBody),
        (status = 400, body = ErrorBody),
        (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody)))]
pub(crate) async fn cdf(
    State(app): State<Shared>,
    At(id): At<i64>,
    Asked(asked): Asked<CdfQuery>,
) -> Result<Json<CdfBody>, ApiError> {
    apart(move || {
        let of = asked.of.unwrap_or_else(|| "fct".to_owned());
        let column = match of.as_str() {
            "fct" => "fct_ns",
            "latency" => "latency_avg_ns",
            _ => {
                return Err(ApiError::bad(
                    "there is no such distribution; ask `of=fct` or `of=latency`",
                ));
            }
        };
        let folder = folder_of(&app, id)?;
        let jobs = distributions(&app, &folder, asked.job, asked.collective, column)?;
        Ok(Json(CdfBody {
            of,
            unit: "ns",
            jobs,
        }))
    })
    .await
}
