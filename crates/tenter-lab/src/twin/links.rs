//! Loads on the links between switches, measured and simulated.

use tenter_fabric::topology::{NodeId, Topology};
use tenter_results::PortRow;

/// A link from one switch to another.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkRow {
    /// Switch, port and peer: `leaf0:4 → spine0`.
    pub name: String,
    /// Measured bytes, and their percentage among the bytes that the switch sent to other switches.
    pub measured: (u64, f64),
    /// Bytes and percentage in the simulation.
    pub simulated: (u64, f64),
}

/// Returns the links between switches whose bytes were measured.
pub(super) fn links(
    topology: &Topology,
    measured: &[PortRow],
    simulated: &[PortRow],
) -> Vec<LinkRow> {
    let is_uplink = |row: &PortRow| {
        let node = NodeId::new(row.node);
        !topology.is_host(node) && !topology.is_host(topology.neighbour(node, row.port).node)
    };
    let share = |rows: &[PortRow], of: &PortRow| {
        let same = rows
            .iter()
            .filter(|row| row.node == of.node && is_uplink(row));
        let whole: u64 = same.map(|row| row.tx_bytes).sum();
        let found = rows
            .iter()
            .find(|row| (row.node, row.port) == (of.node, of.port));
        let bytes = found.map_or(0, |row| row.tx_bytes);
        (bytes, 100.0 * bytes as f64 / whole.max(1) as f64)
    };
    let rows = measured
        .iter()
        // A port that was not read has 0 here, which is no load.
        .filter(|row| is_uplink(row) && !row.unread.lacks("tx_bytes"))
        .map(|row| LinkRow {
            name: format!("{}:{} → {}", row.node_name, row.port, row.peer_name),
            measured: share(measured, row),
            simulated: share(simulated, row),
        });
    rows.collect()
}
