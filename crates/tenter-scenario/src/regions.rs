//! Classes that change from region to region: where they can work, and where they are missed.

use tenter_net::{ClassSpec, PfcTrigger, Switches};
use tenter_notation::diagnostics::Problems;
use tenter_topology::Topology;

const PATH: &str = "fabric.switch.classes";

/// What the classes are checked with.
pub(crate) struct Around<'a> {
    pub(crate) topology: &'a Topology,
    pub(crate) by_credit: bool,
    pub(crate) has_signals: bool,
    pub(crate) problems: &'a Problems,
    pub(crate) warnings: &'a Problems,
}

/// Refuses classes that change where they cannot, and warns of pauses that may go round in a cycle
/// because they change too seldom.
pub(crate) fn check(switches: &Switches, around: &Around<'_>) {
    let changes = switches.any_class(|class| class.next_region.is_some());
    if changes {
        check_changes(around);
    } else if !around.topology.regions.is_empty() && !around.by_credit {
        warn_of_cycles(switches, around.warnings);
    }
}

fn check_changes(around: &Around<'_>) {
    let refuse = |what: &str, help: &str| around.problems.note(PATH, what, help);
    if around.topology.regions.is_empty() {
        refuse(
            "`next_region` changes classes between regions, and this topology has none",
            "leave it out, or use `fabric.kind: dragonfly`",
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

/// How many classes a path needs that passes from region to region.
fn needed(switches: &Switches) -> usize {
    let detours = switches.usual.load_balancing.detours();
    if detours.is_some() { 3 } else { 2 }
}

fn warn_of_cycles(switches: &Switches, warnings: &Problems) {
    let by_input = |class: &ClassSpec| {
        let lossless = class.lossless.as_ref();
        lossless.is_some_and(|of| of.trigger == PfcTrigger::Ingress)
    };
    if !switches.any_class(by_input) {
        return;
    }
    let classes = needed(switches);
    let message = format!(
        "a lossless class on paths over several regions may end in a PFC deadlock: a packet keeps its class on {classes} regions"
    );
    let help = format!(
        "list {classes} classes in `fabric.switch.classes`, each with the next one as `next_region`, or let it be: a run that ends in a deadlock says so"
    );
    warnings.note(PATH, message, &help);
}
