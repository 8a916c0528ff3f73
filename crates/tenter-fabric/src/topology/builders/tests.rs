use proptest::prelude::*;
use tenter_language::config::default_with;
use tenter_language::units::{Budget, Rate, Time};

use crate::topology::*;

fn gbps(rate: u64) -> Rate {
    Rate::from_gbps(rate)
}

fn leaf_spine(leaves: u32, hosts_per_leaf: u32, spines: u32, links_per_pair: u32) -> LeafSpine {
    LeafSpine {
        leaves,
        hosts_per_leaf,
        spines,
        links_per_pair,
        host_rate: gbps(400),
        uplink_rate: gbps(800),
        host_delay: Time::from_ns(10),
        fabric_delay: Time::from_ns(300),
        overrides: vec![],
        cabling: Cabling::Regular,
        planes: Planes::ONE,
    }
}

fn rail(servers: u32, nics_per_server: u32, servers_per_group: u32, spines: u32) -> Rail {
    Rail {
        servers,
        nics_per_server,
        servers_per_group,
        spines,
        links_per_pair: 1,
        host_rate: gbps(400),
        uplink_rate: gbps(400),
        host_delay: Time::from_ns(10),
        fabric_delay: Time::from_ns(300),
        cabling: Cabling::Regular,
    }
}

fn built(spec: &LeafSpine) -> Topology {
    TopologySpec::LeafSpine(spec.clone())
        .build(&Budget::unlimited())
        .unwrap()
}

fn refused(spec: &LeafSpine) -> String {
    TopologySpec::LeafSpine(spec.clone())
        .build(&Budget::unlimited())
        .unwrap_err()
        .to_string()
}

fn ports(topology: &Topology, name: &str) -> usize {
    usize::from(topology.ports(topology.find(name).unwrap()))
}

fn peers(topology: &Topology, name: &str) -> Vec<String> {
    let node = topology.find(name).unwrap();
    topology
        .neighbours(node)
        .map(|peer| topology.name(peer.node).to_owned())
        .collect()
}

#[test]
fn fabric_of_512_nics_on_eight_leaves() {
    // 64 × 400G down and 4 × 8 × 800G up per leaf: 25.6 Tbps each way; 8 leaves × 8 links fill a
    // spine's 64 ports.
    let topology = built(&leaf_spine(8, 64, 4, 8));
    assert_eq!((topology.hosts, topology.switches()), (512, 12));
    assert_eq!(topology.cables.len(), 512 + 8 * 4 * 8);
    assert_eq!(
        (ports(&topology, "leaf7"), ports(&topology, "spine3")),
        (96, 64)
    );
    for leaf in topology.oversubscription() {
        assert_eq!((leaf.tier, leaf.down_bps), (0, 25_600_000_000_000));
        assert!((leaf.ratio() - 1.0).abs() < 1e-12);
    }
    // Half of 512 × 400G.
    let (bps, exact) = (102_400_000_000_000, true);
    assert_eq!(topology.bisection(), Some(Bisection { bps, exact }));
}

#[test]
fn bisections_that_are_bounds_and_that_are_not_told() {
    let told = |spec: LeafSpine| {
        let found = built(&spec).bisection();
        found.map(|found| (found.bps / 1_000_000_000, found.exact))
    };
    // 4 leaves of 8 × 400G with one uplink of 800G: half of 4 × 800G.
    let narrow = leaf_spine(4, 8, 1, 1);
    assert_eq!(told(narrow.clone()), Some((1_600, true)));
    // One uplink twice as fast: the two slow leaves of one half still send 1,600G.
    let mut uneven = narrow;
    uneven.overrides = vec![LinkOverride {
        leaf: 0,
        spine: 0,
        links: None,
        rate: Some(gbps(1_600)),
    }];
    assert_eq!(told(uneven), Some((2_000, false)));
    // Half of three such leaves cuts one in two, whose hosts need no uplink; and with uplinks for
    // all, it is half of the hosts again.
    assert_eq!(told(leaf_spine(3, 8, 1, 1)), None);
    assert_eq!(told(leaf_spine(3, 8, 4, 1)), Some((12 * 400, true)));
    // Nine hosts have no half.
    assert_eq!(told(leaf_spine(3, 3, 4, 1)), None);
}

