//! Framework traces, as a job's `workload`.

use tenter_language::config::{choice, component, default_of};

use super::operations::OperationTiming;
use crate::graph::Algorithms;

component! {
    /// Execution traces of Chakra, a file for each rank: what each rank computes, sends and
    /// receives, and the collectives that it takes part in.
    pub struct ChakraSpec as "`jobs[].workload` with `kind: chakra`", derive(Clone, Debug, PartialEq) {
        /// The beginning of the files' names: `NAME` stands for `NAME.0.et`, `NAME.1.et` and so on.
        /// A file of that very name is the trace of one rank.
        file: String, in 4_096;
        /// A JSON file of communicators, `{"NAME": [RANK, …]}`, for traces that do not have them;
        /// `none`: `NAME.groups.json` or `NAME.json` where there is such a file.
        groups: Option<String> = "none", in 4_096;
        ..reading: TraceReading, "How it is read.";
    }
}

component! {
    /// How a trace is read.
    pub struct TraceReading as "`jobs[].workload` of a trace", derive(Clone, Debug, PartialEq) {
        /// Operations' reasons to wait: their data, also what has called them (control), or also
        /// the operation before them on their recorded stream.
        dependencies: Dependencies = "data";
        /// Ranks that all do what the trace of a single rank says; peers of messages cannot be
        /// repeated.
        ranks: Option<u32> = "none", in 2..=1 << 20;
        /// Billions of operations in a second, for computing of which the trace has the number of
        /// operations and no time.
        peak_gflops: Option<u32> = "none", in 1..=u32::MAX;
        /// Algorithms that carry out the collectives.
        algorithms: Algorithms = "{}";
        ..timing: OperationTiming, "What operations take.";
    }
}

impl Default for TraceReading {
    fn default() -> TraceReading {
        default_of()
    }
}

/// Edges between a trace's operations that a run respects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dependencies {
    /// Data dependencies and no others.
    Data,
    /// Data dependencies, and those on the caller (control).
    DataAndControl,
    /// Data dependencies, and the order on each recorded stream.
    StreamOrder,
}

choice!(Dependencies {
    "data" => Data,
    "data-and-control" => DataAndControl,
    "stream-order" => StreamOrder,
});

component! {
    /// A workload of `SimAI`, AICB and ASTRA-sim 1: the layers of a model with their computing and
    /// collectives, which all ranks run.
    pub struct SimaiSpec as "`jobs[].workload` with `kind: simai`", derive(Clone, Debug, PartialEq) {
        /// The file; its path counts from the folder of the scenario.
        file: String, in 4_096;
        /// Ranks of the job; `auto`: what the file says (`all_gpus`), or as many as its groups
        /// need.
        ranks: Option<u32> = absent "`auto`", in 2..=1 << 20;
        /// The size of an all-gather in the file: what all ranks have together, or what one has.
        all_gather_size: GatheredSize = "total";
        /// Algorithms that carry out the collectives.
        algorithms: Algorithms = "{}";
        ..timing: OperationTiming, "What operations take.";
    }
}

/// Meaning of an all-gather's size in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GatheredSize {
    /// Bytes that all ranks have together.
    Total,
    /// Bytes that one rank contributes.
    Input,
}

choice!(GatheredSize {
    "total" => Total,
    "input" => Input,
});
