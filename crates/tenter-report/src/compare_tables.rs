//! Tables for a comparison of trials.

use tenter_record::ComparisonRow;
use tenter_units::Time;

use crate::compare::{INFERENCE, TRAINING, is_whole_trial, job_of};
use crate::numbers::{binary_size, decimals_for, grouped};
use crate::table::{FLOWS, GRAPH, Section};
use crate::text_table::{TextColumn, TextTable};

/// Returns the tables for people: a section for each job and operation, in which trials with one
/// size follow each other, and one for whole trials.
pub(crate) fn comparison_sections(rows: &[ComparisonRow]) -> Vec<Section> {
    let job_of = job_of(rows);
    let group = |row: &ComparisonRow| (is_whole_trial(row), job_of(row), row.collective.clone());
    let section = |block: &[ComparisonRow]| {
        let first = &block[0];
        let job = match first.job_name.as_str() {
            "" => "job",
            name => name,
        };
        let (title, table) = match first.collective.as_deref() {
            None if is_whole_trial(first) => (
                "whole trial, all jobs together".to_owned(),
                trial_table(block),
            ),
            None => (format!("{job}: job completion time"), job_table(block)),
            Some(TRAINING) => (format!("{job}: {TRAINING}"), training_table(block)),
            Some(INFERENCE) => (format!("{job}: {INFERENCE}"), inference_table(block)),
            Some(collective) => (format!("{job}: {collective}"), collective_table(block)),
        };
        Section::of_table(title, table)
    };
    let blocks = rows.chunk_by(|a, b| group(a) == group(b));
    blocks.map(section).collect()
}

/// Renders [`comparison_sections`] as the text that `tenter compare` prints.
pub fn comparison_table(rows: &[ComparisonRow]) -> String {
    let sections = comparison_sections(rows);
    sections.iter().map(ToString::to_string).collect()
}

/// A column's name, unit and cell text.
type Column<'c> = (&'c str, &'c str, &'c dyn Fn(&ComparisonRow) -> String);

