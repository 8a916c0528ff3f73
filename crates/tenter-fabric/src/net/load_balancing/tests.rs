//! The choice of each member among idle ports, and among ports of which one is busy.

use crate::topology::{
    CableEnd, HostId, LeafSpine, NodeId, Planes, Routing, SwitchId, TopologySpec, TreePlace,
};
use tenter_engine::{LocalNode, Output};
use tenter_language::config::Percent;
use tenter_language::units::{Budget, Instant, Rate, Time};

use super::{
    Adaptive, Balancer, Ecmp, FiveTuple, Flowlet, HashFunction, Here, LoadBalancing, QualitySpec,
    QueueAwareSpray, RandomSpray, RoundRobinSpray, SwitchSite, Ugal, WeightedEcmp,
};
use crate::net::class::ClassSpec;
use crate::net::load_balancing::quality::Quality;
use crate::net::load_balancing::view::Balance;
use crate::net::medium::{Event, Medium};
use crate::net::packet::{Draw, Packet, PacketKind};
use crate::net::port::{Port, PortRules};
use crate::net::transmitter::{MacControl, Transmitter};

const PORTS: usize = 4;
const CANDIDATES: [u16; PORTS] = [0, 1, 2, 3];

/// Discards what is sent.
pub(super) struct Nowhere;

impl Medium for Nowhere {
    const WATCHED: bool = false;

    fn send(&mut self, _: Output, _: Instant, _: &Packet) {}

    fn note(&mut self, _: Event) {}
}

pub(super) fn packet(flow: u32, sequence: u32, at: Instant) -> Packet {
    Packet {
        at,
        queue_pair: 0,
        sequence,
        destination: HostId::new(0),
        hash: flow.wrapping_mul(0x9e37_79b9),
        sent: 0,
        frame_bytes: 4_158,
        kind: PacketKind::Middle,
        flags: 0,
    }
}

/// Ports of 100G, but for the last, which has 300G.
pub(super) fn ports() -> Vec<Port> {
    let output = Output {
        part: 0,
        input: 0,
        node: LocalNode::default(),
    };
    let mac = MacControl {
        output,
        latency: Time::ZERO,
        xoff_frames: 0,
        xon_frames: 0,
    };
    let rules = PortRules::new(&[ClassSpec::without_end(0)], 0);
    let port = |number: u16| {
        let rate = Rate::from_gbps(if number == 3 { 300 } else { 100 });
        let wire = rate.serialisation(0);
        let end = CableEnd {
            node: NodeId::new(0),
            port: number,
        };
        Port::new(
            Transmitter::new(end, output, wire, Time::ZERO, false, mac),
            1,
            &rules,
            None,
        )
    };
    CANDIDATES.map(port).into()
}

/// Routes over two leaves with a host each.
pub(super) fn routing() -> Routing {
    let spec = LeafSpine {
        leaves: 2,
        hosts_per_leaf: 1,
        spines: PORTS as u32,
        links_per_pair: 1,
        host_rate: Rate::from_gbps(100),
        uplink_rate: Rate::from_gbps(100),
        host_delay: Time::from_ns(10),
        fabric_delay: Time::from_ns(10),
        overrides: Vec::new(),
        cabling: crate::topology::Cabling::Regular,
        planes: Planes::ONE,
    };
    let topology = TopologySpec::LeafSpine(spec).build(&Budget::unlimited());
    Routing::build(&topology.expect("a small fabric"), &Budget::unlimited())
        .expect("all hosts are reached")
}

fn here<'a>(seed: u32, ports: &'a [Port], routing: &'a Routing) -> Here<'a> {
    Here {
        index: SwitchId::new(0),
        seed,
        ports,
        routing,
    }
}

/// A load balancer in a switch by itself.
fn balancer(spec: &LoadBalancing) -> Balancer {
    let site = SwitchSite {
        ports: PORTS,
        place: TreePlace::ROOT,
        headers: None,
        to_host: vec![false; PORTS],
        shared_seed: 7,
    };
    Balancer::new(spec, &site, None)
}

/// How often each port is chosen for packets a microsecond apart.
fn chosen(
    spec: &LoadBalancing,
    ports: &[Port],
    packets: impl Iterator<Item = Packet>,
) -> [u32; PORTS] {
    let mut balancer = balancer(spec);
    let mut counts = [0; PORTS];
    let routing = routing();
    for packet in packets {
        if balancer.next_refresh().is_some_and(|at| at < packet.at) {
            balancer.refresh(ports, packet.at);
        }
        counts[balancer.choose(&packet, &CANDIDATES, here(7, ports, &routing))] += 1;
    }
    counts
}

