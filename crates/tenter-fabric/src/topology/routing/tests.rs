use proptest::prelude::*;
use tenter_language::units::{Budget, Rate, Time};

use super::*;
use crate::topology::{
    Cabling, CoreTier, Dragonfly, Explicit, ExplicitLink, ExplicitNode, ExplicitRoute, FatTree,
    LeafSpine, LinkOverride, NodeKind, Planes, Rail, SingleSwitch, Taper, TopologyError,
    TopologySpec,
};

const RATE: Rate = Rate::from_gbps(400);
const DELAY: Time = Time::from_ns(300);

/// Routes, asked by plain numbers.
trait ByNumber {
    fn ports(&self, switch: u32, host: u32) -> &[u16];
    fn apart(&self, a: u32, b: u32) -> u32;
}

impl ByNumber for Routing {
    fn ports(&self, switch: u32, host: u32) -> &[u16] {
        self.candidates(SwitchId::new(switch), HostId::new(host))
    }

    fn apart(&self, a: u32, b: u32) -> u32 {
        self.distance(HostId::new(a), HostId::new(b))
    }
}

fn leaf_spine(leaves: u32, hosts_per_leaf: u32, spines: u32, links_per_pair: u32) -> LeafSpine {
    LeafSpine {
        leaves,
        hosts_per_leaf,
        spines,
        links_per_pair,
        host_rate: RATE,
        uplink_rate: RATE,
        host_delay: DELAY,
        fabric_delay: DELAY,
        overrides: vec![],
        cabling: Cabling::Regular,
        planes: Planes::ONE,
    }
}

fn routed(spec: LeafSpine) -> (Topology, Routing) {
    let topology = TopologySpec::LeafSpine(spec)
        .build(&Budget::unlimited())
        .unwrap();
    let routing = Routing::build(&topology, &Budget::unlimited()).unwrap();
    (topology, routing)
}

#[test]
fn a_leaf_spreads_over_all_uplinks_and_a_spine_over_parallel_links() {
    // Leaves are switches 0 and 1, spines 2 and 3; hosts 0–2 on leaf 0.
    let (topology, routing) = routed(leaf_spine(2, 3, 2, 2));
    assert_eq!(
        [2, 3].map(|host| routing.attachment(HostId::new(host)).number()),
        [0, 1]
    );
    assert_eq!(routing.ports(0, 3), [3, 4, 5, 6]);
    assert_eq!(routing.ports(0, 2), [2]);
    assert_eq!(routing.ports(2, 0), [0, 1]);
    assert_eq!(routing.ports(3, 5), [2, 3]);
    assert_eq!([0, 1, 3].map(|host| routing.apart(0, host)), [0, 1, 3]);
    let names: Vec<String> = routing
        .path(&topology, HostId::new(0), HostId::new(4))
        .map(|hop| topology.port_name(hop.node, hop.port))
        .collect();
    assert_eq!(names, ["leaf0:3", "spine0:2", "leaf1:1"]);
    assert_eq!(
        routing
            .path(&topology, HostId::new(1), HostId::new(1))
            .count(),
        0
    );
}

/// Which of the cables of a topology are out of use, by the names of their ends.
fn out(topology: &Topology, ends: &[[&str; 2]]) -> Vec<bool> {
    let name = |end: CableEnd| topology.name(end.node);
    let is_out = |cable: &crate::topology::Cable| ends.contains(&cable.ends.map(name));
    topology.cables.iter().map(is_out).collect()
}

#[test]
fn routes_go_round_cables_that_are_out_of_use() {
    // Two leaves with a host each and two spines: ports 1 and 2 of a leaf lead to the spines.
    let (topology, routing) = routed(leaf_spine(2, 1, 2, 1));
    let without = |ends| routing.without(&topology, &out(&topology, ends));
    let left = without(&[["leaf0", "spine1"]]);
    assert_eq!(left.ports(0, 1), [1]);
    assert_eq!(left.ports(1, 0), [1]);
    // A packet already on the spine goes back to the other leaf, and by the other spine.
    assert_eq!(left.ports(3, 0), [1]);
    // If no way is left the old routes stay, and end at a cable that is out of use.
    let none = without(&[["leaf0", "spine0"], ["leaf0", "spine1"]]);
    assert_eq!(none.ports(0, 1), [1, 2]);
    assert_eq!(none.ports(2, 0), [0]);
    assert_eq!(none.ports(2, 1), [1]);
    // All in use again is as it was.
    let whole = without(&[]);
    for switch in 0..4 {
        for host in 0..2 {
            assert_eq!(whole.ports(switch, host), routing.ports(switch, host));
        }
    }
}

