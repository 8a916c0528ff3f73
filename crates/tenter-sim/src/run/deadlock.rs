//! Cyclic buffer dependencies: switches that wait for each other and will wait for ever.
//!
//! A paused priority group is stuck when every frame it is paused for stands in an output queue
//! that the other end of the link has paused for a group that is stuck itself. It is paused for its
//! own frames, or, where the pool is the trigger, for all that are in the pool: it may have none.
//! Where output queues are the trigger it is paused for each of some: one of them that does not
//! send is enough, if it stays too long whatever else leaves the pool, or if nothing else can
//! leave. Nothing can then leave, and pauses are repeated as long as nothing leaves; so what is
//! stuck once stays so. In switches whose inputs keep frames in order it is enough that the first
//! frame of every channel waits so: it holds up all behind it, wherever they go.
//!
//! Where frames are sent by credit, an priority group is an input buffer that holds something. It
//! is stuck when every frame in it stands in an output queue that has no credit for its first
//! frame, because of a buffer at the other end that is stuck itself, and nothing is under way that
//! could change that: neither frames nor credit.

use std::collections::BTreeSet;
use std::fmt::Write;

use tenter_net::{PausesBy, Switch};
use tenter_topology::NodeId;
use tenter_units::Instant;

use crate::network::{Driver, NodeModel};
use crate::results::lanes;

/// A lossless class of an input port of a switch: an priority group, or the input buffer of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Group {
    node: NodeId,
    port: u16,
    queue: u8,
}

/// The cycle of ports that wait for each other, in words, if there is one.
pub(super) fn find<D: Driver>(driver: &D, now: Instant) -> Option<String> {
    let mut stuck = paused_groups(driver, now);
    // The largest set of which each waits only for others of it.
    loop {
        let freed: Vec<Group> = stuck
            .iter()
            .copied()
            .filter(|&group| !is_stuck(driver, group, &stuck, now))
            .collect();
        if freed.is_empty() {
            break;
        }
        for group in freed {
            stuck.remove(&group);
        }
    }
    let first = *stuck.first()?;
    Some(describe(driver, &cycle_from(driver, first, now)))
}

fn switch<D: Driver>(driver: &D, node: NodeId) -> Option<&Switch> {
    match driver.node(node) {
        NodeModel::Switch(switch) => Some(switch),
        NodeModel::Host(_) => None,
    }
}

fn paused_groups<D: Driver>(driver: &D, now: Instant) -> BTreeSet<Group> {
    let topology = driver.fabric(0).topology();
    let mut groups = BTreeSet::new();
    for node in topology.switch_nodes() {
        let Some(switch) = switch(driver, node).filter(|switch| switch.is_pausing()) else {
            continue;
        };
        for port in 0..switch.ports().len() as u16 {
            for queue in 0..switch.classes().len() as u8 {
                let record = switch.ingress(port, usize::from(queue), now);
                let group = Group { node, port, queue };
                if record.is_paused || holds_up(driver, switch, group) {
                    groups.insert(group);
                }
            }
        }
    }
    groups
}

/// Whether an input buffer holds something, and nothing is under way on its link: both ends have
/// counted the same.
fn holds_up<D: Driver>(driver: &D, switch: &Switch, group: Group) -> bool {
    let Some(buffer) = switch.input_buffer(group.port, usize::from(group.queue)) else {
        return false;
    };
    let class = switch.classes()[usize::from(group.queue)];
    let topology = driver.fabric(0).topology();
    let peer = topology.neighbour(group.node, group.port);
    let mut lanes = lanes(driver.node(peer.node), peer.port);
    let sender = lanes.find(|lane| lane.0 == class);
    let counted = sender.map(|(_, credit, _)| credit.counted());
    buffer.occupied() > 0 && counted == Some(buffer.counted())
}

/// The output ports and queues in which frames wait that a group is paused for. Where inputs keep
/// their frames in order, those behind the first of a channel wait for it, and do not count.
fn outputs(switch: &Switch, group: Group, by_pool: bool) -> impl Iterator<Item = (u16, u8)> {
    let queues = 0..switch.classes().len() as u8;
    let all = (0..).zip(switch.ports());
    let all =
        all.flat_map(move |(number, port)| queues.clone().map(move |queue| (number, port, queue)));
    let holding = all.filter(move |(number, port, queue)| {
        let mut frames = port.waiting_in(usize::from(*queue));
        let is_first = |input| switch.may_come_next(input, *number, usize::from(*queue));
        if by_pool && switch.shares_pool(usize::from(group.queue), usize::from(*queue)) {
            return frames.any(|frame| is_first(frame.stored_from()));
        }
        *queue == group.queue
            && is_first(group.port)
            && frames.any(|frame| frame.stored_from() == group.port)
    });
    holding.map(|(number, _, queue)| (number, queue))
}

