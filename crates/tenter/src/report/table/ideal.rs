//! Ideal ratios: times over those that the same transfers take on a full mesh with links at port
//! speed.

use tenter_results::{CollectiveRow, JobSummary};

use super::cells::{decimals, milliseconds, optional};
use super::section::Section;
use crate::report::numbers::binary_size;
use crate::report::text_table::{TextColumn, TextTable};

/// Tabulates the measured jobs, each followed by its measured collectives.
pub(super) fn section(jobs: &[JobSummary]) -> Section {
    let judged = || jobs.iter().filter(|job| !job.job.background);
    let rows = |job: &JobSummary| -> Vec<CollectiveRow> {
        let mut rows = job.collectives.clone();
        rows.retain(|row| !row.warm_up);
        rows.sort_by_key(|row| (row.index, row.iteration));
        rows
    };
    let columns = vec![
        TextColumn::name("job"),
        TextColumn::name("collective"),
        TextColumn::number("size", ""),
        TextColumn::number("full mesh", "ms"),
        TextColumn::number("ratio", ""),
        TextColumn::number("flows: mean", ""),
        TextColumn::number("P50", ""),
        TextColumn::number("P99", ""),
        TextColumn::number("P99.9", ""),
        TextColumn::number("max", ""),
    ];
    // All times share the decimals that the shortest of them needs.
    let ideals = judged().flat_map(&rows).map(|row| Some(row.full_mesh_time));
    let decimals = decimals(ideals);
    let ratio = |ratio: Option<f64>| optional(ratio, |ratio| format!("{ratio:.4}"));
    let mut table = TextTable::new(columns);
    for job in judged() {
        let mut whole = vec![job.job.name.clone(), "all".to_owned()];
        whole.extend([String::new(), String::new(), ratio(job.job.ideal_ratio)]);
        whole.resize(10, String::new());
        table.push(whole);
        for row in rows(job) {
            let mut cells = vec![
                String::new(),
                format!("{}, {}", row.collective, row.algorithm),
                binary_size(row.size_bytes),
                milliseconds(row.full_mesh_time, decimals),
            ];
            let ratios = [
                row.ideal_ratio,
                row.flow_ratio_mean,
                row.flow_ratio_p50,
                row.flow_ratio_p99,
                row.flow_ratio_p999,
                row.flow_ratio_max,
            ];
            cells.extend(ratios.map(ratio));
            table.push(cells);
        }
    }
    let title =
        "ideal ratio: time over that of the same transfers on a full mesh of links at port speed";
    Section::of_table(title.to_owned(), table)
}