fn flows(count: u32) -> impl Iterator<Item = Packet> {
    (0..count).map(|flow| packet(flow, 0, Instant::from_ps(u64::from(flow) * 1_000_000)))
}

fn one_flow(count: u32) -> impl Iterator<Item = Packet> {
    (0..count).map(|sequence| {
        packet(
            1,
            sequence,
            Instant::from_ps(u64::from(sequence) * 1_000_000),
        )
    })
}

const QUALITY: QualitySpec = QualitySpec {
    refresh: Time::ZERO,
    step: Time::from_ns(100),
};

#[test]
fn one_flow_keeps_its_link_or_uses_all() {
    let gap = |gap| {
        LoadBalancing::Flowlet(Flowlet {
            quality: QUALITY,
            gap,
            buckets: 16,
            probability: Percent(0),
            delta: 1,
        })
    };
    let keeping = [
        LoadBalancing::Ecmp(Ecmp::default()),
        LoadBalancing::WeightedEcmp(WeightedEcmp {
            ecmp: Ecmp::default(),
        }),
        gap(Time::from_us(2)),
    ];
    for spec in keeping {
        let counts = chosen(&spec, &ports(), one_flow(1_000));
        assert!(counts.contains(&1_000), "{spec:?}: {counts:?}");
        assert!(!spec.reorders());
    }
    // 250 with a standard deviation of 14.
    let spreading = [
        LoadBalancing::RandomSpray(RandomSpray {}),
        LoadBalancing::Adaptive(Adaptive { quality: QUALITY }),
        gap(Time::from_us(1)),
    ];
    for spec in spreading {
        let counts = chosen(&spec, &ports(), one_flow(1_000));
        assert!(
            counts.iter().all(|count| (180..320).contains(count)),
            "{spec:?}: {counts:?}"
        );
    }
    let counts = chosen(
        &LoadBalancing::RoundRobinSpray(RoundRobinSpray {}),
        &ports(),
        one_flow(1_000),
    );
    assert_eq!(counts, [250; PORTS]);
}

#[test]
fn flows_with_other_candidates_share_no_entry() {
    // One entry in each table, and two flows that come in turn without a gap: with ports 0 and 1,
    // and with 1 to 3. Each keeps the port it began with.
    let spec = LoadBalancing::Flowlet(Flowlet {
        quality: QUALITY,
        gap: Time::from_us(5),
        buckets: 1,
        probability: Percent(0),
        delta: 1,
    });
    let (ports, routing) = (ports(), routing());
    for seed in 0..16 {
        let mut balancer = balancer(&spec);
        let mut choose = |flow: u32, at: Instant, candidates: &[u16]| {
            candidates[balancer.choose(
                &packet(flow, 0, at),
                candidates,
                here(seed, &ports, &routing),
            )]
        };
        let first = [
            choose(1, Instant::START, &[0, 1]),
            choose(2, Instant::from_ps(1), &[1, 2, 3]),
        ];
        for round in 1..100 {
            let at = round * 1_000_000;
            let next = [
                choose(1, Instant::from_ps(at), &[0, 1]),
                choose(2, Instant::from_ps(at + 1), &[1, 2, 3]),
            ];
            assert_eq!(next, first, "seed {seed}, round {round}");
        }
    }
}

#[test]
fn weights_are_rates() {
    // 6,000 flows over 100 + 100 + 100 + 300: 1,000 each and 3,000, with deviations of 29 and 39.
    let counts = chosen(
        &LoadBalancing::WeightedEcmp(WeightedEcmp {
            ecmp: Ecmp::default(),
        }),
        &ports(),
        flows(6_000),
    );
    assert!(
        counts[..3].iter().all(|count| (850..1_150).contains(count)),
        "{counts:?}"
    );
    assert!((2_800..3_200).contains(&counts[3]), "{counts:?}");
}

#[test]
fn raw_weights_are_reduced_to_small_numbers() {
    // The weights are 1, 1, 1 and 3: a hash of 16 bits reaches them all.
    let crc16 = Ecmp {
        hash: super::HashFunction::Crc16,
        seeding: super::HashSeeding::Raw,
        ..Ecmp::default()
    };
    let hashes = (0..6_000).map(|hash| Packet {
        hash,
        ..packet(0, 0, Instant::START)
    });
    let counts = chosen(
        &LoadBalancing::WeightedEcmp(WeightedEcmp { ecmp: crc16 }),
        &ports(),
        hashes,
    );
    assert_eq!(counts, [1_000, 1_000, 1_000, 3_000]);
}

