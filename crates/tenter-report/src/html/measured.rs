//! Simulated beside measured, by size: a picture and a table for each file and operation.

use tenter_record::DeviationRow;
use tenter_units::Time;

use super::line_chart::{LineChart, extent};
use super::scale::Scale;
use super::text::{Unit, add, escape, fixed};
use crate::deviations::{Beside, Spread, blocks, by_trial};
use crate::drawings::DrawnLine;
use crate::numbers::binary_size;

const HEIGHT: f64 = 320.0;

/// Adds the section.
pub(super) fn section(beside: &Beside, page: &mut String) {
    page.push_str("<section id=\"measured\"><h2>Simulated beside measured</h2><p class=\"lead\">Deviations are those of the simulation from the measurement, in percent of the measurement; times are means over the measured iterations.</p>");
    if !beside.doubts.is_empty() {
        page.push_str("<aside><ul>");
        for doubt in &beside.doubts {
            add(page, format_args!("<li>{}</li>", escape(doubt)));
        }
        page.push_str("</ul></aside>");
    }
    for block in blocks(&beside.rows) {
        let Some(first) = block.first() else {
            continue;
        };
        let title = format!("{} of {}", first.collective, first.measured);
        add(page, format_args!("<h3>{}</h3>", escape(&title)));
        draw(&title, block, page);
        table(block, page);
    }
    page.push_str("</section>\n");
}

/// What is drawn of a row: bus bandwidth where all have it, else the time.
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

/// The measured line, and one for each trial.
fn draw(title: &str, block: &[DeviationRow], page: &mut String) {
    let has = |value: Value| {
        block
            .iter()
            .all(|row| value(row).iter().all(Option::is_some))
    };
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
        return;
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
    let x = Scale::over(from, to, Unit::bytes(to), LineChart::ACROSS);
    let y = Scale::over(least, most, unit, LineChart::upwards(HEIGHT));
    let chart = LineChart {
        title: &format!("Simulated beside measured: {title}"),
        x_label: "size",
        y_label: label,
        height: HEIGHT,
        steps: false,
        family: 1,
        lines: &lines,
        whiskers: &[],
    };
    chart.draw(&x, &y, page);
}

fn table(block: &[DeviationRow], page: &mut String) {
    let times = block.iter().flat_map(|row| [row.time, row.measured_time]);
    let unit = Unit::time(times.flatten().map(Time::as_ns).fold(0.0, f64::max));
    for (trial, rows) in by_trial(block) {
        if let Some(spread) = Spread::of(&rows) {
            add(
                page,
                format_args!(
                    "<p class=\"lead\">{}: {}</p>",
                    escape(trial),
                    escape(&spread.words())
                ),
            );
        }
    }
    add(
        page,
        format_args!(
            "<div class=\"scroll\"><table><thead><tr><th class=\"n\">size</th><th>trial</th><th class=\"n\">measured<br>{0}</th><th class=\"n\">simulated<br>{0}</th><th class=\"n\">deviation<br>%</th><th class=\"n\">measured<br>GB/s</th><th class=\"n\">simulated<br>GB/s</th><th class=\"n\">deviation<br>%</th></tr></thead><tbody>",
            unit.name
        ),
    );
    let time = |time: Option<Time>| time.map(|time| unit.show(time.as_ns(), 4));
    let float = |value: Option<f64>| value.map(|value| fixed(value, 4));
    let deviation = |value: Option<f64>| value.map(|value| format!("{value:+.2}"));
    for row in block {
        add(
            page,
            format_args!(
                "<tr><td class=\"n\">{}</td><td>{}</td>",
                binary_size(row.size_bytes),
                escape(&row.trial)
            ),
        );
        let texts = [
            time(row.measured_time),
            time(row.time),
            deviation(row.time_deviation),
            float(row.measured_busbw_gbytes_per_s),
            float(row.busbw_gbytes_per_s),
            deviation(row.busbw_deviation),
        ];
        for text in texts {
            let text = text.unwrap_or_default();
            add(page, format_args!("<td class=\"n\">{text}</td>"));
        }
        page.push_str("</tr>");
    }
    page.push_str("</tbody></table></div>");
}
