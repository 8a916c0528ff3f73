//! Ports that optical circuit switches joined, with times.

use tenter_language::units::Time;

use crate::column::rows;

rows! {
    /// A port of an optical circuit switch that got a circuit or lost it; at the beginning of the
    /// trial one row for each port.
    pub struct CircuitRow in "circuits" {
        /// When the light of the circuit came or went.
        time: Time => "time_ns", "ns";
        /// Number of the optical switch.
        optical_switch: u32 => "optical_switch", "";
        /// Name of the optical switch.
        optical_switch_name: String => "optical_switch_name", "";
        /// Port of the optical switch, counted from 0.
        optical_port: u16 => "optical_port", "";
        /// Port of the optical switch at the other end of the circuit; missing when the port is
        /// dark from now on.
        peer_optical_port: Option<u32> => "peer_optical_port", "";
        /// Node index of the switch at the other end of the port's fibre.
        node: u32 => "node", "";
        /// Name of the switch at the other end of the fibre.
        node_name: String => "node_name", "";
        /// Port of that switch into which the fibre leads.
        port: u16 => "port", "";
        /// Node index of the switch that the circuit joins it with; missing when the port is dark.
        peer_node: Option<u32> => "peer_node", "";
        /// Name of the switch it is joined with; empty when the port is dark.
        peer_name: String => "peer_name", "";
    }
}
