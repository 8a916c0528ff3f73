//! Headroom: bytes that still arrive after a port has decided to pause its sender.
//!
//! ```text
//!  receiver  XOFF decided at t                    last frame it lets through arrives
//!  ───────────●────────────────────────────────────────────●──────────▶
//!              ╲ frame on the wire, pause frame,           ╱ flight of the last frame
//!  sender       ╲ cable, response time                    ╱
//!  ──────────────────────────────────────────●───────────────────────▶
//!                                            applied from here on
//! ```

pub(crate) mod paused_link;

use crate::topology::{CableEnd, HostId, NodeId, Topology};
use tenter_language::units::{Rate, Time};

use crate::net::class::Headroom;
use crate::net::packet::WIRE_OVERHEAD_BYTES;
pub use crate::net::response_time::{PauseResponse, QUANTUM_BITS, response_quanta, response_time};
use crate::net::spec::Switches;
pub use paused_link::PausedLink;

/// Wire bytes that a pause frame takes: 64, preamble and gap (IEEE 802.1Qbb).
pub const PAUSE_WIRE_BYTES: u32 = 64 + WIRE_OVERHEAD_BYTES;
/// Returns the bytes that arrive from the instant of an XOFF on, in the model's worst phase: with
/// this headroom nothing is dropped, and with one frame less a frame can be.
///
/// XOFF is decided at t, when a frame arrives. The sender starts its last frame when, at the
/// latest, a frame on the reverse wire has ended, the pause frame has gone out and crossed the
/// cable, and the response time has passed. Frames started since t − flight arrive at t or later,
/// first the frame that caused the XOFF. So the sender's wire is busy for that whole stretch, and
/// one more frame starts at its end.
pub fn model(link: &PausedLink) -> u64 {
    let reverse = u64::from(link.reverse_wire_bytes + PAUSE_WIRE_BYTES) * 8;
    let waits = link.rate.time_of_bits(u128::from(reverse)) + link.cable_delay + link.response_time;
    let stretch = u128::from((link.flight + waits).ps());
    let speed = 1_000_000 + u128::from(link.fast_ppm);
    let frame = u128::from(link.frame_bytes);
    let wire = frame + u128::from(WIRE_OVERHEAD_BYTES);
    // Bits per second and parts per million over picoseconds, bits and millionths. The longest
    // frames carry the most frame bytes per wire byte, so any mixture is less.
    let sent = stretch * u128::from(link.rate.bits_per_second()) * speed * frame;
    let bytes = sent.div_ceil(8_000_000_000_000 * 1_000_000 * wire) + frame;
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// A link, in the terms of `SONiC`'s dynamic headroom calculation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SonicLink {
    /// Line rate in both directions.
    pub rate: Rate,
    /// Propagation delay in each direction.
    pub cable_delay: Time,
    /// The port's MTU: a frame this long may delay the pause frame.
    pub port_mtu_bytes: u64,
    /// Largest packet in the lossless class, in bytes.
    pub lossless_mtu_bytes: u64,
    /// Bytes held by the MAC and the PHY.
    pub mac_phy_bytes: u64,
    /// Bytes held by a gearbox, each way; zero without one.
    pub gearbox_bytes: u64,
    /// The chip's cell size, if packets may be as small as 64 bytes and fill just one cell; `None`
    /// counts full cells.
    pub small_packet_cell_bytes: Option<u64>,
}

impl SonicLink {
    /// Makes a link with `SONiC`'s defaults: port MTU 9216, 0.8 KiB of MAC and PHY, no gearbox,
    /// only small packets in 192-byte cells (NVIDIA Spectrum-4).
    pub fn with_defaults(rate: Rate, cable_delay: Time, lossless_mtu_bytes: u64) -> SonicLink {
        SonicLink {
            rate,
            cable_delay,
            port_mtu_bytes: 9216,
            lossless_mtu_bytes,
            mac_phy_bytes: 819,
            gearbox_bytes: 0,
            small_packet_cell_bytes: Some(192),
        }
    }
}

