//! `endpoint.nic.entropy`: how NICs change the UDP source port of data packets.

use tenter_config::component;
use tenter_net::load_balancing::InOrderNics;

component! {
    /// How NICs change the UDP source port of data packets.
    pub(crate) struct SourcePorts as "`endpoint.nic.entropy`" {
        /// How many source ports a QP has; each run of `packets` gets any of them.
        values: u16 = "64", in 2..=VALUES_MAX;
        /// Packets in a row that keep the port; 32 are a message of 128 KiB.
        packets: u32 = "1", in 1..=u32::MAX;
        /// What to do with NICs that need packets in order.
        in_order_nics: InOrderNics = "refuse";
    }
}

/// The dynamic range of ports has so many.
const VALUES_MAX: u16 = 1 << 14;
