//! Flow lists with start times, as a job's `workload`.

use tenter_language::config::{choice, component, default_of};
use tenter_language::units::{Bytes, Time};

use super::operations::{ComputeScale, OperationTiming};

component! {
    /// A table of flows: who sends how many bytes to whom, and when or after which others.
    pub struct FlowTableSpec as "`jobs[].workload` with `kind: flow-table`", derive(Clone, Debug, PartialEq, Eq) {
        /// The file, as CSV with a header or as Parquet; its path counts from the folder of the
        /// scenario.
        file: String, in 4_096;
        ..reading: FlowReading, "How it is read.";
    }
}

component! {
    /// A connection matrix of htsim.
    pub struct HtsimSpec as "`jobs[].workload` with `kind: htsim`", derive(Clone, Debug, PartialEq, Eq) {
        /// The file (`.cm`); its path counts from the folder of the scenario.
        file: String, in 4_096;
        /// The unit of starts: `ps` in csg-htsim, `us` in uet-htsim; `auto`: the one in which they
        /// suit the sizes of the flows, and refused where both do.
        start_unit: StartUnit = "auto";
        ..reading: FlowReading, "How it is read.";
    }
}

component! {
    /// A list of flows of ns-3 HPCC and SimAI.
    pub struct Ns3Spec as "`jobs[].workload` with `kind: ns3`", derive(Clone, Debug, PartialEq, Eq) {
        /// The file (`flow.txt`); its path counts from the folder of the scenario.
        file: String, in 4_096;
        ..reading: FlowReading, "How it is read.";
    }
}

component! {
    /// How a list of flows is read.
    pub struct FlowReading as "`jobs[].workload` of a list of flows", derive(Clone, Copy, Debug, PartialEq, Eq) {
        /// The time 0 of the job: that of the file, or the start of the first flow.
        origin: Origin = "file";
        /// Ranks of the job; `auto`: as many as the file says or names.
        ranks: Option<u32> = absent "`auto`", in 2..=1 << 20;
    }
}

impl Default for FlowReading {
    fn default() -> FlowReading {
        default_of()
    }
}

impl FlowReading {
    /// Returns the timing for flow lists: sends are done once acknowledged, and hosts add no
    /// overhead.
    pub fn timing(self) -> OperationTiming {
        OperationTiming {
            overhead: Time::ZERO,
            // With 0 every send waits for its acknowledgement, as a flow does.
            eager: Bytes::new(0),
            rendezvous: false,
            compute_scale: ComputeScale(1_000_000),
        }
    }
}

/// Time unit in which a file states starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartUnit {
    /// Guess: the unit in which starts suit the flows' sizes.
    Auto,
    /// Picoseconds, as csg-htsim writes them.
    Picoseconds,
    /// Microseconds, as uet-htsim writes them.
    Microseconds,
}

choice!(StartUnit {
    "auto" => Auto,
    "ps" => Picoseconds,
    "us" => Microseconds,
});

/// Instant from which starts count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Time 0 as the file has it.
    File,
    /// Start of the file's first flow.
    FirstFlow,
}

choice!(Origin {
    "file" => File,
    "first-flow" => FirstFlow,
});
