//! Telemetry-assisted load balancing that notifies hosts: its traffic class, and what excludes it.

use tenter_fabric::net::Switches;

use crate::resolve::buffer::Around;
use crate::resolve::switching::Switching;
use tenter_sim::plan::LinkImpairment;

/// Adds the class of notices to all switches, if the load balancer sends any to hosts; notes a
/// problem if another part excludes them.
pub(crate) fn complete(
    around: &Around<'_>,
    switches: &mut Switches,
    has_signals: bool,
    switching: &Switching,
    impaired: Option<&[LinkImpairment]>,
) {
    let Some(class) = switches.usual.load_balancing.notice_class() else {
        return;
    };
    let refuse = |what: &str, help: &str| {
        let message = format!("`notify: host` of `fabric.load_balancing` {what}");
        around.problems.push(None, message, Some(help.to_owned()));
    };
    let leaf = "use `notify: leaf`";
    if around.endpoint.nic.entropy.is_some() {
        refuse(
            "and `endpoint.nic.entropy` exclude each other: a NIC that sprays has no flow to move",
            "leave out one of them",
        );
        return;
    }
    let by_credit = switching.credit().is_some();
    if switching.scheduled().is_some() {
        refuse(
            "cannot be had in a scheduled fabric, where no switch chooses ways",
            leaf,
        );
        return;
    }
    if has_signals || by_credit {
        let what = if has_signals {
            "and `fabric.source_flow_control` exclude each other: both want a class above all others"
        } else {
            "cannot be had in a credit-based fabric, whose lanes have no class left for notices"
        };
        refuse(what, leaf);
        return;
    }
    let rules = impaired.unwrap_or_default().iter().flat_map(|of| &of.rules);
    if rules.into_iter().any(|rule| rule.from.is_some()) {
        let what = "and a rule of `impairments` with `from` exclude each other: the frames of a host are told by their source ports";
        refuse(what, "leave out `from`, or choose them by `to`");
        return;
    }
    // Notices overtake all data, also in queues that they report, so their class must be the
    // highest.
    let taken = switches.highest_class(around.all_classes());
    if taken.is_some_and(|taken| taken >= class) {
        let what = format!("sends notices in class {class}, which is in use");
        refuse(
            &what,
            "give packets and `fabric.switch.classes` classes below 7",
        );
        return;
    }
    switches.add_class_for_signals(class);
}