#[test]
fn fabric_of_2048_nics_on_32_leaves() {
    // 32 leaves × 2 links fill a spine's 64 ports; 16 spines × 2 links are a leaf's 32 uplinks.
    let topology = built(&leaf_spine(32, 64, 16, 2));
    assert_eq!((topology.hosts, topology.switches()), (2048, 48));
    assert_eq!(
        (ports(&topology, "leaf31"), ports(&topology, "spine15")),
        (96, 64)
    );
    assert_eq!(topology.tiers()[1].down_bps, 32 * 32 * 800_000_000_000);
}

#[test]
fn ports_are_numbered_by_neighbour_then_parallel_index() {
    let topology = built(&leaf_spine(2, 2, 2, 2));
    assert_eq!(
        peers(&topology, "leaf1"),
        ["host2", "host3", "spine0", "spine0", "spine1", "spine1"]
    );
    assert_eq!(
        peers(&topology, "spine1"),
        ["leaf0", "leaf0", "leaf1", "leaf1"]
    );
    // Parallel cables keep their index at both ends: leaf1's second link to spine1 is port 5, and
    // port 3 there.
    let leaf = topology.find("leaf1").unwrap();
    assert_eq!(topology.neighbour(leaf, 5).port, 3);
    // Cable h belongs to host h.
    assert!((0..4).all(|host| topology.link_id(HostId::new(host), 0) == 2 * host));
    assert_eq!(topology.cable(leaf, 0).delay, Time::from_ns(10));
    assert_eq!(topology.cable(leaf, 2).delay, Time::from_ns(300));
}

#[test]
fn overrides_make_links_unequal() {
    let mut spec = leaf_spine(2, 2, 2, 2);
    spec.overrides = vec![
        LinkOverride {
            leaf: 0,
            spine: 1,
            links: Some(0),
            rate: None,
        },
        LinkOverride {
            leaf: 1,
            spine: 0,
            links: Some(3),
            rate: Some(gbps(100)),
        },
    ];
    let topology = built(&spec);
    assert_eq!(
        peers(&topology, "leaf0"),
        ["host0", "host1", "spine0", "spine0"]
    );
    assert_eq!(peers(&topology, "spine1"), ["leaf1", "leaf1"]);
    let leaf = topology.find("leaf1").unwrap();
    assert_eq!(topology.cable(leaf, 4).rate, gbps(100));
    assert_eq!(topology.cable(leaf, 5).rate, gbps(800));
    // leaf1 has 2 × 400G down and 3 × 100G + 2 × 800G up.
    assert_eq!(topology.oversubscription()[1].up_bps, 1_900_000_000_000);
}

#[test]
fn inconsistent_overrides_are_refused() {
    let with = |leaf, spine, links, rate| {
        let mut spec = leaf_spine(2, 2, 2, 2);
        spec.overrides = vec![LinkOverride {
            leaf,
            spine,
            links,
            rate,
        }];
        spec
    };
    assert_eq!(
        refused(&with(2, 0, Some(1), None)),
        "the override for leaf 2 and spine 0 is out of range; leaves are 0 to 1, spines 0 to 1"
    );
    assert!(refused(&with(0, 0, None, None)).contains("changes nothing"));
    assert!(refused(&with(0, 0, Some(0), Some(gbps(1)))).contains("gives a rate to 0 links"));
    assert!(refused(&with(0, 0, None, Some(gbps(0)))).contains("is 0bps"));
    let mut twice = with(0, 1, Some(1), None);
    twice.overrides.push(twice.overrides[0].clone());
    assert!(refused(&twice).contains("leaf 0 and spine 1 are overridden twice"));
    let mut cut = with(0, 0, Some(0), None);
    cut.overrides.push(LinkOverride {
        leaf: 0,
        spine: 1,
        links: Some(0),
        rate: None,
    });
    assert_eq!(
        refused(&cut),
        "host `host0` cannot reach host `host2`; add links between their switches"
    );
}

