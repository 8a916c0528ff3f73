//! `equipment`: keys of a file in place of those that a scenario leaves out.

use tenter::resolve::{Format, Loaded, load_beside};
use tenter_formats::Content;
use tenter_language::units::Budget;

/// Files by the paths that scenarios have.
const FILES: [(&str, &str); 7] = [
    (
        "lab/switch.yaml",
        "equipment: nic.yaml\n\
         fabric: {switch: {pipeline_latency: 652ns}, load_balancing: {kind: ecmp, hash: crc32}}\n",
    ),
    (
        "lab/nic.yaml",
        "endpoint: {nic: {mtu: 1024, retry_count: 3}}\n",
    ),
    (
        "other.yaml",
        "endpoint: {nic: {mtu: 2048, retransmission_timeout: 1ms}}\n",
    ),
    ("loop.yaml", "equipment: loop.yaml\n"),
    ("jobs.yaml", "jobs: []\n"),
    ("wrong.yaml", "endpoint:\n  nic: {mut: 4096}\n"),
    ("list.yaml", "[1, 2]\n"),
];

fn load(keys: &str, overrides: &[&str]) -> Result<Loaded, String> {
    let text = format!(
        "{keys}\njobs: [{{ranks: 2, collectives: [{{collective: all-to-all, size: 1MiB}}]}}]\n"
    );
    let files = |name: &str| {
        let found = FILES.iter().find(|(of, _)| *of == name);
        let (_, text) = found.ok_or_else(|| format!("no file `{name}`"))?;
        Ok(Content::from(text.as_bytes()))
    };
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    let loaded = load_beside(
        &text,
        "x.yaml",
        Format::Yaml,
        &overrides,
        None,
        &files,
        &Budget::unlimited(),
    );
    loaded.map_err(|problems| problems.render())
}

const FABRIC: &str = "fabric: {kind: single-switch, hosts: 2}\nequipment: lab/switch.yaml\n";

#[test]
fn a_scenario_has_the_keys_that_it_leaves_out() {
    let written = "fabric: {kind: single-switch, hosts: 2, switch: {pipeline_latency: 652ns}, \
                   load_balancing: {kind: ecmp, hash: crc32}}\n\
                   endpoint: {nic: {mtu: 1024, retry_count: 3}}";
    let (found, expected) = (load(FABRIC, &[]), load(written, &[]));
    let (found, expected) = (found.expect("it holds"), expected.expect("it holds"));
    assert_eq!(found.plan, expected.plan);
    assert_eq!(found.effective, expected.effective);
    assert!(
        !found.effective.contains("equipment"),
        "{}",
        found.effective
    );
    // What devices have is not said by the scenario, and is no oddity if it has no effect.
    let set = load(FABRIC, &["endpoint.nic.mtu=2048"]).expect("it holds");
    let given = |loaded: &Loaded, path: &str| loaded.given.iter().any(|given| given == path);
    assert!(given(&found, "fabric.hosts") && !given(&found, "endpoint.nic.mtu"));
    assert!(given(&set, "endpoint.nic.mtu") && !given(&set, "endpoint.nic.retry_count"));
}

#[test]
fn its_own_keys_and_overrides_come_first() {
    let own = format!("{FABRIC}endpoint: {{nic: {{mtu: 4096}}}}\n");
    let effective = |keys: &str, overrides: &[&str]| {
        let loaded = load(keys, overrides).unwrap_or_else(|problems| panic!("{problems}"));
        loaded.effective
    };
    let has = |text: &str, lines: &[&str]| {
        for line in lines {
            assert!(text.contains(line), "{line}: {text}");
        }
    };
    has(&effective(&own, &[]), &["mtu: 4096", "retry_count: 3"]);
    let set = [
        "endpoint.nic.retry_count=5",
        "fabric.switch.pipeline_latency=default",
    ];
    let text = effective(&own, &set);
    has(&text, &["retry_count: 5"]);
    assert!(!text.contains("652ns"), "{text}");
    // What the file says in another way gives way, too.
    for (own, line) in [
        ("port_mtu: 1500", "mtu: 1024"),
        ("timeout_exponent: 10", "retransmission_timeout: 4194304ns"),
    ] {
        let keys = format!("{FABRIC}endpoint: {{nic: {{{own}}}}}\n");
        has(&effective(&keys, &["equipment=other.yaml"]), &[line]);
        let set = own.replace(": ", "=");
        let set = format!("endpoint.nic.{set}");
        has(&effective(FABRIC, &[&set, "equipment=other.yaml"]), &[line]);
    }
    // Another file, and none; wherever the override stands.
    let text = effective(
        FABRIC,
        &["endpoint.nic.retry_count=5", "equipment=other.yaml"],
    );
    has(&text, &["mtu: 2048", "retry_count: 5"]);
    assert!(!text.contains("652ns"), "{text}");
    assert!(!effective(FABRIC, &["equipment=default"]).contains("652ns"));
    // A mapping of another kind has other keys.
    let spray = FABRIC.replace("hosts: 2", "hosts: 2, load_balancing: {kind: random-spray}");
    let text = effective(&spray, &[]);
    has(&text, &["random-spray", "652ns"]);
    assert!(!text.contains("crc32"), "{text}");
}

#[test]
fn what_is_wrong_has_its_place() {
    let refused = |file: &str| {
        let keys = format!("fabric: {{kind: single-switch, hosts: 2}}\nequipment: {file}\n");
        load(&keys, &[]).expect_err("it is wrong")
    };
    for (file, expected) in [
        ("none.yaml", "cannot read the file `none.yaml`"),
        ("none.yaml", "no file `none.yaml`"),
        (
            "[lab/nic.yaml]",
            "`equipment` is the path of a file, not a list",
        ),
        ("loop.yaml", "more than 8 files of equipment"),
        ("jobs.yaml", "--> jobs.yaml:1:1"),
        ("jobs.yaml", "`jobs` is no equipment"),
        ("wrong.yaml", "--> wrong.yaml:2:9"),
        ("wrong.yaml", "did you mean `mtu`?"),
        ("list.yaml", "equipment is a mapping, not a list"),
    ] {
        let problems = refused(file);
        assert!(problems.contains(expected), "{file}: {problems}");
    }
}
