//! The NIC for `RoCEv2`: its state (`state.rs` and its parts), and the stages in which it works.
//!
//! ```text
//!   posting ──▶ round ──▶ departure, limited ──▶ wire ──▶ arrival ──▶ protocol ──▶ delivered
//!                 ▲                                          │           └─▶ out_of_order
//!                 └────────── answers, timeouts ◀────────────┘
//! ```
//!
//! Parts do not know the NIC. Each stage is a file with methods for [`RoceNic`]. The stages between
//! the wire and the protocol depend on the NIC's features (`features.rs`), most of which are fixed
//! when it is built.

mod answers;
mod arrival;
mod credit;
mod departure;
mod dma_reads;
mod features;
mod held;
mod held_by_rate;
mod in_band;
mod lanes;
mod limited;
mod limits;
mod link_faults;
mod notifications;
mod out_of_order;
mod outstanding;
mod port_choices;
mod posting;
mod protocol;
mod rate_waits;
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

pub(crate) use state::RoceNic;
