//! Frames and bytes, to the byte.

use crate::trial::Trial;
use crate::wire::ACK_BYTES;

/// host1 sends half the size of the incast to host0.
const PAIR: &str = "
fabric: {kind: single-switch, hosts: 3}
jobs: [{ranks: 2, collectives: [{collective: incast, size: 4MiB}]}]
observe: {samples: false}
";

#[test]
fn published_chunks() {
    // AI Fabric Test Methodology (Keysight): MTU 4,096, messages of 128 KiB.
    //
    // - 2 MiB: 16 messages of 32 packets, 512·(4,096 + 62) + 16·16 = 2,129,152 bytes.
    // - 25 MiB: 200 messages, 6,400·4,158 + 200·16 = 26,614,400 bytes.
    let chunks = [(2, 512, 2_129_152), (25, 6_400, 26_614_400)];
    for (mebibytes, frames, bytes) in chunks {
        let size = format!("jobs[0].collectives[0].size={}MiB", 2 * mebibytes);
        let trial = Trial::run(PAIR, &[&size]);
        let flow = trial.flow();
        assert_eq!(flow.payload_bytes, mebibytes << 20);
        assert_eq!((flow.tx_frames, flow.tx_bytes), (frames, bytes));
        assert_eq!((flow.rx_frames, flow.rx_bytes), (frames, bytes));
        assert_eq!(flow.frames_delta(), 0);
        let row = trial.collective(0);
        assert_eq!((row.tx_frames, row.rx_frames), (frames, frames));
        let totals = &trial.outcome.summary.totals;
        assert_eq!((totals.tx_frames, totals.tx_bytes), (frames, bytes));
        assert_eq!((totals.rx_frames, totals.rx_bytes), (frames, bytes));
        // Every port on the way has seen the same.
        for (node, peer) in [("host1", "leaf0"), ("leaf0", "host0")] {
            let port = trial.port(node, peer);
            assert_eq!((port.tx_frames, port.tx_bytes), (frames, bytes), "{node}");
        }
        let port = trial.port("host0", "leaf0");
        assert_eq!((port.rx_frames, port.rx_bytes), (frames, bytes));
        let port = trial.port("leaf0", "host1");
        assert_eq!((port.rx_frames, port.rx_bytes), (frames, bytes));
        // Data over two links, and the acknowledgements of all messages back.
        let engine = &trial.outcome.summary.engine;
        assert_eq!(engine.data_packet_hops, 2 * frames);
        assert_eq!(engine.packet_hops, 2 * frames + 2 * frames / 32);
    }
}

#[test]
fn acknowledgements() {
    // 2 MiB are 512 packets in 16 messages.
    //
    // - per message: 16; per packet: 512.
    // - every 10 packets by sequence number: 51 of 512 (10, 20, … 510), and the last of each
    //   message (32, 64, …, 512), of which 160, 320 and 480 are among those: 51 + 16 − 3 = 64.
    // - every 100: 5 (100, …, 500) and 16, none in common: 21.
    let policies = [
        ("per-message", 16),
        ("per-packet", 512),
        ("{every: 10}", 64),
        ("{every: 100}", 21),
    ];
    for (policy, count) in policies {
        let set = format!("endpoint.nic.acknowledge={policy}");
        let trial = Trial::run(PAIR, &[&set]);
        for (node, peer) in [("host0", "leaf0"), ("leaf0", "host1")] {
            let port = trial.port(node, peer);
            let sent = (port.tx_frames, port.tx_bytes);
            assert_eq!(sent, (count, count * ACK_BYTES), "{policy}");
        }
        let port = trial.port("host1", "leaf0");
        assert_eq!((port.rx_frames, port.rx_bytes), (count, count * ACK_BYTES));
        // They are no data.
        assert_eq!(trial.outcome.summary.totals.tx_frames, 512, "{policy}");
    }
}

