//! N senders, one receiver: when the queue has drained, how long it gets, and what it drops.

use crate::trial::Trial;
use crate::wire::{ACK_WIRE, FIRST_WIRE, MESSAGE, MTU, frames, wire};

/// 400 Gbit/s.
const BYTE: u64 = 20;
/// Transmit 7, cable 25, switch 600, cable 25, receive 11 ns.
const LATENCY: u64 = 668_000;
/// A full packet that is a message of its own: 4,174 bytes, 4,194 on the wire, 83,880 ps.
const SLOT: u64 = FIRST_WIRE * BYTE;
const FRAME: u64 = FIRST_WIRE - 20;

const SWITCH: &str = "
fabric: {kind: single-switch, hosts: 17, switch: {pipeline_latency: 600ns, queue_capacity: none}}
endpoint: {nic: {transmit_latency: 7ns, receive_latency: 11ns, retransmission_timeout: 1ms}}
jobs: [{collectives: [{collective: incast, size: 1MiB}]}]
observe: {samples: false}
";

/// `senders` to one, `bytes` from each.
fn incast(senders: u64, bytes: u64, overrides: &[&str]) -> Trial {
    let ranks = format!("jobs[0].ranks={}", senders + 1);
    let size = format!("jobs[0].collectives[0].size={}B", (senders + 1) * bytes);
    let overrides: Vec<&str> = [&*ranks, &*size].iter().chain(overrides).copied().collect();
    Trial::run(SWITCH, &overrides)
}

#[test]
fn the_last_bit_arrives_when_all_bytes_have_drained() {
    // The receiver's line is busy from the first packet on: (sum of all wire bytes)/rate + latency.
    // 16 senders of 1 MiB: 16·1,069,696·20 = 342,302,720 ps, and 668,000 ps.
    for (senders, bytes) in [
        (2, 1),
        (2, 4_096),
        (3, 100_001),
        (16, 1 << 20),
        (15, 131_073),
    ] {
        let all = senders * wire(bytes, MTU, MESSAGE).iter().sum::<u64>() * BYTE;
        let case = format!("{senders} senders of {bytes} B");
        let trial = incast(senders, bytes, &[]);
        assert_eq!(trial.completion(0), all + LATENCY, "{case}");
        if (senders, bytes) == (16, 1 << 20) {
            assert_eq!(all + LATENCY, 342_970_720);
        }
        // A switch that stores starts one packet later.
        let store = "fabric.switch.forwarding=store-and-forward";
        let trial = incast(senders, bytes, &[store]);
        let first = wire(bytes, MTU, MESSAGE)[0] * BYTE;
        assert_eq!(trial.completion(0), all + first + LATENCY, "{case}, stored");
    }
}

#[test]
fn the_drain_of_a_spine_link() {
    // One spine: its link to the receiver's leaf is the bottleneck, and fed without a pause. Cables
    // of 25, 200, 200 and 25 ns, three switches of 600 ns: 2,250,000 ps.
    let fabric = "
fabric: {kind: leaf-spine, leaves: 5, hosts_per_leaf: 1, spines: 1, switch: {queue_capacity: none}}
jobs: [{collectives: [{collective: incast, size: 5MiB}]}]
observe: {samples: false}
";
    let trial = Trial::run(fabric, &[]);
    let all = 4 * wire(1 << 20, MTU, MESSAGE).iter().sum::<u64>() * BYTE;
    assert_eq!(trial.completion(0), all + 2_250_000);
    // The leaf has nothing to queue: it is fed by one line of the same rate.
    assert_eq!(trial.port("leaf0", "host0").queue_high_water_bytes, 0);
}

#[test]
fn the_queue_is_what_arrived_less_what_left() {
    // Equal packets: with each packet time N arrive and one leaves, so after K of them K·(N−1)
    // wait. 4 senders of 10 packets: 10·3·4,174 = 125,220 bytes.
    for (senders, packets) in [(2, 1), (2, 50), (4, 10), (16, 100)] {
        let single = "endpoint.nic.message_size=4KiB";
        let trial = incast(senders, packets * MTU, &[single]);
        let expected = packets * (senders - 1) * FRAME;
        let port = trial.port("leaf0", "host0");
        assert_eq!(
            port.queue_high_water_bytes, expected,
            "{senders} · {packets}"
        );
        assert_eq!(port.tx_frames, senders * packets);
        assert_eq!(port.dropped_frames, 0);
    }
}

#[test]
fn the_queue_of_unequal_packets() {
    // When the last packets arrive, all bytes are there but those of packets that have started.
    // In the order of arrival, packet s starts when the s packets before it have been sent.
    for (senders, bytes) in [(2, 200_000), (3, 131_072), (5, 300_001)] {
        let (frame, wire) = (frames(bytes, MTU, MESSAGE), wire(bytes, MTU, MESSAGE));
        let last_arrival: u64 = wire[..wire.len() - 1].iter().sum();
        let mut waiting = senders * frame.iter().sum::<u64>();
        let mut start = 0;
        for (frame, wire) in frame.iter().zip(&wire) {
            for _ in 0..senders {
                if start <= last_arrival {
                    waiting -= frame;
                }
                start += wire;
            }
        }
        let trial = incast(senders, bytes, &[]);
        let port = trial.port("leaf0", "host0");
        assert_eq!(
            port.queue_high_water_bytes, waiting,
            "{senders} · {bytes} B"
        );
    }
}

#[test]
fn two_flows_in_step_lose_the_frames_of_the_second() {
    // Two flows of K equal packets at line rate, and a queue of q. Each packet time two arrive and
    // one leaves, so the queue is full after q of them; from then on the first flow's packet takes
    // the place that has become free, and the second flow's is dropped: K − q drops, all of the
    // flow on the higher port. Nothing of it arrives after the gap, so nobody asks again: the
    // timeout comes after the last acknowledgement, that of the 2q-th packet through the queue, and
    // K − q packets are sent once more, alone:
    //
    //     [L + 2q·slot] + [ACK + L] + timeout + [(K − q)·slot + L]
    for (packets, queue) in [(100, 99), (100, 40), (1_000, 1), (257, 256)] {
        let set = [
            "endpoint.nic.message_size=4KiB",
            &format!("fabric.switch.queue_capacity={}B", queue * FRAME),
        ];
        let trial = incast(2, packets * MTU, &set);
        let case = format!("{packets} packets, queue of {queue}");
        let lost = packets - queue;
        let port = trial.port("leaf0", "host0");
        assert_eq!(port.dropped_frames, lost, "{case}");
        assert_eq!(port.dropped_bytes, lost * FRAME, "{case}");
        assert_eq!(port.queue_high_water_bytes, queue * FRAME, "{case}");
        let totals = &trial.outcome.summary.totals;
        assert_eq!((totals.nak_frames, totals.timeouts), (0, 1), "{case}");
        let [first, second] = trial.flows_of(0)[..] else {
            panic!("two flows");
        };
        assert_eq!((first.retransmitted_frames, first.tx_frames), (0, packets));
        assert_eq!(second.retransmitted_frames, lost, "{case}");
        assert_eq!(second.tx_frames, packets + lost, "{case}");
        let heard = 2 * LATENCY + 2 * queue * SLOT + ACK_WIRE * BYTE;
        let expected = heard + 1_000_000_000 + lost * SLOT + LATENCY;
        assert_eq!(second.fct().ps(), expected, "{case}");
    }
}
