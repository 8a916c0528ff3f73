//! Typed scenarios: read from texts, written in every notation, and made in code.

use std::fs;
use std::path::{Path, PathBuf};

use tenter_scenario::spec::{self, FlowControl, Switch};
use tenter_scenario::{Format, Loaded, load, load_beside, load_typed};
use tenter_topology::LeafSpine;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")
}

/// Every scenario of the repository that holds: its name and its text.
fn scenarios() -> Vec<(PathBuf, String)> {
    let files = fs::read_dir(folder()).expect("the folder is there");
    let files = files.map(|file| file.expect("it can be listed").path());
    let mut files: Vec<PathBuf> = files.filter(|file| file.is_file()).collect();
    files.sort();
    let read = |file: PathBuf| {
        let text = fs::read_to_string(&file).expect("it is a text");
        (file, text)
    };
    files.into_iter().map(read).collect()
}

fn read_beside(name: &str) -> Result<Vec<u8>, String> {
    fs::read(folder().join(name)).map_err(|error| error.to_string())
}

fn typed(text: &str, name: &str, format: Format) -> spec::Scenario {
    let read = load_typed((text, name, format), &[], &[], &read_beside);
    read.unwrap_or_else(|errors| panic!("{name}: {errors}\n{text}"))
}

fn loaded(text: &str, name: &str, format: Format) -> Loaded {
    let loaded = load_beside(text, name, format, &[], None, &read_beside);
    loaded.unwrap_or_else(|errors| panic!("{name}: {errors}\n{text}"))
}

#[test]
fn what_is_read_is_written_in_every_notation_and_read_again() {
    for (file, text) in scenarios() {
        let name = file.display().to_string();
        let own = typed(&text, &name, Format::of_name(&name));
        assert_eq!(typed(&own.to_yaml(), &name, Format::Yaml), own, "{name}");
        assert_eq!(typed(&own.to_toml(), &name, Format::Toml), own, "{name}");
        let json = serde_json::to_string_pretty(&own).expect("it is written");
        assert_eq!(typed(&json, &name, Format::Json), own, "{name}");
        let read: spec::Scenario = serde_json::from_str(&json).expect("it is read");
        assert_eq!(read, own, "{name}");
    }
}

#[test]
fn typed_scenarios_resolve_to_the_same_plan_and_configuration() {
    for (file, text) in scenarios() {
        let name = file.display().to_string();
        let before = loaded(&text, &name, Format::of_name(&name));
        let config = &before.effective;
        let beside = |named: &str| {
            let mut files = before.beside.iter();
            let found = files.find(|(name, _)| name == named);
            found.map_or_else(|| read_beside(named), |(_, bytes)| Ok(bytes.clone()))
        };
        for text in [&text, config] {
            let format = if text == config {
                Format::Yaml
            } else {
                Format::of_name(&name)
            };
            let own = load_typed((text, &name, format), &[], &[], &beside);
            let own = own.unwrap_or_else(|errors| panic!("{name}: {errors}"));
            let after = load_beside(&own.to_yaml(), &name, Format::Yaml, &[], None, &beside);
            let after = after.unwrap_or_else(|errors| panic!("{name}: {errors}"));
            assert_eq!(after.plan, before.plan, "{name}");
            // A value may be spelled in several ways, such as `0s` and `0ns`.
            let read = |config: &str| load_typed((config, &name, Format::Yaml), &[], &[], &beside);
            assert_eq!(read(&after.effective), read(config), "{name}");
        }
    }
}

#[test]
fn scenarios_are_made_in_code() {
    let text = "fabric: {kind: leaf-spine, leaves: 2, hosts_per_leaf: 2, spines: 2}\n\
                jobs: [{collectives: [{collective: all-to-all, size: 1MiB}]}]";
    let written = typed(text, "text", Format::Yaml);
    let mut own = spec::Scenario::new(LeafSpine::new(2, 2, 2));
    own.jobs = written.jobs;
    let plan = |text: &str| loaded(text, "made", Format::Yaml).plan;
    assert_eq!(plan(&own.to_yaml()), plan(text));
    own.fabric.flow_control = Some(FlowControl::PfcAndEcn);
    let marked = text.replace("spines: 2", "spines: 2, flow_control: pfc+ecn");
    assert_eq!(plan(&own.to_yaml()), plan(&marked));
    own.fabric.switch = Switch::of_device("tomahawk5");
    let device = marked.replace("spines: 2", "spines: 2, switch: {profile: tomahawk5}");
    assert_eq!(plan(&own.to_yaml()), plan(&device));
    assert_eq!(Switch::of_device("tomahawk"), None);
}

/// JSON and TOML have all words in quotes, also those by which others are filled in.
#[test]
fn words_may_stand_in_quotes() {
    let plain = "fabric: {kind: single-switch, hosts: 4, power: {profile: edr-100g}}\n\
                 endpoint: {nic: {congestion_control: {kind: dcqcn, preset: hpcc}}}\n\
                 jobs: [{collectives: [{collective: all-to-all, size: 1MiB}]}]";
    let quoted = plain.replace("edr-100g", "'edr-100g'");
    let quoted = quoted.replace("hpcc", "'hpcc'").replace("dcqcn", "'dcqcn'");
    let read = |text: &str| typed(text, "text", Format::Yaml);
    assert_eq!(read(&quoted), read(plain));
}

#[test]
fn problems_of_values_are_told_by_their_paths() {
    let text = r#"{"fabric": {"kind": "leaf-spine", "leaves": 0, "hosts_per_leaf": 2, "spines": 2,
                   "switch": {"queue_capacity": 5}, "colour": 1}, "jobs": [], "seed": "x"}"#;
    let error = serde_json::from_str::<spec::Scenario>(text).expect_err("it is wrong");
    let error = error.to_string();
    for part in [
        "`fabric.leaves`",
        "`fabric.switch.queue_capacity`",
        "`colour`",
        "`seed`",
        "`jobs`",
    ] {
        assert!(error.contains(part), "{part}: {error}");
    }
}

/// Sections that could be read are put together although another one is wrong.
#[test]
fn what_shows_together_is_told_beside_what_is_wrong_by_itself() {
    let text = "fabric: {kind: leaf-spine, leaves: 2, hosts_per_leaf: 2, spines: 2, power: none-such,\n  \
                flow_control: pfc, switch: {classes: [{class: 3}]}}\n\
                observe: {samples: 5}\n\
                jobs: [{ranks: [host9], collectives: [{collective: all-to-all, size: 1MiB}]}]";
    let errors = load(text, "x.yaml", Format::Yaml, &[], None).expect_err("it is wrong");
    let errors = errors.to_string();
    for part in [
        "fabric.power",
        "exclude each other",
        "observe.samples",
        "host9",
    ] {
        assert!(errors.contains(part), "{part}: {errors}");
    }
}
