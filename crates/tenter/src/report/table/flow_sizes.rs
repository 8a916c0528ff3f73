//! Flow completion times by flow size.

use tenter_language::units::Time;
use tenter_results::FlowSizeRow;

use super::cells::{count, optional};
use super::section::Section;
use crate::report::numbers::binary_size;
use crate::report::text_table::{TextColumn, TextTable};

/// Tabulates the flows for each job that runs a flow workload: all flows, then those in each tenth
/// of its size distribution.
pub(super) fn sections(rows: &[FlowSizeRow]) -> Vec<Section> {
    let mut sections = Vec::new();
    for job in rows.chunk_by(|a, b| a.job == b.job) {
        let mut table = TextTable::new(vec![
            TextColumn::name("flows up to"),
            TextColumn::number("flows", ""),
            TextColumn::number("FCT mean", "us"),
            TextColumn::number("P50", "us"),
            TextColumn::number("P99", "us"),
            TextColumn::number("P99.9", "us"),
            TextColumn::number("P99.99", "us"),
            TextColumn::number("max", "us"),
            TextColumn::number("slowdown P50", ""),
            TextColumn::number("P99", ""),
            TextColumn::number("P99.99", ""),
        ]);
        let microseconds = |time: Option<Time>| {
            time.map_or_else(
                || "-".to_owned(),
                |time| format!("{:.2}", time.as_ns() / 1e3),
            )
        };
        for row in job {
            let size = match row.bucket {
                None => "all".to_owned(),
                Some(_) => binary_size(row.to),
            };
            let mut cells = vec![size, count(row.flows)];
            let times = [
                row.fct_mean,
                row.fct_p50,
                row.fct_p99,
                row.fct_p999,
                row.fct_p9999,
                row.fct_max,
            ];
            cells.extend(times.map(microseconds));
            let slow = [row.slowdown_p50, row.slowdown_p99, row.slowdown_p9999];
            cells.extend(slow.map(|slow| optional(slow, |slow| format!("{slow:.2}"))));
            table.push(cells);
        }
        let name = &job[0].job_name;
        let title = format!("{name}: flow completion times by size, in tenths of the distribution");
        sections.push(Section::of_table(title, table));
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_follow_all_flows() {
        let row = |bucket, to, flows| FlowSizeRow {
            job_name: "web".to_owned(),
            bucket,
            to,
            flows,
            fct_p50: Some(Time::from_ns(12_345)),
            ..FlowSizeRow::default()
        };
        let rows = [row(None, 4_096, 12_000), row(Some(0), 512, 1_200)];
        let text = sections(&rows)[0].to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[1],
            "web: flow completion times by size, in tenths of the distribution"
        );
        assert!(
            lines[4].contains("all") && lines[4].contains("12,000"),
            "{text}"
        );
        assert!(
            lines[5].contains("512 B") && lines[5].contains("12.35"),
            "{text}"
        );
    }
}
