//! The trials of a report side by side, before each has its own part.

use tenter_record::ComparisonRow;
use tenter_units::Time;

use super::text::{Unit, add, escape, fixed};
use super::{circuits, together};
use crate::compare::{NamedSummary, comparison_rows, is_whole_trial, job_of, remarks};
use crate::numbers::{binary_size, grouped};
use crate::trial_data::TrialData;

/// Adds the table of all trials; differences are against the first.
pub(super) fn section(trials: &[TrialData], page: &mut String) {
    let named: Vec<NamedSummary> = trials.iter().map(NamedSummary::of).collect();
    let rows = comparison_rows(&named);
    page.push_str("<section id=\"comparison\"><h2>Side by side</h2><p class=\"lead\">Differences are in percent of the first trial; times are means over the measured iterations.</p>");
    let remarks = remarks(&named);
    if !remarks.is_empty() {
        page.push_str("<aside class=\"warnings\"><h3>Read this before the numbers</h3><ul>");
        for remark in &remarks {
            add(page, format_args!("<li>{}</li>", escape(remark)));
        }
        page.push_str("</ul></aside>\n");
    }
    page.push_str("<div class=\"scroll\">");
    let greatest = |time: &dyn Fn(&ComparisonRow) -> Option<Time>| {
        let times = rows.iter().filter_map(time);
        Unit::time(times.map(Time::as_ns).fold(0.0, f64::max))
    };
    let (whole, flow) = (greatest(&|row| row.time), greatest(&|row| row.fct_p99));
    add(
        page,
        format_args!(
            "<table><thead><tr><th>what</th><th class=\"n\">size</th><th>trial</th><th class=\"n\">time<br>{}</th><th class=\"n\">vs first<br>%</th><th class=\"n\">busbw<br>GB/s</th><th class=\"n\">vs first<br>%</th><th class=\"n\">line rate<br>%</th><th class=\"n\">of ideal<br>%</th><th class=\"n\">FCT P99<br>{}</th><th class=\"n\">vs first<br>%</th><th class=\"n\">frames not<br>accepted</th><th class=\"n\">frames<br>dropped</th><th class=\"n\">paused,<br>sum of ports</th></tr></thead><tbody>",
            whole.name, flow.name
        ),
    );
    let job_of = job_of(&rows);
    let mut before = None;
    for row in &rows {
        let whole_trial = is_whole_trial(row);
        let group = (
            whole_trial,
            job_of(row),
            row.collective.as_deref(),
            row.size_bytes,
        );
        let is_first = before.as_ref() != Some(&group);
        before = Some(group);
        let what = match &row.collective {
            Some(collective) => format!("{}: {collective}", row.job_name),
            None if whole_trial => "whole trial".to_owned(),
            None => format!("{}: whole job", row.job_name),
        };
        let size = row.size_bytes.map(binary_size);
        add(
            page,
            format_args!(
                // Words of the row above are not shown, unless rows stand in another order.
                "<tr class=\"{}\"><td>{}</td><td class=\"n\">{}</td><td>{}</td>",
                if is_first { "first" } else { "again" },
                escape(&what),
                size.unwrap_or_default(),
                escape(&row.trial)
            ),
        );
        cells(row, whole, flow, page);
    }
    page.push_str("</tbody></table></div>");
    together::section(trials, page);
    circuits::together(trials, page);
    page.push_str("</section>\n");
}

fn cells(row: &ComparisonRow, whole: Unit, flow: Unit, page: &mut String) {
    let time = |time: Option<Time>, unit: Unit| {
        let text = |time: Time| fixed(time.as_ns() / unit.factor, 4);
        time.map(text).unwrap_or_default()
    };
    let float = |value: Option<f64>| value.map(|value| fixed(value, 4)).unwrap_or_default();
    let difference = |percent: Option<f64>| {
        let text = |percent: f64| format!("{percent:+.2}");
        percent.map(text).unwrap_or_default()
    };
    let count = |count: Option<i64>| count.map(grouped).unwrap_or_default();
    let paused = row.paused.map(|paused| super::text::time(paused.as_ns()));
    let texts = [
        time(row.time, whole),
        difference(row.time_difference),
        float(row.busbw_gbytes_per_s),
        difference(row.busbw_difference),
        float(row.line_rate_percent),
        float(row.percent_of_ideal),
        time(row.fct_p99, flow),
        difference(row.fct_p99_difference),
        count(row.frames_delta),
        count(row.dropped_frames.map(u64::cast_signed)),
        paused.unwrap_or_default(),
    ];
    for text in texts {
        add(page, format_args!("<td class=\"n\">{text}</td>"));
    }
    page.push_str("</tr>");
}
