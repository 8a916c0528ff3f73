//! The table with recorded queue changes, and a warning about what is missing.

use tenter_results::NoteCode;

use crate::network::{Driver, PortChanges, Watcher};

use super::outcome::Outcome;

/// Collects the changes that all partitions have recorded, port by port, and warns of omitted ones.
pub(crate) fn collect<D: Driver>(driver: &D, outcome: &mut Outcome) {
    let parts = (0..driver.parts()).map(|part| driver.fabric(part).watcher());
    // Each partition has entries for all ports, but only those of its own nodes have rows.
    let mut ports: Vec<PortChanges<'_>> = parts.flat_map(Watcher::queue_changes).collect();
    ports.retain(|port| !port.rows.is_empty());
    ports.sort_by_key(|port| port.place);
    let topology = driver.context().topology();
    for PortChanges {
        place,
        rows,
        omitted,
    } in ports
    {
        outcome.counts.queue_changes.extend_from_slice(rows);
        if let (Some(last), 1..) = (rows.last(), omitted) {
            let name = topology.port_name(place.node, place.port);
            outcome.summary.notes.add(NoteCode::RecordCut, format!(
                "the queues of {name} are recorded up to {} only, and {omitted} changes were left out: give a larger `observe.queue_changes_limit`",
                last.time,
            ));
        }
    }
}
