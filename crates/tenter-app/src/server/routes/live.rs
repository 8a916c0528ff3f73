//! The last sampling interval of a running trial.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use tenter::{NodeId, Plan};
use tenter_results::SampleRow;
use utoipa::ToSchema;

use super::trial_fabric::{LoadBody, link_of};
use super::trials::found;
use crate::server::error::{ApiError, ErrorBody};
use crate::server::extract::At;
use crate::server::live::Seen;
use crate::server::state::{App, Shared, apart};

/// Maximum number of queues in the answer.
const QUEUES: usize = 32;

/// A trial that runs, in its last sampling interval.
#[derive(Serialize, ToSchema)]
pub(crate) struct LiveBody {
    /// Whether this server runs the trial; otherwise nothing follows, and its tables have its
    /// samples.
    is_running: bool,
    /// The sampling instant in nanoseconds; missing until there is one, and in trials without
    /// samples.
    time_ns: Option<f64>,
    /// Time since the instant before, which loads and queues are of, in nanoseconds.
    interval_ns: f64,
    /// Whether the trial is sampled at all.
    is_sampled: bool,
    /// Links that did anything, as in the fabric of the trial.
    loads: Vec<LoadBody>,
    /// The deepest queues, deepest first; at most 32.
    queues: Vec<LiveQueue>,
}

/// A queue of a trial that runs.
#[derive(Serialize, ToSchema)]
pub(crate) struct LiveQueue {
    /// The port, for instance `leaf0:3`.
    port: String,
    /// The node that it leads to.
    peer: String,
    /// Bytes that wait at the instant.
    queue_bytes: u64,
    /// The most bytes that waited since the instant before.
    queue_high_water_bytes: u64,
    /// Whether any class is paused.
    paused: bool,
}

/// The links and queues of a trial that this server runs, in its last sampling interval.
///
/// Samples are kept from the first question on, so that the first answer has none.
#[utoipa::path(get, path = "/trials/{id}/live", tag = "statistics",
    params(("id" = i64, Path, description = "Number of the trial")),
    responses(
        (status = 200, body = LiveBody),
        (status = 404, body = ErrorBody)))]
pub(crate) async fn live(
    State(app): State<Shared>,
    At(id): At<i64>,
) -> Result<Json<LiveBody>, ApiError> {
    apart(move || Ok(Json(now(&app, id)?))).await
}

fn now(app: &App, id: i64) -> Result<LiveBody, ApiError> {
    let nothing = |is_running| LiveBody {
        is_running,
        time_ns: None,
        interval_ns: 0.0,
        is_sampled: true,
        loads: Vec::new(),
        queues: Vec::new(),
    };
    let Some(running) = app.run_of(id) else {
        // The page is notified of the end a moment after it; until then it asks for a trial that
        // has just ended, which is no error.
        found(app, id)?;
        return Ok(nothing(false));
    };
    let seen = running.live.watch();
    // The trial was taken from the queue, but waits for memory or is being resolved.
    let Some(plan) = running.live.plan() else {
        return Ok(nothing(true));
    };
    Ok(LiveBody {
        is_running: true,
        time_ns: seen.time_ns,
        interval_ns: seen.interval_ns,
        is_sampled: plan.resolved().sample_interval.is_some(),
        loads: seen
            .rows
            .iter()
            .filter_map(|row| load(plan, &seen, row))
            .collect(),
        queues: queues(plan, seen.rows),
    })
}

fn load(plan: &Plan, seen: &Seen, row: &SampleRow) -> Option<LoadBody> {
    let (link, direction) = link_of(plan, row.node, row.port)?;
    let cable = plan.resolved().topology.cables.get(link as usize)?;
    // Bits per nanosecond are Gb/s, so `full` is the bytes that the cable carries in the interval.
    let full = cable.rate.bits_per_second() as f64 / 1e9 * seen.interval_ns / 8.0;
    Some(LoadBody {
        link,
        direction,
        // A frame counts in the interval in which it starts, and may reach into the next one.
        utilisation: (row.tx_bytes as f64 / full.max(1.0)).min(1.0),
        tx_bytes: row.tx_bytes as f64,
        queue_bytes: row.queue_high_water_bytes as f64,
        paused: row.paused_classes != 0,
        paused_ns: None,
        marked_frames: None,
        rx_xoff_frames: None,
        dropped_frames: None,
    })
}

fn queues(plan: &Plan, mut rows: Vec<SampleRow>) -> Vec<LiveQueue> {
    let topology = &plan.resolved().topology;
    rows.retain(|row| row.queue_high_water_bytes > 0);
    rows.sort_by_key(|row| (std::cmp::Reverse(row.queue_high_water_bytes), row.node));
    rows.truncate(QUEUES);
    let queue = |row: &SampleRow| {
        link_of(plan, row.node, row.port)?;
        let node = NodeId::new(row.node);
        Some(LiveQueue {
            port: topology.port_name(node, row.port),
            peer: topology
                .name(topology.neighbour(node, row.port).node)
                .to_owned(),
            queue_bytes: row.queue_bytes,
            queue_high_water_bytes: row.queue_high_water_bytes,
            paused: row.paused_classes != 0,
        })
    };
    rows.iter().filter_map(queue).collect()
}
