//! Power profiles: what switches, cables and optical elements draw. They change no result.

use crate::decode::{Read, Section};
use crate::keys::Presence::Default;
use crate::keys::{Key, key};
use crate::tree::Value;
use crate::{diagnostics::Problems, yaml};

pub(crate) const KEY: Key = key(
    "power",
    "`none` or `edr-100g`",
    Default("none"),
    "What `tenter explain` counts watts by; changes no result",
);

/// The texts of the profiles by their names.
const PROFILES: [(&str, &str); 1] = [(
    "edr-100g",
    include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../profiles/power/edr-100g.yaml"
    )),
)];

/// What the parts of a fabric draw; the origins are in the profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PowerProfile {
    /// Its name.
    pub name: &'static str,
    /// An electrical switch without its ports, in milliwatts.
    pub switch_base_mw: u64,
    /// Each of its ports that has a cable, in milliwatts.
    pub switch_port_mw: u64,
    /// A bit that passes a switch, in femtojoules.
    pub switch_bit_fj: u64,
    /// Each end of a cable, its transceiver or what an active cable has there, in milliwatts.
    pub cable_end_mw: u64,
    /// A bit that passes a cable, both ends together, in femtojoules.
    pub cable_bit_fj: u64,
    /// A 2×2 element of an optical switch that is held, in milliwatts.
    pub optical_element_mw: u64,
}

impl PowerProfile {
    /// An optical switch of so many ports as a Beneš network of 2×2 elements, in milliwatts: r/2 of
    /// them in each of 2·log₂r − 1 stages, r the next power of two.
    pub fn optical_switch_mw(&self, ports: u32) -> u64 {
        let radix = ports.max(2).next_power_of_two();
        let stages = u64::from(2 * radix.ilog2() - 1);
        u64::from(radix / 2) * stages * self.optical_element_mw
    }
}

/// Reads the key.
pub(crate) fn read(section: &mut Section<'_>) -> Read<Option<PowerProfile>> {
    let choices = PROFILES.map(|(name, _)| (name, name));
    let field = section.take("power")?;
    field.or_none(|field| field.choice(&choices).map(profile))
}

fn profile(name: &str) -> PowerProfile {
    let found = PROFILES.iter().find(|(known, _)| *known == name);
    let (name, text) = found.expect("the name was chosen from the list");
    let problems = Problems::default();
    let root = yaml::parse(text, 0, 0, &problems).expect("profiles are valid YAML");
    let Value::Map(entries) = root.value else {
        unreachable!("profiles are mappings");
    };
    let number = |key: &str| {
        let entry = entries.iter().find(|entry| entry.key == key);
        let value = entry.map(|entry| &entry.node.value);
        let Some(Value::Scalar { text, .. }) = value else {
            unreachable!("profiles have a `{key}`");
        };
        text.parse().expect("which is a whole number")
    };
    PowerProfile {
        name,
        switch_base_mw: number("switch_base_mw"),
        switch_port_mw: number("switch_port_mw"),
        switch_bit_fj: number("switch_bit_fj"),
        cable_end_mw: number("cable_end_mw"),
        cable_bit_fj: number("cable_bit_fj"),
        optical_element_mw: number("optical_element_mw"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_is_whole_and_every_constant_has_an_origin() {
        for (name, text) in PROFILES {
            assert_eq!(profile(name).name, name);
            let mut explained = false;
            for line in text.lines() {
                if line.starts_with('#') {
                    explained = true;
                } else if line.is_empty() {
                    explained = false;
                } else {
                    assert!(explained, "{name}: {line}");
                }
            }
        }
    }

    #[test]
    fn an_optical_switch_by_hand() {
        // Of 16 ports: seven stages of eight elements at 20 mW; of 8 ports five of four.
        let profile = profile("edr-100g");
        assert_eq!(profile.optical_switch_mw(16), 56 * 20);
        assert_eq!(profile.optical_switch_mw(8), 20 * 20);
        assert_eq!(profile.optical_switch_mw(5), 20 * 20);
    }
}
