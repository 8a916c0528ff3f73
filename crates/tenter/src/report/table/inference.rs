//! Inferences: request times, and how ranks spent theirs.

use std::fmt::Write as _;

use tenter_language::units::Time;
use tenter_results::{InferencePoolRow, InferenceRow};

use super::parallelism::{add_parts, by_parallelism, seconds};
use super::section::{CaptionedTable, Section};
use crate::report::numbers::grouped;
use crate::report::text_table::TextTable;

/// Describes each job's last iteration, with a table that shows bytes by parallelism.
pub(super) fn sections(rows: &[InferenceRow], pools: &[InferencePoolRow]) -> Vec<Section> {
    let mut sections = Vec::new();
    for job in rows.chunk_by(|a, b| a.job == b.job) {
        let Some(last) = job.last() else { continue };
        let mut lines = times(last);
        let own = pools
            .iter()
            .filter(|of| (of.job, of.iteration) == (last.job, last.iteration));
        lines.extend(own.map(sum));
        sections.push(Section {
            title: format!(
                "{}: {} requests in {} s, {} tokens/s, {:.1} tokens/s per accelerator",
                last.job_name,
                last.requests,
                seconds(last.duration),
                grouped(last.tokens_per_second as i64),
                last.tokens_of_accelerator
            ),
            lines,
            tables: volumes(last)
                .map(CaptionedTable::from)
                .into_iter()
                .collect(),
            remark: String::new(),
        });
    }
    sections
}

/// Describes the time to the first token with its parts, and the time per output token.
fn times(row: &InferenceRow) -> Vec<String> {
    let mut first = format!(
        "time to first token p50 {} ms, p99 {} ms: mean {} ms = queueing {} + prefill {}",
        ms(row.ttft_p50),
        ms(row.ttft_p99),
        ms(row.ttft_mean),
        ms(row.queueing_mean),
        ms(row.prefill_mean)
    );
    // The parts must add up to the mean, so the KV transfer is what the other two leave.
    let known = row.queueing_mean + row.prefill_mean;
    // The cache moves only if one pool prefills and another one decodes.
    if row.kv_mean.is_some() {
        let _ = write!(
            first,
            " + KV transfer {}",
            ms(row.ttft_mean.saturating_sub(known))
        );
    }
    let mut lines = vec![first];
    if let (Some(p50), Some(p99), Some(mean)) = (row.tpot_p50, row.tpot_p99, row.tpot_mean) {
        lines.push(format!(
            "time per output token p50 {} ms, p99 {} ms, mean {} ms",
            ms(p50),
            ms(p99),
            ms(mean)
        ));
    }
    lines
}

fn ms(time: Time) -> String {
    format!("{:.3}", time.as_ns() / 1e6)
}

/// Describes a pool's duration as the sum over its parts, without those that took no time.
fn sum(row: &InferencePoolRow) -> String {
    let mut text = format!(
        "pool {} ({} ranks, {} batches, {:.1} GB of memory): {} s = compute {}",
        row.pool,
        row.ranks,
        grouped(i64::try_from(row.batches).unwrap_or(i64::MAX)),
        row.memory as f64 / 1e9,
        seconds(row.duration),
        seconds(row.compute)
    );
    add_parts(
        &mut text,
        &[
            ("exposed TP", row.tensor),
            ("exposed EP", row.expert),
            ("exposed PP", row.pipeline),
            ("KV transfer", row.kv),
            ("bubble", row.bubble),
            ("idle", row.idle),
        ],
    );
    text
}

/// Tabulates bytes by parallelism; `None` if nothing was sent.
fn volumes(row: &InferenceRow) -> Option<TextTable> {
    let rows = [
        ("TP", row.tensor_within, row.tensor_network),
        ("EP", row.expert_within, row.expert_network),
        ("PP", row.pipeline_within, row.pipeline_network),
        ("KV", row.kv_within, row.kv_network),
    ];
    let is_sent = rows.iter().any(|(_, within, network)| within + network > 0);
    is_sent.then(|| by_parallelism(&rows))
}
