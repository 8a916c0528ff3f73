//! Fabrics that send by credit: what a link carries whose credit covers part of its round trip, who
//! waits for whom, and who for ever.

use crate::trial::Trial;
use crate::wire::FIRST_WIRE;

/// 400 Gbit/s.
const BYTE: u64 = 20;
/// A full packet that is a message of its own: 4,194 bytes on the wire, 66 blocks of 64 bytes in an
/// input buffer. With `update: 4224B` each causes a flow-control packet, and the acknowledgements,
/// of two blocks, one in 33.
const SLOT: u64 = FIRST_WIRE * BYTE;
const BLOCKS: u64 = 66;
/// A cable of 25 ns and half of a pipeline of 600 ns.
const HOST: u64 = 325_000;
/// A flow-control packet of 8 bytes, its cable, and the delay until it acts.
const BACK: u64 = 8 * BYTE + 25_000 + 100_000;

const SWITCH: &str = "
fabric:
  kind: single-switch
  hosts: 4
  switching: {kind: credit-based, update: 4224B}
  switch: {pipeline_latency: 600ns}
endpoint: {nic: {message_size: 4KiB, acknowledge: {every: 1024}}}
jobs:
  - ranks: [0, 1]
    collectives: [{collective: incast, size: 240KiB}]
observe: {samples: false}
";

#[test]
fn a_link_carries_what_its_credit_covers_of_the_round_trip() {
    // 30 packets. With credit for 31 of them nothing ever waits.
    let trial = Trial::run(SWITCH, &[]);
    assert_eq!(trial.flow().fct().ps(), 2 * HOST + 30 * SLOT);
    // The NIC takes frames whole, so the credit for one is back after 325 + 83.88 + 125.16 ns. On
    // the link before the switch, which cuts through, it is back sooner and nothing waits longer.
    let round_trip = HOST + SLOT + BACK;
    assert_eq!(round_trip, 534_040);
    // Six packets of 83.88 ns cover 503.28 ns of them, seven all.
    for buffer in 2..=7 {
        let lane = format!("fabric.switching.lane_buffer={}B", buffer * BLOCKS * 64);
        let trial = Trial::run(SWITCH, &[&lane]);
        let (rounds, rest) = (29 / buffer, 29 % buffer);
        let last = rounds * round_trip.max(buffer * SLOT) + rest * SLOT;
        assert_eq!(
            trial.flow().fct().ps(),
            2 * HOST + SLOT + last,
            "{buffer} packets"
        );
    }
}

#[test]
fn no_port_is_idle_while_its_lane_stands_still_elsewhere() {
    // Three senders, 256 packets each, and 31 of each in the switch: the port of the receiver is
    // busy from the first packet on, and they share it to within a packet each. Beside them it
    // sends a flow-control packet for 33 of the 768 acknowledgements that come in through it.
    let set = [
        "jobs[0].ranks=[0, 1-3]",
        "jobs[0].collectives=[{collective: incast, size: 4MiB}]",
    ];
    let trial = Trial::run(SWITCH, &set);
    let beyond = trial.completion(0) - (2 * HOST + 3 * 256 * SLOT);
    assert!(beyond <= 768 / 33 * 8 * BYTE, "{beyond} ps");
    let times: Vec<u64> = trial.flows.iter().map(|flow| flow.fct().ps()).collect();
    let (first, last) = (times.iter().min().unwrap(), times.iter().max().unwrap());
    assert!(last - first <= 2 * SLOT + 8 * BYTE, "{times:?}");
    let totals = &trial.outcome.summary.totals;
    assert_eq!((totals.dropped_frames, totals.retransmitted_frames), (0, 0));
    for queue in &trial.outcome.counts.queues {
        assert_eq!(queue.input_buffer_bytes, 128 << 10);
        assert!(queue.input_high_water_bytes <= 128 << 10);
    }
    // From its 31st packet on each NIC has no credit beyond the packet that it begins to send,
    // until the last: some 650 of the 768 slots.
    let stopped = trial.outcome.counts.queues.iter();
    let nics = stopped.filter(|row| (1..=3).contains(&row.node));
    let stopped: u64 = nics.map(|row| row.paused.ps()).sum();
    let share = stopped as f64 / (3 * 256 * SLOT) as f64;
    assert!((2.4..2.6).contains(&share), "{share}");
}

