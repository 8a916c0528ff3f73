//! Flow completion times as cumulative distributions, a picture for each collective.

use super::flow_sizes;
use super::line_chart::{LineChart, extent};
use super::plot::Picture;
use super::runs::{Run, grouped_by_operation, runs, sorted_chunks};
use super::scale::Scale;
use super::text::Unit;
use crate::report::drawings::{DrawnLine, distribution};
use crate::report::numbers::binary_size;
use crate::report::table::FLOWS;
use crate::report::trial_data::TrialData;

pub(super) const TITLE: &str = "Flow completion times by collective and size";
const HEIGHT: f64 = 300.0;
const LEAD: &str = "A line for each size, without warm-up iterations: the share of the flows that were complete within a time, from posting to the last byte at the receiver.";

/// Draws each collective's distributions, and loads' slowdowns by flow size.
pub(super) fn pictures(trial: &TrialData) -> Vec<Picture> {
    let chunks = sorted_chunks(trial);
    let runs = runs(trial, &chunks);
    let mut pictures: Vec<Picture> = grouped_by_operation(&runs)
        .iter()
        .filter_map(|(operation, sizes)| {
            let lines = sizes.iter().filter_map(|sizes| line(sizes));
            picture(operation, &lines.collect::<Vec<DrawnLine>>())
        })
        .collect();
    pictures.extend(flow_sizes::pictures(&trial.summary.flow_sizes));
    pictures
}

fn picture(operation: &str, lines: &[DrawnLine]) -> Option<Picture> {
    if lines.is_empty() {
        return None;
    }
    let ((min, max), _) = extent(lines);
    let x = Scale::over(min, max, Unit::time(max));
    let y = Scale::from_zero(100.0, Unit::of("%"));
    let chart = LineChart {
        title: &format!("Flow completion times of {operation}"),
        x_label: "flow completion time",
        y_label: "flows complete",
        height: HEIGHT,
        steps: true,
        family: 1,
        lines,
    };
    Some(chart.picture(LEAD, &x, &y))
}

/// Returns the distribution over all measured iterations with one size.
fn line(runs: &[&Run<'_>]) -> Option<DrawnLine> {
    // With nothing but warm-up iterations, these are drawn.
    let judged = runs.iter().any(|run| !run.row.warm_up);
    let counted = runs.iter().filter(|run| !judged || !run.row.warm_up);
    let chunks = counted.flat_map(|run| run.chunks);
    let mut times: Vec<f64> = chunks.map(|chunk| chunk.received - chunk.posted).collect();
    times.sort_by(f64::total_cmp);
    let points = distribution(&times);
    if points.is_empty() {
        return None;
    }
    let row = runs.first()?.row;
    Some(DrawnLine {
        // A load moves other bytes with each seed, so its size is no name.
        name: if row.collective == FLOWS {
            "all flows".to_owned()
        } else {
            binary_size(row.size_bytes)
        },
        points,
    })
}
