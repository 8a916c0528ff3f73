//! `observe.queue_changes`: the ports whose queues are recorded change by change.

use tenter_fabric::topology::Topology;

use crate::resolve::named_ports::{self, Nodes};
use crate::resolve::observe::Observe;
use crate::resolve::switching::Switching;
use tenter_language::notation::decode::Read;
use tenter_language::notation::diagnostics::{Path, Problems};
use tenter_sim::plan::QueueChanges;

/// Returns the recorded ports in ascending order without repetition; `None` inside if there are
/// none.
pub(crate) fn bind(
    observe: &Observe,
    topology: &Topology,
    switching: &Switching,
    problems: &Problems,
) -> Read<Option<QueueChanges>> {
    let path = Path::new(problems, "observe.queue_changes");
    if switching.scheduled().is_some() && !observe.queue_changes.is_empty() {
        let what =
            "has no place in a scheduled fabric, whose packets wait in virtual output queues";
        let help = "leave it out; `samples.parquet` has what waits";
        path.item(0).problem(what, help);
        return None;
    }
    let ports = named_ports::bind(&observe.queue_changes, &path, topology, Nodes::Switches)?;
    Some((!ports.is_empty()).then_some(QueueChanges {
        ports,
        limit: observe.queue_changes_limit,
        from: observe.queue_changes_from,
        to: observe.queue_changes_to,
    }))
}
