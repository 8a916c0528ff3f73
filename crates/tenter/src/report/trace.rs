//! A trial as a trace for ui.perfetto.dev, in the trace event format (JSON).
//!
//! Jobs and collectives are nested slices. Each rank has a track with the chunks that it sends, and
//! further tracks where chunks overlap. Ports' queues and pauses are counters at their node. An
//! operation graph has a track for each rank's streams, and one for its critical path.
//!
//! Source: the Chromium project's "Trace Event Format", from which complete events (`X`), counters
//! (`C`) and metadata (`M`) are written. The format counts in µs.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::path::Path;

use serde_json::json;

use crate::report::TrialError;
use crate::report::numbers::binary_size;
use crate::report::own_file::refuse_link;
use crate::report::read::rows_if_any;
use crate::report::span::Span;
use crate::report::trace_events::{Events, Track};
use crate::report::trace_operations::{self, Operations};
use crate::report::trial_data::{Chunk, PortSample, TrialData};
use crate::report::trial_files::TRACE_FILE;
use crate::report::whole_file::write_own;

/// Maximum number of chunks in a trace, and of counter values. Each takes up to about 200 bytes, so
/// a trace stays below 80 MB.
const CHUNKS_MAX: usize = 200_000;
const VALUES_MAX: usize = 200_000;
/// Maximum number of tracks for all ranks together, in which each rank has an equal share: more
/// cannot be read.
const TRACKS_MAX: usize = 16_384;

/// Process numbers in the trace: the jobs, then each job's ranks, then the nodes.
const JOBS: usize = 1;
const RANKS: usize = 2;

/// Counts that tell what was left out from a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceLimits {
    /// Chunks beyond the limit, which are the last to be sent, and chunks for which their rank had
    /// no free track.
    pub chunks_left_out: usize,
    /// Ports beyond the limit, which are those with the shallowest queues.
    pub ports_left_out: usize,
    /// Operations beyond the limit, which are the last to start.
    pub operations_left_out: usize,
}

/// Writes `trace.json` into a trial's folder.
///
/// # Errors
/// If the file cannot be written, or is a link.
pub fn write_trace(trial: &TrialData, folder: &Path) -> Result<TraceLimits, TrialError> {
    let path = folder.join(TRACE_FILE);
    refuse_link(&path).map_err(TrialError::io("create", &path))?;
    let operations = Operations {
        jobs: trial
            .summary
            .jobs
            .iter()
            .map(|job| job.job.name.clone())
            .collect(),
        rows: rows_if_any(folder)?,
        path: rows_if_any(folder)?,
    };
    let mut limits = None;
    write_own(&path, |file| {
        limits = Some(trace(trial, &operations, file)?);
        Ok(())
    })?;
    Ok(limits.unwrap_or_default())
}

fn trace(
    trial: &TrialData,
    operations: &Operations,
    mut out: impl Write,
) -> io::Result<TraceLimits> {
    out.write_all(b"{\"displayTimeUnit\": \"ns\", \"traceEvents\": [")?;
    let mut events = Events::new(&mut out);
    jobs(trial, &mut events)?;
    let limits = TraceLimits {
        operations_left_out: trace_operations::write(operations, &mut events)?,
        chunks_left_out: chunks(trial, &mut events)?,
        ports_left_out: counters(trial, &mut events)?,
    };
    let about = json!({
        "tenter": trial.summary.tenter_version,
        "scenario": trial.summary.scenario,
        "seed": trial.summary.seed,
        "digest": trial.summary.engine.digest,
        "chunks_left_out": limits.chunks_left_out,
        "ports_left_out": limits.ports_left_out,
        "operations_left_out": limits.operations_left_out,
    });
    writeln!(out, "\n], \"otherData\": {about}}}")?;
    out.flush()?;
    Ok(limits)
}

/// Writes the jobs, and within them their collectives.
fn jobs(trial: &TrialData, events: &mut Events<impl Write>) -> io::Result<()> {
    events.name_process(JOBS, "jobs")?;
    let end_of_trial = trial.summary.engine.simulated_ns;
    for (thread, job) in trial.summary.jobs.iter().enumerate() {
        let row = &job.job;
        let track = Track {
            process: JOBS,
            thread,
        };
        events.name_thread(track, &row.name)?;
        let end = row
            .end
            .map_or(end_of_trial, tenter_language::units::Time::as_ns);
        let about = json!({"ranks": row.ranks, "complete": row.complete});
        if let Some(start) = row.start {
            let from = start.as_ns();
            events.slice(track, &row.name, Span { from, to: end }, &about)?;
        }
        for row in &job.collectives {
            let from = row.start.as_ns();
            let end = row
                .end
                .map_or(end_of_trial, tenter_language::units::Time::as_ns);
            // A collective that had not started when the trial was stopped would have a negative
            // length.
            let to = end.max(from);
            let size = binary_size(row.size_bytes);
            let name = format!("{}, {} {size}", row.collective, row.algorithm);
            let about = json!({
                "iteration": row.iteration,
                "warm_up": row.warm_up,
                "busbw_gbytes_per_s": row.busbw_gbytes_per_s,
                "line_rate_percent": row.line_rate_percent,
                "percent_of_ideal": row.percent_of_ideal,
            });
            events.slice(track, &name, Span { from, to }, &about)?;
        }
    }
    Ok(())
}

