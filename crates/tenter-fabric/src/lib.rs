//! Network fabrics: where nodes and cables are, and how packets pass them.
//!
//! ```text
//!   topology: graphs, routes ◀── steering: circuits for a demand
//!                            ◀── net: packets, links, ports, queues, switches
//! ```
//!
//! [`topology`] and [`steering`] are data and arithmetic without time; [`net`] has the models that
//! an engine drives.

pub mod net;
pub mod steering;
pub mod topology;
