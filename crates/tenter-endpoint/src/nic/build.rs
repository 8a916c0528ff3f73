//! What a NIC is built from.

use std::sync::Arc;

use tenter_net::{CreditSpec, Telemetry, Transmitter};
use tenter_topology::HostId;
use tenter_units::Rate;

use super::classes::NicClasses;
use crate::pcie::DmaRates;
use crate::source_ports::PortChanges;
use crate::spec::NicSpec;
use crate::ultra_ethernet::Network;

/// What a NIC is built from.
#[derive(Clone, Debug)]
pub struct NicBuild<'a> {
    /// The host it belongs to.
    pub host: HostId,
    /// Its number among the writers of records beside the packets: that of its host, unless each
    /// port is one.
    pub writer: HostId,
    /// The model of all NICs.
    pub spec: &'a NicSpec,
    /// How it changes source ports.
    pub port_changes: &'a PortChanges,
    /// The classes of what it sends.
    pub classes: NicClasses,
    /// Its wire.
    pub transmitter: Transmitter,
    /// Its wires on further planes, if it has several ports.
    pub further_ports: Vec<Transmitter>,
    /// Planes over which it sprays the packets of one queue pair: 1 where that has one plane.
    pub planes: u16,
    /// The rate of its line: of all ports together.
    pub line: Rate,
    /// How many queue pairs it sends by.
    pub send_slots: usize,
    /// How many queue pairs it receives by.
    pub receive_slots: usize,
    /// How fast payload passes between it and host memory, where [`NicSpec::pcie`] limits it.
    pub dma: Option<DmaRates>,
    /// Where the records of its data packets lie, if its congestion control wants any.
    pub telemetry: Option<Arc<Telemetry>>,
    /// The credit that it needs and grants, and the classes in which it does, one bit each.
    pub credit: Option<(CreditSpec, u8)>,
    /// Whether signals of switches pause what it sends to a receiver.
    pub applies_signals: bool,
    /// The network as the transport of Ultra Ethernet knows it, where NICs have that.
    pub ultra_ethernet: Option<Arc<Network>>,
}
