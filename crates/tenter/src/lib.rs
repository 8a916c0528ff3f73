//! Tenter as a library: packet-level simulation of AI and HPC network fabrics.
//!
//! ```text
//!   Scenario ──resolve──▶ Plan ──Run──▶ RunHandle ──join──▶ Trial
//!    text and             every         progress,           summary, rows,
//!    settings             number        cancel              a folder if asked for
//! ```
//!
//! A [`Scenario`] is what a person writes: a fabric, its hosts and its jobs. [`Scenario::resolve`]
//! fills in every default and reports all problems at once. It gives a [`Plan`], which can be
//! explained without running it. A [`Run`] simulates the plan, on the caller's thread or on one of
//! its own, and gives a [`Trial`].
//!
//! ```
//! use tenter::{Run, Scenario};
//!
//! let scenario = Scenario::from_yaml(
//!     "
//! fabric: {kind: leaf-spine, leaves: 2, hosts_per_leaf: 2, spines: 2}
//! jobs:
//!   - {name: train, collectives: [{collective: all-reduce, size: 1MiB}]}
//! ",
//! );
//! let trial = Run::new(&scenario.resolve()?).run()?;
//! assert!(trial.is_complete());
//! let job = trial.jobs().next().expect("there is one");
//! println!("{:?}", job.jct);
//! # Ok::<(), tenter::Error>(())
//! ```
//!
//! Rows are typed, and [`Row::COLUMNS`] gives each column's name, unit and meaning. With the
//! feature `arrow`, each [`Table`] in a trial can be read as an Arrow record batch.
//!
//! The same plan gives the same [digest](Trial::digest) on any number of threads.

#[cfg(feature = "arrow")]
mod arrow;
mod budget;
mod clock;
mod error;
mod experiment;
#[doc(hidden)]
pub mod explain;
mod explained;
mod fabric_line;
mod fabrics;
mod fidelity;
mod folder;
mod handle;
mod identity;
mod interference;
mod level;
mod memory;
mod nccl_notes;
mod observer;
mod open;
mod operations;
mod other_format;
mod plan;
mod points;
mod prepared;
mod process;
#[cfg(feature = "arrow")]
mod query;
#[doc(hidden)]
pub mod report;
#[doc(hidden)]
pub mod resolve;
mod results;
mod run;
mod scenario;
#[cfg(feature = "arrow")]
mod selection;
mod simulation;
mod speed_up;
#[cfg(feature = "arrow")]
mod stored;
#[doc(hidden)]
pub mod studies;
mod study;
mod sweep;
mod trial;
mod workspace;

#[cfg(feature = "arrow")]
pub use arrow_array;

#[cfg(feature = "arrow")]
pub use arrow::{arrow_schema, record_batch};
pub use budget::{
    CHECK_TIME, check_budget, check_limits, forced_budget, machine_limits, run_budget, way_to_more,
};
pub use clock::usual_threads;
pub use error::Error;
pub use experiment::Experiment;
pub use explained::Checked;
pub use fabric_line::{describe_fabric, fabric_parts};
pub use fabrics::{FabricFormat, export_fabric, import_fabric};
pub use fidelity::{BothLevels, compare_levels, corpus_scenario};
pub use handle::{Canceller, RunHandle};
pub use identity::version;
pub use memory::{ReservedMemory, reserve_memory};
pub use observer::{Observer, Running};
pub use open::read_for_report;
pub use operations::{Ns3Flows, OperationCounts, OperationGraph};
pub use other_format::other_format;
pub use plan::Plan;
pub use process::{TrialProcess, TrialProgram, carry_out_orders, confinement_gaps};
#[cfg(feature = "arrow")]
pub use query::{KeptBatches, answer_batch};
pub use results::{Point, Results};
pub use run::{Observed, Run};
pub use scenario::{Scenario, read_text};
#[cfg(feature = "arrow")]
pub use selection::{ColumnTest, Condition, Selection};
pub use simulation::Watch;
pub use speed_up::SpeedUp;
#[cfg(feature = "arrow")]
pub use stored::{StoredBatches, StoredTable};
pub use study::StudyRun;
pub use sweep::{
    NextTrial, PATIENCE_MIN, RESULTS_FILE, SweepObserver, SweepProgress, SweepResults, SweepRun,
    SweepSession, SweepWorker, Swept, SweptOutcome, TrialAnswer, TrialOrder, WorkerResults,
    read_trial,
};
pub use trial::{Trial, Watched};
pub use workspace::{
    Headline, QueuedTrial, Repaired, SweptPlace, TrialList, TrialOrderKey, TrialQuery, TrialState,
    Workspace, WorkspaceSweep, WorkspaceTrial, sweep_of,
};

pub use crate::explain::{
    Cost, ErrorOf, Explanation, FIDELITY_COLUMNS, FidelityClass, FidelityRow, IdleSetting,
    KnownError, LevelErrors, fidelity_csv, fidelity_rows, known_error,
};
pub use crate::resolve::{Diagnostics, Format, Position, Problem, schema, spec};
pub use crate::studies::{
    Measured, NumberQuery, ReadingKeys, SeedOf, Study, StudyAnswer, Sweep, SweepTrial, TrialSeed,
    Winner,
};
pub use tenter_fabric::net::Event;
pub use tenter_fabric::topology::{HostId, NodeId};
pub use tenter_language::units::{Budget, Bytes, Limits, OverBudget, Rate, Resource, Time};
pub use tenter_results::{
    Answer, AnswerColumn, AnswerRow, Cell, CircuitRow, CollectiveRow, Column, Control, Counts,
    CriticalPathRow, FlowRow, InferencePoolRow, InferenceRow, InterferenceRow, JobRow, Kind, Names,
    OperationRow, PortRow, PowerRow, Progress, Query, QueryProblem, QueueChangeRow, QueueRow,
    RankTimeRow, ReactionRow, RequestRow, Row, SampleRow, SeedRow, SignalRow, SinkError,
    SteeringRow, StopKind, Summary, SwitchRow, Table, TakeCell, TierRow, TrainingRankRow,
    TrainingStepRow,
};
pub use tenter_sim::Interference;
