//! The composed simulation: a plan in, records out.
//!
//! ```text
//!   Plan ──build──▶ Network (parts: nodes and lanes) ──run──▶ records at edges ──▶ Sink, Summary
//! ```
//!
//! [`run`] does everything. Underneath, a [`Driver`] advances time: the windowed engine here, the
//! reference engine in the test kit. Both drive the same nodes ([`Fabric`]) and stop at the same
//! sync points (*edges* in the code), so both must give the same [digest].
//!
//! **Architecture invariant.** Nothing here reads a file, a clock or the environment; records leave
//! through the caller's [`Sink`](tenter_results::Sink), and the caller measures wall time.
//!
//! [digest]: tenter_results::Digest

mod error;
mod flow_level;
pub mod fluid;
mod network;
pub mod plan;
pub mod real_time;
mod results;
mod run;

pub use error::SimulationError;
pub use flow_level::{Carried, FlowDriver, FlowLevelRefusal, LeftOut, RingsTaken, left_out};
pub use network::{
    Captured, Change, Context, Driver, DriverStats, Fabric, Host, JobProgress, Jumped, NodeModel,
    PortChanges, Recorder, Unwatched, WatchLog, WatchTarget, Watcher, WindowedDriver, build, check,
    fabric,
};
pub use results::{HashPath, Interference, Outcome, interference_rows, interference_runs, names};
pub use run::{AnySimulation, Options, Simulation, run};