#[test]
fn the_books_of_a_lossy_trial_close() {
    // An incast into a queue of 64 kB: nothing is dropped but data, as acknowledgements meet no
    // other frames. Each data frame that was sent was dropped on the way, accepted, or discarded:
    // by go-back-N behind a gap, and where a timeout is shorter than a round trip as a duplicate.
    let incast = "
fabric: {kind: single-switch, hosts: 5, switch: {queue_capacity: 64kB}}
endpoint: {nic: {retry_count: 255}}
jobs: [{collectives: [{collective: incast, size: 4MiB}]}]
observe: {samples: false}
";
    for (recovery, timeout) in [
        ("go-back-n", "1ms"),
        ("selective-repeat", "1ms"),
        ("selective-repeat", "10us"),
    ] {
        let set = [
            format!("endpoint.nic.loss_recovery={recovery}"),
            format!("endpoint.nic.retransmission_timeout={timeout}"),
        ];
        let trial = Trial::run(incast, &set.each_ref().map(String::as_str));
        let totals = &trial.outcome.summary.totals;
        assert!(totals.dropped_frames > 0, "{set:?}");
        let goes_back = recovery == "go-back-n";
        assert_eq!(totals.discarded_frames > 0, goes_back, "{set:?}");
        if timeout == "10us" {
            assert!(totals.duplicate_frames > 100, "{set:?}");
        }
        let discarded = (totals.discarded_frames, totals.duplicate_frames);
        let arrived = totals.rx_frames + discarded.0 + discarded.1;
        assert_eq!(totals.tx_frames, arrived + totals.dropped_frames);
        let port = trial.port("host0", "leaf0");
        let at_port = (port.rx_discarded_frames, port.rx_duplicate_frames);
        assert_eq!(at_port, discarded);
    }
}

#[test]
fn connection_set_up() {
    // One request and one reply of 326 bytes for each QP: Ethernet 14, IPv4 20, UDP 8, BTH 12,
    // DETH 8, MAD 256, ICRC 4, FCS 4. Four QPs carry 512 KiB each: 4 messages, 4 ACKs.
    let set = [
        "endpoint.nic.connection_set_up=true",
        "jobs[0].queue_pairs=4",
    ];
    let trial = Trial::run(PAIR, &set);
    let there = trial.port("host1", "leaf0");
    assert_eq!(there.tx_frames, 512 + 4);
    assert_eq!(there.tx_bytes, 2_129_152 + 4 * 326);
    let back = trial.port("host0", "leaf0");
    assert_eq!(back.tx_frames, 16 + 4);
    assert_eq!(back.tx_bytes, 16 * ACK_BYTES + 4 * 326);
    // They are no data either, and the flows do not count them.
    let totals = &trial.outcome.summary.totals;
    assert_eq!((totals.tx_frames, totals.tx_bytes), (512, 2_129_152));
    let flows: u64 = trial.flows.iter().map(|flow| flow.tx_bytes).sum();
    assert_eq!(flows, 2_129_152);
}

#[test]
fn what_is_sent_again_is_counted_beside_what_is_needed() {
    // Two senders of 2 MiB into a queue of 256 KiB: frames are lost, and sent again until all
    // 2·512 have arrived. Whatever the losses, sent less sent again is what was needed.
    let lossy = [
        "jobs[0].ranks=3",
        "jobs[0].collectives[0].size=6MiB",
        "fabric.switch.queue_capacity=256KiB",
        "endpoint.nic.retransmission_timeout=100us",
    ];
    let trial = Trial::run(PAIR, &lossy);
    let totals = &trial.outcome.summary.totals;
    assert!(totals.dropped_frames > 0 && totals.retransmitted_frames > 0);
    for flow in trial.flows_of(0) {
        assert_eq!(flow.tx_frames - flow.retransmitted_frames, 512);
        assert_eq!((flow.rx_frames, flow.rx_bytes), (512, 2_129_152));
        assert_eq!(
            flow.frames_delta().cast_unsigned(),
            flow.retransmitted_frames
        );
        // What the flow counts is what its NIC has put onto the wire.
        let port = trial.port(&format!("host{}", flow.src_host), "leaf0");
        assert_eq!(
            (port.tx_frames, port.tx_bytes),
            (flow.tx_frames, flow.tx_bytes)
        );
    }
    assert_eq!(totals.tx_frames - totals.retransmitted_frames, 2 * 512);
    assert_eq!(totals.rx_bytes, 2 * 2_129_152);
    // What left the NICs arrived at the last one or was dropped before it.
    let arrived = trial.port("host0", "leaf0");
    assert_eq!(arrived.rx_frames + totals.dropped_frames, totals.tx_frames);
    assert_eq!(arrived.rx_bytes + totals.dropped_bytes, totals.tx_bytes);
}
