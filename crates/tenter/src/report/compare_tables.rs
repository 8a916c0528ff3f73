//! Tables for a comparison of trials.

use tenter_results::ComparisonRow;

use crate::report::compare::{INFERENCE, TRAINING, is_whole_trial, job_of};
use crate::report::numbers::{binary_size, decimals_for, grouped};
use crate::report::table::{FLOWS, GRAPH, MARK_COLUMNS, Section};
use crate::report::text_table::{TextColumn, TextTable};
use crate::report::time_unit::TimeUnit;

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
    let unit = TimeUnit::of(rows.iter().map(|row| row.time));
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
            unit.text(row.time),
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
    let unit = TimeUnit::of(rows.iter().map(|row| row.time));
    timed_table(
        rows,
        "step",
        &[
            ("compute", unit.name, &|row| unit.text(row.compute)),
            ("exposed", unit.name, &|row| unit.text(row.exposed)),
            ("bubble", unit.name, &|row| unit.text(row.bubble)),
            ("tokens/s", "", &|row| tokens(row)),
            ("MFU", "%", &|row| float(row.mfu)),
        ],
    )
}

/// Makes the table for inference requests.
fn inference_table(rows: &[ComparisonRow]) -> TextTable {
    let first = TimeUnit::of(rows.iter().map(|row| row.ttft_p50));
    let further = TimeUnit::of(rows.iter().map(|row| row.tpot_p50));
    timed_table(
        rows,
        "all requests",
        &[
            ("TTFT P50", first.name, &|row| first.text(row.ttft_p50)),
            ("P99", first.name, &|row| first.text(row.ttft_p99)),
            ("TPOT P50", further.name, &|row| further.text(row.tpot_p50)),
            ("P99", further.name, &|row| further.text(row.tpot_p99)),
            ("tokens/s", "", &|row| tokens(row)),
        ],
    )
}

fn tokens(row: &ComparisonRow) -> String {
    count(row.tokens_per_second.map(|tokens| tokens as i64))
}

fn trial_table(rows: &[ComparisonRow]) -> TextTable {
    let pauses = TimeUnit::of(rows.iter().map(|row| row.paused));
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
            pauses.text(row.paused),
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
    let whole = TimeUnit::of(rows.iter().map(|row| row.time));
    let flow = TimeUnit::of(rows.iter().map(|row| row.fct_p99));
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
    let marks = |row: &ComparisonRow| [row.rx_marked_frames, row.cnp_frames];
    let mut all_marks = rows.iter().flat_map(marks);
    let has_marks = all_marks.any(|frames| frames.is_some_and(|frames| frames > 0));
    if has_marks {
        columns.extend(MARK_COLUMNS.map(|name| TextColumn::number(name, "frames")));
    }
    let mut table = TextTable::new(columns);
    for row in rows {
        let mut cells = vec![
            row.size_bytes.map(binary_size).unwrap_or_default(),
            row.trial.clone(),
            row.algorithm.clone().unwrap_or_default(),
            whole.text(row.time),
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
            flow.text(row.fct_p99),
            difference(row.fct_p99_difference),
            count(row.frames_delta),
            count(row.retransmitted_frames.map(u64::cast_signed)),
        ]);
        if has_marks {
            cells.extend(marks(row).map(|frames| count(frames.map(u64::cast_signed))));
        }
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
