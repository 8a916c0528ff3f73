//! The section `endpoint.nic`: the NIC model that a trial uses.

use std::ops::RangeInclusive;

use tenter_engine::mix64;
use tenter_fabric::net::headroom::PauseResponse;
use tenter_fabric::net::{ACK_FRAME_BYTES, DATA_OVERHEAD_BYTES, RETH_BYTES};
use tenter_language::config::{
    Component, KeptAs, Reader, Shape, Value, Words as _, Written, choice, component, default_of,
    word_or,
};
use tenter_language::units::{Bytes, Rate, Time};

use crate::congestion_control::{Answers, CongestionControl};
use crate::loss_recovery::{LossRecovery, SelectiveRepeat};
use crate::message::MessageCut;
use crate::notification::NotificationSpec;
use crate::pcie::Pcie;
use crate::receive_buffer::ReceiveBufferSpec;
use crate::source_ports::SourcePorts;
use crate::ultra_ethernet::{Transport, UltraEthernet};

component! {
    /// One NIC model; all NICs of a trial share it.
    pub struct NicSpec as "`endpoint.nic`", derive(Clone, Debug, PartialEq, Eq) {
        instead "port_mtu": u64, of "mtu" by path_mtu | "unset", in 316..=65_535,
            "Ethernet MTU of the port instead of `mtu`, in bytes: the largest path MTU that fits with 60 bytes of headers (IPv4, UDP, BTH, RETH, ICRC).";
        instead "timeout_exponent": u8, of "retransmission_timeout" by timeout_of_exponent | "unset", in 1..=22,
            "The timeout as queue pairs have it instead of `retransmission_timeout`: n for 4.096 us x 2^n; perftest has 14, and NCCL has had 14, 18 and, since 2.23, 20.";
        /// The transport: `roce` is RoCEv2 reliable connections, whose keys the others here are;
        /// with `ultra-ethernet` those of sizes, windows, acknowledgements and losses have no
        /// meaning.
        transport: Transport = "roce";
        /// Choice of UDP source ports for the data packets of a QP, so that switches that hash them
        /// spread the QP; with `none` all packets have one.
        entropy: Option<SourcePorts> = "none";
        /// Payload bytes of a full packet (the RoCE path MTU).
        mtu_bytes as "mtu": u32 as PathMtu = "4096", from "the largest the InfiniBand architecture has; usual on jumbo-frame Ethernet";
        /// Payload of one RDMA write message.
        message_bytes as "message_size": u64 as Bytes = "128KiB", in Bytes::new(1)..=MESSAGE_MAX, from "AI Fabric Test Methodology (Keysight), every case with RoCEv2";
        /// End of a QP's turn, where several have something to send: after each packet, after each
        /// message, or after the packet with which its turn has this number of frame bytes.
        interleave: Interleave = "packet", in Bytes::new(1)..=MESSAGE_MAX, from "the fairest there is; schedulers of NICs are not published";
        /// When the receiver acknowledges; `every` counts packets, and the last packet of a message
        /// is always acknowledged.
        acknowledge: AckPolicy = "per-message";
        /// Packets a QP may have unacknowledged.
        window_packets as "window": Option<u32> = "none", in 1..=u32::MAX;
        /// Messages a QP may have begun that are not acknowledged whole: its outstanding requests,
        /// as each message is one.
        outstanding_messages: Option<u32> = "none", in 1..=1 << 20;
        /// Time for which the oldest packet may stay unacknowledged before the QP sends it again.
        retransmission_timeout: Time = "67.108864ms", in TIMEOUTS, from "timeout exponent 14 of the InfiniBand Architecture Specification: 4.096 us x 2^14";
        /// Timeouts in a row without progress after which the QP gives up.
        retry_count: u8 = "7", in 0..=255, from "the largest the InfiniBand Architecture Specification allows, and what collective libraries set";
        /// `true` lets NAKs of go-back-N use up retries as well: those since the last
        /// acknowledgement proper, together with timeouts, as the InfiniBand Architecture
        /// Specification has it.
        retry_on_nak: bool = "false";
        /// From the QP to the wire.
        transmit_latency: Time = "0ns", in DELAYS;
        /// From the wire to the QP.
        receive_latency: Time = "0ns", in DELAYS;
        /// Time after the arrival of a pause frame in which the NIC may still start frames of the
        /// class.
        pause_response: Option<PauseResponse> = absent "that of `fabric.switch`", in DELAYS;
        /// From the end of a pause, by an XON or because its time has passed, until the NIC starts
        /// frames of the class again; an XON acts after `pause_response`, and this comes on top.
        resume_delay: Time = "0ns", in DELAYS;
        /// Idle wire after the last packet of each message.
        message_gap: Time = "0ns", in DELAYS;
        /// `true` sends one request and its reply across the fabric before the first packet of each
        /// QP.
        connection_set_up: bool = "false";
        /// Each rank starts each collective of its job later by a random time up to this.
        start_skew_max: Time = "0ns", in DELAYS;
        /// Each NIC's clock is off by a random amount of at most this, in parts per million; IEEE
        /// 802.3 allows 100.
        clock_offset_max_ppm: u32 = "0", in 0..=1000;
        /// DSCP of acknowledgements and of connection set-up, and with it their class, which is the
        /// DSCP shifted right by 3; `none` is that of the data, and that of trimmed frames with
        /// `fabric.flow_control: trim`.
        control_dscp: Option<u8> = "none", in 0..=63;
        /// The recovery of lost packets; `none` sends nothing again and counts missing packets, as
        /// a traffic tester does.
        loss_recovery: LossRecovery = "go-back-n", from "the InfiniBand Architecture Specification";
        /// How senders slow down when the network is congested.
        congestion_control: Option<CongestionControl> = "none";
        /// PCIe between the NIC and host memory: the limit of DMA, both ways.
        pcie: Option<Pcie> = "none";
        /// A receive side slower than the wire, and the buffer before it; `none` takes frames as
        /// fast as they arrive.
        receive_buffer: Option<ReceiveBufferSpec> = by before_pcie | pcie | "`none`, or `{}` with `pcie`";
        /// How a NIC with a port on each of several planes chooses among them: `spray` sends each
        /// packet by the next free port, in turn; `hash` keeps each QP on the plane that its
        /// 5-tuple hashes to.
        planes: Option<PlaneChoice> = absent "`spray` where NICs take packets out of order, else `hash`", omit default;
        check keys_go_together;
    }
}

