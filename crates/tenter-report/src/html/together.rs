//! The records of several trials, on one pair of axes.

use std::collections::HashSet;

use tenter_record::PortRow;
use tenter_study::{DASHES, Shows};

use super::line_chart::{LineChart, extent};
use super::scale::Scale;
use super::text::{Unit, add, escape};
use super::{flow_sizes, job_timeline, queue_heat};
use crate::drawings::{Course, Drawn, DrawnLine, distribution, envelope, tail, warm_ups};
use crate::trial_data::TrialData;

/// The most ports of each trial whose queues are drawn.
const PORTS: usize = 4;
/// The most jobs whose tails are drawn.
const JOBS: usize = 12;
/// The most points of a queue.
const POINTS: usize = 800;
const HEIGHT: f64 = 320.0;

/// Adds a drawing that a study asks for.
pub(super) fn drawn(drawn: &Drawn, page: &mut String) {
    let drawing = &drawn.drawing;
    add(page, format_args!("<h3>{}</h3>", escape(&drawing.title)));
    if !drawing.about.is_empty() {
        add(
            page,
            format_args!("<p class=\"lead\">{}</p>", escape(&drawing.about)),
        );
    }
    let family = if drawing.shows.is_of_ports() {
        drawn.variants
    } else {
        1
    };
    draw(&drawing.title, drawing.shows, &drawn.lines, family, page);
}

/// Adds the queues and the completion times of trials side by side, if they have some.
pub(super) fn section(trials: &[TrialData], page: &mut String) {
    let names: Vec<String> = trials.iter().map(TrialData::name).collect();
    let mut queues = Vec::new();
    for (node, peer) in deepest(trials) {
        for (trial, name) in trials.iter().zip(&names) {
            let is_it = |port: &&PortRow| port.node_name == node && port.peer_name == peer;
            let place = trial.ports.iter().find(is_it);
            let place = place.map(|port| (port.node, port.port));
            let mut course = Course::default();
            for sample in &trial.samples {
                let is_it = Some((sample.node, sample.port)) == place;
                course.add(sample.time, is_it, sample.queue_high_water_bytes);
            }
            queues.push(DrawnLine {
                name: format!("{node} → {peer}, {name}"),
                points: envelope(&course.points, POINTS),
            });
        }
    }
    draw_queues(&queues, trials.len(), page);
    queue_heat::of_trials(trials, page);
    job_timeline::draw(trials, page);
    times_together(trials, &names, page);
}

/// The flow completion times of all trials, and of each job their tails.
fn times_together(trials: &[TrialData], names: &[String], page: &mut String) {
    let lines = |job: Option<&str>, points: fn(&[f64]) -> Vec<(f64, f64)>| -> Vec<DrawnLine> {
        let each = trials.iter().zip(names);
        let line = |(trial, name): (&TrialData, &String)| DrawnLine {
            name: name.clone(),
            points: points(&completion_times(trial, job)),
        };
        each.map(line).collect()
    };
    let has_any = |lines: &[DrawnLine]| lines.iter().any(|line| !line.points.is_empty());
    let times = lines(None, distribution);
    if has_any(&times) {
        page.push_str("<h3>Flow completion times of all trials</h3>");
        let title = "Flow completion times of all trials";
        draw(title, Shows::CompletionTimes, &times, 1, page);
    }
    for job in jobs(trials) {
        let times = lines(Some(job), tail);
        if has_any(&times) {
            let title = format!("Tail of the flow completion times of {job}");
            add(page, format_args!("<h3>{}</h3>", escape(&title)));
            draw(&title, Shows::CompletionTail, &times, 1, page);
        }
    }
    flow_sizes::together(trials, names, page);
}

/// The names of the jobs of these trials, in the order of the first that has them.
fn jobs(trials: &[TrialData]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for job in trials.iter().flat_map(|trial| &trial.summary.jobs) {
        if !names.contains(&job.job.name.as_str()) {
            names.push(&job.job.name);
        }
    }
    names.truncate(JOBS);
    names
}

