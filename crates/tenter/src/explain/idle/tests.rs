//! Settings of small scenarios.

use super::*;
use crate::resolve::{Format, load};
use tenter_language::units::Budget;

fn notes(text: &str) -> Vec<String> {
    let loaded = load(text, "x.yaml", Format::Yaml, &[], None)
        .unwrap_or_else(|problems| panic!("{}", problems.render()));
    let idle = idle_settings(&loaded.plan, &loaded.given, &Budget::unlimited())
        .expect("the plan can be run");
    idle.into_iter().map(|idle| idle.note).collect()
}

const JOB: &str = "jobs: [{collectives: [{collective: incast, size: 1MiB}]}]\n";

#[test]
fn paths_into_lists() {
    assert_eq!(item("jobs[2].gap", "jobs"), Some((2, "gap")));
    assert_eq!(item("jobs[2]", "jobs"), Some((2, "")));
    assert_eq!(item("jobs", "jobs"), None);
    assert_eq!(item("fabric.x[1].y", "jobs"), None);
}

#[test]
fn a_scenario_that_says_only_what_matters_has_no_notes() {
    let text = format!(
        "fabric: {{kind: leaf-spine, leaves: 2, hosts_per_leaf: 2, spines: 2, load_balancing: {{kind: ecmp}}}}\nseed: 7\n{JOB}"
    );
    assert_eq!(notes(&text), Vec::<String>::new());
}

#[test]
fn what_optical_switches_do_without() {
    let spines = "fabric: {kind: leaf-spine, leaves: 4, hosts_per_leaf: 2, spines: 4, circuits: {spill: 1us, cabling: straight, steering: {interval: 1us}}}\n";
    assert_eq!(
        notes(&format!("{spines}{JOB}")),
        [
            "`fabric.circuits.spill` has no effect: there is no tree beside the circuits",
            "`fabric.circuits.cabling` has no effect: every optical switch has a port of every leaf",
            "`fabric.circuits.steering.interval` has no effect: what jobs will send is known when they start and end",
        ]
    );
    let tree = |balancing: &str, circuits: &str| {
        let nic = "endpoint: {nic: {loss_recovery: {kind: selective-repeat, reorder: 128}}}";
        notes(&format!(
            "fabric: {{kind: fat-tree, hosts_per_leaf: 2, leaves_per_pod: 4, aggs_per_pod: 4, load_balancing: {{kind: {balancing}}}, circuits: {{{circuits}}}}}\n{nic}\n{JOB}"
        ))
    };
    assert_eq!(
        tree("ecmp", "spill: 1us"),
        [
            "`fabric.circuits.spill` has no effect: load balancing does not choose for each packet by itself"
        ]
    );
    assert_eq!(tree("random-spray", "spill: 1us"), Vec::<String>::new());
    let steered = "cabling: straight, steering: {demand: counters, interval: 2us}";
    assert_eq!(tree("ecmp", steered), Vec::<String>::new());
    assert_eq!(tree("ecmp", "spill: none"), Vec::<String>::new());
}

#[test]
fn what_is_hashed_matters_where_marks_are_drawn() {
    let of = |kmax: &str| {
        notes(&format!(
            "fabric: {{kind: leaf-spine, leaves: 2, hosts_per_leaf: 2, spines: 1, load_balancing: {{kind: ecmp}}, switch: {{classes: [{{class: 0, ecn: {{kmin: 20kB, kmax: {kmax}, pmax: 0.1}}}}]}}}}\n{JOB}"
        ))
    };
    assert_eq!(of("80kB"), Vec::<String>::new());
    let one_path =
        "`fabric.load_balancing` has no effect: no packet has a choice between two paths";
    assert_eq!(of("20kB"), [one_path]);
}

#[test]
fn nothing_is_random_where_there_is_one_path() {
    let text = format!(
        "fabric: {{kind: leaf-spine, leaves: 2, hosts_per_leaf: 2, spines: 1, load_balancing: {{kind: ecmp}}}}\nseed: 7\n{JOB}"
    );
    assert_eq!(
        notes(&text),
        [
            "`fabric.load_balancing` has no effect: no packet has a choice between two paths",
            "`seed` has no effect: nothing in this scenario is random",
        ]
    );
}

#[test]
fn each_rule_finds_its_setting() {
    let fabric = "kind: single-switch, hosts: 4";
    let cases = [
        (
            "jobs: [{gap: 20us, collectives: [{collective: incast, size: 1MiB}]}]",
            "`jobs[0].gap`",
        ),
        (
            "endpoint: {addresses: {dscp: 10}}",
            "`endpoint.addresses.dscp`",
        ),
        (
            "endpoint: {addresses: {pool: 11.0.0.0/8}}",
            "`endpoint.addresses.pool`",
        ),
        (
            "endpoint: {addresses: {overrides: [{host: 0, dscp: 3}]}}",
            "`endpoint.addresses.overrides[0].dscp`",
        ),
        (
            "endpoint: {nic: {control_dscp: 48}}",
            "`endpoint.nic.control_dscp`",
        ),
        (
            "endpoint: {nic: {receive_buffer: {drain_rate: 100Gbps, quanta: 900}}}",
            "`endpoint.nic.receive_buffer.quanta`",
        ),
        (
            "endpoint: {nic: {entropy: {values: 4}}}",
            "`endpoint.nic.entropy`",
        ),
        ("engine: {window: 5us}", "`engine.window`"),
        ("engine: {packets_time: 5s}", "`engine.packets_time`"),
        ("engine: {ring_transfers: 5}", "`engine.ring_transfers`"),
        ("engine: {tolerance: 0.001}", "`engine.tolerance`"),
        (
            "observe: {samples: false, sample_interval: 5us}",
            "`observe.sample_interval`",
        ),
    ];
    for (setting, named) in cases {
        let job = if setting.starts_with("jobs") { "" } else { JOB };
        let found = notes(&format!("fabric: {{{fabric}}}\n{setting}\n{job}"));
        assert!(
            found.len() == 1 && found[0].starts_with(named),
            "{setting}: {found:?}"
        );
    }
}

