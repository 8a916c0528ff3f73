//! Several trials on common axes.

use std::collections::HashSet;

use crate::studies::{DASHES, Shows};
use tenter_results::PortRow;

use super::group::PictureGroup;
use super::line_chart::{LineChart, extent};
use super::plot::Picture;
use super::scale::Scale;
use super::text::Unit;
use super::{circuits, flow_sizes, jobs, queue_heat};
use crate::report::drawings::{Course, Drawn, DrawnLine, envelope};
use crate::report::trial_data::TrialData;

/// Maximum number of ports whose queues are drawn.
const PORTS: usize = 4;
/// Maximum number of points in a queue's line.
const POINTS: usize = 800;
const HEIGHT: f64 = 320.0;

/// Makes the picture for a drawing that a study requests.
pub fn recorded_picture(drawn: &Drawn) -> Picture {
    let drawing = &drawn.drawing;
    let family = if drawing.shows.is_of_ports() {
        drawn.variants
    } else {
        1
    };
    let about = &drawing.about;
    picture(&drawing.title, about, drawing.shows, &drawn.lines, family)
}

/// Draws several trials, each with its name, on common axes. Empty groups are left out.
pub fn pictures_together(trials: &[&TrialData], names: &[String]) -> Vec<PictureGroup> {
    let queues = queues(trials, names);
    let groups = [
        ("queues", "Queues of all trials", queues),
        (
            "jobs",
            jobs::TITLE,
            jobs::picture(trials, names).into_iter().collect(),
        ),
        (
            "sizes",
            "Slowdown by flow size",
            flow_sizes::together(trials, names),
        ),
        (
            "circuits",
            circuits::TITLE,
            circuits::together(trials, names),
        ),
    ];
    let groups = groups
        .into_iter()
        .map(|(name, title, pictures)| PictureGroup {
            name,
            title,
            pictures,
            sections: Vec::new(),
        });
    groups.filter(|group| !group.pictures.is_empty()).collect()
}

/// Draws the deepest queues as lines, and as colour maps in common colours.
fn queues(trials: &[&TrialData], names: &[String]) -> Vec<Picture> {
    let mut lines = Vec::new();
    for (node, peer) in deepest(trials) {
        for (trial, name) in trials.iter().zip(names) {
            let is_it = |port: &&PortRow| port.node_name == node && port.peer_name == peer;
            let place = trial.ports.iter().find(is_it);
            let place = place.map(|port| (port.node, port.port));
            let mut course = Course::default();
            for sample in &trial.samples {
                let is_it = Some((sample.node, sample.port)) == place;
                course.add(sample.time, is_it, sample.queue_high_water_bytes);
            }
            lines.push(DrawnLine {
                name: format!("{node} → {peer}, {name}"),
                points: envelope(&course.points, POINTS),
            });
        }
    }
    let mut pictures = queue_lines(&lines, trials.len());
    pictures.extend(queue_heat::pictures(trials, names));
    pictures
}

/// Draws the queues in `trials` trials, given port by port and within a port trial by trial.
fn queue_lines(queues: &[DrawnLine], trials: usize) -> Vec<Picture> {
    if queues.is_empty() {
        return Vec::new();
    }
    // Up to this number of lines of one colour can be told apart by dashes. Beyond it each port
    // gets a drawing of its own, with a colour for each trial.
    let (drawings, family, lead) = if trials <= DASHES {
        (
            vec![queues],
            trials,
            "a colour for each port and dashes for each trial",
        )
    } else {
        (
            queues.chunks(trials).collect(),
            1,
            "a colour for each trial",
        )
    };
    let lead = format!("{lead}: the exact maximum between two samples");
    let depth = Shows::QueueDepth;
    drawings
        .into_iter()
        .map(|lines| picture("Queues over time", &lead, depth, lines, family))
        .collect()
}

/// Returns the ports that all trials have, named by the nodes at both ends, with the deepest queues
/// in any trial with samples.
fn deepest(trials: &[&TrialData]) -> Vec<(String, String)> {
    let sampled = trials.iter().filter(|trial| !trial.samples.is_empty());
    let mut ports: Vec<&PortRow> = sampled.flat_map(|trial| &trial.ports).collect();
    ports.retain(|port| port.queue_high_water_bytes > 0);
    // Ties go to the lower node, so that answers repeat.
    ports.sort_by_key(|port| (std::cmp::Reverse(port.queue_high_water_bytes), port.node));
    let ends = |port: &PortRow| (port.node_name.clone(), port.peer_name.clone());
    let all = |trial: &&TrialData| trial.ports.iter().map(ends).collect();
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

/// Draws lines; `family` consecutive lines share a colour.
fn picture(title: &str, lead: &str, shows: Shows, lines: &[DrawnLine], family: usize) -> Picture {
    let ((from, to), (least, most)) = extent(lines);
    let (x, y) = match shows {
        Shows::QueueDepth => (
            Scale::span(0.0, to),
            Scale::from_zero(most, Unit::bytes(most)),
        ),
        Shows::QueueChanges => (
            Scale::span(from, to),
            Scale::from_zero(most, Unit::bytes(most)),
        ),
        Shows::CompletionTimes => (
            Scale::over(from, to, Unit::time(to)),
            Scale::from_zero(100.0, Unit::of("%")),
        ),
        Shows::CompletionTail => (
            Scale::over(from, to, Unit::time(to)),
            Scale::over(least, 100.0, Unit::of("%")),
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
        // Changes and distributions are step functions; maxima of samples are joined by lines.
        steps: shows != Shows::QueueDepth,
        family: family.max(1),
        lines,
    };
    chart.picture(lead, &x, &y)
}
