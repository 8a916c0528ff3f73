//! Credit-based fabrics: lanes, input buffers, and the round trips that they cover.

use serde::Serialize;
use tenter_fabric::net::headroom::PausedLink;
use tenter_fabric::net::{CREDIT_BLOCK_BYTES, DATA_OVERHEAD_BYTES, credit_blocks};
use tenter_sim::plan::Plan;

/// A credit-based fabric in numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CreditFacts {
    /// Lanes: the classes with their own queues in switches.
    pub lanes: Vec<u8>,
    /// Input buffer for each port and lane, in whole blocks.
    pub lane_bytes: u64,
    /// Lane buffer in 64-byte blocks, which is also an idle link's credit.
    pub lane_blocks: u32,
    /// Input buffers for all lanes at one port.
    pub port_bytes: u64,
    /// Freed bytes after which a flow-control packet is sent.
    pub update_bytes: u64,
    /// Receiving port of the link that needs the largest buffer.
    pub link: String,
    /// Line rate that this link has.
    pub link_gbps: f64,
    /// Time from the start of its longest frame until the credit for it is back, if the frame
    /// leaves at once and the flow-control packet waits for a frame on the return path.
    pub round_trip_ns: f64,
    /// Bytes that the link carries in that time.
    pub round_trip_bytes: u64,
    /// Input buffer with which the link always keeps its rate.
    pub needed_bytes: u64,
    /// Links that need more than they have.
    pub short_links: u64,
    /// Links in the fabric, one for each direction of a cable.
    pub links: u64,
}

/// Returns the values for a credit-based fabric; `None` for any other.
pub(crate) fn credit_facts(plan: &Plan) -> Option<CreditFacts> {
    let spec = plan.credit.as_ref()?;
    let links = || plan.links.all().map(|(end, link)| (end, &link.paused));
    let needed = |link: &PausedLink| spec.needed_bytes(link);
    let (end, link) = links().max_by_key(|(_, link)| needed(link))?;
    let round_trip = spec.round_trip(link);
    let bits = u128::from(link.rate.bits_per_second()) * u128::from(round_trip.ps());
    let lane_blocks = spec.lane_blocks();
    let lane_bytes = u64::from(lane_blocks) * u64::from(CREDIT_BLOCK_BYTES);
    let classes = plan.switches.usual.classes.iter();
    let lanes: Vec<u8> = classes.map(|class| class.class).collect();
    let short = links().filter(|(_, link)| needed(link) > lane_bytes);
    Some(CreditFacts {
        port_bytes: lane_bytes * lanes.len() as u64,
        lanes,
        lane_bytes,
        lane_blocks,
        update_bytes: spec.update_bytes,
        link: plan.topology.port_name(end.node, end.port),
        link_gbps: link.rate.as_gbps(),
        round_trip_ns: round_trip.as_ns(),
        // Bits per second times picoseconds, over 8 bits a byte and 10¹² ps a second.
        round_trip_bytes: (bits / 8_000_000_000_000) as u64,
        needed_bytes: needed(link),
        short_links: short.count() as u64,
        links: links().count() as u64,
    })
}

/// Estimates the flow-control packets for `data` data frames and `control` other frames on a link.
pub(crate) fn updates(plan: &Plan, data: f64, control: f64) -> f64 {
    let Some(spec) = &plan.credit else {
        return 0.0;
    };
    let update = f64::from(spec.update_blocks());
    // A frame frees at most one update's worth at a time, so it causes one packet at most.
    let each = |frame_bytes| (f64::from(credit_blocks(frame_bytes)) / update).min(1.0);
    let full = plan.nic.mtu_bytes + DATA_OVERHEAD_BYTES;
    data * each(full) + control * each(u32::from(tenter_fabric::net::ACK_FRAME_BYTES))
}
