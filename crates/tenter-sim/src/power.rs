//! What the fabric drew in a run: the constants of a power profile times what there is and what was
//! counted.

use tenter_record::{PortRow, PowerRow};
use tenter_scenario::{PowerProfile, PoweredParts};

use crate::counters;
use crate::driver::Driver;
use crate::run::Outcome;

/// What the fabric drew in a trial that ended at `ended` ps.
///
/// Every bit that a port has sent has passed one cable, and if the port is that of a switch, one
/// switch as well. A fabric with optical circuit switches has as many fibres whatever they join.
pub(crate) fn of_run<D: Driver>(
    profile: &PowerProfile,
    driver: &D,
    outcome: &Outcome,
    ended: u64,
) -> PowerRow {
    let context = driver.fabric(0).context();
    let topology = context.topology();
    let power = profile.static_power(&PoweredParts::of(topology));
    let sent = |row: &PortRow| {
        8 * (row.tx_data_wire_bytes + row.tx_control_wire_bytes + row.tx_pause_wire_bytes)
    };
    let ports = outcome.counts.ports.iter();
    let (switched, cabled) = ports.fold((0, 0), |(switched, cabled), row| {
        let is_switched = u64::from(!topology.is_host(row.node));
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
        dynamic_energy: profile.dynamic_joules(switched, cabled),
        rx_payload_bytes: rows.map(|row| row.rx_payload_bytes).sum(),
        ..PowerRow::default()
    };
    add_means(&mut row);
    row
}

/// Adds what is over the duration, and over what was received.
fn add_means(row: &mut PowerRow) {
    if row.duration.is_zero() {
        return;
    }
    let dynamic = row.dynamic_energy / row.duration.as_s();
    let throughput = 8.0 * row.rx_payload_bytes as f64 / row.duration.as_ns();
    row.dynamic_power = Some(dynamic);
    row.throughput_gbps = Some(throughput);
    if throughput > 0.0 {
        row.static_per_gbps = Some(row.static_power / throughput);
        row.dynamic_per_gbps = Some(dynamic / throughput);
        // A watt for a gigabit per second is a nanojoule for a bit.
        row.picojoules_per_bit = Some(1e3 * (row.static_power + dynamic) / throughput);
    }
}