#[test]
fn a_missing_link_takes_its_spine_out_of_the_choice() {
    let mut spec = leaf_spine(3, 1, 2, 1);
    spec.overrides = vec![LinkOverride {
        leaf: 2,
        spine: 0,
        links: Some(0),
        rate: None,
    }];
    let (_, routing) = routed(spec);
    assert_eq!(routing.ports(0, 1), [1, 2]);
    assert_eq!(routing.ports(0, 2), [2]);
    // From the spine itself the way is down, up and down again.
    assert_eq!(routing.ports(3, 2), [0, 1]);
}

#[test]
fn equal_lists_are_stored_once() {
    let (topology, routing) = routed(leaf_spine(128, 64, 64, 1));
    assert_eq!((topology.hosts, routing.table.len()), (8192, 192 * 128));
    // All 64 uplinks, and each of a spine's ports.
    assert_eq!(routing.lists.ports.len(), 64 + 128);
}

#[test]
fn hand_made_topologies_are_checked() {
    let (mut topology, _) = routed(leaf_spine(2, 1, 1, 1));
    topology.nodes[NodeId::new(1)].ports.clear();
    let detached = RoutingError::Detached {
        host: "host1".to_owned(),
    };
    assert_eq!(
        Routing::build(&topology, &Budget::unlimited()).unwrap_err(),
        detached
    );
    let (mut topology, _) = routed(leaf_spine(2, 1, 1, 1));
    topology.nodes[NodeId::new(3)].ports.pop();
    topology.nodes[NodeId::new(4)].ports.pop();
    let error = Routing::build(&topology, &Budget::unlimited()).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("host `host1` cannot reach host `host0`"),
        "{error}"
    );
}

/// A chain of `switches` switches with a host at each end.
fn chain(switches: usize) -> Topology {
    let switch = |number| ExplicitNode::new(format!("s{number}"), NodeKind::Switch { tier: 0 });
    let host = |name: &str| ExplicitNode::new(name, NodeKind::Host);
    let link = |a: String, b: String| ExplicitLink {
        a,
        b,
        rate: RATE,
        delay: DELAY,
        count: 1,
    };
    let mut links: Vec<ExplicitLink> = (1..switches)
        .map(|s| link(format!("s{}", s - 1), format!("s{s}")))
        .collect();
    links.push(link("a".to_owned(), "s0".to_owned()));
    links.push(link("b".to_owned(), format!("s{}", switches - 1)));
    let nodes = (0..switches)
        .map(switch)
        .chain([host("a"), host("b")])
        .collect();
    TopologySpec::Explicit(Explicit {
        nodes,
        links,
        routes: vec![],
    })
    .build(&Budget::unlimited())
    .unwrap()
}

#[test]
fn a_path_is_no_longer_than_a_packet_lives() {
    assert_eq!(
        Routing::build(&chain(255), &Budget::unlimited())
            .unwrap()
            .apart(0, 1),
        255
    );
    assert!(matches!(
        Routing::build(&chain(256), &Budget::unlimited()),
        Err(RoutingError::PathTooLong { .. })
    ));
}

fn any_leaf_spine() -> impl Strategy<Value = TopologySpec> {
    let change = (0_u32..2, 0_u32..2, 0_u32..3);
    (2_u32..6, 1_u32..4, 2_u32..5, 1_u32..4, change).prop_map(
        |(leaves, hosts, spines, links, change)| {
            let (leaf, spine, links_there) = change;
            let mut spec = leaf_spine(leaves, hosts, spines, links);
            spec.overrides.push(LinkOverride {
                leaf,
                spine,
                links: Some(links_there),
                rate: None,
            });
            spec.cabling = Cabling::Leaves((0..leaves * hosts).map(|host| host % leaves).collect());
            TopologySpec::LeafSpine(spec)
        },
    )
}

