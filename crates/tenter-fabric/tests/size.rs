//! The size of a fabric, as its counts tell it before it is built, beside the fabric itself: the
//! counts, and the memory that building it and finding its routes take at their peak.

use std::alloc::System;

use cap::Cap;
use tenter_fabric::topology::{
    CoreTier, Dragonfly, DragonflyPlus, Explicit, ExplicitKind, ExplicitLink, ExplicitNode,
    FatTree, GridPaths, Hyperx, LeafSpine, Rail, RailOnly, Routing, SingleSwitch, Size, SlimFly,
    TopologySpec, Torus,
};
use tenter_language::config::default_with;
use tenter_language::units::{Budget, Bytes, Limits, Resource};

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// The memory that is taken from a budget is at least what is allocated, and at most so many times
/// that.
const AT_MOST: f64 = 2.5;

fn explicit() -> Explicit {
    let node = |name: String, kind| ExplicitNode {
        name,
        kind,
        tier: 0,
    };
    let hosts = (0..4_000).map(|host| node(format!("h{host}"), ExplicitKind::Host));
    let switches = (0..400).map(|switch| node(format!("s{switch}"), ExplicitKind::Switch));
    let link = |a: String, b: String| ExplicitLink {
        a,
        b,
        ..default_with(&[("a", "a"), ("b", "b")])
    };
    let down = (0..4_000).map(|host| link(format!("h{host}"), format!("s{}", host % 400)));
    let ring =
        (0..400).map(|switch| link(format!("s{switch}"), format!("s{}", (switch + 1) % 400)));
    Explicit {
        nodes: hosts.chain(switches).collect(),
        routes: Vec::new(),
        links: down.chain(ring).collect(),
    }
}

/// A fabric of each kind, large enough that its parts and not the program decide.
fn fabrics() -> Vec<TopologySpec> {
    let rail_only = RailOnly {
        servers_per_leaf: 32,
        spines_per_rail: 8,
        ..RailOnly::new(1_024, 8)
    };
    let mut tree = FatTree::new(16, 16, 16);
    tree.core = Some(CoreTier::new(16, 16));
    let dragonfly: Dragonfly = default_with(&[
        ("groups", "33"),
        ("routers_per_group", "16"),
        ("hosts_per_router", "8"),
        ("global_links_per_router", "2"),
    ]);
    let dragonfly_plus: DragonflyPlus = default_with(&[
        ("groups", "16"),
        ("leaves_per_group", "32"),
        ("spines_per_group", "16"),
        ("hosts_per_leaf", "16"),
        ("global_links_per_spine", "16"),
    ]);
    let slim_fly: SlimFly = default_with(&[("q", "19"), ("hosts_per_router", "14")]);
    let hyperx = Hyperx {
        sizes: vec![12, 12, 6],
        ..default_with(&[("sizes", "[]"), ("hosts_per_switch", "8")])
    };
    let torus = Torus {
        sizes: vec![12, 12, 8],
        ..default_with(&[("sizes", "[]"), ("hosts_per_switch", "2")])
    };
    let mesh = Torus {
        sizes: vec![20, 20],
        links: vec![4, 2],
        wrap_around: false,
        paths: GridPaths::All,
        ..default_with(&[("sizes", "[]"), ("hosts_per_switch", "4")])
    };
    vec![
        TopologySpec::SingleSwitch(SingleSwitch::new(10_000)),
        TopologySpec::LeafSpine(LeafSpine::new(256, 32, 64)),
        TopologySpec::FatTree(tree),
        TopologySpec::Rail(Rail {
            servers_per_group: 32,
            ..Rail::new(1_024, 8, 64)
        }),
        TopologySpec::RailOnly(rail_only),
        TopologySpec::Dragonfly(dragonfly),
        TopologySpec::DragonflyPlus(dragonfly_plus),
        TopologySpec::SlimFly(slim_fly),
        TopologySpec::Hyperx(hyperx),
        TopologySpec::Torus(torus),
        TopologySpec::Torus(mesh),
        TopologySpec::Explicit(explicit()),
    ]
}

/// What `make` allocates at its peak beyond what is there, and what it makes.
fn allocated<T>(make: impl FnOnce() -> T) -> (u64, T) {
    // The peak so far is that of another fabric; with as much beside it, each byte is a new peak.
    let ballast: Vec<u8> = Vec::with_capacity(ALLOCATOR.max_allocated() - ALLOCATOR.allocated());
    let before = ALLOCATOR.allocated();
    let made = make();
    drop(ballast);
    ((ALLOCATOR.max_allocated() - before) as u64, made)
}

/// What is wrong with an estimate, if anything is.
fn apart(what: &str, estimated: u64, allocated: u64) -> Option<String> {
    let ratio = estimated as f64 / allocated as f64;
    let is_close = (1.0..AT_MOST).contains(&ratio);
    let text = || format!("{what}: {estimated} bytes are taken and {allocated} allocated");
    (!is_close).then(text)
}

fn of_memory(bytes: u64) -> Budget {
    Budget::new(Limits {
        memory: Bytes::new(bytes),
        ..Limits::NONE
    })
}

#[test]
fn sizes_from_counts_are_those_of_the_fabric() {
    let mut wrong = Vec::new();
    for spec in fabrics() {
        let kind = spec.word();
        let size = spec.size().expect("it is small enough");
        let (bytes, topology) = allocated(|| spec.build(&Budget::unlimited()));
        let topology = topology.expect("it is a fabric");
        let real = Size::of(&topology);
        let counts = |size: &Size| (size.hosts, size.switches, size.leaves);
        assert_eq!(counts(&size), counts(&real), "{kind}");
        let cables = size.cables as f64 / real.cables as f64;
        assert!(
            (1.0..1.05).contains(&cables),
            "{kind}: {} and {}",
            size.cables,
            real.cables
        );
        wrong.extend(apart(kind, size.topology_bytes(), bytes));
        let (bytes, routing) = allocated(|| Routing::build(&topology, &Budget::unlimited()));
        routing.expect("all hosts are reached");
        let routes = format!("routes of {kind}");
        wrong.extend(apart(&routes, size.routing_bytes(), bytes));

        let refused = of_memory(size.topology_bytes() - 1);
        spec.build(&refused).expect_err(kind);
        assert_eq!(refused.refused(), Some(Resource::Memory), "{kind}");
        let refused = of_memory(real.routing_bytes() - 1);
        Routing::build(&topology, &refused).expect_err(kind);
        assert_eq!(refused.refused(), Some(Resource::Memory), "{kind}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
