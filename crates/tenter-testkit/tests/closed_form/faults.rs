//! What is lost when links go down, by whom the rest is carried, and what testers and watchdogs do.

use crate::trial::Trial;
use crate::wire::FIRST_WIRE;

/// A full packet that is a message of its own, at 400 Gbit/s.
const SLOT: u64 = FIRST_WIRE * 20;
/// A cable of 25 ns and half of a pipeline of 600 ns.
const HALF: u64 = 325_000;
const US: u64 = 1_000_000;

/// One flow of 2,048 packets from host1 to host0, 171.8 us long.
const ONE: &str = "
fabric: {kind: single-switch, hosts: 2}
endpoint:
  nic: {message_size: 4KiB, retransmission_timeout: 1ms, loss_recovery: selective-repeat}
jobs: [{collectives: [{collective: incast, size: 16MiB}]}]
observe: {samples: false}
";

/// The same between two leaves.
const TWO_LEAVES: &str = "
fabric: {kind: leaf-spine, leaves: 2, hosts_per_leaf: 1, spines: 2, host_delay: 25ns}
endpoint:
  nic: {message_size: 4KiB, retransmission_timeout: 1ms, loss_recovery: selective-repeat}
jobs: [{collectives: [{collective: incast, size: 16MiB}]}]
observe: {samples: false}
";

/// How many of the instants `offset` + k · slot lie in `from..to`.
fn slots(offset: u64, from: u64, to: u64) -> u64 {
    (to - offset).div_ceil(SLOT) - (from - offset).div_ceil(SLOT)
}

#[test]
fn a_link_that_goes_down_loses_what_is_on_it_and_what_comes() {
    // Packet k leaves the NIC at k · slot and the switch, cut through, a half later. It is under
    // way until all of it has been sent, and a half more.
    for (down, up) in [(100, 150), (90, 91), (1, 140)] {
        let event = format!("faults.events=[{{link: host0-leaf0, down: {down}us, up: {up}us}}]");
        let trial = Trial::run(ONE, &[&event]);
        let (down, up) = (down * US, up * US);
        let port = trial.port("leaf0", "host0");
        let on_wire = slots(
            HALF + SLOT + HALF,
            down.max(HALF + SLOT + HALF),
            down + SLOT + HALF,
        );
        assert_eq!(port.lost_frames, on_wire, "{event}");
        assert_eq!(port.unsent_frames, slots(HALF, down, up), "{event}");
        assert_eq!(port.lost_bytes, on_wire * (FIRST_WIRE - 20), "{event}");
        let flow = trial.flow();
        assert_eq!(flow.rx_frames, 2_048, "{event}");
        assert!(flow.retransmitted_frames >= port.lost_frames + port.unsent_frames);
    }
}

#[test]
fn until_routing_knows_frames_go_astray_and_then_the_other_spine_takes_them() {
    let spines = ["spine0", "spine1"];
    let whole = Trial::run(TWO_LEAVES, &[]);
    let sent = |trial: &Trial, spine: &str| trial.port("leaf1", spine).tx_bytes;
    let used = spines
        .iter()
        .position(|spine| sent(&whole, spine) > 1 << 20);
    let (used, other) = (spines[used.unwrap()], spines[1 - used.unwrap()]);
    assert!(sent(&whole, other) < 1 << 20);
    for convergence in [0, 5, 60] {
        let set = [
            format!("faults.convergence={convergence}us"),
            format!("faults.events=[{{switch: {used}, down: 50us}}]"),
        ];
        let set: Vec<&str> = set.iter().map(String::as_str).collect();
        let trial = Trial::run(TWO_LEAVES, &set);
        let astray = slots(HALF, 50 * US, (50 + convergence) * US);
        assert_eq!(
            trial.port("leaf1", used).unsent_frames,
            astray,
            "{convergence}"
        );
        assert!(sent(&trial, other) > 1 << 20, "{convergence}");
        assert_eq!(trial.flow().rx_frames, 2_048, "{convergence}");
        assert!(trial.outcome.summary.complete, "{convergence}");
    }
}

#[test]
fn who_cannot_be_reached_is_given_up_and_why_is_said() {
    let set = [
        "faults.events=[{link: host0-leaf0, down: 50us}]",
        "endpoint.nic.retry_count=2",
    ];
    let trial = Trial::run(ONE, &set);
    let failure = trial.failure();
    assert!(
        failure.contains("of rank 1 (host1) to rank 0 (host0) gave up"),
        "{failure}"
    );
    assert!(failure.contains("after 2 retries"), "{failure}");
    assert!(
        failure.contains("the link host0:0 to leaf0:0 is down since 50us"),
        "{failure}"
    );
    assert!(!trial.outcome.summary.complete);
    // A NIC whose own link is down does not send; it gives up what it had sent.
    let set = ["faults.events=[{link: host1-leaf0, down: 50us}]"];
    let trial = Trial::run(ONE, &set);
    assert!(trial.failure().contains("gave up"), "{}", trial.failure());
    assert_eq!(
        trial.port("host1", "leaf0").tx_frames,
        (50 * US).div_ceil(SLOT)
    );
}