fn any_fat_tree() -> impl Strategy<Value = TopologySpec> {
    let core = prop::option::of((1_u32..4, 1_u32..3, 1_u32..3));
    (1_u32..3, 1_u32..4, 1_u32..4, 1_u32..3, core).prop_map(|(hosts, leaves, aggs, links, core)| {
        TopologySpec::FatTree(FatTree {
            hosts_per_leaf: hosts,
            leaves_per_pod: leaves,
            aggs_per_pod: aggs,
            links_per_leaf_agg: links,
            host_rate: RATE,
            leaf_rate: RATE,
            host_delay: DELAY,
            leaf_delay: DELAY,
            core: core.map(|(pods, cores_per_agg, links_per_agg_core)| CoreTier {
                pods,
                cores_per_agg,
                links_per_agg_core,
                taper: Taper::default(),
                links_per_pod: None,
                rate: RATE,
                delay: DELAY,
            }),
            planes: Planes::ONE,
        })
    })
}

fn any_rail() -> impl Strategy<Value = TopologySpec> {
    (1_u32..6, 1_u32..4, 1_u32..4, 1_u32..4).prop_map(|(servers, nics, group, spines)| {
        TopologySpec::Rail(Rail {
            servers,
            nics_per_server: nics,
            servers_per_group: group,
            spines,
            links_per_pair: 2,
            host_rate: RATE,
            uplink_rate: RATE,
            host_delay: DELAY,
            fabric_delay: DELAY,
            cabling: Cabling::Regular,
        })
    })
}

/// A random tree of switches with random further links, and a host on every switch.
fn any_graph() -> impl Strategy<Value = TopologySpec> {
    let parents = prop::collection::vec(any::<prop::sample::Index>(), 1..10);
    let further = prop::collection::vec((0_usize..10, 0_usize..10, 1_u32..3), 0..10);
    (parents, further).prop_map(|(parents, further)| {
        let switches = parents.len() + 1;
        let link = |a: String, b: String, count| ExplicitLink {
            a,
            b,
            rate: RATE,
            delay: DELAY,
            count,
        };
        let mut links = Vec::new();
        for (child, parent) in parents.iter().enumerate() {
            links.push(link(
                format!("s{}", child + 1),
                format!("s{}", parent.index(child + 1)),
                1,
            ));
        }
        for (a, b, count) in further {
            let (a, b) = (a % switches, b % switches);
            if a != b {
                links.push(link(format!("s{a}"), format!("s{b}"), count));
            }
        }
        let mut nodes = Vec::new();
        for number in 0..switches {
            let kind = NodeKind::Switch {
                tier: (number % 3) as u8,
            };
            nodes.push(ExplicitNode::new(format!("s{number}"), kind));
            nodes.push(ExplicitNode::new(format!("h{number}"), NodeKind::Host));
            links.push(link(format!("h{number}"), format!("s{number}"), 1));
        }
        TopologySpec::Explicit(Explicit {
            nodes,
            links,
            routes: vec![],
        })
    })
}

fn any_spec() -> impl Strategy<Value = TopologySpec> {
    let single = (1_u32..9).prop_map(|hosts| {
        TopologySpec::SingleSwitch(SingleSwitch {
            hosts,
            rate: RATE,
            host_delay: DELAY,
        })
    });
    prop_oneof![
        1 => single,
        3 => any_leaf_spine(),
        3 => any_fat_tree(),
        2 => any_rail(),
        3 => any_graph(),
    ]
}

/// Walks every candidate from a switch to host `to` and counts the paths; fails on one longer than
/// `switches`.
fn count_paths(
    topology: &Topology,
    routing: &Routing,
    node: NodeId,
    to: HostId,
    switches: u32,
) -> u64 {
    if node == to.node() {
        assert_eq!(switches, 0, "a path is shorter than the distance");
        return 1;
    }
    assert!(switches > 0, "a path is longer than the distance");
    let ports = routing.candidates(topology.switch(node), to);
    assert!(!ports.is_empty() && ports.is_sorted_by(|a, b| a < b));
    let next = ports
        .iter()
        .map(|port| topology.neighbour(node, *port).node);
    next.map(|next| count_paths(topology, routing, next, to, switches - 1))
        .sum()
}

