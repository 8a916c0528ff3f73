//! The simulation's hosts and tables, for trials in which time and links are real.
//!
//! ```text
//!   Plan ──▶ RealHost, one on each machine ──packets──▶ a real network
//!                 └── halves of flows ──▶ RealBooks ──▶ Sink, Outcome
//! ```
//!
//! A [`RealHost`] is a simulated host, NIC and ranks, that its caller drives by a clock: the caller
//! passes in the time and the packets that arrive, and takes the packets that leave. [`RealBooks`]
//! joins the records from all hosts into the rows that a simulated trial has.
//!
//! **Architecture invariant.** No clock is read and no packet is sent here.

mod books;
mod host;
mod port_counts;
mod records;
mod refusal;

pub use books::{HostCounts, RealBooks, RealEnd};
pub use host::{Departure, RealHost, Slot, Way};
pub use port_counts::{Counter, Counters, PortCounts};
pub use records::{HalfReceived, HalfSent, HostRecords};
pub use refusal::refusal_of_real_hosts;
