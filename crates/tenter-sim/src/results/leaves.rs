//! Conservation checks for the leaves in a scheduled fabric.

use tenter_fabric::net::Switch;
use tenter_fabric::net::scheduled::{FrameCount, LeafRecord};

use crate::network::{Driver, NodeModel};

/// Compares a leaf's counts with those at its ports.
///
/// # Errors
/// A sentence that says what does not add up.
pub(crate) fn check_leaf(
    switch: &Switch,
    record: &LeafRecord,
    hosts: &[u16],
) -> Result<(), String> {
    let ports = || hosts.iter().map(|&port| &switch.ports()[usize::from(port)]);
    let mut from_hosts = FrameCount::default();
    let mut to_hosts = FrameCount::default();
    for (&number, port) in hosts.iter().zip(ports()) {
        let counters = port.counters();
        let received = switch.received(number);
        from_hosts.frames += received.0 - counters.dropped_frames;
        from_hosts.bytes += received.1 - counters.dropped_bytes;
        let waiting: u64 = port
            .waiting()
            .map(|packet| u64::from(packet.frame_bytes))
            .sum();
        let frames = port.waiting().count() as u64;
        to_hosts.frames += counters.sent_frames + counters.unsent_frames + frames;
        to_hosts.bytes += counters.sent_bytes + counters.unsent_bytes + waiting;
    }
    let sums = [
        ("came from hosts", from_hosts, record.accepted),
        ("went to hosts", to_hosts, record.delivered),
    ];
    for (what, of_ports, counted) in sums {
        if of_ports != counted {
            return Err(format!("{of_ports} {what}, but {counted} were counted"));
        }
    }
    // Packets between hosts on one leaf go straight from the accepted to the delivered ones.
    let local = |of: fn(&FrameCount) -> u64| {
        let kept = of(&record.accepted) - of(&record.waiting) - of(&record.sent);
        kept == of(&record.delivered) - of(&record.assembled)
    };
    if local(|count| count.frames) && local(|count| count.bytes) {
        return Ok(());
    }
    Err(format!(
        "what stayed in the leaf does not add up: {record:?}"
    ))
}

/// Compares what leaves sent each other with what arrived, waits or was given up.
///
/// # Errors
/// A sentence that says what does not add up.
pub(crate) fn check_leaves<D: Driver>(driver: &D) -> Result<(), String> {
    let context = driver.context();
    let Some(fabric) = &context.scheduled else {
        return Ok(());
    };
    let mut sent = FrameCount::default();
    let mut found = FrameCount::default();
    for &leaf in &fabric.leaves {
        let NodeModel::Switch(switch) = driver.node(leaf) else {
            continue;
        };
        let record = switch.leaf_record().unwrap_or_default();
        let ports = switch.ports().len() as u16;
        let announced = driver.in_flight(context.home(leaf)).into_iter();
        let announced = announced
            // Inputs beyond those of the ports are control links, on which leaves announce packets.
            .filter(|(input, packet)| *input >= 2 * ports && !packet.kind.is_of_scheduler());
        let mut on_their_way = FrameCount::default();
        announced.for_each(|(_, packet)| on_their_way.count(&packet));
        sent += record.sent;
        for part in [
            record.assembled,
            record.assembling,
            record.given_up,
            on_their_way,
        ] {
            found += part;
        }
    }
    if sent == found {
        return Ok(());
    }
    Err(format!(
        "leaves sent each other {sent}, but {found} came, wait, were given up or are announced"
    ))
}
