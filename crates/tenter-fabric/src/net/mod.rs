//! Packets, links, ports, queues and switches.
//!
//! ```text
//!  link ──▶ ingress half ──▶ route ─▶ load balancer ─▶ output queue ──▶ egress half ──▶ link
//!           of the pipeline          (one of the       (tail drop)     of the pipeline
//!           (folded into the link)    equal-cost ports)                (folded likewise)
//! ```
//!
//! An engine drives the functions here, and they do not know it: it hands a switch a packet at an
//! instant, and the switch puts the frames that it sends onto a [`Medium`]. The windowed engine and
//! the reference engine of the test kit drive the same functions.
//!
//! **Ports are lazy.** A port does nothing at the instant a frame ends; it is brought up to date
//! when it is next used (`Port::advance`). This is exact because a departure at d affects no node
//! before d + serialisation + latency.

mod arrivals_by_port;
mod buffer;
mod class;
mod credit;
mod departures;
mod ecn;
pub mod headroom;
pub mod impairment;
pub mod input_queued;
pub mod load_balancing;
mod medium;
mod memory;
mod notices;
mod packet;
mod port;
mod queue;
mod response_time;
pub mod scheduled;
mod scheduling;
mod signals;
mod spec;
mod steady;
mod switch;
mod telemetry;
mod transmitter;
mod trim_rule;
mod visit;
mod visit_counts;
mod watchdog;

pub use arrivals_by_port::ArrivalsByPort;
pub use buffer::{PausesBy, PoolRecord, PriorityGroupRecord};
pub use class::{
    CLASSES, ClassSpec, EcnSpec, Headroom, Level, Levels, Limit, LosslessSpec, MarkAt, PfcTrigger,
    PoolScope, Scheduling, TrimSpec,
};
pub use credit::{CREDIT_MAX_BYTES, CreditSpec, LaneBuffer, LaneCredit};
pub use medium::{Event, EventKind, Medium};
pub use memory::{BufferSharing, UNLIMITED_POOL};
pub use packet::{
    ACK_FRAME_BYTES, CNP_FRAME_BYTES, CONNECT_FRAME_BYTES, CONTROL_LINK_BYTES, CREDIT_BLOCK_BYTES,
    DATA_OVERHEAD_BYTES, FLOW_CONTROL_BYTES, FlowControl, LostCredit, Missing, Notice,
    PAUSE_FRAME_BYTES, Packet, PacketKind, Pause, PullTarget, RETH_BYTES, ReceiveSlot, Reroute,
    SENT_UNIT_PS, SIGNAL_FRAME_BYTES, ScaleUpEnd, SendSlot, Slot, WIRE_OVERHEAD_BYTES,
    credit_blocks,
};
pub use port::{Port, PortCounters, WatchdogAction};
pub use queue::{PauseRecord, QueueCounters};
pub use signals::{
    Cause, Headers, PlaceOfSignals, Sender, Signal, SignalMode, SignalRecord, SignalSpec,
    SignalWiring,
};
pub use spec::{Forwarding, SwitchSpec, Switches};
pub use steady::{FlowEnd, UnderWay, Visitor};
pub use switch::{Headrooms, Switch, SwitchModel, SwitchParts};
pub use telemetry::{Hop, RecordName, Telemetry};
pub use transmitter::{FarEnd, MacControl, Transmitter, WireLosses};
pub use visit_counts::VisitCounts;
pub use watchdog::WatchdogSpec;
