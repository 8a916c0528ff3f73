use tenter_language::units::{Budget, Rate, Time};

use crate::topology::{
    CableEnd, Cabling, CoreTier, FatTree, HostId, LeafSpine, NodeId, OpticalCabling, OpticalPlace,
    OpticalSpec, OpticalTier, Planes, Rewiring, Routing, SwitchId, Taper, Topology, TopologySpec,
};

/// Two pods of two leaves with one host each, two aggregation switches per pod, two cores: hosts 0
/// to 3, leaves 4 to 7, aggregation 8 to 11, cores 12 and 13.
fn tree() -> FatTree {
    let rate = Rate::from_gbps(100);
    FatTree {
        hosts_per_leaf: 1,
        leaves_per_pod: 2,
        aggs_per_pod: 2,
        links_per_leaf_agg: 1,
        host_rate: rate,
        leaf_rate: rate,
        host_delay: Time::from_ns(10),
        leaf_delay: Time::from_ns(201),
        core: Some(CoreTier {
            pods: 2,
            cores_per_agg: 1,
            links_per_agg_core: 1,
            taper: Taper::default(),
            links_per_pod: None,
            rate,
            delay: Time::from_ns(200),
        }),
        planes: Planes::ONE,
    }
}

fn flexible(radix: u16) -> Topology {
    let spec = OpticalSpec {
        tier: OpticalTier::AboveLeaves,
        radix,
        delay: Time::from_ns(7),
        cabling: OpticalCabling::Straight,
    };
    spec.build(&TopologySpec::FatTree(tree()), &Budget::unlimited())
        .unwrap()
}

fn optical_spines(leaves: u32, spines: u32, links_per_pair: u32) -> Result<Topology, String> {
    let rate = Rate::from_gbps(100);
    let spec = OpticalSpec {
        tier: OpticalTier::InPlaceOfSpines,
        radix: 16,
        delay: Time::from_ns(7),
        cabling: OpticalCabling::Straight,
    };
    let leaf_spine = LeafSpine {
        leaves,
        hosts_per_leaf: 1,
        spines,
        links_per_pair,
        host_rate: rate,
        uplink_rate: rate,
        host_delay: Time::from_ns(10),
        fabric_delay: Time::from_ns(200),
        overrides: Vec::new(),
        cabling: Cabling::Regular,
        planes: Planes::ONE,
    };
    let built = spec.build(&TopologySpec::LeafSpine(leaf_spine), &Budget::unlimited());
    built.map_err(|error| error.to_string())
}

fn distance(routing: &Routing, a: u32, b: u32) -> u32 {
    routing.distance(HostId::new(a), HostId::new(b))
}

fn end(node: u32, port: u16) -> CableEnd {
    let node = NodeId::new(node);
    CableEnd { node, port }
}

#[test]
fn the_circuits_of_a_flexible_tree_are_its_cables_at_first() {
    let flexible = flexible(8);
    let standard = TopologySpec::FatTree(tree())
        .build(&Budget::unlimited())
        .unwrap();
    assert_eq!(flexible.nodes.len(), standard.nodes.len());
    for node in standard.node_ids() {
        for port in 0..standard.ports(node) {
            let peer = standard.neighbour(node, port);
            assert_eq!(flexible.neighbour(node, port), peer);
            let delay = standard.cable(node, port).delay;
            let is_optical = standard.tier(node) == Some(0) && standard.tier(peer.node) == Some(1)
                || standard.tier(node) == Some(1) && standard.tier(peer.node) == Some(0);
            // Both fibres together are as long as the cable; the switch is 7 ns more.
            let more = Time::from_ns(if is_optical { 7 } else { 0 });
            assert_eq!(flexible.cable(node, port).delay, delay + more);
            let place = flexible.optics.place(CableEnd { node, port });
            assert_eq!(place.is_some(), is_optical);
        }
    }
    // Eight uplinks on two switches of eight ports, each with all four leaves.
    assert_eq!(flexible.optics.switches().len(), 2);
    assert_eq!(flexible.cables.len(), standard.cables.len() + 8);
    let leaves: Vec<u32> = flexible.optics.switches()[0].ports[..4]
        .iter()
        .map(|port| port.device.node.number())
        .collect();
    assert_eq!(leaves, [4, 6, 5, 7]);
    assert_eq!(flexible.circuits().count(), 8);
}

#[test]
fn a_radix_leaves_some_switches_partly_empty() {
    // Eight uplinks, three to a switch.
    let sizes: Vec<usize> = flexible(6)
        .optics
        .switches()
        .iter()
        .map(|switch| switch.ports.len())
        .collect();
    assert_eq!(sizes, [6, 6, 4]);
}

