//! What one lost frame costs, by NAK and by timeout, with each loss recovery; and the end of
//! patience.

use tenter_language::units::Time;

use crate::trial::Trial;
use crate::wire::{ACK_WIRE, FIRST_WIRE, MTU, frames, wire};

/// 400 Gbit/s.
const BYTE: u64 = 20;
/// Two cables of 25 ns and a switch of 600 ns.
const LATENCY: u64 = 650_000;
/// A full packet that is a message of its own: 4,194 bytes on the wire, 83,880 ps.
const SLOT: u64 = FIRST_WIRE * BYTE;
const ACK: u64 = ACK_WIRE * BYTE;

/// Two jobs that send from host1 and host2 to host0 at the same time.
const TWO: &str = "
fabric: {kind: single-switch, hosts: 3}
endpoint: {nic: {message_size: 4KiB, retransmission_timeout: 1ms}}
jobs:
  - {ranks: [host0, host1], collectives: [{collective: incast, size: 1MiB}]}
  - {ranks: [host0, host2], collectives: [{collective: incast, size: 1MiB}]}
observe: {samples: false}
";

/// Flows of so many packets, into a queue of so many.
fn two_flows(first: u64, second: u64, queue: u64, overrides: &[&str]) -> Trial {
    let set = [
        &*format!("jobs[0].collectives[0].size={}B", 2 * first * MTU),
        &*format!("jobs[1].collectives[0].size={}B", 2 * second * MTU),
        &*format!("fabric.switch.queue_capacity={}B", queue * (MTU + 78)),
    ];
    let set: Vec<&str> = set.iter().chain(overrides).copied().collect();
    Trial::run(TWO, &set)
}

#[test]
fn a_frame_lost_within_a_flow() {
    // The first flow has q + 1 packets, the second K. They fill the queue of q in q packet times,
    // and the (q + 1)th packet of the second flow is dropped; then the first flow is done, and
    // there is room for all that follow.
    //
    // Packet q + 2 of the second flow is the (2q + 2)th to leave the queue. It shows the receiver
    // the gap, and its NAK is back at 2L + (2q + 2)·slot + NAK. Until then the sender has started
    // ⌊that / slot⌋ + 1 packets, or all K; it sends all from number q + 1 on again.
    //
    // The receiver's line was busy with the q + 1 packets of the first flow and the second flow's
    // but for the one lost; the packets sent again come behind those, or when the NAK is back.
    for (packets, queue) in [(1_000, 10), (40, 10), (1_000, 1), (5_000, 100), (101, 99)] {
        let trial = two_flows(queue + 1, packets, queue, &[]);
        let case = format!("{packets} packets, queue of {queue}");
        let totals = &trial.outcome.summary.totals;
        assert_eq!(totals.dropped_frames, 1, "{case}");
        assert_eq!((totals.nak_frames, totals.timeouts), (1, 0), "{case}");
        let flow = trial.flows_of(1)[0];
        let nak = 2 * LATENCY + (2 * queue + 2) * SLOT + ACK;
        let sent = packets.min(nak / SLOT + 1);
        let again = sent - queue;
        assert_eq!(flow.retransmitted_frames, again, "{case}");
        assert_eq!(flow.tx_frames, packets + again, "{case}");
        assert_eq!(flow.rx_frames, packets, "{case}");
        let resumed = nak.max(sent * SLOT).max((queue + sent) * SLOT);
        let expected = resumed + (packets - queue) * SLOT + LATENCY;
        assert_eq!(flow.fct().ps(), expected, "{case}");
        assert_eq!(trial.flows_of(0)[0].retransmitted_frames, 0, "{case}");
    }
}

#[test]
fn the_last_frame_of_a_flow_lost() {
    // Two flows of q + 1 packets into a queue of q: the last packet of the second one is dropped.
    // Nothing follows that could show the gap, so it is sent again one timeout after the last
    // acknowledgement, that of the 2q-th packet: [L + 2q·slot] + [ACK + L] + timeout + [slot + L].
    for queue in [1, 7, 200] {
        let trial = two_flows(queue + 1, queue + 1, queue, &[]);
        let totals = &trial.outcome.summary.totals;
        assert_eq!(totals.dropped_frames, 1);
        assert_eq!((totals.nak_frames, totals.timeouts), (0, 1));
        let flow = trial.flows_of(1)[0];
        assert_eq!(flow.retransmitted_frames, 1);
        let acknowledged = 2 * LATENCY + 2 * queue * SLOT + ACK;
        let expected = acknowledged + 1_000_000_000 + SLOT + LATENCY;
        assert_eq!(flow.fct().ps(), expected, "queue of {queue}");
    }
}

