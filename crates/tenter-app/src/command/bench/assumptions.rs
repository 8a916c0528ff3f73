//! Assumptions of a benchmark where the user said nothing: servers, scale-up domain, rank order,
//! algorithm.
//!
//! Users of nccl-tests expect servers with `NVLink`, a launcher that fills server after server, and
//! NCCL's choice of algorithm. The table must say where it differs from that.

use serde_json::{Value, json};
use tenter_language::config::Words;
use tenter_sim::plan::Plan;
use tenter_workload::collective::{AllReduceHierarchical, CollectiveKind, InDomain};

use super::layout::Layout;
use crate::command::fabric_line::counted;

/// Returns the assumptions as lines for the table's header.
pub(super) fn lines(plan: &Plan, layout: &Layout) -> Vec<String> {
    let mut lines = vec![
        format!("Servers: {}", servers(plan, layout)),
        format!("Scale-up domain: {}", scale_up(plan, layout)),
        format!("Rank order: {}", order(plan, layout)),
        format!("Algorithm: {}", algorithm(plan)),
    ];
    lines.extend(nccl(plan));
    lines.extend(kernels(plan).map(|own| {
        let gpu = own.kernels().gpu.word();
        format!("NCCL's kernels: launch, steps and rates fitted to measured servers of {gpu}")
    }));
    lines
}

/// Returns the collective if it has the times of NCCL's kernels in one domain.
fn kernels(plan: &Plan) -> Option<&InDomain> {
    match plan.jobs[0].sequence.first()?.traffic.collective()? {
        CollectiveKind::InDomain(own) => Some(own),
        _ => None,
    }
}

/// Returns the settings of NCCL's model, if it chooses the algorithm.
fn nccl(plan: &Plan) -> Option<String> {
    let run = plan.jobs[0].sequence.first()?;
    let (_, keys) = run.traffic.collective()?.nccl()?;
    Some(format!(
        "NCCL's model: {} GPUs, {} at {} for each server, {} processors, plug-in latency {}, \
         {}; --set jobs[0].collectives[0].host_cpu=amd changes one",
        keys.generation().word(),
        counted(keys.nics_per_host.unwrap_or(1) as usize, "NIC", "NICs"),
        keys.nic_rate?,
        keys.host_cpu.word(),
        keys.plug_in_latency,
        if keys.nvls { "NVLS on" } else { "NVLS off" },
    ))
}

/// Lists NCCL's choices with the size from which each applies.
fn choices(plan: &Plan) -> String {
    let found = plan.jobs[0].nccl_choices().into_iter();
    let parts: Vec<(String, u64)> = found.flat_map(|(_, ways)| ways).collect();
    let from = |(way, bytes): &(String, u64)| format!("{way} from {}", binary(*bytes));
    let parts: Vec<String> = match parts.as_slice() {
        [(way, _)] => vec![format!("{way} at every size here")],
        several => several.iter().map(from).collect(),
    };
    parts.join(", ")
}

/// Formats a size as nccl-tests reads it.
fn binary(bytes: u64) -> String {
    for (shift, unit) in [(30, "G"), (20, "M"), (10, "K")] {
        if bytes > 0 && bytes.trailing_zeros() >= shift {
            return format!("{}{unit}", bytes >> shift);
        }
    }
    bytes.to_string()
}

/// Returns the assumptions as JSON.
pub(super) fn json(plan: &Plan, layout: &Layout) -> Value {
    let domain = plan.scale_up.map(|domain| {
        json!({
            "gpus": domain.npus_per_host,
            "rate_bits_per_s": domain.rate.bits_per_second(),
            "latency_ns": domain.latency.as_ns(),
        })
    });
    json!({
        "servers": layout.nodes,
        "gpus_per_server": layout.per_node,
        "gpus_per_nic": plan.npus_per_nic,
        "scale_up_domain": domain,
        "rank_order": if layout.along_rails { "rails" } else { "hosts" },
        "lines": lines(plan, layout),
    })
}

fn servers(plan: &Plan, layout: &Layout) -> String {
    let count = counted(layout.nodes as usize, "server", "servers");
    let gpus = counted(layout.per_node as usize, "GPU", "GPUs");
    let nics = match (plan.npus_per_nic, layout.per_node) {
        (1, 1) => "and a NIC of its own".to_owned(),
        (1, _) => "and a NIC for each".to_owned(),
        (shared, _) => format!("and a NIC for every {shared}"),
    };
    let each = if layout.nodes == 1 { "" } else { " each" };
    format!("{count} with {gpus}{each}, {nics}")
}

/// Returns the algorithm that computes steps within servers by a formula, if the job uses it. It
/// ignores the fabric's scale-up domain.
fn formula(plan: &Plan) -> Option<&AllReduceHierarchical> {
    match plan.jobs[0].sequence.first()?.traffic.collective()? {
        CollectiveKind::AllReduceHierarchical(own) => Some(own),
        _ => None,
    }
}

fn scale_up(plan: &Plan, layout: &Layout) -> String {
    if let Some(own) = formula(plan) {
        let domain = plan.scale_up.unwrap_or_default();
        return format!(
            "{} GPUs at {} and {} by formula; only traffic between servers crosses NICs",
            own.npus_per_host.unwrap_or(layout.per_node),
            own.scale_up_rate.unwrap_or(domain.rate),
            own.scale_up_latency.unwrap_or(domain.latency)
        );
    }
    if let Some(domain) = plan.scale_up {
        return format!(
            "{} GPUs at {} and {}; traffic among them crosses no NIC",
            domain.npus_per_host, domain.rate, domain.latency
        );
    }
    if layout.per_node == 1 {
        return "none, so all traffic crosses NICs".to_owned();
    }
    format!(
        "none (no NVLink), so all traffic crosses NICs, within a server too; \
         --set endpoint.host.scale_up.npus_per_host={} adds one",
        layout.per_node
    )
}

fn order(plan: &Plan, layout: &Layout) -> String {
    if layout.per_node == 1 {
        return "server after server".to_owned();
    }
    if !layout.along_rails || layout.nodes == 1 {
        return "GPU after GPU, server after server".to_owned();
    }
    // A domain then goes nearly unused, which the user may not have meant.
    let within = if plan.scale_up.is_some() {
        "; neighbours of a ring share no domain, except where the rail changes"
    } else {
        ""
    };
    format!(
        "along the rails, so rank 1 is GPU 0 of the second server{within}; \
         --order hosts goes server after server"
    )
}

fn algorithm(plan: &Plan) -> String {
    let Some(run) = plan.jobs[0].sequence.first() else {
        return "none".to_owned();
    };
    let own = run.traffic.algorithm();
    let others: Vec<&str> = CollectiveKind::algorithms_of(run.traffic.name())
        .filter(|name| *name != own)
        .collect();
    if own == "nccl" {
        let by = match kernels(plan) {
            Some(_) => "the fastest of its kernels",
            None => "its tuning model",
        };
        return format!(
            "NCCL's choice by {by}, {}; --algorithm takes {}",
            choices(plan),
            others.join(", ")
        );
    }
    let where_nccl = match kernels(plan) {
        Some(_) => ", as NCCL's kernels carry it out",
        None if others.is_empty() => "",
        None => ", where NCCL chooses by size and topology",
    };
    let others = if others.is_empty() {
        "there is no other".to_owned()
    } else {
        format!("--algorithm takes {}", others.join(", "))
    };
    format!("{own} at every size{where_nccl}; {others}")
}