#[test]
fn a_circuit_between_leaves_shortens_the_path() {
    let mut topology = flexible(8);
    let before = Routing::build(&topology, &Budget::unlimited()).unwrap();
    // Leaf, aggregation, core, aggregation, leaf.
    assert_eq!(distance(&before, 0, 2), 5);
    // Ports 0 and 1 of the first optical switch are those of leaves 4 and 6, hosts 0 and 2.
    let change = Rewiring {
        switch: 0,
        pairs: vec![(0, 1)],
        dark: Vec::new(),
    };
    topology.check_rewiring(&change).unwrap();
    assert_eq!(topology.affected(&change), [0, 1, 4, 5]);
    topology.rewire(&change);
    let after = Routing::build(&topology, &Budget::unlimited()).unwrap();
    assert_eq!(distance(&after, 0, 2), 2);
    assert_eq!(after.candidates(SwitchId::new(0), HostId::new(2)), [1]);
    assert_eq!(topology.neighbour(NodeId::new(4), 1), end(6, 1));
    assert_eq!(topology.neighbour(NodeId::new(6), 1), end(4, 1));
    assert_eq!(
        topology.cable(NodeId::new(4), 1).delay,
        Time::from_ps(100_500 + 7_000 + 100_500)
    );
    // The former partners are dark, and the fibre leads back.
    let at = |port| OpticalPlace { switch: 0, port };
    assert_eq!(topology.circuit(at(4)), None);
    assert!(topology.is_dark(NodeId::new(8), 0) && !topology.is_dark(NodeId::new(4), 1));
    assert_eq!(topology.circuits().count(), 7);
    // Back again.
    let back = Rewiring {
        switch: 0,
        pairs: vec![(0, 4), (1, 5)],
        dark: Vec::new(),
    };
    topology.rewire(&back);
    assert_eq!(topology, flexible(8));
}

#[test]
fn nothing_changes_where_the_circuit_is_there() {
    let topology = flexible(8);
    let same = Rewiring {
        switch: 1,
        pairs: vec![(0, 4)],
        dark: vec![],
    };
    assert!(topology.affected(&same).is_empty());
}

#[test]
fn wrong_circuits_are_refused() {
    let topology = flexible(8);
    let refused = |switch, pairs: &[(u16, u16)], dark: &[u16]| {
        let rewiring = Rewiring {
            switch,
            pairs: pairs.to_vec(),
            dark: dark.to_vec(),
        };
        topology.check_rewiring(&rewiring).unwrap_err().to_string()
    };
    assert!(refused(2, &[], &[]).contains("none of the 2 optical switches"));
    assert!(refused(0, &[(0, 8)], &[]).contains("no port 8; its ports are 0 to 7"));
    assert!(refused(0, &[(0, 1), (1, 2)], &[]).contains("port 1 twice"));
    assert!(refused(0, &[(0, 1)], &[0]).contains("port 0 twice"));
    // Aggregation switch 8 has two ports here.
    assert!(refused(0, &[(4, 6)], &[]).contains("both of `pod0/agg0`"));
}

#[test]
fn optical_spines_join_leaves() {
    let topology = optical_spines(6, 5, 1).unwrap();
    assert_eq!(topology.switches(), 6);
    let routing = Routing::build(&topology, &Budget::unlimited()).unwrap();
    // Five matchings of six leaves are a full mesh.
    for (a, b) in (0..6).flat_map(|a| (0..6).map(move |b| (a, b))) {
        assert_eq!(distance(&routing, a, b), if a == b { 0 } else { 2 });
    }
    assert_eq!(topology.cable(NodeId::new(6), 1).delay, Time::from_ns(407));
    // Two of them are one ring; one is not enough.
    let ring = optical_spines(6, 2, 1).unwrap();
    let routing = Routing::build(&ring, &Budget::unlimited()).unwrap();
    let farthest = (1..6).map(|other| distance(&routing, 0, other)).max();
    assert_eq!(farthest, Some(4));
    assert_eq!(optical_spines(6, 1, 2).unwrap().circuits().count(), 6);
    assert!(optical_spines(6, 1, 1).unwrap_err().contains("more spines"));
    assert!(
        optical_spines(17, 2, 1)
            .unwrap_err()
            .contains("needs 17 ports")
    );
}

#[test]
fn an_odd_number_of_leaves_leaves_one_dark() {
    let topology = optical_spines(5, 3, 1).unwrap();
    assert_eq!(topology.circuits().count(), 3 * 2);
    let dark = (5..10).flat_map(|leaf| (1..4).map(move |port| (leaf, port)));
    assert_eq!(
        dark.filter(|&(leaf, port)| topology.is_dark(NodeId::new(leaf), port))
            .count(),
        3
    );
}
