//! Limits in proportion to the rate of the line: whether a frame still finds room at the slowest.

use tenter_net::{ClassSpec, Limit, Switches};
use tenter_plan::{Fault, FaultPlan};
use tenter_units::Rate;

use crate::buffer::Around;

const PATH: &str = "fabric.switch.classes";

/// Warns of classes that may hold no frame at the slowest line that there is or will be.
pub(crate) fn check(around: &Around<'_>, switches: &Switches, faults: Option<&FaultPlan>) {
    let cables = around.topology.cables.iter().map(|cable| cable.rate);
    let events = faults.into_iter().flat_map(|faults| &faults.events);
    let degraded = events.filter_map(|event| match event.fault {
        Fault::LinkRate(_, rate) => Some(rate),
        _ => None,
    });
    let Some(slowest) = cables.chain(degraded).min() else {
        return;
    };
    let frame = u64::from(around.endpoint.nic.longest_frame_bytes());
    let mut told = 0_u8;
    for class in switches.iter().flat_map(|spec| &spec.classes) {
        let room = room(class, slowest).filter(|room| *room < frame);
        let Some(room) = room.filter(|_| told & (1 << class.class) == 0) else {
            continue;
        };
        told |= 1 << class.class;
        let what = format!(
            "class {} may hold {room} bytes at a port of {slowest}, less than one full frame of {frame}: nothing can wait there",
            class.class
        );
        let help = "let `limit` be greater, or leave `limit_scale_from` out";
        around.warnings.note(PATH, &what, help);
    }
}

/// What a queue may hold at a port of a rate, if that goes by the rate.
fn room(class: &ClassSpec, rate: Rate) -> Option<u64> {
    let Limit::AtRate { bytes, rate: full } = class.limit else {
        return None;
    };
    let bytes = u128::from(bytes + class.reserved_bytes);
    let room = bytes * u128::from(rate.bits_per_second()) / u128::from(full.bits_per_second());
    Some(u64::try_from(room).unwrap_or(u64::MAX))
}