#[test]
fn cabling_places_every_nic() {
    // Two servers of four NICs: the first two of each on one leaf, the other two on the other.
    let mut spec = leaf_spine(2, 4, 1, 1);
    spec.cabling = Cabling::Leaves(vec![0, 0, 1, 1, 0, 0, 1, 1]);
    assert_eq!(
        peers(&built(&spec), "leaf1"),
        ["host2", "host3", "host6", "host7", "spine0"]
    );
    // Half populated.
    spec.cabling = Cabling::Leaves(vec![1, 0, 1]);
    assert_eq!(peers(&built(&spec), "leaf1"), ["host0", "host2", "spine0"]);
    spec.cabling = Cabling::Leaves(vec![0; 5]);
    assert_eq!(
        refused(&spec),
        "`cabling` puts 5 hosts on leaf 0, which has 4 host ports; move some to another leaf"
    );
    spec.cabling = Cabling::Leaves(vec![0, 2]);
    assert_eq!(
        refused(&spec),
        "`cabling` puts host 1 on leaf 2, which does not exist; leaves are 0 to 1"
    );
    spec.cabling = Cabling::Leaves(vec![]);
    assert!(refused(&spec).contains("has 0 entries; give 1 to 8"));
}

#[test]
fn rails_join_equal_nics() {
    // Three servers of two NICs in groups of two: leaves 0 and 1 are the rails of servers 0 and 1.
    let topology = TopologySpec::Rail(rail(3, 2, 2, 2))
        .build(&Budget::unlimited())
        .unwrap();
    assert_eq!(
        peers(&topology, "leaf1"),
        ["server0/nic1", "server1/nic1", "spine0", "spine1"]
    );
    assert_eq!(
        peers(&topology, "leaf2"),
        ["server2/nic0", "spine0", "spine1"]
    );
    assert_eq!(topology.switches(), 4 + 2);
    let mut swapped = rail(2, 2, 2, 1);
    swapped.cabling = Cabling::Leaves(vec![0, 1, 1, 0]);
    let topology = TopologySpec::Rail(swapped.clone())
        .build(&Budget::unlimited())
        .unwrap();
    assert_eq!(
        peers(&topology, "leaf0"),
        ["server0/nic0", "server1/nic1", "spine0"]
    );
    swapped.cabling = Cabling::Leaves(vec![0, 1]);
    let short = TopologySpec::Rail(swapped)
        .build(&Budget::unlimited())
        .unwrap_err();
    assert!(short.to_string().contains("has 2 entries; give 4,"));
}

#[test]
fn fat_tree_of_eight_port_switches() {
    let tree = FatTree::k_ary(8, gbps(400), Time::from_ns(100)).unwrap();
    let topology = TopologySpec::FatTree(tree)
        .build(&Budget::unlimited())
        .unwrap();
    // k³/4 hosts, k²/2 leaves and as many aggregation switches, k²/4 cores; three times k³/4
    // cables; every port in use.
    assert_eq!((topology.hosts, topology.switches()), (128, 32 + 32 + 16));
    assert_eq!(topology.cables.len(), 3 * 128);
    assert!(
        topology.nodes.as_slice()[128..]
            .iter()
            .all(|switch| switch.ports.len() == 8)
    );
    assert_eq!(
        peers(&topology, "pod1/agg2"),
        [
            "leaf4", "leaf5", "leaf6", "leaf7", "core8", "core9", "core10", "core11"
        ]
    );
    assert_eq!(peers(&topology, "core8")[..2], ["pod0/agg2", "pod1/agg2"]);
    let (bps, exact) = (64 * 400_000_000_000, true);
    assert_eq!(topology.bisection(), Some(Bisection { bps, exact }));
    let routing = Routing::build(&topology, &Budget::unlimited()).unwrap();
    let apart = |to| routing.distance(HostId::new(0), HostId::new(to));
    assert_eq!([1, 4, 16].map(apart), [1, 3, 5]);
    assert!(FatTree::k_ary(7, gbps(400), Time::ZERO).is_err());
}

