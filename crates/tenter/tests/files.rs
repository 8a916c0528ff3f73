//! The scenarios of the repository: the good ones load, the broken ones say so in exactly the
//! expected words, and the reference names every key.
//!
//! With `UPDATE_EXPECTED=1` in the environment the expected texts are written instead of compared;
//! review the diff.

mod beside;

use std::fs;
use std::path::{Path, PathBuf};

use tenter::resolve::{Format, Loaded, key_reference, load, load_beside};
use tenter_fabric::topology::{HostId, NodeId};
use tenter_formats::Content;
use tenter_language::units::Budget;

use beside::load_with;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The YAML files of a folder, as paths from the root of the repository.
fn scenarios(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(folder)).expect("the folder is part of the repository");
    let mut names: Vec<String> = entries
        .map(|entry| {
            entry
                .expect("an entry can be read")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .filter(|name| {
            Path::new(name)
                .extension()
                .is_some_and(|ending| ending == "yaml")
        })
        .map(|name| format!("{folder}/{name}"))
        .collect();
    names.sort();
    names
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A scenario of the repository, with the files that its text names.
fn loaded(text: &str, path: &str) -> Loaded {
    let folder = root().join(path).with_file_name("");
    let own = |name: &str| {
        let bytes = fs::read(folder.join(name));
        bytes.map(Content::from).map_err(|error| error.to_string())
    };
    load_beside(
        text,
        path,
        Format::of_name(path),
        &[],
        None,
        &own,
        &Budget::unlimited(),
    )
    .unwrap_or_else(|errors| panic!("{errors}"))
}

/// Compares with a file of the repository, or writes it when asked to.
fn expect_file(path: &str, found: &str) {
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        fs::write(root().join(path), found).expect("the repository can be written");
        return;
    }
    let expected = read(path);
    let differs = found
        .lines()
        .zip(expected.lines())
        .find(|(found, expected)| found != expected);
    assert!(
        found == expected,
        "{path} differs, first in {differs:#?}; run with UPDATE_EXPECTED=1 and review"
    );
}

#[test]
fn every_scenario_loads_and_its_effective_form_gives_the_same_plan() {
    let paths = scenarios("scenarios");
    assert!(paths.len() >= 8, "{paths:?}");
    for path in paths {
        let loaded = loaded(&read(&path), &path);
        assert!(loaded.warnings.is_empty(), "{}", loaded.warnings);
        let beside = loaded.beside();
        let kept = |name: &str| {
            let found = beside.iter().find(|(of, _)| of == name);
            let bytes = found.map(|(_, bytes)| bytes.clone().into());
            bytes.ok_or_else(|| "it is not kept".to_owned())
        };
        let config = &loaded.effective;
        let again =
            load_with(config, &kept).unwrap_or_else(|errors| panic!("{path}: {errors}\n{config}"));
        assert_eq!(again.beside(), beside, "{path}");
        assert_eq!(again.plan, loaded.plan, "{path}");
        assert_eq!(again.effective, loaded.effective, "{path}");
    }
}

#[test]
fn the_quickstart_is_what_the_readme_says() {
    let text = read("scenarios/quickstart.yaml");
    let plan = load(&text, "quickstart.yaml", Format::Yaml, &[], None)
        .expect("it loads")
        .plan;
    // 8 leaves and 4 spines; 64 host cables and 8 · 4 · 2 uplinks.
    assert_eq!((plan.topology.hosts, plan.topology.switches()), (64, 12));
    assert_eq!(plan.topology.cables.len(), 64 + 64);
    let sizes: Vec<u64> = plan.jobs[0]
        .sequence
        .iter()
        .map(|run| run.size_bytes >> 20)
        .collect();
    assert_eq!(sizes, [16, 32, 64, 128, 256, 16, 32, 64, 128, 256]);
}

#[test]
fn broken_scenarios_say_what_is_wrong_and_where() {
    let paths = scenarios("scenarios/broken");
    assert!(paths.len() >= 10, "{paths:?}");
    for path in paths {
        let errors = load(&read(&path), &path, Format::Yaml, &[], None)
            .expect_err(&format!("{path} is broken"));
        assert_eq!(
            errors.problems().len(),
            1,
            "{path} has one mistake: {errors}"
        );
        assert!(
            errors.problems()[0].help.is_some(),
            "{path} lacks a remedy: {errors}"
        );
        assert!(
            errors.problems()[0].span.is_some(),
            "{path} lacks a place: {errors}"
        );
        expect_file(&path.replace(".yaml", ".expected"), &errors.render());
    }
}

#[test]
fn the_reference_lists_every_key() {
    const BEGIN: &str = "<!-- keys: printed by tenter::resolve::key_reference -->\n\n";
    const END: &str = "\n<!-- end of keys -->";
    let page = read("docs/scenario.md");
    let begin = page
        .find(BEGIN)
        .expect("the page has the mark where keys begin")
        + BEGIN.len();
    let end = page
        .find(END)
        .expect("the page has the mark where keys end");
    expect_file(
        "docs/scenario.md",
        &format!("{}{}{}", &page[..begin], key_reference(), &page[end..]),
    );
}

/// 16 leaves of 32 hosts and 144 uplinks, 9 spines of 256 ports, 16 cables between each pair.
#[test]
fn the_study_of_a_scheduled_fabric_has_the_cables_of_its_source() {
    let path = "studies/scheduled-fabric/test-3/scenario.yaml";
    let loaded = loaded(&read(path), path);
    assert!(loaded.warnings.is_empty(), "{}", loaded.warnings);
    let topology = &loaded.plan.topology;
    assert_eq!((topology.hosts, topology.switches()), (512, 16 + 9));
    assert_eq!(topology.cables.len(), 512 + 16 * 9 * 16);
    for leaf in NodeId::new(512).run(16) {
        let peers: Vec<NodeId> = topology.neighbours(leaf).map(|end| end.node).collect();
        assert_eq!(peers.len(), 32 + 144);
        for spine in NodeId::new(528).run(9) {
            assert_eq!(peers.iter().filter(|&&peer| peer == spine).count(), 16);
        }
    }
    for spine in NodeId::new(528).run(9) {
        assert_eq!(topology.neighbours(spine).count(), 256);
    }
}

/// 8 leaves of 64 hosts and 32 uplinks, 4 spines of 64 ports, 8 cables between each pair.
#[test]
fn the_scheduled_fabric_study_has_the_cables_of_its_source() {
    let path = "studies/scheduled-fabric/test-1/scenario.yaml";
    let loaded = loaded(&read(path), path);
    assert!(loaded.warnings.is_empty(), "{}", loaded.warnings);
    let topology = &loaded.plan.topology;
    assert_eq!((topology.hosts, topology.switches()), (512, 12));
    assert_eq!(topology.cables.len(), 512 + 8 * 4 * 8);
    let gbps = |gbps| tenter_language::units::Rate::from_gbps(gbps);
    for leaf in NodeId::new(512).run(8) {
        let peers: Vec<NodeId> = topology.neighbours(leaf).map(|end| end.node).collect();
        assert_eq!(peers.len(), 64 + 32);
        for spine in NodeId::new(520).run(4) {
            assert_eq!(peers.iter().filter(|&&peer| peer == spine).count(), 8);
        }
        for (port, &peer) in (0..).zip(&peers) {
            let rate = if topology.is_host(peer) { 400 } else { 800 };
            assert_eq!(topology.cable(leaf, port).rate, gbps(rate));
        }
    }
    for spine in NodeId::new(520).run(4) {
        assert_eq!(topology.neighbours(spine).count(), 64);
    }
    // A leaf keeps 18,796 + 612,140 bytes for each of its 96 ports.
    let pool = 173_268_640 - 96 * (18_796 + 612_140);
    assert_eq!(loaded.plan.switches.usual.pool_bytes, [pool]);
    let run = &loaded.plan.jobs[0];
    assert_eq!((run.ranks(), run.sequence[0].size_bytes), (512, 512 << 20));
}

/// What the page of the study says of the headroom: enough, and hardly more than enough.
#[test]
fn the_gather_study_keeps_the_headroom_of_its_source() {
    let path = "studies/methodology/cc-4/scenario.yaml";
    let text = read(path);
    let warnings = |text: &str| {
        let loaded = loaded(text, path);
        assert_eq!(loaded.plan.addresses[HostId::new(0)].class(), 6);
        loaded.warnings.render()
    };
    assert_eq!(warnings(&text), "");
    assert_eq!(warnings(&text.replace("100000B", "99516B")), "");
    let short = warnings(&text.replace("100000B", "99515B"));
    assert!(short.contains("up to 99516 can arrive"), "{short}");
}
