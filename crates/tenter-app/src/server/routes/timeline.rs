//! Chunks over time, in lanes by sending rank.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::cdf::{flows, job_names};
use super::tables::folder_of;
use crate::server::error::{ApiError, ErrorBody};
use crate::server::extract::{Asked, At};
use crate::server::state::{App, Shared, apart};

/// Up to this many chunks, each one gets its own bar.
const BARS: usize = 5_000;
/// Maximum number of lanes in a timeline.
const LANES: usize = 512;
/// Maximum width in pixel columns.
const WIDTH_MAX: usize = 4_000;

/// Which chunks are drawn.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct TimelineQuery {
    /// From when on, in nanoseconds; the first chunk unless given.
    from: Option<f64>,
    /// Until when; the end of the last chunk unless given.
    to: Option<f64>,
    /// Pixel columns; 1,000 unless given.
    width: Option<usize>,
    /// Index of the job; all unless given.
    job: Option<u32>,
    /// Index of the collective in the job's run order; all unless given.
    collective: Option<u32>,
    /// A rank that sends or receives.
    rank: Option<u32>,
}

/// Chunks over time.
#[derive(Serialize, ToSchema)]
pub(crate) struct TimelineBody {
    /// What is drawn begins here.
    from_ns: f64,
    /// And ends here.
    to_ns: f64,
    /// When the first chunk that fits is sent, whatever part is drawn.
    first_ns: f64,
    /// When the last has arrived.
    last_ns: f64,
    lanes: Vec<LaneBody>,
    /// `[lane, start_ns, end_ns, row, count]`: from the first frame on the wire to the last byte at
    /// the receiver. `row` is that in the table of flows; -1 where `count` chunks are one bar.
    #[schema(value_type = Vec<Vec<f64>>)]
    bars: Vec<(u32, f64, f64, i64, u32)>,
    /// Whether neighbours are one bar, because there are too many.
    merged: bool,
    /// Chunks in this part of the time.
    total: usize,
}

/// A row of bars.
#[derive(Serialize, ToSchema)]
pub(crate) struct LaneBody {
    name: String,
    job: u32,
    /// The first rank of the lane, and the last one.
    first_rank: u32,
    last_rank: u32,
}

/// A chunk to be drawn.
#[derive(Clone, Copy)]
struct Drawn {
    job: u32,
    rank: u32,
    start: f64,
    end: f64,
    row: i64,
}

/// Returns the chunks that match and overlap the requested time, and the span over all that match.
fn fitting(
    app: &App,
    folder: &std::path::Path,
    asked: &TimelineQuery,
) -> Result<(Vec<Drawn>, (f64, f64)), ApiError> {
    let names = [
        "job",
        "collective_index",
        "src_rank",
        "dst_rank",
        "first_sent_ns",
        "received_ns",
    ];
    let [jobs, collectives, sources, destinations, starts, ends] =
        app.cache.columns(folder, &flows()?, names)?;
    let (from, to) = (
        asked.from.unwrap_or(f64::NEG_INFINITY),
        asked.to.unwrap_or(f64::INFINITY),
    );
    let mut span = (f64::INFINITY, f64::NEG_INFINITY);
    let mut drawn = Vec::new();
    for (row, number) in (0..jobs.len()).zip(0..) {
        let (job, rank) = (jobs[row] as u32, sources[row] as u32);
        let is_meant = asked.job.is_none_or(|of| of == job)
            && asked
                .collective
                .is_none_or(|of| of == collectives[row] as u32)
            && asked
                .rank
                .is_none_or(|of| of == rank || of == destinations[row] as u32);
        if !is_meant {
            continue;
        }
        let (start, end) = (starts[row], ends[row]);
        span = (span.0.min(start), span.1.max(end));
        if end >= from && start <= to {
            drawn.push(Drawn {
                job,
                rank,
                start,
                end,
                row: number,
            });
        }
    }
    Ok((drawn, span))
}

/// Chunks of a trial by sending rank over time.
#[utoipa::path(get, path = "/trials/{id}/timeline", tag = "statistics",
    params(("id" = i64, Path, description = "Number of the trial"), TimelineQuery),
    responses(
        (status = 200, body = TimelineBody),
        (status = 400, body = ErrorBody),
        (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody)))]
pub(crate) async fn timeline(
    State(app): State<Shared>,
    At(id): At<i64>,
    Asked(asked): Asked<TimelineQuery>,
) -> Result<Json<TimelineBody>, ApiError> {
    apart(move || {
        let folder = folder_of(&app, id)?;
        let (drawn, (first, last)) = fitting(&app, &folder, &asked)?;
        let names = job_names(&app, &folder)?;
        let (first, last) = if first <= last {
            (first, last)
        } else {
            (0.0, 0.0)
        };
        let (from, to) = (asked.from.unwrap_or(first), asked.to.unwrap_or(last));
        let merged = drawn.len() > BARS;
        let (lanes, bars) = if merged {
            let width = asked.width.unwrap_or(1_000).clamp(1, WIDTH_MAX);
            merge(&drawn, from, to, width, &names)
        } else {
            single(&drawn, &names)
        };
        Ok(Json(TimelineBody {
            from_ns: from,
            to_ns: to,
            first_ns: first,
            last_ns: last,
            lanes,
            bars,
            merged,
            total: drawn.len(),
        }))
    })
    .await
}

