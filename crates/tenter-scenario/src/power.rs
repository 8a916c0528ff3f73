//! Power profiles: what switches, cables and optical elements draw. They change no result.

use tenter_plan::PowerProfile;

use tenter_config::Presence::{Default, Depends, Required};
use tenter_config::{Key, KeyTable, key};
use tenter_notation::decode::{Read, Section};
use tenter_notation::tree::{Entry, Node, Value};
use tenter_notation::{decode, diagnostics::Problems, yaml};

pub(crate) const KEY: Key = key(
    "power",
    "`none`, `edr-100g` or mapping",
    Default("none"),
    "What the fabric's power is counted by, in `tenter explain` and for a run: a profile, or a mapping that begins with one and changes some of its constants; changes no result",
);

const POWER: KeyTable = KeyTable {
    title: "`fabric.power`",
    keys: &[
        key(
            "profile",
            "`edr-100g`",
            Required,
            "The profile that has the constants that are left out here",
        ),
        key(
            "switch_base_mw",
            "whole number",
            Depends("that of the profile"),
            "An electrical switch without its ports, in milliwatts; one without any cable is not there",
        ),
        key(
            "switch_port_mw",
            "whole number",
            Depends("that of the profile"),
            "Each of its ports that has a cable, in milliwatts",
        ),
        key(
            "switch_bit_fj",
            "whole number",
            Depends("that of the profile"),
            "A bit that passes a switch, in femtojoules",
        ),
        key(
            "cable_end_mw",
            "whole number",
            Depends("that of the profile"),
            "Each end of a cable, its transceiver or what an active cable has there, in milliwatts",
        ),
        key(
            "cable_bit_fj",
            "whole number",
            Depends("that of the profile"),
            "A bit that passes a cable, both ends together, in femtojoules",
        ),
        key(
            "optical_element_mw",
            "whole number",
            Depends("that of the profile"),
            "A 2×2 element of an optical switch that is held, in milliwatts",
        ),
    ],
};

/// The tables of this section for the reference.
pub(crate) const TABLES: [&KeyTable; 1] = [&POWER];

/// A megawatt for a switch, or a microjoule for a bit, is a slip of the unit.
const CONSTANT_MAX: u64 = 1_000_000_000;

/// The texts of the profiles by their names.
const PROFILES: [(&str, &str); 1] = [(
    "edr-100g",
    include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/profiles/power/edr-100g.yaml"
    )),
)];

/// Reads the key.
pub(crate) fn read(fabric: &mut Section<'_>) -> Read<Option<PowerProfile>> {
    let field = fabric.take("power")?;
    let names = PROFILES.map(|(name, _)| (name, name));
    if !matches!(field.node.value, Value::Map(_)) {
        return field.or_none(|field| field.choice(&names).map(profile));
    }
    let mut section = field.section(&POWER);
    let profile = section.choice("profile", &names);
    if let Some(name) = profile {
        section.fill(&entries(name));
    }
    let read = constants(&mut section);
    fabric.put("power", section.finish());
    let own = profile.map(self::profile)?;
    let mut read = read?;
    read.name = if read
        == (PowerProfile {
            name: String::new(),
            ..own.clone()
        }) {
        own.name
    } else {
        format!("{} with other constants", own.name)
    };
    Some(Some(read))
}

/// The constants of a section, without a name.
fn constants(section: &mut Section<'_>) -> Read<PowerProfile> {
    let mut profile = PowerProfile::default();
    let mut is_whole = true;
    for key in POWER.keys {
        let Some(constant) = profile.constant(key.name) else {
            continue;
        };
        match section.integer(key.name, 0..=CONSTANT_MAX) {
            Some(value) => *constant = value,
            None => is_whole = false,
        }
    }
    is_whole.then_some(profile)
}

/// The constants of a profile as if they had been written.
fn entries(name: &str) -> Vec<Entry> {
    let found = PROFILES.iter().find(|(known, _)| *known == name);
    let (_, text) = found.expect("the name was chosen from the list");
    let root = yaml::parse(text, 0, 0, &Problems::default()).expect("profiles are valid YAML");
    match decode::unplaced(root).value {
        Value::Map(entries) => entries,
        _ => unreachable!("profiles are mappings"),
    }
}

