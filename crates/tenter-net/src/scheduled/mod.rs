//! The scheduled fabric: leaves that ask for credit before they send, and spray what they send.
//!
//! ```text
//!  NIC ─▶ VOQ of (destination port, class) ─▶ cells, sprayed ─▶ spines ─▶ reassembly ─▶ port ─▶ …
//!           │            ▲                                                   and order     │
//!           └─ request ─▶│credit                                                           │
//!             scheduler of the destination port, paced, stopped by a pause or a full queue ◀┘
//! ```
//!
//! Requests, credits and the list of what is on its way go from leaf to leaf over control links: no
//! wire, a delay of their own, an input of their own behind all others. A leaf does everything in
//! the order of time; so nothing here is lazy but the links into the fabric, which nobody pauses:
//! when a cell leaves is known when it is cut.
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
mod spray;
mod voq;

pub(crate) use ahead::{Ahead, TakenBack};
pub use cell::CellSpec;
pub(crate) use leaf::{AtWork, Leaf};
pub use leaf::{LeafRecord, LeafWiring, Peer};
pub(crate) use spray::Spray;
pub use spray::SprayKind;

use tenter_units::Time;

/// The parameters of a scheduled fabric; all leaves share them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduledSpec {
    /// What one credit is worth: wire bytes at the destination port.
    pub credit_bytes: u32,
    /// By how much credits are granted faster than the port sends, in parts per million.
    pub over_speed_ppm: u32,
    /// No credit is granted for a port at which so many frame bytes wait.
    pub egress_buffer_bytes: u64,
    /// How packets are cut; `None`: each travels whole.
    pub cell: Option<CellSpec>,
    /// How cells are spread over the links.
    pub spray: SprayKind,
    /// A packet of which cells are still missing so long after it was announced is given up.
    pub reassembly_timeout: Time,
    /// What a request and a credit take together on the links of the fabric, in wire bytes for
    /// each credit: the packets that they are for carry it. Messages on control links take none.
    pub control_bytes: u32,
    /// How destinations learn that the fabric is congested; `None`: they do not.
    pub indication: Option<IndicationSpec>,
}

/// Congestion indication: cells that meet a long queue in the fabric tell the scheduler of their
/// port, which then grants credit more slowly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndicationSpec {
    /// A cell is marked that makes a queue of the fabric longer than this, in bytes.
    pub threshold_bytes: u64,
    /// A scheduler slows down by one step at most once in this time, and recovers one step after
    /// this time without a mark.
    pub hold: Time,
}

/// Where a host is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostPlace {
    /// The number of its leaf among the leaves.
    pub leaf: u16,
    /// Its port there.
    pub port: u16,
}
