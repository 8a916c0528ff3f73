//! Critical paths through operation graphs.

use tenter_language::units::Time;
use tenter_results::CriticalShareRow;

use super::cells::{decimals, milliseconds};
use super::section::Section;
use crate::report::text_table::{TextColumn, TextTable};

/// Maximum number of iterations per job that are listed.
const ITERATIONS: usize = 10;

/// Tabulates, for each job that runs an operation graph, what its critical path consists of.
pub(super) fn sections(rows: &[CriticalShareRow]) -> Vec<Section> {
    let mut sections = Vec::new();
    for job in rows.chunk_by(|a, b| a.job == b.job) {
        let mut table = TextTable::new(vec![
            TextColumn::number("iteration", ""),
            TextColumn::number("time", "ms"),
            TextColumn::number("compute", "%"),
            TextColumn::number("messages", "%"),
            TextColumn::number("collectives", "%"),
            TextColumn::number("acknowledgements", "%"),
            TextColumn::number("overhead", "%"),
            TextColumn::number("waits", "%"),
            TextColumn::number("exposed, mean", "ms"),
            TextColumn::number("exposed, max", "ms"),
            TextColumn::number("at rank", ""),
        ]);
        let times = |row: &CriticalShareRow| [row.whole, row.exposed_mean, row.exposed_max];
        let decimals = decimals(job.iter().flat_map(times).map(Some));
        let ms = |time: Time| milliseconds(time, decimals);
        for row in job.iter().take(ITERATIONS) {
            let share = |time: Time| {
                // Keeps the division defined for an iteration that took no time.
                let whole = row.whole.as_ns().max(f64::MIN_POSITIVE);
                format!("{:.1}", 100.0 * time.as_ns() / whole)
            };
            table.push(vec![
                row.iteration.to_string(),
                ms(row.whole),
                share(row.compute),
                share(row.message),
                share(row.collective),
                share(row.acknowledgement),
                share(row.overhead),
                share(row.wait()),
                ms(row.exposed_mean),
                ms(row.exposed_max),
                row.exposed_max_rank.to_string(),
            ]);
        }
        let name = &job[0].job_name;
        let title = format!("{name}: critical path, and exposed communication of ranks");
        let mut section = Section::of_table(title, table);
        if let more @ 1.. = job.len().saturating_sub(ITERATIONS) {
            section.remark = format!("and {more} more iterations");
        }
        sections.push(section);
    }
    sections
}
