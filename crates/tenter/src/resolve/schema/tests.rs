use std::fs;
use std::path::{Path, PathBuf};

use jsonschema::Validator;

use super::*;
use crate::resolve::files::Files;
use crate::resolve::findings::Found;
use crate::resolve::scenario::all_tables;
use crate::resolve::{Format, equipment, load, load_beside};
use tenter_language::config::Words as _;
use tenter_language::notation::tree::{self, Node};
use tenter_language::notation::yaml;
use tenter_language::units::Budget;
use tenter_workload::collective::{CollectiveKind, ProgramCollective};

fn document() -> Value {
    serde_json::from_str(&schema()).expect("the schema is JSON")
}

#[test]
fn every_key_of_every_table_is_in_the_schema() {
    let text = schema();
    for table in all_tables() {
        for key in table.keys {
            assert!(
                text.contains(&format!("\"{}\": {{", key.name)),
                "{}",
                key.name
            );
            // Fixed words keep the meaning, too: what is said of a key is said in the schema.
            let meaning = serde_json::to_string(key.sentence()).expect("text");
            assert!(
                text.contains(meaning.trim_matches('"')),
                "{}: {meaning}",
                table.title
            );
        }
    }
}

#[test]
fn variants_have_their_keys_only() {
    let document = document();
    let fabrics = document["properties"]["fabric"]["oneOf"]
        .as_array()
        .expect("a list");
    assert_eq!(fabrics.len(), 11);
    for fabric in fabrics {
        let keys = fabric["properties"].as_object().expect("an object");
        let kind = &keys["kind"]["const"];
        assert_eq!(keys.contains_key("leaves"), kind == "leaf-spine", "{kind}");
        let has_servers = kind == "rail" || kind == "rail-only";
        assert_eq!(keys.contains_key("servers"), has_servers, "{kind}");
        assert!(keys.contains_key("flow_control"), "{kind}");
    }
    let collectives = &document["properties"]["jobs"]["items"]["properties"]["collectives"];
    let collectives = collectives["items"]["oneOf"].as_array().expect("a list");
    let members = CollectiveKind::MEMBERS;
    // And one for each collective that a file may carry out.
    let of_files = ProgramCollective::ALL.len();
    assert_eq!(collectives.len(), members.len() + of_files);
    let broadcast = |algorithm: &str| {
        let found = collectives.iter().find(|one| {
            let keys = &one["properties"];
            keys["collective"]["const"] == "broadcast" && keys["algorithm"]["const"] == algorithm
        });
        found.expect("a member")["properties"]
            .as_object()
            .expect("an object")
    };
    assert!(broadcast("parallel").contains_key("root"));
    assert!(!broadcast("parallel").contains_key("chunk_size"));
    assert!(broadcast("ring").contains_key("chunk_size"));
}

/// A tree as the YAML reader of an editor gives it to the validator.
fn as_an_editor_reads(node: &Node) -> Value {
    match &node.value {
        tree::Value::Scalar { text, quoted } => {
            let plain = (!quoted)
                .then(|| serde_json::from_str::<Value>(text).ok())
                .flatten();
            plain.unwrap_or_else(|| json!(text))
        }
        tree::Value::List(items) => items.iter().map(as_an_editor_reads).collect(),
        tree::Value::Map(entries) => {
            let entries = entries.iter();
            Value::Object(
                entries
                    .map(|entry| (entry.key.clone(), as_an_editor_reads(&entry.node)))
                    .collect(),
            )
        }
    }
}

/// Every YAML file called a scenario under a folder of the repository, without those that are
/// broken on purpose.
fn scenarios(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder is part of the repository") {
        let path = entry.expect("an entry can be read").path();
        if path.is_dir() && !path.ends_with("broken") {
            // Sweeps and what scenarios share are no scenarios.
            if !path.ends_with("sweeps") && !path.ends_with("equipment") {
                scenarios(&path, found);
            }
        } else if path.extension().is_some_and(|ending| ending == "yaml") {
            found.push(path);
        }
    }
}