/// Rule by which a NIC with several ports chooses the plane for a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaneChoice {
    /// Each packet leaves by the next free port.
    Spray,
    /// Each queue pair keeps the plane that its 5-tuple hashes to.
    Hash,
}

choice!(PlaneChoice { "spray" => Spray, "hash" => Hash });

/// Smallest Ethernet frame, FCS included.
const SHORTEST_FRAME_BYTES: u32 = 64;
/// Upper bound of delays.
const SECOND: Time = Time::from_us(1_000_000);
const DELAYS: RangeInclusive<Time> = Time::ZERO..=SECOND;
const TIMEOUTS: RangeInclusive<Time> = Time::from_us(1)..=Time::from_us(20_000_000);
/// Longest message in the `InfiniBand` architecture.
const MESSAGE_MAX: Bytes = Bytes::new(1 << 31);
/// Headers that an Ethernet MTU holds besides the payload of the longest packet: IPv4 20, UDP 8,
/// BTH 12, RETH 16 and ICRC 4.
const HEADER_BYTES: u64 = 60;

impl Default for NicSpec {
    fn default() -> NicSpec {
        default_of()
    }
}

/// A path MTU in the `InfiniBand` architecture: a full packet's payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathMtu {
    /// A full packet carries 256 bytes.
    Bytes256,
    /// A full packet carries 512 bytes.
    Bytes512,
    /// A full packet carries 1,024 bytes.
    Bytes1024,
    /// A full packet carries 2,048 bytes.
    Bytes2048,
    /// A full packet carries 4,096 bytes.
    Bytes4096,
}

