//! Grids, dragonflies and slim flies: counts by the formulas of their papers, and routes as a
//! search in the graph finds them.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use tenter_fabric::topology::{
    CoreTier, Dragonfly, DragonflyPlus, FatTree, GridPaths, Hyperx, NodeId, RailOnly, Routing,
    SlimFly, SwitchId, Topology, TopologySpec, Torus,
};
use tenter_language::units::{Budget, Rate, Time};

const RATE: Rate = Rate::from_gbps(400);
const DELAY: Time = Time::from_ns(100);

fn hyperx(sizes: &[u32], hosts_per_switch: u32, links: &[u32], paths: GridPaths) -> TopologySpec {
    TopologySpec::Hyperx(Hyperx {
        sizes: sizes.to_vec(),
        hosts_per_switch,
        links: links.to_vec(),
        paths,
        host_rate: RATE,
        link_rate: RATE,
        host_delay: DELAY,
        link_delay: DELAY,
    })
}

fn torus(sizes: &[u32], wrap_around: bool, links: &[u32], paths: GridPaths) -> TopologySpec {
    TopologySpec::Torus(Torus {
        sizes: sizes.to_vec(),
        hosts_per_switch: 1,
        links: links.to_vec(),
        wrap_around,
        paths,
        host_rate: RATE,
        link_rate: RATE,
        host_delay: DELAY,
        link_delay: DELAY,
    })
}

fn dragonfly(groups: u32, routers: u32, hosts: u32, global_links: u32) -> TopologySpec {
    TopologySpec::Dragonfly(Dragonfly {
        groups,
        routers_per_group: routers,
        hosts_per_router: hosts,
        global_links_per_router: global_links,
        host_rate: RATE,
        local_rate: RATE,
        global_rate: RATE,
        host_delay: DELAY,
        local_delay: DELAY,
        global_delay: DELAY,
    })
}

/// Groups, leaves and spines of each, hosts of each leaf, cables between leaf and spine, global
/// links of each spine.
fn dragonfly_plus([groups, leaves, spines, hosts, links, global]: [u32; 6]) -> TopologySpec {
    TopologySpec::DragonflyPlus(DragonflyPlus {
        groups,
        leaves_per_group: leaves,
        spines_per_group: spines,
        hosts_per_leaf: hosts,
        links_per_pair: links,
        global_links_per_spine: global,
        host_rate: RATE,
        local_rate: RATE,
        global_rate: RATE,
        host_delay: DELAY,
        local_delay: DELAY,
        global_delay: DELAY,
    })
}

fn slim_fly(q: u32, hosts_per_router: u32) -> TopologySpec {
    TopologySpec::SlimFly(SlimFly {
        q,
        hosts_per_router,
        host_rate: RATE,
        link_rate: RATE,
        host_delay: DELAY,
        local_delay: DELAY,
        global_delay: DELAY,
    })
}

fn built(spec: &TopologySpec) -> (Topology, Routing) {
    let topology = spec
        .build(&Budget::unlimited())
        .unwrap_or_else(|error| panic!("{error}"));
    let routing =
        Routing::build(&topology, &Budget::unlimited()).unwrap_or_else(|error| panic!("{error}"));
    (topology, routing)
}

fn refused(spec: &TopologySpec) -> String {
    spec.build(&Budget::unlimited())
        .expect_err("it has no such fabric")
        .to_string()
}

/// Cables between switches.
fn trunks(topology: &Topology) -> usize {
    topology.cables.len() - topology.hosts
}

/// Links of the paths between two switches, as (how many, ordered pairs of switches).
fn distances(topology: &Topology, routing: &Routing) -> BTreeMap<u32, usize> {
    let mut found = BTreeMap::new();
    for a in topology.host_ids() {
        for b in topology.host_ids() {
            let links = routing.distance(a, b).saturating_sub(1);
            *found.entry(links).or_insert(0) += usize::from(a != b);
        }
    }
    found
}

/// The rate of the cables from the switches that are in one half to the others, in cables.
fn cut(topology: &Topology, is_in: impl Fn(SwitchId) -> bool) -> usize {
    let cables = topology.cables.iter().filter(|cable| {
        let [a, b] = cable.ends.map(|end| end.node);
        let within = |node| !topology.is_host(node) && is_in(topology.switch(node));
        !topology.is_host(a) && !topology.is_host(b) && within(a) != within(b)
    });
    cables.count()
}

