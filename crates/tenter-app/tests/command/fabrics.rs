//! `tenter import` and `tenter export` of fabrics.

use crate::workplace::Workplace;

const JOBS: &str = "jobs=[{collectives: [{collective: all-to-all, size: 256KiB}]}]";
const TOPOLOGY: &str = include_str!("../../../../scenarios/fabrics/topology.txt");
const INFRASTRUCTURE: &str = include_str!("../../../../scenarios/fabrics/infragraph.yml");
const SERVER: &str = include_str!("../../../../scenarios/fabrics/server.xml");
const CABLES: &str = include_str!("../../../../scenarios/fabrics/cables.csv");
const INTERFACES: &str = include_str!("../../../../scenarios/fabrics/interfaces.csv");

/// Fabrics of different kinds: parallel cables, rails with a scale-up domain, three tiers, and a
/// list of nodes.
const FABRICS: [(&str, &str); 4] = [
    (
        "spines",
        "fabric: {kind: leaf-spine, leaves: 3, hosts_per_leaf: 2, spines: 2, links_per_pair: 2, \
         uplink_rate: 250Gbps, fabric_delay: 123456ps}\n",
    ),
    (
        "rails",
        "fabric: {kind: rail, servers: 2, nics_per_server: 2, spines: 2}\nendpoint: {host: \
         {npus_per_nic: 2, scale_up: {npus_per_host: 4, rate: 900Gbps, latency: 600ns}}}\n",
    ),
    (
        "tree",
        "fabric: {kind: fat-tree, hosts_per_leaf: 2, leaves_per_pod: 2, aggs_per_pod: 2, core: \
         {pods: 2, cores_per_agg: 2}}\n",
    ),
    (
        "list",
        "fabric:\n  kind: explicit\n  nodes: [{name: a}, {name: b}, {name: c}, {name: west, kind: \
         switch}, {name: east, kind: switch}]\n  links: [{a: a, b: west}, {a: b, b: west}, {a: c, \
         b: east}, {a: west, b: east, rate: 100Gbps, delay: 500ns}]\n",
    ),
];

/// Digest and time of a run.
fn ran(workplace: &Workplace, file: &str) -> (String, String) {
    let run = [
        "run", file, "--set", JOBS, "--format", "json", "-o", "trial",
    ];
    let summary = workplace.tenter(&run).expect(0).json();
    let digest = summary["engine"]["digest"].as_str();
    let digest = digest.expect("a run has one").to_owned();
    (digest, summary["jobs"][0]["jct_ns"].to_string())
}

#[test]
fn fabrics_run_alike_after_a_round_trip() {
    let workplace = Workplace::new("fabrics-round-trip");
    for (name, text) in FABRICS {
        let file = format!("{name}.yaml");
        let jobs = "jobs: [{collectives: [{collective: all-reduce, size: 1MiB}]}]\n";
        workplace.write(&file, format!("{text}{jobs}"));
        let before = ran(&workplace, &file);
        for (format, written) in [
            ("infragraph", "back.yml"),
            ("infragraph", "back.json"),
            ("ns3-topology", "back.txt"),
        ] {
            // NVSwitches of SimAI are only read.
            if (format, name) == ("ns3-topology", "rails") {
                continue;
            }
            let export = format!("export {format} {file} -o {written} --format json");
            let counts = workplace.words(&export).expect(0).json();
            assert!(counts["cables"].as_u64() >= Some(4), "{counts}");
            let import = format!("import {format} {written} -o back.yaml");
            workplace.words(&import).expect(0);
            let after = ran(&workplace, "back.yaml");
            // Files of ns-3 have no names, which the digest has.
            if format == "infragraph" {
                assert_eq!(after, before, "{name}");
            }
            assert_eq!(after.1, before.1, "{name} by {format}");
        }
    }
}

