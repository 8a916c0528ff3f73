//! One flow through one switch: from the post to the last bit at the receiver.

use crate::trial::Trial;
use crate::wire::{ACK_WIRE, GAP_BYTES, cut_through, ps_per_byte, store_and_forward, wire};

/// One flow from host1 to host0: rank 0 is the root, and of an incast of 2·S (or 2·S − 1) bytes
/// rank 1 sends S.
const SINGLE: &str = "
fabric: {kind: single-switch, hosts: 2, host_delay: 25ns, switch: {pipeline_latency: 601ns}}
endpoint: {nic: {transmit_latency: 7ns, receive_latency: 11ns, retransmission_timeout: 1s}}
jobs: [{start: 3us, collectives: [{collective: incast, size: 1B}]}]
observe: {samples: false}
";

/// Transmit 7, cable 25, switch 601, cable 25, receive 11.
const LATENCY: u64 = 669_000;

/// The size of an incast between two ranks in which rank 1 sends `bytes`: it has block
/// ⌊size/2⌋ … size.
fn incast_of(bytes: u64) -> String {
    format!("jobs[0].collectives[0].size={}B", 2 * bytes - 1)
}

fn sizes(mtu: u64) -> [u64; 6] {
    [1, mtu, mtu + 1, 7 * mtu, 7 * mtu + 17, 33 * mtu - 1]
}

#[test]
fn every_rate_mtu_and_size() {
    // At 400 Gbit/s a byte takes 20 ps. One packet of 4,096 bytes is 4,194 bytes on the wire:
    // cut-through 4,194·20 + 669,000 = 752,880 ps, store-and-forward 83,880 ps more.
    for gbps in [10, 25, 40, 50, 100, 200, 400, 800, 1_600] {
        let byte = ps_per_byte(gbps);
        for mtu in [256, 512, 1_024, 2_048, 4_096] {
            for bytes in sizes(mtu) {
                // Messages of ten packets; 33 packets are three and a bit.
                let packets = wire(bytes, mtu, 10 * mtu);
                for forwarding in ["cut-through", "store-and-forward"] {
                    let trial = Trial::run(
                        SINGLE,
                        &[
                            &format!("fabric.rate={gbps}Gbps"),
                            &format!("fabric.switch.forwarding={forwarding}"),
                            &format!("endpoint.nic.mtu={mtu}"),
                            &format!("endpoint.nic.message_size={}B", 10 * mtu),
                            &incast_of(bytes),
                        ],
                    );
                    let (wires, acknowledgement) = match forwarding {
                        "cut-through" => (cut_through(&packets, byte, byte), ACK_WIRE * byte),
                        _ => (store_and_forward(&packets, byte, byte), 2 * ACK_WIRE * byte),
                    };
                    let flow = trial.flow();
                    let case = format!("{gbps}G, MTU {mtu}, {bytes} B, {forwarding}");
                    assert_eq!(flow.posted.ps(), 3_000_000, "{case}");
                    assert_eq!(flow.first_sent, flow.posted, "{case}");
                    assert_eq!(flow.fct().ps(), wires + LATENCY, "{case}");
                    // The acknowledgement of the last message has the way back to itself.
                    let back = flow.acknowledged - flow.received;
                    assert_eq!(back.ps(), acknowledgement + LATENCY, "{case}");
                }
            }
        }
    }
}

#[test]
fn an_empty_transfer_is_one_frame() {
    // With the root at rank 1, an incast of 1 byte gives rank 0 the block ⌊0/2⌋ … ⌊1/2⌋: nothing.
    // 78 bytes of headers and 20 of gap at 20 ps: 1,960 ps.
    let trial = Trial::run(SINGLE, &["jobs[0].collectives[0].root=1"]);
    let flow = trial.flow();
    assert_eq!(
        (flow.payload_bytes, flow.tx_frames, flow.tx_bytes),
        (0, 1, 78)
    );
    assert_eq!(flow.fct().ps(), (78 + GAP_BYTES) * 20 + LATENCY);
}

