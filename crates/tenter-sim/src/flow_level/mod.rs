//! Trials at flow level: packet level's hosts, with flows in place of packets.
//!
//! Messages that hosts post move through the fabric at max–min fair rates. If nothing but NICs
//! holds senders back, only NICs share their rates, and switches have queues instead (`queues`).
//!
//! ```text
//!   hosts ──posted──▶ queue pairs ──first of each──▶ Fluid ──ended──▶ delivered ──▶ hosts
//! ```
//!
//! A queue pair sends one message at a time, as one flow over the links on its path. The flow ends
//! when its last byte has been sent. The message arrives later by the time that the path takes for
//! the last frame, so a message that meets no other takes exactly as long as its packets would. In
//! queues, the last packet's wait comes in addition.

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
