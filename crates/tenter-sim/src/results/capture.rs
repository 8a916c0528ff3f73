//! Captured frames with full headers. A packet in the model carries only part of its content, so
//! the rest is derived here.

use std::collections::BTreeMap;

use crate::plan::CapturePlan;
use tenter_fabric::net::{
    Missing, Notice, Packet, PacketKind, Pause, RETH_BYTES, ReceiveSlot, Slot,
};
use tenter_fabric::topology::{CableEnd, HostId, Topology};
use tenter_language::units::Instant;
use tenter_results::{
    Capture, CapturedFrame, CapturedPort, FrameContent, MacAddress, NoteCode, RoceBody, RocePacket,
};

use crate::network::{Captured, Context, Driver, PacketEnds, Seen, Watcher, keep_first};

use super::outcome::Outcome;

/// Mask for PSNs and QP numbers, which have 24 bits in RoCE headers.
const BITS_24: u32 = 0x00ff_ffff;

/// Collects the frames that all partitions have captured, and adds notes about missing ones.
pub(crate) fn collect<D: Driver>(driver: &D, outcome: &mut Outcome) {
    let parts = (0..driver.parts()).map(|part| driver.fabric(part).watcher());
    let logs: Vec<Captured<'_>> = parts.filter_map(Watcher::captured).collect();
    let Some(plan) = logs.first().map(|log| log.plan) else {
        return;
    };
    let mut frames: Vec<Seen> = logs.iter().flat_map(|log| log.frames).copied().collect();
    let limit = usize::try_from(plan.limit).unwrap_or(usize::MAX);
    // The limit is for all partitions together; each has applied it to its own frames only.
    let omitted = keep_first(&mut frames, limit);
    let omitted = omitted + logs.iter().map(|log| log.omitted).sum::<u64>();
    let flow_control = logs.iter().map(|log| log.flow_control).sum();
    let context = driver.context();
    let last = frames.last().map_or(Instant::START, |seen| seen.at);
    warn(
        plan,
        context.topology(),
        omitted,
        flow_control,
        last,
        outcome,
    );
    let messages = Messages::of(&frames, context);
    let decoded = frames.iter().map(|seen| Frame {
        seen,
        context,
        at: port_of(plan, seen.port),
    });
    outcome.counts.capture = Some(Capture {
        snap_bytes: plan.snap_bytes,
        ports: ports(plan, context),
        frames: decoded.map(|frame| frame.decode(&messages)).collect(),
    });
}

fn warn(
    plan: &CapturePlan,
    topology: &Topology,
    omitted: u64,
    flow_control: u64,
    last: Instant,
    outcome: &mut Outcome,
) {
    let notes = &mut outcome.summary.notes;
    if omitted > 0 {
        notes.add(NoteCode::RecordCut, format!(
            "frames are captured up to {last} only, and {omitted} were left out: give a larger `observe.capture_limit`, or fewer ports",
        ));
    }
    if flow_control > 0 {
        notes.add(NoteCode::RecordCut, format!(
            "{flow_control} flow-control packets are not in `capture.pcapng`: they are no Ethernet frames",
        ));
    }
    let optical = |&end: &CableEnd| {
        // The other end of such a port changes with its circuit, so nothing is captured there.
        let place = topology.optics.place(end);
        place.map(|_| topology.port_name(end.node, end.port))
    };
    let names: Vec<String> = plan.ports.iter().filter_map(optical).collect();
    if !names.is_empty() {
        notes.add(
            NoteCode::RecordCut,
            format!(
                "only what they send is captured at {}: they lead to optical switches",
                names.join(", ")
            ),
        );
    }
}

fn port_of(plan: &CapturePlan, index: u32) -> CableEnd {
    plan.ports.get(index as usize).copied().unwrap_or_default()
}

fn ports(plan: &CapturePlan, context: &Context) -> Vec<CapturedPort> {
    let topology = context.topology();
    let of = |&end: &CableEnd| {
        let CableEnd { node, port } = end;
        let peer = topology.neighbour(node, port);
        let is_optical = topology.optics.place(end).is_some();
        CapturedPort {
            name: topology.port_name(node, port),
            bits_per_second: topology.cable(node, port).rate.bits_per_second(),
            address: address(end),
            peer: if is_optical {
                "an optical switch".to_owned()
            } else {
                topology.port_name(peer.node, peer.port)
            },
        }
    };
    plan.ports.iter().map(of).collect()
}

/// Returns a port's MAC address: a locally administered one with the node's number (24 bits) and
/// the port's.
fn address(end: CableEnd) -> MacAddress {
    let [_, high, middle, low] = end.node.number().to_be_bytes();
    let [port_high, port_low] = end.port.to_be_bytes();
    [2, high, middle, low, port_high, port_low]
}

