//! Conservation check at the end of every run: no frame is lost unaccounted for.

use std::collections::BTreeMap;

use tenter_fabric::net::{CLASSES, Packet, PauseRecord, Transmitter};
use tenter_fabric::topology::{CableEnd, NodeId};
use tenter_language::units::Instant;

use crate::network::{Driver, NodeModel};

use super::{credit, leaves};

/// The amounts that a port has sent and the other end has neither received nor counted as lost:
/// frames, frame bytes and MAC control frames. They include what is under way.
pub(crate) type Missing = [i128; 3];

/// Computes what is missing between two ports that are, or were, joined by a link.
pub(crate) fn missing<D: Driver>(driver: &D, sender: CableEnd, receiver: CableEnd) -> Missing {
    let wire = transmitter(driver, sender.node, sender.port);
    let (sent, lost, held) = (wire.sent(), wire.losses(), wire.held_back());
    let arrived = received(driver, receiver.node, receiver.port);
    let told = pauses_sent(driver, sender.node, sender.port)
        + other_control(driver, sender.node, sender.port).0;
    let obeyed = pauses_received(driver, receiver.node, receiver.port)
        + other_control(driver, receiver.node, receiver.port).1;
    let less = |sent: u64, found: u64| i128::from(sent) - i128::from(found);
    [
        less(sent.0, arrived.0 + lost.frames + held.0),
        less(sent.1, arrived.1 + lost.bytes + held.1),
        less(told, obeyed + lost.pauses),
    ]
}

/// Compares what is missing on a link with what was missing before it existed, plus what is under
/// way.
///
/// # Errors
/// A sentence that names the link and both amounts.
pub(crate) fn check_link<D: Driver>(
    driver: &D,
    sender: CableEnd,
    receiver: CableEnd,
    before: Missing,
    under_way: Missing,
) -> Result<(), String> {
    let now = missing(driver, sender, receiver);
    let more: Vec<i128> = now
        .iter()
        .zip(before)
        .map(|(now, then)| now - then)
        .collect();
    if more == under_way {
        return Ok(());
    }
    let link = driver
        .context()
        .topology()
        .port_name(sender.node, sender.port);
    Err(format!(
        "{link} sent {more:?} (frames, bytes, MAC control frames) that neither arrived nor were lost, and {under_way:?} are under way"
    ))
}

/// Counts what is under way to a port.
fn under_way(packets: &[&Packet], control: usize) -> Missing {
    let bytes = packets.iter().map(|packet| u64::from(packet.frame_bytes));
    [
        packets.len() as i128,
        i128::from(bytes.sum::<u64>()),
        control as i128,
    ]
}

/// Compares what every node sent with what its neighbours received, and what every switch received
/// with its further path. `circuits` has the amounts that were missing between two ports before a
/// circuit joined them.
///
/// # Errors
/// A sentence that names the first node or link where frames do not add up, which is a defect in
/// the simulator.
pub(crate) fn check<D: Driver>(
    driver: &D,
    circuits: &BTreeMap<CableEnd, Missing>,
) -> Result<(), String> {
    let context = driver.context();
    let topology = driver.fabric(0).topology();
    for node in topology.node_ids() {
        check_node(driver, node)?;
        check_buffer(driver, node)?;
        let in_flight = driver.in_flight(context.home(node));
        let ports = topology.ports(node);
        for port in 0..ports {
            let peer = topology.neighbour(node, port);
            check_pauses(driver, peer)?;
            let here = CableEnd { node, port };
            if peer == here {
                // A dark port has no receiver.
                continue;
            }
            let data = in_flight.iter().filter(|(input, _)| *input == port);
            let data: Vec<&Packet> = data.map(|(_, packet)| packet).collect();
            // The inputs for control frames follow those for data.
            let control = in_flight.iter().filter(|(input, _)| *input == ports + port);
            // A circuit joins ports whose counters have a past with other peers.
            let before = circuits.get(&peer).copied().unwrap_or_default();
            let on_wire = under_way(&data, control.count());
            check_link(driver, peer, here, before, on_wire)?;
            let end = |end: CableEnd| credit::End {
                node: driver.node(end.node),
                port: end.port,
            };
            let wire = transmitter(driver, peer.node, peer.port);
            credit::check_link(end(peer), end(here), wire, &data).map_err(|error| {
                let link = topology.port_name(peer.node, peer.port);
                format!("at {link} {error}")
            })?;
        }
    }
    leaves::check_leaves(driver)
}

/// Checks that a port's pause frames are those counted for its classes.
fn check_pauses<D: Driver>(driver: &D, end: CableEnd) -> Result<(), String> {
    let sent = pauses_sent(driver, end.node, end.port);
    let of_classes = pauses_of_classes(driver, end.node, end.port);
    if sent == of_classes {
        return Ok(());
    }
    let topology = driver.context().topology();
    let link = topology.port_name(end.node, end.port);
    Err(format!(
        "{link} sent {sent} pause frames, but {of_classes} for its classes"
    ))
}

fn transmitter<D: Driver>(driver: &D, node: NodeId, port: u16) -> &Transmitter {
    match driver.node(node) {
        NodeModel::Host(host) => host.nic().transmitter(port),
        NodeModel::Switch(switch) => switch.ports()[usize::from(port)].transmitter(),
    }
}

fn received<D: Driver>(driver: &D, node: NodeId, port: u16) -> (u64, u64) {
    match driver.node(node) {
        NodeModel::Host(host) => host.nic().received(port),
        NodeModel::Switch(switch) => switch.received(port),
    }
}

