use tenter_fabric::topology::TopologySpec;
use tenter_language::units::{Budget, Limits};

use super::*;
use crate::error::{ImportError, Place};
use crate::fabric::FabricText;
use crate::imported::Source;

/// Four hosts on two leaves under a spine, numbered as HPCC does.
const HPCC: &str = "7 3 6\n4 5 6\n0 4 100Gbps 1000ns 0\n1 4 100Gbps 1000ns 0.000000\n\
    2 5 100Gbps 1000ns 0\n3 5 100Gbps 0.001ms 0\n4 6 400000000000.0 0.5us 0.001\n5 6 400Gbps 500ns 0\n";

/// Two servers of two GPUs with an `NVSwitch` each, GPU i of both on leaf i.
const SIMAI: &str = "8 2 2 2 8 H100\n4 5 6 7\n0 4 2880Gbps 0.000025ms 0\n1 4 2880Gbps 0.000025ms 0\n\
    2 5 2880Gbps 0.000025ms 0\n3 5 2880Gbps 0.000025ms 0\n0 6 400Gbps 0.0005ms 0\n\
    1 7 400Gbps 0.0005ms 0\n2 6 400Gbps 0.0005ms 0\n3 7 400Gbps 0.0005ms 0\n";

fn import(text: &str) -> Result<FabricText, ImportError> {
    let bytes = text.as_bytes();
    read(Source { name: "t", bytes }, &Budget::unlimited())
}

#[test]
fn links_become_cables_with_their_rates_and_delays() {
    let read = import(HPCC).expect("it is a fabric");
    for line in [
        "- {name: host0}",
        "- {name: switch4, kind: switch, tier: 0}",
        "- {name: switch6, kind: switch, tier: 1}",
        "- {a: host3, b: switch5, rate: 100Gbps, delay: 1us}",
        "- {a: switch4, b: switch6, rate: 400Gbps, delay: 500ns}",
        "- {link: switch4-switch6, frame_loss: 0.001}",
    ] {
        assert!(read.yaml.contains(line), "{line}\n{}", read.yaml);
    }
    let lossy = HPCC
        .replace(" 0\n", " 0.01\n")
        .replace(" 0.000000\n", " 0.01\n");
    let read = import(&lossy).expect("it is a fabric");
    assert!(
        read.yaml.contains("{link: all, frame_loss: 0.01}"),
        "{}",
        read.yaml
    );
    assert!(
        read.yaml
            .contains("{link: switch4-switch6, frame_loss: 0.001}")
    );
}

#[test]
fn nv_switches_become_a_scale_up_domain() {
    // Rails apart are no fabric, so a spine joins them.
    let text = SIMAI
        .replace("8 2 2 2 8", "9 2 2 3 10")
        .replace("4 5 6 7\n", "4 5 6 7 8\n")
        + "6 8 400Gbps 0.0005ms 0\n7 8 400Gbps 0.0005ms 0\n";
    let read = import(&text).expect("it is a fabric");
    let domain = "scale_up: {npus_per_host: 2, rate: 2.88Tbps, latency: 50ns}";
    assert!(read.yaml.contains(domain), "{}", read.yaml);
    assert!(!read.yaml.contains("switch5"), "{}", read.yaml);
    let error = import(SIMAI).expect_err("it is in two parts");
    assert!(error.to_string().contains("`host0` to `host1`"), "{error}");
}

#[test]
fn further_links_of_a_node_are_hosts_behind_all_first_ones() {
    let text = HPCC.replace("7 3 6", "7 3 7") + "1 5 100Gbps 1us 0\n";
    let read = import(&text).expect("it is a fabric");
    let hosts: Vec<&str> = read
        .yaml
        .lines()
        .filter(|line| line.contains("name: host"))
        .collect();
    assert_eq!(hosts.len(), 5);
    assert!(hosts[4].contains("host1/nic1"), "{hosts:?}");
    assert!(
        read.yaml
            .contains("{a: host1/nic1, b: switch5, rate: 100Gbps, delay: 1us}")
    );
}

#[test]
fn dialects_are_told_by_their_first_line() {
    for first in [
        "7 3 2 6",
        "7 3 2 6 25",
        "7 3 2 6 25000000000 100000000000.0",
    ] {
        let read = import(&HPCC.replace("7 3 6", first)).expect(first);
        assert_eq!(read.yaml.matches("- {a: ").count(), 6, "{first}");
    }
}

#[test]
fn planes_of_their_own_are_told_apart() {
    let links =
        "0 2 400Gbps 500ns 0\n1 2 400Gbps 500ns 0\n0 3 400Gbps 500ns 0\n1 3 400Gbps 500ns 0\n";
    let text = format!("4 1 0 2 4 H100\n2 3\n{links}");
    let bytes = text.as_bytes();
    let error =
        read(Source { name: "t", bytes }, &Budget::unlimited()).expect_err("there are two fabrics");
    assert!(error.what.contains("no cables lead from"), "{error}");
    assert!(
        error.remedy.contains("the links of one plane alone"),
        "{error}"
    );
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    for (from, to, line, what) in [
        ("7 3 6", "7 3", 1, "2 words"),
        ("7 3 6", "7 4 6", 3, "one switch too many"),
        ("7 3 6", "7 3 9", 8, "there are 6 links"),
        ("7 3 6", "8 3 6", 8, "from node 7"),
        ("4 5 6", "4 5 5", 2, "listed twice"),
        ("4 5 6", "4 5 9", 2, "no node 9"),
        ("100Gbps", "100Gpbs", 3, "is not a rate"),
        ("0.5us", "0.5h", 7, "is not a delay"),
        ("0.001\n", "2\n", 7, "is not a chance"),
        ("0 4 ", "0 1 ", 3, "cabled to each other"),
        ("0 4 ", "0 ", 3, "there are 4"),
    ] {
        let error = import(&HPCC.replacen(from, to, 1)).expect_err(to);
        assert_eq!(error.place, Place::Line(line), "{to}: {error}");
        assert!(error.what.contains(what), "{to}: {error}");
    }
    for end in 0..HPCC.len() {
        let _ = import(&HPCC[..end]);
    }
}

#[test]
fn a_fabric_is_built_within_the_budget_of_its_file() {
    let limits = Limits {
        ranks: 3,
        ..Limits::NONE
    };
    let bytes = HPCC.as_bytes();
    let error = read(Source { name: "t", bytes }, &Budget::new(limits)).expect_err("four hosts");
    assert!(error.what.contains("4 ranks, and 3 are allowed"), "{error}");
}

#[test]
fn what_is_written_is_read_again() {
    let tree = tenter_fabric::topology::FatTree {
        core: Some(tenter_fabric::topology::CoreTier::new(2, 2)),
        ..tenter_fabric::topology::FatTree::new(2, 2, 2)
    };
    let topology = TopologySpec::FatTree(tree)
        .build(&Budget::unlimited())
        .expect("it is a tree");
    let loss = |end: tenter_fabric::topology::CableEnd| {
        if end.node.number() == 0 {
            (1 << 63) / 500
        } else {
            0
        }
    };
    let (text, notes) = write(&topology, &loss).expect("it has no circuits");
    assert_eq!(notes.len(), 1, "{notes:?}");
    let read = import(&text).expect("it is a fabric");
    assert_eq!(read.yaml.matches("- {name: host").count(), topology.hosts);
    assert_eq!(read.yaml.matches("- {a: ").count(), topology.cables.len());
    assert!(
        read.yaml
            .contains("{link: host0-switch8, frame_loss: 0.001}"),
        "{}",
        read.yaml
    );
}
