use tenter_fabric::topology::{CoreTier, FatTree, LeafSpine, Rail, Topology, TopologySpec};
use tenter_language::units::{Budget, Rate, Time};
use tenter_workload::ScaleUp;

use super::*;
use crate::error::{ImportError, Place};
use crate::fabric::{FabricReading, FabricText};
use crate::imported::Source;

/// Two servers of four GPUs on an inner switch and two NICs, each NIC a device, and a switch.
const SERVERS: &str = r"
name: two-servers
devices:
- name: server
  components:
  - {name: gpu, choice: xpu, count: 4}
  - {name: nvsw, choice: switch, count: 1}
  - {name: pcisw, choice: switch, count: 1}
  - {name: cx, choice: device, count: 2}
  links:
  - name: nvlink
    physical:
      bandwidth: {choice: gigabytes_per_second, gigabytes_per_second: 450}
      latency: {choice: ns, ns: 200.5}
  - {name: pcie}
  edges:
  - {ep1: {component: gpu}, ep2: {component: nvsw}, scheme: many2many, link: nvlink}
  - {ep1: {component: gpu}, ep2: {component: pcisw}, scheme: many2many, link: pcie}
  - {ep1: {component: 'cx[0:2].asic'}, ep2: {component: pcisw}, scheme: many2many, link: pcie}
- name: cx
  components:
  - {name: asic, choice: nic, count: 1}
  - {name: port, choice: port, count: 1}
  links: [{name: inner}]
  edges: [{ep1: {component: asic}, ep2: {component: port}, scheme: one2one, link: inner}]
- name: box
  components: [{name: port, choice: port, count: 8}]
  links: []
  edges: []
links:
- name: fast
  physical:
    bandwidth: {choice: gigabits_per_second, gigabits_per_second: 400}
    latency: {choice: us, us: 0.5}
instances:
- {name: node, device: server, count: 2}
- {name: top, device: box, count: 1}
edges:
- {ep1: {instance: 'node', component: 'cx[0:2].port[0]'}, ep2: {instance: top, component: 'port[::2]'}, scheme: one2one, link: fast}
";

fn import_as(text: &str, reading: &FabricReading) -> Result<FabricText, ImportError> {
    let bytes = text.as_bytes();
    read(
        Source { name: "t", bytes },
        None,
        reading,
        &Budget::unlimited(),
    )
}

fn import(text: &str) -> Result<FabricText, ImportError> {
    import_as(text, &FabricReading::default())
}

#[test]
fn servers_have_hosts_and_scale_up_domains() {
    let read = import(SERVERS).expect("it is a fabric");
    for line in [
        "- {name: node0/cx0/port0}",
        "- {name: node1/cx1/port0}",
        "- {name: top, kind: switch, tier: 0}",
        "- {a: node1/cx0/port0, b: top, rate: 400Gbps, delay: 500ns}",
        "npus_per_nic: 2",
        "scale_up: {npus_per_host: 4, rate: 3.6Tbps, latency: 401ns}",
    ] {
        assert!(
            read.yaml.contains(line),
            "{line}\n{}\n{:?}",
            read.yaml,
            read.notes
        );
    }
}

#[test]
fn ranks_put_hosts_in_order() {
    let nodes = "
annotations:
  nodes:
  - {name: node.1.gpu.0, attributes: [{attribute: rank, value: '0'}]}
  - {name: 'node[1]gpu[1]', attributes: [{attribute: rank, value: '1'}, {attribute: ip, value: x}]}
  - {name: node.1.gpu.2, attributes: [{attribute: rank, value: '2'}]}
  - {name: node.1.gpu.3, attributes: [{attribute: rank, value: '3'}]}
";
    let indented = SERVERS.replace('\n', "\n  ");
    let text = format!("infrastructure:{indented}{nodes}");
    let read = import(&text).expect("it is a fabric");
    let names = |yaml: &str| {
        let lines = yaml.lines().filter(|line| line.contains("{name: node"));
        lines.map(|line| line.trim().to_owned()).collect::<Vec<_>>()
    };
    let hosts = names(&read.yaml);
    assert_eq!(hosts[0], "- {name: node1/cx0/port0}");
    assert_eq!(hosts[2], "- {name: node0/cx0/port0}");
    assert!(read.yaml.contains("npus_per_host: 4"), "{}", read.yaml);
    assert!(
        read.notes
            .iter()
            .any(|note| note.contains("without a rank")),
        "{:?}",
        read.notes
    );
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let edge = "- {ep1: {instance: 'node'";
    let unrated = "bandwidth: {choice: gigabits_per_second, gigabits_per_second: 400}";
    for (from, to, line, what) in [
        (
            "scheme: one2one, link: fast",
            "scheme: ring, link: fast",
            edge,
            "`ring`",
        ),
        ("link: fast", "link: slow", edge, "no link `slow`"),
        ("port[::2]", "port[9]", edge, "there is no `port[9]`"),
        ("instance: top", "instance: tip", edge, "no instance `tip`"),
        (
            "cx[0:2].port[0]",
            "cx[0:2].prt[0]",
            edge,
            "no component `prt`",
        ),
        ("choice: nic", "choice: card", "choice: card", "no choice"),
        ("count: 8", "count: many", "count: many", "is not a count"),
        ("count: 8", "count: 9999999999", "99999", "too large"),
        (
            "device: box",
            "device: bax",
            "device: bax",
            "no device `bax`",
        ),
        (
            "name: asic, choice: nic",
            "name: cx, choice: device",
            "- name: cx",
            "is in itself",
        ),
        (unrated, "speed: 1", edge, "nothing tells the rate"),
        (
            "edges:\n- {ep1: {instance",
            "connections:\n- {x: {y",
            "connections",
            "`connections`",
        ),
    ] {
        let text = SERVERS.replacen(from, to, 1);
        let error = import(&text).expect_err(to);
        assert!(error.what.contains(what), "{to}: {error}");
        let at = text.find(line).expect("it is there");
        let line = 1 + text[..at].matches('\n').count();
        assert_eq!(error.place, Place::Line(line), "{to}: {error}");
    }
    let error = import("infrastructure:\n  connections:\n  - a.0.nic.0.eth.b.0.port.0\n");
    assert!(
        error
            .expect_err("it is stale")
            .to_string()
            .contains("version 3")
    );
    for end in 0..SERVERS.len() {
        let _ = import(&SERVERS[..end]);
    }
}

