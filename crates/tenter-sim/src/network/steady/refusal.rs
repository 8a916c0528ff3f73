//! Conditions under which nothing is jumped over, with their reasons.

use std::collections::BTreeSet;

use crate::plan::{Fidelity, Plan};
use tenter_endpoint::loss_recovery::LossRecovery;
use tenter_fabric::net::{EcnSpec, SwitchSpec};

/// Returns why nothing can be jumped over in a trial, as the end of a sentence; `None` if jumps are
/// possible.
pub(crate) fn refusal(plan: &Plan) -> Option<&'static str> {
    let refusals = of_switches(plan).into_iter().chain(of_nics(plan));
    refusals
        .chain(of_trial(plan))
        .find_map(|(is, why)| is.then_some(why))
}

fn of_switches(plan: &Plan) -> Vec<(bool, &'static str)> {
    let any = |is: &dyn Fn(&SwitchSpec) -> bool| {
        let nodes = plan.topology.node_ids();
        let mut switches = nodes.filter(|&node| !plan.topology.is_host(node));
        switches.any(|node| is(plan.switches.of(&plan.topology, node)))
    };
    // With equal thresholds the queue alone decides about a mark.
    let draws = |ecn: &EcnSpec| ecn.min_bytes < ecn.max_bytes;
    vec![
        (plan.scheduled.is_some(), "the fabric is scheduled"),
        (plan.credit.is_some(), "the fabric sends by credit"),
        (
            plan.input_queued.is_some(),
            "frames wait at the inputs of switches",
        ),
        (plan.topology.nic_ports > 1, "NICs have several ports"),
        (plan.signals.is_some(), "switches signal to senders"),
        (plan.circuits.is_some(), "the fabric has circuits"),
        (
            any(&|switch| !switch.load_balancing.keeps_ways()),
            "load balancing is neither `ecmp`, `weighted-ecmp` nor `destination`",
        ),
        (
            any(&|switch| {
                let mut ecn = switch.classes.iter().filter_map(|class| class.ecn.as_ref());
                ecn.any(draws)
            }),
            "marks of congestion are drawn by chance between `kmin` and `kmax`",
        ),
    ]
}

fn of_nics(plan: &Plan) -> Vec<(bool, &'static str)> {
    let nic = &plan.nic;
    vec![
        (
            nic.ultra_ethernet().is_some(),
            "NICs have the transport of Ultra Ethernet",
        ),
        (
            nic.congestion_control.is_some(),
            "NICs have congestion control",
        ),
        (
            nic.loss_recovery != LossRecovery::GoBackN,
            "loss recovery is not `go-back-n`",
        ),
        (
            nic.outstanding_messages.is_some(),
            "queue pairs may have so many messages under way only",
        ),
        (
            nic.pcie.is_some() || nic.receive_buffer.is_some(),
            "NICs have PCIe or receive buffers",
        ),
        (
            plan.port_changes.entropy.is_some() || plan.port_changes.reroute.is_some(),
            "queue pairs change their source port",
        ),
        (plan.scale_up.is_some(), "hosts have a scale-up domain"),
    ]
}

fn of_trial(plan: &Plan) -> Vec<(bool, &'static str)> {
    let mut runs = plan.jobs.iter().flat_map(|job| &job.sequence);
    let classes: BTreeSet<Option<u8>> = plan.jobs.iter().map(|job| job.class).collect();
    vec![
        (plan.fidelity == Fidelity::Flow, "flow level has no packets"),
        (!plan.impairments.is_empty(), "links are impaired"),
        (classes.len() > 1, "jobs have several traffic classes"),
        (
            runs.any(|run| run.traffic.is_endless()),
            "a job has streams without end",
        ),
        (
            plan.queue_changes.is_some() || plan.capture.is_some(),
            "packets are recorded one by one",
        ),
    ]
}
