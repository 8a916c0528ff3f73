//! Workloads of flows, in a closed loop and in an open one.

use std::collections::BTreeMap;

use tenter_language::units::Time;
use tenter_results::FlowRow;

use crate::trial::Trial;
use crate::wire::{ACK_WIRE, cut_through, wire};

/// Two hosts at 400 Gb/s: a byte takes 20 ps.
const PAIR: &str = "
fabric: {kind: single-switch, hosts: 2, rate: 400Gbps, host_delay: 25ns, switch: {pipeline_latency: 601ns}}
endpoint: {nic: {transmit_latency: 7ns, receive_latency: 11ns, mtu: 4096, message_size: 40960B}}
jobs: [{start: 3us, workload: {sizes: 100000B, pairs: [{from: 1, to: 0}], flows: 5}}]
observe: {samples: false}
";

const BYTE: u64 = 20;
/// Transmit 7, cable 25, switch 601, cable 25, receive 11.
const LATENCY: u64 = 669_000;

#[test]
fn one_flow_at_a_time_by_hand() {
    let packets = wire(100_000, 4_096, 40_960);
    let fct = cut_through(&packets, BYTE, BYTE) + LATENCY;
    let turn = fct + ACK_WIRE * BYTE + LATENCY;
    for delay in [0, 400] {
        let step_delay = format!("endpoint.host.step_delay={delay}ns");
        let trial = Trial::run(PAIR, &[&step_delay]);
        assert_eq!(trial.flows.len(), 5);
        for (number, flow) in (0_u64..).zip(&trial.flows) {
            let first = 3_000_000 + delay * 1_000;
            let start = first + number * (turn + delay * 1_000);
            assert_eq!(flow.posted.ps(), start, "flow {number}, {delay} ns");
            assert_eq!(flow.fct().ps(), fct);
            assert_eq!(flow.acknowledged.ps(), start + turn);
            assert_eq!(flow.payload_bytes, 100_000);
        }
        // The job ends with the last acknowledgement.
        let job = &trial.outcome.jobs[0];
        assert_eq!(job.end, trial.flows.last().map(|flow| flow.acknowledged));
    }
}

#[test]
fn no_flow_starts_after_the_duration() {
    // A flow and its acknowledgement take 100,000 B · 20 ps, headers and twice 669 ns: 3.4 us, so
    // the third starts 6.9 us after the first.
    let started = |duration: &str| {
        let duration = format!("jobs[0].workload.duration={duration}");
        let own = ["jobs[0].workload.flows=none", &duration];
        let trial = Trial::run(PAIR, &own);
        assert!(trial.outcome.summary.complete);
        trial.flows.len()
    };
    let whole = Trial::run(PAIR, &[]);
    let third = whole.flows[2].posted.ps() - 3_000_000;
    assert_eq!(started(&format!("{third}ps")), 2);
    assert_eq!(started(&format!("{}ps", third + 1)), 3);
}

/// Four hosts, two ways to host 0, and one to host 1.
const SEVERAL: &str = "
fabric: {kind: single-switch, hosts: 4, rate: 100Gbps}
jobs:
  - name: flows
    workload:
      sizes: google-all-rpc-homa
      pairs: [{from: [2, 3], to: 0, parallel: 3}, {from: 2, to: 1, parallel: 2}]
      flows: 2003
observe: {samples: false}
";

#[test]
fn every_slot_has_its_share_and_one_flow_at_a_time() {
    let trial = Trial::run(SEVERAL, &[]);
    assert_eq!(trial.flows.len(), 2_003);
    let mut slots: BTreeMap<(u32, u32, u32), Vec<&FlowRow>> = BTreeMap::new();
    for flow in &trial.flows {
        let slot = (flow.src_host, flow.dst_host, flow.chunk);
        slots.entry(slot).or_default().push(flow);
    }
    // 2,003 flows over eight slots: 250 each, and one more for the first three.
    let mut shares: Vec<usize> = slots.values().map(Vec::len).collect();
    shares.sort_unstable();
    assert_eq!(shares, [250, 250, 250, 250, 250, 251, 251, 251]);
    for flows in slots.values() {
        for pair in flows.windows(2) {
            assert_eq!(pair[1].posted, pair[0].acknowledged);
        }
        // One queue pair for all of them.
        assert!(
            flows
                .iter()
                .all(|flow| flow.udp_source_port == flows[0].udp_source_port)
        );
    }
    // What is in the summary is what is in the rows.
    let all = &trial.outcome.summary.flow_sizes[0];
    let payload: u64 = trial.flows.iter().map(|flow| flow.payload_bytes).sum();
    assert_eq!((all.flows, all.payload), (2_003, payload));
    let longest = trial.flows.iter().map(FlowRow::fct).max();
    assert_eq!(all.fct_max, longest);
    let tenths = &trial.outcome.summary.flow_sizes[1..];
    assert_eq!(tenths.iter().map(|row| row.flows).sum::<u64>(), 2_003);
}

