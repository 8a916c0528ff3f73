//! A fabric of network namespaces: hosts and switches are namespaces, cables are pairs of virtual
//! Ethernet devices (veth), and the kernel forwards.
//!
//! ```text
//!   topology, routes ──▶ Wiring: commands of `ip` and `tc`, as data ──▶ up, down
//!                                                   counters ◀── devices
//! ```

mod commands;
mod counters;
mod routes;
mod run;
mod wiring;

pub(crate) use counters::since;
pub(crate) use counters::switch_counts;
pub(crate) use routes::route_answers;
pub(crate) use run::enter;
pub use run::{LabState, down, missing_tools, up};
pub use wiring::{Wiring, control_namespace, namespace};