#[test]
fn the_last_frame_of_a_long_message_lost() {
    // With one acknowledgement per message, a sender that has heard nothing goes back to the start
    // of the message: all its packets are sent again, the receiver drops those it has, and takes
    // the last. The timeout counts from the first packet: timeout + all wire bytes + L.
    //
    // The queue is one byte too short for the second flow's last packet. When that arrives, all
    // bytes are there but those of packets that have started (as in the incast tests).
    let bytes = 20 * MTU;
    let (frame, wire) = (frames(bytes, MTU, bytes), wire(bytes, MTU, bytes));
    let last_arrival: u64 = wire[..19].iter().sum();
    let mut waiting = 2 * frame.iter().sum::<u64>();
    let mut start = 0;
    for number in 0..40 {
        if start <= last_arrival {
            waiting -= frame[number / 2];
        }
        start += wire[number / 2];
    }
    let capacity = format!("fabric.switch.queue_capacity={}B", waiting - 1);
    let trial = two_flows(20, 20, 1, &["endpoint.nic.message_size=80KiB", &capacity]);
    let totals = &trial.outcome.summary.totals;
    assert_eq!((totals.dropped_frames, totals.timeouts), (1, 1));
    let flow = trial.flows_of(1)[0];
    assert_eq!((flow.retransmitted_frames, flow.tx_frames), (20, 40));
    assert_eq!((flow.rx_frames, flow.rx_bytes), (20, frame.iter().sum()));
    let expected = 1_000_000_000 + wire.iter().sum::<u64>() * BYTE + LATENCY;
    assert_eq!(flow.fct().ps(), expected);
}

#[test]
fn selective_repeat_sends_one_lost_frame_again() {
    // As in the first test, one packet of the second flow is lost; but only that one is sent
    // again, when its NAK is back. The receiver's line is never idle until it has carried all
    // packets of both flows.
    let set = ["endpoint.nic.loss_recovery=selective-repeat"];
    for (packets, queue) in [(1_000, 10), (40, 10), (1_000, 1), (4_000, 100)] {
        let trial = two_flows(queue + 1, packets, queue, &set);
        let case = format!("{packets} packets, queue of {queue}");
        let totals = &trial.outcome.summary.totals;
        assert_eq!((totals.dropped_frames, totals.nak_frames), (1, 1), "{case}");
        assert_eq!(totals.timeouts, 0, "{case}");
        let flow = trial.flows_of(1)[0];
        assert_eq!(flow.retransmitted_frames, 1, "{case}");
        assert_eq!((flow.tx_frames, flow.rx_frames), (packets + 1, packets));
        assert_eq!(flow.fct().ps(), (queue + 1 + packets) * SLOT + LATENCY);
        // The gap opens with number q + 2 and is closed by the packet that the sender starts when
        // the NAK is back.
        let nak = 2 * LATENCY + (2 * queue + 2) * SLOT + ACK;
        let sent = packets.min(nak / SLOT + 1);
        assert_eq!(totals.out_of_order_frames, sent - queue - 1, "{case}");
    }
}

#[test]
fn selective_repeat_sends_the_last_frame_again_after_a_timeout() {
    // As with go-back-N, whatever the length of messages: the oldest packet alone.
    let queue = 7;
    let set = ["endpoint.nic.loss_recovery=selective-repeat"];
    let trial = two_flows(queue + 1, queue + 1, queue, &set);
    let totals = &trial.outcome.summary.totals;
    assert_eq!((totals.nak_frames, totals.timeouts), (0, 1));
    let flow = trial.flows_of(1)[0];
    assert_eq!((flow.tx_frames, flow.rx_frames), (queue + 2, queue + 1));
    let acknowledged = 2 * LATENCY + 2 * queue * SLOT + ACK;
    let expected = acknowledged + 1_000_000_000 + SLOT + LATENCY;
    assert_eq!(flow.fct().ps(), expected);
}

