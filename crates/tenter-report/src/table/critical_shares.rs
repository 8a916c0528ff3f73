//! What held up graphs of operations.

use std::fmt;

use tenter_record::CriticalShareRow;
use tenter_units::Time;

use crate::text_table::{TextColumn, TextTable};

/// More iterations of a job are told as one line.
const ITERATIONS: usize = 10;

/// For each job that runs a graph of operations what its critical path consists of.
pub(super) fn write(rows: &[CriticalShareRow], out: &mut impl fmt::Write) -> fmt::Result {
    for job in rows.chunk_by(|a, b| a.job == b.job) {
        let mut table = TextTable::new(vec![
            TextColumn::number("iteration", ""),
            TextColumn::number("time", "us"),
            TextColumn::number("compute", "%"),
            TextColumn::number("messages", "%"),
            TextColumn::number("collectives", "%"),
            TextColumn::number("acknowledgements", "%"),
            TextColumn::number("overhead", "%"),
            TextColumn::number("exposed, mean", "us"),
            TextColumn::number("exposed, max", "us"),
            TextColumn::number("at rank", ""),
        ]);
        for row in job.iter().take(ITERATIONS) {
            let us = |time: Time| format!("{:.2}", time.as_ns() / 1e3);
            let share = |time: Time| {
                let whole = row.whole.as_ns().max(f64::MIN_POSITIVE);
                format!("{:.1}", 100.0 * time.as_ns() / whole)
            };
            table.push(vec![
                row.iteration.to_string(),
                us(row.whole),
                share(row.compute),
                share(row.message),
                share(row.collective),
                share(row.acknowledgement),
                share(row.overhead),
                us(row.exposed_mean),
                us(row.exposed_max),
                row.exposed_max_rank.to_string(),
            ]);
        }
        let name = &job[0].job_name;
        writeln!(
            out,
            "\n{name}: critical path, and communication without computing"
        )?;
        write!(out, "{table}")?;
        if let more @ 1.. = job.len().saturating_sub(ITERATIONS) {
            writeln!(out, "and {more} more iterations")?;
        }
    }
    Ok(())
}
