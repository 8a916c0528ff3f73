//! Counters in ports, queues and switches, as rows in their tables.

use tenter_endpoint::{Nic, NicCounters};
use tenter_fabric::net::{
    CLASSES, FLOW_CONTROL_BYTES, LaneBuffer, PAUSE_FRAME_BYTES, PauseRecord, Switch, Transmitter,
    WIRE_OVERHEAD_BYTES,
};
use tenter_fabric::topology::{CableEnd, NodeId};
use tenter_language::units::{Instant, Time};
use tenter_results::{Counts, PortRow, QueueRow, SwitchRow};

use crate::flow_level::Carried;
use crate::network::{Context, Driver, JobPlan, NodeModel};

use super::credit;
use super::hash_paths;
use super::notices;
use super::signals;

/// Adds all nodes' rows in the topology's order, for a trial that ended at `ended`.
pub(crate) fn count<D: Driver>(driver: &D, ended: Instant, counts: &mut Counts) {
    let context = driver.context();
    let span = active_span(context, ended);
    let queue_pairs = hash_paths::queue_pairs(driver);
    for (node, model) in driver.nodes() {
        for port in 0..context.topology.ports(node) {
            let (mut row, queues) = match model {
                NodeModel::Host(host) => nic_port(host.nic(), port, ended),
                NodeModel::Switch(switch) => switch_port(switch, port, ended),
            };
            name(&mut row, context, node, port);
            let transmitter = match model {
                NodeModel::Host(host) => host.nic().transmitter(port),
                NodeModel::Switch(switch) => switch.ports()[usize::from(port)].transmitter(),
            };
            let notices = match model {
                NodeModel::Host(_) => 0,
                NodeModel::Switch(switch) => switch.notices(port).0,
            };
            let updates = credit::updates(model, port).0;
            add_wire_bytes(&mut row, transmitter, notices, updates);
            let losses = transmitter.losses();
            row.lost_frames = losses.frames;
            row.lost_bytes = losses.bytes;
            row.lost_pause_frames = losses.pauses;
            for queue in &queues {
                add_queue(&mut row, queue);
            }
            let last_end = match model {
                NodeModel::Host(host) => host.nic().port_end(port),
                NodeModel::Switch(_) => transmitter.last_end(),
            };
            // The last frame is counted whole, but may go on after the trial's end or have been cut
            // short by a fault.
            let unsent = last_end.saturating_since(ended) + transmitter.cut_short();
            if let Some(carried) = driver.carried() {
                add_carried(&mut row, carried, context, CableEnd { node, port });
            }
            row.utilisation = utilisation(&row, unsent, span);
            let hashed = queue_pairs.as_ref();
            row.queue_pairs = hashed.map(|counts| counts[node][usize::from(port)]);
            // Most classes of most ports are unused, and get no row.
            let telling = queues.into_iter().filter(says_something);
            let named = telling.map(|queue| QueueRow {
                node: node.number(),
                node_name: row.node_name.clone(),
                port,
                peer_name: row.peer_name.clone(),
                ..queue
            });
            counts.queues.extend(named);
            counts.ports.push(row);
        }
        if let NodeModel::Switch(switch) = model {
            let name = context.topology.name(node).to_owned();
            counts.switches.push(SwitchRow {
                node: node.number(),
                node_name: name,
                ..switch_row(switch)
            });
        }
    }
    counts.signals = signals::of_switches(driver);
    counts.reactions = signals::reactions(driver, ended);
}

/// Returns the time from the first job's start to `ended`.
pub(crate) fn active_span(context: &Context, ended: Instant) -> Time {
    // A job without any instance does not run, whatever its start.
    let running = context.jobs.iter().filter(|plan| plan.has_turn(0));
    let started = running
        .filter_map(JobPlan::own_start)
        .min()
        .unwrap_or(Instant::START);
    ended.saturating_since(started)
}

fn name(row: &mut PortRow, context: &Context, node: NodeId, port: u16) {
    let topology = &context.topology;
    let peer = topology.neighbour(node, port).node;
    row.node = node.number();
    topology.name(node).clone_into(&mut row.node_name);
    row.port = port;
    topology.name(peer).clone_into(&mut row.peer_name);
    row.rate_gbps = topology.cable(node, port).rate.as_gbps();
}

