//! Collectives that hand data over within hosts, against the hosts that there are.

use tenter_workload::collective::CollectiveKind;

use crate::buffer::Around;

/// Warns of hosts of a PXN all-to-all that are not those of a domain: what is handed over within
/// them passes the network.
pub(crate) fn check(around: &Around<'_>) {
    for (index, job) in around.jobs.iter().enumerate() {
        let collectives = job
            .sequence
            .iter()
            .filter_map(|run| run.traffic.collective());
        let mut sizes = collectives.filter_map(CollectiveKind::hands_over);
        let apart = |npus: u32| {
            let joined = |a: u32, b: u32| around.endpoint.host.joins(a, b);
            let mut hosts = job.hosts.chunks(npus as usize);
            !hosts.all(|npus| npus.iter().all(|&npu| joined(npu, npus[0])))
        };
        if let Some(npus) = sizes.find(|&npus| npus > 1 && apart(npus)) {
            let message = format!(
                "`jobs[{index}]` hands over within hosts of {npus} ranks (`algorithm: pxn`), which are not in one scale-up domain: that passes the network"
            );
            let help = format!(
                "set `endpoint.host.scale_up` to `{{npus_per_host: {npus}}}`, and let the ranks of a host be on NICs of a domain"
            );
            around.warnings.push(None, message, Some(help));
        }
    }
}