#[test]
fn regular_trees_are_written_for_htsim() {
    let workplace = Workplace::new("fabrics-htsim");
    for (name, text) in FABRICS {
        let file = format!("{name}.yaml");
        // Rates and delays in whole Gbit/s and nanoseconds; a scenario needs no jobs.
        workplace.write(&file, text.replace("123456ps", "123ns"));
        let export = workplace.words(&format!("export topo {file} -o tree.topo"));
        if ["rails", "list"].contains(&name) {
            export.expect_refusal(&["regular fat trees only; export to `ns3-topology`"]);
            continue;
        }
        export.expect(0);
        workplace
            .words("import topo tree.topo -o back.yaml")
            .expect(0);
        assert_eq!(
            ran(&workplace, "back.yaml"),
            ran(&workplace, &file),
            "{name}"
        );
    }
}

#[test]
fn files_of_others_run() {
    let workplace = Workplace::new("fabrics-import");
    for (name, text) in [
        ("topology.txt", TOPOLOGY),
        ("infrastructure.yaml", INFRASTRUCTURE),
        ("server.xml", SERVER),
        ("cables.csv", CABLES),
        ("interfaces.csv", INTERFACES),
    ] {
        workplace.write(name, text);
    }
    for (import, parts) in [
        (
            "ns3-topology topology.txt",
            ["host7", "npus_per_host: 4, rate: 2.88Tbps"],
        ),
        (
            "infragraph infrastructure.yaml",
            ["host3/nic3", "npus_per_host: 4, rate: 3.6Tbps"],
        ),
        (
            "nccl-topo server.xml --set servers=2",
            ["nics_per_server: 4", "pcie: {generation: 5"],
        ),
        (
            "netbox cables.csv --set interfaces=interfaces.csv",
            ["gpu-04", "rate: 800Gbps"],
        ),
    ] {
        let answer = workplace
            .words(&format!("import {import} -o fabric.yaml"))
            .expect(0);
        assert!(
            answer.stdout.contains("tenter run fabric.yaml"),
            "{}",
            answer.stdout
        );
        let text = std::fs::read_to_string(workplace.path("fabric.yaml"));
        let text = text.expect("it was written");
        for part in parts {
            assert!(text.contains(part), "{part}\n{text}");
        }
        ran(&workplace, "fabric.yaml");
    }
    let answer = workplace.words("import netbox cables.csv");
    answer.expect_refusal(&["cables.csv: line 2: ", "`--set rate=400Gbps`"]);
    let answer = workplace.words("import ns3-topology topology.txt --set rate=1Gbps");
    answer.expect_refusal(&["`ns3-topology` has no setting `rate`; it takes none"]);
    let answer = workplace.words("import infragraph infrastructure.yaml --set rate=1");
    answer.expect_refusal(&["`rate`"]);
    let answer = workplace.words("import nccl-topo absent.xml");
    answer.expect_refusal(&["cannot read absent.xml"]);
}

#[test]
fn flows_and_links_of_ns3_have_the_same_numbers() {
    let workplace = Workplace::new("fabrics-ns3");
    let jobs =
        "jobs: [{ranks: [host4, host5], collectives: [{collective: permutation, size: 64KiB}]}]\n";
    workplace.write("case.yaml", format!("{}{jobs}", FABRICS[0].1));
    let answer = workplace
        .words("export ns3 case.yaml -o flow.txt")
        .expect(0);
    assert!(
        answer.stderr.contains("not those of the ranks"),
        "{}",
        answer.stderr
    );
    let flows = std::fs::read_to_string(workplace.path("flow.txt")).expect("it was written");
    let mut pairs: Vec<&str> = flows.lines().skip(1).map(|line| &line[..4]).collect();
    pairs.sort_unstable();
    assert_eq!(pairs, ["4 5 ", "5 4 "], "{flows}");
    workplace
        .words("export ns3-topology case.yaml -o topology.txt")
        .expect(0);
    let links = std::fs::read_to_string(workplace.path("topology.txt")).expect("it was written");
    // Six hosts, then three leaves and two spines; hosts 4 and 5 are on the third leaf.
    assert!(
        links.starts_with("11 5 18\n6 7 8 9 10\n0 6 400Gbps 25ns 0\n"),
        "{links}"
    );
    assert!(
        links.contains("\n4 8 400Gbps 25ns 0\n5 8 400Gbps 25ns 0\n"),
        "{links}"
    );
}
