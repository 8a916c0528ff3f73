//! Workload errors: reasons why a collective, a graph or a job's queue pairs cannot be run.

use tenter_language::units::OverBudget;

/// Upper limit for the queue pairs of all jobs in a scenario. A queue pair takes about 300 bytes
/// once it is used, so this many take 40 GB.
pub const QUEUE_PAIRS_MAX: u64 = 1 << 27;

/// The reason why a workload cannot be run as requested.
///
/// Each message names the collective, the offending value and a remedy. Where a variant has a
/// `collective`, it is [`CollectiveMember`](crate::collective::CollectiveMember) in words, such as
/// `all-reduce (ring)`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorkloadError {
    /// The collective has fewer than two ranks.
    #[error("{collective}: {ranks} rank(s) have nobody to send to; bind at least 2 ranks")]
    TooFewRanks {
        /// Collective and algorithm in words.
        collective: String,
        /// Ranks that were to take part.
        ranks: u32,
    },
    /// The size is 0 bytes, so there is nothing to send.
    #[error("{collective}: a size of 0 bytes moves nothing; give a size of at least 1 byte")]
    ZeroSize {
        /// Collective and algorithm in words.
        collective: String,
    },
    /// The algorithm would make more transfers than 32-bit ids can number.
    #[error(
        "{collective}: {ranks} ranks make more than 4,294,967,295 transfers, which is what one \
         collective may have; use at most {ranks_max} ranks, or several jobs"
    )]
    TooManyTransfers {
        /// Collective and algorithm in words.
        collective: String,
        /// Ranks that were to take part.
        ranks: u32,
        /// Most ranks that the algorithm can number.
        ranks_max: u32,
    },
    /// There are more transfers than ids, and the trial is at packet level, which needs an id for
    /// each.
    #[error(
        "{collective}: {ranks} ranks make {transfers} transfers, more than the 4,294,967,295 that \
         can be simulated one by one; use fewer ranks, or set `engine.fidelity: flow`"
    )]
    TooManyAtOnce {
        /// Collective and algorithm in words.
        collective: String,
        /// Ranks that were to take part.
        ranks: u32,
        /// Transfers that they would make.
        transfers: u64,
    },
    /// The rings have more transfers than ids, and the flow level cannot run them as a unit.
    #[error(
        "{collective}: {ranks} ranks make more transfers than can be simulated one by one, and they \
         cannot be run as a whole; use fewer ranks, or leave out what keeps rings from that: other \
         collectives in the trial, sprayed links that they share, \
         faults, circuits, scale-up domains that they cross, a start skew, several queue pairs, a \
         library's latencies, sizes drawn at random or that are no multiple of the ranks, or an \
         `engine.ring_transfers` above its default"
    )]
    SharedRings {
        /// Collective and algorithm in words.
        collective: String,
        /// Ranks that were to take part.
        ranks: u32,
    },
    /// There are more chunks than permitted, or more chunk transfers than ids.
    #[error(
        "{collective}: chunks of {chunk_bytes} bytes are too many for a buffer of {size_bytes} \
         bytes; cut it into chunks of at least {least} bytes"
    )]
    TooManyChunks {
        /// Collective and algorithm in words.
        collective: String,
        /// Requested chunk length in bytes.
        chunk_bytes: u64,
        /// Length in bytes: the whole buffer's, or that of the part which is cut.
        size_bytes: u64,
        /// Least chunk length that works, in bytes.
        least: u64,
    },
    /// The root is not among the ranks.
    #[error(
        "{collective}: root {root} is not one of the {ranks} ranks; \
         give a root from 0 to {}", .ranks - 1
    )]
    RootOutOfRange {
        /// Collective and algorithm in words.
        collective: String,
        /// Root that the keys request.
        root: u32,
        /// Ranks that take part, at least 2.
        ranks: u32,
    },
    /// The algorithm needs a power of two, and the rank count is none.
    #[error(
        "{collective}: {ranks} ranks are not the corners of a hypercube; \
         use a power of two such as {} or {}, or all-gather", power_below(*.ranks),
         2 * power_below(*.ranks)
    )]
    NotPowerOfTwo {
        /// Collective and algorithm in words.
        collective: String,
        /// Ranks that were to take part, at least 2.
        ranks: u32,
    },
    /// A step in a list names a rank that the job does not have.
    #[error(
        "steps (listed): a step is of rank {rank}, and the job has {ranks} ranks; give the job more \
         ranks, or name others"
    )]
    StepOfNoRank {
        /// Highest rank that a step names.
        rank: u32,
        /// Ranks that the job has.
        ranks: u32,
    },
    /// An algorithm from a file is written for another rank count.
    #[error(
        "{collective}: the algorithm is for {found} ranks, and {ranks} are to run it; give the job \
         {found} ranks (`ranks: {found}`), or name another file"
    )]
    ProgramRanks {
        /// Collective and algorithm in words.
        collective: String,
        /// Ranks that were to run it.
        ranks: u32,
        /// Ranks for which the file is written.
        found: u32,
    },
    /// Several files are given by size, and none covers this size.
    #[error(
        "{collective}: no file is meant for a size of {size_bytes} bytes; they are meant for \
         {known} bytes: give another size, or one `file`, which runs at all sizes"
    )]
    NoProgramForSize {
        /// Collective and algorithm in words.
        collective: String,
        /// Requested size of the collective, in bytes.
        size_bytes: u64,
        /// All files' size ranges in words.
        known: String,
    },
    /// An algorithm from a file would make too many transfers at this size.
    #[error(
        "{collective}: a size of {size_bytes} bytes makes more than 4,194,304 transfers of the \
         algorithm; give a longer `slice`, or a smaller size"
    )]
    TooManySlices {
        /// Collective and algorithm in words.
        collective: String,
        /// Requested size of the collective, in bytes.
        size_bytes: u64,
    },
    /// The algorithm distinguishes hosts, and nothing says how many NPUs a host has.
    #[error(
        "{collective}: nothing says how many NPUs share a host; give `endpoint.host.scale_up`, for \
         example `{{npus_per_host: 8}}`, or `npus_per_host` beside the algorithm"
    )]
    HostsUnknown {
        /// Collective and algorithm in words.
        collective: String,
    },
    /// The ranks do not fill two or more hosts.
    #[error(
        "{collective}: {ranks} ranks do not fill two or more hosts with {npus_per_host} NPUs \
         each; give another `npus_per_host`, or as many ranks as fill the hosts"
    )]
    HostsNotFull {
        /// Collective and algorithm in words.
        collective: String,
        /// Ranks that were to take part.
        ranks: u32,
        /// NPUs that each host has.
        npus_per_host: u32,
    },
    /// The ranks are on several hosts, and the kernel works within one scale-up domain.
    #[error(
        "{collective}: {ranks} ranks are more than the {npus_per_host} NPUs of a scale-up domain; \
         give `algorithm: normal` or `low-latency`, or fewer ranks"
    )]
    SeveralDomains {
        /// Collective and algorithm in words.
        collective: String,
        /// Ranks that were to take part.
        ranks: u32,
        /// NPUs that the scale-up domain has.
        npus_per_host: u32,
    },
    /// Some ranks would have no expert.
    #[error(
        "{collective}: {experts} experts are fewer than the {ranks} ranks; give `experts` of at \
         least {ranks}, or fewer ranks"
    )]
    FewExperts {
        /// Collective and algorithm in words.
        collective: String,
        /// Experts that there are.
        experts: u32,
        /// Ranks that were to take part.
        ranks: u32,
    },
    /// NCCL has no algorithm that combines the requested algorithm and protocol on these servers.
    #[error(
        "{collective}: NCCL has no such algorithm with such a protocol among {ranks} ranks (trees \
         are for all-reduce; NVLS is for Simple on one node of Hopper or Blackwell, its tree for \
         several); leave out `only_algorithm` or `only_protocol`"
    )]
    NoNcclAlgorithm {
        /// Collective and algorithm in words.
        collective: String,
        /// Ranks that were to take part.
        ranks: u32,
    },
    /// The ranks do not fill groups of the given size and stride.
    #[error(
        "{collective}: {ranks} ranks do not fill groups of {size} that are {stride} apart; \
         give a `size` and a `stride` whose product divides the number of ranks"
    )]
    GroupsNotFull {
        /// Collective and algorithm in words.
        collective: String,
        /// Ranks that the job has.
        ranks: u32,
        /// Ranks that each group has.
        size: u32,
        /// Distance from one rank in a group to the next.
        stride: u32,
    },
    /// No collective has this name.
    #[error("there is no collective `{given}`{}; known are {known}", hint(*.suggestion))]
    UnknownCollective {
        /// The name as it was written.
        given: String,
        /// Known name closest to `given`, if one is close.
        suggestion: Option<&'static str>,
        /// All known names, separated by commas.
        known: String,
    },
    /// The collective has no algorithm with this name.
    #[error("{collective} has no algorithm `{given}`{}; known are {known}", hint(*.suggestion))]
    UnknownAlgorithm {
        /// The collective's name, as `all-reduce`.
        collective: &'static str,
        /// The name as it was written.
        given: String,
        /// Known name closest to `given`, if one is close.
        suggestion: Option<&'static str>,
        /// All algorithms for this collective, separated by commas.
        known: String,
    },
    /// An operation graph cannot be carried out; the text says why.
    #[error("{0}")]
    Operations(String),
    /// The job has 0 queue pairs per rank pair.
    #[error("0 queue pairs per rank pair can carry nothing; give at least 1")]
    ZeroQueuePairs,
    /// The jobs need more than [`QUEUE_PAIRS_MAX`] queue pairs.
    #[error(
        "the jobs need more than {QUEUE_PAIRS_MAX} queue pairs, and no more fit; use fewer ranks per job, \
         fewer queue pairs per rank pair, or an algorithm with fewer peers"
    )]
    TooManyQueuePairs,
    /// The queue-pair tables would exceed the memory budget.
    #[error(transparent)]
    OverBudget(#[from] OverBudget),
    /// The job's schedules disagree on the rank count.
    #[error(
        "a schedule of {found} ranks cannot run in a job of {ranks}; build all of them for {ranks}"
    )]
    RanksDisagree {
        /// Ranks that the job has.
        ranks: u32,
        /// Ranks in the schedule that disagrees.
        found: u32,
    },
}

fn power_below(ranks: u32) -> u64 {
    1 << ranks.ilog2()
}

fn hint(suggestion: Option<&'static str>) -> String {
    suggestion
        .map(|name| format!(" (did you mean `{name}`?)"))
        .unwrap_or_default()
}
