//! Drawings that studies request of their trials, read from the trial folders.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::studies::{Drawing, PortName, Shows, StudyAnswer};
use tenter_results::{FlowRow, PortRow, QueueChangeRow, SampleRow, Summary};

use crate::report::column_scan::scan;
use crate::report::own_file::has_own;
use crate::report::seed_folder::{seed_folder, seed_folders};
use crate::report::trial_files::{SUMMARY_FILE, table_file};
use crate::report::{TrialError, read_rows, read_summary};

/// Maximum number of points in a queue's line; each stretch of time keeps its least and its
/// greatest value.
const POINTS: usize = 1_200;
/// Maximum number of points in a distribution: a large one's steps cannot be told apart.
const PARTS: usize = 240;
/// Points per power of ten in a distribution's tail.
const POINTS_OF_A_TENTH: f64 = 40.0;

/// A study's drawing with its data.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn {
    /// The study's request: what to draw, for which variants.
    pub drawing: Drawing,
    /// Lines, port by port and within a port variant by variant. A line without points has no
    /// recorded data. Times are in ns.
    pub lines: Vec<DrawnLine>,
    /// Number of variants that were run; each port has this number of consecutive lines.
    pub variants: usize,
}

/// A line in a drawing; its points ascend in the first value.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawnLine {
    /// Name that the legend shows.
    pub name: String,
    /// For a queue: time in ns and bytes. For flow completion times: time in ns, and the per cent
    /// of flows that were complete by then, or were not yet.
    pub points: Vec<(f64, f64)>,
}

/// Reads a study's drawings from the trials below `folder`, the output folder of studies.
///
/// A queue comes from the first seed, flow completion times from all seeds. A variant that was not
/// run, or whose trial folder is gone, has no line. A drawing without lines is left out.
///
/// # Errors
/// If a trial folder is damaged.
pub fn study_drawings(folder: &Path, study: &StudyAnswer) -> Result<Vec<Drawn>, TrialError> {
    let mut drawn = Vec::new();
    for drawing in &study.drawings {
        let mut run = Vec::new();
        for line in &drawing.lines {
            let trials = trials_of(folder, study, &line.variant)?;
            if !trials.is_empty() {
                run.push((&line.name, trials));
            }
        }
        let mut lines = Vec::new();
        for (name, trials) in run.iter().filter(|_| drawing.ports.is_empty()) {
            let times = completion_times(trials)?;
            let points = match drawing.shows {
                Shows::CompletionTail => tail(&times),
                _ => distribution(&times),
            };
            let name = (*name).clone();
            lines.push(DrawnLine { name, points });
        }
        lines.extend(queue_lines(drawing, &run)?);
        if lines.iter().any(|line| !line.points.is_empty()) {
            drawn.push(Drawn {
                drawing: drawing.clone(),
                lines,
                variants: run.len(),
            });
        }
    }
    Ok(drawn)
}

/// Returns the folders with a variant's finished trials, by seed.
fn trials_of(
    folder: &Path,
    study: &StudyAnswer,
    variant: &str,
) -> Result<Vec<PathBuf>, TrialError> {
    let mut run = study.variants.iter();
    let Some(run) = run.find(|of| of.name == variant) else {
        return Ok(Vec::new());
    };
    let trial = folder.join(&study.study).join(variant);
    // Trials of an earlier run with more seeds may lie beside them.
    let is_run = |folder: &PathBuf| {
        let mut seeds = run.seeds.iter();
        seeds.any(|&seed| *folder == seed_folder(&trial, seed))
    };
    let mut trials = seed_folders(&trial)?;
    trials.retain(|folder| run.seeds.is_empty() || is_run(folder));
    // A variant with one seed has its trial in the folder itself.
    trials.push(trial);
    trials.retain(|trial| has_own(&trial.join(SUMMARY_FILE)));
    Ok(trials)
}

/// Returns the queues at the drawing's ports, port by port and within a port variant by variant.
fn queue_lines(
    drawing: &Drawing,
    run: &[(&String, Vec<PathBuf>)],
) -> Result<Vec<DrawnLine>, TrialError> {
    let mut of_variants = Vec::new();
    for (name, trials) in run.iter().filter(|_| !drawing.ports.is_empty()) {
        let queues = queues(&trials[0], &drawing.ports, drawing.shows)?;
        of_variants.push((name, queues));
    }
    let mut lines = Vec::new();
    for (at, port) in drawing.ports.iter().enumerate() {
        for (name, queues) in &mut of_variants {
            lines.push(DrawnLine {
                name: format!("{} → {}, {name}", port.node, port.peer),
                points: std::mem::take(&mut queues[at]),
            });
        }
    }
    Ok(lines)
}