#[test]
fn fat_tree_oversubscribed_on_each_tier() {
    let mut tree = FatTree::k_ary(4, gbps(100), Time::ZERO).unwrap();
    tree.hosts_per_leaf = 6;
    let core = tree.core.as_mut().unwrap();
    core.cores_per_agg = 1;
    core.links_per_agg_core = 2;
    core.rate = gbps(25);
    let topology = TopologySpec::FatTree(tree.clone())
        .build(&Budget::unlimited())
        .unwrap();
    // Leaves 6 · 100 : 2 · 100 = 3; aggregation 2 · 100 : 2 · 25 = 4.
    for switch in topology.oversubscription() {
        let wanted = if switch.tier == 0 { 3.0 } else { 4.0 };
        assert!((switch.ratio() - wanted).abs() < 1e-12);
    }
    tree.core = None;
    let topology = TopologySpec::FatTree(tree)
        .build(&Budget::unlimited())
        .unwrap();
    assert_eq!((topology.hosts, topology.switches()), (12, 4));
    assert_eq!(peers(&topology, "spine1"), ["leaf0", "leaf1"]);
}

#[test]
fn a_tapered_tree_loses_cores_first() {
    let mut tree = FatTree::k_ary(4, gbps(100), Time::ZERO).unwrap();
    let mut tapered = |links: u32| {
        tree.core.as_mut().unwrap().links_per_pod = Some(links);
        TopologySpec::FatTree(tree.clone())
            .build(&Budget::unlimited())
            .unwrap()
    };
    // Four pods of two aggregation switches, each with two cores above it.
    let all = tapered(4);
    let whole = FatTree::k_ary(4, gbps(100), Time::ZERO).unwrap();
    assert_eq!(
        all,
        TopologySpec::FatTree(whole)
            .build(&Budget::unlimited())
            .unwrap()
    );
    let three = tapered(3);
    assert_eq!((three.switches(), three.cables.len()), (8 + 8 + 3, 48 - 4));
    assert_eq!(peers(&three, "pod2/agg0")[2..], ["core0", "core1"]);
    assert_eq!(peers(&three, "pod2/agg1")[2..], ["core2"]);
    assert_eq!(three.tiers()[2].down_bps, 12 * 100_000_000_000);
    // The second aggregation switch of each pod then serves its pod alone.
    let one = tapered(1);
    assert_eq!(peers(&one, "core0").len(), 4);
    assert_eq!(peers(&one, "pod3/agg1"), ["leaf6", "leaf7"]);
}

fn node(name: &str, tier: Option<u8>) -> ExplicitNode {
    let kind = tier.map_or(NodeKind::Host, |tier| NodeKind::Switch { tier });
    ExplicitNode::new(name, kind)
}

fn link(a: &str, b: &str, count: u32) -> ExplicitLink {
    ExplicitLink {
        a: a.to_owned(),
        b: b.to_owned(),
        rate: gbps(100),
        delay: Time::ZERO,
        count,
    }
}

fn explicit() -> Explicit {
    Explicit {
        nodes: vec![
            node("top", Some(1)),
            node("b", None),
            node("left", Some(0)),
            node("a", None),
            node("right", Some(0)),
        ],
        links: vec![
            link("top", "left", 2),
            link("right", "top", 1),
            link("a", "left", 1),
            link("right", "b", 1),
        ],
        routes: vec![],
    }
}

#[test]
fn explicit_lists_are_put_in_order() {
    let topology = TopologySpec::Explicit(explicit())
        .build(&Budget::unlimited())
        .unwrap();
    let names: Vec<&str> = topology
        .nodes
        .iter()
        .map(|node| node.name.as_str())
        .collect();
    assert_eq!(names, ["b", "a", "left", "right", "top"]);
    assert_eq!(peers(&topology, "top"), ["left", "left", "right"]);
    assert_eq!(peers(&topology, "left"), ["a", "top", "top"]);
}