#[test]
fn a_busy_port_is_left_alone() {
    let mut ports = ports();
    // Until 333 ns at 100G.
    ports[2].pass(&packet(0, 0, Instant::START), Instant::START, &mut Nowhere);
    let adaptive = LoadBalancing::Adaptive(Adaptive { quality: QUALITY });
    let burst = (0..300).map(|sequence| packet(1, sequence, Instant::from_ps(100_000)));
    let counts = chosen(&adaptive, &ports, burst);
    assert_eq!(counts[2], 0, "{counts:?}");
    // Older levels count if they are refreshed once a second.
    let rarely = QualitySpec {
        refresh: Time::from_us(1_000_000),
        ..QUALITY
    };
    let adaptive = LoadBalancing::Adaptive(Adaptive { quality: rarely });
    let burst = (0..300).map(|sequence| packet(1, sequence, Instant::from_ps(100_000)));
    assert!(chosen(&adaptive, &ports, burst)[2] > 0);
}

#[test]
fn a_flow_without_a_gap_moves_when_another_link_is_better_by_enough() {
    // A flow's link becomes busy until 333 ns: at 100 ns by two steps of 100 ns, two levels.
    let moved = |delta: u8, percent: u32| {
        let spec = LoadBalancing::Flowlet(Flowlet {
            quality: QUALITY,
            gap: Time::from_us(5),
            buckets: 16,
            probability: Percent(percent),
            delta,
        });
        let routing = routing();
        let of_seed = |seed: u32| {
            let mut ports = ports();
            let mut balancer = balancer(&spec);
            let view = |ports: &[Port], at: Instant, balancer: &mut Balancer| {
                let packet = packet(seed, at.ps() as u32, at);
                balancer.choose(&packet, &CANDIDATES, here(seed, ports, &routing))
            };
            let first = view(&ports, Instant::START, &mut balancer);
            ports[first].pass(
                &packet(seed, 0, Instant::START),
                Instant::START,
                &mut Nowhere,
            );
            // The faster port is done sooner.
            let is_slow = first != 3;
            let moves = view(&ports, Instant::from_ps(100_000), &mut balancer) != first;
            assert_eq!(u64::from(moves), balancer.told(0).1);
            u32::from(is_slow && moves)
        };
        (0..4_000).map(of_seed).sum::<u32>()
    };
    // Three of four flows are on a slow port: 3,000 with a deviation of 27.
    assert!((2_880..3_120).contains(&moved(2, 100)));
    assert_eq!(moved(3, 100), 0);
    assert_eq!(moved(2, 0), 0);
    // A quarter of them: 750 with a deviation of 25.
    assert!((640..860).contains(&moved(1, 25)));
}

#[test]
fn two_samples_leave_a_busy_port_mostly_alone() {
    let spray =
        |samples, remember| LoadBalancing::QueueAwareSpray(QueueAwareSpray { samples, remember });
    let burst = || (0..4_000).map(|sequence| packet(1, sequence, Instant::from_ps(100_000)));
    let mut ports = ports();
    // One sample compares nothing: a quarter each, with deviations of 27.
    let counts = chosen(&spray(1, false), &ports, burst());
    assert!(
        counts.iter().all(|count| (850..1_150).contains(count)),
        "{counts:?}"
    );
    ports[2].pass(&packet(0, 0, Instant::START), Instant::START, &mut Nowhere);
    // Two samples are both the busy port once in sixteen times: 250 with a deviation of 15.
    let counts = chosen(&spray(2, false), &ports, burst());
    assert!((170..330).contains(&counts[2]), "{counts:?}");
    // Once an idle port is remembered it is never worse.
    let counts = chosen(&spray(2, true), &ports, burst());
    assert!(counts[2] <= 1, "{counts:?}");
}

#[test]
fn ugal_leaves_a_queue_for_one_less_than_half_as_long() {
    let routing = routing();
    let arriving = packet(1, 0, Instant::START);
    // Packets that wait at port 0, the shortest path, and at ports 1 and 2, the detour.
    let takes = |waiting: [u32; 3], bias| {
        let mut ports = ports();
        for (port, &count) in ports.iter_mut().zip(&waiting) {
            for _ in 0..count {
                let free = port.transmitter().last_end();
                port.pass(&packet(0, 0, free), free, &mut Nowhere);
            }
        }
        let quality = Quality::new(Some(QualitySpec::EXACT), PORTS);
        let view = here(7, &ports, &routing).view(&[0], &quality);
        Ugal { bias }.takes_detour(&arriving, &[1, 2], &view)
    };
    assert!(!takes([0, 0, 0], Time::ZERO));
    // One of the two ports of the detour is idle.
    assert!(takes([1, 1, 0], Time::ZERO));
    assert!(!takes([1, 1, 0], Time::from_us(1_000)));
    // A detour counts twice.
    assert!(!takes([2, 1, 1], Time::ZERO));
    assert!(takes([3, 1, 1], Time::ZERO));
}

