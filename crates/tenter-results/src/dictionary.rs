//! The data dictionary: every column that a trial writes, from the row declarations.

use std::fmt::Write as _;

use crate::column::{Column, ColumnInfo, Kind, Row};
use crate::comparison::ComparisonRow;
use crate::deviation::DeviationRow;
use crate::notes::{NoteCode, NoteRow};
use crate::paired::PairedRow;
use crate::seeds::SeedRow;
use crate::tables::{EachTable, Kept, Table, each_table};

/// A table without its rows' type.
struct TableEntry {
    table: &'static str,
    about: &'static str,
    columns: Vec<ColumnInfo>,
}

impl TableEntry {
    fn of<R: Row>() -> TableEntry {
        TableEntry {
            table: R::TABLE,
            about: R::ABOUT.trim(),
            columns: R::COLUMNS.iter().map(Column::info).collect(),
        }
    }
}

/// Returns the tables over several trials, each with its introduction.
fn tables_of_trials() -> [(&'static str, TableEntry); 4] {
    [
        (SEEDS_INTRODUCTION, TableEntry::of::<SeedRow>()),
        (COMPARISON_INTRODUCTION, TableEntry::of::<ComparisonRow>()),
        (DEVIATIONS_INTRODUCTION, TableEntry::of::<DeviationRow>()),
        (PAIRED_INTRODUCTION, TableEntry::of::<PairedRow>()),
    ]
}

/// A trial's table: its file or place in the summary, introduction and columns.
struct OfTrial {
    kept: Kept,
    introduction: &'static str,
    entry: TableEntry,
}

fn tables() -> Vec<OfTrial> {
    struct Of;
    impl EachTable for Of {
        type Out = OfTrial;
        fn of<R: Table>(&mut self) -> OfTrial {
            OfTrial {
                kept: R::KEPT,
                introduction: R::INTRODUCTION,
                entry: TableEntry::of::<R>(),
            }
        }
    }
    each_table(Of)
}

/// Writes the data dictionary as Markdown; `docs/data-dictionary.md` is this text.
pub fn markdown() -> String {
    let mut page = String::from(INTRODUCTION);
    let (in_summary, in_files): (Vec<_>, Vec<_>) = tables()
        .into_iter()
        .partition(|table| table.kept == Kept::InSummary);
    for table in in_files {
        // Writing into a `String` does not fail, here and below.
        let _ = writeln!(page, "\n## `{}.parquet`\n", table.entry.table);
        table_as_markdown(&table, &mut page);
    }
    page.push_str(SUMMARY_INTRODUCTION);
    for table in in_summary {
        let _ = writeln!(page, "\n### `{}`\n", table.entry.table);
        table_as_markdown(&table, &mut page);
    }
    for (introduction, entry) in tables_of_trials() {
        page.push_str(introduction);
        columns_as_markdown(&entry, &mut page);
    }
    page
}

fn table_as_markdown(table: &OfTrial, page: &mut String) {
    // The lines of a doc comment are one paragraph of the page.
    let lines = table.introduction.lines().map(str::trim);
    let introduction = lines.collect::<Vec<_>>().join(" ");
    if !introduction.is_empty() {
        let _ = writeln!(page, "{introduction}");
    }
    if table.entry.table == NoteRow::TABLE {
        page.push_str("The kinds of notes are:\n\n");
        for (code, meaning) in NoteCode::ALL {
            let severity = code.severity().word();
            let _ = writeln!(page, "- `{}` ({severity}): {}", code.word(), meaning.trim());
        }
    }
    if !table.introduction.is_empty() {
        page.push('\n');
    }
    columns_as_markdown(&table.entry, page);
}

fn columns_as_markdown(entry: &TableEntry, page: &mut String) {
    let _ = writeln!(
        page,
        "{}\n\n| column | type | unit | meaning |\n|---|---|---|---|",
        entry.about
    );
    for column in &entry.columns {
        let kind = match column.kind {
            Kind::Integer => "integer",
            Kind::Unsigned => "unsigned integer",
            Kind::Float => "float",
            Kind::Text => "text",
            Kind::Flag => "flag",
        };
        let optional = if column.optional { " or missing" } else { "" };
        let _ = writeln!(
            page,
            "| `{}` | {kind}{optional} | {} | {} |",
            column.name, column.unit, column.meaning
        );
    }
}

const INTRODUCTION: &str = "\
# Data dictionary

Every table and column of a trial folder. This page is generated from the row types in `crates/tenter-results`; after a change there,
`cargo run -p tenter-results --example dictionary > docs/data-dictionary.md` writes it anew.

- A column's name ends with its unit. `GB` and `Gbit` are 10⁹; sizes are in bytes.
- Times are simulated and counted from the start of the trial. The simulation counts whole picoseconds; a `_ns` column holds the nearest
  64-bit float to that count over 1,000, so up to 18 minutes multiplying by 1,000 and rounding gives the exact count back.
- Integers are signed 64-bit, so that a difference of two columns cannot wrap around.
- Percentiles are by nearest rank: the smallest value with at least that share of all values at or below it.
- Frame bytes count the Ethernet frame with its FCS, without preamble and inter-frame gap.
- Text is UTF-8. A missing value is null in Parquet and JSON and empty in CSV.
- Each Parquet file has key-value metadata: `tenter.version`, `tenter.seed`, `tenter.digest`, and `tenter.unit.COLUMN` for each column with a
  unit. A file of several trials has their seeds and digests, each with commas between, in the same order; `results.parquet` of a sweep has
  the digest of the sweep. A trial that was not finished has no digest.
- Rows of `flows` are in the order in which the chunks ended, which is the same on any number of threads.
";

const SUMMARY_INTRODUCTION: &str = "
## `summary.json`

`tenter_version`, `scenario` and `seed` say what ran; `complete` is false for a trial that ended early, and `stopped` then says why;
`stopped_by` names the kind: `user`, `time-limit`, `deadlock` or `lab` (a host or link of a lab was lost), and is left out where the trial ran to its end and in trials of earlier versions;
`notes[]` are the rows of `notes.parquet`, and `warnings` the texts of those that are warnings. `jobs[]` are the rows of `jobs.parquet`, each with `collectives[]`, its rows of `collectives.parquet` (all
columns but `job_name`). The same text is printed by `tenter run --format json`. Its other blocks follow; each is a table, too.
";

const SEEDS_INTRODUCTION: &str = "
## `seeds.parquet`

`tenter run --seeds N` leaves a folder with a trial folder for each seed, `seed-1`, `seed-2` and so on, and this table beside them.

";

const DEVIATIONS_INTRODUCTION: &str = "
### Simulated beside measured

`tenter compare --measured FILE` has a row for each size that a trial and the file share, in `deviations[]` of `--format json`.

";

const COMPARISON_INTRODUCTION: &str = "
## `tenter compare`

The columns that `tenter compare --format csv` prints, and `--format json` in `comparison[]`; `trials[]` there says of each trial what it
was. A file of measurements has rows too, in which only the time and the bus bandwidth are known.

";

const PAIRED_INTRODUCTION: &str = "
### Folders of seeds and of sweeps

The columns that `tenter compare` prints of such folders; with `--format json` in `comparison[]`.

";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PortRow;
    use crate::column::{Cell, Names, TakeCell};

    fn all() -> impl Iterator<Item = (&'static str, ColumnInfo)> {
        let of_trial = tables().into_iter().map(|table| table.entry);
        let entries = of_trial.chain(tables_of_trials().map(|(_, entry)| entry));
        entries.flat_map(|e| e.columns.into_iter().map(move |c| (e.table, c)))
    }

    #[test]
    fn a_name_ends_with_its_unit() {
        for (table, column) in all() {
            let suffixes: &[&str] = match column.unit {
                "" | "tokens" | "requests" | "windows" | "visits" | "packets" | "timeouts"
                | "storms" => {
                    continue;
                }
                "ns" => &["_ns"],
                "ps" => &["_ps"],
                "s" => &["_s"],
                "bits" => &["_bits"],
                "bytes" => &["_bytes"],
                "frames" => &["_frames", "frames_delta"],
                "flows" => &["flows"],
                "periods" => &["_periods"],
                "jumps" => &["jumps"],
                "%" => &["_percent", "percent_of_ideal"],
                "GB/s (10⁹)" => &["_gbytes_per_s"],
                "Gbit/s (10⁹)" => &["_gbps"],
                "tokens/s" => &["tokens_per_s", "tokens_per_s_per_accelerator"],
                "requests/s" => &["requests_per_s"],
                "TFLOP/s" => &["tflops_per_accelerator"],
                "W" => &["_w"],
                "J" => &["_j"],
                "W per Gbit/s" => &["_w_per_gbps"],
                "pJ/bit" => &["pj_per_bit"],
                other => panic!("{table}.{}: unit {other} is not known here", column.name),
            };
            assert!(
                suffixes.iter().any(|suffix| column.name.ends_with(suffix)),
                "{table}.{} does not end with its unit {}",
                column.name,
                column.unit
            );
        }
    }

    #[test]
    fn names_are_unique_and_meanings_are_sentences() {
        let mut seen = std::collections::BTreeSet::new();
        for (table, column) in all() {
            assert!(
                seen.insert((table, column.name)),
                "{table}.{} twice",
                column.name
            );
            assert!(
                column.meaning.ends_with('.'),
                "{table}.{}: {}",
                column.name,
                column.meaning
            );
            assert!(
                !column.meaning.contains('|'),
                "{table}.{} breaks the table",
                column.name
            );
        }
    }

    /// Number of values of a row that are missing.
    fn missing(row: &PortRow) -> usize {
        struct Missing(usize);
        impl TakeCell for Missing {
            fn take(&mut self, cell: Cell<'_>) {
                self.0 += usize::from(cell == Cell::Missing);
            }
        }
        let mut missing = Missing(0);
        row.cells(&mut missing);
        missing.0
    }

    #[test]
    fn a_counter_that_was_not_read_is_missing() {
        let mut row = PortRow::default();
        row.unread.add("dropped_frames");
        row.unread.add("dropped_frames");
        let value = |row: &PortRow, name: &str| {
            let mut columns = PortRow::COLUMNS.iter();
            let column = columns.find(|column| column.name == name);
            let column = column.expect("it is one");
            assert!(column.optional && column.may_be_unread);
            (column.cell)(row, &Names::default()).integer()
        };
        assert_eq!(value(&row, "dropped_frames"), None);
        assert_eq!(value(&row, "tx_frames"), Some(0));
        let text = serde_json::to_string(&row).expect("a row");
        assert!(text.contains("\"dropped_frames\":null"), "{text}");
        let never = PortRow::default();
        assert_eq!(missing(&row), missing(&never) + 1);
        row.unread.remove("dropped_frames");
        assert_eq!(row, never);
    }
}
