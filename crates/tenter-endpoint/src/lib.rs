//! NICs, `RoCEv2` reliable connections, and the transport of Ultra Ethernet.
//!
//! A [`Nic`] holds queue pairs. The workload posts work requests, each a number of payload bytes,
//! to a send queue pair. The NIC cuts a request into RDMA write messages and packets, serves its
//! queue pairs in turns, and reports when the request has arrived ([`Delivery`]) and when it is
//! acknowledged ([`Acknowledged`]). Members of [`loss_recovery`] handle lost packets, members of
//! [`congestion_control`] slow senders down.
//!
//! Like a switch, a NIC knows no engine: the driver passes it each event with its instant, and the
//! NIC puts its packets onto a [`Medium`](tenter_fabric::net::Medium). At equal times the driver
//! serves it in the order *departures, arrivals, timers*.

mod addresses;
pub mod congestion_control;
mod entropy;
pub mod loss_recovery;
mod message;
mod nic;
mod notification;
mod pauses;
mod pcie;
mod reactions;
mod receive;
mod receive_buffer;
mod roce;
mod send;
mod source_ports;
mod spec;
mod timers;
pub mod ultra_ethernet;

pub use addresses::{NicAddress, ROCE_UDP_PORT};
pub use entropy::EntropyKind;
pub use message::MessageCut;
pub use nic::Nic;
pub use nic::build::NicBuild;
pub use nic::classes::NicClasses;
pub use nic::context::{Directory, RxContext};
pub use nic::counters::NicCounters;
pub use nic::error::QueuePairError;
pub use nic::held_by_rate::HeldByRate;
pub use nic::marks::Marks;
pub use nic::run::{Arrivals, RunEnd};
pub use notification::{LimitedBy, NotificationSpec};
pub use pcie::{DmaRates, Pcie};
pub use reactions::{Reaction, Reactions};
pub use receive::{Delivery, Latencies, ReplyPath};
pub use receive_buffer::{ReceiveBufferCounters, ReceiveBufferSpec};
pub use send::{Acknowledged, SendPeer, WorkRequest};
pub use source_ports::{Entropy, PortChanges, RerouteSpec, SourcePorts};
pub use spec::{AckPolicy, Interleave, NicSpec, PathMtu, PlaneChoice};
