//! Congestion control: fair shares, and the queue where the analysis of its paper comes to rest.

use tenter_fabric::topology::Routing;
use tenter_language::units::{Budget, Time};
use tenter_sim::plan::unloaded::longest_round_trip;

use crate::trial::{Trial, plan};

/// Some senders with one receiver, on links of 40 Gb/s, packets of 1,024 bytes.
const INCAST: &str = "
fabric:
  kind: single-switch
  hosts: 3
  rate: 40Gbps
  switch:
    classes:
      - {class: 0, limit: 40MB, ecn: {kmin: 5kB, kmax: 200kB, pmax: 0.01}}
      - {class: 6}
endpoint:
  nic:
    mtu: 1024
    message_size: 16KiB
    retransmission_timeout: 1s
    congestion_control: {kind: dcqcn, preset: paper-2015}
jobs:
  - collectives: [{collective: incast, size: 8GiB}]
observe: {sample_interval: 10us}
limits: {time: 200ms}
";
const LINE: f64 = 40e9;
/// Bits of a packet on the wire: payload, headers, preamble and gap.
const PACKET: f64 = 8.0 * (1024.0 + 62.0 + 20.0);

/// The mean queue of the switch towards host0 from one instant on, in bytes, and the bytes it was
/// sent.
fn mean_queue(trial: &Trial, from: Time) -> (f64, u64) {
    let port = trial.port("leaf0", "host0");
    let here = |node: u32, number: u16| (node, number) == (port.node, port.port);
    let rows = || {
        let rows = trial.samples.iter();
        rows.filter(|row| here(row.node, row.port) && row.time > from)
    };
    let sum: u64 = rows().map(|row| row.queue_bytes).sum();
    let sent = rows().map(|row| row.tx_bytes).sum();
    (sum as f64 / rows().count() as f64, sent)
}

/// What each of so many senders sent from one instant on, in bytes.
fn sent(trial: &Trial, senders: u32, from: Time) -> Vec<u64> {
    let of = |host: u32| {
        let rows = trial.samples.iter();
        let rows = rows.filter(|row| row.node == host && row.time > from);
        rows.map(|row| row.tx_bytes).sum()
    };
    (1..=senders).map(of).collect()
}

/// Jain's index: 1 where all have the same, 1/n where one has everything.
fn fairness(shares: &[u64]) -> f64 {
    let sum: f64 = shares.iter().map(|&share| share as f64).sum();
    let squares: f64 = shares.iter().map(|&share| (share as f64).powi(2)).sum();
    sum * sum / (shares.len() as f64 * squares)
}

/// The share of marked packets at which the fluid model of DCQCN comes to rest, for `n` senders
/// with the preset of its paper.
///
/// Zhu et al., "Congestion Control for Large-Scale RDMA Deployments" (2015), section 5.1, with all
/// derivatives zero. With R packets a second in each flow, one in 1/p of them marked:
///
/// - alpha = 1 - (1 - p)^(tau' R);
/// - cuts: R alpha / 2 tau (1 - (1 - p)^(tau R)), against rises of half of the gap between target
///   and rate, p R / ((1 - p)^-B - 1) times a second by bytes, and p R / ((1 - p)^(-T R) - 1) by
///   time;
/// - the target: gap / tau (1 - (1 - p)^(tau R)) against additive increases, which are those of the
///   rises that come after F others.
fn fluid_share_of_marks(n: u32) -> f64 {
    let (tau, tau_alpha, t) = (50e-6, 55e-6, 55e-6);
    let (b, f) = (10e6 / (1024.0 + 62.0), 5.0);
    let additive = 40e6 / PACKET;
    let rate = LINE / PACKET / f64::from(n);
    let excess = |p: f64| {
        let unmarked = (1.0 - p).ln();
        let alpha = 1.0 - (tau_alpha * rate * unmarked).exp();
        let cuts = (1.0 - (tau * rate * unmarked).exp()) / tau;
        let by_bytes = p * rate / ((-b * unmarked).exp() - 1.0);
        let by_time = p * rate / ((-t * rate * unmarked).exp() - 1.0);
        let gap = rate * alpha * cuts / (by_bytes + by_time);
        let later = (f * b * unmarked).exp() * by_bytes + (f * t * rate * unmarked).exp() * by_time;
        gap * cuts - additive * later
    };
    let (mut low, mut high) = (1e-7_f64, 0.5_f64);
    for _ in 0..100 {
        let middle = (low * high).sqrt();
        if excess(middle) > 0.0 {
            high = middle;
        } else {
            low = middle;
        }
    }
    low
}

