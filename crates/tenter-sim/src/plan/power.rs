//! Power drawn by a fabric's parts, and energy per bit.

use std::ops::RangeInclusive;

use tenter_fabric::topology::Topology;
use tenter_language::config::component;

/// Power constants with the name of their profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PowerProfile {
    /// The profile's name; it also says if the scenario overrides constants.
    pub name: String,
    /// The constants, in milliwatts and femtojoules.
    pub constants: PowerConstants,
}

component! {
    /// Power that the parts of a fabric draw, and energy per bit; the origins are in the profiles.
    pub struct PowerConstants, derive(Clone, Copy, Debug, Default, PartialEq, Eq) {
        /// An electrical switch without its ports, in milliwatts; one without any cable is not
        /// there.
        switch_base_mw: u64 = filled "that of the profile", in CONSTANTS;
        /// Each of its ports that has a cable, in milliwatts.
        switch_port_mw: u64 = filled "that of the profile", in CONSTANTS;
        /// A bit that passes a switch, in femtojoules.
        switch_bit_fj: u64 = filled "that of the profile", in CONSTANTS;
        /// Each end of a cable, its transceiver or what an active cable has there, in milliwatts.
        cable_end_mw: u64 = filled "that of the profile", in CONSTANTS;
        /// A bit that passes a cable, both ends together, in femtojoules.
        cable_bit_fj: u64 = filled "that of the profile", in CONSTANTS;
        /// A 2×2 element of an optical switch that is held, in milliwatts.
        optical_element_mw: u64 = filled "that of the profile", in CONSTANTS;
    }
}

/// Range for all constants: a megawatt for a switch, or a microjoule for a bit, is a mistaken unit.
const CONSTANTS: RangeInclusive<u64> = 0..=1_000_000_000;

/// Counts of a fabric's parts that draw power whether or not they carry traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoweredParts {
    /// Electrical switches; one without any cable does not exist.
    pub switches: u64,
    /// Electrical switches' ports with cables.
    pub ports: u64,
    /// Both ends of all cables, including those in NICs; for a fibre to an optical switch only the
    /// end at the electrical switch.
    pub cable_ends: u64,
    /// 2×2 elements in all optical switches, whether or not they hold a circuit.
    pub optical_elements: u64,
}

impl PoweredParts {
    /// Counts the parts of a fabric.
    pub fn of(topology: &Topology) -> PoweredParts {
        let ports = topology.switch_nodes();
        let ports = ports.map(|switch| u64::from(topology.ports(switch)));
        let cabled: Vec<u64> = ports.filter(|&ports| ports > 0).collect();
        // A fibre has a transceiver at the electrical switch, and only glass at the optical one.
        let ends = |cable: u32| if topology.is_fibre(cable) { 1 } else { 2 };
        let optical = topology.optics.switches().iter();
        PoweredParts {
            switches: cabled.len() as u64,
            ports: cabled.iter().sum(),
            cable_ends: (0..topology.cables.len() as u32).map(ends).sum(),
            optical_elements: optical
                .map(|switch| elements(switch.ports.len() as u32))
                .sum(),
        }
    }
}

/// Returns the number of 2×2 elements in an optical switch with `ports` ports, as a Beneš network:
/// r/2 in each of 2·log₂r − 1 stages, where r is the next power of two.
fn elements(ports: u32) -> u64 {
    let radix = ports.max(2).next_power_of_two();
    u64::from(radix / 2) * u64::from(2 * radix.ilog2() - 1)
}

/// Static power of a fabric's parts, in watts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StaticPower {
    /// Electrical switches without their ports.
    pub switches: f64,
    /// Electrical switches' ports that have cables.
    pub ports: f64,
    /// Cable ends, including those in NICs.
    pub cable_ends: f64,
    /// Optical switches, which hold their circuits.
    pub optical_switches: f64,
}

impl StaticPower {
    /// Returns the total static power in watts.
    pub fn watts(&self) -> f64 {
        self.switches + self.ports + self.cable_ends + self.optical_switches
    }
}

impl PowerConstants {
    /// Computes the power that the parts draw without traffic.
    pub fn static_power(&self, parts: &PoweredParts) -> StaticPower {
        let watts = |count: u64, milliwatts: u64| count as f64 * milliwatts as f64 / 1e3;
        StaticPower {
            switches: watts(parts.switches, self.switch_base_mw),
            ports: watts(parts.ports, self.switch_port_mw),
            cable_ends: watts(parts.cable_ends, self.cable_end_mw),
            optical_switches: watts(parts.optical_elements, self.optical_element_mw),
        }
    }

    /// Returns the constant called `name` in scenarios, for changes.
    pub fn constant(&mut self, name: &str) -> Option<&mut u64> {
        match name {
            "switch_base_mw" => Some(&mut self.switch_base_mw),
            "switch_port_mw" => Some(&mut self.switch_port_mw),
            "switch_bit_fj" => Some(&mut self.switch_bit_fj),
            "cable_end_mw" => Some(&mut self.cable_end_mw),
            "cable_bit_fj" => Some(&mut self.cable_bit_fj),
            "optical_element_mw" => Some(&mut self.optical_element_mw),
            _ => None,
        }
    }

    /// Returns the energy for bits in joules. `switch_bits` counts a bit once for each switch that
    /// it passes, `cable_bits` once for each cable.
    pub fn dynamic_joules(&self, switch_bits: u64, cable_bits: u64) -> f64 {
        let femtojoules = switch_bits as f64 * self.switch_bit_fj as f64
            + cable_bits as f64 * self.cable_bit_fj as f64;
        femtojoules / 1e15
    }
}

#[cfg(test)]
mod tests {
    use super::elements;

    #[test]
    fn an_optical_switch_by_hand() {
        // Of 16 ports: seven stages of eight elements; of 8 ports five of four.
        assert_eq!([16, 8, 5].map(elements), [56, 20, 20]);
    }
}
