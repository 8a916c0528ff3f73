//! The same hosts and books, where time and links are real.
//!
//! ```text
//!   Plan ──▶ RealHost, one on each machine ──packets──▶ a real network
//!                 └── halves of flows ──▶ RealBooks ──▶ Sink, Outcome
//! ```
//!
//! A [`RealHost`] is a host of the simulation, NIC and ranks, that a caller drives by a clock: it
//! is told the time and what has arrived, and hands over what leaves. [`RealBooks`] puts together
//! what all hosts have recorded into the rows that a simulated trial has.
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