#[test]
fn explicit_mistakes_are_named() {
    let refused = |change: &dyn Fn(&mut Explicit)| {
        let mut spec = explicit();
        change(&mut spec);
        TopologySpec::Explicit(spec)
            .build(&Budget::unlimited())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        refused(&|spec| spec.links[0].b = "letf".to_owned()),
        "link 0 names a node `letf` that is not in the list; did you mean `left`?"
    );
    assert!(refused(&|spec| spec.links[0].b = "spine17".to_owned()).contains("add it to the list"));
    assert_eq!(
        refused(&|spec| spec.links[1].count = 0),
        "`count of link 1 (right – top)` is 0; give at least 1"
    );
    let zero = Rate::default();
    assert!(refused(&|spec| spec.links[1].rate = zero).contains("`rate of link 1 (right – top)`"));
    assert!(refused(&|spec| spec.links[2].count = 2).contains("host `a` has 2 ports"));
    assert!(refused(&|spec| drop(spec.links.pop())).contains("host `b` has 0 ports"));
    assert!(refused(&|spec| spec.links.push(link("top", "top", 1))).contains("`top` to itself"));
    assert!(refused(&|spec| spec.nodes.push(node("a", None))).contains("called `a`; rename"));
    assert!(refused(&|spec| spec.nodes.push(node("", None))).contains("node 5"));
    assert!(refused(&|spec| drop(spec.links.remove(1))).contains("cannot reach"));
    assert!(refused(&|spec| spec.links[0].count = 65_535).contains("`left` has 65536 ports"));
    assert!(refused(&|spec| spec.nodes = vec![node("top", Some(1))]).contains("link 0 names"));
    let pair = Explicit {
        nodes: vec![node("a", None), node("b", None)],
        links: vec![link("a", "b", 1)],
        routes: vec![],
    };
    let error = TopologySpec::Explicit(pair)
        .build(&Budget::unlimited())
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("`a` and `b` are cabled to each other")
    );
    let empty = Explicit {
        nodes: vec![],
        links: vec![],
        routes: vec![],
    };
    assert_eq!(
        TopologySpec::Explicit(empty).build(&Budget::unlimited()),
        Err(TopologyError::NoHosts)
    );
}

#[test]
fn zeros_and_huge_numbers_are_refused_before_anything_is_built() {
    assert_eq!(
        refused(&leaf_spine(0, 1, 1, 1)),
        "`leaves` is 0; give at least 1"
    );
    assert_eq!(
        refused(&leaf_spine(1, 1, 1, 0)),
        "`links_per_pair` is 0; give at least 1"
    );
    let mut slow = leaf_spine(1, 1, 1, 1);
    slow.uplink_rate = Rate::default();
    assert!(refused(&slow).contains("`uplink_rate` is 0bps"));
    let most = u32::MAX;
    assert!(refused(&leaf_spine(most, most, most, most)).contains("hosts, and at most 1048576"));
    assert!(refused(&leaf_spine(1, 1, most, most)).contains("cables, and at most 16777216"));
    assert!(refused(&leaf_spine(1, 70_000, 1, 1)).contains("`leaf0` has 70001 ports"));
    let mut far = leaf_spine(most, 1, 1, 1);
    far.cabling = Cabling::Leaves(vec![0]);
    assert!(refused(&far).contains("cables, and at most"));
    let tree = FatTree::k_ary(most - 1, gbps(1), Time::ZERO).unwrap();
    assert!(
        TopologySpec::FatTree(tree)
            .build(&Budget::unlimited())
            .unwrap_err()
            .to_string()
            .contains("hosts, and")
    );
    let huge = TopologySpec::Rail(rail(most, most, 1, 1))
        .build(&Budget::unlimited())
        .unwrap_err();
    assert!(
        huge.to_string()
            .contains("reduce `servers` or `nics_per_server`")
    );
    let hosts = SingleSwitch {
        hosts: 65_536,
        rate: gbps(1),
        host_delay: Time::ZERO,
    };
    let huge = TopologySpec::SingleSwitch(hosts)
        .build(&Budget::unlimited())
        .unwrap_err();
    assert!(huge.to_string().contains("`leaf0` has 65536 ports"));
}

const DRAGONFLY_PLUS: [(&str, &str); 5] = [
    ("groups", "1"),
    ("leaves_per_group", "1"),
    ("spines_per_group", "1"),
    ("hosts_per_leaf", "1"),
    ("global_links_per_spine", "1"),
];