#[test]
fn a_hyperx_is_as_the_formulas_say() {
    // Ahn et al., section 3: N = T·ΠS, P = ΠS, radix T + ΣK·(S - 1), and a cut through the middle
    // of a dimension crosses K·S²/4 cables in each of its P/S rows.
    for (sizes, hosts, links) in [
        (vec![4, 4], 3, vec![]),
        (vec![2, 3, 4], 2, vec![1, 2, 3]),
        (vec![5], 1, vec![2]),
        (vec![6, 2], 2, vec![1, 4]),
    ] {
        let spec = hyperx(&sizes, hosts, &links, GridPaths::All);
        let (topology, routing) = built(&spec);
        let switches: u32 = sizes.iter().product();
        assert_eq!(topology.switches() as u32, switches);
        assert_eq!(topology.hosts as u32, switches * hosts);
        let link = |dimension: usize| links.get(dimension).copied().unwrap_or(1);
        let degree: u32 = (0..).zip(&sizes).map(|(d, s)| link(d) * (s - 1)).sum();
        let mut nodes = topology.switch_nodes();
        assert!(nodes.all(|node| u32::from(topology.ports(node)) == hosts + degree));
        assert_eq!(trunks(&topology) as u32, switches * degree / 2);
        assert_eq!(routing.longest_path(), sizes.len() as u32 + 1);
        let mut stride = 1;
        for (dimension, &size) in sizes.iter().enumerate() {
            if size.is_multiple_of(2) {
                let half = |switch: SwitchId| switch.number() / stride % size < size / 2;
                let rows = switches / size;
                let cables = link(dimension) * size * size / 4 * rows;
                assert_eq!(cut(&topology, half) as u32, cables);
            }
            stride *= size;
        }
    }
}

#[test]
fn a_torus_is_as_the_formulas_say() {
    // Dally and Towles, section 5.2: a k-ary n-cube of even k has n·k^n cables, mean distance n·k/4
    // with a node to itself counted, diameter n·k/2, and 2·k^(n-1) cables across the middle.
    for (k, n) in [(4_u32, 1_u32), (4, 2), (6, 2), (4, 3)] {
        let sizes = vec![k; n as usize];
        let (topology, routing) = built(&torus(&sizes, true, &[], GridPaths::All));
        let switches = k.pow(n);
        assert_eq!(topology.switches() as u32, switches);
        assert_eq!(trunks(&topology) as u32, n * switches);
        assert_eq!(routing.longest_path(), n * k / 2 + 1);
        let found = distances(&topology, &routing);
        let total: usize = found
            .iter()
            .map(|(links, pairs)| *links as usize * pairs)
            .sum();
        assert_eq!(4 * total as u32, n * k * switches * switches);
        let half = |switch: SwitchId| switch.number() % k < k / 2;
        assert_eq!(cut(&topology, half) as u32, 2 * k.pow(n - 1));
    }
    // Between two one cable is all; a ring of three has no datelines, since no path has two links.
    let (cube, _) = built(&torus(&[2, 2, 2], true, &[], GridPaths::All));
    assert_eq!((trunks(&cube), cube.safe_classes.shortest), (12, None));
    let (three, _) = built(&torus(&[3, 3], true, &[], GridPaths::DimensionOrder));
    assert!(!three.datelines.contains(&true));
    assert_eq!(three.safe_classes.shortest, Some(1));
    let (rings, _) = built(&torus(
        &[4, 3, 5],
        true,
        &[2, 1, 1],
        GridPaths::DimensionOrder,
    ));
    assert_eq!(rings.safe_classes.shortest, Some(3));
    let datelines = rings.datelines.iter().filter(|is| **is).count();
    // Two cables close each of 15 rings of four, one each of 12 rings of five.
    assert_eq!(datelines, 2 * 15 + 12);
    let (mesh, routing) = built(&torus(&[4, 3], false, &[], GridPaths::DimensionOrder));
    assert_eq!((trunks(&mesh), routing.longest_path()), (3 * 3 + 4 * 2, 6));
    assert_eq!(mesh.safe_classes.shortest, Some(1));
}

