//! The run loop: from sync point to sync point, where actors act on the whole network.

mod actor;
mod actors;
mod any;
mod background;
mod broken;
mod circuits;
mod deadlock;
mod faults;
mod followers;
mod jobs;
mod node_changes;
mod reports;
mod routes;
mod run_loop;
mod sampler;
mod simulation;
mod stall;
mod steering;
mod time_limit;
mod world;

pub use any::{AnySimulation, run};
pub use simulation::{Options, Simulation};
