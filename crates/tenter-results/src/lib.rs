//! A trial's records: rows with their columns and dictionary, digests, percentiles, queries, and
//! the sink that takes them.
//!
//! This crate does no I/O. The simulation fills rows and hands them to the caller's [`Sink`]. A row
//! type declares its columns once; tables, JSON and the data dictionary come from that declaration.

mod capture;
mod circuits;
mod column;
mod column_array;
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
mod query;
mod queue_changes;
mod rows;
mod seeds;
mod sign_test;
mod signals;
mod sink;
mod spread;
mod statistic;
mod steering;
mod summary;
mod tables;
mod tiers;
mod training;
mod unread;

pub use capture::{
    Capture, CapturedFrame, CapturedPort, FrameContent, MacAddress, RoceBody, RocePacket,
};
pub use circuits::CircuitRow;
pub use column::{Cell, Column, ColumnInfo, Kind, Names, Row, Seed, TakeCell, Value};
pub use column_array::{ColumnArray, ColumnValues};
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
pub use percentile::{Distribution, median_time, nearest_rank, rank};
pub use power::PowerRow;
pub use query::{
    Answer, AnswerColumn, AnswerRow, Filter, Held, KeyCell, Query, QueryError, QueryProblem,
    ReadyFilter, Source,
};
pub use queue_changes::QueueChangeRow;
pub use rows::{CollectiveRow, FlowRow, JobRow, PortRow, QueueRow, SampleRow, SwitchRow, TierRow};
pub use seeds::SeedRow;
pub use sign_test::sign_test;
pub use signals::{ReactionRow, SignalRow};
pub use sink::{Control, MemorySink, Progress, Sink, SinkError};
pub use spread::Spread;
pub use statistic::Statistic;
pub use steering::SteeringRow;
pub use summary::{EngineKind, EngineStats, JobSummary, Stop, StopKind, Summary, Totals};
pub use tables::{
    Counts, EachTable, Kept, ReadTable, Results, Table, each_table, table_names, with_table,
};
pub use tiers::{Direction, Tiers};
pub use training::{TrainingRankRow, TrainingStepRow};
pub use unread::Unread;
