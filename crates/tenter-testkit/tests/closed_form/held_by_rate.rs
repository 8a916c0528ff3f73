//! How long congestion control holds chunks at their senders.

use tenter_language::units::Time;
use tenter_results::FlowRow;
use tenter_testkit::Engine;

use crate::trial::{Trial, plan};
use crate::wire::{MTU, NEXT_WIRE, ps_per_byte, wire};

const INCAST: &str = "
fabric: {kind: single-switch, hosts: 2, rate: 400Gbps, flow_control: pfc+ecn}
jobs:
  - collectives: [{collective: incast, root: 0, algorithm: parallel, size: 64MiB}]
";
/// What the one sender of two ranks has of it.
const SENT: u64 = 32 << 20;

/// Each message is answered.
const SHORT: &str = "endpoint.nic.message_size=16KiB";
/// Falls with each answer that takes longer than 1 us, which all do here, to 100 Gbit/s.
const TIMELY: &str = "endpoint.nic.congestion_control={kind: timely, low: 1us, high: 1us, beta: 1, \
                      min_rate: 100Gbps, scale_from: none}";

/// Wire bytes of a chunk.
fn on_wire(bytes: u64) -> u64 {
    wire(bytes, MTU, 16 << 10).iter().sum()
}

/// From the first frame to the last byte.
fn transfer(flow: &FlowRow) -> Time {
    flow.received - flow.first_sent
}

#[test]
fn a_sender_at_a_quarter_of_the_line_is_held_for_three_packet_times_of_each() {
    let free = Trial::run(INCAST, &[SHORT]);
    let capped = Trial::run(INCAST, &[SHORT, TIMELY]);
    let (free, flow) = (free.flow(), capped.flow());
    assert_eq!(free.held_by_rate, Time::ZERO);
    // After each frame but the last a byte takes 80 ps where it takes 20 on the wire, and the port
    // is idle for the rest. The first packets leave faster: the rate falls with the answers to the
    // first of 2,048 messages.
    let of_all = (on_wire(SENT) - NEXT_WIRE) * (ps_per_byte(100) - ps_per_byte(400));
    let held = flow.held_by_rate.ps();
    assert!(
        held <= of_all && held > of_all * 99 / 100,
        "{held} {of_all}"
    );
    assert_eq!(flow.held_before_first, Time::ZERO);
    // Nothing else slows it: without that time it takes what it takes without a rate.
    assert_eq!(transfer(flow) - flow.held_by_rate, transfer(free));
}

#[test]
fn a_sender_whose_window_is_small_is_held_until_answers_come() {
    let transport = |window: &str| {
        format!(
            "endpoint.nic.transport={{kind: ultra-ethernet, congestion_control: constant, initial_window: {window}}}"
        )
    };
    let wide = Trial::run(INCAST, &[&transport("1000")]);
    let narrow = Trial::run(INCAST, &[&transport("4")]);
    assert_eq!(wide.flow().held_by_rate, Time::ZERO);
    let flow = narrow.flow();
    assert!(flow.held_by_rate > transfer(wide.flow()), "{flow:?}");
    assert_eq!(
        transfer(flow) - flow.held_by_rate,
        transfer(wide.flow()),
        "{flow:?}"
    );
}

#[test]
fn queue_pairs_of_a_nic_are_held_while_its_port_is_idle_alone() {
    // Four queue pairs at a sixteenth of the line leave three quarters of it idle: each takes 16
    // packet times for a packet, in 4 of which the port sends.
    let set = [
        SHORT,
        TIMELY,
        "endpoint.nic.congestion_control.min_rate=25Gbps",
        "jobs[0].queue_pairs=4",
    ];
    let trial = Trial::run(INCAST, &set);
    assert_eq!(trial.flows.len(), 4);
    for flow in &trial.flows {
        let held = flow.held_by_rate.ps() as f64;
        let expected = (on_wire(SENT / 4) * ps_per_byte(400) * 12) as f64;
        assert!((held / expected - 1.0).abs() < 0.03, "{held} {expected}");
    }
    // At half of the line they fill the port, and wait for each other.
    let set = [
        SHORT,
        TIMELY,
        "endpoint.nic.congestion_control.min_rate=200Gbps",
        "jobs[0].queue_pairs=4",
    ];
    for flow in &Trial::run(INCAST, &set).flows {
        let held = flow.held_by_rate.ps();
        assert!(held < transfer(flow).ps() / 100, "{flow:?}");
    }
}

