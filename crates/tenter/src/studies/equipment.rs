//! Check that a study inherits its source's equipment: a study adds topology, workload and what its
//! test varies, nothing else.

use std::collections::BTreeMap;

use crate::resolve::{Format, WrittenPaths, written_paths};
use tenter_language::units::Budget;

/// Scenario sections that belong to the equipment: switches, NICs, hosts and testers. A study that
/// names an equipment file must not set keys in these sections, except those in `varies`.
const CONSTANTS: [&str; 5] = [
    "fabric.switch",
    "fabric.switching",
    "fabric.flow_control",
    "fabric.load_balancing",
    "endpoint",
];

/// Checks a study's scenario against the equipment file that it names, if it names one. `varies`
/// maps each key that the test varies to the reason; `file` returns the text of a file by its path.
///
/// # Errors
/// Fails if a file is missing or is no equipment, if the scenario sets a constant that `varies`
/// does not have, or if `varies` has a key that the scenario does not set.
pub(crate) fn check_scenario(
    scenario: &str,
    source_name: &str,
    varies: &BTreeMap<String, String>,
    file: impl Fn(&str) -> Option<String>,
) -> Result<(), String> {
    let files = |name: &str| {
        let text = file(name).ok_or("paths count from the folder of the study")?;
        Ok(text.into_bytes().into())
    };
    // The texts are in memory already, so there is nothing to limit.
    let budget = Budget::unlimited();
    let written = written_paths(scenario, source_name, Format::Yaml, &files, &budget);
    let written = written.map_err(|problems| format!("\n{}", problems.render()))?;
    check(&written, varies)
}

/// Returns true if `key` is the key `of`, or a part of it: `a.b` and `a[0]` are parts of `a`.
fn is_part(key: &str, of: &str) -> bool {
    // A prefix alone is not enough: `endpoints` is no part of `endpoint`.
    let rest = key.strip_prefix(of);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

fn check(written: &WrittenPaths, varies: &BTreeMap<String, String>) -> Result<(), String> {
    let own = &written.own;
    if let Some(key) = varies
        .keys()
        .find(|key| !own.iter().any(|path| is_part(path, key)))
    {
        return Err(format!(
            "`varies` has `{key}`, which the scenario does not set; leave it out"
        ));
    }
    // A study without equipment describes its switches and NICs itself.
    if written.of_equipment.is_empty() {
        return Ok(());
    }
    // Paths of mappings and of their keys are both listed; a message names only the innermost ones.
    let is_leaf = |path: &&String| {
        let mut others = own.iter().filter(|other| other != path);
        !others.any(|other| is_part(other, path))
    };
    // `varies` may name a whole section, which then covers all keys below it.
    let is_set = |path: &&String| {
        let is_constant = CONSTANTS.iter().any(|constant| is_part(path, constant));
        is_constant && !varies.keys().any(|key| is_part(path, key))
    };
    let set: Vec<String> = own
        .iter()
        .filter(is_leaf)
        .filter(is_set)
        .map(|path| format!("`{path}`"))
        .collect();
    if set.is_empty() {
        return Ok(());
    }
    Err(format!(
        "the scenario sets {}, a matter of the equipment; leave it to that, set it in a named variant or calibration, or say in `varies` why the test varies it",
        set.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAB: &str = "fabric: {switch: {pipeline_latency: 600ns}}\nendpoint: {nic: {mtu: 4096}}\n";

    fn read(scenario: &str, varies: &[&str]) -> Result<(), String> {
        let varies = varies.iter().map(|key| ((*key).to_owned(), String::new()));
        let file = |name: &str| (name == "lab.yaml").then(|| LAB.to_owned());
        check_scenario(scenario, "s.yaml", &varies.collect(), file)
    }

    #[test]
    fn a_constant_outside_a_variant_is_refused() {
        let with = |keys: &str| format!("equipment: lab.yaml\n{keys}\njobs: []\n");
        assert_eq!(
            read(&with("fabric: {kind: single-switch, hosts: 2}"), &[]),
            Ok(())
        );
        for (keys, key) in [
            ("endpoint: {nic: {mtu: 1024}}", "endpoint.nic.mtu"),
            ("endpoint: {nic: {window: 1MB}}", "endpoint.nic.window"),
            ("fabric: {flow_control: pfc}", "fabric.flow_control"),
            (
                "fabric: {switch: {classes: [{class: 3}]}}",
                "fabric.switch.classes[0].class",
            ),
        ] {
            let refused = read(&with(keys), &[]).expect_err("a constant");
            assert!(
                refused.contains(&format!("sets `{key}`, a matter")),
                "{refused}"
            );
            let cut = key.find('[').unwrap_or(key.len());
            assert_eq!(read(&with(keys), &[&key[..cut]]), Ok(()), "{keys}");
            // Without equipment a study says all itself.
            assert_eq!(read(keys, &[]), Ok(()));
        }
        let unused = read(&with(""), &["endpoint.nic"]).expect_err("it is not set");
        assert!(
            unused.contains("which the scenario does not set"),
            "{unused}"
        );
        let missing = read("equipment: other.yaml\n", &[]).expect_err("no such file");
        assert!(
            missing.contains("cannot read the file `other.yaml`"),
            "{missing}"
        );
    }
}
