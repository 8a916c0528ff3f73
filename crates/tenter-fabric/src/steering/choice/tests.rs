use tenter_language::units::{Budget, Rate, Time};

use crate::topology::{
    CoreTier, FatTree, HostId, LeafSpine, OpticalCabling, OpticalSpec, OpticalTier, Planes,
    TopologySpec,
};

use super::*;

/// Builds two pods with two leaves each, four hosts and four uplinks per leaf, and `links` links
/// from each pod to the cores. With 8 links the tree is non-blocking.
fn tree(links: u32) -> Topology {
    two_pods(2, 1, 8, Some(links))
}

/// Builds two pods with `leaves` leaves and `aggs` aggregation switches each, `cores_per_agg` cores
/// above each of these, and `links` links from each pod to the cores. Every leaf has four hosts and
/// four uplinks.
fn two_pods(leaves: u32, aggs: u32, cores_per_agg: u32, links: Option<u32>) -> Topology {
    let rate = Rate::from_gbps(100);
    let delay = Time::from_ns(10);
    let tree = FatTree {
        hosts_per_leaf: 4,
        leaves_per_pod: leaves,
        aggs_per_pod: aggs,
        links_per_leaf_agg: 4 / aggs,
        host_rate: rate,
        leaf_rate: rate,
        host_delay: delay,
        leaf_delay: delay,
        core: Some(CoreTier {
            pods: 2,
            cores_per_agg,
            links_per_agg_core: 1,
            taper: crate::topology::Taper::default(),
            links_per_pod: links,
            rate,
            delay,
        }),
        planes: Planes::ONE,
    };
    with_optics(OpticalTier::AboveLeaves, &TopologySpec::FatTree(tree))
}

fn with_optics(tier: OpticalTier, fabric: &TopologySpec) -> Topology {
    let spec = OpticalSpec {
        tier,
        radix: 8,
        delay: Time::from_ns(7),
        cabling: OpticalCabling::Straight,
    };
    spec.build(fabric, &Budget::unlimited())
        .expect("it can be built")
}

fn add(traffic: &mut Traffic, src: u32, dst: u32, amount: u64) {
    traffic.add(HostId::new(src), HostId::new(dst), amount);
}

/// Each host of a leaf of the first pod sends to one of a leaf of the other, and back.
fn shifted(topology: &Topology) -> Traffic {
    let mut traffic = Traffic::new(topology);
    for host in 0..8 {
        add(&mut traffic, host, host + 8, 1_000_000);
        add(&mut traffic, host + 8, host, 1_000_000);
    }
    traffic
}

#[test]
fn loads_by_hand() {
    let tree = tree(4);
    let traffic = shifted(&tree);
    let nic = traffic.busiest_nic(&tree);
    let estimate = estimate(&tree, &Scenes::of(traffic), false).unwrap();
    // Eight NICs over four links to the cores: twice as long as a NIC, and a fifth of it idle.
    assert_eq!(estimate.busiest, 5 * nic / 2);
    // Leaf to aggregation, core, aggregation and leaf: four links for each of 16 NICs.
    assert_eq!(estimate.total, 4 * 16 * nic);
}

/// Half of the traffic to a leaf is for one host, twice of what it can take.
#[test]
fn what_receivers_cannot_take_makes_no_link_late() {
    let tree = tree(4);
    let mut traffic = Traffic::new(&tree);
    for (src, dst) in [(0, 8), (1, 8), (2, 9), (3, 10)] {
        add(&mut traffic, src, dst, 1_000_000);
    }
    let taken = traffic.taken(&tree);
    assert_eq!(taken.between().collect::<Vec<_>>(), [(0, 2, 3_000_000)]);
    // Three NICs' worth on four links of a leaf and two to the cores of each plane: none is late,
    // where all four would make links that are used for five quarters of the time.
    let late = |traffic| estimate(&tree, &Scenes::of(traffic), false).unwrap().late;
    let mut even = Traffic::new(&tree);
    (0..4).for_each(|host| add(&mut even, host, host + 8, 1_000_000));
    assert!(late(even) > 0);
    assert_eq!(late(traffic), 0);
}

/// Two leaves that send to all others would take all links of an aggregation switch.
#[test]
fn the_greedy_rule_leaves_every_switch_a_way_to_a_leaf() {
    let home = two_pods(4, 4, 4, None);
    let mut traffic = Traffic::new(&home);
    for (src, dst) in (0..32).flat_map(|src| (0..32).map(move |dst| (src, dst))) {
        add(&mut traffic, src, dst, 1_000 + u64::from(src * dst));
    }
    let choice = choose_greedily(&home, &Scenes::of(traffic), false);
    assert_eq!(choice.topology.unreached(), None);
    // Each leaf could have three circuits; the pair of each aggregation switch stays in the tree.
    assert!(choice.topology.direct_circuits().count() >= 8);
}

