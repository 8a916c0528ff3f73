//! Cyclic buffer dependencies: switches that wait for each other and will wait for ever.
//!
//! A paused ingress group is stuck when every one of its frames stands in an output queue that the
//! other end of the link has paused for a group that is stuck itself. Nothing can then leave any of
//! them, and pauses are repeated as long as nothing leaves; so what is stuck once stays so.

use std::collections::BTreeSet;
use std::fmt::Write;

use tenter_net::Switch;

use crate::driver::Driver;
use crate::fabric::NodeModel;

/// A lossless class of an input port of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Group {
    node: u32,
    port: u16,
    queue: u8,
}

/// The cycle of ports that wait for each other, in words, if there is one.
pub(crate) fn find<D: Driver>(driver: &D, now: u64) -> Option<String> {
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
    Some(describe(driver, &cycle_from(driver, first)))
}

fn switch<D: Driver>(driver: &D, node: u32) -> Option<&Switch> {
    let (part, local) = driver.fabric(0).context().home(node);
    match &driver.fabric(usize::from(part)).nodes()[local as usize] {
        NodeModel::Switch(switch) => Some(switch),
        NodeModel::Host(_) => None,
    }
}

fn paused_groups<D: Driver>(driver: &D, now: u64) -> BTreeSet<Group> {
    let topology = driver.fabric(0).context().topology();
    let mut groups = BTreeSet::new();
    for node in topology.hosts as u32..topology.nodes.len() as u32 {
        let Some(switch) = switch(driver, node).filter(|switch| switch.is_pausing()) else {
            continue;
        };
        for port in 0..switch.ports().len() as u16 {
            for queue in 0..switch.classes().len() as u8 {
                let record = switch.ingress(port, usize::from(queue), now);
                if record.is_paused && record.bytes > 0 {
                    groups.insert(Group { node, port, queue });
                }
            }
        }
    }
    groups
}

/// The output ports in which frames of a group wait.
fn outputs(switch: &Switch, group: Group) -> impl Iterator<Item = u16> {
    let ports = (0..).zip(switch.ports());
    let holding = ports.filter(move |(_, port)| {
        let mut frames = port.waiting_in(usize::from(group.queue));
        frames.any(|frame| frame.stored_from() == group.port)
    });
    holding.map(|(number, _)| number)
}

/// The group at the other end of an output port that its frames would join; `None` at a host.
fn behind<D: Driver>(driver: &D, group: Group, output: u16) -> Option<Group> {
    let topology = driver.fabric(0).context().topology();
    let peer = topology.neighbour(group.node, output);
    (!topology.is_host(peer.node)).then_some(Group {
        node: peer.node,
        port: peer.port,
        queue: group.queue,
    })
}

fn is_stuck<D: Driver>(driver: &D, group: Group, stuck: &BTreeSet<Group>, now: u64) -> bool {
    let Some(switch) = switch(driver, group.node) else {
        return false;
    };
    outputs(switch, group).all(|output| {
        let port = &switch.ports()[usize::from(output)];
        port.paused_until(usize::from(group.queue)) > now
            && behind(driver, group, output).is_some_and(|next| stuck.contains(&next))
    })
}

/// Follows the groups that wait for each other until one comes again.
fn cycle_from<D: Driver>(driver: &D, first: Group) -> Vec<(Group, u16)> {
    let mut way: Vec<(Group, u16)> = Vec::new();
    let mut group = first;
    loop {
        if let Some(start) = way.iter().position(|(seen, _)| *seen == group) {
            return way.split_off(start);
        }
        let output = switch(driver, group.node).and_then(|switch| outputs(switch, group).next());
        let Some(output) = output else { return way };
        way.push((group, output));
        let Some(next) = behind(driver, group, output) else {
            return way;
        };
        group = next;
    }
}

fn describe<D: Driver>(driver: &D, cycle: &[(Group, u16)]) -> String {
    let topology = driver.fabric(0).context().topology();
    let mut text = String::from("PFC deadlock, a cyclic buffer dependency: ");
    for (index, (group, output)) in cycle.iter().enumerate() {
        let switch = switch(driver, group.node);
        let class = switch.map_or(0, |switch| switch.classes()[usize::from(group.queue)]);
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
