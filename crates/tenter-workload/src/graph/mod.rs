//! Operation graphs: each rank computes, sends and receives, and each operation waits for others.
//!
//! ```text
//!   GraphBuilder ─ operations and what they wait for, rank by rank ─▶ Graph, stored once
//!   Graph ─────────────── GraphSchedule::new ──────────────▶ transfers with ids, and the order in
//!                                                            which they were posted
//!   GraphSchedule ─ start, arrivals, acknowledgements, time ─▶ RankRun: what to post, when to wake
//! ```
//!
//! An importer turns a file that another program has written into a [`Graph`]; [`RankRun`] carries
//! it out, rank by rank. A rank reacts only to events at itself, so ranks exchange nothing but
//! messages.
//!
//! Source for what operations mean: "`LogGOPSim`: simulating large-scale applications in the
//! `LogGOPS` model" (Hoefler, Schneider, Lumsdaine, 2010) and MPI's matching rules.

mod algorithms;
mod builder;
mod collective_runs;
mod collectives;
mod communicators;
mod edge;
mod error;
mod handshake;
mod inbox;
mod log;
mod matching;
mod measured;
mod meter;
mod of_schedule;
mod operation;
mod operations;
mod progress;
mod rank_graph;
mod recorder;
mod run;
mod schedule;
mod sizes;
mod storage;
#[cfg(test)]
mod storage_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) mod toy_network;
mod turn;
mod volumes;
mod ways;

pub use algorithms::{Algorithms, CollectiveName};
pub use builder::{GraphBuilder, RankBuilder};
pub use collectives::Collectives;
pub use communicators::{Communicator, Communicators};
pub use error::{GraphError, Unmatched};
pub use log::OperationLog;
pub use measured::Measured;
pub use meter::Metered;
pub use operation::{Operation, OperationKind, Timing};
pub use run::RankRun;
pub use schedule::{GraphSchedule, MEMBER, Marks};
pub use storage::Graph;
pub use turn::{Action, Consequences, News};