/// Node and port numbers, as floats like all scanned columns.
type Place = (f64, f64);

/// Returns each port's queue over time, without points if the trial has no such port. Where two
/// nodes have parallel links, the first is taken.
fn queues(
    trial: &Path,
    ports: &[PortName],
    shows: Shows,
) -> Result<Vec<Vec<(f64, f64)>>, TrialError> {
    let rows = read_rows::<PortRow>(trial)?;
    let place = |port: &PortName| {
        let is_it = |row: &&PortRow| row.node_name == port.node && row.peer_name == port.peer;
        let row = rows.iter().find(is_it)?;
        Some((f64::from(row.node), f64::from(row.port)))
    };
    let places: Vec<Option<Place>> = ports.iter().map(place).collect();
    let queues = if shows == Shows::QueueChanges {
        changes(trial, &places)?
    } else {
        sampled(trial, &places)?
    };
    Ok(queues.iter().map(|queue| envelope(queue, POINTS)).collect())
}

/// Returns, at each sample, the deepest queue since the previous sample.
fn sampled(trial: &Path, places: &[Option<Place>]) -> Result<Vec<Vec<(f64, f64)>>, TrialError> {
    let columns = ["time_ns", "node", "port", "queue_high_water_bytes"];
    let mut courses = vec![Course::default(); places.len()];
    scan::<SampleRow, 4>(trial, columns, |[time, node, port, bytes]| {
        for (course, place) in courses.iter_mut().zip(places) {
            if place.is_some() {
                course.add(time, *place == Some((node, port)), bytes);
            }
        }
    })?;
    Ok(courses.into_iter().map(|course| course.points).collect())
}

/// One port's samples. The table leaves out idle ports, so a sampling instant without a row means
/// an empty queue.
#[derive(Clone, Debug, Default)]
pub(crate) struct Course {
    pub(crate) points: Vec<(f64, f64)>,
}

impl Course {
    /// Adds a table row, in time order; `is_it` tells whether it belongs to the port.
    pub(crate) fn add(&mut self, time: f64, is_it: bool, bytes: f64) {
        if self.points.last().is_none_or(|last| last.0 < time) {
            self.points.push((time, 0.0));
        }
        if let (true, Some(last)) = (is_it, self.points.last_mut()) {
            last.1 = bytes;
        }
    }
}

/// Returns each port's waiting bytes after each change, summed over its queues.
fn changes(trial: &Path, places: &[Option<Place>]) -> Result<Vec<Vec<(f64, f64)>>, TrialError> {
    let mut queues = vec![Vec::new(); places.len()];
    // The table exists only if the scenario asked for it.
    if !has_own(&table_file::<QueueChangeRow>(trial)) {
        return Ok(queues);
    }
    let columns = ["time_ns", "node", "port", "class", "queue_bytes"];
    let mut of_class = vec![HashMap::new(); places.len()];
    // A row is a change of one class, so the sum needs the last value of the others.
    scan::<QueueChangeRow, 5>(trial, columns, |[time, node, port, class, bytes]| {
        let is_it = |place: &Option<Place>| *place == Some((node, port));
        for (at, _) in places.iter().enumerate().filter(|place| is_it(place.1)) {
            of_class[at].insert(class as u64, bytes);
            queues[at].push((time, of_class[at].values().sum()));
        }
    })?;
    Ok(queues)
}

/// Thins a line to at most `most` points: each stretch of time keeps its least and greatest value,
/// so no peak is lost.
pub(crate) fn envelope(points: &[(f64, f64)], most: usize) -> Vec<(f64, f64)> {
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return Vec::new();
    };
    if points.len() <= most || last.0 <= first.0 {
        return points.to_vec();
    }
    // Each stretch keeps two points.
    let stretches = most / 2;
    let stretch = |point: &(f64, f64)| {
        let share = (point.0 - first.0) / (last.0 - first.0);
        ((share * stretches as f64) as usize).min(stretches - 1)
    };
    let mut thinned = Vec::new();
    for part in points.chunk_by(|a, b| stretch(a) == stretch(b)) {
        let by_value = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
        let ends = [part.iter().min_by(by_value), part.iter().max_by(by_value)];
        let mut ends: Vec<(f64, f64)> = ends.into_iter().flatten().copied().collect();
        ends.sort_by(|a, b| a.0.total_cmp(&b.0));
        // A stretch with one point, or with equal values, has the same point twice.
        ends.dedup();
        thinned.extend(ends);
    }
    thinned
}