choice!(PathMtu {
    "256" => Bytes256,
    "512" => Bytes512,
    "1024" => Bytes1024,
    "2048" => Bytes2048,
    "4096" => Bytes4096,
});

/// The value is kept as bytes.
impl KeptAs<u32> for PathMtu {
    fn kept(self) -> u32 {
        256 << self as u32
    }

    fn written_of(bytes: &u32) -> Written {
        Written::word(bytes.to_string())
    }
}

/// Returns the largest path MTU that fits an Ethernet MTU, or 256 bytes if none does.
fn path_mtu(port_mtu: u64) -> PathMtu {
    let payload = port_mtu.saturating_sub(HEADER_BYTES);
    let mut mtus = PathMtu::ALL.iter().rev().copied();
    let largest = mtus.find(|mtu| u64::from(mtu.kept()) <= payload);
    largest.unwrap_or(PathMtu::Bytes256)
}

/// Returns the timeout for an exponent n, 4.096 us · 2ⁿ (InfiniBand Architecture Specification).
fn timeout_of_exponent(exponent: u8) -> Time {
    Time::from_ns(4_096) * (1 << exponent)
}

/// Data packets that one acknowledgement covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckPolicy {
    /// Each message's last packet asks for an acknowledgement.
    PerMessage,
    /// Every `n`-th packet asks as well; with 1 each packet does.
    EveryPackets(u32),
}

component! {
    /// An acknowledgement for several packets.
    struct Every as "`endpoint.nic.acknowledge`, written as a mapping", derive(Clone, Copy) {
        /// Packets that one acknowledgement covers.
        every: u32, in 1..=u32::MAX;
    }
}

impl AckPolicy {
    const WORDS: &'static [&'static str] = &["per-message", "per-packet"];
}

impl Value for AckPolicy {
    type Bounds = ();

    fn shape((): ()) -> Shape {
        let words = Shape::Choice(AckPolicy::WORDS);
        Shape::Either(Box::new(words), Box::new(Every::shape(())))
    }

    fn read(reader: &mut dyn Reader, key: &str, (): ()) -> Option<AckPolicy> {
        if reader.is_mapping(key) {
            let read = <Every as Value>::read(reader, key, ());
            return read.map(|own| AckPolicy::EveryPackets(own.every));
        }
        let word = reader.choice(key, AckPolicy::WORDS)?;
        Some([AckPolicy::PerMessage, AckPolicy::EveryPackets(1)][word])
    }

    fn written(&self) -> Written {
        match self {
            AckPolicy::PerMessage => Written::word("per-message"),
            AckPolicy::EveryPackets(1) => Written::word("per-packet"),
            AckPolicy::EveryPackets(every) => Value::written(&Every { every: *every }),
        }
    }
}

/// Rule that ends a queue pair's turn, if several have something to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interleave {
    /// The turn ends after each packet.
    Packet,
    /// The turn ends after each message.
    Message,
    /// The turn ends after this many frame bytes, rounded up to whole packets.
    Burst(Bytes),
}

word_or!(Interleave { "packet" => Packet, "message" => Message, Burst(Bytes) });

/// Returns the default receive buffer if PCIe is modelled, since DMA then drains one.
#[expect(clippy::ref_option, reason = "defaults are made from references")]
fn before_pcie(pcie: &Option<Pcie>) -> Option<ReceiveBufferSpec> {
    pcie.map(|_| default_of())
}

/// Refuses keys that contradict each other. Most checks report and go on, so that the user sees all
/// problems at once.
fn keys_go_together(nic: &NicSpec, reader: &mut dyn Reader) -> bool {
    if nic.ultra_ethernet().is_some() {
        return check_keys_of_roce(nic, reader);
    }
    check_windows(nic, reader);
    check_answers(nic, reader);
    check_news(nic, reader);
    check_receive_buffer(nic, reader)
}