/// Writes the chunks by sending rank; returns the number left out.
fn chunks(trial: &TrialData, events: &mut Events<impl Write>) -> io::Result<usize> {
    let (tracks, placed) = placed(trial);
    let mut first_track: HashMap<(u32, u32), usize> = HashMap::new();
    let mut next = 0;
    let mut named = None;
    for (&(job, rank), lanes) in &tracks {
        if named != Some(job) {
            named = Some(job);
            let name = trial.summary.jobs.get(job as usize);
            let name = name.map_or("", |job| job.job.name.as_str());
            let title = format!("ranks of {name}");
            events.name_process(RANKS + job as usize, &title)?;
        }
        first_track.insert((job, rank), next);
        for lane in 0..lanes.len() {
            let name = format!("rank {rank}{}", if lane == 0 { "" } else { " …" });
            let track = Track {
                process: RANKS + job as usize,
                thread: next + lane,
            };
            events.name_thread(track, &name)?;
        }
        next += lanes.len();
    }
    let left_out = trial.chunks.len() - placed.len();
    for (chunk, lane) in placed {
        let track = Track {
            process: RANKS + chunk.job as usize,
            thread: first_track[&(chunk.job, chunk.src_rank)] + lane,
        };
        let about = json!({
            "payload_bytes": chunk.payload_bytes,
            "queue_pair": chunk.queue_pair,
            "waited_ns": chunk.first_sent - chunk.posted,
            "retransmitted_frames": chunk.retransmitted_frames,
        });
        let name = format!(
            "chunk {} step {} to rank {}",
            chunk.chunk, chunk.step, chunk.dst_rank
        );
        let span = Span {
            from: chunk.first_sent,
            to: chunk.received,
        };
        events.slice(track, &name, span, &about)?;
    }
    Ok(left_out)
}

/// Time at which each track of a rank becomes free, by job and rank.
type Tracks = BTreeMap<(u32, u32), Vec<f64>>;

/// Chooses the chunks that are shown, each on its rank's first free track.
fn placed(trial: &TrialData) -> (Tracks, Vec<(&Chunk, usize)>) {
    let mut order: Vec<&Chunk> = trial.chunks.iter().collect();
    order.sort_by(|a, b| a.first_sent.total_cmp(&b.first_sent));
    let ranks = trial.summary.jobs.iter().map(|job| job.job.ranks as usize);
    let share = (TRACKS_MAX / ranks.sum::<usize>().max(1)).max(1);
    let mut tracks = Tracks::new();
    let mut placed = Vec::new();
    for chunk in order {
        let free = tracks.entry((chunk.job, chunk.src_rank)).or_default();
        let lane = free.iter().position(|&until| until <= chunk.first_sent);
        let lane = lane.unwrap_or(free.len());
        // The rank has used up its tracks.
        if lane == share {
            continue;
        }
        if lane == free.len() {
            free.push(0.0);
        }
        free[lane] = chunk.received;
        placed.push((chunk, lane));
        if placed.len() == CHUNKS_MAX {
            break;
        }
    }
    (tracks, placed)
}

