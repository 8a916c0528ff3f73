//! One event list is handed to [`Switch::visit`](crate::net::Switch::visit), and to a switch like
//! it one arrival at a time: both must do the same.

use crate::topology::{CableEnd, HostId, NodeId, Routing, SingleSwitch, TopologySpec};
use tenter_engine::{EventList, LocalNode, Output, mix64};
use tenter_language::units::{Budget, Instant, Rate, Time};

use super::VisitCounts;
use crate::net::buffer::Buffer;
use crate::net::load_balancing::{Ecmp, LoadBalancing};
use crate::net::switch::OutputQueued;
use crate::net::{
    ArrivalsByPort, BufferSharing, ClassSpec, Event, EventKind, Forwarding, Headroom, Limit,
    LosslessSpec, MacControl, Medium, Packet, PacketKind, PfcTrigger, Scheduling, SwitchParts,
    SwitchSpec, Transmitter,
};

const PORTS: u16 = 4;
/// Frames last multiples of this at 400G, and come at multiples of it: ties are the rule.
const GRID: u64 = 10_000;
const WINDOW: u64 = 8 * GRID;

/// What leaves, and what is dropped.
#[derive(Default)]
struct Log(Vec<(u16, Instant, u8, u32)>);

impl Medium for Log {
    const WATCHED: bool = true;

    fn send(&mut self, output: Output, at: Instant, packet: &Packet) {
        self.0.push((output.input, at, 0, packet.sequence));
    }

    fn note(&mut self, event: Event) {
        if matches!(event.kind, EventKind::Sent | EventKind::Dropped) {
            let kind = 1 + u8::from(event.kind == EventKind::Dropped);
            self.0
                .push((event.port, event.at, kind, event.packet.sequence));
        }
    }
}

impl Log {
    /// By port: the order between ports is not part of what happens.
    fn take(&mut self) -> Vec<(u16, Instant, u8, u32)> {
        let mut all = std::mem::take(&mut self.0);
        all.sort_unstable();
        all
    }
}

fn classes() -> Vec<ClassSpec> {
    let dynamic = Limit::Dynamic {
        numerator: 1,
        denominator: 2,
    };
    let lossless = LosslessSpec {
        trigger: PfcTrigger::Ingress,
        xon_offset_bytes: 2_000,
        headroom: Headroom::Bytes(20_000),
        quanta: 40,
        refresh_percent: 50,
    };
    let class = |class, limit, lossless| ClassSpec {
        class,
        scheduling: Scheduling::Strict,
        pool: 0,
        reserved_bytes: 1_000,
        limit,
        lossless,
        ecn: None,
        next_region: None,
        trim: None,
    };
    vec![
        class(0, dynamic, None),
        class(3, Limit::Static(20_000), Some(lossless)),
    ]
}

fn switch(pool_bytes: u64) -> OutputQueued {
    let rate = Rate::from_gbps(400);
    let transmitter = |port| {
        let output = Output {
            part: 0,
            input: port,
            node: LocalNode::default(),
        };
        let mac = MacControl {
            output,
            latency: Time::ZERO,
            xoff_frames: 0,
            xon_frames: 0,
        };
        let wire = rate.serialisation(0);
        Transmitter::new(
            CableEnd {
                node: NodeId::new(0),
                port,
            },
            output,
            wire,
            Time::ZERO,
            false,
            mac,
        )
    };
    let spec = SwitchSpec {
        forwarding: Forwarding::CutThrough,
        ingress_latency: Time::ZERO,
        egress_latency: Time::ZERO,
        pool_bytes: vec![pool_bytes],
        sharing: BufferSharing::default(),
        classes: classes(),
        load_balancing: LoadBalancing::Ecmp(Ecmp::default()),
    };
    let transmitters = (0..PORTS).map(transmitter).collect();
    let headrooms = [0, 20_000].repeat(usize::from(PORTS));
    let parts = SwitchParts::alone(&spec, transmitters, headrooms);
    let balancer = parts.balancer();
    OutputQueued::new(parts, balancer)
}

/// All that can be asked of a switch.
fn state(switch: &OutputQueued, now: Instant) -> String {
    let port = |number: u16| {
        let port = &switch.chassis.ports[usize::from(number)];
        let queue = |queue: usize| {
            let waiting: Vec<u32> = port.waiting_in(queue).map(|frame| frame.sequence).collect();
            format!(
                "{waiting:?} {:?} {:?} {} {} {:?}\n",
                port.queue_counters(queue),
                port.paused(queue, now),
                port.paused_until(queue),
                port.queue_high_water_bytes(queue),
                switch.buffer.ingress(number, queue, now),
            )
        };
        let wire = port.transmitter();
        format!(
            "{number} {:?} {:?} {:?} {:?} {}\n{}{}",
            port.counters(),
            port.next_departure(),
            wire.sent(),
            wire.mac(),
            wire.free_at(),
            queue(0),
            queue(1),
        )
    };
    let ports: String = (0..PORTS).map(port).collect();
    let pools: Vec<_> = switch.buffer.pools().collect();
    format!("{ports}{pools:?} {}", switch.buffer.is_armed())
}

