//! Ultra Ethernet's transport and switches that trim: what each excludes.

use tenter_fabric::net::{ClassSpec, Limit, SwitchSpec, Switches, UNLIMITED_POOL};
use tenter_sim::plan::{Fault, FaultPlan};

use crate::resolve::buffer::Around;
use crate::resolve::switching::Switching;

/// The transport's path in a scenario.
const TRANSPORT: &str = "endpoint.nic.transport";
/// The classes' path in a scenario.
const CLASSES: &str = "fabric.switch.classes";

/// Refuses combinations that exclude each other.
pub(crate) fn check(
    around: &Around<'_>,
    switching: &Switching,
    switches: &Switches,
    faults: Option<&FaultPlan>,
) {
    let is_there = around.endpoint.nic.ultra_ethernet().is_some();
    let trims = switches.any_class(|class| class.trim.is_some());
    let refuse = |path: &str, what: &str, help: &str| around.problems.note(path, what, help);
    if trims && !is_there {
        refuse(
            CLASSES,
            "`trim` is for NICs that are told of trimmed packets, and those of RoCEv2 are not",
            "leave `trim` out, or set `endpoint.nic.transport: ultra-ethernet`",
        );
    }
    if trims && !is_output_queued(switching) {
        refuse(
            CLASSES,
            "`trim` needs switches that queue at outputs",
            "leave out `fabric.switching`, or `trim`",
        );
    }
    for spec in switches.iter() {
        for class in spec.classes.iter().filter(|class| class.trim.is_some()) {
            if let Some((what, help)) = wrong(class, spec) {
                refuse(CLASSES, &what, help);
            }
        }
    }
    // Trimming has been checked; the rest is about the transport.
    if !is_there {
        return;
    }
    if switching.credit().is_some() {
        refuse(
            TRANSPORT,
            "`ultra-ethernet` does not send by the credit of links",
            "leave out `fabric.switching`, or set `transport: roce`",
        );
    }
    let storm = |event: &tenter_sim::plan::FaultEvent| matches!(event.fault, Fault::StormBegins(_));
    if faults.is_some_and(|faults| faults.events.iter().any(storm)) {
        refuse(
            TRANSPORT,
            "NICs with `ultra-ethernet` have no pause storms",
            "leave the storm out, or set `transport: roce`",
        );
    }
    if switches.usual.load_balancing.notifies_hosts().is_some() {
        refuse(
            TRANSPORT,
            "NICs with `ultra-ethernet` choose paths by themselves, and take no notices of long queues",
            "set `notify: leaf` of the load balancer, or `transport: roce`",
        );
    }
}

/// Refuses congestion signals to senders, which pause `RoCEv2` queue pairs.
pub(crate) fn check_signals(around: &Around<'_>, signals: bool) {
    if signals && around.endpoint.nic.ultra_ethernet().is_some() {
        around.problems.note(
            TRANSPORT,
            "`fabric.source_flow_control` pauses senders of RoCEv2",
            "leave it out, or set `transport: roce`",
        );
    }
}

fn is_output_queued(switching: &Switching) -> bool {
    let others = [
        switching.scheduled().is_some(),
        switching.credit().is_some(),
        switching.input_queued().is_some(),
    ];
    !others.contains(&true)
}

/// Returns what is wrong with a class that trims, and the remedy.
fn wrong(class: &ClassSpec, spec: &SwitchSpec) -> Option<(String, &'static str)> {
    let number = class.class;
    let to = class.trim?.to;
    let Some(rest) = spec.classes.iter().find(|other| other.class == to) else {
        let what = format!("class {number} trims into class {to}, which is not listed");
        return Some((
            what,
            "list it, with `limit` twice that of the data, for example",
        ));
    };
    if to == number {
        let what = format!("class {number} trims into itself");
        return Some((what, "name another class in `trim.to`"));
    }
    if class.lossless.is_some() || rest.lossless.is_some() {
        let what = format!("class {number} trims, and it or class {to} is lossless");
        return Some((what, "leave out `lossless` in both, or `trim`"));
    }
    let has_own = |class: &ClassSpec| {
        let unlimited = spec.pool_bytes[usize::from(class.pool)] == UNLIMITED_POOL;
        unlimited && matches!(class.limit, Limit::Static(_) | Limit::AtRate { .. })
    };
    if has_own(class) != has_own(rest) {
        let what =
            format!("class {number} trims into class {to}, and only one of them shares a buffer");
        return Some((
            what,
            "give both a `limit` without a buffer, or let both share one",
        ));
    }
    None
}