#[test]
fn the_queue_under_dcqcn_rests_where_the_fluid_model_does() {
    // The fluid model knows at the end of each interval tau whether there was a mark in it, so
    // notifications follow marks at once and the rate falls at the end of intervals. Kmin + p/Pmax
    // (Kmax - Kmin) is 21.8, 45.7 and 73.2 kB for 2, 4 and 6 senders.
    for n in [2, 4, 6] {
        let hosts = format!("fabric.hosts={}", n + 1);
        let set = [
            &*hosts,
            "endpoint.nic.congestion_control.cnp_interval=0s",
            "endpoint.nic.congestion_control.decrease_interval=50us",
        ];
        let trial = Trial::run(INCAST, &set);
        let (queue, bytes) = mean_queue(&trial, Time::from_us(50_000));
        let expected = 5e3 + fluid_share_of_marks(n) / 0.01 * 195e3;
        let deviation = queue / expected - 1.0;
        assert!(deviation.abs() < 0.1, "{n}: {queue} against {expected}");
        // 150 ms of 40 Gb/s, without preamble and gap.
        let line = 0.15 * LINE / 8.0 * 1086.0 / 1106.0;
        assert!(bytes as f64 > 0.97 * line, "{n}: {bytes} of {line}");
    }
}

#[test]
fn two_flows_under_dcqcn_come_to_the_same_share_whoever_starts_first() {
    let two = "[{ranks: [host0, host1], collectives: [{collective: incast, size: 8GiB}]}, \
                {ranks: [host0, host2], start: 20ms, collectives: [{collective: incast, size: 8GiB}]}]";
    for set in [
        vec![],
        vec![
            "fabric.rate=100Gbps",
            "endpoint.nic.congestion_control.scale_from=40Gbps",
        ],
    ] {
        let jobs = format!("jobs={two}");
        let overrides: Vec<&str> = [&*jobs].into_iter().chain(set.clone()).collect();
        let trial = Trial::run(INCAST, &overrides);
        let shares = sent(&trial, 2, Time::from_us(100_000));
        assert!(fairness(&shares) > 0.99, "{set:?}: {shares:?}");
        assert!(trial.outcome.summary.totals.dropped_frames == 0);
    }
}

#[test]
fn a_tester_notifies_and_does_not_slow_down() {
    // Two flows at line rate, no reaction: all but the first packets of each are marked, and each
    // is notified once every 55 us. The queue holds half of what was sent.
    let set = [
        "endpoint.nic.congestion_control.preset=tester",
        "jobs[0].collectives[0].size=30MiB",
        "limits.time=none",
    ];
    let trial = Trial::run(INCAST, &set);
    let totals = &trial.outcome.summary.totals;
    let time = trial.completion(0);
    let wire = totals.tx_frames as f64 * PACKET / LINE * 1e12;
    assert!(time as f64 > wire && (time as f64) < wire * 1.01, "{time}");
    // Packets of a flow arrive one in two packet times; the first one 55 us after the last that was
    // notified is notified again.
    let apart = 2.0 * PACKET / LINE * 1e12;
    let interval = (55e6 / apart).ceil() * apart;
    let expected = 2 * (time as f64 / interval).round() as u64;
    assert!(totals.cnp_frames.abs_diff(expected) <= 2, "{totals:?}");
    let notified = trial.port("host1", "leaf0").rx_cnp_frames;
    assert_eq!(
        notified + trial.port("host2", "leaf0").rx_cnp_frames,
        totals.cnp_frames
    );
    // The same, chunk by chunk: both queue pairs go the same way, and no packet is sent twice.
    let marked: Vec<u64> = trial
        .flows
        .iter()
        .map(|flow| flow.rx_marked_frames)
        .collect();
    let told: u64 = trial.flows.iter().map(|flow| flow.cnp_frames).sum();
    assert_eq!(
        (marked.iter().sum::<u64>(), told),
        (totals.rx_marked_frames, totals.cnp_frames)
    );
    for flow in &trial.flows {
        assert!(flow.rx_marked_frames < flow.rx_frames, "{flow:?}");
        assert!(flow.rx_marked_frames > flow.rx_frames * 9 / 10, "{flow:?}");
        assert!(flow.cnp_frames.abs_diff(expected / 2) <= 1, "{flow:?}");
    }
}

