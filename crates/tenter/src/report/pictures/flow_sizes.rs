//! Slowdowns by flow size, for jobs that run a flow workload.

use std::collections::BTreeSet;

use tenter_results::FlowSizeRow;

use super::line_chart::{LineChart, extent};
use super::plot::Picture;
use super::scale::Scale;
use super::text::Unit;
use crate::report::drawings::DrawnLine;
use crate::report::trial_data::TrialData;

const HEIGHT: f64 = 280.0;

type Percentile = fn(&FlowSizeRow) -> Option<f64>;

/// Returns a percentile's line over the tenths into which flows are divided by size.
fn line(name: &str, rows: &[&FlowSizeRow], of: Percentile) -> DrawnLine {
    let tenths = rows.iter().filter(|row| row.bucket.is_some());
    DrawnLine {
        name: name.to_owned(),
        points: tenths
            .filter_map(|row| Some((row.to as f64, of(row)?)))
            .collect(),
    }
}

/// Draws slowdown percentiles by flow size, for each job that draws sizes from a distribution.
pub(super) fn pictures(rows: &[FlowSizeRow]) -> Vec<Picture> {
    let percentiles: [(&str, Percentile); 4] = [
        ("P50", |row| row.slowdown_p50),
        ("P99", |row| row.slowdown_p99),
        ("P99.9", |row| row.slowdown_p999),
        ("P99.99", |row| row.slowdown_p9999),
    ];
    let of_job = |job: &[FlowSizeRow]| {
        let rows: Vec<&FlowSizeRow> = job.iter().collect();
        let lines = percentiles.iter().map(|(name, of)| line(name, &rows, *of));
        let title = format!("Slowdown of the flows of {} by size", job[0].job_name);
        picture(&title, lines.collect())
    };
    rows.chunk_by(|a, b| a.job == b.job)
        .filter_map(of_job)
        .collect()
}

/// Draws slowdowns by flow size for several trials' jobs, with a line for each trial.
pub(super) fn together(trials: &[&TrialData], names: &[String]) -> Vec<Picture> {
    let rows = trials.iter().flat_map(|trial| &trial.summary.flow_sizes);
    let jobs: BTreeSet<&str> = rows.map(|row| row.job_name.as_str()).collect();
    let percentiles: [(&str, Percentile); 2] = [
        ("P50", |row| row.slowdown_p50),
        ("P99", |row| row.slowdown_p99),
    ];
    let mut pictures = Vec::new();
    for job in jobs {
        for (percentile, of) in percentiles {
            let each = trials.iter().zip(names).map(|(trial, name)| {
                let rows = trial.summary.flow_sizes.iter();
                let rows: Vec<&FlowSizeRow> = rows.filter(|row| row.job_name == job).collect();
                line(name, &rows, of)
            });
            let title = format!("Slowdown of the flows of {job} by size, {percentile}");
            pictures.extend(picture(&title, each.collect()));
        }
    }
    pictures
}

fn picture(title: &str, mut lines: Vec<DrawnLine>) -> Option<Picture> {
    // A single point draws no line.
    lines.retain(|line| line.points.len() > 1);
    if lines.is_empty() {
        return None;
    }
    let ((least, most), (low, high)) = extent(&lines);
    let x = Scale::over(least, most, Unit::bytes(1_024.0));
    let y = Scale::over(low, high, Unit::of(""));
    let chart = LineChart {
        title,
        x_label: "flow size, greatest of its tenth",
        y_label: "slowdown",
        height: HEIGHT,
        steps: false,
        family: 1,
        lines: &lines,
    };
    Some(chart.picture("", &x, &y))
}
