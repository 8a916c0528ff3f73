//! Parts of a plan that real hosts cannot run.

use crate::plan::Plan;
use tenter_endpoint::loss_recovery::LossRecovery;
use tenter_fabric::topology::NodeId;

/// One such part: true if the plan has it, its name, and the remedy.
type Refused = (bool, &'static str, &'static str);

/// Returns a sentence with the remedy if real hosts cannot run a plan. Real hosts have their NIC in
/// software, and no control over the switches.
pub fn refusal_of_real_hosts(plan: &Plan) -> Option<String> {
    let all = [&of_nics(plan)[..], &of_fabrics(plan), &of_jobs(plan)].concat();
    let found = all.into_iter().find(|(is, ..)| *is);
    found.map(|(_, what, remedy)| format!("{what} is not for real hosts: {remedy}"))
}

fn of_nics(plan: &Plan) -> [Refused; 8] {
    const OWN: &str = "leave it out: real hosts have their own";
    let nic = &plan.nic;
    let recovers = nic.loss_recovery != LossRecovery::None;
    let has_entropy = plan.port_changes.entropy.is_some();
    // Telemetry needs switches that write records into packets.
    let has_telemetry = nic.telemetry_bytes() > 0;
    [
        (
            nic.ultra_ethernet().is_some(),
            "`endpoint.nic.transport: ultra-ethernet`",
            "choose `roce`",
        ),
        (
            nic.connection_set_up,
            "`endpoint.nic.connection_set_up`",
            "leave it out",
        ),
        (
            !recovers,
            "`endpoint.nic.loss_recovery: none`",
            "choose `go-back-n` or `selective-repeat`",
        ),
        (nic.pcie.is_some(), "`endpoint.nic.pcie`", OWN),
        (
            nic.receive_buffer.is_some(),
            "`endpoint.nic.receive_buffer`",
            OWN,
        ),
        (
            has_telemetry,
            "in-band telemetry",
            "choose another congestion control",
        ),
        (has_entropy, "`endpoint.nic.entropy`", "leave it out"),
        (plan.scale_up.is_some(), "a scale-up domain", "leave it out"),
    ]
}

fn of_fabrics(plan: &Plan) -> [Refused; 5] {
    [
        (
            plan.topology.nic_ports > 1,
            "a multi-plane fabric",
            "leave `fabric.planes` out",
        ),
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
    ]
}

fn of_jobs(plan: &Plan) -> [Refused; 3] {
    let jobs = &plan.jobs;
    let mut runs = jobs.iter().flat_map(|job| &job.sequence);
    let flows = runs.any(|run| run.traffic.flow_workload().is_some() || run.traffic.is_endless());
    let waits = jobs.iter().any(|job| job.after.is_some());
    let background = jobs.iter().any(|job| job.background);
    [
        (background, "a background job", "leave it out"),
        (waits, "a job that waits for another", "give it a `start`"),
        (
            flows,
            "a workload of flows or streams",
            "choose collectives or graphs of operations",
        ),
    ]
}

/// Returns the node of a host that has several ranks of one job. Transfers between these ranks
/// would never leave the host.
pub(super) fn crowded(plan: &Plan) -> Option<NodeId> {
    plan.jobs.iter().find_map(|job| {
        let mut hosts: Vec<_> = job.hosts.iter().copied().collect();
        hosts.sort_unstable();
        // In sorted order equal hosts are neighbours.
        let twice = hosts.windows(2).find(|pair| pair[0] == pair[1]);
        twice.map(|pair| pair[0].node())
    })
}
