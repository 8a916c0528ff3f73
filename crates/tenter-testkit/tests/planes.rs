//! Multi-plane fabrics: random scenarios on all engines, and times that follow from bytes and
//! rates.

use std::ops::Range;

use tenter::resolve::{Format, load};
use tenter_testkit::{Engine, Trial, compare_plan, random_planes};

/// What happened in random scenarios.
#[derive(Debug, Default)]
struct Seen {
    dropped: u64,
    repeated: u64,
    timeouts: u64,
    lost: u64,
    paused: u64,
    out_of_order: u64,
    complete: u64,
}

fn run(seeds: Range<u64>) {
    let count = seeds.end - seeds.start;
    let mut seen = Seen::default();
    for seed in seeds {
        let scenario = random_planes(seed);
        let trials = compare_plan(&scenario.plan, seed);
        let trials =
            trials.unwrap_or_else(|failure| panic!("seed {seed}: {failure}\n{}", scenario.text));
        let summary = &trials.reference.outcome.summary;
        let totals = &summary.totals;
        seen.dropped += u64::from(totals.dropped_frames > 0);
        seen.repeated += u64::from(totals.retransmitted_frames > 0);
        seen.timeouts += u64::from(totals.timeouts > 0);
        seen.lost += u64::from(totals.lost_frames > 0);
        seen.paused += u64::from(totals.xoff_frames > 0);
        seen.out_of_order += u64::from(totals.out_of_order_frames > 0);
        seen.complete += u64::from(summary.jobs.iter().all(|job| job.job.complete));
    }
    let often = seen.dropped.min(seen.repeated).min(seen.timeouts);
    let at_times = seen.lost.min(seen.out_of_order);
    assert!(
        often >= count / 8
            && at_times >= count / 15
            && seen.paused >= count / 60
            && seen.complete >= count / 3,
        "the scenarios are too tame or too wild: {seen:?} of {count}"
    );
}

#[test]
fn engines_agree_on_the_first_half() {
    run(0..100);
}

#[test]
fn engines_agree_on_the_second_half() {
    run(100..200);
}

/// NICs of 800G as four ports of 200G, each on a plane of two leaves and two spines.
const FOUR_PLANES: &str = "
fabric:
  kind: leaf-spine
  planes: 4
  leaves: 2
  hosts_per_leaf: 4
  spines: 4
  host_rate: 200Gbps
  uplink_rate: 200Gbps
endpoint:
  nic:
    loss_recovery: {kind: selective-repeat, reorder: 4096}
jobs:
  - {ranks: [host0, host4], collectives: [{collective: incast, size: 64MiB}]}
observe: {samples: false}
";

fn run_with(overrides: &[&str]) -> Trial {
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    let loaded = load(FOUR_PLANES, "planes.yaml", Format::Yaml, &overrides, None);
    let plan = loaded.unwrap_or_else(|errors| panic!("{errors}")).plan;
    Engine::windowed(1).run(&plan).expect("it runs")
}

/// From the start to the last byte, in ps.
fn completion(trial: &Trial) -> u64 {
    let rows = trial.rows.flows.iter();
    let times = rows.map(|row| (row.received - row.posted).ps());
    times.max().expect("there is a flow")
}

/// What 4,096 full packets of 4,178 bytes on the wire and more take at 200G, 40 ps a byte.
fn at_200g(packets: u64) -> f64 {
    packets as f64 * 4_178.0 * 40.0
}

#[test]
fn a_queue_pair_that_sprays_gets_the_rate_of_all_planes() {
    // 32 MiB from one rank to the other: 8,192 packets, a quarter by each port.
    let trial = run_with(&[]);
    let time = completion(&trial) as f64 / at_200g(8_192 / 4);
    assert!((1.0..1.02).contains(&time), "{time}");
    let ports = trial.outcome.counts.ports.iter();
    let sent: Vec<u64> = ports
        .filter(|port| port.node_name == "host4")
        .map(|port| port.tx_frames)
        .collect();
    assert_eq!(sent, [2_048; 4]);
    assert_eq!(trial.outcome.summary.totals.retransmitted_frames, 0);
}