#[test]
fn circuits_take_what_the_taper_has_left_over() {
    let home = tree(4);
    let traffic = shifted(&home);
    let nic = traffic.busiest_nic(&home);
    let choice = choose(&home, &Scenes::of(traffic), false);
    // Leaf 0 has three of its four uplinks as circuits to leaf 2; one stays in the tree.
    assert!(choice.estimate.busiest.abs_diff(5 * nic / 3) < nic / 1_000);
    assert_eq!(choice.topology.unreached(), None);
    let direct = |of: &Topology| of.direct_circuits().count();
    assert_eq!(direct(&home), 0);
    assert_eq!(direct(&choice.topology), 6);
    // Nothing to win: nothing is changed.
    let nothing = Scenes::of(Traffic::new(&home));
    assert_eq!(direct(&choose(&home, &nothing, false).topology), 0);
}

#[test]
fn rewirings_lead_from_one_set_of_circuits_to_the_other() {
    let home = tree(4);
    let there = choose(&home, &Scenes::of(shifted(&home)), false).topology;
    for (from, to) in [(&home, &there), (&there, &home), (&home, &home)] {
        let mut changed = from.clone();
        let rewirings = rewirings(from, to);
        for rewiring in &rewirings {
            changed.check_rewiring(rewiring).unwrap();
            changed.rewire(rewiring);
        }
        assert_eq!(&changed, to);
        assert_eq!(rewirings.is_empty(), from == to);
    }
}

#[test]
fn circuits_in_place_of_spines_are_where_the_traffic_is() {
    let rate = Rate::from_gbps(100);
    let leaf_spine = LeafSpine {
        leaves: 8,
        hosts_per_leaf: 4,
        spines: 4,
        links_per_pair: 1,
        host_rate: rate,
        uplink_rate: rate,
        host_delay: Time::from_ns(10),
        fabric_delay: Time::from_ns(10),
        overrides: Vec::new(),
        cabling: crate::topology::Cabling::Regular,
        planes: Planes::ONE,
    };
    let home = with_optics(
        OpticalTier::InPlaceOfSpines,
        &TopologySpec::LeafSpine(leaf_spine),
    );
    // A ring of leaves.
    let mut traffic = Traffic::new(&home);
    for host in 0..32 {
        add(&mut traffic, host, (host + 4) % 32, 1_000_000);
    }
    let nic = traffic.busiest_nic(&home);
    let scenes = Scenes::of(traffic);
    let choice = choose(&home, &scenes, false);
    let before = estimate(&home, &scenes, false).unwrap();
    // Two circuits to either neighbour, for the traffic of four NICs.
    assert_eq!(choice.estimate.busiest, 5 * nic / 2, "{before:?}");
    assert!(choice.estimate.improves(before, 100));
    assert!(!choice.estimate.improves(choice.estimate, 0));
}

#[test]
fn jobs_count_alike_and_phases_one_after_the_other() {
    let home = tree(4);
    let small = shifted(&home);
    let large = small.scaled(3, 1);
    let of = |jobs: &[&[Traffic]]| {
        let scenes = Scenes::of_jobs(&home, jobs);
        let time = estimate(&home, &scenes, false).unwrap().busiest as f64;
        time / scenes.nic_time(&home) as f64
    };
    let near = |a: f64, b: f64| (a - b).abs() < 1e-6;
    // Twice a NIC's time for the four links to the cores, each a fifth of the time idle. Both at
    // once: twice as much for links and NICs.
    let [small, large] = [&small, &large].map(std::slice::from_ref);
    assert!(near(of(&[small]), 2.5) && near(of(&[large]), 2.5));
    assert!(near(of(&[small, large]), 2.5));
    // One direction after the other: links and NICs are used in one direction at a time.
    let mut there = Traffic::new(&home);
    let mut back = there.clone();
    for host in 0..8 {
        add(&mut there, host, host + 8, 1_000_000);
        add(&mut back, host + 8, host, 1_000_000);
    }
    assert!(near(of(&[&[there.clone(), back.clone()]]), 2.5));
    let phases = Scenes::of_jobs(&home, &[&[there, back]]);
    assert_eq!(phases.iter().count(), 2);
}

#[test]
fn the_order_of_switches_has_each_once() {
    for switches in 0..40 {
        let mut order = spread_order(switches);
        order.sort_unstable();
        assert_eq!(order, (0..switches).collect::<Vec<_>>());
    }
}