#[test]
fn a_dragonfly_plus_is_as_the_formulas_say() {
    for parts in [
        [5, 2, 2, 2, 1, 2],
        [3, 4, 2, 1, 2, 2],
        [4, 2, 3, 2, 1, 1],
        [1, 3, 2, 2, 1, 1],
    ] {
        let [groups, leaves, spines, hosts, links, global] = parts;
        let (topology, routing) = built(&dragonfly_plus(parts));
        let per_pair = (spines * global).checked_div(groups - 1).unwrap_or(0);
        let local = groups * leaves * spines * links;
        let between = groups * (groups - 1) / 2 * per_pair;
        assert_eq!(topology.hosts as u32, groups * leaves * hosts);
        assert_eq!(topology.switches() as u32, groups * (leaves + spines));
        assert_eq!(trunks(&topology) as u32, local + between);
        let borders = (0..).zip(&topology.cables);
        let borders = borders.filter(|(cable, _)| topology.is_border(*cable));
        assert_eq!(borders.count() as u32, between);
        // Leaf, spine, spine, leaf; within a group leaf, spine, leaf.
        assert_eq!(routing.longest_path(), if groups > 1 { 4 } else { 3 });
        let most = leaves * links + global;
        let top = topology
            .switch_nodes()
            .filter(|node| topology.tier(*node) == Some(1));
        assert!(
            top.map(|spine| u32::from(topology.ports(spine)))
                .all(|ports| ports <= most)
        );
    }
    let error = refused(&dragonfly_plus([6, 2, 2, 1, 1, 2]));
    assert!(error.contains("more `global_links_per_spine`"), "{error}");
}

#[test]
fn a_slim_fly_is_as_the_formulas_say() {
    // Besta and Hoefler, section II-B: 2·q² routers of degree (3·q - d)/2 for q = 4·w + d, and
    // diameter 2. That of q = 5 is the graph of Hoffman and Singleton, whose pairs of routers
    // without a cable have one path of two.
    for (q, degree) in [
        (3_u32, 5_u32),
        (4, 6),
        (5, 7),
        (7, 11),
        (8, 12),
        (9, 13),
        (11, 17),
        (13, 19),
    ] {
        let (topology, routing) = built(&slim_fly(q, 1));
        let routers = 2 * q * q;
        assert_eq!(topology.switches() as u32, routers);
        let mut nodes = topology.switch_nodes();
        assert!(
            nodes.all(|node| u32::from(topology.ports(node)) == degree + 1),
            "{q}"
        );
        assert_eq!(trunks(&topology) as u32, routers * degree / 2);
        let found = distances(&topology, &routing);
        let (routers, degree) = (routers as usize, degree as usize);
        assert_eq!(found.get(&1), Some(&(routers * degree)), "{q}");
        let twice = (routers - 1 - degree) * routers;
        assert_eq!(found.get(&2), Some(&twice), "{q}");
        if q == 5 {
            let hosts = topology.host_ids();
            let ways = hosts.map(|host| routing.candidates(SwitchId::new(0), host).len());
            assert_eq!(ways.max(), Some(1));
        }
    }
    let error = refused(&slim_fly(6, 1));
    assert!(error.contains("give for example 5 or 7"), "{error}");
}

#[test]
fn rails_of_a_rail_only_fabric_are_apart() {
    // Seven servers of three NICs, three on a leaf: each rail has three leaves and two spines.
    let mut spec = RailOnly {
        servers_per_leaf: 3,
        spines_per_rail: 2,
        links_per_pair: 2,
        ..RailOnly::new(7, 3)
    };
    let (topology, routing) = built(&TopologySpec::RailOnly(spec.clone()));
    assert_eq!((topology.hosts, topology.switches()), (21, 3 * (3 + 2)));
    assert_eq!(trunks(&topology), 3 * 3 * 2 * 2);
    assert_eq!(topology.bisection(), None);
    for (a, b) in topology
        .host_ids()
        .flat_map(|a| topology.host_ids().map(move |b| (a, b)))
    {
        let (servers, rails) = (
            [a, b].map(|h| h.number() / 3),
            [a, b].map(|h| h.number() % 3),
        );
        let is_joined = rails[0] == rails[1];
        assert_eq!(topology.joins(a, b), is_joined);
        let switches = if a == b || !is_joined {
            0
        } else if servers[0] / 3 == servers[1] / 3 {
            1
        } else {
            3
        };
        assert_eq!(routing.distance(a, b), switches);
        let hops = routing.path(&topology, a, b).count() as u32;
        assert_eq!(hops, switches);
        let leaf = routing.attachment(a);
        assert_eq!(routing.candidates(leaf, b).is_empty(), !is_joined);
    }
    let (single, _) = built(&TopologySpec::RailOnly(RailOnly::new(4, 2)));
    assert_eq!((single.switches(), trunks(&single)), (2, 0));
    spec.spines_per_rail = 0;
    let error = refused(&TopologySpec::RailOnly(spec));
    assert!(
        error.contains("a rail has 3 leaves with no way between them"),
        "{error}"
    );
}

