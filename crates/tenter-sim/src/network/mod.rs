//! The network of a trial: its nodes, their addresses, and the driver that advances its time.
//!
//! ```text
//!   jobs, schedules ─▶ context ─▶ links, windows ─▶ host, nodes ─▶ fabric ─▶ driver ─▶ build
//! ```
//!
//! Each file uses only those before it.

mod build;
mod capture_log;
mod change;
mod context;
mod control_links;
mod driver;
mod fabric;
mod flow_control;
mod host;
mod jobs;
mod links;
mod nodes;
mod operation_runs;
mod packet_ends;
mod partition_records;
mod queue_log;
mod queue_pair_id;
mod recorder;
mod scale_up_port;
mod scheduled;
mod schedules;
mod steady;
mod ultra_ethernet;
mod unloaded;
mod watch;
mod windows;

pub use build::{build, check, fabric};
pub(crate) use capture_log::keep_first;
pub use change::Change;
pub use context::Context;
pub use driver::{Driver, DriverStats, WindowedDriver};
pub use fabric::{Fabric, NodeModel};
pub use host::Host;
pub(crate) use jobs::JobPlan;
pub use jobs::JobProgress;
pub(crate) use packet_ends::PacketEnds;
pub(crate) use partition_records::{
    AcknowledgedHalf, CompleteFlow, DeliveredHalf, FlowKey, PartitionRecords, Posted,
};
pub(crate) use queue_pair_id::QueuePairId;
pub use recorder::Recorder;
pub use steady::Jumped;
pub(crate) use steady::{HOPS_PER_RUN, RECORDS_PER_JUMP, refusal};
pub(crate) use unloaded::Remembered;
pub(crate) use watch::Seen;
pub use watch::{Captured, PortChanges, Unwatched, WatchLog, WatchTarget, Watcher};
