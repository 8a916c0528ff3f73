//! The NIC: what it is (`state.rs` and its parts), and the stages of its work.
//!
//! ```text
//!   posting ──▶ round ──▶ departure, limited ──▶ wire ──▶ arrival ──▶ protocol ──▶ delivered
//!                 ▲                                          │           └─▶ out_of_order
//!                 └────────── answers, timeouts ◀────────────┘
//! ```
//!
//! Parts know no NIC. Each stage is a file with methods of [`Nic`]; what stands between the wire
//! and the protocol is chosen when a NIC is built (`features.rs`).

mod answers;
mod arrival;
mod classes;
mod context;
mod counters;
mod credit;
mod departure;
mod dma_reads;
mod features;
mod held;
mod in_band;
mod lanes;
mod limited;
mod limits;
mod link_faults;
mod marks;
mod notifications;
mod out_of_order;
mod outstanding;
mod posting;
mod protocol;
mod recorded;
mod reroute;
mod reroutes;
mod round;
mod signals;
mod state;
mod steady;
mod storm;
mod timeouts;
mod view;

pub use classes::NicClasses;
pub use context::{Directory, RxContext};
pub use counters::NicCounters;
pub use marks::Marks;
pub use state::{Nic, NicBuild, QueuePairError};
