//! Trials at flow level: the hosts are those of packet level, and what they post moves through the
//! fabric as flows at max–min fair rates, or from NICs alone where nothing else holds them back.
//!
//! ```text
//!   hosts ──posted──▶ queue pairs ──first of each──▶ Fluid ──ended──▶ delivered ──▶ hosts
//! ```
//!
//! A queue pair sends one message at a time, as one flow over the links of its way. The flow ends
//! when its last byte has been sent; it has arrived as much later as the way takes for the last
//! frame, so that a message that meets nobody takes exactly what it takes as packets. Where only
//! its NIC holds it back, what waits in the queues of its way comes in addition (`queues`).

mod arriving;
mod carried;
mod changes;
mod domains;
mod driver;
mod host_rates;
mod instants;
mod last_packets;
mod limits;
mod link_state;
mod messages;
mod queueing;
mod queues;
mod ring_jobs;
mod ring_rates;
mod search;
mod sending;
mod spray;
mod waves;
mod way_delays;
mod ways;
mod whole_rings;

pub use carried::Carried;
pub use driver::FlowDriver;
pub use limits::{FlowLevelRefusal, LeftOut, left_out};
pub use ring_jobs::RingsTaken;
pub(crate) use spray::note_even_spread;
