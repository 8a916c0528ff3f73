//! Switches whose frames wait at their inputs: who waits behind whom.

use crate::trial::Trial;
use crate::wire::FIRST_WIRE;

/// 400 Gbit/s.
const BYTE: u64 = 20;
const SLOT: u64 = FIRST_WIRE * BYTE;
/// A cable of 25 ns and half of a pipeline of 600 ns.
const HOST: u64 = 325_000;

/// Hosts 0, 1 and 2 send a frame each to host 3, and host 2 one to host 4 behind its first.
const SWITCH: &str = "
fabric:
  kind: single-switch
  hosts: 5
  switching: {kind: input-queued, queues: fifo}
  switch: {pipeline_latency: 600ns}
endpoint: {nic: {message_size: 4KiB}}
jobs:
  - name: crowd
    ranks: [0, 1, 2, 3]
    collectives: [{collective: incast, root: 3, size: 16KiB}]
  - name: behind
    ranks: [2, 4]
    collectives: [{collective: incast, root: 1, size: 8KiB}]
observe: {samples: false}
";

#[test]
fn a_frame_waits_behind_the_head_of_its_line() {
    // Three frames for host 3 arrive at once and leave in the order of inputs, one slot after the
    // other. The fourth frame arrives a slot after them and is behind the last of the three, which
    // leaves two slots after it came: it leaves three slots after the first.
    let time = |set: &[&str]| {
        let trial = Trial::run(SWITCH, set);
        trial.flows_of(1)[0].fct().ps()
    };
    let alone = 2 * HOST + 2 * SLOT;
    assert_eq!(time(&[]), alone + 2 * SLOT);
    // With a queue for each output, or another channel, or queues at outputs, it leaves at once.
    for set in [
        "fabric.switching.queues=per-output",
        "fabric.switching.channels=2",
        "fabric.switching={kind: output-queued}",
    ] {
        assert_eq!(time(&[set]), alone, "{set}");
    }
}

const CROWD: &str = "
fabric:
  kind: single-switch
  hosts: 5
  switch:
    classes:
      - class: 0
        ecn: {kmin: 100kB, kmax: 100kB, pmax: 1}
jobs: [{name: crowd, collectives: [{collective: incast, root: 4, size: 1MB}]}]
observe: {samples: false}
";

#[test]
fn a_crossbar_marks_what_a_crowded_output_marks() {
    // What waits for an output with four senders is as long wherever it waits. Frames that find
    // more than the threshold are marked as they come, or those that leave more behind as they
    // leave. The first frame passes an output queue that is not asked for it.
    let marked = |switching: &str, mark: &str| {
        let switching = format!("fabric.switching={switching}");
        let mark = format!("fabric.switch.classes[0].ecn.mark={mark}");
        let crowd = Trial::run(CROWD, &[&switching, &mark]);
        let marked = crowd.port("leaf0", "host4").marked_frames;
        assert_eq!(crowd.outcome.summary.totals.rx_marked_frames, marked);
        marked
    };
    for mark in ["enqueue", "dequeue"] {
        let outputs = marked("{kind: output-queued}", mark);
        let inputs = marked("{kind: input-queued, queues: per-output}", mark);
        assert!(outputs > 100, "{mark}: {outputs}");
        assert!(inputs.abs_diff(outputs) <= 4, "{mark}: {inputs}, {outputs}");
    }
}
