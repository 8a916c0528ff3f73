//! Simulated beside measured values by size: a picture and a table for each file and operation.

use tenter_language::units::Time;
use tenter_results::DeviationRow;

use super::group::PictureGroup;
use super::line_chart::{LineChart, extent};
use super::plot::Picture;
use super::scale::Scale;
use super::text::Unit;
use crate::report::deviations::{Beside, blocks, by_trial, deviation_sections};
use crate::report::drawings::DrawnLine;

const HEIGHT: f64 = 320.0;

/// Draws each file and operation, with the table that has all rows.
pub fn measured_group(beside: &Beside) -> PictureGroup {
    PictureGroup {
        name: "measured",
        title: "Simulated beside measured",
        pictures: blocks(&beside.rows).filter_map(picture).collect(),
        sections: deviation_sections(&beside.rows),
    }
}

/// Returns a row's measured and simulated value: the bus bandwidth if all rows have it, else the
/// time.
type Value = fn(&DeviationRow) -> [Option<f64>; 2];

fn bandwidths(row: &DeviationRow) -> [Option<f64>; 2] {
    let bytes = |value: Option<f64>| value.map(|value| value * 1e9);
    [
        bytes(row.measured_busbw_gbytes_per_s),
        bytes(row.busbw_gbytes_per_s),
    ]
}

fn times(row: &DeviationRow) -> [Option<f64>; 2] {
    [row.measured_time, row.time].map(|time| time.map(Time::as_ns))
}

/// Draws a line for the measurement, and one for each trial.
fn picture(block: &[DeviationRow]) -> Option<Picture> {
    let first = block.first()?;
    let has = |value: Value| {
        block
            .iter()
            .all(|row| value(row).iter().all(Option::is_some))
    };
    // Both lines need the same quantity at every size.
    let by_bandwidth = has(bandwidths);
    let value: Value = if by_bandwidth { bandwidths } else { times };
    let trials = by_trial(block);
    let points = |rows: &[&DeviationRow], which: usize| -> Vec<(f64, f64)> {
        let mut points: Vec<(f64, f64)> = rows
            .iter()
            .filter_map(|row| {
                let values = value(row);
                Some((row.size_bytes as f64, (*values.get(which)?)?))
            })
            .filter(|point| point.1 > 0.0)
            .collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points
    };
    let mut lines = Vec::new();
    if let Some((_, rows)) = trials.first() {
        lines.push(DrawnLine {
            name: "measured".to_owned(),
            points: points(rows, 0),
        });
    }
    lines.extend(trials.iter().map(|(name, rows)| DrawnLine {
        name: (*name).to_owned(),
        points: points(rows, 1),
    }));
    let ((from, to), (least, most)) = extent(&lines);
    if lines.iter().all(|line| line.points.is_empty()) {
        return None;
    }
    let bandwidth = Unit {
        factor: 1e9,
        name: "GB/s",
    };
    let (label, unit) = if by_bandwidth {
        ("bus bandwidth", bandwidth)
    } else {
        ("time", Unit::time(most))
    };
    let x = Scale::over(from, to, Unit::bytes(to));
    let y = Scale::over(least, most, unit);
    let chart = LineChart {
        title: &format!("{} of {}", first.collective, first.measured),
        x_label: "size",
        y_label: label,
        height: HEIGHT,
        steps: false,
        family: 1,
        lines: &lines,
    };
    Some(chart.picture("a line for the measurement and one for each trial", &x, &y))
}