/// Counts the congestion notices, flow-control packets and lost-frame reports that a port has sent
/// and received.
fn other_control<D: Driver>(driver: &D, node: NodeId, port: u16) -> (u64, u64) {
    let model = driver.node(node);
    let updates = credit::updates(model, port);
    let lost = credit::lost(model, port);
    let lost_credit_returned = transmitter(driver, node, port).lost_credit_returned();
    let updates = (updates.0 + lost_credit_returned, updates.1 + lost);
    match model {
        NodeModel::Host(_) => updates,
        NodeModel::Switch(switch) => {
            let notices = switch.notices(port);
            (notices.0 + updates.0, notices.1 + updates.1)
        }
    }
}

fn pauses_sent<D: Driver>(driver: &D, node: NodeId, port: u16) -> u64 {
    transmitter(driver, node, port).mac().frames()
}

fn pauses_of_classes<D: Driver>(driver: &D, node: NodeId, port: u16) -> u64 {
    match driver.node(node) {
        NodeModel::Host(host) => {
            let classes = (0..CLASSES as u8).map(|class| host.nic().pauses_sent(class));
            classes.map(|(xoff, xon)| xoff + xon).sum()
        }
        NodeModel::Switch(switch) => {
            let queues = 0..switch.classes().len();
            let sent = queues.map(|queue| {
                let group = switch.ingress(port, queue, Instant::START);
                // A pause for a queue is one frame for each class that the sender has in it.
                let each = u64::from(switch.classes_of_sender(port, queue).count_ones());
                each * (group.xoff_frames + group.xon_frames)
            });
            let own: u64 = sent.sum();
            let classes = switch.classes().iter();
            let signalled = classes.map(|&class| switch.signalled_pauses(port, class));
            own + signalled.sum::<u64>()
        }
    }
}

fn pauses_received<D: Driver>(driver: &D, node: NodeId, port: u16) -> u64 {
    let sum = |records: &mut dyn Iterator<Item = PauseRecord>| -> u64 {
        records
            .map(|record| record.xoff_frames + record.xon_frames)
            .sum()
    };
    match driver.node(node) {
        NodeModel::Host(host) => {
            let classes = 0..CLASSES as u8;
            sum(&mut classes.map(|class| host.nic().paused(port, class, Instant::START).0))
        }
        NodeModel::Switch(switch) => {
            let port = &switch.ports()[usize::from(port)];
            sum(&mut (0..switch.classes().len()).map(|queue| port.paused(queue, Instant::START).0))
        }
    }
}

/// Checks that the bytes counted for each priority group at a switch are those of its waiting
/// frames, and likewise the blocks in its input buffers.
fn check_buffer<D: Driver>(driver: &D, node: NodeId) -> Result<(), String> {
    let NodeModel::Switch(switch) = driver.node(node) else {
        return Ok(());
    };
    credit::check_buffers(switch).map_err(|error| {
        let name = driver.context().topology().name(node);
        format!("at {name} {error}")
    })?;
    for queue in (0..switch.classes().len()).filter(|&queue| switch.is_lossless(queue)) {
        for (number, bytes) in (0..).zip(switch.waiting_by_port(queue)) {
            let accounted = switch.ingress(number, queue, Instant::START).bytes;
            if accounted != bytes {
                let name = driver.context().topology().port_name(node, number);
                return Err(format!(
                    "{accounted} bytes are accounted for what came through {name}, but {bytes} wait"
                ));
            }
        }
    }
    Ok(())
}

/// Checks that everything that entered a switch left it, was dropped or lost, or waits, and that
/// each queue's fill is the sum of its packets.
fn check_node<D: Driver>(driver: &D, node: NodeId) -> Result<(), String> {
    let NodeModel::Switch(switch) = driver.node(node) else {
        return Ok(());
    };
    let topology = driver.context().topology();
    let name = topology.name(node);
    if let Some(record) = switch.leaf_record() {
        let ports = 0..switch.ports().len() as u16;
        let hosts = ports.filter(|&port| topology.is_host(topology.neighbour(node, port).node));
        let hosts: Vec<u16> = hosts.collect();
        return leaves::check_leaf(switch, &record, &hosts)
            .map_err(|error| format!("at {name} {error}"));
    }
    // Signals and notices begin or end inside a switch: sent but never received, or the reverse.
    let [made, consumed] = switch.made_and_consumed();
    let mut balance = (
        i128::from(made.0) - i128::from(consumed.0),
        i128::from(made.1) - i128::from(consumed.1),
    );
    for (number, port) in (0..).zip(switch.ports()) {
        let received = switch.received(number);
        let counters = port.counters();
        let waiting: u64 = port
            .waiting()
            .map(|packet| u64::from(packet.frame_bytes))
            .sum();
        if waiting != port.queue_bytes() {
            return Err(format!(
                "port {number} of {name} accounts for {} bytes for {waiting} in its queue",
                port.queue_bytes()
            ));
        }
        let refused = counters.dropped_frames + counters.unsent_frames + counters.watchdog_frames;
        let frames = counters.sent_frames + refused + port.waiting().count() as u64;
        let refused = counters.dropped_bytes + counters.unsent_bytes + counters.watchdog_bytes;
        // A trimmed frame goes on without its payload.
        let bytes = counters.sent_bytes + refused + waiting + counters.trimmed_bytes;
        balance.0 += i128::from(received.0) - i128::from(frames);
        balance.1 += i128::from(received.1) - i128::from(bytes);
    }
    if balance == (0, 0) {
        Ok(())
    } else {
        Err(format!(
            "{name} received {balance:?} (frames, bytes) more than it sent, dropped, lost and holds"
        ))
    }
}