/// The group at the other end of an output port that the frames of a queue would join; `None` at a
/// host.
fn behind<D: Driver>(driver: &D, node: NodeId, output: u16, queue: u8) -> Option<Group> {
    let topology = driver.fabric(0).topology();
    let peer = topology.neighbour(node, output);
    let next = switch(driver, peer.node)?;
    Some(Group {
        node: peer.node,
        port: peer.port,
        queue: next.queue_behind(peer.port, queue),
    })
}

fn is_stuck<D: Driver>(driver: &D, group: Group, stuck: &BTreeSet<Group>, now: Instant) -> bool {
    let Some(switch) = switch(driver, group.node) else {
        return false;
    };
    let waits = |(output, queue): (u16, u8)| {
        let port = &switch.ports()[usize::from(output)];
        let next = behind(driver, group.node, output, queue);
        port.paused_until(usize::from(queue)) > now
            && next.is_some_and(|next| stuck.contains(&next))
    };
    let all_wait = |by_pool| {
        let mut outputs = outputs(switch, group, by_pool).peekable();
        // A pause without any frame behind it ends by itself.
        outputs.peek().is_some() && outputs.all(waits)
    };
    let queue = usize::from(group.queue);
    let mut full = switch.full_queues(group.port, queue);
    let held =
        full.any(|(output, for_good)| waits((output, group.queue)) && (for_good || all_wait(true)));
    match switch.pauses_by(queue) {
        PausesBy::Pool => all_wait(true) || is_in_headroom(switch, group, now) && all_wait(false),
        PausesBy::Queues => held || is_in_headroom(switch, group, now) && all_wait(false),
        PausesBy::Groups => all_wait(false),
    }
}

/// Whether frames of a group are in headroom: it is paused until they have left.
fn is_in_headroom(switch: &Switch, group: Group, now: Instant) -> bool {
    let record = switch.ingress(group.port, usize::from(group.queue), now);
    record.bytes_in_headroom > 0
}

/// Follows the groups that wait for each other until one comes again.
fn cycle_from<D: Driver>(driver: &D, first: Group, now: Instant) -> Vec<(Group, (u16, u8))> {
    let mut way: Vec<(Group, (u16, u8))> = Vec::new();
    let mut group = first;
    loop {
        if let Some(start) = way.iter().position(|(seen, _)| *seen == group) {
            return way.split_off(start);
        }
        let output = switch(driver, group.node).and_then(|switch| {
            let mut full = switch.full_queues(group.port, usize::from(group.queue));
            let stands = |(output, queue): &(u16, u8)| {
                let port = &switch.ports()[usize::from(*output)];
                port.paused_until(usize::from(*queue)) > now
            };
            let full = full.find_map(|(output, _)| {
                Some((output, group.queue)).filter(|output| stands(output))
            });
            let own = || outputs(switch, group, false).next();
            full.or_else(own)
                .or_else(|| outputs(switch, group, true).next())
        });
        let Some((output, queue)) = output else {
            return way;
        };
        way.push((group, (output, queue)));
        let Some(next) = behind(driver, group.node, output, queue) else {
            return way;
        };
        group = next;
    }
}

fn describe<D: Driver>(driver: &D, cycle: &[(Group, (u16, u8))]) -> String {
    let topology = driver.fabric(0).topology();
    let by_credit = driver.context().credit.is_some();
    let kind = if by_credit { "credit" } else { "PFC" };
    let mut text = format!("{kind} deadlock, a cyclic buffer dependency: ");
    for (index, (group, (output, queue))) in cycle.iter().enumerate() {
        let switch = switch(driver, group.node);
        let class = switch.map_or(0, |switch| switch.classes()[usize::from(*queue)]);
        let join = if index == 0 { "" } else { ", which waits for " };
        let _ = write!(
            text,
            "{join}{} (class {class})",
            topology.port_name(group.node, *output)
        );
    }
    text.push_str(", which waits for the first");
    text
}