#[test]
fn ugal_sends_by_the_port_that_it_has_compared() {
    let mut ports = ports();
    ports[1].pass(&packet(0, 0, Instant::START), Instant::START, &mut Nowhere);
    let routing = routing();
    let quality = Quality::new(Some(QualitySpec::EXACT), PORTS);
    let mut ugal = Ugal { bias: Time::ZERO };
    for sequence in 0..100 {
        let view = here(7, &ports, &routing).view(&[1, 2], &quality);
        assert_eq!(ugal.choose(&packet(1, sequence, Instant::START), &view), 1);
    }
}

#[test]
fn levels_are_refreshed_until_all_ports_are_idle() {
    let mut ports = ports();
    let quality = QualitySpec {
        refresh: Time::from_ns(200),
        ..QUALITY
    };
    let adaptive = LoadBalancing::Adaptive(Adaptive { quality });
    let mut balancer = balancer(&adaptive);
    assert_eq!(balancer.next_refresh(), None);
    let first = packet(0, 0, Instant::from_ps(400_001));
    balancer.choose(&first, &CANDIDATES, here(7, &ports, &routing()));
    assert_eq!(balancer.next_refresh(), Some(Instant::from_ps(600_000)));
    ports[0].pass(&first, Instant::from_ps(400_001), &mut Nowhere);
    // Sent from 400 to 734 ns.
    balancer.refresh(&ports, Instant::from_ps(600_000));
    assert_eq!(balancer.next_refresh(), Some(Instant::from_ps(800_000)));
    balancer.refresh(&ports, Instant::from_ps(800_000));
    assert_eq!(balancer.next_refresh(), None);
}

#[test]
fn marks_are_drawn_apart_from_links() {
    // Of 8,000 packets 2,000 take each of four links, and half of those, 1,000 ± 5 standard
    // deviations of √(2,000/4) ≈ 22, draw a mark of probability one half.
    let ports = ports();
    let mut marked = [0; PORTS];
    for packet in flows(8_000) {
        let mut balancer = balancer(&LoadBalancing::RandomSpray(RandomSpray {}));
        let place = balancer.choose(&packet, &CANDIDATES, here(7, &ports, &routing()));
        marked[place] += u32::from(packet.draw(7, Draw::Mark) >> 63 == 0);
    }
    let even = marked[..CANDIDATES.len()]
        .iter()
        .all(|&count| (890..=1_110).contains(&count));
    assert!(even, "{marked:?}");
}

#[test]
fn draws_for_different_choices_are_independent() {
    // Two draws of 8,000 packets agree in their first bit in half of them, ± 5 standard deviations
    // of √(8,000/4) ≈ 45.
    let choices = [Draw::Mark, Draw::Link, Draw::Move, Draw::Trim];
    for (place, &one) in choices.iter().enumerate() {
        for &other in &choices[..place] {
            let alike = |packet: &Packet| (packet.draw(7, one) ^ packet.draw(7, other)) >> 63 == 0;
            let count = flows(8_000).filter(alike).count();
            assert!(
                (3_776..=4_224).contains(&count),
                "{one:?}, {other:?}: {count}"
            );
        }
    }
}

#[test]
fn another_source_port_changes_every_hash_by_the_same() {
    let functions = [
        HashFunction::Crc16,
        HashFunction::Crc32,
        HashFunction::Xor,
        HashFunction::Toeplitz,
    ];
    for function in functions {
        let spec = LoadBalancing::Ecmp(Ecmp {
            hash: function,
            ..Ecmp::default()
        });
        let differences = spec.source_port_differences(100);
        for (number, difference) in (0_u16..).zip(&differences) {
            let hash = |source_port: u16| {
                spec.hash(&FiveTuple {
                    source_address: 0x0a00_0001,
                    destination_address: 0xc0a8_07fe,
                    protocol: 17,
                    source_port,
                    destination_port: 4791,
                })
            };
            assert_eq!(hash(0xc123) ^ hash(0xc123 ^ number), *difference);
        }
    }
}