#[test]
fn the_offered_load_is_what_was_asked_for() {
    // Exponential gaps add up to their mean with a relative error of 1/√n, log-normal ones of
    // √(e^(σ²) − 1)/√n, which is 1.31/√n for σ = 1.
    const FLOWS: f64 = 5_000.0;
    for (arrivals, spread) in [("poisson", 1.0), ("log-normal", 1.32)] {
        let open = format!(
            "jobs[0].workload={{sizes: 10000B, pairs: [{{from: [1], to: 0}}], flows: {FLOWS}, arrivals: {arrivals}, load: 0.5}}"
        );
        let trial = Trial::run(PAIR, &[&open]);
        assert_eq!(trial.flows.len(), FLOWS as usize);
        let acknowledged = trial.flows.iter().map(|flow| flow.acknowledged).max();
        assert_eq!(trial.outcome.jobs[0].end, acknowledged);
        let last = trial.flows.iter().map(|flow| flow.posted.ps()).max();
        let time = (last.unwrap_or(0) - 3_000_000) as f64;
        // Preamble and gap of each frame.
        let wire: u64 = trial
            .flows
            .iter()
            .map(|flow| flow.tx_bytes + 20 * flow.tx_frames)
            .sum();
        let load = (wire * BYTE) as f64 / time;
        let error = 4.0 * 0.5 * spread / FLOWS.sqrt();
        assert!((load - 0.5).abs() < error, "{arrivals}: {load}");
    }
}

#[test]
fn every_congestion_control_gets_the_same_flows() {
    // When they start, how large they are and who sends them to whom, whatever a control adds to
    // each packet or answers it with.
    let open = "jobs[0].workload={sizes: websearch-hpcc, pairs: [{from: [0-3], to: [0-3]}], \
                flows: 150, arrivals: poisson, load: 0.6}";
    let incasts = "jobs[0].workload={sizes: 64KiB, pairs: [{from: [0-2], to: 3}], flows: 90, \
                   arrivals: log-normal, load: 0.5, fan_in: 3}";
    let pattern = "jobs[0].workload={sizes: 64KiB, pattern: {kind: nekbone}, flows: 150, \
                   arrivals: poisson, load: 0.6}";
    let fabric = "fabric={kind: single-switch, hosts: 4, rate: 100Gbps, flow_control: pfc+ecn}";
    for workload in [open, incasts, pattern] {
        let ranks = if workload == pattern { "4" } else { "null" };
        let flows = |control: &str| {
            let control = format!("endpoint.nic.congestion_control={control}");
            let answered = "endpoint.nic.acknowledge=per-packet";
            let ranks = format!("jobs[0].ranks={ranks}");
            let mut set = vec![fabric, workload, &control, answered];
            if workload == pattern {
                set.push(&ranks);
            }
            let trial = Trial::run(PAIR, &set);
            let flow = |row: &FlowRow| (row.posted, row.payload_bytes, row.src_rank, row.dst_rank);
            let mut flows: Vec<_> = trial.flows.iter().map(flow).collect();
            flows.sort_unstable();
            flows
        };
        let without = flows("none");
        assert!(without.len() >= 90, "{} flows", without.len());
        for control in [
            "{kind: hpcc}",
            "{kind: dcqcn}",
            "{kind: timely}",
            "{kind: swift}",
        ] {
            assert!(flows(control) == without, "{control}, {workload}");
        }
    }
}

/// Five ranks on other hosts, of which rank 4 only receives, and most.
const MATRIX: &str = "
fabric: {kind: single-switch, hosts: 6, rate: 100Gbps}
jobs:
  - name: flows
    ranks: [5, 3, 1, 0, 2]
    workload:
      sizes: 4KiB
      arrivals: poisson
      load: 0.8
      pattern: {kind: matrix, sends: '0 1 500; 0 2 1500; 1 0 1000; 1 4 3000; 2 4 2000; 3 0 400'}
      duration: 2ms
observe: {samples: false}
";