#[test]
fn a_victim_waits_behind_its_lane_and_in_no_other() {
    // Hosts 1 to 3 send 2,048 packets each to host 0, in class 3 as NICs do, and host 1 as many to
    // a fourth.
    let jobs = |class: u8| {
        format!(
            "jobs=[{{name: incast, ranks: [0, 1-3], collectives: [{{collective: incast, size: 32MiB}}]}}, \
             {{name: victim, ranks: [4, 1], class: {class}, collectives: [{{collective: incast, size: 16MiB}}]}}]"
        )
    };
    let classes = "fabric.switch.classes=[{class: 0, weight: 1}, {class: 3, weight: 1}]";
    let time = |class: u8| {
        let trial = Trial::run(SWITCH, &["fabric.hosts=5", classes, &jobs(class)]);
        trial.flows_of(1)[0].fct().ps() as f64 / (2_048 * SLOT) as f64
    };
    // In one lane the two flows of host 1 take turns, and the incast gets a third of its port: so
    // does the victim. In a lane of its own it has what the other leaves of the NIC's wire.
    let (same, own) = (time(3), time(0));
    assert!((2.9..3.1).contains(&same), "{same}");
    assert!((1.4..1.6).contains(&own), "{own}");
}

#[test]
fn credit_for_lost_frames_is_not_lost() {
    // Two packets fill the input buffer: if credit were lost with frames, two lost ones would be
    // the end.
    let set = [
        "fabric.switching.lane_buffer=8448B",
        "jobs[0].collectives=[{collective: incast, size: 4MiB}]",
        "impairments=[{link: all, frame_loss: 0.02}]",
    ];
    let trial = Trial::run(SWITCH, &set);
    let summary = &trial.outcome.summary;
    assert!(summary.complete);
    assert!(summary.totals.lost_frames > 10);
}

const FABRIC: &str = "
fabric:
  kind: leaf-spine
  leaves: 4
  hosts_per_leaf: 4
  spines: 4
  switching: {kind: credit-based}
jobs: [{collectives: [{collective: send-recv, size: 4MiB}]}]
observe: {samples: false}
";

#[test]
fn a_shift_permutation_has_a_link_for_everybody() {
    let all = Trial::run(FABRIC, &[]);
    let one = Trial::run(FABRIC, &["jobs[0].ranks=[3, 4]"]);
    let longest = |trial: &Trial| trial.flows.iter().map(|flow| flow.fct().ps()).max();
    let (all, one) = (longest(&all).unwrap() as f64, longest(&one).unwrap() as f64);
    // Flow-control packets and acknowledgements of the other direction take their share.
    assert!(all < 1.02 * one, "{all} and {one}");
}

#[test]
fn a_ring_that_waits_for_itself_is_named() {
    const RING: &str = "
fabric:
  kind: explicit
  nodes: [{name: h0}, {name: h1}, {name: h2}, {name: s0, kind: switch}, {name: s1, kind: switch}, {name: s2, kind: switch}]
  links: [{a: h0, b: s0}, {a: h1, b: s1}, {a: h2, b: s2}, {a: s0, b: s1}, {a: s1, b: s2}, {a: s2, b: s0}]
  routes: [{at: s0, to: s2, via: s1}, {at: s1, to: s0, via: s2}, {at: s2, to: s1, via: s0}]
  switching: {kind: credit-based}
jobs:
  - {name: a, ranks: [h2, h0], collectives: [{collective: incast, size: 64MiB}]}
  - {name: b, ranks: [h0, h1], collectives: [{collective: incast, size: 64MiB}]}
  - {name: c, ranks: [h1, h2], collectives: [{collective: incast, size: 64MiB}]}
observe: {samples: false}
";
    let trial = Trial::run(RING, &[]);
    let stopped = trial.outcome.summary.stopped.clone();
    assert_eq!(
        stopped.as_deref(),
        Some(
            "credit deadlock, a cyclic buffer dependency: s1:2 (class 0), which waits for s2:1 (class 0), \
             which waits for s0:1 (class 0), which waits for the first"
        )
    );
}
