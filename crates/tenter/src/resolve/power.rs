//! `fabric.power`: power constants for switches, cables and optical elements. They change no
//! result.

use tenter_fabric::topology::Topology;
use tenter_language::config::{Component, Reader, WordOr, Words as _, choice, component};
use tenter_language::notation::decode::Section;
use tenter_language::notation::{diagnostics::Problems, yaml};
use tenter_language::units::Rate;
use tenter_sim::plan::{PowerConstants, PowerProfile};

component! {
    /// The constants of a profile, some of them changed.
    pub struct OwnPower as "`fabric.power`", derive(Clone, Debug, PartialEq) {
        fill constants_of_the_profile;
        /// The profile with the constants that this mapping leaves out.
        profile: ProfileName;
        ..constants: PowerConstants, "What parts draw.";
    }
}

/// Power profiles that have a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProfileName {
    /// InfiniBand EDR at 100 Gb/s.
    Edr100g,
}

choice!(ProfileName { "edr-100g" => Edr100g });

/// Source of power constants: a profile, or a profile with some of them replaced.
pub type Power = WordOr<ProfileName, OwnPower>;

fn constants_of_the_profile(reader: &mut dyn Reader) {
    // The profile must be known before the keys that it fills in are read.
    let said = reader.peek_word("profile");
    if let Some(name) = said.and_then(|word| ProfileName::of_word(&word)) {
        for (key, value) in Component::written(&name.constants()) {
            reader.fill(key, value);
        }
    }
}

impl ProfileName {
    /// Returns the link rate that the profile's switches and cables are for.
    const fn rate(self) -> Rate {
        match self {
            ProfileName::Edr100g => Rate::from_gbps(100),
        }
    }

    fn text(self) -> &'static str {
        match self {
            ProfileName::Edr100g => include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/profiles/power/edr-100g.yaml"
            )),
        }
    }

    fn constants(self) -> PowerConstants {
        let problems = Problems::default();
        let root = yaml::parse(self.text(), 0, 0, &problems).expect("profiles are valid YAML");
        let mut section = Section::root(root, &PowerConstants::TABLE, &problems);
        <PowerConstants as Component>::read(&mut section).expect("profiles have all constants")
    }
}

/// Returns the constants, with the profile's name or a note that they differ from it.
pub(crate) fn profile(power: &Power) -> PowerProfile {
    let (profile, constants) = match power {
        WordOr::Word(profile) => (*profile, profile.constants()),
        WordOr::Mapping(own) => (own.profile, own.constants),
    };
    let name = profile.word();
    let name = if constants == profile.constants() {
        name.to_owned()
    } else {
        format!("{name} with other constants")
    };
    PowerProfile { name, constants }
}

/// Returns the power unchanged, after a warning about links faster than the profile's parts.
/// Changed constants draw no warning: their author has looked at the parts.
pub(crate) fn checked(
    power: Option<PowerProfile>,
    topology: &Topology,
    warnings: &Problems,
) -> Option<PowerProfile> {
    let known = power.as_ref();
    if let Some(profile) = known.and_then(|power| ProfileName::of_word(&power.name)) {
        warn_of_rates(profile, topology, warnings);
    }
    power
}

fn warn_of_rates(profile: ProfileName, topology: &Topology, warnings: &Problems) {
    let rates = topology.cables.iter().map(|cable| cable.rate);
    let Some(other) = rates.filter(|rate| *rate > profile.rate()).max() else {
        return;
    };
    let message = format!(
        "`fabric.power: {}` has constants of parts for {}, and there are links of {other}: switches and cables of that rate draw more",
        profile.word(),
        profile.rate()
    );
    let help = "give the constants of your parts, as `fabric.power: {profile: edr-100g, switch_base_mw: …, switch_port_mw: …, cable_end_mw: …}`";
    warnings.note("fabric.power", message, help);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::{Format, load};
    use tenter_sim::plan::Plan;
    use tenter_sim::plan::{PoweredParts, StaticPower};

    #[test]
    fn every_profile_is_whole_and_every_constant_has_an_origin() {
        for &name in ProfileName::ALL {
            let (text, name) = (name.text(), profile(&WordOr::Word(name)).name);
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
        profile
            .constants
            .static_power(&PoweredParts::of(&plan.topology))
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
    fn constants_of_another_rate_are_noted() {
        let warned = |fabric: &str| {
            let text = format!(
                "fabric: {{kind: single-switch, hosts: 4, {fabric}}}\n\
                 jobs: [{{collectives: [{{collective: all-to-all, size: 1MiB}}]}}]\n"
            );
            let loaded = load(&text, "x.yaml", Format::Yaml, &[], None);
            let loaded = loaded.unwrap_or_else(|errors| panic!("{errors}"));
            loaded.warnings.render()
        };
        let faster = warned("rate: 400Gbps, power: edr-100g");
        assert!(
            faster.contains("parts for 100Gbps, and there are links of 400Gbps"),
            "{faster}"
        );
        assert_eq!(warned("rate: 100Gbps, power: edr-100g"), "");
        let own = "power: {profile: edr-100g, switch_port_mw: 9000, cable_end_mw: 7000}";
        assert_eq!(warned(&format!("rate: 400Gbps, {own}")), "");
    }

    #[test]
    fn a_profile_may_be_named_in_quotes() {
        let text = |name: &str| {
            format!(
                "fabric: {{kind: single-switch, hosts: 4, power: {{profile: {name}}}}}\n\
                 jobs: [{{collectives: [{{collective: all-to-all, size: 1MiB}}]}}]\n"
            )
        };
        let plain = plan(&text("edr-100g"), &[]);
        assert_eq!(plan(&text("\"edr-100g\""), &[]).power, plain.power);
    }

    #[test]
    fn constants_are_set_one_by_one() {
        let text = "fabric: {kind: single-switch, hosts: 3, power: {profile: edr-100g, \
                    switch_base_mw: 1000, cable_bit_fj: 7}}\n\
                    jobs: [{collectives: [{collective: all-to-all, size: 1MiB}]}]\n";
        let plan = plan(text, &[]);
        let power = plan.power.as_ref().expect("it is named");
        assert_eq!(power.name, "edr-100g with other constants");
        let constants = power.constants;
        assert_eq!(
            (constants.switch_base_mw, constants.cable_bit_fj),
            (1_000, 7)
        );
        assert_eq!(constants.switch_port_mw, 2_000);
        // A switch of 1 W, three ports of 2 W, and three cables with two ends of 3.5 W.
        assert_eq!(drawn(&plan).watts().to_bits(), 28.0_f64.to_bits());
        // 2 bits through a switch at 3,800 fJ, and 5 through cables at 7.
        let energy = constants.dynamic_joules(2, 5);
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
        let watts = ProfileName::Edr100g
            .constants()
            .static_power(&parts)
            .watts();
        assert_eq!(watts.to_bits(), 1.52_f64.to_bits());
    }

    #[test]
    fn each_constant_has_the_name_of_its_key() {
        for key in PowerConstants::KEYS {
            let mut constants = PowerConstants::default();
            let constant = constants.constant(key.name);
            *constant.expect("it is one of the constants") += 1;
            assert_ne!(constants, PowerConstants::default(), "{}", key.name);
        }
        assert_eq!(PowerConstants::default().constant("profile"), None);
    }
}
