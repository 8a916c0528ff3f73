//! Jobs in the printed summary.

use std::fmt::Write as _;

use tenter_language::units::Time;
use tenter_results::{CollectiveRow, JobRow, JobSummary};

use super::cells::{count, counted, decimals, milliseconds, optional};
use super::section::{CaptionedTable, Section};
use crate::report::numbers::{binary_size, grouped, si};
use crate::report::text_table::{TextColumn, TextTable};
use crate::report::time_unit::TimeUnit;

/// Collective name in rows for flow workloads.
pub(crate) const FLOWS: &str = "flows";

/// Collective name in rows for operation graphs.
pub(crate) const GRAPH: &str = "operations";

/// A column with a rate of collectives.
struct RateColumn {
    name: &'static str,
    unit: &'static str,
    of: fn(&CollectiveRow) -> Option<f64>,
}

const fn rate(
    name: &'static str,
    unit: &'static str,
    of: fn(&CollectiveRow) -> Option<f64>,
) -> RateColumn {
    RateColumn { name, unit, of }
}

const OF_FLOWS: [RateColumn; 1] = [rate("goodput", "GB/s", |row| row.algbw_gbytes_per_s)];
const OF_COLLECTIVES: [RateColumn; 4] = [
    rate("algbw", "GB/s", |row| row.algbw_gbytes_per_s),
    rate("busbw", "GB/s", |row| row.busbw_gbytes_per_s),
    rate("line rate", "%", |row| row.line_rate_percent),
    rate("ideal", "%", |row| row.percent_of_ideal),
];

/// Returns the rate columns that suit all rows. A load's flows have neither an algorithm bandwidth
/// nor an ideal time, and an operation graph is no single collective.
fn rate_columns<'a>(
    mut rows: impl Iterator<Item = &'a CollectiveRow> + Clone,
) -> &'static [RateColumn] {
    if rows.clone().all(|row| row.collective == GRAPH) {
        &[]
    } else if rows.all(|row| row.collective == FLOWS) {
        &OF_FLOWS
    } else {
        &OF_COLLECTIVES
    }
}

/// True if a job consists only of a load of flows, whose end says nothing about the network.
pub(crate) fn is_load_of_flows(job: &JobSummary) -> bool {
    let mut rows = job.collectives.iter();
    !job.collectives.is_empty() && rows.all(|row| row.collective == FLOWS)
}

/// Describes a job: ranks and completion time, remarks, and a table for each operation.
pub(super) fn section(job: &JobSummary) -> Section {
    let row = &job.job;
    let ranks = format!("{}: {}", row.name, counted(u64::from(row.ranks), "rank"));
    if row.background {
        return Section {
            title: ranks + &background(job),
            lines: failure(row),
            ..Section::default()
        };
    }
    let end = match row.jct {
        Some(jct) => {
            let jct = printed_time(jct);
            // The last flow of a load ends when the load is stopped, so this is not a job
            // completion time.
            if is_load_of_flows(job) {
                format!(", last flow ended after {jct}")
            } else {
                format!(", JCT {jct}")
            }
        }
        None => ", not done".to_owned(),
    };
    let mut lines = failure(row);
    lines.extend(fragmentation(row));
    if let Some(exposed) = row.exposed
        && !row.compute.is_zero()
    {
        let decimals = decimals([row.compute, exposed].map(Some));
        lines.push(format!(
            "computing {} ms, exposed communication {} ms",
            milliseconds(row.compute, decimals),
            milliseconds(exposed, decimals)
        ));
    }
    let rows = operations(job);
    let groups = rows.chunk_by(|a, b| same_operation(a, b));
    Section {
        title: ranks + &end,
        lines,
        tables: groups.map(operation).collect(),
        remark: String::new(),
    }
}

/// Describes how scattered a job's hosts are, if they could be closer together.
fn fragmentation(row: &JobRow) -> Option<String> {
    match (row.leaf_fragmentation, row.pod_fragmentation) {
        (Some(leaves), Some(pods)) if leaves > 1.0 && (pods - leaves).abs() > 1e-9 => Some(
            format!("fragmentation {leaves:.2} over leaves, {pods:.2} over pods"),
        ),
        (Some(leaves), _) if leaves > 1.0 => Some(format!("fragmentation {leaves:.2} over leaves")),
        _ => None,
    }
}

/// Returns the reasons why a job was not completed, one per line.
fn failure(row: &JobRow) -> Vec<String> {
    let Some(failure) = &row.failure else {
        return Vec::new();
    };
    let reasons = failure.split("; ").enumerate();
    let line = |(place, reason)| match place {
        0 => format!("not completed: {reason}"),
        _ => format!("  {reason}"),
    };
    reasons.map(line).collect()
}