#[test]
fn a_queue_pair_on_the_plane_of_its_hash_gets_the_rate_of_one() {
    let set = [
        "endpoint.nic.planes=hash",
        "endpoint.nic.loss_recovery=go-back-n",
    ];
    let trial = run_with(&set);
    let time = completion(&trial) as f64 / at_200g(8_192);
    assert!((1.0..1.01).contains(&time), "{time}");
    assert_eq!(trial.outcome.summary.totals.out_of_order_frames, 0);
}

#[test]
fn many_queue_pairs_by_hash_fill_all_planes() {
    // 64 of them: the fullest plane has more than 16.
    let set = [
        "endpoint.nic.planes=hash",
        "endpoint.nic.loss_recovery=go-back-n",
        "jobs[0].queue_pairs=64",
    ];
    let time = completion(&run_with(&set)) as f64 / at_200g(8_192 / 4);
    assert!((1.0..1.8).contains(&time), "{time}");
}

#[test]
fn a_permutation_gets_all_rates_where_packets_are_sprayed_evenly() {
    let set = [
        "jobs=[{name: a, collectives: [{collective: permutation, size: 32MiB}]}]",
        "fabric.load_balancing={kind: round-robin-spray}",
    ];
    let trial = run_with(&set);
    let time = completion(&trial) as f64 / at_200g(8_192 / 4);
    assert!((1.0..1.1).contains(&time), "{time}");
}

#[test]
fn a_port_that_is_down_costs_its_share_of_the_rate() {
    // Known at the sender at once: three ports carry on.
    let set = ["faults.events=[{link: host4-plane1/leaf1, down: 0us}]"];
    let trial = run_with(&set);
    let time = completion(&trial) as f64 / at_200g(8_192 / 3);
    assert!((1.0..1.02).contains(&time), "{time}");
}

#[test]
fn a_plane_without_a_way_waits_and_is_sent_again() {
    // The sender does not know of the receiver's port: what goes there is lost and sent again.
    let set = [
        "faults.convergence=1us",
        "faults.events=[{link: host0-plane1/leaf0, down: 0us, up: 100us}]",
        "endpoint.nic.retransmission_timeout=200us",
    ];
    let trial = run_with(&set);
    let totals = &trial.outcome.summary.totals;
    assert!(totals.unsent_frames > 0 && totals.retransmitted_frames > 0);
    assert!(trial.outcome.summary.complete);
}

#[test]
fn ultra_ethernet_sprays_over_all_planes() {
    let set = [
        "endpoint.nic={transport: ultra-ethernet}",
        "fabric.switch={queue_capacity: 512KiB}",
    ];
    let trial = run_with(&set);
    // 8,213 packets of 4,086 bytes, 4,150 on the wire.
    let wire = (32 << 20) as f64 / 4_086.0 * 4_150.0;
    let time = completion(&trial) as f64 / (wire * 10.0);
    assert!((1.0..1.06).contains(&time), "{time}");
}

#[test]
fn what_does_not_go_together_is_refused_with_a_remedy() {
    let cases = [
        (
            "fabric.switching={kind: scheduled}",
            "a multi-plane fabric does not go together with a fabric that is scheduled",
        ),
        (
            "endpoint.nic={planes: spray, loss_recovery: go-back-n}",
            "`spray` lets packets of a queue pair overtake each other",
        ),
        (
            "endpoint.nic.pcie={generation: 5, lanes: 16}",
            "a multi-plane fabric does not go together with NICs with `pcie`",
        ),
        ("fabric.planes=9", "must be the number of ports of a NIC"),
        (
            "observe.capture=[host0]",
            "names `host0`, which has several ports",
        ),
    ];
    for (set, expected) in cases {
        let set = [set.to_owned()];
        let loaded = load(FOUR_PLANES, "planes.yaml", Format::Yaml, &set, None);
        let text = loaded.map(|_| ()).expect_err(expected).render();
        assert!(text.contains(expected), "{text}");
    }
}
