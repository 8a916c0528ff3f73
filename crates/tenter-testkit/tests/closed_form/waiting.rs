//! The wait in an M/D/1 queue: random arrivals at one port, packets of one length.

use tenter_engine::Stream;
use tenter_net::{Event, Medium, Packet, PacketKind, Port, Transmitter};
use tenter_units::{Rate, Time};

/// Adds up how long packets wait; they leave in the order in which they came.
struct Waits {
    arrivals: std::collections::VecDeque<u64>,
    sum: u64,
    longest: u64,
    count: u64,
}

impl Medium for Waits {
    const WATCHED: bool = false;

    fn send(&mut self, _: u32, packet: Packet) {
        // Without latency, and with cut-through, a packet is at the other end when it starts.
        let arrival = self.arrivals.pop_front();
        let wait = packet.at - arrival.expect("no packet leaves before it came");
        self.sum += wait;
        self.longest = self.longest.max(wait);
        self.count += 1;
    }

    fn note(&mut self, _: Event) {}
}

const FRAME: Packet = Packet {
    at: 0,
    queue_pair: 0,
    sequence: 0,
    destination: 0,
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

/// A million packets through a port at a load.
fn waits(load: f64) -> Waits {
    let rate = Rate::from_gbps(400).serialisation(0);
    let mut port = Port::new(Transmitter::new((0, 0), 0, rate, Time::ZERO, false), None);
    let mut stream = Stream::new(1, "port", "arrivals");
    let mut waits = Waits {
        arrivals: std::collections::VecDeque::new(),
        sum: 0,
        longest: 0,
        count: 0,
    };
    let mut now = 0.0;
    for _ in 0..FRAMES {
        now += exponential(&mut stream) * SERVICE as f64 / load;
        let arrival = now as u64;
        waits.arrivals.push_back(arrival);
        port.offer(FRAME, arrival, &mut waits);
    }
    port.advance(u64::MAX - 1, &mut waits);
    assert_eq!(waits.count, FRAMES);
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
        let mean = waits(load).sum as f64 / FRAMES as f64;
        let off = mean / formula - 1.0;
        assert!(
            off.abs() < 0.03,
            "load {load}: mean wait {mean:.0} ps for {formula:.0} ps"
        );
    }
}

#[test]
fn a_port_that_is_never_overtaken_lets_nobody_wait() {
    // One packet every service time exactly, D/D/1: no wait at any load up to 1.
    let rate = Rate::from_gbps(400).serialisation(0);
    let mut port = Port::new(Transmitter::new((0, 0), 0, rate, Time::ZERO, false), None);
    let mut waits = Waits {
        arrivals: std::collections::VecDeque::new(),
        sum: 0,
        longest: 0,
        count: 0,
    };
    for number in 0..1_000 {
        waits.arrivals.push_back(number * SERVICE);
        port.offer(FRAME, number * SERVICE, &mut waits);
    }
    assert_eq!((waits.longest, waits.count), (0, 1_000));
}
