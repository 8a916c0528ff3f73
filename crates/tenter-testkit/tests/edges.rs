//! At an edge everything before that instant has happened and nothing at it, on every engine: here
//! departures, arrivals and samples fall on the very same instants.

use tenter::resolve::{Format, load};
use tenter_fabric::net::WIRE_OVERHEAD_BYTES;
use tenter_language::units::Time;
use tenter_results::SampleRow;
use tenter_sim::plan::{Plan, SIMULATED_MAX};
use tenter_testkit::Engine;

/// A first-and-only packet of 4,096 bytes: 62 bytes of headers and 16 of the RDMA extended header.
const FRAME_BYTES: u64 = 4_174;
/// With 20 bytes of preamble and gap, at 100 Gb/s: 4,194 × 80 ps.
const FRAME_TIME: Time = Time::from_ps((FRAME_BYTES + WIRE_OVERHEAD_BYTES as u64) * 80);
/// Frames that each of the two senders sends.
const FRAMES: u64 = 12;
/// The first sample is taken after so many frame times, and the others as far apart.
const SAMPLE_FRAMES: u64 = 3;

/// Two hosts send to a third over one switch that stores and forwards without latency. Cables are
/// one frame time long, so all that happens to data happens at whole multiples of it.
fn plan() -> Plan {
    let size = 3 * FRAMES * 4_096;
    let text = format!(
        "
fabric:
  kind: single-switch
  hosts: 3
  rate: 100Gbps
  host_delay: {FRAME_TIME}
  switch: {{forwarding: store-and-forward, pipeline_latency: 0ns, queue_capacity: none}}
endpoint:
  nic: {{mtu: 4096, message_size: 4096B}}
jobs:
  - collectives: [{{collective: incast, root: 2, size: {size}B}}]
observe: {{sample_interval: {}}}
",
        FRAME_TIME * SAMPLE_FRAMES
    );
    match load(&text, "edges.yaml", Format::Yaml, &[], None) {
        Ok(loaded) => loaded.plan,
        Err(errors) => panic!("{}", errors.render()),
    }
}

/// The samples of the switch's port to the receiver, by hand.
///
/// In units of a frame time: the first frames leave the senders at 0 and are in the switch at 2,
/// one for the wire and one for the cable. There, at each k from 2 to 13, two arrive; and at each k
/// from 2 to 25 one departs. So before k, 2·(k − 2) have come, at most 24, and k − 2 have gone.
fn expected(samples: u64) -> Vec<(Time, u64, u64)> {
    let came = |k: u64| (2 * (k - 2)).min(2 * FRAMES);
    let went = |k: u64| (k - 2).min(2 * FRAMES);
    let instants = (1..=samples).map(|n| n * SAMPLE_FRAMES);
    instants
        .map(|k| {
            let before = (k - SAMPLE_FRAMES).max(2);
            let waiting = came(k) - went(k);
            let sent = went(k) - went(before);
            (FRAME_TIME * k, waiting * FRAME_BYTES, sent * FRAME_BYTES)
        })
        .collect()
}

#[test]
fn a_sample_sees_all_that_was_before_it_and_nothing_at_its_instant() {
    let plan = plan();
    let switch = plan.topology.hosts as u32;
    for engine in Engine::all(1) {
        let trial = engine
            .run(&plan)
            .unwrap_or_else(|how| panic!("{engine}: {how}"));
        let here = |row: &&SampleRow| (row.node, row.port) == (switch, 2);
        let samples = trial.rows.samples.iter().filter(here);
        let samples: Vec<_> = samples
            .map(|row| (row.time, row.queue_bytes, row.tx_bytes))
            .collect();
        // The last frame departs at 25, so the samples at 3, 6 … 27 have something to say.
        assert_eq!(samples, expected(9), "{engine}");
    }
}

#[test]
fn samples_keep_to_their_grid_and_the_last_is_at_the_end() {
    // The second collective starts long after the network has become empty, at an instant between
    // two samples.
    let mut plan = plan();
    plan.jobs[0].iterations = 2;
    plan.jobs[0].gap = FRAME_TIME * (40 * SAMPLE_FRAMES) + Time::from_ps(1);
    let interval = (FRAME_TIME * SAMPLE_FRAMES).ps();
    for engine in Engine::all(4) {
        let trial = engine
            .run(&plan)
            .unwrap_or_else(|how| panic!("{engine}: {how}"));
        let samples = &trial.rows.samples;
        let end = trial.rows.flows.iter().map(|row| row.acknowledged).max();
        assert_eq!(samples.last().map(|row| row.time), end, "{engine}");
        let off = |row: &&SampleRow| !row.time.ps().is_multiple_of(interval);
        assert!(
            samples.iter().filter(off).all(|row| Some(row.time) == end),
            "{engine}"
        );
        // The first collective's last acknowledgement leaves the switch before the sample at 30.
        let early = samples.iter().filter(|row| row.time < plan.jobs[0].gap);
        let last = early.map(|row| row.time).max();
        assert_eq!(last, Some(FRAME_TIME * 30), "{engine}");
        for port in &trial.outcome.counts.ports {
            let here = |row: &&SampleRow| (row.node, row.port) == (port.node, port.port);
            let sampled: u64 = samples.iter().filter(here).map(|row| row.tx_bytes).sum();
            assert_eq!(sampled, port.tx_bytes, "{engine}: {}", port.node_name);
        }
    }
}