#[test]
fn what_is_no_grid_is_refused() {
    for (spec, expected) in [
        (
            hyperx(&[], 1, &[], GridPaths::All),
            "`sizes` has 0 dimensions",
        ),
        (
            hyperx(&[2; 17], 1, &[], GridPaths::All),
            "has 17 dimensions",
        ),
        (
            torus(&[4, 4], true, &[2], GridPaths::All),
            "`links` has 1 counts for 2 dimensions",
        ),
        (torus(&[4, 0], true, &[], GridPaths::All), "`sizes` is 0"),
        (
            hyperx(&[1 << 20, 1 << 20], 1, &[], GridPaths::All),
            "reduce `sizes`",
        ),
        (hyperx(&[60_000], 1, &[], GridPaths::All), "cables"),
    ] {
        let error = refused(&spec);
        assert!(error.contains(expected), "{error}");
    }
}

/// Links to a switch from all others: first those between regions, then all.
fn searched(topology: &Topology, to: SwitchId) -> BTreeMap<SwitchId, (u32, u32)> {
    let mut found = BTreeMap::new();
    let mut open = BTreeSet::from([((0, 0), to)]);
    while let Some((links, switch)) = open.pop_first() {
        if found.contains_key(&switch) {
            continue;
        }
        found.insert(switch, links);
        let node = topology.switch_node(switch);
        let peers = topology.neighbours(node).map(|end| end.node);
        for peer in peers.filter(|&peer| !topology.is_host(peer)) {
            let far = u32::from(topology.region(peer) != topology.region(node));
            open.insert(((links.0 + far, links.1 + 1), topology.switch(peer)));
        }
    }
    found
}

/// The ports of a switch that lead one cable nearer.
fn nearer(
    topology: &Topology,
    found: &BTreeMap<SwitchId, (u32, u32)>,
    switch: SwitchId,
) -> Vec<u16> {
    let node = topology.switch_node(switch);
    let ports = (0..).zip(topology.neighbours(node));
    let nearer = ports.filter(|(_, end)| {
        let NodeEnd { far, links } = end_of(topology, found, node, end.node);
        !topology.is_host(end.node) && (far, links) == found[&switch]
    });
    nearer.map(|(port, _)| port).collect()
}

struct NodeEnd {
    far: u32,
    links: u32,
}

/// The links of a path by a neighbour.
fn end_of(
    topology: &Topology,
    found: &BTreeMap<SwitchId, (u32, u32)>,
    node: NodeId,
    peer: NodeId,
) -> NodeEnd {
    if topology.is_host(peer) {
        return NodeEnd { far: 0, links: 0 };
    }
    let (far, links) = found[&topology.switch(peer)];
    let crosses = u32::from(topology.region(peer) != topology.region(node));
    NodeEnd {
        far: far + crosses,
        links: links + 1,
    }
}

fn any_arrangement() -> impl Strategy<Value = TopologySpec> {
    let sizes = prop::collection::vec(1_u32..6, 1..4);
    let links = prop::collection::vec(1_u32..3, 3);
    let paths = prop_oneof![Just(GridPaths::All), Just(GridPaths::DimensionOrder)];
    let grids = (sizes, links, paths, any::<bool>(), any::<bool>());
    let grids = grids.prop_map(|(sizes, links, paths, wraps, is_hyperx)| {
        let links = &links[..sizes.len()];
        if is_hyperx {
            hyperx(&sizes, 1, links, paths)
        } else {
            torus(&sizes, wraps, links, paths)
        }
    });
    let groups = (
        1_u32..5,
        1_u32..5,
        1_u32..4,
        1_u32..4,
        1_u32..4,
        any::<bool>(),
    );
    let groups = groups.prop_map(|(groups, leaves, spines, links, global, is_plus)| {
        let ports = if is_plus { spines } else { leaves } * global;
        let groups = groups.min(ports + 1);
        if is_plus {
            dragonfly_plus([groups, leaves, spines, 1, links, global])
        } else {
            dragonfly(groups, leaves, 1, global)
        }
    });
    let trees = (1_u32..3, 1_u32..4, 1_u32..4, 1_u32..4, 1_u32..3);
    let trees = trees.prop_map(|(hosts, leaves, aggs, pods, cores)| {
        let mut tree = FatTree::new(hosts, leaves, aggs);
        tree.core = Some(CoreTier::new(pods, cores));
        TopologySpec::FatTree(tree)
    });
    prop_oneof![3 => grids, 3 => groups, 2 => trees, 1 => Just(slim_fly(3, 1))]
}