fn profile(name: &str) -> PowerProfile {
    let problems = Problems::default();
    let node = Node::unplaced(Value::Map(entries(name)));
    let mut section = Section::root(node, &POWER, &problems);
    let read = constants(&mut section).expect("profiles have all constants");
    PowerProfile {
        name: name.to_owned(),
        ..read
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, load};
    use tenter_plan::Plan;
    use tenter_plan::{PoweredParts, StaticPower};

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

    fn plan(text: &str, set: &[&str]) -> Plan {
        let set: Vec<String> = set.iter().map(|&set| set.to_owned()).collect();
        let loaded = load(text, "x.yaml", Format::Yaml, &set, None);
        loaded.unwrap_or_else(|errors| panic!("{errors}")).plan
    }

    fn drawn(plan: &Plan) -> StaticPower {
        let profile = plan.power.as_ref().expect("it is named");
        profile.static_power(&PoweredParts::of(&plan.topology))
    }

    #[test]
    fn a_tapered_tree_draws_less() {
        let text = "fabric: {kind: fat-tree, leaves_per_pod: 2, aggs_per_pod: 2, \
                    hosts_per_leaf: 2, core: {pods: 4, cores_per_agg: 2}, power: edr-100g}\n\
                    jobs: [{collectives: [{collective: all-to-all, size: 1MiB}]}]\n";
        let whole = drawn(&plan(text, &[]));
        let tapered = drawn(&plan(text, &["fabric.core.cores_per_agg=1"]));
        // Of four cores two are left out, at 64 W each; of 16 cables to them eight, with two ports
        // of 2 W and two ends of 3.5 W each.
        let less = |of: fn(&StaticPower) -> f64| of(&whole) - of(&tapered);
        let saved = [
            less(|of| of.switches),
            less(|of| of.ports),
            less(|of| of.cable_ends),
        ];
        assert_eq!(
            saved.map(f64::to_bits),
            [128.0, 32.0, 56.0].map(f64::to_bits)
        );
    }

    #[test]
    fn constants_are_set_one_by_one() {
        let text = "fabric: {kind: single-switch, hosts: 3, power: {profile: edr-100g, \
                    switch_base_mw: 1000, cable_bit_fj: 7}}\n\
                    jobs: [{collectives: [{collective: all-to-all, size: 1MiB}]}]\n";
        let plan = plan(text, &[]);
        let power = plan.power.as_ref().expect("it is named");
        assert_eq!(power.name, "edr-100g with other constants");
        assert_eq!((power.switch_base_mw, power.cable_bit_fj), (1_000, 7));
        assert_eq!(power.switch_port_mw, 2_000);
        // A switch of 1 W, three ports of 2 W, and three cables with two ends of 3.5 W.
        assert_eq!(drawn(&plan).watts().to_bits(), 28.0_f64.to_bits());
        // 2 bits through a switch at 3,800 fJ, and 5 through cables at 7.
        let energy = power.dynamic_joules(2, 5);
        assert!((energy * 1e15 - 7_635.0).abs() < 1e-9, "{energy}");
    }

    #[test]
    fn wrong_constants_are_refused_with_their_place() {
        for (power, expected) in [
            ("edr-200g", "`fabric.power` cannot be `edr-200g`"),
            ("{switch_base_mw: 1}", "`fabric.power` lacks `profile`"),
            (
                "{profile: edr-100g, switch_base_w: 1}",
                "unknown key `switch_base_w` in `fabric.power`",
            ),
            (
                "{profile: edr-100g, switch_bit_fj: 1.5}",
                "`fabric.power.switch_bit_fj` must be a whole number",
            ),
        ] {
            let text = format!(
                "fabric: {{kind: single-switch, hosts: 3, power: {power}}}\n\
                 jobs: [{{collectives: [{{collective: all-to-all, size: 1MiB}}]}}]\n"
            );
            let refused = load(&text, "x.yaml", Format::Yaml, &[], None);
            let refused = refused.expect_err("it is wrong").to_string();
            assert!(refused.contains(expected), "{power}: {refused}");
        }
    }

    #[test]
    fn two_by_two_elements_draw_power_while_they_are_held() {
        let parts = PoweredParts {
            optical_elements: 76,
            ..PoweredParts::default()
        };
        let watts = profile("edr-100g").static_power(&parts).watts();
        assert_eq!(watts.to_bits(), 1.52_f64.to_bits());
    }

    #[test]
    fn each_constant_has_the_name_of_its_key() {
        for key in POWER.keys.iter().filter(|key| key.name != "profile") {
            let mut profile = profile("edr-100g");
            let before = profile.clone();
            let constant = profile.constant(key.name);
            *constant.expect("it is one of the constants") += 1;
            assert_ne!(profile, before, "{}", key.name);
        }
        assert_eq!(profile("edr-100g").constant("profile"), None);
    }
}
