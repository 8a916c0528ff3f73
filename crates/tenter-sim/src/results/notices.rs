//! Congestion notices that switches have sent to each other for load balancing.

use tenter_fabric::net::Switch;

use crate::network::{Driver, NodeModel};

/// Returns the notices that a switch has sent and received, over all its ports.
pub(crate) fn of_switch(switch: &Switch) -> (u64, u64) {
    let ports = 0..switch.ports().len() as u16;
    ports.fold((0, 0), |sum, port| {
        let (sent, received) = switch.notices(port);
        (sum.0 + sent, sum.1 + received)
    })
}

/// Returns the notices that all switches have sent to each other.
pub(crate) fn sent(driver: &impl Driver) -> u64 {
    let switches = driver.nodes().filter_map(|(_, model)| match model {
        NodeModel::Host(_) => None,
        NodeModel::Switch(switch) => Some(of_switch(switch).0),
    });
    switches.sum()
}
