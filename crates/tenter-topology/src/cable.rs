//! Cables, and what they are plugged into.

use tenter_units::{Rate, Time};

use crate::ids::NodeId;

/// A full-duplex cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cable {
    /// The two plugs. End 0 is at the node with the lower number; of a fibre to an optical circuit
    /// switch, at the port it is plugged into.
    pub ends: [CableEnd; 2],
    /// Line rate of each direction.
    pub rate: Rate,
    /// Propagation delay of each direction.
    pub delay: Time,
}

/// Where one end of a cable is plugged in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CableEnd {
    /// The node.
    pub node: NodeId,
    /// Port of that node.
    pub port: u16,
}

/// The plug in a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortRef {
    /// Cable number.
    pub cable: u32,
    /// Which end of it is here: 0 or 1.
    pub end: u8,
}
