//! PCIe to host memory: what DMA slows down, and how much.

use crate::trial::Trial;

/// One sender and one receiver; each message is one packet of 4,096 bytes, 4,174 on the wire and
/// 4,480 on PCIe.
const PAIR: &str = "
fabric:
  kind: single-switch
  hosts: 2
  host_delay: 25ns
  switch: {pipeline_latency: 600ns, classes: [{class: 3, limit: 200kB, lossless: true}]}
endpoint:
  nic:
    message_size: 4KiB
    retransmission_timeout: 1s
    transmit_latency: 7ns
    receive_latency: 11ns
    receive_buffer: {capacity: 512KiB, xoff: 128KiB, xon: 96KiB}
    pcie: {peak: 500Gbps}
jobs: [{collectives: [{collective: incast, size: 256MiB}]}]
observe: {samples: false}
";

const FRAMES: u64 = 32_768;
/// From the start of a frame to its end at the receiver: 7 + 25 + 600 + 25 + 11 ns and the frame.
const FLIGHT: u64 = 668_000 + 4_194 * 20;
/// 4,480 bytes at 250 Gbit/s.
const HALF: u64 = 4_480 * 32;

#[test]
fn a_receiver_takes_what_dma_writes_and_pauses_the_rest_of_the_time() {
    // Payload comes in at 250 · 4,096/4,480 = 228.6 Gbit/s. The buffer never runs empty (96 KiB
    // last 3.4 us, and new frames come 1.7 us after an XON), so the last frame is in host memory
    // when the first has arrived and all have been written one after the other, to the picosecond.
    let impairment = "endpoint.nic_impairments=[{host: host0, dma_write: 50%}]";
    let trial = Trial::run(PAIR, &[impairment]);
    let totals = &trial.outcome.summary.totals;
    assert_eq!((totals.dropped_frames, totals.nic_dropped_frames), (0, 0));
    let time = FLIGHT + FRAMES * HALF;
    assert_eq!(trial.flow().fct().ps(), time);
    // A frame takes 83.88 ns on the wire and 143.36 ns on PCIe: the wire is busy 58.5 % of the
    // time, and for the rest the NIC pauses the leaf, and the leaf the sender; a little longer, for
    // a frame that is on the wire when a pause begins goes on.
    let share = 1.0 - 83.88 / 143.36;
    for (from, to) in [("leaf0", "host0"), ("host1", "leaf0")] {
        let port = trial.port(from, to);
        let paused = port.paused.ps() as f64 / time as f64;
        let longer = port.rx_xon_frames as f64 * 83_880.0 / time as f64;
        assert!(
            share - 0.005 <= paused && paused <= share + longer + 0.005,
            "{from}: paused {paused:.4}, expected {share:.4} + {longer:.4}"
        );
    }
}

#[test]
fn a_sender_sends_what_dma_reads() {
    // A frame leaves when the payload of the one before it has been read.
    let impairment = "endpoint.nic_impairments=[{host: host1, dma_read: 50%}]";
    let trial = Trial::run(PAIR, &[impairment]);
    assert_eq!(trial.flow().fct().ps(), (FRAMES - 1) * HALF + FLIGHT);
    assert_eq!(trial.outcome.summary.totals.xoff_frames, 0);
}

#[test]
fn pcie_that_keeps_up_changes_nothing() {
    // Of all payloads 3,841 bytes, with 16 packets of which one has a byte, take longest on PCIe:
    // 4,225 bytes against 3,923 on the wire, so it takes 430.8 Gbit/s to keep up.
    let trial = Trial::run(PAIR, &["endpoint.nic_impairments=[{dma_write: 87%}]"]);
    let without = Trial::run(
        PAIR,
        &["endpoint.nic.pcie=none", "endpoint.nic.receive_buffer=none"],
    );
    assert_eq!(trial.outcome.digest, without.outcome.digest);
    assert_eq!(trial.flow().fct().ps(), (FRAMES - 1) * 4_194 * 20 + FLIGHT);
}

#[test]
fn half_of_pcie_is_a_ratio_of_1_74_on_one_switch() {
    // All-to-all of 16 on one switch with room for everything, messages of 128 KiB: with 22 bytes
    // of overhead payload comes in at 250 · 256/278 = 230.2 Gbit/s, 400/230.2 = 1.7375; what leads
    // up to the first frame is 752 ns of 0.67 ms, a thousandth. Without the impairment headers
    // remain: 4,178/4,096 and 16 bytes for each message.
    const MESH: &str = "
fabric: {kind: single-switch, hosts: 16, flow_control: pfc}
endpoint:
  nic: {pcie: {peak: 500Gbps, tlp_overhead: 22B}}
  nic_impairments: [{job: a, dma_write: 50%}]
jobs: [{name: a, collectives: [{collective: all-to-all, size: 32MiB}]}]
observe: {samples: false}
";
    let trial = Trial::run(MESH, &[]);
    let ratio = trial.collective(0).ideal_ratio.expect("it has ended");
    assert!((1.7375..1.7475).contains(&ratio), "{ratio}");
    assert_eq!(trial.outcome.jobs[0].ideal_ratio, Some(ratio));
    let flows = trial.collective(0);
    let max = flows.flow_ratio_max.expect("flows have ended");
    // The last flow ends with the collective, but for a millionth.
    assert!((max - ratio).abs() < 2e-6, "{max} and {ratio}");
    assert!(flows.flow_ratio_p50 <= flows.flow_ratio_p99);
    let whole = Trial::run(MESH, &["endpoint.nic_impairments=[]"]);
    let ratio = whole.collective(0).ideal_ratio.expect("it has ended");
    assert!((1.0201..1.0230).contains(&ratio), "{ratio}");
}
