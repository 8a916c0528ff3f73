//! A switch by itself, whose arrivals a test hands in one by one.

use tenter_engine::{LocalNode, Output};
use tenter_fabric::net::load_balancing::{Ecmp, LoadBalancing};
use tenter_fabric::net::{
    BufferSharing, ClassSpec, Event, EventKind, Forwarding, MacControl, Medium, Packet, PacketKind,
    Switch, SwitchModel, SwitchParts, SwitchSpec, Transmitter,
};
use tenter_fabric::topology::{CableEnd, HostId, NodeId, Routing, SingleSwitch, TopologySpec};
use tenter_language::units::{Budget, Instant, Rate, Time};

/// At 400 Gbit/s.
pub(crate) const PS_PER_BYTE: u64 = 20;
/// Preamble and gap.
const GAP: u64 = 20;

/// How long a frame takes on the wire.
pub(crate) fn wire_ps(frame: u64) -> u64 {
    (frame + GAP) * PS_PER_BYTE
}

/// A switch with ports of 400 Gbit/s and without any latency. Its times are in ps, as closed forms
/// have them.
pub(crate) struct LoneSwitch {
    pub(crate) switch: Switch,
    routing: Routing,
    log: Log,
    /// Packets so far: no two are alike.
    offered: u32,
}

/// What has left, in the order in which the switch says so.
#[derive(Default)]
struct Log(Vec<Event>);

impl Medium for Log {
    const WATCHED: bool = true;

    fn send(&mut self, _: Output, _: Instant, _: &Packet) {}

    fn note(&mut self, event: Event) {
        if event.kind == EventKind::Sent {
            self.0.push(event);
        }
    }
}

impl LoneSwitch {
    pub(crate) fn new(ports: u16, pool_bytes: u64, classes: Vec<ClassSpec>) -> LoneSwitch {
        LoneSwitch::with_sharing(ports, pool_bytes, classes, BufferSharing::default())
    }

    pub(crate) fn with_sharing(
        ports: u16,
        pool_bytes: u64,
        classes: Vec<ClassSpec>,
        sharing: BufferSharing,
    ) -> LoneSwitch {
        let rate = Rate::from_gbps(400);
        let transmitter = |port| {
            let output = Output {
                part: 0,
                input: 0,
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
        let headroom = vec![0; usize::from(ports) * classes.len()];
        let spec = SwitchSpec {
            forwarding: Forwarding::CutThrough,
            ingress_latency: Time::ZERO,
            egress_latency: Time::ZERO,
            pool_bytes: vec![pool_bytes],
            sharing,
            classes,
            load_balancing: LoadBalancing::Ecmp(Ecmp::default()),
        };
        let topology = TopologySpec::SingleSwitch(SingleSwitch {
            hosts: u32::from(ports),
            rate,
            host_delay: Time::ZERO,
        });
        let topology = topology.build(&Budget::unlimited()).expect("it has hosts");
        let transmitters = (0..ports).map(transmitter).collect();
        LoneSwitch {
            switch: Switch::new(
                SwitchParts::alone(&spec, transmitters, headroom),
                SwitchModel::OutputQueued,
            ),
            routing: Routing::build(&topology, &Budget::unlimited())
                .expect("one switch reaches all"),
            log: Log::default(),
            offered: 0,
        }
    }

    /// A frame for an output port arrives.
    pub(crate) fn offer(&mut self, at: u64, port: u16, class: u8, frame_bytes: u16) {
        self.offered += 1;
        let packet = Packet {
            at: Instant::from_ps(at),
            queue_pair: 0,
            sequence: self.offered,
            destination: HostId::new(u32::from(port)),
            hash: self.offered % 7,
            sent: 0,
            frame_bytes,
            kind: PacketKind::Middle,
            flags: Packet::class_flags(class) | Packet::ECN_CAPABLE,
        };
        self.switch.offer(&packet, 0, port, &mut self.log);
    }

    /// A pause frame from the other end of a port's link takes effect.
    pub(crate) fn pause(&mut self, at: u64, port: u16, class: u8, quanta: u16) {
        let packet = Packet {
            at: Instant::from_ps(at),
            queue_pair: 0,
            sequence: u32::from(quanta),
            destination: HostId::new(u32::MAX),
            hash: 0,
            sent: 0,
            frame_bytes: 64,
            kind: PacketKind::Pause,
            flags: Packet::class_flags(class),
        };
        let input = self.switch.ports().len() as u16 + port;
        self.switch
            .arrive(&packet, input, &self.routing, &mut self.log);
    }

    /// Everything before an instant happens.
    pub(crate) fn advance_to(&mut self, end: u64) {
        self.switch.advance_to(Instant::from_ps(end), &mut self.log);
    }

    /// Which of the frames that have left since this was last asked were marked: 0 is the first.
    pub(crate) fn take_marked(&mut self) -> Vec<usize> {
        let sent = std::mem::take(&mut self.log.0).into_iter().enumerate();
        let marked = |(_, event): &(usize, Event)| event.packet.has(Packet::CONGESTION_EXPERIENCED);
        sent.filter(marked).map(|(place, _)| place).collect()
    }

    /// What has left since this was last asked: when, in which class, how many frame bytes.
    pub(crate) fn take_sent(&mut self) -> Vec<(u64, u8, u64)> {
        let sent = std::mem::take(&mut self.log.0).into_iter();
        let row = |event: Event| {
            let packet = event.packet;
            (event.at.ps(), packet.class(), u64::from(packet.frame_bytes))
        };
        sent.map(row).collect()
    }
}
