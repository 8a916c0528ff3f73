//! Binding a background job's streams to hosts.

use std::collections::BTreeMap;

use tenter_fabric::topology::HostId;
use tenter_workload::spec::{FlowSpec, HostList};
use tenter_workload::{CollectiveRun, Compute, Flow, Job, Traffic};

use crate::resolve::hosts::HostNames;

/// A job's stream limit, above that of any traffic generator.
const FLOWS_MAX: usize = 65_536;

/// Binds the streams in the job at `path` to hosts, which become its ranks in the order of their
/// names. The job's only run is endless, in messages of `message_bytes`.
pub(super) fn bind(
    specs: &[FlowSpec],
    names: &HostNames<'_>,
    path: &str,
    message_bytes: u64,
    job: &mut Job,
) -> Option<()> {
    let mut ranks: BTreeMap<HostId, u32> = BTreeMap::new();
    let mut flows = Vec::new();
    for (index, spec) in specs.iter().enumerate() {
        let path = format!("{path}.flows[{index}]");
        let from = expand(&spec.from, &format!("{path}.from"), names)?;
        let to = expand(&spec.to, &format!("{path}.to"), names)?;
        let before = flows.len();
        for (&src, &dst) in from
            .iter()
            .flat_map(|src| to.iter().map(move |dst| (src, dst)))
        {
            // `from` and `to` may list the same hosts; an entry without any other pair is refused
            // below.
            if src == dst {
                continue;
            }
            let [src_rank, dst_rank] = [src, dst].map(|host| rank_of(host, &mut ranks, job));
            flows.push(Flow {
                src: src_rank,
                dst: dst_rank,
                // A stream without a rate fills its sender's line.
                rate: spec.rate.unwrap_or_else(|| names.rate(src)),
            });
            if flows.len() > FLOWS_MAX {
                let message = format!("the job has more than {FLOWS_MAX} flows");
                names.note(&path, message, "name fewer hosts");
                return None;
            }
        }
        if flows.len() == before {
            let message = "a flow goes from a host to itself, and no frame would be sent";
            names.note(&path, message, "name another host");
            return None;
        }
    }
    job.sequence.push(CollectiveRun {
        traffic: Traffic::Flows(flows),
        size_bytes: message_bytes,
        drawn_from_bytes: None,
        compute: Compute::default(),
    });
    Some(())
}

/// Returns a host's rank, and adds the host to the job if it has none.
pub(super) fn rank_of(host: HostId, ranks: &mut BTreeMap<HostId, u32>, job: &mut Job) -> u32 {
    *ranks.entry(host).or_insert_with(|| {
        job.hosts.push(host);
        job.hosts.len() as u32 - 1
    })
}

/// Returns a list's hosts in the order in which they are written.
pub(super) fn expand(hosts: &HostList, path: &str, names: &HostNames<'_>) -> Option<Vec<HostId>> {
    let mut found = Vec::new();
    for (index, host) in hosts.0.iter().enumerate() {
        let at = names.place(&format!("{path}[{index}]"));
        names.expand(host, at, &mut found, "")?;
    }
    Some(found)
}
