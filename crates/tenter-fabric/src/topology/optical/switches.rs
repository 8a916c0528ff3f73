//! Optical circuit switches in a topology, and the fibres in their ports.

use std::collections::BTreeMap;

use tenter_language::units::Time;

use crate::topology::cable::CableEnd;

/// An optical circuit switch, which joins its ports in pairs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpticalSwitch {
    /// Unique name, such as `ocs0`.
    pub name: String,
    /// Fibres in its ports, by port number.
    pub ports: Vec<OpticalPort>,
    /// Light's delay from one port to another.
    pub delay: Time,
}

/// An optical circuit switch's port, with the fibre in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpticalPort {
    /// Electrical switch's port at the fibre's other end.
    pub device: CableEnd,
    /// Propagation delay in the fibre.
    pub fibre: Time,
}

/// An optical circuit switch's port, by numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OpticalPlace {
    /// Optical switch by number, from 0.
    pub switch: u32,
    /// Port number on that switch, from 0.
    pub port: u16,
}

/// All optical circuit switches in a topology.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Optics {
    pub(super) switches: Vec<OpticalSwitch>,
    /// Optical port behind each electrical port with a fibre. Only looked up, never iterated.
    pub(super) places: BTreeMap<CableEnd, OpticalPlace>,
    /// True if there is an electrical tree above the leaves as well.
    pub(super) has_tree: bool,
}

impl Optics {
    /// Returns the switches by number.
    pub fn switches(&self) -> &[OpticalSwitch] {
        &self.switches
    }

    /// Returns true if there is an electrical tree above the leaves as well. Circuits between
    /// leaves then carry traffic between these leaves, and the tree carries the rest.
    pub fn has_tree(&self) -> bool {
        self.has_tree
    }

    /// Returns true if the topology has no optical switch.
    pub fn is_empty(&self) -> bool {
        self.switches.is_empty()
    }

    /// Returns the optical port behind an electrical port; `None` if that has no fibre.
    pub fn place(&self, device: CableEnd) -> Option<OpticalPlace> {
        self.places.get(&device).copied()
    }

    /// Returns an optical port with its fibre.
    pub fn port(&self, place: OpticalPlace) -> OpticalPort {
        self.switches[place.switch as usize].ports[usize::from(place.port)]
    }

    /// Iterates over all ports with which an electrical port may be joined, with the circuit's
    /// delay; empty for a port without a fibre.
    pub fn possible(&self, device: CableEnd) -> impl Iterator<Item = (CableEnd, Time)> + '_ {
        let place = self.place(device);
        let switch = place.map(|place| &self.switches[place.switch as usize]);
        let own = place.map(|place| self.port(place));
        let ports = switch.into_iter().flat_map(|switch| &switch.ports);
        ports.filter_map(move |port| {
            let (own, switch) = (own?, switch?);
            let delay = own.fibre + switch.delay + port.fibre;
            (port.device.node != device.node).then_some((port.device, delay))
        })
    }
}