/// What comes in from outside: random, but one frame after the other on each input.
struct Source {
    drawn: u64,
    seed: u64,
    /// When each input has time again.
    free_at: [Instant; 2 * PORTS as usize],
    sequence: u32,
}

impl Source {
    fn below(&mut self, count: u64) -> u64 {
        self.drawn += 1;
        (mix64(self.seed << 32 | self.drawn) >> 16) % count
    }

    /// The arrivals of the window that begins at `start`. Phases of some windows differ in how much
    /// comes, and in how many ports it is for.
    fn window(&mut self, start: Instant) -> Vec<(u64, u16, Packet)> {
        let phase = mix64(self.seed ^ (start.ps() / (32 * WINDOW)));
        let (busy, spread) = (1 + phase % 6, 1 + (phase >> 8) % 4);
        let mut arrivals = Vec::new();
        for input in 0..2 * PORTS {
            let mut at = self.free_at[usize::from(input)].max(start);
            while at < start + Time::from_ps(WINDOW) {
                let is_pause = input >= PORTS;
                if self.below(if is_pause { 80 } else { 16 }) < if is_pause { 3 } else { busy } {
                    let frames = 1 + self.below(3);
                    arrivals.push((
                        (at - start).ps(),
                        input,
                        self.packet(at, is_pause, frames, spread),
                    ));
                    at += Time::from_ps(frames * GRID);
                } else {
                    at += Time::from_ps(GRID);
                }
            }
            self.free_at[usize::from(input)] = at;
        }
        arrivals
    }

    fn packet(&mut self, at: Instant, is_pause: bool, frames: u64, spread: u64) -> Packet {
        self.sequence += 1;
        let class = if self.below(2) == 0 { 3 } else { 0 };
        // A pause of up to 40 grid steps (a quantum is 1.28 ns), or leave to go on.
        let quanta = [0, 300][self.below(2) as usize];
        Packet {
            at,
            queue_pair: 0,
            sequence: if is_pause { quanta } else { self.sequence },
            destination: HostId::new(self.below(spread) as u32),
            hash: self.sequence,
            sent: 0,
            frame_bytes: if is_pause {
                64
            } else {
                (500 * frames - 20) as u16
            },
            kind: if is_pause {
                PacketKind::Pause
            } else {
                PacketKind::Middle
            },
            flags: Packet::class_flags(class),
        }
    }
}

#[test]
fn a_visit_does_what_one_arrival_after_the_other_does() {
    let topology = TopologySpec::SingleSwitch(SingleSwitch {
        hosts: u32::from(PORTS),
        rate: Rate::from_gbps(400),
        host_delay: Time::ZERO,
    });
    let topology = topology.build(&Budget::unlimited()).expect("it has hosts");
    let routing = Routing::build(&topology, &Budget::unlimited()).expect("one switch reaches all");
    let mut counts = VisitCounts::default();
    for seed in 0..60 {
        let pool_bytes = [60_000, 300_000, 2_000_000][seed as usize % 3];
        let (mut visited, mut ordered) = (switch(pool_bytes), switch(pool_bytes));
        let (mut turns, mut log, mut ordered_log) =
            (ArrivalsByPort::default(), Log::default(), Log::default());
        let mut source = Source {
            drawn: 0,
            seed,
            free_at: [Instant::START; 2 * PORTS as usize],
            sequence: 0,
        };
        for window in 0..600 {
            let (start, end) = (window * WINDOW, (window + 1) * WINDOW);
            let event_list = EventList::of(source.window(Instant::from_ps(start)), WINDOW);
            let next = visited.visit(
                &event_list,
                Instant::from_ps(end),
                &routing,
                &mut turns,
                &mut log,
            );
            for (packet, input) in event_list.iter() {
                ordered.bring_before(packet.at, &mut ordered_log);
                ordered.arrive(packet, input, &routing, &mut ordered_log);
            }
            let case = format!("seed {seed}, window {window}");
            assert_eq!(
                next,
                ordered.advance_to(Instant::from_ps(end), &mut ordered_log),
                "{case}"
            );
            assert_eq!(log.take(), ordered_log.take(), "{case}");
            assert_eq!(
                state(&visited, Instant::from_ps(end)),
                state(&ordered, Instant::from_ps(end)),
                "{case}"
            );
        }
        assert_eq!(ordered.visit_counts(), VisitCounts::default());
        counts += visited.visit_counts();
    }
    // Each way has been tried, of 36,000 visits, and journals have also been closed without order.
    let least = [
        counts.by_port,
        counts.in_order,
        counts.in_time_order,
        counts.journals_in_order,
        counts.journals - counts.journals_in_order,
        counts.slots_in_order,
        counts.slots_by_port,
        counts.late_releases,
    ];
    assert!(least.iter().all(|count| *count >= 20), "{counts:?}");
}