/// A triangle of switches with a host each.
fn triangle(routes: &[[&str; 3]]) -> Result<Topology, TopologyError> {
    let node = |name: String, kind| ExplicitNode::new(name, kind);
    let link = |a: String, b: String, count| ExplicitLink {
        a,
        b,
        rate: RATE,
        delay: DELAY,
        count,
    };
    let mut nodes = Vec::new();
    let mut links = Vec::new();
    for number in 0..3 {
        nodes.push(node(format!("h{number}"), NodeKind::Host));
        nodes.push(node(format!("s{number}"), NodeKind::Switch { tier: 0 }));
        links.push(link(format!("h{number}"), format!("s{number}"), 1));
        links.push(link(
            format!("s{number}"),
            format!("s{}", (number + 1) % 3),
            2,
        ));
    }
    let routes = routes.iter().map(|route| {
        let [at, to, via] = route.map(str::to_owned);
        ExplicitRoute { at, to, via }
    });
    let routes = routes.collect();
    TopologySpec::Explicit(Explicit {
        nodes,
        routes,
        links,
    })
    .build(&Budget::unlimited())
}

#[test]
fn static_routes_without_a_cable_or_in_a_circle_are_withdrawn() {
    let topology = triangle(&[["s0", "s2", "s1"]]).unwrap();
    let routing = Routing::build(&topology, &Budget::unlimited()).unwrap();
    let without = |ends| routing.without(&topology, &out(&topology, &[ends]));
    assert_eq!(without(["s0", "s1"]).ports(0, 2), [3, 4]);
    // Now s1 would send everything for s2 back to s0.
    let left = without(["s1", "s2"]);
    assert_eq!(left.ports(1, 2), [1, 2]);
    assert_eq!(left.ports(0, 2), [3, 4]);
    assert_eq!(without(["h0", "s0"]).ports(0, 2), [1, 2]);
}

#[test]
fn a_static_route_is_taken_by_one_switch_to_one_other() {
    let topology = triangle(&[["s0", "s2", "s1"]]).unwrap();
    let routing = Routing::build(&topology, &Budget::unlimited()).unwrap();
    // Port 0 leads to the host, 1 and 2 to the next switch by number, 3 and 4 to the other.
    assert_eq!(routing.ports(0, 2), [1, 2]);
    assert_eq!((routing.apart(0, 2), routing.apart(2, 0)), (3, 2));
    let (from, to) = (HostId::new(0), HostId::new(2));
    let path = routing.path(&topology, from, to);
    let path: Vec<u32> = path.map(|hop| hop.node.number()).collect();
    assert_eq!(path, [3, 4, 5]);
    // The way back, and all others, are the shortest.
    assert_eq!(
        (routing.ports(2, 0), routing.ports(0, 1)),
        (&[1, 2][..], &[1, 2][..])
    );
    assert_eq!(routing.ports(1, 2), [3, 4]);
}

#[test]
fn static_routes_that_lead_nowhere_are_refused() {
    let refused = |routes: &[[&str; 3]]| triangle(routes).unwrap_err().to_string();
    let circle = refused(&[["s0", "s2", "s1"], ["s1", "s2", "s0"]]);
    assert!(
        circle.starts_with("what `s0` sends to the hosts on `s2` may go round"),
        "{circle}"
    );
    assert_eq!(
        refused(&[["s0", "s2", "s1"], ["s0", "h2", "s1"]]),
        "route 1 (at `s0` to `h2`) names `h2`, which is no switch of the list; name one that is"
    );
    assert!(refused(&[["s0", "s0", "s1"]]).contains("starts where it ends"));
    assert!(refused(&[["s0", "s2", "s0"]]).contains("to which no link leads"));
    let twice = refused(&[["s0", "s2", "s1"], ["s0", "s2", "s2"]]);
    assert!(twice.contains("is given twice; keep"), "{twice}");
}