/// Returns the bytes kept beyond XOFF by `SONiC`'s dynamic headroom calculation (design document
/// "Dynamically headroom calculation", the formula of its NVIDIA platforms).
///
/// The cable counts both ways. Units are exact, and nothing is rounded up to whole KiB, unlike
/// there.
pub fn sonic(link: &SonicLink) -> u64 {
    let bit_ps = u128::from(link.rate.bits_per_second()) * u128::from(2 * link.cable_delay.ps());
    let byte_ps = 8_000_000_000_000;
    // Rounded to the nearest byte.
    let on_cable = u64::try_from((bit_ps + byte_ps / 2) / byte_ps).unwrap_or(u64::MAX);
    let response = response_quanta(link.rate) * QUANTUM_BITS / 8;
    let delayed = link
        .port_mtu_bytes
        .saturating_add(on_cable)
        .saturating_add(2 * link.gearbox_bytes)
        .saturating_add(link.mac_phy_bytes)
        .saturating_add(response);
    link.lossless_mtu_bytes + occupied(delayed, link.small_packet_cell_bytes)
}

/// Returns the bytes that small packets occupy in cells, in the worst case: a 64-byte packet takes
/// a whole cell or, if a cell holds two of them at most, one byte more than a cell takes two.
fn occupied(bytes: u64, cell: Option<u64>) -> u64 {
    match cell {
        None => bytes,
        Some(cell) if cell > 128 => bytes.saturating_mul(cell).div_ceil(64),
        Some(cell) => bytes.saturating_mul(2 * cell).div_ceil(1 + cell),
    }
}

/// Further inputs to a switch's headroom, beside the switches and the cables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Senders {
    /// Largest frame that any NIC sends, in frame bytes.
    pub frame_bytes: u32,
    /// Delay from a NIC's queue pair to its wire.
    pub transmit_latency: Time,
    /// Most by which a NIC's clock may be fast, in parts per million.
    pub fast_ppm: u32,
    /// Response time to pause frames at NICs.
    pub pause_response: PauseResponse,
}

/// Returns the links that come in through a switch's ports, port after port.
pub fn incoming<'a>(
    topology: &'a Topology,
    switches: &'a Switches,
    node: NodeId,
    senders: &'a Senders,
) -> impl Iterator<Item = PausedLink> + 'a {
    let ports = 0..topology.ports(node);
    ports.map(move |port| {
        let whole = switches.take_whole(topology, node, topology.cable(node, port).rate);
        incoming_through(topology, switches, node, port, whole, senders)
    })
}

/// Returns the link from a leaf to `end`, a host and its port. `receive_latency` is the NIC's delay
/// from the wire to the queue pair.
pub fn into_host(
    topology: &Topology,
    switches: &Switches,
    end: (HostId, u16),
    receive_latency: Time,
    frame_bytes: u32,
) -> PausedLink {
    let (host, port) = end;
    let cable = topology.cable(host, port);
    let leaf = switches.of(topology, topology.neighbour(host, port).node);
    let wire_bytes = frame_bytes + WIRE_OVERHEAD_BYTES;
    let whole = cable.rate.serialisation(0).of(wire_bytes, 0).0;
    PausedLink {
        rate: cable.rate,
        fast_ppm: 0,
        cable_delay: cable.delay,
        response_time: switches.pause_response.time(cable.rate),
        flight: leaf.egress_latency + cable.delay + receive_latency + whole,
        frame_bytes,
        reverse_wire_bytes: wire_bytes,
    }
}

