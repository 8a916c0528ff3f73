//! What a NIC is built from: plain numbers, all units resolved.

use tenter_net::{DATA_OVERHEAD_BYTES, RETH_BYTES};
use tenter_units::{Rate, Time};

use crate::congestion_control::CongestionControl;
use crate::entropy::Entropy;
use crate::loss_recovery::LossRecovery;
use crate::message::MessageCut;
use crate::pcie::PcieSpec;

/// How many data packets one acknowledgement covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckPolicy {
    /// One acknowledgement for the last packet of each message.
    PerMessage,
    /// One for every `n`-th packet and for the last of each message; 1 acknowledges each packet.
    EveryPackets(u32),
}

/// When the turn of a QP is over, where several have something to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interleave {
    /// After each packet.
    Packet,
    /// After each message.
    Message,
}

/// One NIC model; all NICs of a trial share it.
#[derive(Clone, Debug, PartialEq)]
pub struct NicSpec {
    /// Payload bytes of a full packet (RoCE path MTU): 256, 512, 1024, 2048 or 4096.
    pub mtu_bytes: u32,
    /// Payload bytes of one RDMA write message.
    pub message_bytes: u64,
    /// When the next QP has its turn.
    pub interleave: Interleave,
    /// How the source port of data packets changes; `None`: each QP keeps its own.
    pub entropy: Option<Entropy>,
    /// What is done about notices that packets of a QP wait in a long queue; `None`: there are
    /// none.
    pub reroute: Option<RerouteSpec>,
    /// When the receiver acknowledges.
    pub acknowledge: AckPolicy,
    /// Packets a QP may have unacknowledged; `None` for no limit.
    pub window_packets: Option<u32>,
    /// Messages a QP may have begun that are not acknowledged whole, as its send queue has room
    /// for; `None` for no limit.
    pub outstanding_messages: Option<u32>,
    /// How long the oldest unacknowledged packet may stay so before the QP goes back to it.
    pub retransmission_timeout: Time,
    /// Timeouts in a row without progress after which the QP gives up.
    pub retry_count: u8,
    /// Whether NAKs use up retries as well, those since the last acknowledgement proper together,
    /// as the `InfiniBand` Architecture Specification has it.
    pub retry_on_nak: bool,
    /// From the QP to the wire.
    pub transmit_latency: Time,
    /// From the wire to the QP.
    pub receive_latency: Time,
    /// Idle wire after the last packet of each message.
    pub message_gap: Time,
    /// From the arrival that releases a send (or the start of the collective) to the send.
    pub step_delay: Time,
    /// From the start of a collective to its first sends.
    pub start_up: Time,
    /// One request and its reply cross the fabric before the first packet of each QP.
    pub connection_set_up: bool,
    /// Each NIC starts each collective later by a random time up to this.
    pub start_skew_max: Time,
    /// Each NIC's clock is off by a random amount of at most this many parts per million.
    pub clock_offset_max_ppm: u32,
    /// The class of acknowledgements and of connection set-up; `None`: that of the data.
    pub control_class: Option<u8>,
    /// A receive side slower than the wire, with its buffer; `None`: what arrives is taken at once.
    pub receive_buffer: Option<ReceiveBufferSpec>,
    /// PCIe to host memory, which each NIC may be kept from using to the full
    /// ([`Nic::limit_dma`](crate::Nic::limit_dma)); `None`: memory is as near as the NIC itself.
    pub pcie: Option<PcieSpec>,
    /// What senders and receivers do about lost packets.
    pub loss_recovery: LossRecovery,
    /// How senders slow down when the network is congested; `None`: they do not.
    pub congestion_control: Option<CongestionControl>,
    /// How receivers tell senders of marked packets; `None`: they do not.
    pub notification: Option<NotificationSpec>,
}

/// How queue pairs change their source port when a switch says that their packets wait in a long
/// queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RerouteSpec {
    /// From the arrival of a notice to the change.
    pub response: Time,
    /// So long a queue pair that has changed its port keeps it.
    pub hold_down: Time,
    /// What the ports there are make of the hash that switches see, by exclusive or: two or more,
    /// the first of them nothing.
    pub differences: Box<[u32]>,
}

/// The notification point of DCQCN: a receiver that gets a marked packet sends a congestion
/// notification packet (CNP) to its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotificationSpec {
    /// At most one notification for each QP in this time.
    pub interval: Time,
    /// Whether the next acknowledgement or NAK carries it, and no packet of its own.
    pub in_acknowledgements: bool,
    /// The class of notifications.
    pub class: u8,
}

/// The receive side of a NIC: a FIFO that drains into host memory, and pauses the leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiveBufferSpec {
    /// Frame bytes leave the buffer at this rate; `None`: payload leaves it over PCIe, and NICs
    /// whose PCIe keeps up with the wire have none.
    pub drain_rate: Option<Rate>,
    /// Frame bytes it holds; what does not fit is dropped.
    pub capacity_bytes: u64,
    /// Above so many bytes all classes are paused; `None` never pauses.
    pub xoff_bytes: Option<u64>,
    /// The NIC lets the leaf resume at this many bytes or fewer.
    pub xon_bytes: u64,
    /// Pause time asked for, in quanta of 512 bit times.
    pub quanta: u16,
}

impl NicSpec {
    /// Frame bytes of a full packet that is the first of its message, the longest there is.
    pub fn longest_frame_bytes(&self) -> u32 {
        self.mtu_bytes + DATA_OVERHEAD_BYTES + self.telemetry_bytes() + RETH_BYTES
    }

    /// Frame bytes that data packets and their answers have for in-band telemetry.
    pub fn telemetry_bytes(&self) -> u32 {
        let control = self.congestion_control.as_ref();
        control.map_or(0, CongestionControl::telemetry_bytes)
    }

    /// Whether DMA at a rate of link bytes never falls behind a wire of rate `line`; without PCIe
    /// it never does.
    pub fn dma_keeps_up(&self, rate: Rate, line: Rate) -> bool {
        let headers = DATA_OVERHEAD_BYTES + self.telemetry_bytes();
        let packets = (self.mtu_bytes, headers);
        let pcie = self.pcie.as_ref();
        pcie.is_none_or(|pcie| pcie.keeps_up(rate, line, packets))
    }

    /// How it cuts work requests.
    pub fn cut(&self) -> MessageCut {
        MessageCut::new(self.message_bytes, self.mtu_bytes).with_telemetry(self.telemetry_bytes())
    }
}

impl ReceiveBufferSpec {
    /// A pause is repeated when this share of it has passed, in percent.
    pub const REFRESH_PERCENT: u8 = 50;
}

impl NicAddress {
    /// The class (priority) of its data packets: the class selector bits of the DSCP.
    pub fn class(&self) -> u8 {
        self.dscp >> 3
    }
}

/// The addresses of one NIC. The address feeds the ECMP hash, the DSCP gives the class; prefix and
/// gateway are checked when a scenario is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NicAddress {
    /// IPv4 address.
    pub address: u32,
    /// Prefix length of its subnet.
    pub prefix: u8,
    /// IPv4 address of its gateway.
    pub gateway: u32,
    /// DSCP of its data packets.
    pub dscp: u8,
}

/// The UDP destination port of `RoCEv2` (InfiniBand Architecture Specification, Annex A17).
pub const ROCE_UDP_PORT: u16 = 4791;