/// Draws the queues of a number of trials, port by port and of each port trial by trial.
fn draw_queues(queues: &[DrawnLine], trials: usize, page: &mut String) {
    if queues.is_empty() {
        return;
    }
    // This number of lines of a colour can be distinguished by dashes; otherwise each port has a
    // drawing of its own, with a colour for each trial.
    let (drawings, family, lead) = if trials <= DASHES {
        let lead = "A colour for each port and dashes for each trial";
        (vec![queues], trials, lead)
    } else {
        (
            queues.chunks(trials).collect(),
            1,
            "A drawing for each port",
        )
    };
    add(
        page,
        format_args!(
            "<h3>Deepest queues of all trials</h3><p class=\"lead\">{lead}: the exact maximum between two samples.</p>"
        ),
    );
    for lines in drawings {
        draw("Queues over time", Shows::QueueDepth, lines, family, page);
    }
}

/// The ports that all trials have, by the nodes at both ends, with the deepest queues in any of
/// those with samples.
fn deepest(trials: &[TrialData]) -> Vec<(String, String)> {
    let sampled = trials.iter().filter(|trial| !trial.samples.is_empty());
    let mut ports: Vec<&PortRow> = sampled.flat_map(|trial| &trial.ports).collect();
    ports.retain(|port| port.queue_high_water_bytes > 0);
    ports.sort_by_key(|port| (std::cmp::Reverse(port.queue_high_water_bytes), port.node));
    let ends = |port: &PortRow| (port.node_name.clone(), port.peer_name.clone());
    let all = |trial: &TrialData| trial.ports.iter().map(ends).collect();
    let of_each: Vec<HashSet<(String, String)>> = trials.iter().map(all).collect();
    let mut names: Vec<(String, String)> = Vec::new();
    for port in ports {
        let name = ends(port);
        if !names.contains(&name) && of_each.iter().all(|of| of.contains(&name)) {
            names.push(name);
        }
        if names.len() == PORTS {
            break;
        }
    }
    names
}

/// Ascending, warm-up iterations left out, of one job or of all.
fn completion_times(trial: &TrialData, job: Option<&str>) -> Vec<f64> {
    let warm_ups = warm_ups(&trial.summary);
    let jobs = trial.summary.jobs.iter();
    let wanted = jobs.filter(|one| job.is_none_or(|name| one.job.name == name));
    let wanted: HashSet<u32> = wanted.map(|one| one.job.job).collect();
    let chunks = trial.chunks.iter().filter(|chunk| {
        wanted.contains(&chunk.job)
            && !warm_ups.contains(&(chunk.job, chunk.collective, chunk.iteration))
    });
    let mut times: Vec<f64> = chunks.map(|chunk| chunk.received - chunk.posted).collect();
    times.sort_by(f64::total_cmp);
    times
}

/// Draws lines, a given number of which belongs together.
fn draw(title: &str, shows: Shows, lines: &[DrawnLine], family: usize, page: &mut String) {
    let ((from, to), (least, most)) = extent(lines);
    let upwards = LineChart::upwards(HEIGHT);
    let across = LineChart::ACROSS;
    let (x, y) = match shows {
        Shows::QueueDepth => (
            Scale::span(0.0, to, across),
            Scale::from_zero(most, Unit::bytes(most), upwards),
        ),
        Shows::QueueChanges => (
            Scale::span(from, to, across),
            Scale::from_zero(most, Unit::bytes(most), upwards),
        ),
        Shows::CompletionTimes => (
            Scale::over(from, to, Unit::time(to), across),
            Scale::from_zero(100.0, Unit::of("%"), upwards),
        ),
        Shows::CompletionTail => (
            Scale::over(from, to, Unit::time(to), across),
            Scale::over(least, 100.0, Unit::of("%"), upwards),
        ),
    };
    let (x_label, y_label) = match shows {
        Shows::QueueDepth | Shows::QueueChanges => ("time", "queue"),
        Shows::CompletionTimes => ("flow completion time", "flows complete"),
        Shows::CompletionTail => ("flow completion time", "flows that take longer"),
    };
    let chart = LineChart {
        title,
        x_label,
        y_label,
        height: HEIGHT,
        steps: shows != Shows::QueueDepth,
        family: family.max(1),
        lines,
        whiskers: &[],
    };
    chart.draw(&x, &y, page);
}