/// Message lengths, as far as the messages' last packets were captured.
struct Messages {
    /// By destination and queue pair: the sequence numbers that last packets have, with their
    /// payload bytes.
    ends: BTreeMap<(HostId, ReceiveSlot), BTreeMap<u32, u32>>,
    /// Payload bytes in a full packet.
    mtu: u32,
    /// Payload bytes in a full message.
    full: u32,
    /// Packets in a full message.
    packets: u32,
}

impl Messages {
    fn of(frames: &[Seen], context: &Context) -> Messages {
        let mut ends: BTreeMap<_, BTreeMap<u32, u32>> = BTreeMap::new();
        for packet in frames.iter().map(|seen| &seen.packet) {
            if packet.kind == PacketKind::Last {
                let queue_pair = (packet.destination, packet.receive_slot_under_way());
                let of_pair = ends.entry(queue_pair).or_default();
                of_pair.insert(packet.sequence, payload(packet, context));
            }
        }
        let mtu = context.nic.mtu_bytes;
        let full = u32::try_from(context.nic.message_bytes).unwrap_or(u32::MAX);
        Messages {
            ends,
            mtu,
            full,
            packets: full.div_ceil(mtu.max(1)),
        }
    }

    /// Returns the length in bytes of the message that `first` begins, found by its last packet;
    /// that of a full message if the last packet was not captured.
    fn length(&self, first: &Packet) -> u32 {
        let of_pair = self
            .ends
            .get(&(first.destination, first.receive_slot_under_way()));
        let last = of_pair.and_then(|ends| ends.range(first.sequence..).next());
        let last = last.map(|(sequence, payload)| (sequence - first.sequence, payload));
        match last {
            Some((before, payload)) if before < self.packets => before * self.mtu + payload,
            _ => self.full,
        }
    }
}

/// Returns a data packet's payload in bytes, padded to a multiple of 4.
fn payload(packet: &Packet, context: &Context) -> u32 {
    let is_first = matches!(packet.kind, PacketKind::First | PacketKind::Only);
    let headers = context.nic.header_bytes() + if is_first { RETH_BYTES } else { 0 };
    u32::from(packet.frame_bytes).saturating_sub(headers)
}

/// A frame with what is needed to decode it.
struct Frame<'a> {
    seen: &'a Seen,
    context: &'a Context,
    /// The port at which it was captured.
    at: CableEnd,
}

