//! What a trial leaves: rows, their columns and dictionary, digests, percentiles, and the sink they
//! are given to.
//!
//! Nothing here does I/O. The simulation fills rows and hands them to a [`Sink`] of the caller's; a
//! row type declares its columns once, and the tables, the JSON and the data dictionary all come
//! from that declaration.

mod capture;
mod circuits;
mod column;
mod comparison;
mod deviation;
pub mod dictionary;
mod digest;
mod flow_sizes;
mod histogram;
mod inference;
mod interference;
mod notes;
mod operations;
mod paired;
mod percentile;
mod power;
mod queue_changes;
mod rows;
mod seeds;
mod signals;
mod sink;
mod steering;
mod summary;
mod training;
mod unread;

pub use capture::{
    Capture, CapturedFrame, CapturedPort, FrameContent, MacAddress, RoceBody, RocePacket,
};
pub use circuits::CircuitRow;
pub use column::{Cell, Column, Kind, Names, Row, Seed, TakeCell, Value};
pub use comparison::ComparisonRow;
pub use deviation::DeviationRow;
pub use digest::Digest;
pub use flow_sizes::FlowSizeRow;
pub use histogram::Histogram;
pub use inference::{InferencePoolRow, InferenceRow, RequestRow};
pub use interference::InterferenceRow;
pub use notes::{NoteCode, NoteRow, Notes, Severity};
pub use operations::{CriticalPathRow, CriticalShareRow, OperationRow, RankTimeRow};
pub use paired::PairedRow;
pub use percentile::{Distribution, nearest_rank, rank};
pub use power::PowerRow;
pub use queue_changes::QueueChangeRow;
pub use rows::{
    CollectiveRow, Counts, FlowRow, JobRow, PortRow, QueueRow, SampleRow, SwitchRow, TierRow,
};
pub use seeds::SeedRow;
pub use signals::{ReactionRow, SignalRow};
pub use sink::{Control, MemorySink, Progress, Sink, SinkError};
pub use steering::SteeringRow;
pub use summary::{EngineKind, EngineStats, JobSummary, Stop, StopKind, Summary, Totals};
pub use training::{TrainingRankRow, TrainingStepRow};
pub use unread::Unread;