type Bars = Vec<(u32, f64, f64, i64, u32)>;

fn name_of(names: &[String], job: u32, first: u32, last: u32) -> String {
    let ranks = if first == last {
        format!("rank {first}")
    } else {
        format!("ranks {first} – {last}")
    };
    match names {
        [_] => ranks,
        names => format!(
            "{}, {ranks}",
            names.get(job as usize).map_or("", String::as_str)
        ),
    }
}

/// Draws a bar for each chunk. Each rank gets as many lanes as its chunks need not to overlap,
/// within its share of [`LANES`].
fn single(drawn: &[Drawn], names: &[String]) -> (Vec<LaneBody>, Bars) {
    let mut of_ranks: BTreeMap<(u32, u32), Vec<Drawn>> = BTreeMap::new();
    for chunk in drawn {
        of_ranks
            .entry((chunk.job, chunk.rank))
            .or_default()
            .push(*chunk);
    }
    let (mut lanes, mut bars) = (Vec::new(), Bars::new());
    let most = (LANES / of_ranks.len().max(1)).max(1);
    for ((job, rank), mut chunks) in of_ranks {
        // Greedy colouring by start time needs the fewest lanes.
        chunks.sort_by(|a, b| a.start.total_cmp(&b.start));
        let first = lanes.len();
        // End of the last bar in each lane of the rank.
        let mut ends: Vec<f64> = Vec::new();
        for chunk in chunks {
            let free = ends.iter().position(|end| *end <= chunk.start);
            // With its share of lanes used up, a rank puts the bar into the lane that is free
            // first, where bars then overlap.
            let first_free = || {
                let mut places = 0..ends.len();
                let next = places.next()?;
                let earlier = |a: usize, b: usize| if ends[b] < ends[a] { b } else { a };
                (ends.len() >= most).then(|| places.fold(next, earlier))
            };
            let place = free.or_else(first_free);
            let place = place.unwrap_or_else(|| {
                ends.push(0.0);
                lanes.push(LaneBody {
                    name: name_of(names, job, rank, rank),
                    job,
                    first_rank: rank,
                    last_rank: rank,
                });
                ends.len() - 1
            });
            ends[place] = chunk.end;
            let lane = (first + place) as u32;
            bars.push((lane, chunk.start, chunk.end, chunk.row, 1));
        }
    }
    (lanes, bars)
}

/// Draws a bar for each run of pixel columns in which a lane has any chunk.
fn merge(
    drawn: &[Drawn],
    from: f64,
    to: f64,
    width: usize,
    names: &[String],
) -> (Vec<LaneBody>, Bars) {
    let mut ranks: Vec<(u32, u32)> = drawn.iter().map(|chunk| (chunk.job, chunk.rank)).collect();
    ranks.sort_unstable();
    ranks.dedup();
    let together = ranks.len().div_ceil(LANES);
    let groups: Vec<&[(u32, u32)]> = ranks
        .chunk_by(|a, b| a.0 == b.0)
        .flat_map(|of_job| of_job.chunks(together))
        .collect();
    let lanes = groups.iter().map(|group| {
        let (job, first_rank) = group[0];
        let (_, last_rank) = group[group.len() - 1];
        LaneBody {
            name: name_of(names, job, first_rank, last_rank),
            job,
            first_rank,
            last_rank,
        }
    });
    let lane_of: BTreeMap<(u32, u32), usize> = groups
        .iter()
        .enumerate()
        .flat_map(|(lane, group)| group.iter().map(move |rank| (*rank, lane)))
        .collect();
    // Per column, the number of chunks that begin there, and the change in the number that cover
    // it. Running sums of the changes make this linear in chunks and columns, whatever the chunks'
    // length.
    let mut begins = vec![vec![0_u32; width]; groups.len()];
    let mut covers = vec![vec![0_i32; width + 1]; groups.len()];
    let scale = width as f64 / (to - from).max(1e-9);
    let column = |time: f64| (((time - from) * scale) as usize).min(width - 1);
    for chunk in drawn {
        let lane = lane_of[&(chunk.job, chunk.rank)];
        let (first, last) = (column(chunk.start), column(chunk.end));
        begins[lane][first] += 1;
        covers[lane][first] += 1;
        covers[lane][last + 1] -= 1;
    }
    let time = |column: usize| from + column as f64 / scale;
    let mut bars = Bars::new();
    for (lane, (begins, covers)) in begins.iter().zip(&covers).enumerate() {
        let (mut depth, mut open, mut count) = (0, None, 0);
        for at in 0..=width {
            depth += covers[at];
            let is_covered = at < width && depth > 0;
            match (open, is_covered) {
                (None, true) => open = Some(at),
                (Some(start), false) => {
                    bars.push((lane as u32, time(start), time(at), -1, count));
                    (open, count) = (None, 0);
                }
                _ => {}
            }
            if is_covered {
                count += begins[at];
            }
        }
    }
    (lanes.collect(), bars)
}