/// Makes the rows of a NIC's port and its classes. Counts that concern the NIC as a whole are in
/// its first port's row.
fn nic_port(nic: &Nic, number: u16, ended: Instant) -> (PortRow, Vec<QueueRow>) {
    let (tx_frames, tx_bytes) = nic.transmitter(number).sent();
    let (rx_frames, rx_bytes) = nic.received(number);
    let counters = if number == 0 {
        nic.counters()
    } else {
        NicCounters::default()
    };
    let (buffer, _) = nic.receive_buffer().unwrap_or_default();
    let port = PortRow {
        tx_frames,
        tx_bytes,
        rx_frames,
        rx_bytes,
        rx_dropped_frames: buffer.dropped_frames,
        rx_dropped_bytes: buffer.dropped_bytes,
        rx_high_water_bytes: buffer.high_water_bytes,
        tx_cnp_frames: counters.np_cnp_sent,
        rx_cnp_frames: counters.rp_cnp_handled,
        rx_discarded_frames: counters.out_of_sequence,
        rx_duplicate_frames: counters.duplicate_request,
        first_xoff: nic.first_xoff(number).map(Instant::since_start),
        ..PortRow::default()
    };
    let queue = |class: u8| {
        let (tx_xoff_frames, tx_xon_frames) = nic.pauses_sent(class);
        let (received, paused) = nic.paused(number, class, ended);
        QueueRow {
            class: u16::from(class),
            lossless: nic.is_lossless(class) || nic.credit(class).is_some(),
            tx_xoff_frames,
            tx_xon_frames,
            pausing: nic.pausing(class, ended),
            ..of_lane(nic.input_buffer(class), obeyed(received, paused))
        }
    };
    (port, (0..CLASSES as u8).map(queue).collect())
}

/// Makes a switch port's row, and those for the classes with a queue there.
fn switch_port(switch: &Switch, number: u16, ended: Instant) -> (PortRow, Vec<QueueRow>) {
    let port = &switch.ports()[usize::from(number)];
    let counters = port.counters();
    let (rx_frames, rx_bytes) = switch.received(number);
    let row = PortRow {
        tx_frames: counters.sent_frames,
        tx_bytes: counters.sent_bytes,
        rx_frames,
        rx_bytes,
        dropped_frames: counters.dropped_frames,
        dropped_bytes: counters.dropped_bytes,
        queue_high_water_bytes: counters.queue_high_water_bytes,
        unsent_frames: counters.unsent_frames,
        unsent_bytes: counters.unsent_bytes,
        watchdog_storms: port.storms(),
        watchdog_dropped_frames: counters.watchdog_frames,
        watchdog_dropped_bytes: counters.watchdog_bytes,
        first_xoff: port.first_xoff().map(Instant::since_start),
        ..PortRow::default()
    };
    let queue = |(index, &class): (usize, &u8)| {
        let counters = port.queue_counters(index);
        let ingress = switch.ingress(number, index, ended);
        // Pause frames name the class that packets have at the sender, and this switch may move
        // packets to another class.
        let behind = usize::from(switch.queue_behind(number, index as u8));
        let told = switch.ingress(number, behind, ended);
        let held = switch.held_pauses(number, class);
        let (received, paused) = port.paused(index, ended);
        QueueRow {
            class: u16::from(class),
            lossless: switch.is_lossless(index) || port.credit(index).is_some(),
            dropped_frames: counters.dropped_frames,
            dropped_bytes: counters.dropped_bytes,
            marked_frames: counters.marked_frames,
            queue_high_water_bytes: port.queue_high_water_bytes(index),
            tx_xoff_frames: told.xoff_frames + held + switch.signalled_pauses(number, class),
            tx_xon_frames: told.xon_frames.saturating_sub(held),
            pausing: told.paused,
            headroom_bytes: ingress.headroom_bytes,
            headroom_high_water_bytes: ingress.headroom_high_water_bytes,
            ..of_lane(switch.input_buffer(number, index), obeyed(received, paused))
        }
    };
    let queues = switch.classes().iter().enumerate().map(queue);
    (row, queues.collect())
}

/// Fills in what a port has sent and received at flow level.
fn add_carried(row: &mut PortRow, carried: &Carried, context: &Context, end: CableEnd) {
    let peer = context.topology.neighbour(end.node, end.port);
    let sent = carried.sent(end.node, end.port);
    let received = carried.sent(peer.node, peer.port);
    (row.tx_frames, row.tx_bytes) = (sent.frames, sent.bytes);
    (row.rx_frames, row.rx_bytes) = (received.frames, received.bytes);
    row.tx_data_wire_bytes = sent.bytes + sent.frames * u64::from(WIRE_OVERHEAD_BYTES);
}

/// Makes a queue's row with the pauses that it has received.
fn obeyed(record: PauseRecord, paused: Time) -> QueueRow {
    QueueRow {
        rx_xoff_frames: record.xoff_frames,
        rx_xon_frames: record.xon_frames,
        paused,
        ..QueueRow::default()
    }
}

/// Adds the class's input buffer to a row, if there is one.
fn of_lane(buffer: Option<&LaneBuffer>, row: QueueRow) -> QueueRow {
    match buffer {
        None => row,
        Some(buffer) => QueueRow {
            input_buffer_bytes: buffer.capacity_bytes(),
            input_high_water_bytes: buffer.high_water_bytes(),
            tx_flow_control_packets: buffer.updates(),
            ..row
        },
    }
}

