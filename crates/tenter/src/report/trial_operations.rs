//! A trial's operations for reports: those at some ranks, and recorded beside simulated times over
//! all ranks.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use parquet::record::{Field, Row as Record};
use tenter_results::OperationRow;

use crate::report::TrialError;
use crate::report::column_scan::scan;
use crate::report::own_file::has_own;
use crate::report::read::{each_record, row_of};
use crate::report::span::Span;
use crate::report::trial_files::table_file;

/// Maximum number of ranks drawn per job.
const RANKS: usize = 8;
/// Maximum number of operations drawn per job.
const ROWS: usize = 400_000;

/// Operations in a job's last iteration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OperationsOf {
    /// Job index in the trial.
    pub job: u32,
    /// Number of the last iteration.
    pub iteration: u32,
    /// Number of ranks in the job.
    pub ranks: u32,
    /// Completed operations at the drawn ranks, in rank order.
    pub drawn: Vec<OperationRow>,
    /// Number of further operations at these ranks, beyond the limit.
    pub left_out: u64,
    /// Sums over recorded operations, by kind.
    pub recorded: BTreeMap<String, Recorded>,
    /// Recorded and simulated span for each rank with recorded times.
    pub spans: BTreeMap<u32, Spans>,
}

/// Sums over recorded operations of one kind; times are in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Recorded {
    /// Number of operations in the sums.
    pub count: u64,
    /// Sum of the recorded durations.
    pub recorded: f64,
    /// Sum of the simulated durations.
    pub simulated: f64,
}

/// Spans from the first start to the last end, in ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spans {
    /// Span in the recording, by its own clock.
    pub recorded: Span,
    /// Span in simulated time, in ns.
    pub simulated: Span,
}

impl Spans {
    const NONE: Spans = Spans {
        recorded: Span::NONE,
        simulated: Span::NONE,
    };

    fn add(&mut self, recorded: Span, simulated: Span) {
        self.recorded = self.recorded.with(recorded);
        self.simulated = self.simulated.with(simulated);
    }
}

/// Reads the operations in the last iteration, for each job with a graph.
///
/// # Errors
/// If the file is damaged, or lacks a column of the row.
pub(crate) fn read_operations(folder: &Path) -> Result<Vec<OperationsOf>, TrialError> {
    if !has_own(&table_file::<OperationRow>(folder)) {
        return Ok(Vec::new());
    }
    // A first pass over three columns finds the last iterations. The second one then decodes whole
    // records only where they are drawn.
    let mut last: BTreeMap<u32, OperationsOf> = BTreeMap::new();
    scan::<OperationRow, 3>(folder, ["job", "iteration", "rank"], |row| {
        let [job, iteration, rank] = row.map(|value| value as u32);
        let of = last.entry(job).or_default();
        (of.job, of.iteration) = (job, of.iteration.max(iteration));
        // Ranks without operations have no rows, so the highest number gives the count.
        of.ranks = of.ranks.max(rank + 1);
    })?;
    let drawn: BTreeSet<(u32, u32)> = last
        .values()
        .flat_map(|of| drawn_ranks(of.ranks).map(|rank| (of.job, rank)))
        .collect();
    each_record::<OperationRow>(folder, |record| {
        let number = |name| number(&record, name);
        let (Some(job), Some(iteration), Some(rank)) =
            (number("job"), number("iteration"), number("rank"))
        else {
            return Ok(());
        };
        let (job, rank) = (job as u32, rank as u32);
        let Some(of) = last.get_mut(&job) else {
            return Ok(());
        };
        let simulated = number("started_ns").zip(number("done_ns"));
        let simulated = simulated.map(|(from, to)| Span { from, to });
        let Some(simulated) = simulated.filter(|_| of.iteration == iteration as u32) else {
            return Ok(());
        };
        if let Some(took) = number("measured_time_ns") {
            let kind = text(&record, "kind");
            // A simulated receive asks for its message as early as it can, a recorded one when it
            // was called, so their durations cannot be compared.
            if kind != "receive" {
                let of_kind = of.recorded.entry(kind).or_default();
                of_kind.count += 1;
                of_kind.recorded += took;
                of_kind.simulated += simulated.length();
            }
            if let Some(start) = number("measured_start_ns") {
                let spans = of.spans.entry(rank).or_insert(Spans::NONE);
                let recorded = Span {
                    from: start,
                    to: start + took,
                };
                spans.add(recorded, simulated);
            }
        }
        if drawn.contains(&(job, rank)) {
            if of.drawn.len() < ROWS {
                of.drawn.push(row_of(folder, record)?);
            } else {
                of.left_out += 1;
            }
        }
        Ok(())
    })?;
    Ok(last.into_values().collect())
}

/// Returns the ranks to draw, as far apart as possible: in a training these belong to different
/// stages.
fn drawn_ranks(ranks: u32) -> impl Iterator<Item = u32> {
    let count = ranks.min(RANKS as u32).max(1);
    (0..count).map(move |nth| (u64::from(nth) * u64::from(ranks) / u64::from(count)) as u32)
}

fn field<'r>(record: &'r Record, name: &str) -> Option<&'r Field> {
    let mut columns = record.get_column_iter();
    columns
        .find(|column| column.0 == name)
        .map(|column| column.1)
}

fn number(record: &Record, name: &str) -> Option<f64> {
    match field(record, name)? {
        Field::Long(value) => Some(*value as f64),
        Field::ULong(value) => Some(*value as f64),
        Field::Double(value) => Some(*value),
        _ => None,
    }
}

fn text(record: &Record, name: &str) -> String {
    match field(record, name) {
        Some(Field::Str(text)) => text.clone(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_ranks_are_far_apart() {
        assert_eq!(drawn_ranks(3).collect::<Vec<_>>(), [0, 1, 2]);
        let of_many: Vec<u32> = drawn_ranks(64).collect();
        assert_eq!(of_many, [0, 8, 16, 24, 32, 40, 48, 56]);
    }
}
