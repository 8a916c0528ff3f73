//! `tenter run` and `tenter explain` on fabrics that send by credit.

use tenter::report::read_rows;
use tenter_results::QueueRow;

use crate::workplace::Workplace;

const SCENARIO: &str = include_str!("../../../../scenarios/credit-based.yaml");

#[test]
fn nothing_is_lost_and_nobody_is_paused() {
    let workplace = Workplace::new("credit-run");
    workplace.write("credit.yaml", SCENARIO);
    let adaptive = [
        "--set",
        "fabric.load_balancing={kind: adaptive}",
        "--set",
        "endpoint.nic.loss_recovery={kind: selective-repeat, reorder: 1024}",
    ];
    for more in [&[][..], &adaptive] {
        let mut digests = Vec::new();
        for threads in ["1", "2"] {
            let run = ["run", "credit.yaml", "-o", "trial", "--threads", threads];
            workplace.tenter(&[&run, more].concat()).expect(0);
            let summary = workplace.json("trial/summary.json");
            let totals = &summary["totals"];
            for count in ["dropped_frames", "xoff_frames", "retransmitted_frames"] {
                assert_eq!(totals[count], 0, "{count}");
            }
            digests.push(summary["engine"]["digest"].clone());
        }
        assert_eq!(digests[0], digests[1]);
        let queues: Vec<QueueRow> = read_rows(&workplace.path("trial")).expect("queues");
        for queue in &queues {
            assert!(queue.lossless);
            assert_eq!(queue.input_buffer_bytes, 128 << 10);
            assert!(queue.input_high_water_bytes <= queue.input_buffer_bytes);
        }
        // The incast has filled the input buffers on its way, and stopped its senders.
        let full = |queue: &&QueueRow| queue.input_high_water_bytes > 120_000;
        assert!(queues.iter().filter(full).count() >= 4);
        let stopped = |queue: &&QueueRow| queue.node < 32 && !queue.paused.is_zero();
        assert!(queues.iter().filter(stopped).count() >= 12);
    }
}

#[test]
fn lanes_and_what_their_credit_covers_are_explained() {
    let workplace = Workplace::new("credit-explain");
    workplace.write("credit.yaml", SCENARIO);
    let answer = workplace.tenter(&["explain", "credit.yaml"]).expect(0);
    for line in [
        "sends by credit: lane 0 with input buffers of 131,072 bytes, or 2,048 blocks; 131,072 bytes at each port",
        "all links keep their rates",
        "quantum2",
    ] {
        assert!(answer.stdout.contains(line), "{}", answer.stdout);
    }
    let small = "fabric.switching.lane_buffer=16KiB";
    let answer = workplace.tenter(&["explain", "credit.yaml", "--set", small]);
    let answer = answer.expect(0);
    assert!(
        answer.stdout.contains("may not keep theirs"),
        "{}",
        answer.stdout
    );
    assert!(
        answer.stderr.contains("to keep its rate"),
        "{}",
        answer.stderr
    );
}

#[test]
fn a_ring_of_lanes_that_wait_for_each_other_is_named() {
    let workplace = Workplace::new("credit-deadlock");
    let scenario = include_str!("../../../../scenarios/pfc-deadlock.yaml");
    workplace.write("ring.yaml", scenario);
    let by_credit = [
        "run",
        "ring.yaml",
        "-o",
        "trial",
        "--set",
        "fabric.flow_control=none",
        "--set",
        "fabric.switching={kind: credit-based}",
    ];
    let answer = workplace.tenter(&by_credit).expect(1);
    let cycle = "credit deadlock, a cyclic buffer dependency: s1:2 (class 0), which waits for s2:1 (class 0), \
                 which waits for s0:1 (class 0), which waits for the first";
    let summary = workplace.json("trial/summary.json");
    assert_eq!(summary["stopped"], cycle);
    assert!(answer.stdout.contains(cycle), "{}", answer.stdout);
    // Neither loses anything, but by the shortest paths there is no cycle.
    assert_eq!(summary["totals"]["dropped_frames"], 0);
    let direct = [&by_credit[..], &["--set", "fabric.routes=[]"]].concat();
    workplace.tenter(&direct).expect(0);
}