/// Returns all links in a fabric, each with the port that it comes in through; links into hosts
/// come first.
pub fn all<'a>(
    topology: &'a Topology,
    switches: &'a Switches,
    senders: Senders,
    receive_latency: Time,
) -> impl Iterator<Item = (CableEnd, PausedLink)> + 'a {
    let end = |node, port| CableEnd { node, port };
    let ports = move |host: HostId| (0..topology.nic_ports).map(move |port| (host, port));
    let to_hosts = topology
        .host_ids()
        .flat_map(ports)
        .map(move |(host, port)| {
            let (latency, frame_bytes) = (receive_latency, senders.frame_bytes);
            let link = into_host(topology, switches, (host, port), latency, frame_bytes);
            (end(host.node(), port), link)
        });
    let to_switches = topology.switch_nodes().flat_map(move |node| {
        let links: Vec<PausedLink> = incoming(topology, switches, node, &senders).collect();
        (0..)
            .zip(links)
            .map(move |(port, link)| (end(node, port), link))
    });
    to_hosts.chain(to_switches)
}

/// Returns the link that comes in through a port, which takes frames whole if `whole` is true.
fn incoming_through(
    topology: &Topology,
    switches: &Switches,
    node: NodeId,
    port: u16,
    whole: bool,
    senders: &Senders,
) -> PausedLink {
    let cable = topology.cable(node, port);
    let sender = topology.neighbour(node, port).node;
    let from_host = topology.is_host(sender);
    let (leave, response) = if from_host {
        (senders.transmit_latency, senders.pause_response)
    } else {
        let leave = switches.of(topology, sender).egress_latency;
        (leave, switches.pause_response)
    };
    // Classes that become one between regions: one XOFF is a pause frame for each of them.
    let more_pauses = if topology.is_border(topology.cable_number(node, port)) {
        (switches.classes_that_become_one() - 1) * PAUSE_WIRE_BYTES
    } else {
        0
    };
    let end = CableEnd { node, port };
    let (leave, cable_delay) = longest_circuit(topology, switches, end, leave, cable.delay);
    let wire_bits = u64::from(senders.frame_bytes + WIRE_OVERHEAD_BYTES) * 8;
    // A frame that is stored whole is charged after its last bit, others after their heads.
    let stored = if whole {
        cable.rate.time_of_bits(u128::from(wire_bits))
    } else {
        Time::ZERO
    };
    PausedLink {
        rate: cable.rate,
        // Only the clocks of NICs have offsets.
        fast_ppm: if from_host { senders.fast_ppm } else { 0 },
        cable_delay,
        response_time: response.time(cable.rate),
        flight: leave + cable_delay + switches.of(topology, node).ingress_latency + stored,
        frame_bytes: senders.frame_bytes,
        reverse_wire_bytes: senders.frame_bytes + WIRE_OVERHEAD_BYTES + more_pauses,
    }
}

/// Returns the longest egress latency `leave` of a sender to `port`, and the longest cable delay:
/// those given, or any that a circuit may have.
fn longest_circuit(
    topology: &Topology,
    switches: &Switches,
    port: CableEnd,
    leave: Time,
    delay: Time,
) -> (Time, Time) {
    let possible = topology.optics.possible(port);
    possible.fold((leave, delay), |longest, (sender, delay)| {
        let leave = switches.of(topology, sender.node).egress_latency;
        (longest.0.max(leave), longest.1.max(delay))
    })
}