#[test]
fn flows_follow_the_matrix_of_the_pattern() {
    const HOSTS: [u32; 5] = [5, 3, 1, 0, 2];
    const SENDS: [(usize, usize, f64); 6] = [
        (0, 1, 500.0),
        (0, 2, 1_500.0),
        (1, 0, 1_000.0),
        (1, 4, 3_000.0),
        (2, 4, 2_000.0),
        (3, 0, 400.0),
    ];
    // Rank 4 receives 5,000, more than any rank sends: at 0.8 of 100 Gb/s frames of 4,096 + 78 + 20
    // bytes make so many flows in 2 ms.
    let of_busiest = 0.8 * 100e9 * 2e-3 / (8.0 * 4_194.0);
    let trial = Trial::run(MATRIX, &[]);
    let mut found: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    for flow in &trial.flows {
        *found.entry((flow.src_host, flow.dst_host)).or_default() += 1.0;
        assert!(flow.posted < Time::from_us(2_000));
    }
    assert_eq!(found.len(), SENDS.len());
    for (src, dst, bytes) in SENDS {
        let expected = of_busiest * bytes / 5_000.0;
        let flows = found[&(HOSTS[src], HOSTS[dst])];
        // Arrivals at each way are Poisson: four standard deviations.
        let error = 4.0 * expected.sqrt();
        assert!(
            (flows - expected).abs() < error,
            "{src} to {dst}: {flows}, not {expected}"
        );
    }
    // With a number of flows each sender has its share of it, rounded, and all together all.
    let count = "jobs[0].workload.duration=none";
    let trial = Trial::run(MATRIX, &[count, "jobs[0].workload.flows=2101"]);
    assert_eq!(trial.flows.len(), 2_101);
    for (src, share) in [(0, 500), (1, 1_000), (2, 500), (3, 100)] {
        let own = trial
            .flows
            .iter()
            .filter(|flow| flow.src_host == HOSTS[src]);
        let own = own.count();
        assert!(own == share || own == share + 1, "{src}: {own}");
    }
}

#[test]
fn an_incast_starts_at_one_instant() {
    let open = "jobs[0].workload={sizes: 5000B, pairs: [{from: [0, 1, 2, 3], to: [0, 1]}], flows: 300, arrivals: poisson, load: 0.3, fan_in: 3}";
    let trial = Trial::run(SEVERAL, &[open]);
    assert_eq!(trial.flows.len(), 300);
    let mut flows: Vec<(u64, u32, u32)> = trial
        .flows
        .iter()
        .map(|flow| (flow.posted.ps(), flow.dst_host, flow.src_host))
        .collect();
    flows.sort_unstable();
    for incast in flows.chunks(3) {
        assert!(
            incast
                .iter()
                .all(|flow| (flow.0, flow.1) == (incast[0].0, incast[0].1))
        );
        assert!(
            incast[0].2 < incast[1].2 && incast[1].2 < incast[2].2,
            "{incast:?}"
        );
    }
}

#[test]
fn a_flow_alone_has_a_slow_down_of_one() {
    let leaves = "fabric={kind: leaf-spine, leaves: 2, hosts_per_leaf: 2, spines: 2, host_rate: 100Gbps, uplink_rate: 400Gbps}";
    let across =
        "jobs[0].workload={sizes: facebook-hadoop-homa, pairs: [{from: 0, to: 3}], flows: 300}";
    for own in [&[][..], &[leaves, across]] {
        let trial = Trial::run(PAIR, own);
        let all = &trial.outcome.summary.flow_sizes[0];
        let found = [all.slowdown_p50, all.slowdown_p9999, all.slowdown_max];
        assert_eq!(found, [Some(1.0); 3]);
    }
}

#[test]
fn slow_downs_have_no_greatest_value() {
    // The link is down for 700 ms before each of the flows can start: the first takes these and
    // what
    // it takes alone, the second is alone. The pipeline of 601 ns divides into halves of 301 and
    // 300
    // ns, and nothing is on a link that goes down before anything is sent.
    let event = "faults.events=[{link: host1-leaf0, down: 0us, up: 700003us}]";
    let two = "jobs[0].workload.flows=2";
    let trial = Trial::run(PAIR, &[event, two]);
    let alone = cut_through(&wire(100_000, 4_096, 40_960), BYTE, BYTE) + LATENCY;
    let all = &trial.outcome.summary.flow_sizes[0];
    let longest = (700_000_000_000 + alone) as f64 / alone as f64;
    assert!(longest > 200_000.0, "{longest}");
    let max = all.slowdown_max.expect("flows have ended");
    assert!((max - longest).abs() < 1e-6, "{max} is not {longest}");
    let mean = all.slowdown_mean.expect("flows have ended");
    assert!((mean - f64::midpoint(longest, 1.0)).abs() < 1e-6, "{mean}");
}
