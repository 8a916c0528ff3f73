//! Typed scenarios: read from texts, written in every notation, and made in code.

mod beside;

use std::fs;
use std::path::{Path, PathBuf};

use tenter::resolve::spec::{self, FlowControl, Switch, Switching};
use tenter::resolve::{
    Diagnostics, Format, Input, Loaded, load, load_beside, load_overlaid, load_typed,
};
use tenter_endpoint::congestion_control::CongestionControl;
use tenter_endpoint::congestion_control::dcqcn::Preset;
use tenter_fabric::net::scheduled::ScheduledSpec;
use tenter_fabric::topology::{HostId, LeafSpine, SingleSwitch};
use tenter_formats::Content;
use tenter_language::units::{Budget, Bytes, Time};
use tenter_workload::collective::{AllToAllParallel, StepList, StepSpec, Steps};
use tenter_workload::spec::CollectiveSpec;

use beside::load_with;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")
}

/// Every scenario of the repository that holds: its name and its text.
fn scenarios() -> Vec<(PathBuf, String)> {
    let files = fs::read_dir(folder()).expect("the folder is there");
    let files = files.map(|file| file.expect("it can be listed").path());
    let mut files: Vec<PathBuf> = files
        .filter(|file| file.extension().is_some_and(|ending| ending == "yaml"))
        .collect();
    files.sort();
    let read = |file: PathBuf| {
        let text = fs::read_to_string(&file).expect("it is a text");
        (file, text)
    };
    files.into_iter().map(read).collect()
}

fn read_beside(name: &str) -> Result<Content<'static>, String> {
    let bytes = fs::read(folder().join(name));
    bytes.map(Content::from).map_err(|error| error.to_string())
}

fn typed(text: &str, name: &str, format: Format) -> spec::Scenario {
    let read = load_typed(
        Input::Text(text, format),
        name,
        &[],
        &[],
        &read_beside,
        &Budget::unlimited(),
    );
    read.unwrap_or_else(|errors| panic!("{name}: {errors}\n{text}"))
}

