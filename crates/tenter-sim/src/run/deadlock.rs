//! Cyclic buffer dependencies: switches that wait for each other for ever.
//!
//! A paused priority group is stuck if every frame for which it is paused stands in an output queue
//! that the other end of the link has paused for a group that is stuck itself. Usually it is paused
//! for its own frames. If a pool triggers pauses, it is paused for all frames in the pool, and may
//! have none itself. If output queues trigger pauses, it is paused for each of several queues, and
//! one that does not send is enough, provided that the queue stays too long whatever else leaves
//! the pool, or that nothing else can leave. In all cases nothing can leave, and pauses are
//! repeated while nothing leaves, so a stuck group remains stuck. In switches whose inputs keep
//! frames in order it is enough that the first frame of every channel waits like that, because it
//! holds up all behind it, wherever they go.
//!
//! With credit-based flow control, a priority group is an input buffer that holds something. It is
//! stuck if every frame in it stands in an output queue without credit for its first frame, because
//! of a buffer at the other end that is stuck itself, and if no frame and no credit is under
//! way that could change that.

use std::collections::BTreeSet;
use std::fmt::Write;

use tenter_fabric::net::{PausesBy, Switch};
use tenter_fabric::topology::NodeId;
use tenter_language::units::Instant;

use crate::network::{Driver, NodeModel};
use crate::results::lanes;

/// A lossless class at an input port of a switch: a priority group, or the input buffer of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Group {
    node: NodeId,
    port: u16,
    queue: u8,
}

/// Finds a cycle of ports that wait for each other, and describes it in words.
pub(super) fn find<D: Driver>(driver: &D, now: Instant) -> Option<String> {
    let mut stuck = paused_groups(driver, now);
    // Removes groups until those that remain wait only for each other: the largest such set.
    loop {
        // Freed groups may free others, so the set is examined until nothing changes.
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
                // By PFC a group is paused; by credit its buffer is held up.
                if record.is_paused || holds_up(driver, switch, group) {
                    groups.insert(group);
                }
            }
        }
    }
    groups
}

/// Returns true if an input buffer holds something and nothing is under way on its link, because
/// both ends have counted the same.
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

/// Returns the output ports and queues with frames for which a group is paused. If inputs keep
/// their frames in order, frames behind the first of a channel only wait for that one, and do not
/// count.
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

/// Returns the group at the other end of an output port that the queue's frames would enter; `None`
/// at a host.
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
        // A group in headroom is paused until that is empty, so for it its own frames decide,
        // whatever the trigger.
        PausesBy::Pool => all_wait(true) || is_in_headroom(switch, group, now) && all_wait(false),
        PausesBy::Queues => held || is_in_headroom(switch, group, now) && all_wait(false),
        PausesBy::Groups => all_wait(false),
    }
}

/// Returns true if the group has frames in headroom: it stays paused until they have left.
fn is_in_headroom(switch: &Switch, group: Group, now: Instant) -> bool {
    let record = switch.ingress(group.port, usize::from(group.queue), now);
    record.bytes_in_headroom > 0
}

/// Follows the groups that wait for each other until one recurs, and returns the cycle.
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
            // The queue that triggers the pause is named before the group's own frames, and these
            // before others in the pool.
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