/// Returns a variant's flow completion times over all trials, in ns, ascending, without warm-up
/// iterations.
fn completion_times(trials: &[PathBuf]) -> Result<Vec<f64>, TrialError> {
    let columns = [
        "job",
        "collective_index",
        "iteration",
        "posted_ns",
        "received_ns",
    ];
    let mut times = Vec::new();
    for trial in trials {
        let warm_ups = warm_ups(&read_summary(trial)?);
        scan::<FlowRow, 5>(trial, columns, |[job, index, iteration, from, to]| {
            if !warm_ups.contains(&(job as u32, index as u32, iteration as u32)) {
                times.push(to - from);
            }
        })?;
    }
    times.sort_by(f64::total_cmp);
    Ok(times)
}

/// Returns a trial's warm-up iterations: job, collective index in run order, iteration.
pub(crate) fn warm_ups(summary: &Summary) -> HashSet<(u32, u32, u32)> {
    let rows = summary.jobs.iter().flat_map(|job| &job.collectives);
    let warm_ups = rows.filter(|row| row.warm_up);
    warm_ups
        .map(|row| (row.job, row.index, row.iteration))
        .collect()
}

/// Returns the cumulative distribution for ascending times in per cent, thinned to about [`PARTS`]
/// points.
pub(crate) fn distribution(times: &[f64]) -> Vec<(f64, f64)> {
    let Some(&first) = times.first() else {
        return Vec::new();
    };
    // A distribution starts at 0 where its least value is.
    let mut points = vec![(first, 0.0)];
    let count = times.len();
    for (at, &time) in times.iter().enumerate() {
        // Keeps the value at the end of each of `PARTS` equal parts, and the last eight, which are
        // the tail.
        let is_kept = (at + 1) * PARTS / count != at * PARTS / count || at + 8 >= count || at == 0;
        if is_kept {
            points.push((time, 100.0 * (at + 1) as f64 / count as f64));
        }
    }
    points
}

/// Returns the per cent of flows that took longer, for ascending times. The axis is logarithmic, so
/// each power of ten has the same point count.
pub(crate) fn tail(times: &[f64]) -> Vec<(f64, f64)> {
    let count = times.len();
    let step = |left: usize| ((left.max(1) as f64).log10() * POINTS_OF_A_TENTH) as u32;
    let places = (0..count).filter(|&at| {
        let left = count - at;
        at == 0 || step(left) != step(left + 1) || left < 8
    });
    let points = places.map(|at| (times[at], 100.0 * (count - at) as f64 / count as f64));
    points.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_envelope_keeps_what_stands_out() {
        let flat = |at: u32| (f64::from(at), 1.0);
        let mut points: Vec<(f64, f64)> = (0..1_000).map(flat).collect();
        points[500].1 = 9.0;
        points[777].1 = 0.0;
        let thinned = envelope(&points, 100);
        assert!(thinned.len() <= 100);
        assert!(thinned.contains(&(500.0, 9.0)) && thinned.contains(&(777.0, 0.0)));
        assert!(thinned.is_sorted_by_key(|point| point.0 as u64));
        assert_eq!(envelope(&points, 1_000), points);
    }

    #[test]
    fn a_port_that_a_sample_leaves_out_has_nothing_waiting() {
        let mut course = Course::default();
        for (time, is_it, bytes) in [(1.0, true, 7.0), (1.0, false, 9.0), (2.0, false, 5.0)] {
            course.add(time, is_it, bytes);
        }
        course.add(3.0, false, 5.0);
        course.add(3.0, true, 4.0);
        assert_eq!(course.points, [(1.0, 7.0), (2.0, 0.0), (3.0, 4.0)]);
    }

    #[test]
    fn a_tail_goes_down_to_the_last_flow() {
        let times: Vec<f64> = (1..=100_000).map(f64::from).collect();
        let tail = tail(&times);
        assert!(tail.len() < 220, "{}", tail.len());
        assert_eq!(tail[0], (1.0, 100.0));
        assert_eq!(tail.last(), Some(&(100_000.0, 0.001)));
        let median = tail.iter().find(|point| point.1 <= 50.0).unwrap();
        assert!((median.0 / 50_000.0 - 1.0).abs() < 0.06, "{median:?}");
        assert_eq!(distribution(&times).last(), Some(&(100_000.0, 100.0)));
    }
}