fn validator() -> Validator {
    let document = document();
    jsonschema::draft202012::meta::validate(&document).expect("the schema is a schema");
    jsonschema::draft202012::new(&document).expect("the schema can be used")
}

fn complaints(validator: &Validator, text: &str) -> Vec<String> {
    complaints_beside(validator, text, &|_| Err("there is no file".to_owned()))
}

/// The same of a scenario with its equipment.
fn complaints_beside(validator: &Validator, text: &str, files: &Files<'_>) -> Vec<String> {
    let budget = Budget::unlimited();
    let found = Found::within(&budget);
    let mut node = yaml::parse(text, 0, 0, &found.problems).expect("YAML");
    equipment::fill_in(&mut node, files, found.findings(), &mut Vec::new());
    assert!(found.problems.is_empty(), "its equipment can be read");
    let value = as_an_editor_reads(&node);
    let errors = validator.iter_errors(&value);
    errors
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect()
}

#[test]
fn every_scenario_of_the_repository_passes_and_so_does_its_effective_form() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut paths = Vec::new();
    for folder in ["scenarios", "studies", "presets"] {
        scenarios(&root.join(folder), &mut paths);
    }
    assert!(paths.len() >= 30, "{paths:?}");
    let validator = validator();
    // Studies describe what is done with the scenario beside them.
    paths.retain(|path| !path.ends_with("study.yaml"));
    for path in paths {
        let text = fs::read_to_string(&path).expect("a file can be read");
        let files = |name: &str| {
            let beside = fs::read(path.with_file_name(name));
            beside
                .map(tenter_formats::Content::from)
                .map_err(|error| error.to_string())
        };
        let found = complaints_beside(&validator, &text, &files);
        if path
            .parent()
            .is_some_and(|folder| folder.ends_with("presets"))
        {
            let missing = [": \"jobs\" is a required property".to_owned()];
            assert_eq!(found, missing, "{}", path.display());
            continue;
        }
        assert!(found.is_empty(), "{}: {found:#?}", path.display());
        let loaded = load_beside(
            &text,
            "",
            Format::Yaml,
            &[],
            None,
            &files,
            &Budget::unlimited(),
        )
        .expect("it loads");
        let found = complaints(&validator, &loaded.effective);
        assert!(found.is_empty(), "{}: {found:#?}", path.display());
    }
}

#[test]
fn what_the_reader_refuses_at_sight_fails() {
    let validator = validator();
    let base = "fabric: {kind: single-switch, hosts: 4}\n\
                jobs: [{collectives: [{collective: all-to-all, size: 16MiB}]}]\n";
    assert_eq!(complaints(&validator, base), Vec::<String>::new());
    for (from, to) in [
        ("hosts: 4", "hosts: 4, hostz: 5"),
        ("hosts: 4", "leaves: 4"),
        ("hosts: 4", "hosts: four"),
        ("hosts: 4", "hosts: 4, rate: 400"),
        ("hosts: 4", "hosts: 4, rate: 400ns"),
        ("hosts: 4", "hosts: 4, switch: {classes: [{class: 9}]}"),
        ("single-switch", "single-swich"),
        ("16MiB", "16"),
        ("all-to-all", "all-to-al"),
        ("16MiB", "16MiB, algorithm: ring"),
        ("16MiB", "16MiB, root: 0"),
        ("jobs:", "seeds: 3\njobs:"),
        ("jobs:", "schema_version: 2\njobs:"),
        ("jobs:", "endpoint: {nic: {mtu: 1500}}\njobs:"),
    ] {
        let text = base.replace(from, to);
        assert!(!complaints(&validator, &text).is_empty(), "{text}");
        assert!(load(&text, "", Format::Yaml, &[], None).is_err(), "{text}");
    }
}