/// host1 and host0 on a switch, with links of two rates.
const TWO_RATES: &str = "
fabric:
  kind: explicit
  nodes: [{name: to}, {name: from}, {name: middle, kind: switch}]
  links: [{a: from, b: middle, rate: 400Gbps, delay: 25ns}, {a: to, b: middle, rate: 400Gbps, delay: 35ns}]
  switch: {pipeline_latency: 600ns}
endpoint: {nic: {message_size: 128KiB, retransmission_timeout: 1s}}
jobs: [{collectives: [{collective: incast, size: 1B}]}]
observe: {samples: false}
";

#[test]
fn lines_of_different_rates() {
    // From 400 to 100 Gbit/s, two full packets in one message (4,194 and 4,178 bytes on the wire):
    // cut-through sends as the slow line can, 8,372·80 = 669,760 ps; store-and-forward has the
    // first packet's 4,194·20 = 83,880 ps before that. From 100 to 400 Gbit/s even a cut-through
    // switch has to store: 8,372·80 and 4,178·20 ps.
    for (from, to) in [
        (400, 100),
        (100, 400),
        (1_600, 10),
        (10, 1_600),
        (25, 800),
        (800, 25),
    ] {
        let (first, second) = (ps_per_byte(from), ps_per_byte(to));
        for bytes in [1, 4_096, 8_192, 8_193, 131_072, 300_001] {
            let packets = wire(bytes, 4_096, 128 << 10);
            for forwarding in ["cut-through", "store-and-forward"] {
                let trial = Trial::run(
                    TWO_RATES,
                    &[
                        &format!("fabric.links[0].rate={from}Gbps"),
                        &format!("fabric.links[1].rate={to}Gbps"),
                        &format!("fabric.switch.forwarding={forwarding}"),
                        &incast_of(bytes),
                    ],
                );
                let wires = if forwarding == "cut-through" && first <= second {
                    cut_through(&packets, first, second)
                } else {
                    store_and_forward(&packets, first, second)
                };
                let case = format!("{from}G to {to}G, {bytes} B, {forwarding}");
                assert_eq!(trial.flow().fct().ps(), wires + 660_000, "{case}");
            }
        }
    }
}

#[test]
fn a_rate_that_takes_no_whole_picoseconds_does_not_drift() {
    // At 300 Gbit/s a byte takes 80/3 ps, and a packet of 4,178 bytes on the wire 111,413⅓ ps. A
    // million packets in two messages of at most 2 GiB are 10⁶·4,178 + 2·16 bytes on the wire:
    // ⌊4,178,000,032·80/3⌋ = 111,413,334,186 ps. Dropping every third would lose 333 ns.
    let bytes = 4_096_000_000;
    let packets = wire(bytes, 4_096, 2 << 30);
    let total: u64 = packets.iter().sum();
    assert_eq!((packets.len(), total), (1_000_000, 4_178_000_032));
    let odd = [
        "fabric.rate=300Gbps",
        "endpoint.nic.message_size=2GiB",
        &incast_of(bytes),
    ];
    let trial = Trial::run(SINGLE, &odd);
    assert_eq!(total * 80 / 3, 111_413_334_186);
    assert_eq!(trial.flow().fct().ps(), 111_413_334_186 + LATENCY);
}

#[test]
fn a_stored_packet_starts_on_a_whole_picosecond() {
    // A packet arrives at the switch when its last bit has, at a whole ps, and its wire time there
    // starts anew whenever the line was idle: so the end may be rounded down once more per line,
    // and never by more.
    for packets in [1, 2, 3, 100, 5_000] {
        let bytes = packets * 4_096;
        let wire = wire(bytes, 4_096, 128 << 10);
        let odd = [
            "fabric.rate=300Gbps",
            "fabric.switch.forwarding=store-and-forward",
            &incast_of(bytes),
        ];
        let trial = Trial::run(SINGLE, &odd);
        let exact = store_and_forward(&wire, 80, 80) / 3 + LATENCY;
        let late = exact - trial.flow().fct().ps();
        assert!(late <= 1, "{packets} packets: {late} ps early");
    }
}
