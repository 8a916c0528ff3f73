//! Power that a trial's fabric draws, also with constants that differ from its power profile's.

use std::collections::BTreeMap;

use tenter_results::PowerRow;
use tenter_sim::plan::{Plan, PowerConstants, PoweredParts};

/// Recomputes a trial's power row with some `constants` replaced; the bits that the trial counted
/// stay. Returns `None` if the plan has no power profile.
pub(crate) fn with(
    constants: &BTreeMap<String, u64>,
    plan: &Plan,
    counted: &PowerRow,
) -> Option<PowerRow> {
    let own = plan.power.as_ref()?.constants;
    changed(constants, own, &PoweredParts::of(&plan.topology), counted)
}

/// Replaces `constants` in `own` and recomputes the row for the fabric's `parts`; `None` if a name
/// is no constant's.
fn changed(
    constants: &BTreeMap<String, u64>,
    mut own: PowerConstants,
    parts: &PoweredParts,
    counted: &PowerRow,
) -> Option<PowerRow> {
    for (name, value) in constants {
        *own.constant(name)? = *value;
    }
    let mut row = PowerRow {
        static_power: own.static_power(parts).watts(),
        dynamic_energy: own.dynamic_joules(counted.switched_bits, counted.cabled_bits),
        ..counted.clone()
    };
    // The power over throughput and the energy for each bit follow from the fields above.
    row.add_means();
    Some(row)
}

/// Checks that a power profile has constants with these names.
///
/// # Errors
/// Names the first one that it lacks.
pub(crate) fn check(constants: &BTreeMap<String, u64>) -> Result<(), String> {
    let mut any = PowerConstants::default();
    match constants.keys().find(|name| any.constant(name).is_none()) {
        Some(name) => Err(format!("a power profile has no constant `{name}`")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use tenter_language::units::Time;

    use super::*;

    /// A switch with two ports, two cables and 100 elements, which was idle for half of 1 us and
    /// delivered 100 Gb/s in the mean.
    fn read(constants: &[(&str, u64)]) -> Option<PowerRow> {
        let counted = PowerRow {
            switched_bits: 100_000,
            cabled_bits: 200_000,
            duration: Time::from_us(1),
            rx_payload_bytes: 12_500,
            ..PowerRow::default()
        };
        let own = PowerConstants {
            switch_base_mw: 64_000,
            switch_port_mw: 2_000,
            cable_end_mw: 3_500,
            optical_element_mw: 20,
            switch_bit_fj: 3_800,
            ..PowerConstants::default()
        };
        let parts = PoweredParts {
            switches: 1,
            ports: 2,
            cable_ends: 4,
            optical_elements: 100,
        };
        let constants = constants
            .iter()
            .map(|&(name, value)| (name.to_owned(), value));
        changed(&constants.collect(), own, &parts, &counted)
    }

    #[test]
    fn constants_change_what_is_read_and_not_what_was_counted() {
        let close = |found: Option<f64>, expected: f64| {
            let found = found.expect("it is read");
            assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
        };
        let with = |constants: &[(&str, u64)]| read(constants).expect("the profile has them");
        // 64 + 4 + 14 + 2 W; 0.38 W.
        close(with(&[]).static_per_gbps, 0.84);
        close(with(&[]).dynamic_per_gbps, 0.0038);
        close(with(&[]).picojoules_per_bit, 843.8);
        close(with(&[("switch_base_mw", 0)]).static_per_gbps, 0.2);
        let dear = [("cable_end_mw", 7_000), ("optical_element_mw", 0)];
        close(with(&dear).static_per_gbps, 0.96);
        close(with(&[("cable_bit_fj", 1_000)]).dynamic_per_gbps, 0.0058);
        assert_eq!(read(&[("fan_mw", 1)]), None);
    }
}