impl Frame<'_> {
    fn decode(&self, messages: &Messages) -> CapturedFrame {
        let topology = self.context.topology();
        let peer = topology.neighbour(self.at.node, self.at.port);
        let (from, to) = if self.seen.is_outbound {
            (self.at, peer)
        } else {
            (peer, self.at)
        };
        CapturedFrame {
            at: self.seen.at.since_start(),
            port: self.seen.port,
            is_outbound: self.seen.is_outbound,
            frame_bytes: self.seen.packet.frame_bytes,
            sender: address(from),
            receiver: address(to),
            content: self.content(messages, from, to),
        }
    }

    fn content(&self, messages: &Messages, from: CableEnd, to: CableEnd) -> FrameContent {
        let packet = &self.seen.packet;
        if self.is_cell(from, to) {
            return FrameContent::Other(format!(
                "cells of a packet of {} bytes for {} in a scheduled fabric",
                packet.frame_bytes,
                self.name(packet.destination)
            ));
        }
        if self.context.nic.ultra_ethernet().is_some() && packet.kind != PacketKind::Pause {
            return FrameContent::Other(self.words());
        }
        let body = match packet.kind {
            PacketKind::Pause => {
                let quanta = Pause::of(packet).quanta;
                return FrameContent::Pause {
                    class: packet.class(),
                    quanta: u16::try_from(quanta).unwrap_or(u16::MAX),
                };
            }
            kind if kind.is_data() => RoceBody::Write {
                is_first: matches!(kind, PacketKind::First | PacketKind::Only),
                is_last: matches!(kind, PacketKind::Last | PacketKind::Only),
                message_bytes: match kind {
                    PacketKind::First => messages.length(packet),
                    _ => payload(packet, self.context),
                },
            },
            PacketKind::Ack => RoceBody::Ack,
            PacketKind::Nak | PacketKind::SelectiveNak => RoceBody::Nak,
            PacketKind::Cnp => RoceBody::Cnp,
            PacketKind::ConnectRequest | PacketKind::ConnectReply => RoceBody::Connect {
                is_reply: packet.kind == PacketKind::ConnectReply,
                // Filled in by `roce`, which knows both ends.
                own_queue_pair: 0,
            },
            _ => return FrameContent::Other(self.words()),
        };
        match self.roce(body) {
            Some(packet) => FrameContent::Roce(packet),
            None => FrameContent::Other(self.words()),
        }
    }

    /// Returns true on a link between switches in a scheduled fabric, where packets travel as
    /// cells.
    fn is_cell(&self, from: CableEnd, to: CableEnd) -> bool {
        let topology = self.context.topology();
        self.context.scheduled.is_some()
            && !topology.is_host(from.node)
            && !topology.is_host(to.node)
    }

    fn name(&self, host: HostId) -> &str {
        let nodes = &self.context.topology().nodes;
        nodes.get(host.node().index()).map_or("", |node| &node.name)
    }

    /// Describes a frame whose header format is not published.
    fn words(&self) -> String {
        let packet = &self.seen.packet;
        let to = self.name(packet.destination);
        match packet.kind {
            PacketKind::EndOfData => format!(
                "end of data before PSN {} to {to}: nothing is sent again",
                packet.sequence & BITS_24
            ),
            PacketKind::Reroute => {
                format!("congestion notice to {to}: its queue pair shall take another path")
            }
            PacketKind::Signal => format!("congestion signal to {to}"),
            PacketKind::Notice => format!(
                "congestion notice to the previous switch: level {}",
                Notice::of(packet).level
            ),
            PacketKind::Pull => format!("grant of credit up to {} to {to}", packet.sequence),
            kind if self.context.nic.ultra_ethernet().is_some() => {
                format!("Ultra Ethernet, {kind:?} {} to {to}", packet.sequence)
            }
            kind => format!("{kind:?}"),
        }
    }

    fn roce(&self, body: RoceBody) -> Option<RocePacket> {
        let packet = &self.seen.packet;
        let PacketEnds {
            source,
            source_port,
            own_slot,
        } = self.context.ends(packet)?;
        let slot = packet.slot()?;
        let addresses = |host: HostId| self.context.addresses.get(host.index());
        let own = addresses(source);
        let of_kind = match body {
            RoceBody::Write { .. } => own.map(|nic| nic.dscp),
            _ => self.context.nic.control_dscp,
        };
        // A switch may have moved the packet to another class, as at a dateline; then its DSCP is
        // only known by the class.
        let of_class = of_kind.filter(|dscp| dscp >> 3 == packet.class());
        let answers = matches!(
            packet.kind,
            PacketKind::Ack | PacketKind::Nak | PacketKind::SelectiveNak
        );
        let sequence = match body {
            // The model's ACK carries the next expected number, a real one the last received.
            RoceBody::Ack => packet.sequence.wrapping_sub(1),
            RoceBody::Write { .. } | RoceBody::Nak => packet.sequence,
            RoceBody::Cnp | RoceBody::Connect { .. } => 0,
        };
        Some(RocePacket {
            source: own.map_or(0, |nic| nic.address),
            destination: addresses(packet.destination).map_or(0, |nic| nic.address),
            dscp: of_class.unwrap_or(packet.class() << 3),
            ecn: match packet {
                of if of.has(Packet::CONGESTION_EXPERIENCED) => 3,
                of if of.has(Packet::ECN_CAPABLE) => 2,
                _ => 0,
            },
            source_port,
            queue_pair: match body {
                // The general services interface, QP 1, handles connection set-up.
                RoceBody::Connect { .. } => 1,
                _ => number(slot),
            },
            sequence: sequence & BITS_24,
            asks_for_ack: packet.kind.is_data() && packet.has(Packet::ACK_REQUEST),
            notifies: packet.kind == PacketKind::Cnp
                || (answers && packet.has(Packet::CONGESTION_ECHO)),
            body: match body {
                RoceBody::Connect { is_reply, .. } => RoceBody::Connect {
                    is_reply,
                    own_queue_pair: number(own_slot),
                },
                other => other,
            },
            remark: (packet.kind == PacketKind::SelectiveNak).then(|| {
                let Missing { first, end } = Missing::of(packet);
                format!(
                    "selective NAK: asks for PSN {} to {} alone",
                    first & BITS_24,
                    end.wrapping_sub(1) & BITS_24
                )
            }),
        })
    }
}

/// Returns a QP number for a NIC's QP index. 0 and 1 are reserved, and receiving queue pairs get
/// even numbers.
fn number(slot: Slot) -> u32 {
    let (slot, sends) = match slot {
        Slot::Receive(slot) => (slot.number(), 0),
        Slot::Send(slot) => (slot.number(), 1),
    };
    let pair = slot.wrapping_mul(2).wrapping_add(2);
    (pair + sends) & BITS_24
}
