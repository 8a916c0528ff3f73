//! The section `endpoint.nic.transport.entropy`: how senders choose entropy values.

use tenter_language::config::component;

use crate::entropy::{EntropyKind, VALUES_MAX, no_power_of_two};

component! {
    /// How senders choose entropy values.
    pub struct EntropySpec as "`endpoint.nic.transport.entropy`" {
        /// Which choice.
        kind: EntropyKind = "mixed", from "the Ultra Ethernet Consortium's simulator";
        /// Number of entropy values of a connection: a power of two.
        values: u16 = "64", in 1..=VALUES_MAX, unless no_power_of_two, from "the Ultra Ethernet Consortium's simulator";
    }
}