/// Keys that have a meaning for `RoCEv2` only.
const KEYS_OF_ROCE: [&str; 18] = [
    "entropy",
    "mtu",
    "message_size",
    "interleave",
    "acknowledge",
    "window",
    "outstanding_messages",
    "retransmission_timeout",
    "retry_count",
    "retry_on_nak",
    "message_gap",
    "connection_set_up",
    "loss_recovery",
    "congestion_control",
    "pcie",
    "receive_buffer",
    "port_mtu",
    "timeout_exponent",
];

/// Refuses keys that belong to `RoCEv2` beside another transport, and removes their defaults from
/// the resolved configuration.
fn check_keys_of_roce(nic: &NicSpec, reader: &mut dyn Reader) -> bool {
    let (own, usual) = (
        Component::written(nic),
        Component::written(&NicSpec::default()),
    );
    let is_usual = |key: &str| own.iter().any(|of| of.0 == key && usual.contains(of));
    let mut holds = true;
    for key in KEYS_OF_ROCE {
        // A scenario that a program has made has every key with its value.
        if reader.was_given(key) && !is_usual(key) {
            let what = "means nothing with `transport: ultra-ethernet`, which has keys of its own";
            reader.refuse(key, what, "leave it out, or set `transport: roce`");
            holds = false;
        }
        reader.leave_out(key);
    }
    holds
}

/// Refuses a window that closes before the first acknowledgement is due: it would never open again.
fn check_windows(nic: &NicSpec, reader: &mut dyn Reader) {
    let due = nic.first_acknowledgement();
    let what = |window: u32| {
        format!(
            "is {window} packets, but the first acknowledgement comes after {due}: every QP would wait for ever"
        )
    };
    let too_small = |window: &u32| u64::from(*window) < due;
    if let Some(window) = nic.window_packets.filter(too_small) {
        let help = format!("give a window of at least {due}, or set `acknowledge: per-packet`");
        reader.refuse("window", &what(window), &help);
    }
    if let LossRecovery::SelectiveRepeat(repeat) = nic.loss_recovery
        && too_small(&repeat.window)
    {
        let what = format!(
            "has a window in `loss_recovery` that {}",
            what(repeat.window)
        );
        let help = format!("let it have at least {due}, or set `acknowledge: per-packet`");
        reader.refuse_all(&what, &help);
    }
}

/// Refuses fewer acknowledgements than the congestion control requires.
fn check_answers(nic: &NicSpec, reader: &mut dyn Reader) {
    let Some(control) = nic.reacting() else {
        return;
    };
    let (due, name) = (nic.first_acknowledgement(), control.word());
    let what = match control.answers() {
        Answers::BeforeOnePacketWaits if due > 1 => format!(
            "has windows that may be of one packet under `{name}`, but the first acknowledgement comes after {due}: QPs would wait for timeouts"
        ),
        Answers::ToEachPacket if nic.acknowledge != AckPolicy::EveryPackets(1) => {
            format!("does not answer every packet, but `{name}` goes by the answer to each of them")
        }
        _ => return,
    };
    reader.refuse_all(&what, "set `acknowledge: per-packet`");
}

/// Refuses entropy kinds that learn from answers, if receivers do not answer each packet.
fn check_news(nic: &NicSpec, reader: &mut dyn Reader) {
    let kind = nic.entropy.map(|ports| ports.kind);
    let Some(kind) = kind.filter(|kind| kind.learns()) else {
        return;
    };
    let due = nic.first_acknowledgement();
    if due > 1 {
        let what = format!(
            "acknowledges {due} packets at once, but `kind: {}` of `entropy` goes by the answer to each of them",
            kind.word()
        );
        let help = "set `acknowledge: per-packet`, or a `kind` that learns nothing: `random` or `oblivious`";
        reader.refuse_all(&what, help);
    }
}

