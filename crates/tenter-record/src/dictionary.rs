//! The data dictionary: every column a trial writes, taken from the declarations of the rows.

use std::fmt::Write as _;

use crate::circuits::CircuitRow;
use crate::column::{Kind, Row};
use crate::comparison::ComparisonRow;
use crate::deviation::DeviationRow;
use crate::flow_sizes::FlowSizeRow;
use crate::inference::{InferencePoolRow, InferenceRow, RequestRow};
use crate::interference::InterferenceRow;
use crate::notes::{NoteCode, NoteRow};
use crate::operations::{CriticalPathRow, CriticalShareRow, OperationRow, RankTimeRow};
use crate::paired::PairedRow;
use crate::power::PowerRow;
use crate::queue_changes::QueueChangeRow;
use crate::rows::{
    CollectiveRow, FlowRow, JobRow, PortRow, QueueRow, SampleRow, SwitchRow, TierRow,
};
use crate::seeds::SeedRow;
use crate::signals::{ReactionRow, SignalRow};
use crate::steering::SteeringRow;
use crate::summary::{EngineStats, Totals};
use crate::training::{TrainingRankRow, TrainingStepRow};

/// A table (or a block of `summary.json`) and its columns, without the row type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableEntry {
    /// The table's name.
    pub table: &'static str,
    /// What one row is.
    pub about: &'static str,
    /// The columns in the order of the file.
    pub columns: Vec<ColumnEntry>,
}

/// A column, without the row type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnEntry {
    /// The column's name.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// Whether a row may have no value here.
    pub optional: bool,
    /// The unit, empty where there is none.
    pub unit: &'static str,
    /// What the value is.
    pub meaning: String,
}

impl TableEntry {
    /// The entry of a row type.
    pub fn of<R: Row>() -> TableEntry {
        let columns = R::COLUMNS.iter().map(|column| ColumnEntry {
            name: column.name,
            kind: column.kind,
            optional: column.optional,
            unit: column.unit,
            meaning: column.meaning.trim().to_owned(),
        });
        TableEntry {
            table: R::TABLE,
            about: R::ABOUT.trim(),
            columns: columns.collect(),
        }
    }
}

/// The Parquet tables of a trial folder.
pub fn tables() -> Vec<TableEntry> {
    vec![
        TableEntry::of::<JobRow>(),
        TableEntry::of::<CollectiveRow>(),
        TableEntry::of::<FlowRow>(),
        TableEntry::of::<PortRow>(),
        TableEntry::of::<QueueRow>(),
        TableEntry::of::<SwitchRow>(),
        TableEntry::of::<TierRow>(),
        TableEntry::of::<SampleRow>(),
    ]
}

/// The tables that only trials with signals to senders have.
fn signal_tables() -> [TableEntry; 2] {
    [
        TableEntry::of::<SignalRow>(),
        TableEntry::of::<ReactionRow>(),
    ]
}

fn operation_tables() -> [TableEntry; 4] {
    [
        TableEntry::of::<OperationRow>(),
        TableEntry::of::<RankTimeRow>(),
        TableEntry::of::<CriticalPathRow>(),
        TableEntry::of::<CriticalShareRow>(),
    ]
}

/// The blocks of `summary.json` beside its job and collective rows.
pub fn summary_blocks() -> Vec<TableEntry> {
    vec![TableEntry::of::<Totals>(), TableEntry::of::<EngineStats>()]
}

/// The data dictionary as Markdown; `docs/data-dictionary.md` is this text.
pub fn markdown() -> String {
    let mut page = String::from(INTRODUCTION);
    for entry in tables() {
        let _ = writeln!(page, "\n## `{}.parquet`\n", entry.table);
        columns_as_markdown(&entry, &mut page);
    }
    notes_as_markdown(&mut page);
    page.push_str(SUMMARY_INTRODUCTION);
    for entry in summary_blocks() {
        let _ = writeln!(page, "\n### `{}`\n", entry.table);
        columns_as_markdown(&entry, &mut page);
    }
    page.push_str(INTERFERENCE_INTRODUCTION);
    columns_as_markdown(&TableEntry::of::<InterferenceRow>(), &mut page);
    for entry in signal_tables() {
        let _ = writeln!(
            page,
            "\n## `{}.parquet`\n\n{SIGNALS_INTRODUCTION}\n",
            entry.table
        );
        columns_as_markdown(&entry, &mut page);
    }
    page.push_str(CIRCUITS_INTRODUCTION);
    columns_as_markdown(&TableEntry::of::<CircuitRow>(), &mut page);
    page.push_str(STEERING_INTRODUCTION);
    columns_as_markdown(&TableEntry::of::<SteeringRow>(), &mut page);
    page.push_str(POWER_INTRODUCTION);
    columns_as_markdown(&TableEntry::of::<PowerRow>(), &mut page);
    page.push_str(FLOW_SIZES_INTRODUCTION);
    columns_as_markdown(&TableEntry::of::<FlowSizeRow>(), &mut page);
    page.push_str(QUEUE_CHANGES_INTRODUCTION);
    columns_as_markdown(&TableEntry::of::<QueueChangeRow>(), &mut page);
    page.push_str(OPERATIONS_INTRODUCTION);
    for entry in operation_tables() {
        let _ = writeln!(page, "### `{}`\n\n{}\n", entry.table, entry.about);
        columns_as_markdown(&entry, &mut page);
    }
    page.push_str(TRAINING_INTRODUCTION);
    for entry in [
        TableEntry::of::<TrainingStepRow>(),
        TableEntry::of::<TrainingRankRow>(),
    ] {
        let _ = writeln!(page, "### `{}`\n\n{}\n", entry.table, entry.about);
        columns_as_markdown(&entry, &mut page);
    }
    page.push_str(INFERENCE_INTRODUCTION);
    for entry in [
        TableEntry::of::<InferenceRow>(),
        TableEntry::of::<InferencePoolRow>(),
        TableEntry::of::<RequestRow>(),
    ] {
        let _ = writeln!(page, "### `{}`\n\n{}\n", entry.table, entry.about);
        columns_as_markdown(&entry, &mut page);
    }
    page.push_str(SEEDS_INTRODUCTION);
    columns_as_markdown(&TableEntry::of::<SeedRow>(), &mut page);
    page.push_str(COMPARISON_INTRODUCTION);
    columns_as_markdown(&TableEntry::of::<ComparisonRow>(), &mut page);
    page.push_str(DEVIATIONS_INTRODUCTION);
    columns_as_markdown(&TableEntry::of::<DeviationRow>(), &mut page);
    page.push_str(PAIRED_INTRODUCTION);
    columns_as_markdown(&TableEntry::of::<PairedRow>(), &mut page);
    page
}

