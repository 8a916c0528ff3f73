//! Several queue pairs of one NIC: round robin, one packet each.

use tenter_results::FlowRow;

use crate::trial::Trial;
use crate::wire::{FIRST_WIRE, NEXT_WIRE, wire};

const BYTE: u64 = 20;
const LATENCY: u64 = 650_000;

const PAIR: &str = "
fabric: {kind: single-switch, hosts: 4}
jobs: [{ranks: 2, collectives: [{collective: incast, size: 4MiB}]}]
observe: {samples: false}
";

#[test]
fn queue_pairs_of_one_pair_take_turns() {
    // Q QPs share 2 MiB evenly. In each round each sends one packet, so they start one first packet
    // apart and end one last packet apart, and the last one ends when all bytes have been sent.
    for count in [2, 3, 4, 8] {
        let set = format!("jobs[0].queue_pairs={count}");
        let trial = Trial::run(PAIR, &[&set]);
        let mut flows: Vec<_> = trial.flows.iter().collect();
        flows.sort_by_key(|flow| flow.queue_pair);
        assert_eq!(flows.len(), count);
        let bytes: u64 = flows.iter().map(|flow| flow.payload_bytes).sum();
        assert_eq!(bytes, 2 << 20);
        for pair in flows.windows(2) {
            let start = pair[1].first_sent - pair[0].first_sent;
            assert_eq!(start.ps(), FIRST_WIRE * BYTE, "{count} QPs");
            let end = pair[1].received.ps() - pair[0].received.ps();
            assert!(end <= NEXT_WIRE * BYTE, "{count} QPs: {end} ps apart");
        }
        let wires = flows
            .iter()
            .flat_map(|flow| wire(flow.payload_bytes, 4_096, 128 << 10));
        let all = wires.sum::<u64>() * BYTE;
        assert_eq!(flows[count - 1].fct().ps(), all + LATENCY, "{count} QPs");
        // Each QP has a UDP source port, and so a path, of its own.
        let mut ports: Vec<_> = flows.iter().map(|flow| flow.udp_source_port).collect();
        ports.sort_unstable();
        ports.dedup();
        assert_eq!(ports.len(), count);
    }
}

#[test]
fn turns_may_be_of_bytes() {
    // Two QPs in turns of four packets, whose 16,648 bytes are the first to reach 16 KiB: the
    // second starts four packets after the first, and ends four behind it.
    let run = |interleave: &str| {
        let set = format!("endpoint.nic.interleave={interleave}");
        let trial = Trial::run(PAIR, &["jobs[0].queue_pairs=2", &set]);
        let mut flows = trial.flows;
        flows.sort_by_key(|flow| flow.queue_pair);
        let times = |flow: &FlowRow| (flow.first_sent, flow.received);
        [times(&flows[0]), times(&flows[1])]
    };
    let [first, second] = run("16KiB");
    let turn = (FIRST_WIRE + 3 * NEXT_WIRE) * BYTE;
    assert_eq!((second.0 - first.0).ps(), turn);
    assert_eq!((second.1 - first.1).ps(), 4 * NEXT_WIRE * BYTE);
    // A byte is a packet, and all frame bytes of a message are a message.
    assert_eq!(run("1B"), run("packet"));
    let message = format!("{}B", 4_174 + 31 * 4_158);
    assert_eq!(run(&message), run("message"));
    assert_ne!(run("packet"), run("message"));
}

#[test]
fn turns_are_the_same_beside_a_limit_that_never_binds() {
    // host1 sends to three hosts by two QPs each, messages of one packet and of many, the limit
    // being another way through the NIC.
    let three = "
fabric: {kind: single-switch, hosts: 4}
endpoint: {nic: {message_size: 4KiB, acknowledge: per-packet}}
jobs:
  - {ranks: [host0, host1], queue_pairs: 2, collectives: [{collective: incast, sizes: [300kB, 2MiB]}]}
  - {ranks: [host2, host1], collectives: [{collective: incast, sizes: [8KiB, 12KiB, 100kB, 1MiB]}]}
  - {ranks: [host3, host1], collectives: [{collective: incast, sizes: [1MiB, 8KiB, 64KiB]}]}
observe: {samples: false}
";
    for interleave in ["packet", "message", "10kB", "16KiB", "1MiB"] {
        let set = format!("endpoint.nic.interleave={interleave}");
        let free = Trial::run(three, &[&set]);
        let limit = "endpoint.nic.outstanding_messages=1048576";
        let limited = Trial::run(three, &[&set, limit]);
        assert_eq!(free.flows, limited.flows, "{interleave}");
    }
}

#[test]
fn two_jobs_on_one_nic_share_its_line() {
    // host1 sends 1 MiB to host0 and 1 MiB to host2 at once. The first job posts first, and a
    // packet of it leaves at that instant, before the second job posts; so the second job's QP
    // comes in behind one that has been served already, and stays two packets behind. From then on
    // each gets every second packet.
    let two = "
fabric: {kind: single-switch, hosts: 3}
jobs:
  - {ranks: [host0, host1], collectives: [{collective: incast, size: 2MiB}]}
  - {ranks: [host2, host1], collectives: [{collective: incast, size: 2MiB}]}
observe: {samples: false}
";
    let trial = Trial::run(two, &[]);
    let ends = [0, 1].map(|job| trial.flows_of(job)[0].received.ps());
    let both = 2 * wire(1 << 20, 4_096, 128 << 10).iter().sum::<u64>() * BYTE;
    let first = both - 2 * NEXT_WIRE * BYTE;
    assert_eq!(ends, [first + LATENCY, both + LATENCY]);
}