impl Headroom {
    /// Returns the headroom behind an incoming link, in bytes.
    pub fn bytes(self, link: &PausedLink) -> u64 {
        let mtu = u64::from(link.frame_bytes);
        match self {
            Headroom::Model => model(link),
            Headroom::Sonic => sonic(&SonicLink::with_defaults(link.rate, link.cable_delay, mtu)),
            Headroom::Bytes(bytes) => bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::response_time::RESPONSE_QUANTA;

    /// Delay of a cable of a length in metres at 1.98·10⁸ m/s, to the picosecond.
    fn cable(metres: u64) -> Time {
        Time::from_ps((metres * 1_000_000 + 99) / 198)
    }

    #[test]
    fn response_follows_the_table() {
        let quanta = |gbps| response_quanta(Rate::from_gbps(gbps));
        for (gbps, expected) in RESPONSE_QUANTA {
            assert_eq!(quanta(gbps), expected);
        }
        // Between rows the next higher one, below the first the first.
        assert_eq!((quanta(1), quanta(56), quanta(300)), (67, 394, 905));
        // Twice 800G has twice the quanta, each of half the time.
        assert_eq!(quanta(1600), 1810);
        assert_eq!(
            response_time(Rate::from_gbps(1600)),
            response_time(Rate::from_gbps(800))
        );
        // 905 · 512 bits at 400 Gb/s.
        assert_eq!(
            response_time(Rate::from_gbps(400)),
            Time::from_ps(1_158_400)
        );
    }

    /// The formula at 400G with port MTU 9216 and lossless MTU 1024: 9,216 + cable + 819 + 905 · 64
    /// bytes, and 1,024; three times as much, but for the 1,024, with small packets in cells of 192
    /// bytes.
    #[test]
    fn sonic_is_its_table_at_400g() {
        let rows = [
            (5, 70_480, 212_464),
            (40, 88_157, 265_495),
            (100, 118_460, 356_404),
            (150, 143_713, 432_163),
            (300, 219_470, 659_434),
        ];
        for (metres, delayed, small) in rows {
            let rate = Rate::from_gbps(400);
            let mut link = SonicLink::with_defaults(rate, cable(metres), 1024);
            assert_eq!(sonic(&link), small, "{metres} m");
            link.small_packet_cell_bytes = None;
            assert_eq!(sonic(&link), delayed + 1024, "{metres} m");
            // Both gearboxes of 1,000 bytes, both ways.
            link.gearbox_bytes = 1000;
            assert_eq!(sonic(&link), delayed + 3024, "{metres} m");
        }
    }

    #[test]
    fn small_cells_hold_a_packet_and_a_byte_badly() {
        // 2 · 96 / 97 of 9,700 bytes.
        assert_eq!(occupied(9_700, Some(96)), 19_200);
        assert_eq!(occupied(9_700, None), 9_700);
    }

    fn link() -> PausedLink {
        PausedLink {
            rate: Rate::from_gbps(400),
            fast_ppm: 0,
            cable_delay: Time::from_ns(25),
            response_time: Time::from_ps(1_158_400),
            flight: Time::from_ns(625),
            frame_bytes: 4158,
            reverse_wire_bytes: 4178,
        }
    }

    /// At 20 ps a byte: 4,178 + 84 bytes on the reverse wire take 85.24 ns, so the sender may start
    /// frames for 625 + 85.24 + 25 + 1,158.4 = 1,893.64 ns: 22.66 frames of 83.56 ns, and one more
    /// at the end. 22.6620… · 4,158 = 94,228.76…
    #[test]
    fn the_model_counts_what_starts_before_the_pause_is_obeyed() {
        assert_eq!(model(&link()), 94_229 + 4_158);
        // Whole frames only: 22 · 83.56 = 1,838.32 ns, so 23 frames start back to back.
        assert!(model(&link()) >= 23 * 4158 && model(&link()) - 4158 < 23 * 4158);
    }

    #[test]
    fn the_model_is_exact_where_frames_fit_the_stretch() {
        // Response so long that the stretch is 23 frame times: 24 frames start, ends included.
        let gap = 23 * 83_560 - 1_893_640;
        let exact = PausedLink {
            response_time: Time::from_ps(1_158_400 + gap),
            ..link()
        };
        assert_eq!(model(&exact), 24 * 4158);
    }

    #[test]
    fn a_fast_clock_needs_more() {
        let fast = PausedLink {
            fast_ppm: 1000,
            ..link()
        };
        // A thousandth of 94,228.77 more: 94,322.99.
        assert_eq!(model(&fast), 94_323 + 4_158);
    }

    #[test]
    fn the_largest_delays_do_not_overflow() {
        let second = Time::from_us(1_000_000);
        let longest = PausedLink {
            rate: Rate::from_gbps(100_000),
            fast_ppm: 1000,
            cable_delay: second,
            response_time: second,
            flight: second * 4,
            frame_bytes: 9_000,
            reverse_wire_bytes: 9_020,
        };
        // Six seconds and a little at 12.5 TB/s.
        assert!(model(&longest) > 74 * 1_000_000_000_000);
    }
}
