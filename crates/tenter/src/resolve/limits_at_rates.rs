//! Queue limits in proportion to the line rate: a frame should find room at the slowest port.

use std::collections::HashMap;

use tenter_fabric::net::{ClassSpec, Limit, SwitchSpec, Switches};
use tenter_language::units::Rate;
use tenter_sim::plan::{Fault, FaultPlan};

use crate::resolve::buffer::Around;

const PATH: &str = "fabric.switch.classes";

/// Warns of data classes without room for a frame at the slowest port, now or after a fault.
pub(crate) fn check(around: &Around<'_>, switches: &Switches, faults: Option<&FaultPlan>) {
    if !switches.any_class(|class| matches!(class.limit, Limit::AtRate { .. })) {
        return;
    }
    let frame = u64::from(around.endpoint.nic.longest_frame_bytes());
    let degraded = degraded(faults);
    let topology = around.topology;
    let mut told = 0_u8;
    for node in topology.node_ids().filter(|&node| !topology.is_host(node)) {
        let cables = (0..topology.ports(node)).map(|port| topology.cable_number(node, port));
        let rate = |cable: u32| {
            let own = topology.cables[cable as usize].rate;
            degraded.get(&cable).map_or(own, |rate| own.min(*rate))
        };
        let (Some(slowest), Some(tier)) = (cables.map(rate).min(), topology.tier(node)) else {
            continue;
        };
        let spec = switches.of_tier(tier);
        for class in spec
            .classes
            .iter()
            .filter(|class| holds_frames(class, spec))
        {
            let room = room(class, slowest).filter(|room| *room < frame);
            // One warning per class is enough.
            if let Some(room) = room.filter(|_| told & (1 << class.class) == 0) {
                told |= 1 << class.class;
                warn(around, class.class, room, slowest, frame);
            }
        }
    }
}

fn warn(around: &Around<'_>, class: u8, room: u64, slowest: Rate, frame: u64) {
    let what = format!(
        "class {class} may hold {room} bytes at a port of {slowest}, less than one full frame of {frame}: nothing can wait there"
    );
    let help = "let `limit` be greater, or leave `limit_scale_from` out";
    around.warnings.note(PATH, &what, help);
}

/// Returns the lowest rate that faults degrade each cable to.
fn degraded(faults: Option<&FaultPlan>) -> HashMap<u32, Rate> {
    // Only looked up by cable, so that no order of a hash map matters.
    let mut rates: HashMap<u32, Rate> = HashMap::new();
    for event in faults.into_iter().flat_map(|faults| &faults.events) {
        if let Fault::LinkRate(cable, rate) = event.fault {
            let lowest = rates.entry(cable).or_insert(rate);
            *lowest = rate.min(*lowest);
        }
    }
    rates
}

/// Returns true if whole frames wait in a class; one that others trim to holds trimmed frames only.
fn holds_frames(class: &ClassSpec, spec: &SwitchSpec) -> bool {
    let mut trims = spec.classes.iter().filter_map(|other| other.trim);
    !trims.any(|trim| trim.to == class.class)
}

/// Returns the bytes that a queue may hold at a port of `rate`, if its limit depends on the rate.
fn room(class: &ClassSpec, rate: Rate) -> Option<u64> {
    let Limit::AtRate { .. } = class.limit else {
        return None;
    };
    let bytes = class.limit.at_port(rate)?;
    Some(bytes.saturating_add(class.reserved_bytes))
}