#[test]
fn the_number_of_paths_is_the_known_one() {
    let paths = |topology: &Topology, routing: &Routing, to: u32| {
        let (from, to) = (HostId::new(0), HostId::new(to));
        let leaf = topology.switch_node(routing.attachment(from));
        count_paths(topology, routing, leaf, to, routing.distance(from, to))
    };
    // 4 spines, 3 links up and 3 down each.
    let (topology, routing) = routed(leaf_spine(2, 1, 4, 3));
    assert_eq!(paths(&topology, &routing, 1), 36);
    // k = 8: one path on a leaf, k/2 within a pod, (k/2)² between pods.
    let tree = FatTree::k_ary(8, RATE, DELAY).unwrap();
    let topology = TopologySpec::FatTree(tree)
        .build(&Budget::unlimited())
        .unwrap();
    let routing = Routing::build(&topology, &Budget::unlimited()).unwrap();
    assert_eq!(
        [1, 4, 16, 127].map(|to| paths(&topology, &routing, to)),
        [1, 4, 16, 16]
    );
}

proptest! {
    #[test]
    fn every_walk_arrives_within_the_distance_and_as_many_ways_back(spec in any_spec()) {
        let topology = spec.build(&Budget::unlimited()).unwrap();
        let routing = Routing::build(&topology, &Budget::unlimited()).unwrap();
        let paths = |a: HostId, b: HostId| {
            let switch = topology.switch_node(routing.attachment(a));
            count_paths(&topology, &routing, switch, b, routing.distance(a, b))
        };
        for a in topology.host_ids() {
            for b in HostId::new(0).run(a.number()) {
                let distance = routing.distance(a, b);
                prop_assert_eq!(distance, routing.distance(b, a));
                prop_assert_eq!(routing.path(&topology, a, b).count() as u32, distance);
                prop_assert_eq!(paths(a, b), paths(b, a));
            }
        }
    }

    #[test]
    fn every_node_has_a_thread_and_a_place(spec in any_spec(), threads in 0_u16..7) {
        let topology = spec.build(&Budget::unlimited()).unwrap();
        let mut order = topology.locality_order();
        order.sort_unstable();
        prop_assert!(order.into_iter().eq(topology.node_ids()));
        let thread = topology.partition(threads);
        for host in topology.host_ids() {
            let switch = topology.neighbour(host, 0).node;
            let host = host.node();
            prop_assert_eq!(thread[host], thread[switch]);
            prop_assert!(thread[host] < threads.max(1));
        }
    }
}

#[test]
fn a_detour_passes_six_switches_of_a_dragonfly_and_none_of_a_tree() {
    let built = |groups, routers_per_group, global_links_per_router| {
        let spec = Dragonfly {
            groups,
            routers_per_group,
            hosts_per_router: 1,
            global_links_per_router,
            host_rate: RATE,
            local_rate: RATE,
            global_rate: RATE,
            host_delay: DELAY,
            local_delay: DELAY,
            global_delay: DELAY,
        };
        let topology = TopologySpec::Dragonfly(spec)
            .build(&Budget::unlimited())
            .unwrap();
        let routing = Routing::build(&topology, &Budget::unlimited()).unwrap();
        (routing.longest_path(), routing.longest_detour(&topology))
    };
    // Two routers in the source's group, two in the destination's; as many more between them.
    assert_eq!(built(9, 4, 2), (4, Some(6)));
    // One router is a group.
    assert_eq!(built(5, 1, 4), (2, Some(3)));
    // Each switch of a HyperX is a region, and passes two cables to it and from it.
    let hyperx = TopologySpec::Hyperx(crate::topology::Hyperx {
        sizes: vec![3, 3],
        ..tenter_language::config::default_with(&[("sizes", "[]"), ("hosts_per_switch", "1")])
    });
    let topology = hyperx.build(&Budget::unlimited()).unwrap();
    let routing = Routing::build(&topology, &Budget::unlimited()).unwrap();
    assert_eq!(routing.longest_detour(&topology), Some(5));
    // There is no third group, and each router has a cable into the other one.
    assert_eq!(built(2, 2, 1), (3, None));
    let (topology, routing) = routed(leaf_spine(4, 2, 2, 1));
    assert_eq!(routing.longest_path(), 3);
    assert_eq!(routing.longest_detour(&topology), None);
}