/// Writes ports' queues and pauses; returns how many ports were left out.
fn counters(trial: &TrialData, events: &mut Events<impl Write>) -> io::Result<usize> {
    let mut instants: Vec<f64> = trial.samples.iter().map(|sample| sample.time).collect();
    instants.dedup();
    let mut ports: BTreeMap<(u32, u16), Vec<&PortSample>> = BTreeMap::new();
    for sample in &trial.samples {
        let samples = ports.entry((sample.node, sample.port)).or_default();
        samples.push(sample);
    }
    // Ports that never queued nor paused would be flat lines.
    ports.retain(|_, samples| samples.iter().any(|s| s.queue_bytes > 0.0 || s.paused));
    let peak = |samples: &[&PortSample]| -> f64 {
        samples.iter().map(|s| s.queue_bytes).fold(0.0, f64::max)
    };
    // The deepest queues come first. The sort is stable, so ties keep the order of node and port.
    let mut order: Vec<(&(u32, u16), &Vec<&PortSample>)> = ports.iter().collect();
    order.sort_by(|a, b| {
        let (a, b) = (peak(a.1), peak(b.1));
        b.total_cmp(&a)
    });
    let nodes = RANKS + trial.summary.jobs.len();
    let mut values = 0;
    let mut shown = 0;
    let mut named = Vec::new();
    for &(&(node, port), samples) in &order {
        let points = with_gaps(samples, &instants);
        let queue = changes(&points, |sample| sample.queue_bytes);
        let paused = changes(&points, |sample| f64::from(u8::from(sample.paused)));
        // A port is written whole or not at all.
        if values + queue.len() + paused.len() > VALUES_MAX {
            break;
        }
        values += queue.len() + paused.len();
        shown += 1;
        let pid = nodes + node as usize;
        if !named.contains(&node) {
            named.push(node);
            let row = trial.ports.iter().find(|row| row.node == node);
            let name = row.map_or("", |row| row.node_name.as_str());
            events.name_process(pid, name)?;
        }
        for (what, unit, values) in [("queue", "bytes", queue), ("paused", "paused", paused)] {
            for (at, value) in values {
                events.add(&json!({
                    "ph": "C", "name": format!("port {port} {what}"), "pid": pid, "tid": 0,
                    "ts": at / 1e3, "args": {unit: value},
                }))?;
            }
        }
    }
    Ok(order.len() - shown)
}

/// Returns the values that differ from the previous one, with their times; empty if all are 0.
fn changes(
    points: &[(f64, Option<&PortSample>)],
    of: impl Fn(&PortSample) -> f64,
) -> Vec<(f64, f64)> {
    let mut changes: Vec<(f64, f64)> = Vec::new();
    for &(at, sample) in points {
        let value = sample.map_or(0.0, &of);
        if changes
            .last()
            .is_none_or(|last| last.1.to_bits() != value.to_bits())
        {
            changes.push((at, value));
        }
    }
    // The only value is the 0 at the start: the counter never moved.
    if changes.len() == 1 {
        Vec::new()
    } else {
        changes
    }
}

/// Returns a port's samples with their times, and `None` at the first instant in each gap: an idle
/// port is not sampled, and would otherwise seem to keep its last value.
fn with_gaps<'a>(
    samples: &[&'a PortSample],
    instants: &[f64],
) -> Vec<(f64, Option<&'a PortSample>)> {
    let mut points = vec![(0.0, None)];
    for (place, &sample) in samples.iter().enumerate() {
        points.push((sample.time, Some(sample)));
        let after = instants.partition_point(|&instant| instant <= sample.time);
        let next = samples.get(place + 1).map(|next| next.time);
        if let Some(&instant) = instants.get(after)
            && next.is_none_or(|next| next > instant)
        {
            points.push((instant, None));
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn a_rank_has_no_more_than_its_share_of_tracks() {
        let job = tenter_results::JobSummary {
            job: tenter_results::JobRow {
                ranks: TRACKS_MAX as u32 / 2,
                ..tenter_results::JobRow::default()
            },
            collectives: Vec::new(),
        };
        let chunk = |first_sent, received| Chunk {
            first_sent,
            received,
            ..Chunk::default()
        };
        let trial = TrialData {
            summary: tenter_results::Summary {
                jobs: vec![job],
                ..tenter_results::Summary::default()
            },
            // The third finds both tracks taken, the fourth the first free again.
            chunks: vec![
                chunk(0.0, 10.0),
                chunk(1.0, 20.0),
                chunk(2.0, 5.0),
                chunk(10.0, 15.0),
            ],
            ..TrialData::empty()
        };
        let lanes: Vec<usize> = placed(&trial).1.iter().map(|chunk| chunk.1).collect();
        assert_eq!(lanes, [0, 1, 0]);
        let mut text = Vec::new();
        let limits = trace(&trial, &Operations::default(), &mut text).expect("memory");
        assert_eq!(limits.chunks_left_out, 1);
        let document: Value = serde_json::from_slice(&text).expect("JSON");
        assert_eq!(document["otherData"]["chunks_left_out"], 1);
    }

    #[test]
    fn an_idle_port_goes_back_to_zero() {
        let sample = |time| PortSample {
            time,
            queue_bytes: 5.0,
            ..PortSample::default()
        };
        let samples = [sample(10.0), sample(20.0), sample(50.0)];
        let instants = [10.0, 20.0, 30.0, 40.0, 50.0];
        let points = with_gaps(&samples.iter().collect::<Vec<_>>(), &instants);
        let times: Vec<(f64, bool)> = points.iter().map(|p| (p.0, p.1.is_some())).collect();
        let expected = [
            (0.0, false),
            (10.0, true),
            (20.0, true),
            (30.0, false),
            (50.0, true),
        ];
        assert_eq!(times, expected);
    }
}
