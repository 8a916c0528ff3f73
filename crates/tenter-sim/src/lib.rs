//! The composed simulation: a plan in, records out.
//!
//! ```text
//!   Plan ──build──▶ Network (parts: nodes and lanes) ──run──▶ records at edges ──▶ Sink, Summary
//! ```
//!
//! [`run`] is the whole way. Underneath, a [`Driver`] moves time: the windowed engine here, the
//! reference engine in the test kit. Both drive the same nodes ([`Fabric`]) and stop at the same
//! edges, so both must leave the same [digest].
//!
//! **Architecture invariant.** Nothing here reads a file, a clock or the environment; records leave
//! through the caller's [`Sink`](tenter_record::Sink), and the caller measures wall time.
//!
//! [digest]: tenter_record::Digest

mod build;
mod circuits;
mod conservation;
mod counters;
mod credit;
mod deadlock;
mod driver;
mod fabric;
mod faults;
mod flow_control;
mod flow_table;
mod flow_tally;
mod followers;
mod hash_paths;
mod host;
mod ideal_ratio;
mod ideals;
mod interference;
mod jobs;
mod notices;
mod partition_records;
mod power;
mod queue_log;
mod routes;
mod run;
mod sampler;
mod scale_up;
mod scheduled;
mod signals;
mod stall;
mod steering;
mod summary;
mod unloaded;
mod watch;

pub use build::{Context, build, check, fabric, lookahead};
pub use driver::{Driver, DriverStats, WindowedDriver};
pub use fabric::{Fabric, NodeModel};
pub use faults::Change;
pub use hash_paths::HashPath;
pub use host::Host;
pub use interference::{Interference, interference_rows, interference_runs};
pub use jobs::JobProgress;
pub use queue_log::{PortChanges, QueueLog};
pub use run::{Options, Outcome, Simulation, SimulationError, run};
pub use watch::{Unwatched, WatchLog, WatchTarget, Watcher};