fn notes_as_markdown(page: &mut String) {
    page.push_str(NOTES_INTRODUCTION);
    for (code, meaning) in NoteCode::ALL {
        let severity = code.severity().word();
        let _ = writeln!(page, "- `{}` ({severity}): {}", code.word(), meaning.trim());
    }
    page.push('\n');
    columns_as_markdown(&TableEntry::of::<NoteRow>(), page);
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

Every table and column of a trial folder. This page is generated from the row types in `crates/tenter-record`; after a change there,
`cargo run -p tenter-record --example dictionary > docs/data-dictionary.md` writes it anew.

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

const NOTES_INTRODUCTION: &str = "
## `notes.parquet`

Every trial has this table; `notes` of `summary.json` has the same rows.
What a comparison, a sweep, a study or a report says of a trial beside its numbers is taken from here.
The kinds of notes are:

";

const SUMMARY_INTRODUCTION: &str = "
## `summary.json`

`tenter_version`, `scenario` and `seed` say what ran; `complete` is false for a trial that ended early, and `stopped` then says why;
`stopped_by` names the kind: `user`, `time-limit`, `deadlock` or `lab` (a host or link of a lab was lost), and is left out where the trial ran to its end and in trials of earlier versions;
`notes[]` are the rows of `notes.parquet`, and `warnings` the texts of those that are warnings. `jobs[]` are the rows of `jobs.parquet`, each with `collectives[]`, its rows of `collectives.parquet` (all
columns but `job_name`). The same text is printed by `tenter run --format json`. Two blocks follow.
";

const INTERFERENCE_INTRODUCTION: &str = "
## `interference.parquet`

`tenter run --baseline`, `--interference` and `observe.baseline` of a scenario leave this table in the trial folder; `interference` of `summary.json` has the same rows.

";

const SIGNALS_INTRODUCTION: &str =
    "Only where `fabric.source_flow_control` has switches tell senders of long queues.";

const POWER_INTRODUCTION: &str = "
## `power` of `summary.json`

Only where the scenario has `fabric.power`.

";

const FLOW_SIZES_INTRODUCTION: &str = "
## `flow_sizes` of `summary.json`

Where jobs run a workload of flows, `flow_sizes[]` has for each of them a row for all flows and one for each tenth of its size distribution.

";

const CIRCUITS_INTRODUCTION: &str = "
## `circuits.parquet`

Only in trials of fabrics with optical circuit switches.

";

const STEERING_INTRODUCTION: &str = "
## `steering.parquet`

Only in trials whose optical circuits are steered (`fabric.circuits.steering`).

";

const QUEUE_CHANGES_INTRODUCTION: &str = "
## `queue_changes.parquet`

Only where `observe.queue_changes` names ports: port after port, each in the order of time.

";

const OPERATIONS_INTRODUCTION: &str = "
## Operations of graphs

Only where a job runs a graph of operations and `observe.operations` has them recorded.
`critical_shares[]` of `summary.json` has a row for each iteration.

";

const TRAINING_INTRODUCTION: &str = "
## Training

Only where a job has a workload of `kind: training`.
`training_steps[]` of `summary.json` has a row for each step.

";

const INFERENCE_INTRODUCTION: &str = "
## Inference

Only where a job has a workload of `kind: inference`.
`inference[]` of `summary.json` has a row for each iteration, `inference_pools[]` one for each iteration and pool.

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
    use crate::column::{Cell, Names, TakeCell};

    fn all() -> impl Iterator<Item = (&'static str, ColumnEntry)> {
        let apart = [
            TableEntry::of::<NoteRow>(),
            TableEntry::of::<InterferenceRow>(),
            TableEntry::of::<FlowSizeRow>(),
            TableEntry::of::<QueueChangeRow>(),
            TableEntry::of::<PowerRow>(),
            TableEntry::of::<OperationRow>(),
            TableEntry::of::<RankTimeRow>(),
            TableEntry::of::<CriticalPathRow>(),
            TableEntry::of::<CriticalShareRow>(),
            TableEntry::of::<TrainingRankRow>(),
            TableEntry::of::<TrainingStepRow>(),
            TableEntry::of::<InferenceRow>(),
            TableEntry::of::<InferencePoolRow>(),
            TableEntry::of::<RequestRow>(),
            TableEntry::of::<SeedRow>(),
            TableEntry::of::<ComparisonRow>(),
            TableEntry::of::<DeviationRow>(),
            TableEntry::of::<PairedRow>(),
        ];
        let entries = tables()
            .into_iter()
            .chain(summary_blocks())
            .chain(apart)
            .chain(signal_tables());
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

    /// How many values of a row are missing.
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