/// Fills in wire bytes by kind: data, control packets and pause frames.
fn add_wire_bytes(port: &mut PortRow, transmitter: &Transmitter, notices: u64, updates: u64) {
    let on_wire = |frames: u64, bytes: u64| bytes + frames * u64::from(WIRE_OVERHEAD_BYTES);
    let (data_frames, data_bytes) = transmitter.sent_data();
    let (control_frames, control_bytes) = transmitter.sent_control();
    let mac = transmitter.mac();
    let pauses = mac.xoff_frames + mac.xon_frames + notices;
    port.tx_data_wire_bytes = on_wire(data_frames, data_bytes);
    port.tx_control_wire_bytes = on_wire(control_frames, control_bytes);
    port.tx_pause_wire_bytes = on_wire(pauses, pauses * u64::from(PAUSE_FRAME_BYTES))
        + updates * u64::from(FLOW_CONTROL_BYTES);
}

/// Adds the counts that a port keeps only per class.
fn add_queue(port: &mut PortRow, queue: &QueueRow) {
    port.marked_frames += queue.marked_frames;
    port.tx_xoff_frames += queue.tx_xoff_frames;
    port.tx_xon_frames += queue.tx_xon_frames;
    port.rx_xoff_frames += queue.rx_xoff_frames;
    port.rx_xon_frames += queue.rx_xon_frames;
    port.paused += queue.paused;
    port.pausing += queue.pausing;
}

fn says_something(row: &QueueRow) -> bool {
    let pauses = [row.rx_xoff_frames, row.rx_xon_frames];
    let told = [row.tx_xoff_frames, row.tx_xon_frames];
    let lost = [row.dropped_frames, row.marked_frames];
    let waited = [row.queue_high_water_bytes, row.headroom_high_water_bytes];
    let by_credit = [row.input_high_water_bytes, row.tx_flow_control_packets];
    // A NIC that only sends may have waited for credit without sending or receiving a control
    // frame.
    let is_paused = !row.paused.is_zero();
    is_paused || [pauses, told, lost, waited, by_credit] != [[0; 2]; 5]
}

fn switch_row(switch: &Switch) -> SwitchRow {
    let limited: Vec<(u32, u64, u64)> = (0..)
        .zip(switch.pools())
        .filter_map(|(index, pool)| Some((index, pool.size_bytes?, pool.high_water_bytes?)))
        .collect();
    let sum = |bytes: &dyn Fn(&(u32, u64, u64)) -> u64| {
        (!limited.is_empty()).then(|| limited.iter().map(bytes).sum())
    };
    let percent = |(_, size, used): &(u32, u64, u64)| 100.0 * *used as f64 / (*size).max(1) as f64;
    // In reverse, because `max_by` takes the last of equals: the first of several equally full
    // pools is named.
    let fullest = limited.iter().rev();
    let fullest = fullest.max_by(|a, b| percent(a).total_cmp(&percent(b)));
    let mut row = SwitchRow {
        pools: switch.pools().count() as u32,
        pool_bytes: sum(&|pool| pool.1),
        pool_high_water_bytes: sum(&|pool| pool.2),
        fullest_pool: fullest.map(|pool| pool.0),
        fullest_pool_percent: fullest.map(percent),
        shared_bytes: switch.pools().map(|pool| pool.used_bytes).sum(),
        notice_frames: notices::of_switch(switch).0 + switch.host_notices(),
        flow_moves: switch.moves(),
        ..SwitchRow::default()
    };
    if let Some(leaf) = switch.leaf_record() {
        row.voq_high_water_bytes = Some(leaf.voq_high_water_bytes);
        row.voqs_high_water_bytes = Some(leaf.voqs_high_water_bytes);
        row.credits = Some(leaf.credits);
        row.reorder_high_water_packets = Some(leaf.reorder_high_water);
        row.reassembly_lost_frames = Some(leaf.given_up.frames);
    }
    for (number, port) in (0..).zip(switch.ports()) {
        for queue in 0..switch.classes().len() {
            let counters = port.queue_counters(queue);
            let ingress = switch.ingress(number, queue, Instant::START);
            row.headroom_bytes += ingress.headroom_bytes;
            row.headroom_high_water_bytes += ingress.headroom_high_water_bytes;
            row.dropped_frames += counters.dropped_frames;
            row.dropped_bytes += counters.dropped_bytes;
            row.marked_frames += counters.marked_frames;
            if switch.is_lossless(queue) {
                row.lossless_dropped_frames += counters.dropped_frames;
            }
        }
    }
    row
}

/// Returns the share of the span in which the port was sending, with preambles and gaps.
fn utilisation(row: &PortRow, unsent: Time, span: Time) -> f64 {
    if span.is_zero() {
        return 0.0;
    }
    let wire_bytes = row.tx_bytes + row.tx_frames * u64::from(WIRE_OVERHEAD_BYTES);
    // A frame is counted when it begins, but the last one may not have been sent to its end.
    let sending = wire_bytes as f64 * 8.0 / (row.rate_gbps * 1e9);
    let sending = sending - unsent.as_s();
    sending.max(0.0) / span.as_s()
}