#[test]
fn every_kind_has_its_name() {
    let tree = FatTree::k_ary(2, gbps(1), Time::ZERO).unwrap();
    let single = SingleSwitch {
        hosts: 1,
        rate: gbps(1),
        host_delay: Time::ZERO,
    };
    let specs = [
        TopologySpec::SingleSwitch(single),
        TopologySpec::LeafSpine(leaf_spine(1, 1, 1, 1)),
        TopologySpec::FatTree(tree),
        TopologySpec::Rail(rail(1, 1, 1, 1)),
        TopologySpec::RailOnly(RailOnly::new(1, 2)),
        TopologySpec::Dragonfly(dragonfly(2, 1, 1, 1)),
        TopologySpec::DragonflyPlus(DragonflyPlus {
            groups: 2,
            leaves_per_group: 1,
            spines_per_group: 1,
            hosts_per_leaf: 1,
            global_links_per_spine: 1,
            ..default_with(&DRAGONFLY_PLUS)
        }),
        TopologySpec::SlimFly(SlimFly {
            hosts_per_router: 1,
            ..default_with(&[("q", "3"), ("hosts_per_router", "1")])
        }),
        TopologySpec::Hyperx(Hyperx {
            sizes: vec![2],
            ..default_with(&[("sizes", "[]"), ("hosts_per_switch", "1")])
        }),
        TopologySpec::Torus(Torus {
            sizes: vec![2],
            ..default_with(&[("sizes", "[]")])
        }),
        TopologySpec::Explicit(explicit()),
    ];
    assert_eq!(
        specs.each_ref().map(TopologySpec::word),
        TopologySpec::WORDS
    );
    assert!(
        specs
            .iter()
            .all(|spec| spec.build(&Budget::unlimited()).is_ok())
    );
}

proptest! {
    #[test]
    fn counts_follow_the_formulas(
        hosts in 1_u32..5, leaves in 1_u32..5, aggs in 1_u32..4, links in 1_u32..3,
        pods in 1_u32..4, cores in 1_u32..4, core_links in 1_u32..3, groups in 1_u32..4,
    ) {
        let counts = |topology: &Topology| {
            [topology.hosts, topology.switches(), topology.cables.len()].map(|count| count as u32)
        };
        let two = built(&leaf_spine(leaves, hosts, aggs, links));
        let cables = leaves * hosts + leaves * aggs * links;
        prop_assert_eq!(counts(&two), [leaves * hosts, leaves + aggs, cables]);
        let mut tree = FatTree::k_ary(2, gbps(100), Time::ZERO).unwrap();
        (tree.hosts_per_leaf, tree.leaves_per_pod) = (hosts, leaves);
        (tree.aggs_per_pod, tree.links_per_leaf_agg) = (aggs, links);
        let (rate, delay) = (gbps(100), Time::ZERO);
        let links_per_agg_core = core_links;
        let (cores_per_agg, links_per_pod, taper) = (cores, None, Taper::default());
        let tier = CoreTier {
            pods, cores_per_agg, links_per_agg_core, taper, links_per_pod, rate, delay
        };
        tree.core = Some(tier);
        let three = TopologySpec::FatTree(tree).build(&Budget::unlimited()).unwrap();
        let cables = pods * (leaves * (hosts + aggs * links) + aggs * cores * core_links);
        let switches = pods * (leaves + aggs) + aggs * cores;
        prop_assert_eq!(counts(&three), [pods * leaves * hosts, switches, cables]);
        // `leaves` stands for NICs of a server here, `hosts` for servers of a group.
        let rails = TopologySpec::Rail(rail(groups * hosts, leaves, hosts, aggs));
        let rails = rails.build(&Budget::unlimited()).unwrap();
        let nics = groups * hosts * leaves;
        let switches = groups * leaves + aggs;
        prop_assert_eq!(counts(&rails), [nics, switches, nics + groups * leaves * aggs]);
    }

    #[test]
    fn cables_and_ports_agree(
        leaves in 1_u32..6, hosts in 1_u32..5, spines in 1_u32..5, links in 1_u32..4,
    ) {
        let topology = built(&leaf_spine(leaves, hosts, spines, links));
        for node in topology.node_ids() {
            for port in 0..topology.ports(node) {
                let link = topology.link_id(node, port);
                let (here, there) = (CableEnd { node, port }, topology.neighbour(node, port));
                prop_assert_eq!(topology.link_ends(link), (here, there));
                prop_assert_eq!(topology.link_ends(link ^ 1), (there, here));
            }
        }
    }
}

