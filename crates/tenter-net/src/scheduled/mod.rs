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

use std::ops::RangeInclusive;

use tenter_config::{Percent, Reader, component};
use tenter_units::{Bytes, Time};

component! {
    /// The parameters of a scheduled fabric; all leaves share them.
    pub struct ScheduledSpec as "`fabric.switching` with `kind: scheduled`", derive(Clone, Debug, PartialEq, Eq) {
        /// What one credit is worth, in bytes on the wire of the destination port.
        credit_bytes as "credit": u32 as Bytes = "4096B", in Bytes::new(256)..=Bytes::new(16_000), from "the size of a DRAM buffer of Jericho 3 (FBOSS, Jericho3Asic.h) and the resolution of its credit balance (OpenBCM SDK); the SDK takes 256 to 8,192 bytes";
        /// By how much credits are granted faster than the port sends.
        over_speed_ppm as "over_speed": u32 as Percent = "2", in 0..=100, from "assumed: enough to cover what is lost to rounding";
        /// A port grants no credit while this many frame bytes wait at it.
        egress_buffer_bytes as "egress_buffer": u64 as Bytes = "512KiB", in SIZES, from "assumed: what a port of 400G sends in two round trips of 5 us, rounded up";
        /// What a packet is cut into between leaves; with `none` it travels whole.
        cell: Option<CellSpec> = "none";
        /// How cells, or packets, are spread over the links that lead to their leaf.
        spray: SprayKind = "round-robin";
        /// A packet is given up when it is not whole after this time; only where links fail or lose
        /// frames.
        reassembly_timeout: Time = "100us", in Time::from_us(1)..=SECOND, from "assumed: longer than anything waits in the fabric";
        /// What a request and a credit take together of the links between switches, in wire bytes
        /// for each credit; packets carry it in proportion, and it is a quarter of `credit` at
        /// most. Messages on control links take none.
        control_bytes as "control": u32 as Bytes = "0B", in Bytes::new(0)..=Bytes::new(4_000), from "not published: 0 leaves it out";
        /// Whether cells that meet a long queue in the fabric slow the credits of their port down.
        indication: Option<IndicationSpec> = "none";
        check control_is_a_quarter_of_credit;
    }
}

const SIZES: RangeInclusive<Bytes> = Bytes::new(1)..=Bytes::new(1 << 40);
const SECOND: Time = Time::from_us(1_000_000);

fn control_is_a_quarter_of_credit(spec: &ScheduledSpec, reader: &mut dyn Reader) -> bool {
    let (control, most) = (Bytes::new(spec.control_bytes.into()), spec.credit_bytes / 4);
    let holds = spec.control_bytes <= most;
    if !holds {
        let what = format!("is `{control}`, outside its range");
        let help = format!("choose from `0B` to `{}`", Bytes::new(most.into()));
        reader.refuse("control", &what, &help);
    }
    holds
}

component! {
    /// Congestion indication: cells that meet a long queue in the fabric tell the scheduler of
    /// their port, which then grants credit more slowly.
    pub struct IndicationSpec as "`fabric.switching.indication`" {
        /// A cell is marked that makes a queue of the fabric longer than this.
        threshold_bytes as "threshold": u64 as Bytes = "32KiB", in SIZES, from "assumed; Broadcom's SDK has three thresholds, without values";
        /// A port takes at most one step in this time, of eight of its credit rate, and gives one
        /// back after this time without a mark.
        hold: Time = "10us", in Time::from_ns(100)..=SECOND, from "assumed: several times the way through the fabric; eight levels are those of Broadcom's SDK";
    }
}

/// Where a host is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostPlace {
    /// The number of its leaf among the leaves.
    pub leaf: u16,
    /// Its port there.
    pub port: u16,
}
