//! Recorded calls, as a job's `workload`.

use tenter_language::config::{choice, component};

use super::operations::OperationTiming;
use super::traces::GatheredSize;
use crate::graph::Algorithms;

component! {
    /// Traces of Kineto, the profiler of `PyTorch`, a file for each rank: kernels that compute,
    /// collectives and messages between them.
    pub struct KinetoSpec as "`jobs[].workload` with `kind: kineto`", derive(Clone, Debug, PartialEq) {
        /// The beginning of the files' names, or a name in which `{rank}` stands for the number of
        /// the rank. A file of that very name is the trace of one rank.
        file: String, in 4_096;
        /// A JSON file of process groups, `{"NAME": [RANK, …]}`, for traces that do not have them.
        groups: Option<String> = "none", in 4_096;
        /// Which computing waits for communication: what began when no kernel had computed since
        /// the communication was over, or all that began later.
        waits: Waits = "exposed";
        /// Treatment of times in which neither kernels nor collectives run: kept, or left out.
        gaps: Gaps = "keep";
        ..calls: CallReading, "How it is read.";
    }
}

component! {
    /// Execution traces of `PyTorch` as its observer on the host writes them, a file for each rank:
    /// the collectives in their order, without times.
    pub struct PytorchEtSpec as "`jobs[].workload` with `kind: pytorch-et`", derive(Clone, Debug, PartialEq) {
        /// The beginning of the files' names, or a name in which `{rank}` stands for the number of
        /// the rank. A file of that very name is the trace of one rank.
        file: String, in 4_096;
        /// A JSON file of process groups, `{"NAME": [RANK, …]}`, for traces that do not have them.
        groups: Option<String> = "none", in 4_096;
        ..calls: CallReading, "How it is read.";
    }
}

component! {
    /// Dumps of the flight recorder of `PyTorch` as JSON, a file for each rank: the last
    /// collectives and messages of each.
    pub struct FlightRecorderSpec as "`jobs[].workload` with `kind: flight-recorder`", derive(Clone, Debug, PartialEq) {
        /// The beginning of the files' names, or a name in which `{rank}` stands for the number of
        /// the rank. A file of that very name is the dump of one rank.
        file: String, in 4_096;
        /// A JSON file of process groups, `{"NAME": [RANK, …]}`, for dumps that do not have them.
        groups: Option<String> = "none", in 4_096;
        /// Treatment of times between calls where durations were recorded: kept, or left out.
        gaps: Gaps = "keep";
        ..calls: CallReading, "How it is read.";
    }
}

component! {
    /// Logs of NCCL and RCCL with `NCCL_DEBUG=INFO` and `NCCL_DEBUG_SUBSYS=INIT,COLL`: the calls of
    /// each rank in their order, without times.
    pub struct NcclLogSpec as "`jobs[].workload` with `kind: nccl-log`", derive(Clone, Debug, PartialEq) {
        /// The file with the lines of all ranks, what the names of several begin with, or a name in
        /// which `{rank}` stands for the number of a file.
        file: String, in 4_096;
        ..calls: CallReading, "How it is read.";
    }
}

component! {
    /// A table of AICB: the collectives of a model for the ranks of each stage, with their groups.
    pub struct AicbSpec as "`jobs[].workload` with `kind: aicb`", derive(Clone, Debug, PartialEq) {
        /// The file (CSV); its path counts from the folder of the scenario.
        file: String, in 4_096;
        /// Ranks of a tensor-parallel group; `auto`: what the file says.
        tensor: Option<u32> = absent "`auto`", in 1..=1 << 20;
        /// Ranks of an expert-parallel group; `auto`: what the file says.
        expert: Option<u32> = absent "`auto`", in 1..=1 << 20;
        /// Stages of the pipeline; `auto`: what the file says.
        pipeline: Option<u32> = absent "`auto`", in 1..=1 << 20;
        /// The size of an all-gather in the file: what all ranks have together, or what one has.
        all_gather_size: GatheredSize = "total";
        ..calls: CallReading, "How it is read.";
    }
}

component! {
    /// How a recording of calls is read.
    pub struct CallReading as "`jobs[].workload` of a recording", derive(Clone, Debug, PartialEq) {
        /// Ranks of the job, which all do what the recording of a single rank says, or as many as
        /// there are recordings; `auto`: as many as the recordings say or are.
        ranks: Option<u32> = absent "`auto`", in 2..=1 << 20;
        /// Algorithms that carry out the collectives.
        algorithms: Algorithms = "{}";
        ..timing: OperationTiming, "What operations take.";
    }
}

/// Computing that waits for communication in a replayed recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    /// Computing that began when no kernel had computed since the communication ended.
    Exposed,
    /// All computing that began after the communication.
    Recorded,
}

choice!(Waits {
    "exposed" => Exposed,
    "recorded" => Recorded,
});

/// Treatment of recorded times in which nothing ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gaps {
    /// The rank waits equally long.
    Keep,
    /// Gaps are dropped and take no time.
    Drop,
}

choice!(Gaps {
    "keep" => Keep,
    "drop" => Drop,
});
