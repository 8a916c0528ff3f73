//! Classes that change from region to region: checks where they can work and where they are
//! missing.

use tenter_fabric::net::{CLASSES, ClassSpec, Switches};
use tenter_fabric::topology::Topology;
use tenter_language::notation::diagnostics::Problems;

const PATH: &str = "fabric.switch.classes";

/// Inputs that the checks need.
pub(crate) struct Around<'a> {
    pub(crate) topology: &'a Topology,
    pub(crate) by_credit: bool,
    pub(crate) has_signals: bool,
    pub(crate) problems: &'a Problems,
    pub(crate) warnings: &'a Problems,
}

/// Refuses changing classes where they cannot work. Warns of pause cycles because classes change
/// too seldom, and of lossless classes whose packets go on in a lossy one.
pub(crate) fn check(switches: &Switches, around: &Around<'_>) {
    if switches.any_class(|class| class.next_region.is_some()) {
        check_changes(around);
    }
    if !around.topology.regions.is_empty() && !around.by_credit {
        check_chains(switches, around);
    }
}

fn check_changes(around: &Around<'_>) {
    let refuse = |what: &str, help: &str| around.problems.note(PATH, what, help);
    if around.topology.regions.is_empty() {
        refuse(
            "`next_region` changes classes between regions, and this topology has none",
            "leave it out, or use a `fabric.kind` with regions, such as `dragonfly`",
        );
    }
    if around.by_credit {
        refuse(
            "`next_region` changes classes by pauses, and a credit-based fabric has none",
            "leave it out",
        );
    }
    if around.has_signals {
        refuse(
            "a congestion signal names the class of its queue, and with `next_region` the sender has the packets in another one",
            "leave out `next_region`, or `fabric.source_flow_control`",
        );
    }
}

/// Returns how many successive classes rule out a pause cycle; `None` if no number does.
fn needed(switches: &Switches, topology: &Topology) -> Option<u32> {
    let safe = topology.safe_classes;
    let detours = switches.usual.load_balancing.detours();
    if detours.is_some() {
        safe.detours
    } else {
        safe.shortest
    }
}

/// Checks the successive classes that each lossless class's packets take.
fn check_chains(switches: &Switches, around: &Around<'_>) {
    let needed = needed(switches, around.topology);
    let classes = &switches.usual.classes;
    let is_next = |class: &ClassSpec| {
        let mut others = classes.iter();
        others.any(|other| other.lossless.is_some() && other.next_region == Some(class.class))
    };
    let first = classes.iter().filter(|class| class.lossless.is_some());
    // A chain is checked once, from its first class.
    for class in first.filter(|class| !is_next(class)) {
        let chain: Vec<&ClassSpec> = switches.classes_in_regions(class.class).collect();
        let number = class.class;
        if let Some(lossy) = chain.iter().find(|class| class.lossless.is_none()) {
            let message = format!(
                "class {number} is lossless, and its packets become class {} in another region, which drops what it cannot hold",
                lossy.class
            );
            let help = "make that class lossless, too";
            around.warnings.note(PATH, message, help);
        } else if needed.is_none_or(|needed| chain.len() < needed as usize) {
            warn_of_cycles(number, chain.len(), needed, around.warnings);
        }
    }
}

fn warn_of_cycles(class: u8, has: usize, needed: Option<u32>, warnings: &Problems) {
    let (why, help) = match needed {
        Some(needed) if needed > CLASSES as u32 => (
            format!("against that its packets need {needed} classes one after the other, and there are {CLASSES}"),
            "use `fabric.paths: dimension-order` where the fabric has it, no detours, or fewer dimensions".to_owned(),
        ),
        Some(needed) => (
            format!(
                "against that its packets need {needed} classes one after the other, and they have {has}"
            ),
            format!(
                "list {needed} classes in `fabric.switch.classes`, each with the next one as `next_region`"
            ),
        ),
        None => (
            "no number of classes prevents that on these paths".to_owned(),
            "use `fabric.paths: dimension-order` without detours".to_owned(),
        ),
    };
    let message = format!(
        "lossless class {class} on paths over several regions may end in a PFC deadlock: {why}"
    );
    let help = format!("{help}, or let it be: a run that ends in a deadlock says so");
    warnings.note(PATH, message, &help);
}
