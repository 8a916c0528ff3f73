//! The wait in an M/D/1 queue: random arrivals at one port, packets of one length.

use std::collections::VecDeque;

use tenter_engine::{LocalNode, Output, Stream};
use tenter_fabric::net::load_balancing::{Ecmp, LoadBalancing};
use tenter_fabric::net::{
    BufferSharing, ClassSpec, Event, Forwarding, MacControl, Medium, Packet, PacketKind, Switch,
    SwitchModel, SwitchParts, SwitchSpec, Transmitter, UNLIMITED_POOL,
};
use tenter_fabric::topology::{CableEnd, HostId, NodeId};
use tenter_language::units::{Instant, Rate, Time};

/// Adds up how long packets wait; they leave in the order in which they came.
struct Waits {
    arrivals: VecDeque<u64>,
    sum: u64,
    longest: u64,
    count: u64,
}

impl Medium for Waits {
    const WATCHED: bool = false;

    fn send(&mut self, _: Output, at: Instant, _: &Packet) {
        // Without latency, and with cut-through, a packet is at the other end when it starts.
        let arrival = self.arrivals.pop_front();
        let wait = at.ps() - arrival.expect("no packet leaves before it came");
        self.sum += wait;
        self.longest = self.longest.max(wait);
        self.count += 1;
    }

    fn note(&mut self, _: Event) {}
}

const FRAME: Packet = Packet {
    at: Instant::START,
    queue_pair: 0,
    sequence: 0,
    destination: HostId::new(0),
    hash: 0,
    sent: 0,
    frame_bytes: 4_158,
    kind: PacketKind::Middle,
    flags: 0,
};
/// 4,178 bytes on the wire at 400 Gbit/s.
const SERVICE: u64 = 83_560;
const FRAMES: u64 = 1_000_000;

/// Exponential with mean 1, by inverse transform.
fn exponential(stream: &mut Stream) -> f64 {
    let uniform = (stream.below(1 << 53) as f64 + 0.5) / (1_u64 << 53) as f64;
    -uniform.ln()
}

/// A switch with one port of 400 Gbit/s that never drops, without any latency behind it.
fn switch() -> Switch {
    let rate = Rate::from_gbps(400).serialisation(0);
    let nowhere = Output {
        part: 0,
        input: 0,
        node: LocalNode::default(),
    };
    let mac = MacControl {
        output: nowhere,
        latency: Time::ZERO,
        xoff_frames: 0,
        xon_frames: 0,
    };
    let wire = Transmitter::new(
        CableEnd {
            node: NodeId::new(0),
            port: 0,
        },
        nowhere,
        rate,
        Time::ZERO,
        false,
        mac,
    );
    let spec = SwitchSpec {
        forwarding: Forwarding::CutThrough,
        ingress_latency: Time::ZERO,
        egress_latency: Time::ZERO,
        pool_bytes: vec![UNLIMITED_POOL],
        sharing: BufferSharing::default(),
        classes: vec![ClassSpec::without_end(0)],
        load_balancing: LoadBalancing::Ecmp(Ecmp::default()),
    };
    let parts = SwitchParts::alone(&spec, vec![wire], vec![0]);
    Switch::new(parts, SwitchModel::OutputQueued)
}

/// The waits of packets that arrive at these instants.
fn waits(arrivals: impl Iterator<Item = u64>) -> Waits {
    let mut switch = switch();
    let mut waits = Waits {
        arrivals: VecDeque::new(),
        sum: 0,
        longest: 0,
        count: 0,
    };
    for arrival in arrivals {
        waits.arrivals.push_back(arrival);
        let frame = Packet {
            at: Instant::from_ps(arrival),
            ..FRAME
        };
        switch.offer(&frame, 0, 0, &mut waits);
    }
    switch.advance_to(Instant::from_ps(u64::MAX / 2), &mut waits);
    waits
}

#[test]
fn the_mean_wait_is_that_of_pollaczek_and_khinchine() {
    // ρ/(2(1−ρ))·S with S = 83,560 ps: 17,906 ps at a load of 0.3, 62,670 ps at 0.6 and 167,120 ps
    // at 0.8. Waits of neighbours are alike, so the mean of a million still scatters by about one
    // percent at 0.8.
    for (load, expected) in [(0.3, 17_906), (0.6, 62_670), (0.8, 167_120)] {
        let formula = load / (2.0 * (1.0 - load)) * SERVICE as f64;
        assert_eq!(formula.round() as u64, expected);
        let mut stream = Stream::new(1, "port", "arrivals");
        let mut now = 0.0;
        let arrivals = (0..FRAMES).map(|_| {
            now += exponential(&mut stream) * SERVICE as f64 / load;
            now as u64
        });
        let waits = waits(arrivals);
        assert_eq!(waits.count, FRAMES);
        let mean = waits.sum as f64 / FRAMES as f64;
        let off = mean / formula - 1.0;
        assert!(
            off.abs() < 0.03,
            "load {load}: mean wait {mean:.0} ps for {formula:.0} ps"
        );
    }
}

#[test]
fn packets_in_step_wait_for_nobody() {
    // D/D/1: one packet every service time exactly, so each starts when the one before ends.
    let waits = waits((0..1_000).map(|number| number * SERVICE));
    assert_eq!((waits.longest, waits.count), (0, 1_000));
}