#[test]
fn selective_repeat_repairs_a_lost_end_after_one_timeout() {
    // The last three of a hundred packets are lost. After the timeout the first and the last of
    // them are sent again, the last shows the receiver the gap, and its NAK fetches the other.
    let end = "
fabric: {kind: single-switch, hosts: 2}
endpoint: {nic: {message_size: 4KiB, retransmission_timeout: 1ms, loss_recovery: selective-repeat}}
jobs: [{collectives: [{collective: incast, size: 800KiB}]}]
impairments:
  - {link: host1-leaf0, sender: host1, rules: [{opcodes: [only], psn: 97-99, count: 3}]}
observe: {samples: false}
";
    let trial = Trial::run(end, &[]);
    let totals = &trial.outcome.summary.totals;
    assert_eq!((totals.lost_frames, totals.timeouts), (3, 1));
    let flow = trial.flows_of(0)[0];
    assert_eq!((flow.tx_frames, flow.retransmitted_frames), (103, 3));
    let acknowledged = 97 * SLOT + 2 * LATENCY + ACK;
    let gap_known = acknowledged + 1_000_000_000 + 2 * SLOT + LATENCY;
    let expected = gap_known + LATENCY + ACK + SLOT + LATENCY;
    assert_eq!(flow.fct().ps(), expected);
}

#[test]
fn selective_repeat_sends_what_was_dropped_and_nothing_else() {
    // Four windows of 140 packets into a queue of 2 MB: dozens are lost, some of them twice. The
    // line has the time to carry everything once all the same, and is done as if nothing had been.
    let four = "
fabric: {kind: single-switch, hosts: 5, switch: {queue_capacity: 2MB}}
endpoint: {nic: {window: 140, loss_recovery: selective-repeat}}
jobs: [{collectives: [{collective: incast, size: 40MiB}]}]
observe: {samples: false}
";
    let ideal = Trial::run(four, &["endpoint.nic.window=100"]);
    assert_eq!(ideal.outcome.summary.totals.dropped_frames, 0);
    let trial = Trial::run(four, &[]);
    let totals = &trial.outcome.summary.totals;
    assert!(totals.dropped_frames > 50, "{totals:?}");
    assert_eq!(totals.retransmitted_frames, totals.dropped_frames);
    assert_eq!(totals.timeouts, 0);
    let times = (trial.completion(0), ideal.completion(0));
    assert!(times.0 < times.1 + times.1 / 500, "{times:?}");
}

#[test]
fn without_recovery_what_is_lost_is_counted() {
    // The first packet that is dropped is missed when the next one arrives, and nothing is sent
    // again: the line carries all packets but one.
    let set = ["endpoint.nic.loss_recovery=none"];
    let (packets, queue) = (1_000, 10);
    let trial = two_flows(queue + 1, packets, queue, &set);
    let totals = &trial.outcome.summary.totals;
    assert!(trial.outcome.summary.complete);
    assert_eq!((totals.dropped_frames, totals.given_up_frames), (1, 1));
    assert_eq!((totals.nak_frames, totals.timeouts), (0, 0));
    let flow = trial.flows_of(1)[0];
    assert_eq!((flow.tx_frames, flow.rx_frames), (packets, packets - 1));
    assert_eq!(flow.retransmitted_frames, 0);
    assert_eq!(flow.fct().ps(), (queue + packets) * SLOT + LATENCY);
    // Bandwidth is that of what arrived: 999 of 1,000 equal packets of each 4,096 bytes.
    let row = trial.collective(1);
    let seconds = trial.completion(1) as f64 / 1e12;
    let busbw = row.busbw_gbytes_per_s.expect("it is done");
    let sent = (packets * MTU) as f64 / seconds / 1e9;
    assert!((busbw / sent - 0.999).abs() < 1e-9, "{busbw} of {sent}");
    let ratio = row.ideal_ratio.expect("it is done");
    assert!((ratio * busbw - 50.0).abs() < 1e-9, "{ratio}");
    // Where the last packet is lost, the sender says after a timeout that it was the last.
    let trial = two_flows(queue + 1, queue + 1, queue, &set);
    assert!(trial.outcome.summary.complete);
    let flow = trial.flows_of(1)[0];
    assert_eq!((flow.tx_frames, flow.rx_frames), (queue + 1, queue));
    let acknowledged = 2 * LATENCY + 2 * queue * SLOT + ACK;
    let expected = acknowledged + 1_000_000_000 + ACK + LATENCY;
    assert_eq!(flow.fct().ps(), expected);
}