#[test]
fn rates_that_are_missing_are_given() {
    let silent = "bandwidth: {choice: gigabits_per_second, gigabits_per_second: 400}";
    let silent = SERVERS
        .replacen(silent, "speed: 1", 1)
        .replace("latency: {choice: us, us: 0.5}", "x: 1");
    let reading = FabricReading {
        rate: Some(Rate::from_gbps(100)),
        ..FabricReading::default()
    };
    let read = import_as(&silent, &reading).expect("it is a fabric");
    assert!(
        read.yaml.contains("rate: 100Gbps, delay: 25ns"),
        "{}",
        read.yaml
    );
    assert!(
        read.notes.iter().any(|note| note.contains("unknown delay")),
        "{:?}",
        read.notes
    );
}

/// Nodes by number, with tiers, and cables by number, with rates and delays, are the same again.
fn comes_back(topology: &Topology, server: Server) -> FabricText {
    let (yaml, _) = write(topology, server, "t", false).expect("it can be written");
    let (json, _) = write(topology, server, "t", true).expect("it can be written");
    let read = import(&yaml).unwrap_or_else(|error| panic!("{error}\n{yaml}"));
    assert_eq!(import(&json).as_ref(), Ok(&read));
    assert_eq!(read.yaml.matches("- {name: ").count(), topology.nodes.len());
    let counts = read
        .yaml
        .lines()
        .filter_map(|line| line.trim_end_matches('}').split_once("count: "));
    let parallel: usize = counts
        .map(|(_, count)| count.parse::<usize>().expect("a count") - 1)
        .sum();
    assert_eq!(
        read.yaml.matches("- {a: ").count() + parallel,
        topology.cables.len()
    );
    read
}

const ALONE: Server = Server {
    npus_per_nic: 1,
    scale_up: None,
};

#[test]
fn fabrics_come_back_as_they_were() {
    let spines = TopologySpec::LeafSpine(LeafSpine {
        links_per_pair: 2,
        fabric_delay: Time::from_ps(200_500),
        uplink_rate: Rate::from_bits_per_second(2_500_000_000),
        ..LeafSpine::new(2, 3, 2)
    });
    let spines = spines.build(&Budget::unlimited()).expect("it is a fabric");
    let read = comes_back(&spines, ALONE);
    assert!(read.notes.is_empty(), "{:?}", read.notes);
    for line in [
        "- {name: host5}",
        "- {name: spine1, kind: switch, tier: 1}",
        "- {a: leaf1, b: spine0, rate: 2500Mbps, delay: 200500ps, count: 2}",
    ] {
        let found = read.yaml.contains(line) || read.yaml.contains("rate: 2.5Gbps, delay: 200.5ns");
        assert!(found, "{line}\n{}", read.yaml);
    }
    let tree = FatTree {
        core: Some(CoreTier::new(2, 2)),
        ..FatTree::new(2, 2, 2)
    };
    let tree = TopologySpec::FatTree(tree)
        .build(&Budget::unlimited())
        .expect("it is a tree");
    let read = comes_back(&tree, ALONE);
    for node in &tree.nodes {
        let name = format!("{{name: {}", node.name);
        assert!(read.yaml.contains(&name), "{name}\n{}", read.yaml);
    }
    let rails = TopologySpec::Rail(Rail::new(2, 4, 2))
        .build(&Budget::unlimited())
        .expect("it is a fabric");
    let read = comes_back(&rails, ALONE);
    assert!(
        read.yaml.contains("- {name: server1/nic3}"),
        "{}",
        read.yaml
    );
    let domain = ScaleUp {
        npus_per_host: 8,
        rate: Rate::from_gbps(900),
        latency: Time::from_ns(700),
        generation: None,
        nccl_kernels: None,
        expert_kernels: None,
    };
    let shared = Server {
        npus_per_nic: 2,
        scale_up: Some(domain),
    };
    let read = comes_back(&rails, shared);
    for key in [
        "npus_per_nic: 2",
        "{npus_per_host: 8, rate: 900Gbps, latency: 700ns}",
    ] {
        assert!(read.yaml.contains(key), "{}", read.yaml);
    }
}
