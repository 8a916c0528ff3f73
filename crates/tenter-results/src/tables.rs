//! A trial's tables, each named once.
//!
//! ```text
//!   rows! ── columns of a row        tables! ── origin of a table's rows
//!       │                                │
//!       └──────────────┬─────────────────┘
//!                      ▼
//!   Table ──▶ files of a trial, data dictionary, Arrow, readers, queries: an EachTable
//!             visits all tables, or the one with a given name
//! ```

use std::borrow::Cow;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::capture::Capture;
use crate::circuits::CircuitRow;
use crate::column::{Column, ColumnInfo, Row};
use crate::digest::Digest;
use crate::flow_sizes::FlowSizeRow;
use crate::inference::{InferencePoolRow, InferenceRow, RequestRow};
use crate::interference::InterferenceRow;
use crate::notes::NoteRow;
use crate::operations::{CriticalPathRow, CriticalShareRow, OperationRow, RankTimeRow};
use crate::power::PowerRow;
use crate::queue_changes::QueueChangeRow;
use crate::rows::{
    CollectiveRow, FlowRow, JobRow, PortRow, QueueRow, SampleRow, SwitchRow, TierRow,
};
use crate::signals::{ReactionRow, SignalRow};
use crate::steering::SteeringRow;
use crate::summary::{EngineStats, Summary, Totals};
use crate::tiers::Tiers;
use crate::training::{TrainingRankRow, TrainingStepRow};

/// Everything that a trial has left, from which its tables are made.
#[derive(Clone, Copy, Debug)]
pub struct Results<'t> {
    /// The trial's summary, with the tables in it.
    pub summary: &'t Summary,
    /// Tables that are complete when the trial has ended.
    pub counts: &'t Counts,
    /// The trial's flows, if they were kept in memory.
    pub flows: &'t [FlowRow],
    /// The trial's samples, if they were kept in memory.
    pub samples: &'t [SampleRow],
}

/// A table's place in a trial's folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// A file, even without rows.
    Always,
    /// A file that is written while the trial runs.
    Streamed,
    /// A file, if there are rows.
    IfAny,
    /// A block in `summary.json`, without a file.
    InSummary,
}

/// A table that trials have: its place, introduction and rows.
pub trait Table: Row + Clone + Serialize + DeserializeOwned {
    /// The table's place in a trial's folder.
    const KEPT: Kept;
    /// Condition under which a trial has the table, and further remarks, as Markdown; may be empty.
    const INTRODUCTION: &'static str;

    /// Returns the table's rows for a trial.
    fn rows<'t>(of: &Results<'t>) -> Cow<'t, [Self]>;
}

/// A function over tables, generic in their row types.
pub trait EachTable {
    /// Result that handling one table returns.
    type Out;
    /// Handles one table by its row type.
    fn of<R: Table>(&mut self) -> Self::Out;
}

/// Reader for tables, wherever their rows are stored.
pub trait ReadTable {
    /// Error while a table is read.
    type Error;
    /// Reads all rows in a table.
    ///
    /// # Errors
    /// A table that cannot be read.
    fn read<R: Table>(&self) -> Result<Vec<R>, Self::Error>;
}

/// Calls `each` for the table called `name`; `None` if there is no such table.
pub fn with_table<E: EachTable>(name: &str, mut each: E) -> Option<E::Out> {
    let place = table_names().position(|known| known == name)?;
    Some(nth(place, &mut each))
}

/// Returns the columns in the table called `name`; `None` if there is no such table.
pub(crate) fn columns_of(name: &str) -> Option<Vec<ColumnInfo>> {
    struct Columns;
    impl EachTable for Columns {
        type Out = Vec<ColumnInfo>;
        fn of<R: Table>(&mut self) -> Vec<ColumnInfo> {
            R::COLUMNS.iter().map(Column::info).collect()
        }
    }
    with_table(name, Columns)
}

/// Returns all table names, in the order in which they are shown.
pub fn table_names() -> impl Iterator<Item = &'static str> + Clone {
    NAMES.iter().copied()
}

