//! The chain of chunks that held each collective in a trial up.

use std::path::Path;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use tenter::Budget;
use tenter::report::{
    Cause, HeldUp, TrialData, available_memory_bytes, binary_size, report_memory_bytes,
};
use utoipa::ToSchema;

use super::tables::folder_of;
use crate::server::error::{ApiError, ErrorBody};
use crate::server::extract::At;
use crate::server::picture_body::PictureBody;
use crate::server::state::{App, Shared};

/// What held the jobs of a trial up.
#[derive(Serialize, ToSchema)]
pub(crate) struct HeldUpBody {
    /// Collective after collective, of each the iteration that took longest.
    collectives: Vec<HeldUpCollective>,
}

/// The chain of chunks that ends with the last one to arrive: each waited for the one before.
#[derive(Serialize, ToSchema)]
pub(crate) struct HeldUpCollective {
    /// Index of the job.
    job: u32,
    job_name: String,
    /// Index of the collective in the job's run order.
    collective_index: u32,
    iteration: u32,
    /// For instance `all-reduce, ring, 64 MiB`.
    operation: String,
    /// When it began, in nanoseconds.
    start_ns: f64,
    /// The whole time in nanoseconds, which the following five make up.
    total_ns: f64,
    /// Waiting at ranks: computing, start skew, transport through a host.
    rank_wait_ns: f64,
    /// Waiting in NICs for other queue pairs.
    nic_wait_ns: f64,
    /// Held by rates: senders had data and an idle port, and congestion control did not let it go.
    held_by_rate_ns: f64,
    /// On the way as without other traffic; where the plan of the trial cannot be read any more, at
    /// the pace of the fastest chunk of the same size.
    fastest_ns: f64,
    /// Lost on the way beyond that.
    lost_ns: f64,
    /// Chunks of the chain.
    chunks: usize,
    /// The chunks, or of a long chain those that lost most, in the order of time.
    links: Vec<HeldUpLink>,
    /// The parts of its time, and where it has several chunks, the chain over time.
    pictures: Vec<PictureBody>,
}

/// A chunk of the chain.
#[derive(Serialize, ToSchema)]
pub(crate) struct HeldUpLink {
    /// For instance `rank 3 → 4, step 2, chunk 0`.
    text: String,
    /// What it waited for before it was posted.
    waited_for: &'static str,
    src_rank: u32,
    dst_rank: u32,
    /// When it was posted, when its first frame was sent and when its last byte arrived.
    posted_ns: f64,
    first_sent_ns: f64,
    received_ns: f64,
    rank_wait_ns: f64,
    nic_wait_ns: f64,
    held_by_rate_ns: f64,
    transfer_ns: f64,
    lost_ns: f64,
    /// What is known of the ports on its way, each a phrase; empty where nothing was seen.
    findings: Vec<String>,
}

/// Maximum number of chunks that the answer has from a chain.
const LINKS: usize = 64;

/// What held each collective of a trial up.
#[utoipa::path(get, path = "/trials/{id}/held-up", tag = "statistics",
    params(
        ("id" = i64, Path, description = "Number of the trial")),
    responses(
        (status = 200, body = HeldUpBody),
        (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody),
        (status = 422, body = ErrorBody)))]
pub(crate) async fn held_up(
    State(app): State<Shared>,
    At(id): At<i64>,
) -> Result<Json<HeldUpBody>, ApiError> {
    let shared = Arc::clone(&app);
    let work = move |budget: &Budget| {
        let folder = folder_of(&app, id)?;
        let trial = whole_trial(&app, &folder, budget)?;
        let found = tenter::report::held_up(&trial);
        Ok(Json(HeldUpBody {
            collectives: found.iter().map(body).collect(),
        }))
    };
    shared.whole_trials.take(None, work).await
}

/// Returns a trial with all its tables in memory: one that a report has read, or else read now if
/// there is room.
pub(crate) fn whole_trial(
    app: &App,
    folder: &Path,
    budget: &Budget,
) -> Result<Arc<TrialData>, ApiError> {
    if let Some(read) = app.read.get(folder) {
        return Ok(Arc::clone(read));
    }
    // Refusing by an estimate is friendlier than being killed by the system half-way.
    let needed = report_memory_bytes(&[folder.to_owned()]);
    match available_memory_bytes() {
        Some(available) if needed > available => Err(ApiError::new(
            axum::http::StatusCode::UNPROCESSABLE_ENTITY,
            format!(
                "the whole trial would take about {} of memory, and {} are available; run it with fewer sizes, or use a machine with more memory",
                binary_size(needed),
                binary_size(available)
            ),
        )),
        _ => Ok(Arc::new(tenter::read_for_report(folder, budget)?)),
    }
}

fn body(found: &HeldUp) -> HeldUpCollective {
    let parts = found.chain.sums();
    let [
        rank_wait_ns,
        nic_wait_ns,
        held_by_rate_ns,
        fastest_ns,
        lost_ns,
    ] = parts;
    let (collective, algorithm, size) = &found.operation;
    let all = found.chain.links.iter().zip(&found.links);
    let told = all.filter_map(|(link, (text, findings))| {
        let chunk = &link.chunk;
        Some(HeldUpLink {
            // Links without findings lost no time, or less than the others, and are left out.
            findings: findings.clone()?,
            text: text.clone(),
            waited_for: match link.cause {
                Cause::Start => "the start",
                Cause::Arrival => "a chunk to arrive",
                Cause::Acknowledgement => "an acknowledgement",
            },
            src_rank: chunk.src_rank,
            dst_rank: chunk.dst_rank,
            posted_ns: chunk.posted,
            first_sent_ns: chunk.first_sent,
            received_ns: chunk.received,
            rank_wait_ns: link.rank_wait,
            nic_wait_ns: link.nic_wait,
            held_by_rate_ns: link.held_by_rate(),
            transfer_ns: link.transfer,
            lost_ns: link.excess(),
        })
    });
    HeldUpCollective {
        job: found.job,
        job_name: found.job_name.clone(),
        collective_index: found.collective,
        iteration: found.iteration,
        operation: format!("{collective}, {algorithm}, {}", binary_size(*size)),
        start_ns: found.start,
        total_ns: parts.iter().sum(),
        rank_wait_ns,
        nic_wait_ns,
        held_by_rate_ns,
        fastest_ns,
        lost_ns,
        chunks: found.chain.links.len(),
        links: told.take(LINKS).collect(),
        pictures: found.pictures.iter().map(PictureBody::from).collect(),
    }
}