#[test]
fn chunks_behind_others_of_their_queue_pair_are_held_before_their_first_frame() {
    // Eight chunks are posted at once. In the NIC a chunk waits for those before it to pass the
    // wire, and for their rate.
    let broadcast = "jobs[0].collectives=[{collective: broadcast, algorithm: ring, chunk_size: 512KiB, size: 4MiB}]";
    let trial = Trial::run(INCAST, &[SHORT, TIMELY, broadcast]);
    let mut flows: Vec<_> = trial.flows.iter().collect();
    flows.sort_by_key(|flow| flow.first_sent);
    assert_eq!(flows.len(), 8);
    let chunk = on_wire(512 << 10);
    for (place, flow) in (0..).zip(&flows) {
        assert_eq!(flow.posted, flows[0].posted);
        let queued = flow.first_sent - flow.posted;
        let for_others = place * chunk * ps_per_byte(400);
        assert_eq!((queued - flow.held_before_first).ps(), for_others);
    }
    // From the third on all that is before it but the first chunk or two is at a quarter.
    let last = flows[7].held_before_first - flows[3].held_before_first;
    assert_eq!(last.ps(), 4 * chunk * (ps_per_byte(100) - ps_per_byte(400)));
}

/// Eight senders, with every congestion control there is.
#[test]
fn every_congestion_control_is_named_as_a_cause_by_all_engines() {
    let roce = ["dcqcn", "timely", "swift", "hpcc"];
    let windows = [
        "nscc",
        "rccc",
        "nscc+rccc",
        "dctcp",
        "constant",
        "ndp",
        "eqds",
        "smartt",
    ];
    let of_roce = roce.map(|kind| {
        format!("endpoint.nic={{congestion_control: {kind}, acknowledge: per-packet}}")
    });
    let of_ultra = windows.map(|kind| {
        format!(
            "endpoint.nic.transport={{kind: ultra-ethernet, congestion_control: {kind}, initial_window: 16}}"
        )
    });
    // One switch would be one part for all threads.
    let fabric = "fabric={kind: leaf-spine, leaves: 3, hosts_per_leaf: 3, spines: 3, host_rate: 400Gbps, flow_control: pfc+ecn}";
    // Notifications come when the queue has been passed: a short message has left by then.
    let size = |mib: u32| format!("jobs[0].collectives[0].size={mib}MiB");
    let of_roce = of_roce.map(|control| (control, size(24)));
    let of_ultra = of_ultra.map(|control| (control, size(4)));
    for (control, size) in of_roce.iter().chain(&of_ultra) {
        let plan = plan(INCAST, &[fabric, size, control]);
        let trial = Engine::windowed(1).run(&plan).expect("it runs");
        let held: Time = trial.rows.flows.iter().map(|flow| flow.held_by_rate).sum();
        assert!(held > Time::ZERO, "{control}");
        for flow in &trial.rows.flows {
            let after = flow.held_by_rate - flow.held_before_first;
            assert!(flow.held_before_first <= flow.first_sent - flow.posted);
            assert!(after <= flow.acknowledged - flow.first_sent, "{flow:?}");
        }
        for engine in [Engine::Reference, Engine::windowed(2), Engine::windowed(3)] {
            let other = engine.run(&plan).expect("it runs");
            assert!(other.rows.flows == trial.rows.flows, "{control}, {engine}");
        }
    }
    let without = Trial::run(INCAST, &[fabric, &size(4)]);
    assert!(without.flows.iter().all(|flow| flow.held_by_rate.is_zero()));
}