/// Requires something that drains the receive buffer, and room for a frame.
fn check_receive_buffer(nic: &NicSpec, reader: &mut dyn Reader) -> bool {
    const KEY: &str = "receive_buffer";
    let longest = Bytes::new(u64::from(nic.longest_frame_bytes()));
    match (&nic.receive_buffer, nic.pcie.is_some()) {
        (None, true) => {
            let help = "leave it out, or give it `capacity`, `xoff` and `xon`";
            reader.refuse(KEY, "cannot be `none` with `pcie`", help);
        }
        (Some(buffer), true) if buffer.drain_rate.is_some() => {
            let what = "and `pcie` both say how fast the buffer drains";
            let help = "leave it out, or leave `pcie` out";
            reader.refuse("receive_buffer.drain_rate", what, help);
        }
        (Some(buffer), false) if buffer.drain_rate.is_none() => {
            let help = "add `drain_rate: 250Gbps`, for example, or give `endpoint.nic.pcie`";
            reader.refuse(KEY, "lacks `drain_rate`", help);
        }
        (Some(buffer), _) if buffer.capacity < longest => {
            let what = format!("is `{}`, outside its range", buffer.capacity);
            let help = format!("give at least `{longest}`, the longest frame");
            reader.refuse("receive_buffer.capacity", &what, &help);
        }
        _ => return true,
    }
    false
}

impl NicSpec {
    /// Returns the choice among planes, for NICs with several ports.
    pub fn plane_choice(&self) -> PlaneChoice {
        // Spraying reorders packets, so it is the default only for receivers that accept them in
        // any order.
        let recovers = matches!(self.loss_recovery, LossRecovery::SelectiveRepeat(_));
        let reorders = recovers || self.ultra_ethernet().is_some();
        let usual = if reorders {
            PlaneChoice::Spray
        } else {
            PlaneChoice::Hash
        };
        self.planes.unwrap_or(usual)
    }

    /// Returns the plane for a queue pair with this hash, or `None` if its packets take all planes
    /// in turn.
    pub fn plane_of(&self, hash: u32, planes: u16) -> Option<u16> {
        // Switches use the hash as it is; mixing keeps plane and path independent.
        let mixed = mix64(u64::from(hash)) >> 32;
        let plane = (mixed * u64::from(planes)) >> 32;
        let is_one = planes == 1 || self.plane_choice() == PlaneChoice::Hash;
        is_one.then_some(plane as u16)
    }

    /// Returns the pause response: the NIC's own, or else the switches'.
    pub fn pause_response(&self, of_switches: PauseResponse) -> PauseResponse {
        self.pause_response.unwrap_or(of_switches)
    }

    /// Returns the class for acknowledgements and connection set-up, or `None` if they share the
    /// data's.
    pub fn control_class(&self) -> Option<u8> {
        self.control_dscp.map(|dscp| dscp >> 3)
    }

    /// Returns how receivers notify senders about marks, or `None` if they do not.
    pub fn notification(&self) -> Option<NotificationSpec> {
        let control = self.congestion_control.as_ref();
        control.and_then(CongestionControl::notification)
    }

    /// Returns the congestion control, if senders react to it.
    pub fn reacting(&self) -> Option<&CongestionControl> {
        let control = self.congestion_control.as_ref();
        control.filter(|control| control.reacts())
    }

    /// Returns the number of packets after which the first acknowledgement in a message comes.
    pub fn first_acknowledgement(&self) -> u64 {
        let message_packets = self.message_bytes.div_ceil(u64::from(self.mtu_bytes));
        match self.acknowledge {
            AckPolicy::PerMessage => message_packets,
            AckPolicy::EveryPackets(every) => message_packets.min(u64::from(every)),
        }
    }

    /// Returns the frame bytes of the longest frame, a full packet that begins its message.
    pub fn longest_frame_bytes(&self) -> u32 {
        let first = if self.ultra_ethernet().is_some() {
            0
        } else {
            RETH_BYTES
        };
        self.mtu_bytes + self.header_bytes() + first
    }