#[test]
fn cables_that_a_dragonfly_does_not_have() {
    let text = |groups: u32, routers: u32| {
        format!(
            "fabric: {{kind: dragonfly, groups: {groups}, routers_per_group: {routers}, hosts_per_router: 2, \
             global_links_per_router: 1, local_delay: 30ns, global_rate: 200Gbps}}\n\
             jobs: [{{collectives: [{{collective: all-reduce, size: 1MiB}}]}}]\n"
        )
    };
    let found = |groups, routers| notes(&text(groups, routers)).join("\n");
    assert_eq!(found(2, 2), "");
    let local = found(2, 1);
    assert!(
        local.contains("`fabric.local_delay` has no effect"),
        "{local}"
    );
    let global = found(1, 2);
    assert!(
        global.contains("`fabric.global_rate` has no effect: there is one group"),
        "{global}"
    );
}

#[test]
fn settings_that_a_grid_or_a_dragonfly_plus_does_not_use() {
    for (fabric, expected) in [
        (
            "kind: hyperx, sizes: [4, 1], hosts_per_switch: 1, paths: all",
            "`fabric.paths` has no effect: switches differ in one coordinate at most",
        ),
        (
            "kind: torus, sizes: [2, 2], wrap_around: false",
            "`fabric.wrap_around` has no effect: no dimension has more than two coordinates",
        ),
        (
            "kind: torus, sizes: [1], hosts_per_switch: 4, link_delay: 1us",
            "`fabric.link_delay` has no effect: there is one switch",
        ),
        (
            "kind: dragonfly-plus, groups: 1, leaves_per_group: 2, spines_per_group: 2, hosts_per_leaf: 2, \
             global_links_per_spine: 1, global_rate: 100Gbps",
            "`fabric.global_rate` has no effect: there is one group",
        ),
        (
            "kind: torus, sizes: [3, 2], wrap_around: true, paths: all",
            "",
        ),
    ] {
        let found = notes(&format!("fabric: {{{fabric}}}\n{JOB}")).join("\n");
        assert!(found.contains(expected), "{fabric}: {found}");
        assert_eq!(found.is_empty(), expected.is_empty(), "{fabric}: {found}");
    }
}

#[test]
fn signals_that_nobody_sends_or_that_cross_no_fabric() {
    let note = |signals: &str| {
        let fabric = "kind: single-switch, hosts: 4";
        notes(&format!(
            "fabric: {{{fabric}, source_flow_control: {signals}}}\n{JOB}"
        ))
    };
    assert_eq!(note("{mode: remote-pfc}"), Vec::<String>::new());
    assert_eq!(
        note("{threshold: 1MB}"),
        ["`fabric.source_flow_control.threshold` has no effect: `mode` is `none`"]
    );
    assert_eq!(
        note("{mode: nic, at: any}"),
        ["`fabric.source_flow_control.at` has no effect: every port leads to a host"]
    );
}

#[test]
fn source_ports_that_no_switch_looks_at() {
    let patient = "loss_recovery: {kind: selective-repeat, reorder: 64}";
    let note = |balancing: &str| {
        let fabric = "kind: leaf-spine, leaves: 2, hosts_per_leaf: 2, spines: 2";
        notes(&format!(
            "fabric: {{{fabric}, load_balancing: {balancing}}}\n\
             endpoint: {{nic: {{entropy: {{values: 4}}, {patient}}}}}\n{JOB}"
        ))
    };
    assert_eq!(note("{kind: ecmp}"), Vec::<String>::new());
    assert_eq!(
        note("{kind: ecmp, fields: [source_address]}"),
        ["`endpoint.nic.entropy` has no effect: switches do not hash the source port"]
    );
    assert_eq!(
        note("{kind: round-robin-spray}"),
        ["`endpoint.nic.entropy` has no effect: switches do not look at the hash of a packet"]
    );
    // Random draws depend on it.
    for kind in ["random-spray", "queue-aware-spray", "adaptive"] {
        assert_eq!(note(&format!("{{kind: {kind}}}")), Vec::<String>::new());
    }
}

#[test]
fn classes_without_packets() {
    let text = format!(
        "fabric: {{kind: single-switch, hosts: 4, switch: {{classes: [{{class: 0}}, {{class: 3}}, {{class: 6, ecn: {{kmin: 1MB, kmax: 2MB, pmax: 0.1}}}}]}}}}\nendpoint: {{nic: {{control_dscp: 48}}}}\n{JOB}"
    );
    let found = notes(&text);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("class 0 of"), "{found:?}");
    assert!(found[1].starts_with("`ecn` of class 6"), "{found:?}");
}

#[test]
fn a_class_that_others_trim_to_has_packets() {
    let found = |trim: &str| {
        notes(&format!(
            "fabric: {{kind: single-switch, hosts: 4, switch: {{classes: [{{class: 3, limit: 60kB{trim}}}, {{class: 6, scheduling: strict, limit: 600kB}}]}}}}\nendpoint: {{nic: {{transport: ultra-ethernet}}}}\n{JOB}"
        ))
    };
    assert_eq!(found(", trim: {to: 6}"), Vec::<String>::new());
    let without = found("");
    assert!(without[0].starts_with("class 6 of"), "{without:?}");
}