/// Declares all tables that trials have, in the order in which they are shown.
///
/// A doc comment is the table's introduction in the data dictionary. Tables in `struct Counts`
/// become [`Counts`] fields. Tables marked `digested` add to a trial's digest; the others are
/// recorded on request, and must not change it.
macro_rules! tables {
    (
        $( $(#[doc = $b_text:literal])* $b_row:ty: $b_kept:ident = |$b_of:ident| $b_rows:expr; )+
        struct Counts {
            $(
                $(#[doc = $c_text:literal])*
                $field:ident: $c_row:ty: $c_kept:ident $(, $digested:ident)?;
            )+
        }
        $( $(#[doc = $a_text:literal])* $a_row:ty: $a_kept:ident = |$a_of:ident| $a_rows:expr; )+
    ) => {
        const NAMES: &[&str] = &[
            $(<$b_row>::TABLE,)+ $(<$c_row>::TABLE,)+ $(<$a_row>::TABLE,)+
        ];

        /// Counters and records for ports, queues, switches, ranks and requests: a field for each
        /// table, with its name.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Counts {
            $(#[doc = concat!("Rows of `", stringify!($field), "`.")] pub $field: Vec<$c_row>,)+
            /// Captured frames, if a scenario asks for them.
            pub capture: Option<Capture>,
        }

        impl Counts {
            /// Adds the rows in tables that every trial has to `digest`; tables recorded on request
            /// must not change it.
            pub fn add_to(&self, digest: &mut Digest) {
                $($(tables!(@$digested digest, &self.$field);)?)+
            }

            /// Reads all tables; captured frames are not read, since they are for other programs.
            ///
            /// # Errors
            /// A table that cannot be read.
            pub fn read<S: ReadTable>(from: &S) -> Result<Counts, S::Error> {
                Ok(Counts { $($field: from.read()?,)+ capture: None })
            }
        }

        $(tables!(@table $b_row, $b_kept, [$($b_text)*], |$b_of| $b_rows);)+
        $(tables!(@table $c_row, $c_kept, [$($c_text)*], |of| Cow::Borrowed(&of.counts.$field));)+
        $(tables!(@table $a_row, $a_kept, [$($a_text)*], |$a_of| $a_rows);)+

        /// Calls `each` for every table, in their order.
        pub fn each_table<E: EachTable>(mut each: E) -> Vec<E::Out> {
            vec![$(each.of::<$b_row>(),)+ $(each.of::<$c_row>(),)+ $(each.of::<$a_row>(),)+]
        }

        fn nth<E: EachTable>(place: usize, each: &mut E) -> E::Out {
            // Row types differ, but the functions over them have one type.
            let all: &[fn(&mut E) -> E::Out] = &[
                $(E::of::<$b_row>,)+ $(E::of::<$c_row>,)+ $(E::of::<$a_row>,)+
            ];
            all[place](each)
        }
    };
    (@digested $digest:ident, $rows:expr) => { $digest.add_rows($rows) };
    (@table $row:ty, $kept:ident, [$($text:literal)*], |$of:ident| $rows:expr) => {
        impl Table for $row {
            const KEPT: Kept = Kept::$kept;
            const INTRODUCTION: &'static str = concat!($($text, "\n"),*);
            fn rows<'t>($of: &Results<'t>) -> Cow<'t, [$row]> {
                $rows
            }
        }
    };
}

tables! {
    JobRow: Always = |of| of.summary.jobs.iter().map(|job| job.job.clone()).collect();
    CollectiveRow: Always = |of| {
        let jobs = of.summary.jobs.iter();
        jobs.flat_map(|job| &job.collectives).cloned().collect()
    };
    FlowRow: Streamed = |of| Cow::Borrowed(of.flows);
    struct Counts {
        ports: PortRow: Always, digested;
        queues: QueueRow: Always, digested;
        switches: SwitchRow: Always, digested;
        /// Only where `fabric.source_flow_control` has switches tell senders of long queues.
        signals: SignalRow: IfAny, digested;
        /// Only where `fabric.source_flow_control` has switches tell senders of long queues.
        reactions: ReactionRow: IfAny, digested;
        /// Only in trials of fabrics with optical circuit switches.
        circuits: CircuitRow: IfAny, digested;
        /// Only in trials whose optical circuits are steered (`fabric.circuits.steering`).
        steering: SteeringRow: IfAny, digested;
        /// Only where `observe.queue_changes` names ports: port after port, each in the order of
        /// time.
        queue_changes: QueueChangeRow: IfAny;
        /// Only where a job runs a graph of operations and `observe.operations` has them recorded.
        operations: OperationRow: IfAny;
        /// Only where a job runs a graph of operations and `observe.operations` has them recorded.
        rank_times: RankTimeRow: IfAny;
        /// Only where a job runs a graph of operations and `observe.operations` has them recorded.
        critical_path: CriticalPathRow: IfAny;
        /// Only where a job has a workload of `kind: training`.
        training_ranks: TrainingRankRow: IfAny;
        /// Only where a job has a workload of `kind: inference`.
        requests: RequestRow: IfAny;
    }
    TierRow: Always = |of| {
        let Counts { ports, switches, .. } = of.counts;
        Cow::Owned(Tiers::of(ports, switches).rows(ports))
    };
    SampleRow: Streamed = |of| Cow::Borrowed(of.samples);
    /// Every trial has this table; `notes` of `summary.json` has the same rows. Comparisons,
    /// sweeps, studies and reports take from here all that they say of a trial beside its numbers.
    NoteRow: Always = |of| Cow::Borrowed(&of.summary.notes);
    /// `tenter run --baseline`, `--interference` and `observe.baseline` of a scenario leave this
    /// table in the trial folder; `interference` of `summary.json` has the same rows.
    InterferenceRow: IfAny = |of| Cow::Borrowed(&of.summary.interference);
    Totals: InSummary = |of| Cow::Borrowed(std::slice::from_ref(&of.summary.totals));
    EngineStats: InSummary = |of| Cow::Borrowed(std::slice::from_ref(&of.summary.engine));
    /// Only where the scenario has `fabric.power`; `power` of `summary.json` has the same row.
    PowerRow: IfAny = |of| Cow::Borrowed(of.summary.power.as_slice());
    /// Where jobs run a workload of flows: for each of them a row for all flows and one for each
    /// tenth of its size distribution. `flow_sizes` of `summary.json` has the same rows.
    FlowSizeRow: IfAny = |of| Cow::Borrowed(&of.summary.flow_sizes);
    /// A row for each iteration, only where a job runs a graph of operations and
    /// `observe.operations` has them recorded; `critical_shares` of `summary.json` has the same
    /// rows.
    CriticalShareRow: IfAny = |of| Cow::Borrowed(&of.summary.critical_shares);
    /// Only where a job has a workload of `kind: training`; `training_steps` of `summary.json` has
    /// the same rows.
    TrainingStepRow: IfAny = |of| Cow::Borrowed(&of.summary.training_steps);
    /// Only where a job has a workload of `kind: inference`; `inference` of `summary.json` has the
    /// same rows.
    InferenceRow: IfAny = |of| Cow::Borrowed(&of.summary.inference);
    /// Only where a job has a workload of `kind: inference`; `inference_pools` of `summary.json`
    /// has the same rows.
    InferencePoolRow: IfAny = |of| Cow::Borrowed(&of.summary.inference_pools);
}
