//! Descriptions of workload files by their defaults, which tests of all readers share.

use tenter_workload::graph::Algorithms;
use tenter_workload::spec::{AicbSpec, CallReading, FlowReading, GatheredSize, SimaiSpec};

pub(crate) fn calls() -> CallReading {
    CallReading {
        ranks: None,
        algorithms: Algorithms::default(),
        timing: FlowReading::default().timing(),
    }
}

/// A workload of AICB with one pipeline stage.
pub(crate) fn aicb_spec() -> AicbSpec {
    AicbSpec {
        file: String::new(),
        tensor: None,
        expert: None,
        pipeline: Some(1),
        all_gather_size: GatheredSize::Total,
        calls: calls(),
    }
}

pub(crate) fn simai_spec() -> SimaiSpec {
    SimaiSpec {
        file: String::new(),
        ranks: None,
        all_gather_size: GatheredSize::Total,
        algorithms: Algorithms::default(),
        timing: FlowReading::default().timing(),
    }
}