    /// Returns the frame bytes of the shortest frame.
    pub fn shortest_frame_bytes(&self) -> u32 {
        let own = self.ultra_ethernet().map(|own| own.control_bytes);
        own.map_or(SHORTEST_FRAME_BYTES, |own| own.min(SHORTEST_FRAME_BYTES))
    }

    /// Returns the frame bytes of an acknowledgement.
    pub fn answer_frame_bytes(&self) -> u32 {
        let own = self.ultra_ethernet().map(|own| own.control_bytes);
        own.unwrap_or(u32::from(ACK_FRAME_BYTES) + self.telemetry_bytes())
    }

    /// Returns Ultra Ethernet's parameters, if NICs have that transport.
    pub fn ultra_ethernet(&self) -> Option<&UltraEthernet> {
        match &self.transport {
            Transport::Roce => None,
            Transport::UltraEthernet(own) => Some(own),
        }
    }

    /// Copies the transport's values into the corresponding `RoCEv2` keys: sizes, acceptance in any
    /// order, and changing source ports. Code that reads those keys need not know the transport,
    /// therefore.
    pub fn adopt_transport(&mut self) {
        let Some(own) = self.ultra_ethernet().copied() else {
            return;
        };
        let full = u64::from(own.full_frame_bytes());
        let every = own.acknowledge_after.count().div_ceil(full).max(1);
        self.mtu_bytes = own.payload_bytes;
        self.message_bytes = MESSAGE_MAX.count();
        self.acknowledge = AckPolicy::EveryPackets(every as u32);
        self.loss_recovery = LossRecovery::SelectiveRepeat(SelectiveRepeat::any_order());
        self.entropy = Some(SourcePorts::per_packet(
            own.entropy.kind,
            own.entropy.values,
        ));
    }

    /// Returns the frame bytes that a data packet has besides its payload, unless it begins its
    /// message.
    pub fn header_bytes(&self) -> u32 {
        let own = self.ultra_ethernet().map(|own| own.header_bytes);
        own.unwrap_or(DATA_OVERHEAD_BYTES + self.telemetry_bytes())
    }

    /// Returns the frame bytes that telemetry takes in each data packet and its answer.
    pub fn telemetry_bytes(&self) -> u32 {
        let control = self.congestion_control.as_ref();
        control.map_or(0, CongestionControl::telemetry_bytes)
    }

    /// Returns true if DMA at `rate`, in bits per second on the PCIe link, keeps up with a wire at
    /// `line`. Without PCIe it always does.
    pub fn dma_keeps_up(&self, rate: Rate, line: Rate) -> bool {
        let pcie = self.pcie.as_ref();
        pcie.is_none_or(|pcie| pcie.keeps_up(rate, line, self.mtu_bytes, self.header_bytes()))
    }

    /// Returns the sizes by which work requests are cut into messages and packets.
    pub fn cut(&self) -> MessageCut {
        if let Some(own) = self.ultra_ethernet() {
            return MessageCut::uncut(own.payload_bytes, own.header_bytes);
        }
        MessageCut::new(self.message_bytes, self.mtu_bytes).with_telemetry(self.telemetry_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_mtu_follows_the_published_table() {
        // AI Fabric Test Methodology (Keysight) pairs these port MTUs and path MTUs.
        for (port, path) in [(1500, 1024), (2200, 2048), (4200, 4096), (8192, 4096)] {
            assert_eq!(path_mtu(port).kept(), path);
        }
        // 256 + 60 is the smallest, one byte less than 512 + 60 does not hold 512.
        assert_eq!(
            [316, 571, 572].map(|port| path_mtu(port).kept()),
            [256, 256, 512]
        );
    }

    #[test]
    fn the_longest_frame_is_the_first_of_a_message() {
        // 4,158 bytes for a middle packet of 4,096, and 16 more for the RETH of the first.
        assert_eq!(NicSpec::default().longest_frame_bytes(), 4158 + 16);
    }
}
