//! Operation graphs in a trace: what each rank's streams did, and the critical path.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::json;
use tenter_language::units::Time;
use tenter_results::{CriticalPathRow, OperationRow};

use crate::report::span::Span;
use crate::report::trace_events::{Events, Track};

/// Maximum number of operations in a trace; each takes about 200 bytes.
const OPERATIONS_MAX: usize = 200_000;
/// Base process numbers for the jobs' streams, critical paths and recordings, beyond all others.
const STREAMS: usize = 100_000_000;
const PATHS: usize = 200_000_000;
const RECORDINGS: usize = 300_000_000;

/// Operations that a trial recorded, with their critical paths.
#[derive(Default)]
pub(crate) struct Operations {
    /// Job names, by job index.
    pub(crate) jobs: Vec<String>,
    pub(crate) rows: Vec<OperationRow>,
    pub(crate) path: Vec<CriticalPathRow>,
}

/// Writes the operations; returns the number left out.
pub(crate) fn write(of: &Operations, events: &mut Events<impl Write>) -> io::Result<usize> {
    critical_paths(of, events)?;
    // Receives wait beside their stream, and an operation without duration cannot be seen.
    let on_stream = |row: &&OperationRow| row.kind != "receive" && row.done > row.started;
    let rows = of.rows.iter().filter(on_stream);
    let mut rows: Vec<&OperationRow> = rows.filter(|row| row.done.is_some()).collect();
    // By start, so that the limit cuts off the end of the run and nothing within it.
    rows.sort_by_key(|row| (row.started, row.job, row.rank, row.operation));
    let left_out = rows.len().saturating_sub(OPERATIONS_MAX);
    rows.truncate(OPERATIONS_MAX);
    let tracks = name_tracks(STREAMS, "streams of", &rows, of, events)?;
    for row in rows {
        let track = tracks[&(row.job, row.rank, row.stream)];
        let about = json!({
            "operation": row.operation,
            "iteration": row.iteration,
            "payload_bytes": row.bytes,
            "peer_rank": row.peer,
            "critical": row.critical,
        });
        let span = Span {
            from: ns(row.started),
            to: ns(row.done),
        };
        let title = format!("{} {}", row.kind, row.operation);
        events.slice(track, &title, span, &about)?;
    }
    Ok(left_out + recordings(of, events)?)
}

/// Names a process for each job and a track for each stream at its ranks. Returns the tracks by
/// job, rank and stream.
fn name_tracks(
    base: usize,
    title: &str,
    rows: &[&OperationRow],
    of: &Operations,
    events: &mut Events<impl Write>,
) -> io::Result<BTreeMap<(u32, u32, u32), Track>> {
    let mut tracks: BTreeMap<(u32, u32, u32), Track> = BTreeMap::new();
    for row in rows {
        tracks.insert((row.job, row.rank, row.stream), Track::default());
    }
    let mut named = None;
    for (number, (&(job, rank, stream), track)) in tracks.iter_mut().enumerate() {
        *track = Track {
            process: base + job as usize,
            thread: number,
        };
        if named.replace(job) != Some(job) {
            let title = format!("{title} {}", name(of, job));
            events.name_process(track.process, &title)?;
        }
        let title = format!("rank {rank} stream {stream}");
        events.name_thread(*track, &title)?;
    }
    Ok(tracks)
}

/// Writes the operations' recording, once and from its own start; returns the number left out.
fn recordings(of: &Operations, events: &mut Events<impl Write>) -> io::Result<usize> {
    // The recording is the same for all iterations.
    let is_recorded = |row: &&OperationRow| row.measured_start.is_some() && row.iteration == 0;
    let mut rows: Vec<&OperationRow> = of.rows.iter().filter(is_recorded).collect();
    rows.sort_by_key(|row| (row.measured_start, row.job, row.rank, row.operation));
    let left_out = rows.len().saturating_sub(OPERATIONS_MAX);
    rows.truncate(OPERATIONS_MAX);
    let tracks = name_tracks(RECORDINGS, "recording of", &rows, of, events)?;
    for row in rows {
        let track = tracks[&(row.job, row.rank, row.stream)];
        let from = ns(row.measured_start);
        let to = from + ns(row.measured_time);
        let about = json!({"operation": row.operation, "payload_bytes": row.bytes});
        let title = format!("{} {}", row.kind, row.operation);
        events.slice(track, &title, Span { from, to }, &about)?;
    }
    Ok(left_out)
}

fn critical_paths(of: &Operations, events: &mut Events<impl Write>) -> io::Result<()> {
    let mut named = None;
    for row in &of.path {
        let track = Track {
            process: PATHS + row.job as usize,
            thread: 0,
        };
        if named.replace(row.job) != Some(row.job) {
            let title = format!("critical path of {}", name(of, row.job));
            events.name_process(track.process, &title)?;
        }
        let about = json!({
            "rank": row.rank,
            "operation": row.operation,
            "peer_rank": row.peer,
            "payload_bytes": row.bytes,
        });
        let title = format!("{} at rank {}", row.kind, row.rank);
        let span = Span {
            from: row.from.as_ns(),
            to: row.to.as_ns(),
        };
        events.slice(track, &title, span, &about)?;
    }
    Ok(())
}

fn name(of: &Operations, job: u32) -> &str {
    of.jobs.get(job as usize).map_or("", String::as_str)
}

fn ns(time: Option<Time>) -> f64 {
    time.map_or(0.0, Time::as_ns)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn streams_and_paths_are_slices() {
        let row = |kind: &str, rank, started, done| OperationRow {
            kind: kind.to_owned(),
            rank,
            started: Some(Time::from_us(started)),
            done: Some(Time::from_us(done)),
            ..OperationRow::default()
        };
        let of = Operations {
            jobs: vec!["step".to_owned()],
            rows: vec![
                row("compute", 0, 0, 10),
                row("receive", 1, 0, 12),
                row("collective", 1, 12, 15),
                OperationRow {
                    measured_start: Some(Time::from_us(3)),
                    measured_time: Some(Time::from_us(4)),
                    ..row("send", 0, 10, 10)
                },
            ],
            path: vec![CriticalPathRow {
                kind: "message".to_owned(),
                to: Time::from_us(12),
                ..CriticalPathRow::default()
            }],
        };
        let mut text = b"[".to_vec();
        let left_out = write(&of, &mut Events::new(&mut text)).expect("memory");
        text.push(b']');
        assert_eq!(left_out, 0);
        let events: Vec<Value> = serde_json::from_slice(&text).expect("JSON");
        let slices = events.iter().filter(|event| event["ph"] == "X");
        let slices: Vec<(&str, f64, f64)> = slices
            .map(|of| {
                let number = |key: &str| of[key].as_f64().expect("a number");
                (
                    of["name"].as_str().expect("a name"),
                    number("ts"),
                    number("dur"),
                )
            })
            .collect();
        let expected = [
            ("message at rank 0", 0.0, 12.0),
            ("compute 0", 0.0, 10.0),
            ("collective 0", 12.0, 3.0),
            ("send 0", 3.0, 4.0),
        ];
        assert_eq!(slices, expected);
    }
}
