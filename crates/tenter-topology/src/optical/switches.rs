//! The optical circuit switches of a topology, and what is plugged into them.

use std::collections::BTreeMap;

use tenter_units::Time;

use crate::cable::CableEnd;

/// An optical circuit switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpticalSwitch {
    /// Unique in the topology: `ocs0`.
    pub name: String,
    /// The fibres in its ports.
    pub ports: Vec<OpticalPort>,
    /// Delay of light from one of its ports to another.
    pub delay: Time,
}

/// A port of an optical circuit switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpticalPort {
    /// The port of an electrical switch at the other end of its fibre.
    pub device: CableEnd,
    /// Propagation delay of the fibre.
    pub fibre: Time,
}

/// A port of one of the optical circuit switches of a topology, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OpticalPlace {
    /// The optical switch.
    pub switch: u32,
    /// Its port.
    pub port: u16,
}

/// All optical circuit switches of a topology.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Optics {
    pub(super) switches: Vec<OpticalSwitch>,
    /// The end of the fibre in a port of an electrical switch. Only looked up.
    pub(super) places: BTreeMap<CableEnd, OpticalPlace>,
    /// Whether there is a tree above the leaves, too.
    pub(super) has_tree: bool,
}

impl Optics {
    /// The switches, in the order of their numbers.
    pub fn switches(&self) -> &[OpticalSwitch] {
        &self.switches
    }

    /// Whether there is a tree above the leaves as well: circuits between leaves then carry traffic
    /// between these leaves, and the tree the rest.
    pub fn has_tree(&self) -> bool {
        self.has_tree
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.switches.is_empty()
    }

    /// The end of the fibre in a port; `None` for a port without one.
    pub fn place(&self, device: CableEnd) -> Option<OpticalPlace> {
        self.places.get(&device).copied()
    }

    /// The fibre in a port of an optical switch.
    pub fn port(&self, place: OpticalPlace) -> OpticalPort {
        self.switches[place.switch as usize].ports[usize::from(place.port)]
    }

    /// Every port with which a port may be joined, and the delay of that circuit; nothing for a
    /// port without a fibre.
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
