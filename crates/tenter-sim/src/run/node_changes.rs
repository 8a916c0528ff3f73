//! Changes to nodes at a sync point, and losses on a link.

use tenter_fabric::net::WireLosses;
use tenter_fabric::topology::{CableEnd, NodeId};
use tenter_language::units::Instant;

use crate::network::{Change, Driver};

/// Changes a node, and schedules a visit in which it handles the consequences.
pub(crate) fn change<D: Driver>(
    driver: &mut D,
    node: impl Into<NodeId>,
    now: Instant,
    change: &Change,
) {
    let home = driver.context().home(node);
    if driver.change(home, now, change) {
        driver.wake(home, now);
    }
}

/// Removes the packets that are under way to a port, which are lost, and counts them.
pub(crate) fn lose<D: Driver>(driver: &mut D, receiver: CableEnd) -> WireLosses {
    let context = driver.context();
    let home = context.home(receiver.node);
    let ports = context.topology.ports(receiver.node);
    let mut losses = WireLosses::default();
    // A port has an input for data and one for control frames.
    for input in [receiver.port, ports + receiver.port] {
        for packet in driver.lose(home, input) {
            if packet.kind.is_mac_control() {
                losses.pauses += 1;
            } else {
                losses.frames += 1;
                losses.bytes += u64::from(packet.frame_bytes);
            }
        }
    }
    losses
}
