//! `observe.capture`: the ports whose frames are captured.

use tenter_fabric::topology::Topology;

use crate::resolve::named_ports::{self, Nodes};
use crate::resolve::observe::Observe;
use tenter_language::notation::decode::Read;
use tenter_language::notation::diagnostics::{Path, Problems};
use tenter_sim::plan::CapturePlan;

/// Returns the captured ports in ascending order without repetition; `None` inside if there are
/// none.
pub(crate) fn bind(
    observe: &Observe,
    topology: &Topology,
    problems: &Problems,
) -> Read<Option<CapturePlan>> {
    let path = Path::new(problems, "observe.capture");
    let ports = named_ports::bind(&observe.capture, &path, topology, Nodes::All)?;
    Some((!ports.is_empty()).then_some(CapturePlan {
        ports,
        limit: observe.capture_limit,
        // A longer limit would cut no frame either.
        snap_bytes: u32::try_from(observe.capture_bytes.count()).unwrap_or(u32::MAX),
        from: observe.capture_from,
        to: observe.capture_to,
    }))
}
