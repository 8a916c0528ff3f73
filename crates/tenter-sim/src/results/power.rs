//! Power that the fabric drew in a run: the constants of a power profile times the parts that exist
//! and the bits that were counted.

use crate::plan::{PowerProfile, PoweredParts};
use tenter_fabric::topology::NodeId;
use tenter_language::units::Instant;
use tenter_results::{PortRow, PowerRow};

use crate::network::Driver;

use super::counters;
use super::outcome::Outcome;

/// Returns the power drawn in a trial that ended at `ended`.
///
/// Every bit that a port has sent has passed one cable, and one switch if the port is a switch's. A
/// fabric with optical circuit switches has the same number of fibres whatever they join.
pub(crate) fn of_run<D: Driver>(
    profile: &PowerProfile,
    driver: &D,
    outcome: &Outcome,
    ended: Instant,
) -> PowerRow {
    let context = driver.context();
    let topology = context.topology();
    let power = profile.constants.static_power(&PoweredParts::of(topology));
    let sent = |row: &PortRow| {
        8 * (row.tx_data_wire_bytes + row.tx_control_wire_bytes + row.tx_pause_wire_bytes)
    };
    let ports = outcome.counts.ports.iter();
    let (switched, cabled) = ports.fold((0, 0), |(switched, cabled), row| {
        // A bit counts for the switch that sends it, so one that is dropped inside does not count.
        let is_switched = u64::from(!topology.is_host(NodeId::new(row.node)));
        (switched + is_switched * sent(row), cabled + sent(row))
    });
    let judged = outcome.summary.jobs.iter();
    let judged = judged.filter(|job| !job.job.background);
    let rows = judged.flat_map(|job| &job.collectives);
    let mut row = PowerRow {
        profile: profile.name.clone(),
        static_power: power.watts(),
        switches: power.switches,
        switch_ports: power.ports,
        cable_ends: power.cable_ends,
        optical_switches: power.optical_switches,
        duration: counters::active_span(context, ended),
        switched_bits: switched,
        cabled_bits: cabled,
        dynamic_energy: profile.constants.dynamic_joules(switched, cabled),
        rx_payload_bytes: rows.map(|row| row.rx_payload_bytes).sum(),
        ..PowerRow::default()
    };
    row.add_means();
    row
}
