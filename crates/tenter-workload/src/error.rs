//! Why a collective cannot be run as it was asked for.

use tenter_units::OverBudget;

/// The most queue pairs that the jobs of a scenario may have. Each takes about 300 bytes once it is
/// used, so these take 40 GB.
pub const QUEUE_PAIRS_MAX: u64 = 1 << 27;

/// Why a collective cannot be run as it was asked for.
///
/// Each message names the collective, the value at fault and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorkloadError {
    /// Fewer than two ranks.
    #[error("{collective}: {ranks} rank(s) have nobody to send to; bind at least 2 ranks")]
    TooFewRanks {
        /// The collective and its algorithm.
        collective: String,
        /// How many ranks there are.
        ranks: u32,
    },
    /// A size of zero.
    #[error("{collective}: a size of 0 bytes moves nothing; give a size of at least 1 byte")]
    ZeroSize {
        /// The collective and its algorithm.
        collective: String,
    },
    /// More transfers than ids.
    #[error(
        "{collective}: {ranks} ranks make more than 4,294,967,295 transfers, which is what one \
         collective may have; use at most {ranks_max} ranks, or several jobs"
    )]
    TooManyTransfers {
        /// The collective and its algorithm.
        collective: String,
        /// How many ranks there are.
        ranks: u32,
        /// How many this algorithm can have.
        ranks_max: u32,
    },
    /// More transfers than ids can number, at packet level.
    #[error(
        "{collective}: {ranks} ranks make {transfers} transfers, more than the 4,294,967,295 that \
         can be simulated one by one; use fewer ranks, or set `engine.fidelity: flow`"
    )]
    TooManyAtOnce {
        /// The collective and its algorithm.
        collective: String,
        /// How many ranks there are.
        ranks: u32,
        /// How many transfers they make.
        transfers: u64,
    },
    /// Rings whose transfers cannot be numbered and that are not run as a whole.
    #[error(
        "{collective}: {ranks} ranks make more transfers than can be simulated one by one, and they \
         cannot be run as a whole; use fewer ranks, or leave out what keeps rings from that: other \
         collectives in the trial, other jobs on the same links, sprayed links that they share, \
         faults, circuits, scale-up domains that they cross, a start skew, several queue pairs, a \
         library's latencies, sizes drawn at random or that are no multiple of the ranks, or an \
         `engine.ring_transfers` above its default"
    )]
    SharedRings {
        /// The collective and its algorithm.
        collective: String,
        /// How many ranks there are.
        ranks: u32,
    },
    /// More chunks than there may be, or than can be told apart in all their transfers.
    #[error(
        "{collective}: chunks of {chunk_bytes} bytes are too many for a buffer of {size_bytes} \
         bytes; cut it into chunks of at least {least} bytes"
    )]
    TooManyChunks {
        /// The collective and its algorithm.
        collective: String,
        /// The length of a chunk asked for, in bytes.
        chunk_bytes: u64,
        /// The length of the buffer, or of what is cut of it, in bytes.
        size_bytes: u64,
        /// The least length of a chunk that works, in bytes.
        least: u64,
    },
    /// A root that is none of the ranks.
    #[error(
        "{collective}: root {root} is not one of the {ranks} ranks; \
         give a root from 0 to {}", .ranks - 1
    )]
    RootOutOfRange {
        /// The collective and its algorithm.
        collective: String,
        /// The root asked for.
        root: u32,
        /// How many ranks there are; at least 2.
        ranks: u32,
    },
    /// An algorithm that needs a power of two.
    #[error(
        "{collective}: {ranks} ranks are not the corners of a hypercube; \
         use a power of two such as {} or {}, or all-gather", power_below(*.ranks),
         2 * power_below(*.ranks)
    )]
    NotPowerOfTwo {
        /// The collective and its algorithm.
        collective: String,
        /// How many ranks there are; at least 2.
        ranks: u32,
    },
    /// Steps of a rank that there is not.
    #[error(
        "steps (listed): a step is of rank {rank}, and the job has {ranks} ranks; give the job more \
         ranks, or name others"
    )]
    StepOfNoRank {
        /// The highest rank of a step.
        rank: u32,
        /// How many ranks there are.
        ranks: u32,
    },
    /// An algorithm of a file that is for another number of ranks.
    #[error(
        "{collective}: the algorithm is for {found} ranks, and {ranks} are to run it; give the job \
         {found} ranks (`ranks: {found}`), or name another file"
    )]
    ProgramRanks {
        /// The collective and its algorithm.
        collective: String,
        /// How many ranks there are.
        ranks: u32,
        /// How many the algorithm has.
        found: u32,
    },
    /// A size for which none of several files is meant.
    #[error(
        "{collective}: no file is meant for a size of {size_bytes} bytes; they are meant for \
         {known} bytes: give another size, or one `file`, which runs at all sizes"
    )]
    NoProgramForSize {
        /// The collective and its algorithm.
        collective: String,
        /// The size asked for, in bytes.
        size_bytes: u64,
        /// The sizes of all files.
        known: String,
    },
    /// An algorithm of a file that would send too often.
    #[error(
        "{collective}: a size of {size_bytes} bytes makes more than 4,194,304 transfers of the \
         algorithm; give a longer `slice`, or a smaller size"
    )]
    TooManySlices {
        /// The collective and its algorithm.
        collective: String,
        /// The size, in bytes.
        size_bytes: u64,
    },
    /// An algorithm by hosts, and nothing that says what a host is.
    #[error(
        "{collective}: nothing says how many NPUs share a host; give `endpoint.host.scale_up`, for \
         example `{{npus_per_host: 8}}`, or `npus_per_host` beside the algorithm"
    )]
    HostsUnknown {
        /// The collective and its algorithm.
        collective: String,
    },
    /// Ranks that do not fill hosts.
    #[error(
        "{collective}: {ranks} ranks do not fill two or more hosts with {npus_per_host} NPUs \
         each; give another `npus_per_host`, or as many ranks as fill the hosts"
    )]
    HostsNotFull {
        /// The collective and its algorithm.
        collective: String,
        /// How many ranks there are.
        ranks: u32,
        /// NPUs of each host.
        npus_per_host: u32,
    },
    /// NCCL has no way with the algorithm and the protocol that were asked for.
    #[error(
        "{collective}: NCCL has no such algorithm with such a protocol among {ranks} ranks (trees \
         are for all-reduce; NVLS is for Simple on one node of Hopper or Blackwell, its tree for \
         several); leave out `only_algorithm` or `only_protocol`"
    )]
    NoNcclAlgorithm {
        /// The collective and its algorithm.
        collective: String,
        /// How many ranks there are.
        ranks: u32,
    },
    /// Groups of ranks that are not all full.
    #[error(
        "{collective}: {ranks} ranks do not fill groups of {size} that are {stride} apart; \
         give a `size` and a `stride` whose product divides the number of ranks"
    )]
    GroupsNotFull {
        /// The collective and its algorithm.
        collective: String,
        /// How many ranks there are.
        ranks: u32,
        /// Ranks of each group.
        size: u32,
        /// From a rank of a group to the next.
        stride: u32,
    },
    /// A name that is no collective.
    #[error("there is no collective `{given}`{}; known are {known}", hint(*.suggestion))]
    UnknownCollective {
        /// The name as given.
        given: String,
        /// The known name nearest to it, if one is near.
        suggestion: Option<&'static str>,
        /// All known names.
        known: String,
    },
    /// A name that is no algorithm of a known collective.
    #[error("{collective} has no algorithm `{given}`{}; known are {known}", hint(*.suggestion))]
    UnknownAlgorithm {
        /// The collective.
        collective: &'static str,
        /// The name as given.
        given: String,
        /// The known name nearest to it, if one is near.
        suggestion: Option<&'static str>,
        /// All algorithms of this collective.
        known: String,
    },
    /// A graph of operations that cannot be carried out.
    #[error("{0}")]
    Operations(String),
    /// No queue pairs at all.
    #[error("0 queue pairs per rank pair can carry nothing; give at least 1")]
    ZeroQueuePairs,
    /// More queue pairs than any machine holds.
    #[error(
        "the jobs need more than {QUEUE_PAIRS_MAX} queue pairs, and no more fit; use fewer ranks per job, \
         fewer queue pairs per rank pair, or an algorithm with fewer peers"
    )]
    TooManyQueuePairs,
    /// Their tables would take more than there is.
    #[error(transparent)]
    OverBudget(#[from] OverBudget),
    /// Schedules of one job that do not agree on its ranks.
    #[error(
        "a schedule of {found} ranks cannot run in a job of {ranks}; build all of them for {ranks}"
    )]
    RanksDisagree {
        /// Ranks of the job.
        ranks: u32,
        /// Ranks of the schedule.
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