/// Makes a table that lists trials with the time, its difference, and `columns`.
fn timed_table(rows: &[ComparisonRow], name: &str, columns: &[Column<'_>]) -> TextTable {
    let unit = unit(rows.iter().map(|row| row.time));
    let mut heads = vec![
        TextColumn::name("trial"),
        TextColumn::number(name, unit.name),
        TextColumn::number(&against(rows), "%"),
    ];
    heads.extend(
        columns
            .iter()
            .map(|(name, unit, _)| TextColumn::number(name, unit)),
    );
    let mut table = TextTable::new(heads);
    for row in rows {
        let mut cells = vec![
            row.trial.clone(),
            time(row.time, unit),
            difference(row.time_difference),
        ];
        cells.extend(columns.iter().map(|(_, _, text)| text(row)));
        table.push(cells);
    }
    table
}

fn job_table(rows: &[ComparisonRow]) -> TextTable {
    timed_table(rows, "JCT", &[])
}

/// Makes the table for training steps: the parts that add up to the step time, and the throughput.
fn training_table(rows: &[ComparisonRow]) -> TextTable {
    let unit = unit(rows.iter().map(|row| row.time));
    timed_table(
        rows,
        "step",
        &[
            ("compute", unit.name, &|row| time(row.compute, unit)),
            ("exposed", unit.name, &|row| time(row.exposed, unit)),
            ("bubble", unit.name, &|row| time(row.bubble, unit)),
            ("tokens/s", "", &|row| tokens(row)),
            ("MFU", "%", &|row| float(row.mfu)),
        ],
    )
}

/// Makes the table for inference requests.
fn inference_table(rows: &[ComparisonRow]) -> TextTable {
    let first = unit(rows.iter().map(|row| row.ttft_p50));
    let further = unit(rows.iter().map(|row| row.tpot_p50));
    timed_table(
        rows,
        "all requests",
        &[
            ("TTFT P50", first.name, &|row| time(row.ttft_p50, first)),
            ("P99", first.name, &|row| time(row.ttft_p99, first)),
            ("TPOT P50", further.name, &|row| time(row.tpot_p50, further)),
            ("P99", further.name, &|row| time(row.tpot_p99, further)),
            ("tokens/s", "", &|row| tokens(row)),
        ],
    )
}

fn tokens(row: &ComparisonRow) -> String {
    count(row.tokens_per_second.map(|tokens| tokens as i64))
}

fn trial_table(rows: &[ComparisonRow]) -> TextTable {
    let pauses = unit(rows.iter().map(|row| row.paused));
    let power = rows.iter().any(|row| row.static_per_gbps.is_some());
    let mut columns = vec![
        TextColumn::name("trial"),
        TextColumn::number("dropped", "frames"),
        TextColumn::number("XOFF", "frames"),
        TextColumn::number("paused, sum of ports", pauses.name),
    ];
    if power {
        columns.push(TextColumn::number("static", "W/(Gb/s)"));
        columns.push(TextColumn::number("dynamic", "W/(Gb/s)"));
    }
    let mut table = TextTable::new(columns);
    for row in rows {
        let mut cells = vec![
            row.trial.clone(),
            count(row.dropped_frames.map(u64::cast_signed)),
            count(row.xoff_frames.map(u64::cast_signed)),
            time(row.paused, pauses),
        ];
        if power {
            cells.push(float(row.static_per_gbps));
            cells.push(float(row.dynamic_per_gbps));
        }
        table.push(cells);
    }
    table
}

fn collective_table(rows: &[ComparisonRow]) -> TextTable {
    let whole = unit(rows.iter().map(|row| row.time));
    let flow = unit(rows.iter().map(|row| row.fct_p99));
    let against = against(rows);
    // A load of flows and a graph of operations have no algorithm bandwidth.
    let mut names = rows.iter().map(|row| row.collective.as_deref());
    let has_rates = !names.all(|name| matches!(name, Some(FLOWS | GRAPH)));
    let mut columns = vec![
        TextColumn::number("size", ""),
        TextColumn::name("trial"),
        TextColumn::name("algorithm"),
        TextColumn::number("time", whole.name),
        TextColumn::number(&against, "%"),
    ];
    if has_rates {
        columns.extend([
            TextColumn::number("busbw", "GB/s"),
            TextColumn::number(&against, "%"),
            TextColumn::number("line rate", "%"),
            TextColumn::number("ideal", "%"),
        ]);
    }
    columns.extend([
        TextColumn::number("FCT P99", flow.name),
        TextColumn::number(&against, "%"),
        TextColumn::number("not accepted", "frames"),
        TextColumn::number("retransmitted", "frames"),
    ]);
    let mut table = TextTable::new(columns);
    for row in rows {
        let mut cells = vec![
            row.size_bytes.map(binary_size).unwrap_or_default(),
            row.trial.clone(),
            row.algorithm.clone().unwrap_or_default(),
            time(row.time, whole),
            difference(row.time_difference),
        ];
        if has_rates {
            cells.extend([
                float(row.busbw_gbytes_per_s),
                difference(row.busbw_difference),
                float(row.line_rate_percent),
                float(row.percent_of_ideal),
            ]);
        }
        cells.extend([
            time(row.fct_p99, flow),
            difference(row.fct_p99_difference),
            count(row.frames_delta),
            count(row.retransmitted_frames.map(u64::cast_signed)),
        ]);
        table.push(cells);
    }
    table
}

/// Returns a difference column's head, which names the reference if its name is short.
fn against(rows: &[ComparisonRow]) -> String {
    const SHOWN: usize = 16;
    let first = rows.first().map_or("", |row| &row.trial);
    // A long name would make the column wider than its numbers.
    if first.is_empty() || first.chars().count() > SHOWN {
        "vs first".to_owned()
    } else {
        format!("vs {first}")
    }
}

/// A unit of time, from nanoseconds to seconds.
#[derive(Clone, Copy)]
pub(crate) struct TimeUnit {
    pub(crate) name: &'static str,
    /// Duration of the unit, in ns.
    ns: f64,
}

impl TimeUnit {
    const S: TimeUnit = TimeUnit { name: "s", ns: 1e9 };
    const MS: TimeUnit = TimeUnit {
        name: "ms",
        ns: 1e6,
    };
    const US: TimeUnit = TimeUnit {
        name: "µs",
        ns: 1e3,
    };
    const NS: TimeUnit = TimeUnit {
        name: "ns",
        ns: 1.0,
    };
}

/// Returns the unit in which the greatest of `times` is a readable number.
pub(crate) fn unit(times: impl Iterator<Item = Option<Time>>) -> TimeUnit {
    let greatest = times.flatten().max().unwrap_or_default().as_ns();
    // Without a time above 0 any unit would do.
    if greatest == 0.0 {
        return TimeUnit::MS;
    }
    let units = [TimeUnit::S, TimeUnit::MS, TimeUnit::US];
    let found = units.into_iter().find(|unit| greatest >= unit.ns);
    found.unwrap_or(TimeUnit::NS)
}

pub(crate) fn time(time: Option<Time>, unit: TimeUnit) -> String {
    float(time.map(|time| time.as_ns() / unit.ns))
}

pub(crate) fn float(value: Option<f64>) -> String {
    let text = |value: f64| format!("{value:.*}", decimals_for(value, 4));
    value.map(text).unwrap_or_default()
}

pub(crate) fn difference(percent: Option<f64>) -> String {
    let text = |percent: f64| format!("{percent:+.2}");
    percent.map(text).unwrap_or_default()
}

fn count(count: Option<i64>) -> String {
    count.map(grouped).unwrap_or_default()
}
