//! What load balancers' notices add to counters and digest: nothing where none are sent.

use tenter_endpoint::Nic;
use tenter_net::Switch;
use tenter_record::Digest;

use crate::network::{Driver, NodeModel};

/// Marks its records in the digest.
const NOTICES: u64 = 11;

/// Notices that a switch has sent and received, over all its ports.
pub(crate) fn of_switch(switch: &Switch) -> (u64, u64) {
    let ports = 0..switch.ports().len() as u16;
    ports.fold((0, 0), |sum, port| {
        let (sent, received) = switch.notices(port);
        (sum.0 + sent, sum.1 + received)
    })
}

/// Notices that all switches have sent to each other.
pub(crate) fn sent(driver: &impl Driver) -> u64 {
    let switches = driver.nodes().filter_map(|(_, model)| match model {
        NodeModel::Host(_) => None,
        NodeModel::Switch(switch) => Some(of_switch(switch).0),
    });
    switches.sum()
}

/// Adds a switch's to the digest.
pub(crate) fn add(switch: &Switch, node: u64, digest: &mut Digest) {
    let ((sent, received), moves) = (of_switch(switch), switch.moves());
    if sent + received > 0 {
        digest.add(&[NOTICES, node, sent, received, moves]);
    }
    if switch.host_notices() > 0 {
        digest.add(&[NOTICES, node, switch.host_notices()]);
    }
}

/// Adds a NIC's to the digest.
pub(crate) fn add_nic(nic: &Nic, node: u64, digest: &mut Digest) {
    let (received, moves) = nic.reroutes();
    if received > 0 {
        digest.add(&[NOTICES, node, received, moves]);
    }
}
