//! Cables, and the ports they are plugged into.

use tenter_language::units::{Rate, Time};

use crate::topology::ids::NodeId;

/// A full-duplex cable between two ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cable {
    /// Ports at both ends. End 0 is at the node with the lower number, or for a fibre to an optical
    /// circuit switch at the electrical port it is plugged into.
    pub ends: [CableEnd; 2],
    /// Line rate in each direction.
    pub rate: Rate,
    /// Propagation delay in each direction.
    pub delay: Time,
}

/// Port into which one end of a cable is plugged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CableEnd {
    /// Node that has the port.
    pub node: NodeId,
    /// Port number on that node, from 0.
    pub port: u16,
}

/// Cable end that a port holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortRef {
    /// Number of the cable in the port.
    pub cable: u32,
    /// End that is here: 0 or 1.
    pub end: u8,
}
