//! Inferences: times of requests, and what the time of the ranks went by with.

use std::fmt::{self, Write};

use tenter_record::{InferencePoolRow, InferenceRow};
use tenter_units::Time;

use crate::numbers::grouped;
use crate::text_table::{TextColumn, TextTable};

/// For each job the last iteration, in words and as a table of its parallelism.
pub(super) fn write(
    rows: &[InferenceRow],
    pools: &[InferencePoolRow],
    out: &mut impl fmt::Write,
) -> fmt::Result {
    for job in rows.chunk_by(|a, b| a.job == b.job) {
        let Some(last) = job.last() else { continue };
        writeln!(
            out,
            "\n{}: {} requests in {} s, {} tokens/s, {:.1} tokens/s per accelerator",
            last.job_name,
            last.requests,
            seconds(last.duration),
            grouped(last.tokens_per_second as i64),
            last.tokens_of_accelerator
        )?;
        write_times(last, out)?;
        let own = pools
            .iter()
            .filter(|of| (of.job, of.iteration) == (last.job, last.iteration));
        for pool in own {
            writeln!(out, "{}", sum(pool))?;
        }
        if let Some(table) = volumes(last) {
            write!(out, "{table}")?;
        }
    }
    Ok(())
}

fn write_times(row: &InferenceRow, out: &mut impl fmt::Write) -> fmt::Result {
    write!(
        out,
        "time to first token p50 {} ms, p99 {} ms: mean {} ms = queueing {} + prefill {}",
        ms(row.ttft_p50),
        ms(row.ttft_p99),
        ms(row.ttft_mean),
        ms(row.queueing_mean),
        ms(row.prefill_mean)
    )?;
    let known = row.queueing_mean + row.prefill_mean;
    if row.kv_mean.is_some() {
        write!(
            out,
            " + KV transfer {}",
            ms(row.ttft_mean.saturating_sub(known))
        )?;
    }
    writeln!(out)?;
    if let (Some(p50), Some(p99), Some(mean)) = (row.tpot_p50, row.tpot_p99, row.tpot_mean) {
        writeln!(
            out,
            "time per output token p50 {} ms, p99 {} ms, mean {} ms",
            ms(p50),
            ms(p99),
            ms(mean)
        )?;
    }
    Ok(())
}

fn ms(time: Time) -> String {
    format!("{:.3}", time.as_ns() / 1e6)
}

/// Seconds with at least four significant digits of what is not short.
fn seconds(time: Time) -> String {
    let seconds = time.as_ns() / 1e9;
    let decimals = match seconds {
        _ if seconds >= 1.0 => 3,
        _ if seconds >= 0.1 => 4,
        _ => 6,
    };
    format!("{seconds:.decimals$}")
}

/// What the duration is the sum of at a pool; what took no time is left out.
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
    for (name, time) in [
        ("exposed TP", row.tensor),
        ("exposed EP", row.expert),
        ("exposed PP", row.pipeline),
        ("KV transfer", row.kv),
        ("bubble", row.bubble),
        ("idle", row.idle),
    ] {
        if !time.is_zero() {
            let _ = write!(text, " + {name} {}", seconds(time));
        }
    }
    text
}

/// Bytes by parallelism; none where nothing is sent.
fn volumes(row: &InferenceRow) -> Option<TextTable> {
    let mut table = TextTable::new(vec![
        TextColumn::name("parallelism"),
        TextColumn::number("scale-up", "GB"),
        TextColumn::number("network", "GB"),
    ]);
    let rows = [
        ("TP", row.tensor_within, row.tensor_network),
        ("EP", row.expert_within, row.expert_network),
        ("PP", row.pipeline_within, row.pipeline_network),
        ("KV", row.kv_within, row.kv_network),
    ];
    let rows = rows
        .iter()
        .filter(|(_, within, network)| within + network > 0);
    let gb = |bytes: &u64| format!("{:.3}", *bytes as f64 / 1e9);
    let mut is_empty = true;
    for (name, within, network) in rows {
        is_empty = false;
        table.push(vec![(*name).to_owned(), gb(within), gb(network)]);
    }
    (!is_empty).then_some(table)
}
