//! Flow completion times and slowdowns by flow size, of jobs that run a workload of flows.

use std::collections::BTreeSet;

use tenter_record::FlowSizeRow;
use tenter_units::Time;

use super::line_chart::{LineChart, extent};
use super::scale::Scale;
use super::text::{Unit, add, count, escape, fixed};
use crate::drawings::DrawnLine;
use crate::numbers::binary_size;
use crate::trial_data::TrialData;

const HEIGHT: f64 = 280.0;

/// Adds for each such job a table and a drawing.
pub(super) fn add_jobs(rows: &[FlowSizeRow], page: &mut String) {
    for job in rows.chunk_by(|a, b| a.job == b.job) {
        let name = escape(&job[0].job_name);
        add(
            page,
            format_args!(
                "<h3>{name} by flow size <small>each row is a tenth of the flows of the size distribution</small></h3>"
            ),
        );
        table(job, page);
        slow_downs(&job[0].job_name, job, page);
    }
}

fn table(rows: &[FlowSizeRow], page: &mut String) {
    let greatest = |time: &dyn Fn(&FlowSizeRow) -> Option<Time>| {
        let times = rows.iter().filter_map(time).map(Time::as_ns);
        Unit::time(times.fold(0.0, f64::max))
    };
    let (usual, longest) = (greatest(&|row| row.fct_p50), greatest(&|row| row.fct_max));
    add(
        page,
        format_args!(
            "<div class=\"scroll\"><table><thead><tr><th class=\"n\">flows up to</th><th class=\"n\">flows</th><th class=\"n\">FCT P50<br>{0}</th><th class=\"n\">mean<br>{1}</th><th class=\"n\">P99<br>{1}</th><th class=\"n\">P99.9<br>{1}</th><th class=\"n\">P99.99<br>{1}</th><th class=\"n\">max<br>{1}</th><th class=\"n\">slowdown<br>P50</th><th class=\"n\">mean</th><th class=\"n\">P99</th><th class=\"n\">P99.99</th></tr></thead><tbody>",
            usual.name, longest.name
        ),
    );
    let time = |time: Option<Time>, unit: Unit| {
        time.map_or_else(|| "–".to_owned(), |t| fixed(t.as_ns() / unit.factor, 4))
    };
    let ratio =
        |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.2}"));
    for row in rows {
        let size = match row.bucket {
            None => "all".to_owned(),
            Some(_) => binary_size(row.to),
        };
        let cells = [
            size,
            count(row.flows),
            time(row.fct_p50, usual),
            time(row.fct_mean, longest),
            time(row.fct_p99, longest),
            time(row.fct_p999, longest),
            time(row.fct_p9999, longest),
            time(row.fct_max, longest),
            ratio(row.slowdown_p50),
            ratio(row.slowdown_mean),
            ratio(row.slowdown_p99),
            ratio(row.slowdown_p9999),
        ];
        page.push_str("<tr>");
        for cell in cells {
            add(page, format_args!("<td class=\"n\">{cell}</td>"));
        }
        page.push_str("</tr>");
    }
    page.push_str("</tbody></table></div>\n");
}

type Percentile = fn(&FlowSizeRow) -> Option<f64>;

/// The line of a percentile over the tenths of the flows.
fn line(name: &str, rows: &[&FlowSizeRow], of: Percentile) -> DrawnLine {
    let tenths = rows.iter().filter(|row| row.bucket.is_some());
    DrawnLine {
        name: name.to_owned(),
        points: tenths
            .filter_map(|row| Some((row.to as f64, of(row)?)))
            .collect(),
    }
}

/// Percentiles of the slowdown over the size of the flows, if a distribution has several sizes.
fn slow_downs(name: &str, rows: &[FlowSizeRow], page: &mut String) {
    let percentiles: [(&str, Percentile); 4] = [
        ("P50", |row| row.slowdown_p50),
        ("P99", |row| row.slowdown_p99),
        ("P99.9", |row| row.slowdown_p999),
        ("P99.99", |row| row.slowdown_p9999),
    ];
    let rows: Vec<&FlowSizeRow> = rows.iter().collect();
    let lines = percentiles.iter().map(|(name, of)| line(name, &rows, *of));
    let title = format!("Slowdown of the flows of {name} by size");
    draw(&title, lines.collect(), page);
}

/// The slowdown by size of jobs that several of these trials have, a line for each trial.
pub(super) fn together(trials: &[TrialData], names: &[String], page: &mut String) {
    let rows = trials.iter().flat_map(|trial| &trial.summary.flow_sizes);
    let mut jobs: Vec<&str> = rows.map(|row| row.job_name.as_str()).collect();
    jobs.dedup();
    let jobs: BTreeSet<&str> = jobs.into_iter().collect();
    let percentiles: [(&str, Percentile); 2] = [
        ("P50", |row| row.slowdown_p50),
        ("P99", |row| row.slowdown_p99),
    ];
    for job in jobs {
        for (percentile, of) in percentiles {
            let each = trials.iter().zip(names).map(|(trial, name)| {
                let rows = trial.summary.flow_sizes.iter();
                let rows: Vec<&FlowSizeRow> = rows.filter(|row| row.job_name == job).collect();
                line(name, &rows, of)
            });
            let title = format!("Slowdown of the flows of {job} by size, {percentile}");
            let mut heading = format!("<h3>{}</h3>", escape(&title));
            let before = heading.len();
            draw(&title, each.collect(), &mut heading);
            if heading.len() > before {
                page.push_str(&heading);
            }
        }
    }
}

fn draw(title: &str, mut lines: Vec<DrawnLine>, page: &mut String) {
    lines.retain(|line| line.points.len() > 1);
    if lines.is_empty() {
        return;
    }
    let ((least, most), (low, high)) = extent(&lines);
    let x = Scale::over(least, most, Unit::bytes(1_024.0), LineChart::ACROSS);
    let y = Scale::over(low, high, Unit::of(""), LineChart::upwards(HEIGHT));
    let chart = LineChart {
        title,
        x_label: "flow size, greatest of its tenth",
        y_label: "slowdown",
        height: HEIGHT,
        steps: false,
        family: 1,
        lines: &lines,
        whiskers: &[],
    };
    chart.draw(&x, &y, page);
}
