//! The scheduled fabric: leaves request credit before they send, and spray over all links.
//!
//! ```text
//!  NIC ─▶ VOQ of (destination port, class) ─▶ cells, sprayed ─▶ spines ─▶ reassembly ─▶ port ─▶ …
//!           │            ▲                                                   and order     │
//!           └─ request ─▶│credit                                                           │
//!             scheduler of the destination port, paced, stopped by a pause or a full queue ◀┘
//! ```
//!
//! Requests, credits and announcements of packets go from leaf to leaf over control links: no wire,
//! a delay and an input of their own behind all others. A leaf does everything in the order of
//! time; so nothing here is lazy except the links into the fabric, which are never paused: a cell's
//! departure is known when it is cut (decision 0022).
//!
//! Sources: "Distributed disaggregated chassis" (Open Compute Project); the public headers of
//! Broadcom's DNX SDK for names, sizes and states.

mod ahead;
mod cell;
mod credit;
mod earliest;
mod leaf;
mod reassembly;
mod slots;
pub(crate) mod spec;
pub(crate) mod spray;
mod voq;

pub(crate) use ahead::{Ahead, TakenBack};
pub use cell::CellSpec;
pub(crate) use leaf::VoqLeaf;
pub use leaf::{FrameCount, LeafRecord, LeafWiring, Peer};
pub use spec::{HostPlace, IndicationSpec, ScheduledSpec};
pub use spray::SprayKind;