fn dragonfly(groups: u32, routers: u32, hosts: u32, global_links: u32) -> Dragonfly {
    Dragonfly {
        groups,
        routers_per_group: routers,
        hosts_per_router: hosts,
        global_links_per_router: global_links,
        host_rate: gbps(400),
        local_rate: gbps(400),
        global_rate: gbps(400),
        host_delay: Time::from_ns(10),
        local_delay: Time::from_ns(10),
        global_delay: Time::from_ns(300),
    }
}

#[test]
fn dragonflies_are_as_the_formulas_say() {
    // A full one, one with two cables between each two groups, one with a port to spare, one group.
    for (groups, routers, hosts, links) in [(9, 4, 2, 2), (5, 4, 2, 2), (4, 2, 1, 2), (1, 3, 2, 1)]
    {
        let spec = dragonfly(groups, routers, hosts, links);
        let topology = TopologySpec::Dragonfly(spec)
            .build(&Budget::unlimited())
            .unwrap();
        let per_pair = (routers * links).checked_div(groups - 1).unwrap_or(0);
        let local = groups * routers * (routers - 1) / 2;
        let global = groups * (groups - 1) / 2 * per_pair;
        let all_hosts = groups * routers * hosts;
        assert_eq!(topology.hosts as u32, all_hosts);
        assert_eq!(topology.switches() as u32, groups * routers);
        assert_eq!(topology.cables.len() as u32, all_hosts + local + global);
        let region = |node| topology.region(node);
        let mut pairs = std::collections::BTreeMap::new();
        for cable in &topology.cables[all_hosts as usize..] {
            let ends = cable.ends.map(|end| region(end.node));
            if ends[0] != ends[1] {
                *pairs.entry(ends).or_insert(0) += 1;
            }
        }
        assert_eq!(pairs.len() as u32, groups * (groups - 1) / 2);
        assert!(pairs.values().all(|count| *count == per_pair), "{pairs:?}");
        let most = hosts + routers - 1 + links;
        let ports = topology.nodes.iter().skip(topology.hosts);
        assert!(
            ports
                .map(|node| node.ports.len() as u32)
                .all(|ports| ports <= most)
        );
    }
    let refused = TopologySpec::Dragonfly(dragonfly(10, 4, 2, 2)).build(&Budget::unlimited());
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("reaches 9 at most"), "{refused}");
}

#[test]
fn a_shortest_path_passes_one_cable_between_groups() {
    for spec in [
        dragonfly(9, 4, 2, 2),
        dragonfly(5, 4, 1, 2),
        dragonfly(7, 3, 1, 2),
    ] {
        let topology = TopologySpec::Dragonfly(spec)
            .build(&Budget::unlimited())
            .unwrap();
        let routing = Routing::build(&topology, &Budget::unlimited()).unwrap();
        let hosts = topology.host_ids();
        let to_all = |from| topology.host_ids().map(move |to| (from, to));
        for (from, to) in hosts.flat_map(to_all) {
            let path: Vec<CableEnd> = routing.path(&topology, from, to).collect();
            let crossings = path.iter().filter(|end| {
                let next = topology.neighbour(end.node, end.port).node;
                !topology.is_host(next) && topology.region(next) != topology.region(end.node)
            });
            let apart =
                routing.region(routing.attachment(from)) != routing.region(routing.attachment(to));
            assert_eq!(crossings.count(), usize::from(apart), "{from} to {to}");
            assert_eq!(path.len() as u32, routing.distance(from, to));
            assert!(path.len() <= 4);
        }
        // Into a region one comes by at most one cable of one's own group.
        for switch in topology.switch_ids() {
            for other in 0..routing.regions() {
                let ports = routing.into_region(switch, other);
                assert_eq!(ports.is_empty(), routing.region(switch) == other);
                for &port in ports {
                    let next = topology.switch_behind(switch, port);
                    let there = routing.region(next) == other;
                    let is_gate = routing
                        .into_region(next, other)
                        .iter()
                        .any(|&port| routing.region(topology.switch_behind(next, port)) == other);
                    assert!(there || is_gate);
                }
            }
        }
    }
}