#[test]
fn a_run_lasts_until_the_last_queue_pair_gives_up() {
    // As above, the last packet of the second flow is dropped; but without a retry, the timeout
    // that follows the last acknowledgement ends the run. The receiver's line has then carried
    // q + 1 packets of the first flow and q of the second.
    let queue = 7;
    let set = ["endpoint.nic.retry_count=0"];
    let trial = two_flows(queue + 1, queue + 1, queue, &set);
    assert!(!trial.outcome.summary.complete);
    let end = 2 * LATENCY + 2 * queue * SLOT + ACK + 1_000_000_000;
    assert_eq!(trial.simulated(), end);
    let used = trial.port("leaf0", "host0").utilisation;
    let expected = ((2 * queue + 1) * SLOT) as f64 / end as f64;
    assert!((used - expected).abs() < 1e-12, "{used}");
}

#[test]
fn a_queue_pair_that_gives_up() {
    // The first flow keeps the queue of 10 full for 3,000 packet times (252 us); so of the second
    // one 10 packets arrive, and the other 20 are dropped as often as they are sent. The last
    // acknowledgement is that of the 20th packet through the queue; four timeouts of 50 us after it
    // (three retries, and the end of the last one) the QP gives up.
    let set = [
        "endpoint.nic.retransmission_timeout=50us",
        "endpoint.nic.retry_count=3",
    ];
    let trial = two_flows(3_000, 30, 10, &set);
    let end = 2 * LATENCY + 20 * SLOT + ACK + 4 * 50_000_000;
    let totals = &trial.outcome.summary.totals;
    assert_eq!(totals.timeouts, 4);
    assert_eq!(totals.dropped_frames, 4 * 20);
    // What was sent and accepted of the flow that never ended counts all the same.
    assert_eq!(totals.tx_frames, 3_000 + 30 + 3 * 20);
    assert_eq!(totals.retransmitted_frames, 3 * 20);
    assert_eq!(totals.rx_frames, 3_000 + 10);
    assert!(!trial.outcome.summary.complete);
    let complete: Vec<bool> = trial.outcome.jobs.iter().map(|job| job.complete).collect();
    assert_eq!(complete, [true, false]);
    let expected = format!(
        "1 transfer has not arrived; \
         the queue pair 0 of rank 1 (host2) to rank 0 (host0) gave up at {} after 3 retries; \
         rank 0 waits for 120KiB that rank 1 posted at 0s",
        Time::from_ps(end).rounded()
    );
    assert_eq!(trial.failure(), expected);
    // What was delivered of it is not a flow: a flow ends with its acknowledgement.
    assert_eq!(trial.flows_of(1).len(), 0);
    assert_eq!(trial.flows_of(0)[0].retransmitted_frames, 0);
}

#[test]
fn naks_and_timeouts_share_the_retries() {
    // A frame is lost within the second flow, and the NAK is back at 3.17 us. Then the receiver's
    // cable is cut for good. The NAK and one timeout use up both retries, so the second timeout is
    // the end.
    for (on_nak, timeouts) in [(true, 2), (false, 3)] {
        let retry = format!("endpoint.nic.retry_on_nak={on_nak}");
        let set = [
            retry.as_str(),
            "endpoint.nic.retry_count=2",
            "endpoint.nic.retransmission_timeout=50us",
            "faults={events: [{link: host0-leaf0, down: 3200ns}]}",
        ];
        let trial = two_flows(11, 1_000, 10, &set);
        let totals = &trial.outcome.summary.totals;
        assert_eq!((totals.nak_frames, totals.timeouts), (1, timeouts));
        assert!(!trial.outcome.summary.complete);
    }
}
