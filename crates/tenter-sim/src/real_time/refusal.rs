//! What real hosts cannot do.

use tenter_endpoint::loss_recovery::LossRecovery;
use tenter_plan::Plan;
use tenter_topology::NodeId;

/// Why hosts in real time cannot run a plan, if so: a sentence with the remedy.
///
/// They have their NIC in software and no hold of the switches.
pub fn refusal_of_real_hosts(plan: &Plan) -> Option<String> {
    let nic = &plan.nic;
    let telemetry = nic.telemetry_bytes() > 0;
    let jobs = &plan.jobs;
    let any = |of: fn(&tenter_workload::CollectiveRun) -> bool| {
        jobs.iter().flat_map(|job| &job.sequence).any(of)
    };
    let refused = [
        (
            nic.connection_set_up,
            "`endpoint.nic.connection_set_up`",
            "leave it out",
        ),
        (
            nic.loss_recovery == LossRecovery::None,
            "`endpoint.nic.loss_recovery: none`",
            "choose `go-back-n` or `selective-repeat`",
        ),
        (
            nic.pcie.is_some(),
            "`endpoint.nic.pcie`",
            "leave it out: real hosts have their own",
        ),
        (
            nic.receive_buffer.is_some(),
            "`endpoint.nic.receive_buffer`",
            "leave it out: real hosts have their own",
        ),
        (
            telemetry,
            "in-band telemetry",
            "choose another congestion control",
        ),
        (
            plan.port_changes.entropy.is_some(),
            "`endpoint.nic.entropy`",
            "leave it out",
        ),
        (plan.scale_up.is_some(), "a scale-up domain", "leave it out"),
        (
            plan.scheduled.is_some(),
            "a scheduled fabric",
            "choose `load_balancing` on Ethernet",
        ),
        (
            plan.credit.is_some(),
            "a fabric that sends by credit",
            "choose Ethernet",
        ),
        (
            plan.signals.is_some(),
            "signals to senders",
            "leave `source_flow_control` out",
        ),
        (
            plan.circuits.is_some(),
            "optical circuits",
            "choose a fabric without them",
        ),
        (
            jobs.iter().any(|job| job.background),
            "a background job",
            "leave it out",
        ),
        (
            jobs.iter().any(|job| job.after.is_some()),
            "a job that waits for another",
            "give it a `start`",
        ),
        (
            any(|run| run.traffic.flow_workload().is_some() || run.traffic.is_endless()),
            "a workload of flows or streams",
            "choose collectives or graphs of operations",
        ),
    ];
    let found = refused.into_iter().find(|(is, ..)| *is);
    found.map(|(_, what, remedy)| format!("{what} is not for real hosts: {remedy}"))
}

/// The first host that has several ranks of the same job, by its node: their transfers to each
/// other would leave no host.
pub(super) fn crowded(plan: &Plan) -> Option<NodeId> {
    plan.jobs.iter().find_map(|job| {
        let mut hosts: Vec<_> = job.hosts.iter().copied().collect();
        hosts.sort_unstable();
        let twice = hosts.windows(2).find(|pair| pair[0] == pair[1]);
        twice.map(|pair| pair[0].node())
    })
}
