//! Training steps and their parts.

use tenter_results::TrainingStepRow;

use super::parallelism::{add_parts, by_parallelism, seconds};
use super::section::Section;
use crate::report::numbers::grouped;
use crate::report::text_table::{TextColumn, TextTable};

/// Maximum number of steps that are listed.
const STEPS: usize = 10;

/// Describes each training's last step, then lists the steps.
pub(super) fn sections(rows: &[TrainingStepRow]) -> Vec<Section> {
    let mut sections = Vec::new();
    for job in rows.chunk_by(|a, b| a.job == b.job) {
        let Some(steady) = job.last() else { continue };
        let mut section = Section {
            title: format!("{}: {}", steady.job_name, sum(steady)),
            lines: vec![format!(
                "{} tokens/s, {:.1} TFLOP/s and {:.1} GB of memory per accelerator, MFU {:.1} %",
                grouped(steady.tokens_per_second as i64),
                steady.tflops,
                steady.memory as f64 / 1e9,
                steady.mfu
            )],
            tables: vec![volumes(steady).into()],
            remark: String::new(),
        };
        if job.len() > 1 {
            section.tables.push(steps(job).into());
        }
        if let more @ 1.. = job.len().saturating_sub(STEPS) {
            section.remark = format!("and {more} more steps");
        }
        sections.push(section);
    }
    sections
}

/// Describes a step as the sum over its parts, without those that took no time.
fn sum(row: &TrainingStepRow) -> String {
    let mut text = format!(
        "step {} s = compute {}",
        seconds(row.step),
        seconds(row.compute)
    );
    add_parts(
        &mut text,
        &[
            ("exposed TP", row.tensor),
            ("exposed EP", row.expert),
            ("exposed CP", row.context),
            ("exposed PP", row.pipeline),
            ("bubble", row.bubble),
            ("exposed DP", row.data),
        ],
    );
    text
}

fn volumes(row: &TrainingStepRow) -> TextTable {
    by_parallelism(&[
        ("TP", row.tensor_within, row.tensor_network),
        ("EP", row.expert_within, row.expert_network),
        ("CP", row.context_within, row.context_network),
        ("PP", row.pipeline_within, row.pipeline_network),
        ("DP", row.data_within, row.data_network),
    ])
}

fn steps(rows: &[TrainingStepRow]) -> TextTable {
    let columns = ["step", "compute", "TP", "EP", "CP", "PP", "bubble", "DP"];
    let mut header = vec![TextColumn::number("iteration", "")];
    header.extend(columns.map(|name| TextColumn::number(name, "ms")));
    let mut table = TextTable::new(header);
    for row in rows.iter().take(STEPS) {
        let times = [
            row.step,
            row.compute,
            row.tensor,
            row.expert,
            row.context,
            row.pipeline,
            row.bubble,
            row.data,
        ];
        let mut line = vec![row.iteration.to_string()];
        line.extend(times.map(|time| format!("{:.3}", time.as_ns() / 1e6)));
        table.push(line);
    }
    table
}
