//! A trial's fabric with the load on its links.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use tenter::{Budget, NodeId, Plan, Scenario};
use tenter_results::PortRow;
use utoipa::{IntoParams, ToSchema};

use super::fabric::{FabricBody, fabric_of};
use super::ports::{Metric, Samples, ports_of};
use super::tables::folder_of;
use crate::server::error::{ApiError, ErrorBody};
use crate::server::extract::{Asked, At};
use crate::server::state::{App, Shared};

/// When.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct FabricQuery {
    /// A time in nanoseconds; the whole trial unless given.
    time: Option<f64>,
}

/// A fabric and the load of its links.
#[derive(Serialize, ToSchema)]
pub(crate) struct LoadedFabricBody {
    #[serde(flatten)]
    fabric: FabricBody,
    /// The sampling instants; at most 1,000 of them.
    times_ns: Vec<f64>,
    /// The instant that the loads are of; missing where they are of the whole trial.
    time_ns: Option<f64>,
    loads: Vec<LoadBody>,
    /// The hosts of each job.
    jobs: Vec<JobHosts>,
}

/// The load of a link in one direction.
#[derive(Serialize, ToSchema)]
pub(crate) struct LoadBody {
    /// Place in `links`.
    pub(super) link: u32,
    /// 0 from its first end, 1 from its other end.
    pub(super) direction: u32,
    /// Share of what the link carries.
    pub(super) utilisation: f64,
    /// Frame bytes; at an instant those since the one before.
    pub(super) tx_bytes: f64,
    /// Bytes that wait at the instant; of the whole trial the most at any time.
    pub(super) queue_bytes: f64,
    /// Whether any class is paused at the instant; of the whole trial: ever.
    pub(super) paused: bool,
    /// How long it was stopped, summed over classes; of the whole trial only.
    pub(super) paused_ns: Option<f64>,
    /// Frames marked with congestion experienced; of the whole trial only.
    pub(super) marked_frames: Option<u64>,
    /// Pause frames received that stopped a class; of the whole trial only.
    pub(super) rx_xoff_frames: Option<u64>,
    /// Frames dropped at the port; of the whole trial only.
    pub(super) dropped_frames: Option<u64>,
}

/// A job and where its ranks are.
#[derive(Serialize, ToSchema)]
pub(crate) struct JobHosts {
    name: String,
    /// The host of each rank.
    hosts: Vec<usize>,
}

/// The fabric of a trial with the load of its links.
#[utoipa::path(get, path = "/trials/{id}/fabric", operation_id = "trial_fabric", tag = "statistics",
    params(("id" = i64, Path, description = "Number of the trial"), FabricQuery),
    responses(
        (status = 200, body = LoadedFabricBody),
        (status = 400, body = ErrorBody),
        (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody),
        (status = 422, body = ErrorBody)))]
pub(crate) async fn fabric(
    State(app): State<Shared>,
    At(id): At<i64>,
    Asked(asked): Asked<FabricQuery>,
) -> Result<Json<LoadedFabricBody>, ApiError> {
    let shared = Arc::clone(&app);
    let work = move |budget: &Budget| {
        let folder = folder_of(&app, id)?;
        // The folder has no graph: it follows from the configuration.
        let plan = Scenario::of_trial(&folder)?.resolve_within(budget)?;
        Ok(Json(loaded(&app, &folder, &plan, asked.time)?))
    };
    shared.turns.take(None, work).await
}

/// Maximum number of sampling instants in the answer.
const INSTANTS: usize = 1_000;

