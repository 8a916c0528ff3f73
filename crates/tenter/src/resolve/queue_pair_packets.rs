//! A collective's packet count on one queue pair, which its sequence numbers must tell apart.

use std::collections::BTreeMap;

use tenter_endpoint::MessageCut;
use tenter_workload::collective::CollectiveKind;
use tenter_workload::graph::Graph;
use tenter_workload::pattern::PatternSchedule;
use tenter_workload::{Job, QueuePairScope, Schedule, Traffic, WorkloadError, split};

/// Limit on one collective's packets on a queue pair. Sequence numbers have 32 bits and are
/// compared over half their range, so two collectives in a row stay within it even if the first is
/// not acknowledged yet.
pub(crate) const PACKETS_END: u64 = 1 << 30;

/// A queue pair with too many packets; ranks `src` to `dst`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Crowd {
    pub(crate) src: u32,
    pub(crate) dst: u32,
    pub(crate) packets: u64,
}

/// Returns the first queue pair on which traffic over `ranks` ranks puts [`PACKETS_END`] packets or
/// more, as if none were acknowledged before the last is posted.
///
/// # Errors
/// Errors of [`Traffic::schedule`].
pub(crate) fn crowd(
    kind: &Traffic,
    size_bytes: u64,
    ranks: u32,
    job: &Job,
    cut: MessageCut,
) -> Result<Option<Crowd>, WorkloadError> {
    let packets = |bytes| cut.packets(split::share(bytes, job.queue_pairs, 0));
    if let Some(operations) = kind.operations() {
        return Ok(of_operations(
            &operations.graph,
            job.queue_pair_scope,
            packets,
        ));
    }
    // First an upper bound without the schedule. Between two ranks go at most the doubled buffer,
    // as often as it is on the wire, and a byte per rank. They go in at most two transfers per
    // rank, one per chunk of a given length and one per phase of a step; tests hold the collectives
    // to that. Each transfer has at most two packets that are not full.
    let times = kind.collective().map_or(1, CollectiveKind::wire_times);
    let most = split::share(
        size_bytes
            .saturating_mul(2 * times)
            .saturating_add(u64::from(ranks)),
        job.queue_pairs,
        0,
    );
    let chunk_bytes = kind.collective().and_then(CollectiveKind::chunk_bytes);
    let chunks = chunk_bytes.map_or(0, |bytes| size_bytes / bytes.max(1));
    let phases = kind.pattern().map_or(0, PatternSchedule::phases) as u64;
    let more = kind.collective().map_or(0, CollectiveKind::more_of_a_way);
    let transfers = 2 * u64::from(ranks) + chunks + phases + more;
    // An algorithm from a file may repeat sends without limit.
    let from_file = matches!(kind.collective(), Some(CollectiveKind::FromFile(_)));
    if !from_file
        && cut
            .packets(most)
            .saturating_add(transfers.saturating_mul(2))
            < PACKETS_END
    {
        return Ok(None);
    }
    let schedule = kind.schedule(ranks, size_bytes)?;
    let scope = job.queue_pair_scope;
    let crowds = (0..ranks).flat_map(|src| ways(&*schedule, src, scope, packets));
    Ok(crowds
        .into_iter()
        .find(|crowd| crowd.packets >= PACKETS_END))
}

/// Finds such a queue pair in a graph. The run decides the order of messages, but not their sum.
fn of_operations(
    graph: &Graph,
    scope: QueuePairScope,
    packets: impl Fn(u64) -> u64,
) -> Option<Crowd> {
    let mut sums: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    for (src, dst, bytes) in graph.sends() {
        let sum = sums.entry((src, dst)).or_default();
        *sum = match scope {
            QueuePairScope::RankPair => sum.saturating_add(packets(bytes)),
            QueuePairScope::Chunk => packets(bytes).max(*sum),
        };
    }
    let crowd = |((src, dst), packets)| Crowd { src, dst, packets };
    let mut crowds = sums.into_iter().map(crowd);
    crowds.find(|crowd| crowd.packets >= PACKETS_END)
}

/// Counts the packets on the first queue pair from `src` to each peer.
fn ways(
    schedule: &dyn Schedule,
    src: u32,
    scope: QueuePairScope,
    packets: impl Fn(u64) -> u64,
) -> Vec<Crowd> {
    let mut ways = Vec::new();
    schedule.pairs(src, scope, &mut ways);
    let crowd = |way: tenter_workload::Destination| {
        let ids = (0..).map_while(|nth| schedule.nth(src, way, scope, nth));
        Crowd {
            src,
            dst: way.dst,
            packets: ids.map(|id| packets(schedule.transfer(id).bytes)).sum(),
        }
    };
    ways.into_iter().map(crowd).collect()
}