#[test]
fn notifications_are_limited_for_a_queue_pair_an_address_or_a_port() {
    // Two senders with two QPs each, all of whose packets are marked for longer than 55 us: four
    // notifications in each interval, two, or one.
    let told = |limit: &str| {
        let set = [
            "endpoint.nic.congestion_control.preset=tester",
            &*format!("endpoint.nic.congestion_control.cnp_limit={limit}"),
            "jobs[0].collectives[0].size=30MiB",
            "jobs[0].queue_pairs=2",
            "limits.time=none",
        ];
        let trial = Trial::run(INCAST, &set);
        let intervals = trial.completion(0) as f64 / 55e6;
        trial.outcome.summary.totals.cnp_frames as f64 / intervals
    };
    for (limit, each) in [("queue-pair", 4.0), ("address", 2.0), ("port", 1.0)] {
        let rate = told(limit);
        assert!((rate - each).abs() < 0.2 * each, "{limit}: {rate}");
    }
}

#[test]
fn a_400g_flow_recovers_after_one_notification_as_its_timers_say() {
    // A flow at 400G meets a burst of 64 packets of another one; both are notified once. 4 us later
    // the rate falls by half of alpha, which is 0.979 by then, and 300 us later it rises half of
    // the way back, and so on; bytes do not count here.
    let two = "jobs=[{ranks: [host0, host1], collectives: [{collective: incast, size: 200MiB}]}, \
               {ranks: [host0, host2], start: 100us, collectives: [{collective: incast, size: 512KiB}]}]";
    let set = [
        two,
        "fabric.rate=400Gbps",
        "endpoint.nic.mtu=4096",
        "endpoint.nic.congestion_control.preset=nvidia",
        "endpoint.nic.congestion_control.increase_bytes=none",
        "endpoint.nic.congestion_control.cnp_interval=1s",
        "fabric.switch.classes[0].ecn.pmax=1",
        "observe.sample_interval=1us",
        "limits.time=1ms",
    ];
    let trial = Trial::run(INCAST, &set);
    assert_eq!(trial.outcome.summary.totals.cnp_frames, 2);
    let rows: Vec<_> = trial.samples.iter().filter(|row| row.node == 1).collect();
    let rate = |from: usize, to: usize| {
        let bytes: u64 = rows[from..to].iter().map(|row| row.tx_bytes).sum();
        bytes as f64 / (to - from) as f64 / (4158.0 * 1e6 / 83_560.0)
    };
    // Samples are 1 us long and 12 packets at line rate, so the first one with two less shows it.
    let mut alpha = 1023.0 / 1024.0;
    for _ in 0..4 {
        alpha *= 1019.0 / 1024.0;
    }
    let low = 1.0 - alpha / 2.0;
    let fell = (100..200).find(|&us| rows[us].tx_bytes < 9 * 4158);
    let fell = fell.expect("it fell");
    // The first frame that is marked is among the first few of the burst, which takes 1 us to
    // arrive and 10 us to drain; its mark takes as long to come back.
    assert!((104..118).contains(&fell), "{fell}");
    let missing = 1.0 - low;
    let levels = [low, 1.0 - missing / 2.0, 1.0 - missing / 4.0];
    for (step, level) in (0..).zip(levels) {
        let from = fell + 300 * step;
        let end = (from + 299).min(rows.len());
        let first = rate(from + 1, from + 11);
        assert!((first - level).abs() < 0.02, "step {step}: {first} {level}");
        let whole = rate(from + 1, end);
        assert!(
            (whole - level).abs() < 0.002,
            "step {step}: {whole} {level}"
        );
    }
}

