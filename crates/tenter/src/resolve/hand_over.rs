//! Collectives that distinguish hosts, against the fabric's scale-up domains.

use tenter_fabric::topology::HostId;
use tenter_workload::collective::CollectiveKind;

use crate::resolve::buffer::Around;

/// Warns of PXN or NCCL collectives whose hosts are no scale-up domains: data within such hosts
/// passes the network.
pub(crate) fn check(around: &Around<'_>) {
    for (index, job) in around.jobs.iter().enumerate() {
        let collectives = job
            .sequence
            .iter()
            .filter_map(|run| run.traffic.collective());
        let hosts_of = |kind: &CollectiveKind| Some((kind.hands_over()?, kind.algorithm()));
        let mut sizes = collectives.filter_map(hosts_of);
        let apart = |npus: u32| {
            let joined = |a: HostId, b: HostId| around.endpoint.host.joins(a, b);
            // The algorithm takes consecutive ranks for the NPUs of one host.
            let mut hosts = job.hosts.chunks(npus as usize);
            !hosts.all(|npus| npus.iter().all(|&npu| joined(npu, npus[0])))
        };
        if let Some((npus, algorithm)) = sizes.find(|&(npus, _)| npus > 1 && apart(npus)) {
            let message = format!(
                "`jobs[{index}]` sends within hosts of {npus} ranks (`algorithm: {algorithm}`), which are not in one scale-up domain: that passes the network"
            );
            let help = format!(
                "set `endpoint.host.scale_up` to `{{npus_per_host: {npus}}}`, and let the ranks of a host be on NICs of a domain"
            );
            around.warnings.push(None, message, Some(help));
        }
    }
}
