//! Jobs in their written form: the components that make up a scenario's `jobs`.
//!
//! ```text
//!   JobSpec ─┬─▶ collectives: CollectiveSpec
//!            ├─▶ flows:       FlowSpec
//!            ├─▶ workload:    WorkloadKind
//!            └─▶ pattern:     PatternSpec
//! ```
//!
//! Hosts are still named as the user wrote them. Binding them to a fabric makes a
//! [`Job`](crate::Job) from each specification.

mod collective;
mod flow_files;
mod flows;
mod hosts;
mod job;
mod limits;
mod operations;
mod pattern;
mod recordings;
mod sizes;
mod start;
mod traces;
mod workload;

pub use collective::CollectiveSpec;
pub use flow_files::{FlowReading, FlowTableSpec, HtsimSpec, Ns3Spec, Origin, StartUnit};
pub use flows::FlowSpec;
pub use hosts::{HostList, HostRef, Ranks};
pub use job::{JobClass, JobSpec, PlacementPolicy};
pub use limits::{GAP_MIN, JOBS_MAX, SIMULATED_MAX, SLOTS_MAX};
pub use operations::{ComputeScale, GoalSpec, GraphSpec, OperationTiming};
pub use pattern::PatternSpec;
pub use recordings::{
    AicbSpec, CallReading, FlightRecorderSpec, Gaps, KinetoSpec, NcclLogSpec, PytorchEtSpec, Waits,
};
pub use sizes::{DrawnSizes, SizeRange, Sizes, SizesBy};
pub use start::{AfterJob, Start};
pub use traces::{ChakraSpec, Dependencies, GatheredSize, SimaiSpec, TraceReading};
pub use workload::{
    ArrivalKind, FlowSizes, PairSpec, PointSpec, Points, Senders, Sigma, WorkloadKind, WorkloadSpec,
};