#[test]
fn swift_keeps_round_trips_at_the_target_and_shares_fair() {
    // The target is 25 us and, for windows of w packets below 100, 100 us times
    // (1/sqrt(w) - 1/10) / (1/sqrt(0.1) - 1/10) more. With n flows, n windows of packets take one
    // round trip of the line. The queue is what is more than an idle round trip: two cables of
    // 25 ns and 600 ns of switch each way, a packet and an acknowledgement of 86 bytes.
    let idle = 2.0 * 650e-9 + (PACKET + 8.0 * 86.0) / LINE;
    for n in [2, 8] {
        let hosts = format!("fabric.hosts={}", n + 1);
        let set = [
            &*hosts,
            "endpoint.nic.congestion_control={kind: swift}",
            "endpoint.nic.acknowledge=per-packet",
        ];
        let trial = Trial::run(INCAST, &set);
        let from = Time::from_us(100_000);
        let shares = sent(&trial, n, from);
        assert!(fairness(&shares) > 0.999, "{n}: {shares:?}");
        let mut target = 25e-6_f64;
        for _ in 0..50 {
            let window = target * LINE / PACKET / f64::from(n);
            let above = (1.0 / window.sqrt() - 0.1) / (1.0 / 0.1_f64.sqrt() - 0.1);
            target = 25e-6 + 100e-6 * above;
        }
        let (queue, bytes) = mean_queue(&trial, from);
        let round_trip = idle + queue / 1086.0 * PACKET / LINE;
        let deviation = round_trip / target - 1.0;
        assert!(deviation.abs() < 0.05, "{n}: {round_trip} {target}");
        assert!(bytes > 490_000_000, "{n}: the line was idle at times");
    }
}

#[test]
fn timely_keeps_the_line_busy_and_round_trips_below_its_threshold() {
    // Its fixed point is not unique ("ECN or Delay", 2016), so shares are whatever they come to.
    for n in [2, 8] {
        let hosts = format!("fabric.hosts={}", n + 1);
        let set = [&*hosts, "endpoint.nic.congestion_control={kind: timely}"];
        let trial = Trial::run(INCAST, &set);
        let (queue, bytes) = mean_queue(&trial, Time::from_us(100_000));
        let wait = queue / 1086.0 * PACKET / LINE;
        assert!((25e-6..500e-6).contains(&wait), "{n}: {wait}");
        let line = 0.1 * LINE / 8.0 * 1086.0 / 1106.0;
        assert!(bytes as f64 > 0.98 * line, "{n}: {bytes}");
        assert_eq!(trial.outcome.summary.totals.dropped_frames, 0);
    }
}

#[test]
fn hpcc_keeps_the_link_at_its_target_with_hardly_a_queue_and_shares_fair() {
    // W = W eta/U + W_AI has its fixed point where U is eta and what n flows add in a round trip:
    // n W_AI over what the line carries in it, 65,000 bytes in 13 us, where W_AI is 80 bytes at
    // 100G
    // and 32 here. Packets have 42 bytes of
    // telemetry. Of eight flows each sends seven packets in 13 us: what the link sent between two
    // of them is uneven, and windows fall at once and rise in steps.
    let (frame, wire) = (1128.0, 1148.0);
    for (n, within) in [(1, 0.002), (2, 0.002), (8, 0.02)] {
        let hosts = format!("fabric.hosts={}", n + 1);
        let set = [
            &*hosts,
            "endpoint.nic.congestion_control={kind: hpcc, base_round_trip: 13us}",
            "endpoint.nic.acknowledge=per-packet",
        ];
        let trial = Trial::run(INCAST, &set);
        let from = Time::from_us(100_000);
        let (queue, bytes) = mean_queue(&trial, from);
        let utilisation = bytes as f64 * wire / frame / (0.1 * LINE / 8.0);
        let expected = 0.95 + f64::from(n) * 32.0 / 65_000.0;
        let deviation = utilisation / expected - 1.0;
        assert!(deviation.abs() < within, "{n}: {utilisation} {expected}");
        assert!(queue < 3.0 * frame, "{n}: {queue}");
        let shares = sent(&trial, n, from);
        assert!(fairness(&shares) > 0.999, "{n}: {shares:?}");
        assert_eq!(trial.outcome.summary.totals.dropped_frames, 0);
    }
}

