//! Multi-plane fabrics: copies of a fabric, each with one port of every host.

use tenter_fabric::topology::{
    CoreTier, FatTree, HostId, LeafSpine, Planes, Routing, SwitchId, Topology, TopologySpec,
};
use tenter_language::units::{Budget, Rate};

fn planes(count: u32) -> Planes {
    Planes::new(count).expect("there are NICs with as many ports")
}

fn specs(count: u32) -> [TopologySpec; 3] {
    let planes = planes(count);
    let uneven = FatTree {
        planes,
        core: Some(CoreTier {
            links_per_pod: Some(3),
            ..CoreTier::new(2, 2)
        }),
        ..FatTree::new(2, 2, 2)
    };
    [
        TopologySpec::LeafSpine(LeafSpine {
            planes,
            links_per_pair: 2,
            ..LeafSpine::new(3, 2, 2)
        }),
        TopologySpec::FatTree(FatTree {
            planes,
            ..FatTree::new(3, 2, 2)
        }),
        TopologySpec::FatTree(uneven),
    ]
}

fn built(spec: &TopologySpec) -> (Topology, Routing) {
    let topology = spec.build(&Budget::unlimited()).expect("it can be built");
    let routing = Routing::build(&topology, &Budget::unlimited()).expect("all hosts are reached");
    (topology, routing)
}

#[test]
fn each_plane_is_the_fabric_with_one_plane() {
    for (alone, copies) in specs(1).iter().zip(&specs(3)) {
        let ((one, one_routing), (many, routing)) = (built(alone), built(copies));
        assert_eq!((one.nic_ports, many.nic_ports), (1, 3));
        assert_eq!(many.hosts, one.hosts);
        assert_eq!(many.switches(), 3 * one.switches());
        assert_eq!(many.cables.len(), 3 * one.cables.len());
        for host in one.host_ids() {
            assert_eq!(many.ports(host), 3);
            assert_eq!(many.line_rate(host), Rate::from_gbps(1_200));
        }
        for switch in one.switch_ids() {
            for (plane, copy) in many
                .on_planes(SwitchId::new(3 * switch.number()))
                .enumerate()
            {
                let (old, new) = (one.switch_node(switch), many.switch_node(copy));
                assert_eq!(many.name(new), format!("plane{plane}/{}", one.name(old)));
                assert_eq!(many.ports(new), one.ports(old));
                for host in one.host_ids() {
                    let ports = one_routing.candidates(switch, host);
                    assert_eq!(routing.candidates(copy, host), ports);
                }
            }
        }
        for (a, b) in one.host_ids().zip(one.host_ids().rev()) {
            assert_eq!(routing.distance(a, b), one_routing.distance(a, b));
        }
    }
}

#[test]
fn port_p_is_on_plane_p_and_planes_are_apart() {
    for spec in specs(4) {
        let (topology, _) = built(&spec);
        for cable in &topology.cables {
            let planes = cable.ends.map(|end| {
                if topology.is_host(end.node) {
                    u32::from(end.port)
                } else {
                    topology.switch(end.node).number() % 4
                }
            });
            assert_eq!(planes[0], planes[1]);
        }
        let order = topology.locality_order();
        assert_eq!(order.len(), topology.nodes.len());
        for threads in 1..4 {
            let parts = topology.partition(threads);
            assert!(parts.iter().all(|part| *part < threads));
        }
    }
}

#[test]
fn a_cable_that_is_out_changes_the_ways_of_its_plane_alone() {
    for spec in specs(2) {
        let (topology, routing) = built(&spec);
        // The first cable between two switches.
        let cables = topology.cables.iter();
        let inner = cables.map(|cable| cable.ends.iter().all(|end| !topology.is_host(end.node)));
        let first = inner.clone().position(|is| is).expect("there is one");
        let mut out = vec![false; topology.cables.len()];
        out[first] = true;
        let plane = topology
            .switch(topology.cables[first].ends[0].node)
            .number()
            % 2;
        let rest = routing.without(&topology, &out);
        let mut changed = 0;
        for switch in topology.switch_ids() {
            for host in topology.host_ids() {
                let ways = [&routing, &rest].map(|of| of.candidates(switch, host));
                let differs = ways[0] != ways[1];
                assert!(!differs || switch.number() % 2 == plane);
                assert!(!ways[1].is_empty());
                changed += u32::from(differs);
            }
        }
        assert!(changed > 0);
    }
}

#[test]
fn half_of_all_lines_pass_the_middle() {
    let spec = TopologySpec::LeafSpine(LeafSpine {
        planes: planes(4),
        ..LeafSpine::new(2, 4, 4)
    });
    let topology = spec.build(&Budget::unlimited()).expect("it can be built");
    let bisection = topology.bisection().expect("it has one");
    // Eight NICs of four ports with 400G.
    assert_eq!(bisection.bps, 8 * 4 * 400_000_000_000 / 2);
    assert!(bisection.exact);
    let host = HostId::new(0);
    assert_eq!(topology.line_rate(host), Rate::from_gbps(1_600));
}