/// Describes the bytes that a background load has moved; nothing in it is measured.
fn background(job: &JobSummary) -> String {
    let row = &job.job;
    let rate = optional(row.rx_gbps, |gbps| format!("{}b/s", si(gbps * 1e9)));
    let done = job.collectives.iter().filter(|row| row.complete).count() as u64;
    let bytes = si(row.rx_bytes as f64);
    let mut text = format!(", background: {bytes}B received, {rate}");
    if !job.collectives.is_empty() {
        let _ = write!(text, ", {} done", counted(done, "collective"));
    }
    text
}

/// Returns a job's rows, with all iterations of a collective together, whatever ran between them.
fn operations(job: &JobSummary) -> Vec<&CollectiveRow> {
    let mut rows: Vec<&CollectiveRow> = job.collectives.iter().collect();
    rows.sort_by_key(|row| (row.index, row.iteration));
    rows
}

fn same_operation(a: &CollectiveRow, b: &CollectiveRow) -> bool {
    (&a.collective, &a.algorithm, a.ranks) == (&b.collective, &b.algorithm, b.ranks)
}

/// Tabulates one operation over all its sizes, without warm-up iterations, which the caption
/// counts.
fn operation(group: &[&CollectiveRow]) -> CaptionedTable {
    let (warm_ups, rows): (Vec<&CollectiveRow>, Vec<&CollectiveRow>) =
        group.iter().copied().partition(|row| row.warm_up);
    let first = &group[0];
    // Warm-up iterations come first and are numbered from 0, so the greatest number gives the
    // count.
    let warm_ups = warm_ups.iter().map(|row| u64::from(row.iteration) + 1);
    let not_shown = warm_ups.max().map_or_else(String::new, |count| {
        format!(" ({} not shown)", counted(count, "warm-up iteration"))
    });
    CaptionedTable {
        caption: format!("{}, {}{not_shown}", first.collective, first.algorithm),
        table: if rows.is_empty() {
            TextTable::default()
        } else {
            collective_table(&rows)
        },
    }
}

/// Heads of the columns for congestion marks, as testers print them.
pub(crate) const MARK_COLUMNS: [&str; 2] = ["CE received", "CNP sent"];

fn collective_table(rows: &[&CollectiveRow]) -> TextTable {
    // A column of equal numbers would say nothing.
    let iterations = rows.windows(2).any(|pair| pair[0].index == pair[1].index);
    let rates = rate_columns(rows.iter().copied());
    let mut columns = vec![TextColumn::number("size", "")];
    if iterations {
        columns.push(TextColumn::number("iteration", ""));
    }
    columns.push(TextColumn::number("time", "ms"));
    columns.extend(
        rates
            .iter()
            .map(|rate| TextColumn::number(rate.name, rate.unit)),
    );
    columns.extend([
        TextColumn::number("FCT min", "ms"),
        TextColumn::number("P50", "ms"),
        TextColumn::number("P95", "ms"),
        TextColumn::number("P99", "ms"),
        TextColumn::number("max", "ms"),
        TextColumn::number("frames", "sent"),
        TextColumn::number("not accepted", "frames"),
        TextColumn::number("retransmitted", "frames"),
    ]);
    let is_marked = |row: &&CollectiveRow| row.rx_marked_frames > 0 || row.cnp_frames > 0;
    let has_marks = rows.iter().any(is_marked);
    if has_marks {
        columns.extend(MARK_COLUMNS.map(|name| TextColumn::number(name, "frames")));
    }
    let time_decimals = decimals(rows.iter().map(|row| row.completion_time));
    let fct_decimals = decimals(rows.iter().flat_map(|row| fcts(row)));
    let mut table = TextTable::new(columns);
    for row in rows {
        let mut cells = vec![binary_size(row.size_bytes)];
        if iterations {
            cells.push(row.iteration.to_string());
        }
        cells.push(optional(row.completion_time, |time| {
            milliseconds(time, time_decimals)
        }));
        let values = rates.iter().map(|rate| (rate.of)(row));
        cells.extend(values.map(|value| optional(value, |value| format!("{value:.2}"))));
        cells.extend(fcts(row).map(|fct| optional(fct, |time| milliseconds(time, fct_decimals))));
        cells.push(count(row.tx_frames));
        cells.push(grouped(row.frames_delta()));
        cells.push(count(row.retransmitted_frames));
        if has_marks {
            cells.extend([row.rx_marked_frames, row.cnp_frames].map(count));
        }
        table.push(cells);
    }
    table
}

fn fcts(row: &CollectiveRow) -> [Option<Time>; 5] {
    [
        row.fct_min,
        row.fct_p50,
        row.fct_p95,
        row.fct_p99,
        row.fct_max,
    ]
}

/// Formats a completion time that stands alone: `33.161 ms`, `15.886 µs`. Longer ones stay in
/// milliseconds, which keeps their digits.
pub fn printed_time(time: Time) -> String {
    let unit = TimeUnit::of([Some(time)]);
    if time >= Time::from_us(1_000) {
        return format!("{} ms", milliseconds(time, decimals([Some(time)])));
    }
    format!("{:.3} {}", time.as_ns() / unit.ns, unit.name)
}