#[test]
fn two_flows_under_hpcc_come_to_the_same_share_whoever_starts_first() {
    // With 80 bytes on this line too, each round trip both windows shrink by the share that both
    // additions are of the line, 160 of 61,750 bytes, so what they differ by falls by e in 386
    // round trips, 5 ms.
    let two = "jobs=[{ranks: [host0, host1], collectives: [{collective: incast, size: 8GiB}]}, \
                {ranks: [host0, host2], start: 20ms, collectives: [{collective: incast, size: 8GiB}]}]";
    let set = [
        two,
        "endpoint.nic.congestion_control={kind: hpcc, base_round_trip: 13us, scale_from: none}",
        "endpoint.nic.acknowledge=per-packet",
    ];
    let trial = Trial::run(INCAST, &set);
    let shares = sent(&trial, 2, Time::from_us(60_000));
    assert!(fairness(&shares) > 0.999, "{shares:?}");
    // The most that ever waited: what a newcomer sends at line rate before it hears of the other.
    let port = trial.port("leaf0", "host0");
    assert!(
        port.queue_high_water_bytes < 65_000,
        "{}",
        port.queue_high_water_bytes
    );
}

#[test]
fn dcqcn_fills_slow_lines_too() {
    // Two senders at 40G, with the thresholds that `pfc+ecn` takes: 80 kB are as long on this line
    // as 800 kB at 400G, and senders recover before the queue is empty. A share of 4,096 of 4,178
    // bytes on the wire is payload, 0.98 of the line.
    let scenario = "
fabric: {kind: single-switch, hosts: 3, rate: 40Gbps, flow_control: pfc+ecn}
endpoint: {nic: {congestion_control: {kind: dcqcn, preset: nvidia}}}
jobs: [{collectives: [{collective: incast, size: 300MB}]}]
observe: {samples: false}
";
    let trial = Trial::run(scenario, &[]);
    assert_eq!(trial.outcome.summary.totals.dropped_frames, 0);
    let share = 200e6 * 8e12 / 40e9 / trial.completion(0) as f64;
    assert!(share > 0.93, "{share}");
}

#[test]
fn senders_that_were_cut_to_the_least_rate_share_the_line_of_an_incast() {
    // 64 MiB in all from 4, 8 and 15 senders. A packet of 4,178 bytes at the least rate of 1 Mb/s
    // takes 33 ms, many times what the incast does; the timer raises the rate after 300 us.
    let scenario = "
fabric: {kind: single-switch, hosts: 5, rate: 400Gbps, flow_control: pfc+ecn}
endpoint: {nic: {congestion_control: dcqcn}}
jobs: [{collectives: [{collective: incast, algorithm: parallel, size: 64MiB}]}]
observe: {samples: false}
";
    for (hosts, rate) in [(5, 400), (9, 400), (16, 400), (9, 100), (9, 40)] {
        let set = [
            &*format!("fabric.hosts={hosts}"),
            &*format!("fabric.rate={rate}Gbps"),
        ];
        let trial = Trial::run(scenario, &set);
        assert_eq!(trial.outcome.summary.totals.dropped_frames, 0);
        let bytes = f64::from((64 << 20) / hosts * (hosts - 1));
        let ideal_ps = bytes * 4178.0 / 4096.0 * 8e3 / f64::from(rate);
        let share = ideal_ps / trial.completion(0) as f64;
        assert!(share > 0.5, "{hosts} hosts at {rate}G: {share}");
        let times = trial
            .flows
            .iter()
            .map(|flow| (flow.acknowledged - flow.posted).ps());
        let (least, most) = (times.clone().min(), times.max());
        let even = least.unwrap_or(0) as f64 / most.unwrap_or(1) as f64;
        assert!(even > 0.8, "{hosts} hosts at {rate}G: {even}");
    }
}

