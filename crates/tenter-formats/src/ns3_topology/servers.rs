//! Servers of `SimAI`: GPUs on `NVSwitches` as a scale-up domain.

use std::collections::BTreeMap;

use tenter_language::units::{Rate, Time};

use crate::fabric::Server;

/// A link from a GPU to an `NVSwitch`.
pub(super) struct NvLink {
    pub(super) gpu: u32,
    pub(super) nv_switch: u32,
    pub(super) rate: Rate,
    pub(super) delay: Time,
}

/// Largest scale-up domain of a scenario, in NPUs, and its shortest latency.
const DOMAIN_MAX: u32 = 1_024;
const LATENCY_MIN: Time = Time::from_ns(50);

/// Returns the scale-up domain for servers with `of_server` GPUs, each a block of consecutive
/// numbers.
pub(super) fn server(of_server: u32, links: &[NvLink], notes: &mut Vec<String>) -> Option<Server> {
    if links.is_empty() || of_server < 2 {
        return None;
    }
    let mut home: BTreeMap<u32, u32> = BTreeMap::new();
    let mut rates: BTreeMap<u32, u64> = BTreeMap::new();
    let mut stray = 0_u64;
    for link in links {
        let server = link.gpu / of_server;
        // The first link of an NVSwitch tells its server; others must agree.
        stray += u64::from(*home.entry(link.nv_switch).or_insert(server) != server);
        let rate = rates.entry(link.gpu).or_default();
        *rate = rate.saturating_add(link.rate.bits_per_second());
    }
    if stray > 0 || of_server > DOMAIN_MAX {
        notes.push(format!(
            "NVSwitches are left out, since those of a scale-up domain join at most {DOMAIN_MAX} \
             GPUs with consecutive numbers: {stray} NVLink(s) lead to those of another server"
        ));
        return None;
    }
    let slowest = rates.values().min().copied()?;
    if rates.values().any(|rate| *rate != slowest) {
        let rate = Rate::from_bits_per_second(slowest);
        notes.push(format!("all GPUs have the NVLinks of the slowest, {rate}"));
    }
    let hop = links.iter().map(|link| link.delay).max()?;
    // From GPU to GPU a path has two links over the NVSwitch.
    let mut latency = Time::from_ps(hop.ps().saturating_mul(2));
    if latency < LATENCY_MIN {
        notes.push(format!(
            "the two NVLinks between GPUs take {latency}, and a scale-up domain at least {LATENCY_MIN}"
        ));
        latency = LATENCY_MIN;
    }
    Some(Server {
        npus_per_nic: 1,
        npus_per_host: of_server,
        rate: Some(Rate::from_bits_per_second(slowest)),
        latency: Some(latency),
    })
}
