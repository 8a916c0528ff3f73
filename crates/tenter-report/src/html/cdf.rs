//! Flow completion times as cumulative distributions, one drawing per collective.

use tenter_record::FlowSizeRow;

use super::flow_sizes;
use super::line_chart::{LineChart, extent};
use super::runs::{Run, grouped_by_operation};
use super::scale::Scale;
use super::text::{Unit, add, escape};
use crate::drawings::{DrawnLine, distribution};
use crate::numbers::binary_size;
use crate::table::FLOWS;

const HEIGHT: f64 = 300.0;

/// Adds the section.
pub(super) fn section(number: usize, runs: &[Run<'_>], by_size: &[FlowSizeRow], page: &mut String) {
    add(page, format_args!("<section id=\"fct{number}\">"));
    page.push_str(
        "<h2>Flow completion time</h2>\
         <p class=\"lead\">Share of the flows (data chunks on queue pairs) that were complete within a time, from posting to the last byte at the receiver. Warm-up iterations are left out. The steeper a line, the more equal the times of the flows; the collective waited for the tail on the right.</p>",
    );
    let mut drawn = 0;
    for (operation, sizes) in grouped_by_operation(runs) {
        let lines: Vec<DrawnLine> = sizes.iter().filter_map(|sizes| line(sizes)).collect();
        if lines.is_empty() {
            continue;
        }
        drawn += 1;
        let ((min, max), _) = extent(&lines);
        let x = Scale::over(min, max, Unit::time(max), LineChart::ACROSS);
        let y = Scale::from_zero(100.0, Unit::of("%"), LineChart::upwards(HEIGHT));
        add(page, format_args!("<h3>{}</h3>", escape(&operation)));
        let title = format!("Flow completion times of {operation}");
        let chart = LineChart {
            title: &title,
            x_label: "flow completion time",
            y_label: "flows complete",
            height: HEIGHT,
            steps: true,
            family: 1,
            lines: &lines,
            whiskers: &[],
        };
        chart.draw(&x, &y, page);
    }
    if drawn == 0 {
        page.push_str("<p class=\"empty\">No flow was completed in this trial.</p>");
    }
    flow_sizes::add_jobs(by_size, page);
    page.push_str("</section>\n");
}

/// The distribution over all measured iterations of one size.
fn line(runs: &[&Run<'_>]) -> Option<DrawnLine> {
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
        // Each seed of a load moves other bytes, which name nothing.
        name: if row.collective == FLOWS {
            "all flows".to_owned()
        } else {
            binary_size(row.size_bytes)
        },
        points,
    })
}