#[test]
fn a_window_beside_the_rate_holds_what_the_line_carries_in_a_round_trip() {
    // One flow at 40G that nobody marks, two cables and a switch with a round trip of r: a window
    // of w packets, the first of which is answered r after it left, lets out w in each r.
    for kind in ["fixed", "scaled"] {
        let window = |base: &str| {
            let control = format!(
                "endpoint.nic.congestion_control={{kind: dcqcn, window: {kind}, base_round_trip: {base}}}"
            );
            let set = [
                "fabric.hosts=2",
                "jobs[0].collectives[0].size=2MiB",
                "limits.time=none",
                "endpoint.nic.message_size=1KiB",
                "endpoint.nic.acknowledge=per-packet",
                &*control,
            ];
            Trial::run(INCAST, &set).flow().fct().ps()
        };
        // A packet of 1,024 bytes that is first of its message takes 1,122 bytes of the wire, and
        // its acknowledgement 86.
        let (packet, answer, latency) = (1_122 * 200, 86 * 200, 650_000);
        let round_trip = packet + answer + 2 * latency;
        // 819.2 ns of 40 Gb/s are 4,096 bytes, four packets: less than a round trip of 6.9.
        assert!(4 * packet < round_trip);
        let rounds = 1024 / 4;
        let expected = (rounds - 1) * round_trip + 4 * packet + latency;
        assert_eq!(window("819.2ns"), expected, "{kind}");
        // Eight packets are more than a round trip: the wire is the limit.
        assert_eq!(window("1638.4ns"), 1024 * packet + latency, "{kind}");
    }
}

#[test]
fn notifications_in_acknowledgements_take_nothing_of_the_wire() {
    // Two flows at line rate that do not slow down, most packets marked; each packet is
    // answered, and each marked one's answer says so.
    let with = |cnp: &str| {
        let control = format!(
            "endpoint.nic.congestion_control={{kind: dcqcn, preset: tester, cnp: {cnp}, cnp_interval: 0s}}"
        );
        let set = [
            &*control,
            "endpoint.nic.acknowledge=per-packet",
            "jobs[0].collectives[0].size=3MiB",
            "limits.time=none",
        ];
        Trial::run(INCAST, &set)
    };
    let [apart, within] = ["packet", "in-acknowledgement"].map(with);
    for trial in [&apart, &within] {
        let totals = &trial.outcome.summary.totals;
        assert!(
            totals.rx_marked_frames > 1_500,
            "{}",
            totals.rx_marked_frames
        );
        assert_eq!(totals.cnp_frames, totals.rx_marked_frames);
        let heard = ["host1", "host2"].map(|host| trial.port(host, "leaf0").rx_cnp_frames);
        assert_eq!(heard.iter().sum::<u64>(), totals.cnp_frames);
    }
    // 2,048 packets of data and as many answers; notifications of their own are frames more.
    let frames = |trial: &Trial| {
        let port = trial.port("leaf0", "host0");
        let back = trial.port("host0", "leaf0");
        (port.tx_frames, back.tx_frames)
    };
    let packets = 3 * 1024 * 2 / 3;
    assert_eq!(frames(&within), (packets, packets));
    let notified = apart.outcome.summary.totals.cnp_frames;
    assert_eq!(frames(&apart), (packets, packets + notified));
}

#[test]
fn hpcc_takes_the_round_trip_of_the_slowest_cable() {
    // Host c has a cable of 20 us: a round trip with it is 40 us and some.
    let scenario = "
fabric:
  kind: explicit
  nodes: [{name: a}, {name: b}, {name: c}, {name: s, kind: switch, tier: 0}]
  links:
    - {a: a, b: s, rate: 400Gbps}
    - {a: b, b: s, rate: 400Gbps}
    - {a: c, b: s, rate: 400Gbps, delay: 20us}
endpoint: {nic: {congestion_control: hpcc, acknowledge: per-packet}}
jobs: [{collectives: [{collective: all-to-all, size: 12MiB}]}]
";
    let digest = |set: &[&str]| Trial::run(scenario, set).outcome.digest;
    let plan = plan(scenario, &[]);
    let routing = Routing::build(&plan.topology, &Budget::unlimited()).expect("all are reached");
    let round_trip = longest_round_trip(&plan, &routing);
    let us = round_trip.as_ns() / 1e3;
    assert!((41.0..43.0).contains(&us), "{us} us");
    let given = format!(
        "endpoint.nic.congestion_control={{kind: hpcc, base_round_trip: {}ps}}",
        round_trip.ps()
    );
    assert_eq!(digest(&[]), digest(&[&given]));
}