fn loaded(
    app: &App,
    folder: &Path,
    plan: &Plan,
    time: Option<f64>,
) -> Result<LoadedFabricBody, ApiError> {
    let samples = Samples::read(app, folder, Metric::QueueBytes);
    let instants = samples
        .as_ref()
        .map_or(&[][..], |samples| &samples.instants);
    let step = instants.len().div_ceil(INSTANTS).max(1);
    let times_ns: Vec<f64> = instants.iter().copied().step_by(step).collect();
    let at = time.and_then(|time| {
        let after = instants.partition_point(|instant| *instant < time);
        instants.get(after).or(instants.last()).copied()
    });
    let loads = match at {
        Some(at) => at_instant(app, folder, plan, at)?,
        None => of_trial(&ports_of(app, folder), plan),
    };
    let jobs = plan.resolved().jobs.iter().map(|job| JobHosts {
        name: job.name.clone(),
        hosts: job.hosts.iter().map(|host| host.index()).collect(),
    });
    Ok(LoadedFabricBody {
        fabric: fabric_of(plan),
        times_ns,
        time_ns: at,
        loads,
        jobs: jobs.collect(),
    })
}

/// Returns the link that leaves a port, and its direction. `None` if the plan's fabric lacks the
/// port, as when another Tenter version wrote the trial.
pub(super) fn link_of(plan: &Plan, node: u32, port: u16) -> Option<(u32, u32)> {
    let topology = &plan.resolved().topology;
    let known = topology.nodes.get(node as usize)?;
    if usize::from(port) >= known.ports.len() {
        return None;
    }
    // Links are directed: 2k and 2k + 1 are the two directions of cable k.
    let link = topology.link_id(NodeId::new(node), port);
    Some((link / 2, link % 2))
}

fn of_trial(rows: &[PortRow], plan: &Plan) -> Vec<LoadBody> {
    let load = |row: &PortRow| {
        let (link, direction) = link_of(plan, row.node, row.port)?;
        // A value that the trial folder lacks is shown as missing rather than as 0.
        let read = |column: &str| !row.unread.lacks(column);
        Some(LoadBody {
            link,
            direction,
            utilisation: row.utilisation,
            tx_bytes: row.tx_bytes as f64,
            queue_bytes: row.queue_high_water_bytes as f64,
            paused: !row.paused.is_zero(),
            paused_ns: read("paused_ns").then(|| row.paused.as_ns()),
            marked_frames: read("marked_frames").then_some(row.marked_frames),
            rx_xoff_frames: read("rx_xoff_frames").then_some(row.rx_xoff_frames),
            dropped_frames: read("dropped_frames").then_some(row.dropped_frames),
        })
    };
    rows.iter().filter_map(load).collect()
}

fn at_instant(app: &App, folder: &Path, plan: &Plan, at: f64) -> Result<Vec<LoadBody>, ApiError> {
    let mut loads: HashMap<(u32, u16), LoadBody> = HashMap::new();
    let metrics = [
        Metric::QueueBytes,
        Metric::Utilisation,
        Metric::TxGbps,
        Metric::PausedClasses,
    ];
    for metric in metrics {
        let samples = Samples::read(app, folder, metric)?;
        let first = samples.times.partition_point(|time| *time < at);
        let last = samples.times.partition_point(|time| *time <= at);
        let place = samples.instants.partition_point(|instant| *instant < at);
        let before = place
            .checked_sub(1)
            .map_or(0.0, |place| samples.instants[place]);
        for row in first..last {
            let port = samples.port(row);
            let Some((link, direction)) = link_of(plan, port.0, port.1) else {
                continue;
            };
            let load = loads.entry(port).or_insert(LoadBody {
                link,
                direction,
                utilisation: 0.0,
                tx_bytes: 0.0,
                queue_bytes: 0.0,
                paused: false,
                paused_ns: None,
                marked_frames: None,
                rx_xoff_frames: None,
                dropped_frames: None,
            });
            let value = samples.value(row);
            match metric {
                Metric::Utilisation => load.utilisation = value,
                Metric::TxGbps => load.tx_bytes = (value * (at - before) / 8.0).round(),
                Metric::PausedClasses => load.paused = value > 0.0,
                _ => load.queue_bytes = value,
            }
        }
    }
    // The map has no order; answers must repeat.
    let mut loads: Vec<LoadBody> = loads.into_values().collect();
    loads.sort_by_key(|load| (load.link, load.direction));
    Ok(loads)
}
