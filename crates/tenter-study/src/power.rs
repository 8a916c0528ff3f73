//! What is read of what a fabric drew, also with other constants than those of its power profile.

use std::collections::BTreeMap;

use tenter_plan::{Plan, PowerConstants, PoweredParts};
use tenter_record::PowerRow;

use crate::reading::Reading;

/// What the power of a trial follows from, beside what was counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Basis {
    constants: PowerConstants,
    parts: PoweredParts,
}

impl Basis {
    /// That of a plan with a power profile.
    pub(crate) fn of(plan: &Plan) -> Option<Basis> {
        Some(Basis {
            constants: plan.power.as_ref()?.constants,
            parts: PoweredParts::of(&plan.topology),
        })
    }

    /// What was counted, with the power that follows from other constants.
    fn with(&self, constants: &BTreeMap<String, u64>, counted: &PowerRow) -> Option<PowerRow> {
        let mut own = self.constants;
        for (name, value) in constants {
            *own.constant(name)? = *value;
        }
        let mut row = PowerRow {
            static_power: own.static_power(&self.parts).watts(),
            dynamic_energy: own.dynamic_joules(counted.switched_bits, counted.cabled_bits),
            ..counted.clone()
        };
        row.add_means();
        Some(row)
    }
}

/// Whether a power profile has all of these constants; else the first that it has not.
pub(crate) fn check(constants: &BTreeMap<String, u64>) -> Result<(), String> {
    let mut any = PowerConstants::default();
    match constants.keys().find(|name| any.constant(name).is_none()) {
        Some(name) => Err(format!("a power profile has no constant `{name}`")),
        None => Ok(()),
    }
}

/// What one of these readings says of a trial with other constants, by what its power follows from
/// and what was counted; nothing of one without a power profile, or in which nothing was received.
pub(crate) fn read(
    reading: Reading,
    constants: &BTreeMap<String, u64>,
    basis: Option<&Basis>,
    counted: Option<&PowerRow>,
) -> Option<f64> {
    let row = basis?.with(constants, counted?)?;
    match reading {
        Reading::StaticWPerGbps => row.static_per_gbps,
        Reading::DynamicWPerGbps => row.dynamic_per_gbps,
        Reading::PjPerBit => row.picojoules_per_bit,
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use tenter_units::Time;

    use super::*;
    use crate::trial::Trial;

    fn read_of(reading: Reading, constants: &BTreeMap<String, u64>, trial: &Trial) -> Option<f64> {
        read(
            reading,
            constants,
            trial.power.as_ref(),
            trial.summary.power.as_ref(),
        )
    }

    /// A switch with two ports, two cables and 100 elements, which was idle for half of 1 us and
    /// delivered 100 Gb/s in the mean.
    fn trial() -> Trial {
        let mut trial = Trial::default();
        trial.summary.power = Some(PowerRow {
            switched_bits: 100_000,
            cabled_bits: 200_000,
            duration: Time::from_us(1),
            rx_payload_bytes: 12_500,
            ..PowerRow::default()
        });
        trial.power = Some(Basis {
            constants: PowerConstants {
                switch_base_mw: 64_000,
                switch_port_mw: 2_000,
                cable_end_mw: 3_500,
                optical_element_mw: 20,
                switch_bit_fj: 3_800,
                ..PowerConstants::default()
            },
            parts: PoweredParts {
                switches: 1,
                ports: 2,
                cable_ends: 4,
                optical_elements: 100,
            },
        });
        trial
    }

    fn close(found: Option<f64>, expected: f64) {
        let found = found.expect("it is read");
        assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
    }

    #[test]
    fn constants_change_what_is_read_and_not_what_was_counted() {
        let trial = trial();
        let with = |reading, constants: &[(&str, u64)]| {
            let constants = constants
                .iter()
                .map(|&(name, value)| (name.to_owned(), value));
            read_of(reading, &constants.collect(), &trial)
        };
        // 64 + 4 + 14 + 2 W; 0.38 W.
        close(with(Reading::StaticWPerGbps, &[]), 0.84);
        close(with(Reading::DynamicWPerGbps, &[]), 0.0038);
        close(with(Reading::PjPerBit, &[]), 843.8);
        close(with(Reading::StaticWPerGbps, &[("switch_base_mw", 0)]), 0.2);
        let dear = [("cable_end_mw", 7_000), ("optical_element_mw", 0)];
        close(with(Reading::StaticWPerGbps, &dear), 0.96);
        close(
            with(Reading::DynamicWPerGbps, &[("cable_bit_fj", 1_000)]),
            0.0058,
        );
        assert_eq!(with(Reading::PjPerBit, &[("fan_mw", 1)]), None);
    }

    #[test]
    fn nothing_is_read_without_power_or_where_nothing_was_received() {
        let mut trial = trial();
        let of = |trial: &Trial| read_of(Reading::PjPerBit, &BTreeMap::new(), trial);
        assert_eq!(of(&Trial::default()), None);
        trial
            .summary
            .power
            .as_mut()
            .expect("it has one")
            .rx_payload_bytes = 0;
        assert_eq!(of(&trial), None);
    }
}
