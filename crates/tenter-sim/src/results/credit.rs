//! Credit-based fabrics: each node's lanes, and checks on their counters.

use tenter_fabric::net::{
    CLASSES, LaneBuffer, LaneCredit, Packet, PacketKind, Switch, Transmitter, credit_blocks,
};
use tenter_fabric::topology::NodeId;

use crate::network::{Driver, NodeModel};

/// Iterates over a port's lanes: class, credit at the sending end, and buffer at the receiving end.
/// There are none without credit-based flow control.
pub(crate) fn lanes(
    node: &NodeModel,
    port: u16,
) -> impl Iterator<Item = (u8, &LaneCredit, &LaneBuffer)> {
    let lane = move |number: u8| match node {
        NodeModel::Host(host) => {
            let nic = host.nic();
            Some((number, nic.credit(number)?, nic.input_buffer(number)?))
        }
        NodeModel::Switch(switch) => {
            let queue = usize::from(number);
            let class = *switch.classes().get(queue)?;
            let credit = switch.ports()[usize::from(port)].credit(queue)?;
            Some((class, credit, switch.input_buffer(port, queue)?))
        }
    };
    (0..CLASSES as u8).filter_map(lane)
}

/// Returns the flow-control packets that a port has sent and received.
pub(crate) fn updates(node: &NodeModel, port: u16) -> (u64, u64) {
    lanes(node, port).fold((0, 0), |sum, (_, credit, buffer)| {
        (sum.0 + buffer.updates(), sum.1 + credit.updates())
    })
}

/// Returns the frames that a port knows to have been lost on their way to it.
pub(crate) fn lost(node: &NodeModel, port: u16) -> u64 {
    lanes(node, port).map(|(_, _, buffer)| buffer.lost()).sum()
}

/// Returns the flow-control packets that all ports have sent.
pub(crate) fn sent(driver: &impl Driver) -> u64 {
    let topology = driver.context().topology();
    let of_node = |(node, model): (NodeId, &NodeModel)| -> u64 {
        let ports = 0..topology.ports(node);
        ports.map(|port| updates(model, port).0).sum()
    };
    driver.nodes().map(of_node).sum()
}

/// A link's end: node and port.
#[derive(Clone, Copy)]
pub(crate) struct End<'d> {
    pub(crate) node: &'d NodeModel,
    pub(crate) port: u16,
}

/// Compares the blocks that the sending end of a link has counted with those at the receiving end,
/// unless something was lost on it.
///
/// # Errors
/// A sentence that says what does not add up.
pub(crate) fn check_link(
    sender: End<'_>,
    receiver: End<'_>,
    wire: &Transmitter,
    under_way: &[&Packet],
) -> Result<(), String> {
    let losses = wire.losses();
    // Credit for lost frames returns later, and both ends differ meanwhile.
    if losses.frames + losses.pauses + wire.held_back().0 > 0 {
        return Ok(());
    }
    for (class, credit, _) in lanes(sender.node, sender.port) {
        let found = lanes(receiver.node, receiver.port).find(|lane| lane.0 == class);
        let Some((_, _, buffer)) = found else {
            continue;
        };
        let of_class = under_way.iter().filter(|packet| packet.class() == class);
        let blocks = of_class
            .filter(|packet| packet.kind != PacketKind::FlowControl)
            .map(|packet| credit_blocks(u32::from(packet.frame_bytes)));
        let arrived = buffer.counted().0.wrapping_add(blocks.sum());
        let (sent, limit) = credit.counted();
        if sent != arrived {
            return Err(format!(
                "{sent} blocks of class {class} were sent, but {arrived} arrived or are under way"
            ));
        }
        // The counters wrap, so limits are compared by their distance from `sent`.
        if limit.wrapping_sub(sent) > buffer.counted().1.wrapping_sub(sent) {
            return Err(format!(
                "class {class} may send more than it has been granted"
            ));
        }
    }
    Ok(())
}

/// Compares a switch's input buffers with the frames that wait in it.
///
/// # Errors
/// A sentence that says what does not add up.
pub(crate) fn check_buffers(switch: &Switch) -> Result<(), String> {
    for queue in 0..switch.classes().len() {
        let mut waiting = vec![0; switch.ports().len()];
        for frame in switch
            .ports()
            .iter()
            .flat_map(|port| port.waiting_in(queue))
        {
            waiting[usize::from(frame.stored_from())] +=
                credit_blocks(u32::from(frame.frame_bytes));
        }
        for (port, blocks) in (0..).zip(waiting) {
            let Some(buffer) = switch.input_buffer(port, queue) else {
                continue;
            };
            if buffer.occupied() != blocks {
                return Err(format!(
                    "the input buffer of port {port} is said to hold {} blocks, but {blocks} wait",
                    buffer.occupied()
                ));
            }
        }
    }
    Ok(())
}