#[test]
fn a_limit_after_the_last_job_stops_nothing() {
    // Levels of ports are refreshed every 100 us, once more after the last packet. The limits are
    // the instant of the last acknowledgement and one a little later, far before that refresh.
    let text = "
fabric: {kind: leaf-spine, leaves: 2, hosts_per_leaf: 2, spines: 2, load_balancing: {kind: adaptive, refresh: 100us}}
endpoint: {nic: {loss_recovery: {kind: selective-repeat, reorder: 64}}}
jobs: [{collectives: [{collective: all-to-all, size: 64KiB}]}]
observe: {samples: false}
";
    let loaded = load(text, "tail.yaml", Format::Yaml, &[], None);
    let mut plan = loaded
        .unwrap_or_else(|errors| panic!("{}", errors.render()))
        .plan;
    for engine in Engine::all(3) {
        let run = |plan: &Plan| {
            let trial = engine.run(plan);
            trial.unwrap_or_else(|how| panic!("{engine}: {how}"))
        };
        plan.time_limit = None;
        let whole = run(&plan);
        let flows = whole.rows.flows.iter();
        let last = flows.map(|row| row.acknowledged).max().expect("flows");
        assert!(last < Time::from_us(50), "{engine}: {last}");
        for after in [1, 1_000_000] {
            plan.time_limit = Some(last + Time::from_ps(after));
            let limited = run(&plan);
            assert_eq!(limited.outcome.summary.stopped, None, "{engine}");
            assert_eq!(limited.outcome.digest, whole.outcome.digest, "{engine}");
            let simulated =
                |trial: &tenter_testkit::Trial| trial.outcome.summary.engine.simulated_ns.to_bits();
            assert_eq!(simulated(&limited), simulated(&whole), "{engine}");
        }
        // A job that is not done is stopped all the same.
        plan.time_limit = Some(last - Time::from_ns(1_000));
        let stopped = run(&plan).outcome.summary.stopped;
        assert!(
            stopped.is_some_and(|why| why.contains("time limit")),
            "{engine}"
        );
    }
}

#[test]
fn the_central_driver_names_the_lookahead_it_runs_for() {
    // A cable of 1 ns and the smallest frame, 84 bytes on the wire: 84 × 80 ps.
    let mut plan = plan();
    for cable in &mut plan.topology.cables {
        cable.delay = Time::from_ns(1);
    }
    let plan = plan.evaluated();
    for engine in &Engine::all(5)[1..] {
        let trial = engine
            .run(&plan)
            .unwrap_or_else(|how| panic!("{engine}: {how}"));
        let [warning] = &trial.outcome.summary.notes[..] else {
            panic!("{engine}: {:?}", trial.outcome.summary.notes);
        };
        assert!(
            warning
                .text
                .contains("within 7.72ns, which is less than 50ns"),
            "{engine}: {warning:?}"
        );
    }
}

#[test]
fn no_simulation_goes_beyond_the_longest() {
    // Twelve frames of two senders each take 27 frame times, about 9 us: the first collective is
    // done just before the ceiling or long before it, and the second never starts.
    for start in [Time::ZERO, Time::from_ps(SIMULATED_MAX.ps() - 20_000_000)] {
        let mut plan = plan();
        plan.jobs[0].start = start;
        plan.jobs[0].iterations = 2;
        plan.jobs[0].gap = Time::MAX;
        plan.sample_interval = None;
        for engine in Engine::all(3) {
            let trial = engine
                .run(&plan)
                .unwrap_or_else(|how| panic!("{engine}: {how}"));
            let summary = &trial.outcome.summary;
            let expected = "the longest simulation of 8640000s was reached";
            assert_eq!(summary.stopped.as_deref(), Some(expected), "{engine}");
            assert_eq!(summary.totals.flows, 2, "{engine}");
            assert!(!summary.complete, "{engine}");
        }
    }
}

#[test]
fn a_time_limit_stops_before_what_happens_at_its_instant() {
    for frames in [2, 3, 9, 14] {
        let mut plan = plan();
        plan.sample_interval = None;
        plan.time_limit = Some(FRAME_TIME * frames);
        for engine in Engine::all(2) {
            let trial = engine
                .run(&plan)
                .unwrap_or_else(|how| panic!("{engine}: {how}"));
            let ports = &trial.outcome.counts.ports;
            let sent = |name: &str, port: u16| {
                let row = ports
                    .iter()
                    .find(|row| (row.node_name.as_str(), row.port) == (name, port));
                row.map(|row| row.tx_frames)
            };
            let by_host = Some(frames.min(FRAMES));
            assert_eq!(sent("host0", 0), by_host, "{engine} at {frames}");
            assert_eq!(sent("leaf0", 2), Some(frames - 2), "{engine} at {frames}");
            assert!(trial.outcome.summary.stopped.is_some(), "{engine}");
        }
    }
}