#[test]
fn a_network_that_stands_still_waits_for_its_link() {
    // Nothing has been sent when the link goes down, so nothing times out.
    let trial = Trial::run(
        ONE,
        &["faults.events=[{link: host1-leaf0, down: 0us, up: 700ms}]"],
    );
    assert_eq!(trial.completion(0), 700_000 * US + 2_048 * SLOT + 2 * HALF);
    // On a full mesh 8 MiB would take 8 Mi · 20 ps = 167.8 us: the ratio is beyond 4,000.
    let row = &trial.collective(0);
    let ratio = row.ideal_ratio.expect("it has ended");
    assert!((ratio - trial.completion(0) as f64 / (8 << 20) as f64 / 20.0).abs() < 1e-6);
    assert_eq!(row.flow_ratio_max, Some(ratio));
    // Frames were under way for a microsecond.
    assert!(trial.flow().latency_max.is_some_and(|max| max.ps() < US));
}

#[test]
fn a_flow_that_takes_longer_than_frames_can_tell_has_no_latency() {
    // The cable to the receiver is down for 600 ms, after the first frames have gone through the
    // sender's; frames carry the time modulo 549.8 ms.
    let events = "faults.events=[{link: host0-leaf0, down: 50us, up: 600ms}]";
    let long = "endpoint.nic.retransmission_timeout=100ms";
    let trial = Trial::run(ONE, &[events, long]);
    assert!(trial.completion(0) > 600_000 * US);
    let flow = trial.flow();
    let latencies = [flow.latency_min, flow.latency_avg, flow.latency_max];
    assert_eq!(latencies, [None; 3]);
    assert_eq!(trial.collective(0).latency_avg, None);
}

#[test]
fn a_slower_link_takes_longer() {
    // Half of the rate from the beginning.
    let event = "faults.events=[{link: host0-leaf0, rate: 200Gbps, at: 0us}]";
    let trial = Trial::run(ONE, &[event]);
    // Packets wait for each other at the slow end; the change leaves a gap of 512 ps before them,
    // which is over when the first comes.
    assert_eq!(trial.completion(0), 2 * 2_048 * SLOT + 2 * HALF);
}

#[test]
fn a_tester_drops_one_packet_or_holds_it_back() {
    let rule =
        |rule: &str| format!("impairments=[{{link: host1-leaf0, sender: host1, rules: [{rule}]}}]");
    let trial = Trial::run(ONE, &[&rule("{psn: 5, count: 1, from: host1, to: host0}")]);
    assert_eq!(trial.port("host1", "leaf0").lost_frames, 1);
    assert_eq!(trial.flow().retransmitted_frames, 1);
    let held = rule("{psn: 5, count: 1, action: reorder, behind: 3}");
    let trial = Trial::run(ONE, &[&held]);
    assert_eq!(trial.port("host1", "leaf0").lost_frames, 0);
    assert_eq!(trial.outcome.summary.totals.out_of_order_frames, 3);
    // Acknowledgements come from the other side, and no rule is for them here.
    let trial = Trial::run(ONE, &[&rule("{opcodes: [ack], every: 1}")]);
    assert_eq!(trial.outcome.summary.totals.lost_frames, 0);
}

#[test]
fn a_watchdog_finds_a_storm_if_it_looks_often_enough() {
    let storm = [
        "faults.events=[{nic: host0, pause_storm: 20us, until: 220us}]",
        "fabric.flow_control=pfc",
        "endpoint.nic.control_dscp=48",
    ];
    let run = |watchdog: &str| {
        let watchdog = format!("fabric.switch.pfc_watchdog={watchdog}");
        let set: Vec<&str> = storm.iter().copied().chain([watchdog.as_str()]).collect();
        let trial = Trial::run(ONE, &set);
        let port = trial.port("leaf0", "host0");
        assert_eq!(trial.flow().rx_frames, 2_048);
        (port.watchdog_storms, port.watchdog_dropped_frames)
    };
    assert_eq!(run("none"), (0, 0));
    let times = |poll: &str, action: &str| {
        format!(
            "{{poll_interval: {poll}, detection_time: 30us, restoration_time: 30us, action: {action}}}"
        )
    };
    let (found, dropped) = run(&times("10us", "drop"));
    assert_eq!(found, 1);
    assert!(dropped > 1_000, "{dropped}");
    assert_eq!(run(&times("10us", "forward")), (1, 0));
    // It looks at 250 us for the first time.
    assert_eq!(run(&times("250us", "drop")), (0, 0));
}
