//! Slowdown that jobs cause each other.

use tenter_results::InterferenceRow;

use super::cells::{decimals, milliseconds, optional};
use super::section::Section;
use crate::report::text_table::{TextColumn, TextTable};

/// Maximum number of columns that fit on a screen; `interference.parquet` has them all.
const BESIDE_SHOWN: usize = 12;

/// Tabulates jobs' times alone and together, with a column for each other job if pairs were run.
pub(super) fn section(rows: &[InterferenceRow]) -> Option<Section> {
    if rows.is_empty() {
        return None;
    }
    let mut beside: Vec<(u32, &str)> = rows
        .iter()
        .filter_map(|row| Some((row.beside?, row.beside_name.as_deref()?)))
        .collect();
    beside.sort_unstable();
    beside.dedup();
    let more = beside.len().saturating_sub(BESIDE_SHOWN);
    beside.truncate(BESIDE_SHOWN);
    let mut columns = vec![
        TextColumn::name("job"),
        TextColumn::number("alone", "ms"),
        TextColumn::number("beside all", "ms"),
        TextColumn::number("slowdown", ""),
    ];
    columns.extend(beside.iter().map(|(_, name)| TextColumn::number(name, "")));
    let decimals = decimals(rows.iter().flat_map(|row| [row.alone, row.together]));
    let time = |time| optional(time, |time| milliseconds(time, decimals));
    let ratio = |ratio| optional(ratio, |ratio: f64| format!("{ratio:.3}"));
    let mut table = TextTable::new(columns);
    for job in rows.iter().filter(|row| row.beside.is_none()) {
        let mut cells = vec![
            job.job_name.clone(),
            time(job.alone),
            time(job.together),
            ratio(job.slow_down),
        ];
        for (other, _) in &beside {
            // A job has no row beside itself; its cell stays empty.
            let pair = (job.job, Some(*other));
            let found = rows.iter().find(|row| (row.job, row.beside) == pair);
            cells.push(found.map_or_else(String::new, |row| ratio(row.slow_down)));
        }
        table.push(cells);
    }
    let pairs = if beside.is_empty() {
        ""
    } else {
        ", and with each of them only"
    };
    let title = format!("interference: JCT beside others over JCT alone{pairs}");
    let mut section = Section::of_table(title, table);
    if more > 0 {
        section.remark = format!("and {more} more jobs, which `interference.parquet` has");
    }
    Some(section)
}
