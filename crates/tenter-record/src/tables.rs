//! The tables of a trial, each named once.
//!
//! ```text
//!   rows! ── columns of a row        tables! ── where the rows of a table are
//!       │                                │
//!       └──────────────┬─────────────────┘
//!                      ▼
//!   Table ──▶ files of a trial, data dictionary, Arrow, readers, queries: whoever wants all
//!             tables, or that of a name, asks for them with an EachTable
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
    /// What its summary says.
    pub summary: &'t Summary,
    /// Tables that are known when it has ended.
    pub counts: &'t Counts,
    /// Its flows, where they were kept.
    pub flows: &'t [FlowRow],
    /// Its samples, where they were kept.
    pub samples: &'t [SampleRow],
}

/// Where the folder of a trial has a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// In a file of its own, even if there are no rows.
    Always,
    /// In a file of its own, written while the trial runs.
    Streamed,
    /// In a file of its own, if there are rows.
    IfAny,
    /// As a block of `summary.json` alone.
    InSummary,
}

/// A table of trials.
pub trait Table: Row + Clone + Serialize + DeserializeOwned {
    /// Where the folder of a trial has it.
    const KEPT: Kept;
    /// When a trial has it and what else is to be known of it, as Markdown; may be empty.
    const INTRODUCTION: &'static str;

    /// The rows of a trial.
    fn rows<'t>(of: &Results<'t>) -> Cow<'t, [Self]>;
}

/// Something that is done with tables, whatever their rows are.
pub trait EachTable {
    /// What comes of it.
    type Out;
    /// Does it with one of them.
    fn of<R: Table>(&mut self) -> Self::Out;
}

/// Reads the rows of tables from wherever they are.
pub trait ReadTable {
    /// Why that may fail.
    type Error;
    /// All rows of a table.
    ///
    /// # Errors
    /// Where it cannot be read.
    fn read<R: Table>(&self) -> Result<Vec<R>, Self::Error>;
}

/// Does something with the table of a name; nothing where there is no such table.
pub fn with_table<E: EachTable>(name: &str, mut each: E) -> Option<E::Out> {
    let place = table_names().position(|known| known == name)?;
    Some(nth(place, &mut each))
}

/// The columns of the table of a name; nothing where there is no such table.
pub fn columns_of(name: &str) -> Option<Vec<ColumnInfo>> {
    struct Columns;
    impl EachTable for Columns {
        type Out = Vec<ColumnInfo>;
        fn of<R: Table>(&mut self) -> Vec<ColumnInfo> {
            R::COLUMNS.iter().map(Column::info).collect()
        }
    }
    with_table(name, Columns)
}

/// The names of all tables.
pub fn table_names() -> impl Iterator<Item = &'static str> + Clone {
    NAMES.iter().copied()
}

/// Declares all tables of trials, in the order in which they are shown.
///
/// A doc comment is the introduction of the table in the data dictionary. Tables of `struct Counts`
/// are the fields of [`Counts`]: those marked `digested` add to the digest of a trial, and the
/// others, which are recorded only where that is asked for, do not.
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

        /// What ports, queues, switches, ranks and requests have counted, and what was recorded of
        /// them: a field for each table, named like it.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Counts {
            $(#[doc = concat!("Rows of `", stringify!($field), "`.")] pub $field: Vec<$c_row>,)+
            /// Frames captured at ports, where that is asked for.
            pub capture: Option<Capture>,
        }

        impl Counts {
            /// Adds the rows of the tables that every trial has to a digest: what is recorded only
            /// where that is asked for must not change it.
            pub fn add_to(&self, digest: &mut Digest) {
                $($(tables!(@$digested digest, &self.$field);)?)+
            }

            /// Reads all of them; captured frames are for other programs.
            ///
            /// # Errors
            /// Where one cannot be read.
            pub fn read<S: ReadTable>(from: &S) -> Result<Counts, S::Error> {
                Ok(Counts { $($field: from.read()?,)+ capture: None })
            }
        }

        $(tables!(@table $b_row, $b_kept, [$($b_text)*], |$b_of| $b_rows);)+
        $(tables!(@table $c_row, $c_kept, [$($c_text)*], |of| Cow::Borrowed(&of.counts.$field));)+
        $(tables!(@table $a_row, $a_kept, [$($a_text)*], |$a_of| $a_rows);)+

        /// Does something with every table, in their order.
        pub fn each_table<E: EachTable>(mut each: E) -> Vec<E::Out> {
            vec![$(each.of::<$b_row>(),)+ $(each.of::<$c_row>(),)+ $(each.of::<$a_row>(),)+]
        }

        fn nth<E: EachTable>(place: usize, each: &mut E) -> E::Out {
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
    /// Every trial has this table; `notes` of `summary.json` has the same rows.
    /// What a comparison, a sweep, a study or a report says of a trial beside its numbers is taken
    /// from here.
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
