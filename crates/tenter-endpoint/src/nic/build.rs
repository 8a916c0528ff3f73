//! Inputs to the construction of a NIC.

use std::sync::Arc;

use tenter_net::{CreditSpec, Telemetry, Transmitter};
use tenter_topology::HostId;
use tenter_units::Rate;

use super::classes::NicClasses;
use crate::pcie::DmaRates;
use crate::source_ports::PortChanges;
use crate::spec::NicSpec;
use crate::ultra_ethernet::Network;

/// Inputs to the construction of a NIC.
#[derive(Clone, Debug)]
pub struct NicBuild<'a> {
    /// Host that the NIC belongs to.
    pub host: HostId,
    /// Number under which the NIC writes records that lie beside packets. It is the host's number,
    /// except if each port is a NIC and hence a writer of its own.
    pub writer: HostId,
    /// Model parameters, the same for all NICs.
    pub spec: &'a NicSpec,
    /// Rules by which queue pairs change their source ports.
    pub port_changes: &'a PortChanges,
    /// Classes of the NIC's data, control packets and notifications.
    pub classes: NicClasses,
    /// Transmitter of the port, or of the first one if there are several.
    pub transmitter: Transmitter,
    /// Transmitters of the ports on further planes; empty for a NIC with one port.
    pub further_ports: Vec<Transmitter>,
    /// Planes over which the packets of one queue pair are sprayed; 1 if a queue pair keeps one
    /// plane.
    pub planes: u16,
    /// Line rate, summed over all ports.
    pub line: Rate,
    /// Number of send queue pairs.
    pub send_slots: usize,
    /// Number of receive queue pairs.
    pub receive_slots: usize,
    /// DMA rates between NIC and host memory, if [`NicSpec::pcie`] limits them.
    pub dma: Option<DmaRates>,
    /// Table of telemetry records for data packets, if congestion control uses telemetry.
    pub telemetry: Option<Arc<Telemetry>>,
    /// Link credit to ask for and to grant, and a bit set of the classes that it applies to.
    pub credit: Option<(CreditSpec, u8)>,
    /// Set if congestion signals from switches pause traffic to a receiver.
    pub applies_signals: bool,
    /// Network facts for the transport of Ultra Ethernet; set exactly if the NIC has that
    /// transport.
    pub ultra_ethernet: Option<Arc<Network>>,
}