/// Whether packets may take some of the shortest paths alone.
fn is_in_order(spec: &TopologySpec) -> bool {
    match spec {
        TopologySpec::Hyperx(spec) => spec.paths == GridPaths::DimensionOrder,
        TopologySpec::Torus(spec) => spec.paths == GridPaths::DimensionOrder,
        _ => false,
    }
}

/// The first coordinate in which the switches of two names differ.
fn first_difference(a: &str, b: &str) -> Option<usize> {
    let mut pairs = a
        .trim_start_matches("switch")
        .split('-')
        .zip(b.trim_start_matches("switch").split('-'));
    pairs.position(|(one, other)| one != other)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn routes_are_those_of_a_search(spec in any_arrangement()) {
        let (topology, routing) = built(&spec);
        for to in topology.host_ids() {
            let at = routing.attachment(to);
            let found = searched(&topology, at);
            for switch in topology.switch_ids().filter(|&switch| switch != at) {
                let all = nearer(&topology, &found, switch);
                let ports = routing.candidates(switch, to);
                if is_in_order(&spec) {
                    // Those of the shortest that change the first coordinate that differs.
                    let names = |switch| topology.name(topology.switch_node(switch));
                    let first = first_difference(names(switch), names(at));
                    let in_order = all.iter().copied().filter(|&port| {
                        let next = topology.switch_behind(switch, port);
                        first_difference(names(switch), names(next)) == first
                    });
                    let in_order: Vec<u16> = in_order.collect();
                    prop_assert_eq!(ports, &in_order[..]);
                } else {
                    prop_assert_eq!(ports, &all[..]);
                }
            }
            for from in topology.host_ids().filter(|from| *from != to) {
                let links = found[&routing.attachment(from)].1;
                prop_assert_eq!(routing.distance(from, to), links + 1);
            }
        }
    }

    #[test]
    fn ways_into_regions_are_those_of_a_search(spec in any_arrangement()) {
        let (topology, routing) = built(&spec);
        for region in 0..routing.regions() {
            let within = topology.switch_ids().filter(|&switch| routing.region(switch) == region);
            let all: Vec<_> = within.map(|switch| searched(&topology, switch)).collect();
            let mut nearest = all[0].clone();
            for (switch, links) in &mut nearest {
                *links = all.iter().map(|found| found[switch]).min().unwrap_or(*links);
            }
            let outside = topology.switch_ids().filter(|&switch| routing.region(switch) != region);
            for switch in outside {
                let ports = nearer(&topology, &nearest, switch);
                let found = routing.into_region(switch, region);
                prop_assert!(!found.is_empty());
                if is_in_order(&spec) {
                    prop_assert!(found.iter().all(|port| ports.contains(port)));
                } else {
                    prop_assert_eq!(found, &ports[..]);
                }
            }
        }
    }

    #[test]
    fn a_cable_that_is_out_of_use_is_gone_round_and_comes_back(
        spec in any_arrangement(),
        which in any::<prop::sample::Index>(),
    ) {
        let (topology, routing) = built(&spec);
        prop_assume!(trunks(&topology) > 0);
        let mut is_out = vec![false; topology.cables.len()];
        is_out[topology.hosts + which.index(trunks(&topology))] = true;
        let left = routing.without(&topology, &is_out);
        let again = left.without(&topology, &vec![false; topology.cables.len()]);
        for (switch, to) in topology
            .switch_ids()
            .flat_map(|switch| topology.host_ids().map(move |to| (switch, to)))
        {
            prop_assert_eq!(again.candidates(switch, to), routing.candidates(switch, to));
        }
        for region in 0..routing.regions() {
            for switch in topology.switch_ids() {
                let node = topology.switch_node(switch);
                let ports = left.into_region(switch, region).iter();
                let mut cables = ports.map(|&port| topology.cable_number(node, port) as usize);
                prop_assert!(cables.all(|cable| !is_out[cable]));
                let whole = routing.into_region(switch, region);
                prop_assert_eq!(again.into_region(switch, region), whole);
            }
        }
    }

    #[test]
    fn the_same_description_is_the_same_fabric(spec in any_arrangement()) {
        let (one, other) = (built(&spec).0, built(&spec).0);
        prop_assert!(one == other);
        // Each host has a leaf of its own number of hosts, in order.
        let attached = one.host_ids().map(|host| one.neighbour(host, 0).node);
        prop_assert!(attached.collect::<Vec<_>>().is_sorted());
    }
}
