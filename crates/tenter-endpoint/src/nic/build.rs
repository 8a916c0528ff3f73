//! Inputs from which a NIC is built.

use std::sync::Arc;

use tenter_fabric::net::{CreditSpec, Telemetry, Transmitter};
use tenter_fabric::topology::HostId;
use tenter_language::units::{Rate, Time};

use super::classes::NicClasses;
use crate::pcie::DmaRates;
use crate::source_ports::PortChanges;
use crate::spec::NicSpec;
use crate::ultra_ethernet::Network;

/// Inputs from which a NIC is built.
#[derive(Clone, Debug)]
pub struct NicBuild<'a> {
    /// Host that the NIC belongs to.
    pub host: HostId,
    /// Number under which the NIC writes records that lie beside packets. It is the host's number,
    /// unless each port is a NIC and a writer by itself.
    pub writer: HostId,
    /// Model parameters, the same for all NICs.
    pub spec: &'a NicSpec,
    /// Rules by which queue pairs change their source ports.
    pub port_changes: &'a PortChanges,
    /// Classes for data, control packets and notifications.
    pub classes: NicClasses,
    /// Transmitter at the port, or at the first one if there are several.
    pub transmitter: Transmitter,
    /// Transmitters at the ports on further planes; empty for a NIC with one port.
    pub further_ports: Vec<Transmitter>,
    /// Planes over which a queue pair's packets are sprayed; 1 if a queue pair keeps one plane.
    pub planes: u16,
    /// Line rate, summed over all ports.
    pub line: Rate,
    /// Longest round trip through the unloaded fabric, if the congestion control of `RoCEv2` uses
    /// it.
    pub round_trip: Time,
    /// Send queue pairs that the NIC has.
    pub send_slots: usize,
    /// Receive queue pairs that the NIC has.
    pub receive_slots: usize,
    /// DMA rates between NIC and host memory, if [`NicSpec::pcie`] limits them.
    pub dma: Option<DmaRates>,
    /// Telemetry records for data packets, if congestion control uses telemetry.
    pub telemetry: Option<Arc<Telemetry>>,
    /// Link credit to ask for and to grant, and the classes with credit as a bit set.
    pub credit: Option<(CreditSpec, u8)>,
    /// Set if congestion signals from switches pause traffic to a receiver.
    pub applies_signals: bool,
    /// Network facts for Ultra Ethernet; set exactly if the NIC has that transport.
    pub ultra_ethernet: Option<Arc<Network>>,
}