fn loaded(text: &str, name: &str, format: Format) -> Loaded {
    let loaded = load_beside(
        text,
        name,
        format,
        &[],
        None,
        &read_beside,
        &Budget::unlimited(),
    );
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
        let kept = before.beside();
        let beside = |named: &str| {
            let mut files = kept.iter();
            let found = files.find(|(name, _)| name == named);
            found.map_or_else(|| read_beside(named), |(_, bytes)| Ok(bytes.clone().into()))
        };
        for text in [&text, config] {
            let format = if text == config {
                Format::Yaml
            } else {
                Format::of_name(&name)
            };
            let own = load_typed(
                Input::Text(text, format),
                &name,
                &[],
                &[],
                &beside,
                &Budget::unlimited(),
            );
            let own = own.unwrap_or_else(|errors| panic!("{name}: {errors}"));
            let yaml = own.to_yaml();
            for input in [Input::Typed(&own), Input::Text(&yaml, Format::Yaml)] {
                let after =
                    load_overlaid(input, &name, &[], &[], None, &beside, &Budget::unlimited());
                let after = after.unwrap_or_else(|errors| panic!("{name}: {errors}"));
                assert_eq!(after.plan, before.plan, "{name}");
                // A value may be spelled in several ways, such as `0s` and `0ns`.
                let read = |config: &str| {
                    let input = Input::Text(config, Format::Yaml);
                    load_typed(input, &name, &[], &[], &beside, &Budget::unlimited())
                };
                assert_eq!(read(&after.effective), read(config), "{name}");
            }
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

/// Twelve hosts at a switch, and a job on four of them.
fn small() -> spec::Scenario {
    let mut own = spec::Scenario::new(SingleSwitch::new(12));
    let collective = CollectiveSpec::new(AllToAllParallel, Bytes::new(1 << 20));
    let mut job = spec::job("train", vec![collective]);
    job.ranks = spec::Ranks::Count(4);
    own.jobs = vec![job];
    own
}

fn resolved(own: &spec::Scenario) -> Result<Loaded, Diagnostics> {
    load_overlaid(
        Input::Typed(own),
        "made",
        &[],
        &[],
        None,
        &read_beside,
        &Budget::unlimited(),
    )
}

fn hosts(loaded: &Loaded) -> Vec<(&str, &[HostId])> {
    let jobs = loaded.plan.jobs.iter();
    jobs.map(|job| (job.name.as_str(), job.hosts.as_slice()))
        .collect()
}

#[test]
fn copies_have_hosts_of_their_own_however_they_are_made() {
    let mut own = small();
    own.jobs[0].copies = 3;
    let four_from = |first: u32| [0, 1, 2, 3].map(|host| HostId::new(first + host));
    let [first, second, third] = [0, 4, 8].map(four_from);
    let expected: [(&str, &[HostId]); 3] = [
        ("train-1", &first),
        ("train-2", &second),
        ("train-3", &third),
    ];
    let made = resolved(&own).expect("it holds");
    assert_eq!(hosts(&made), expected);
    let json = serde_json::to_string(&own).expect("it is written");
    let read: spec::Scenario = serde_json::from_str(&json).expect("it is read");
    assert_eq!(read.jobs.len(), 3);
    let read = resolved(&read).expect("it holds");
    assert_eq!(hosts(&read), expected);
    let text = loaded(&own.to_yaml(), "text", Format::Yaml);
    assert_eq!(hosts(&text), expected);
    assert_eq!(text.plan, made.plan);
}

/// What is refused in a text is refused in code, and points into the YAML.
#[test]
fn settings_without_a_meaning_are_told_in_code() {
    let mut own = small();
    let mut load = own.jobs[0].clone();
    load.name = Some("load".to_owned());
    (load.background, load.iterations) = (true, 5);
    own.jobs.push(load);
    let mut dcqcn = Preset::Tester.of_both();
    dcqcn.reaction.gain = 7;
    own.endpoint.nic.congestion_control = Some(CongestionControl::Dcqcn(dcqcn));
    let errors = resolved(&own)
        .expect_err("two settings mean nothing")
        .to_string();
    for part in [
        "`jobs[1].iterations` has no effect in the background",
        "`endpoint.nic.congestion_control.gain` means nothing where senders do not react",
        "iterations: 5",
        "--> made:",
    ] {
        assert!(errors.contains(part), "{part}: {errors}");
    }
    let read = serde_json::from_value::<spec::Scenario>(
        serde_json::to_value(&own).expect("it is written"),
    );
    let errors = read.expect_err("it is refused by serde, too").to_string();
    assert!(
        errors.contains("`jobs[1].iterations` has no effect"),
        "{errors}"
    );
}

/// Every key of a typed scenario is written; only those that are not as by default were given. What
/// follows from other keys counts as a default.
#[test]
fn only_unusual_keys_of_typed_scenarios_count_as_given() {
    let mut own = small();
    let base = ["fabric", "fabric.kind", "fabric.hosts", "jobs"];
    let of_job = ["name", "ranks", "collectives"];
    let mut expected: Vec<String> = base.iter().map(|&key| key.to_owned()).collect();
    expected.extend(of_job.iter().map(|key| format!("jobs[0].{key}")));
    let of_collective = ["collective", "size"];
    expected.extend(
        of_collective
            .iter()
            .map(|key| format!("jobs[0].collectives[0].{key}")),
    );
    assert_eq!(resolved(&own).expect("it holds").given, expected);
    own.seed = 5;
    own.engine.window = Some(Time::from_us(1));
    let given = resolved(&own).expect("it holds").given;
    for key in ["seed", "engine.window"] {
        assert!(given.iter().any(|path| path == key), "{key}: {given:?}");
    }
}

/// A value counts as given where it is another than the one that follows from other keys; it stays
/// as it is from text to code and back, and so does one that follows.
#[test]
fn values_that_do_not_follow_from_other_keys_count_as_given() {
    let text = |nic: &str, algorithm: &str| {
        format!(
            "fabric: {{kind: rail, servers: 4, nics_per_server: 2, spines: 2}}\n\
             endpoint: {{nic: {{receive_buffer: {{drain_rate: 250Gbps, capacity: 2MiB{nic}}}}}}}\n\
             jobs: [{{ranks: 8, collectives: [{{collective: all-reduce, size: 1MiB{algorithm}}}]}}]"
        )
    };
    let buffer = "endpoint.nic.receive_buffer";
    let xoff = format!("{buffer}.xoff");
    let xon = format!("{buffer}.xon");
    let algorithm = "jobs[0].collectives[0].algorithm".to_owned();
    let all = [xoff.as_str(), &xon, &algorithm, "fabric.servers_per_group"];
    for (nic, of_collective, expected) in [
        ("", "", vec![]),
        (", xoff: 1MiB", ", algorithm: ring", vec![]),
        (", xoff: 1MiB, xon: 512KiB", "", vec![]),
        (", xoff: 64KiB", "", vec![&xoff]),
        (
            ", xoff: 64KiB, xon: 0B",
            ", algorithm: bidirectional-ring",
            vec![&xoff, &xon, &algorithm],
        ),
        (", xon: 1KiB", "", vec![&xon]),
    ] {
        let text = text(nic, of_collective);
        let own = typed(&text, "text", Format::Yaml);
        let made = resolved(&own).unwrap_or_else(|errors| panic!("{text}: {errors}"));
        let mut given = made.given.clone();
        given.retain(|path| all.contains(&path.as_str()));
        assert_eq!(given.iter().collect::<Vec<_>>(), expected, "{text}");
        let read = loaded(&text, "text", Format::Yaml);
        assert_eq!(made.plan, read.plan, "{text}");
        let effective = [&read, &made].map(|of| typed(&of.effective, "text", Format::Yaml));
        for config in effective {
            assert_eq!(config.endpoint, own.endpoint, "{text}");
            assert_eq!(config.jobs, own.jobs, "{text}");
        }
    }
}

#[test]
fn numbers_that_no_key_has_are_refused() {
    let mut own = small();
    own.endpoint.nic.mtu_bytes = 1500;
    own.fabric.switching = Switching::Scheduled(ScheduledSpec {
        over_speed_ppm: 12_345,
        ..tenter_language::config::default_of()
    });
    let errors = resolved(&own).expect_err("both are rounded").to_string();
    for part in [
        "`endpoint.nic.mtu` cannot be `1500`",
        "`fabric.switching.over_speed`",
        "`1.2345`",
    ] {
        assert!(errors.contains(part), "{part}: {errors}");
    }
}

#[test]
fn seeds_of_64_bits_are_the_same_in_every_notation() {
    let mut own = small();
    (own.seed, own.seeds.hashing) = (u64::MAX, Some(1 << 63));
    let toml = own.to_toml();
    assert!(toml.contains("seed = 18446744073709551615\n"), "{toml}");
    assert_eq!(
        typed(&toml, "toml", Format::Toml),
        typed(&own.to_yaml(), "yaml", Format::Yaml)
    );
    let json = serde_json::to_string(&own).expect("it is written");
    let read: spec::Scenario = serde_json::from_str(&json).expect("it is read");
    assert_eq!((read.seed, read.seeds.hashing), (u64::MAX, Some(1 << 63)));
}

/// As text this scenario is longer than 8 MiB, and has more values than a text may have.
#[test]
fn typed_scenarios_of_any_size_are_resolved() {
    let step = |rank: u32| StepSpec {
        rank: rank % 12,
        peer: (rank + 1) % 12,
        bytes: Bytes::new(4096),
        after: Vec::new(),
    };
    let steps = StepList::new((0..220_000).map(step).collect()).expect("they are steps");
    let steps = Steps {
        file: None,
        steps: Some(steps),
    };
    let mut own = small();
    own.jobs[0].ranks = spec::Ranks::All;
    let mut collective = CollectiveSpec::new(steps, Bytes::new(1));
    collective.size = None;
    own.jobs[0].collectives = Some(vec![collective]);
    assert!(own.to_yaml().len() > tenter::resolve::MAX_SOURCE_BYTES);
    let made = resolved(&own).expect("it holds");
    assert_eq!(made.beside().len(), 1, "its steps lie beside it");
    let read = |_: &str| Ok(made.beside()[0].1.clone().into());
    let again = load_with(&made.effective, &read);
    assert_eq!(again.expect("it holds").plan, made.plan);
}

#[test]
fn keys_that_stand_twice_are_told_with_their_paths() {
    let text = r#"{"seed": 1, "fabric": {"kind": "single-switch", "hosts": 4, "hosts": 8}, "seed": 2,
                   "jobs": [{"gap": "10us", "collectives": [], "gap": "20us"}]}"#;
    let error = serde_json::from_str::<spec::Scenario>(text).expect_err("it is wrong");
    let error = error.to_string();
    for part in [
        "the key `fabric.hosts` is given twice: keep one of them",
        "the key `seed` is given twice",
        "the key `jobs[0].gap` is given twice",
        "`jobs[0].collectives` is empty",
    ] {
        assert!(error.contains(part), "{part}: {error}");
    }
}
