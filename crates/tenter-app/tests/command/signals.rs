//! `tenter run` and `tenter explain` where switches tell senders of long queues.

use tenter::report::read_rows;
use tenter_results::{QueueChangeRow, ReactionRow, SignalRow};

use crate::workplace::Workplace;

const SCENARIO: &str = include_str!("../../../../scenarios/remote-pfc.yaml");

#[test]
fn tables_say_what_was_sent_and_how_fast_it_acted() {
    let workplace = Workplace::new("signals-run");
    workplace.write("signals.yaml", SCENARIO);
    let run = ["run", "signals.yaml", "-o", "trial", "--threads", "1"];
    let answer = workplace.tenter(&run).expect(0);
    assert!(answer.stdout.contains("\nsignals  "), "{}", answer.stdout);
    let totals = &workplace.json("trial/summary.json")["totals"];
    assert!(totals["signal_frames"].as_u64() > Some(100), "{totals}");
    assert_eq!(totals["dropped_frames"], 0);
    let switches: Vec<SignalRow> = read_rows(&workplace.path("trial")).expect("signals");
    let names: Vec<&str> = switches.iter().map(|row| &row.node_name[..]).collect();
    assert_eq!(names, ["leaf0", "leaf1"], "spines only route");
    assert_eq!(switches[0].converted_frames, switches[1].tx_signal_frames);
    let reactions: Vec<ReactionRow> = read_rows(&workplace.path("trial")).expect("reactions");
    let told = reactions.iter().filter(|row| row.cause == "signal");
    assert_eq!(told.clone().count(), 4);
    for row in told {
        assert!(row.reaction_max < row.round_trip, "{row:?}");
    }
    // What the folder says is a scenario itself, with the target filled in.
    let config = std::fs::read_to_string(workplace.path("trial/config.yaml")).expect("the text");
    assert!(
        config.contains("mode: remote-pfc\n") && config.contains("target: 50kB"),
        "{config}"
    );
    let again = ["run", "trial/config.yaml", "-o", "again", "--threads", "2"];
    workplace.tenter(&again).expect(0);
    let digest = |folder: &str| {
        workplace.json(&format!("{folder}/summary.json"))["engine"]["digest"].clone()
    };
    assert_eq!(digest("trial"), digest("again"));
}

#[test]
fn each_mode_does_what_it_is_for() {
    let workplace = Workplace::new("signals-modes");
    workplace.write("signals.yaml", SCENARIO);
    let totals = |mode: &str| {
        let mode = format!("fabric.source_flow_control.mode={mode}");
        let run = ["run", "signals.yaml", "-o", "trial", "--set", &mode];
        workplace.tenter(&run).expect(0);
        let summary = workplace.json("trial/summary.json");
        ["signal_frames", "xoff_frames"].map(|name| summary["totals"][name].as_u64().expect(name))
    };
    assert_eq!(totals("none"), [0, 0]);
    let [signals, pauses] = totals("nic");
    assert!(
        signals > 0 && pauses == 0,
        "NICs obey without any pause frame"
    );
}

#[test]
fn what_cannot_work_is_refused_with_a_reason() {
    let workplace = Workplace::new("signals-refused");
    workplace.write("signals.yaml", SCENARIO);
    let cases = [
        (
            "fabric.switching={kind: scheduled}",
            "cannot be `remote-pfc` in a scheduled fabric",
        ),
        (
            "fabric.switching={kind: credit-based}",
            "cannot be `remote-pfc` in a credit-based fabric",
        ),
        ("fabric.source_flow_control.class=6", "class 6 is in use"),
        (
            "fabric.source_flow_control.target=100kB",
            "would have nothing to drain",
        ),
    ];
    let explained = workplace
        .tenter(&["explain", "signals.yaml"])
        .expect(0)
        .stdout;
    assert!(explained.contains("7  signals "), "{explained}");
    for (change, reason) in cases {
        let answer = workplace
            .tenter(&["validate", "signals.yaml", "--set", change])
            .expect(2);
        assert!(
            answer.stderr.contains(reason),
            "{change}: {}",
            answer.stderr
        );
    }
    let small = [
        "validate",
        "signals.yaml",
        "--set",
        "fabric.switch.queue_capacity=50kB",
    ];
    let answer = workplace.tenter(&small).expect(0);
    let said = format!("{}{}", answer.stdout, answer.stderr);
    assert!(
        said.contains("`fabric.source_flow_control` has no effect: no queue holds"),
        "{said}"
    );
}

#[test]
fn queues_are_recorded_change_by_change_on_request() {
    let workplace = Workplace::new("signals-changes");
    workplace.write("signals.yaml", SCENARIO);
    let changes = "observe.queue_changes=[leaf1:3, spine0:1]";
    let mut digests = Vec::new();
    for more in [&["--set", changes, "--threads", "2"][..], &[]] {
        let run = ["run", "signals.yaml", "-o", "trial"];
        workplace.tenter(&[&run, more].concat()).expect(0);
        digests.push(workplace.json("trial/summary.json")["engine"]["digest"].clone());
        let rows = read_rows::<QueueChangeRow>(&workplace.path("trial"));
        assert_eq!(rows.is_ok_and(|rows| rows.len() > 1_000), !more.is_empty());
    }
    assert_eq!(digests[0], digests[1], "looking changes nothing");
    for (port, reason) in [
        ("leaf9:0", "names `leaf9`, which is no switch"),
        ("leaf1:99", "its ports are 0 to 4"),
        ("leaf1", "write `NODE:PORT`"),
    ] {
        let change = format!("observe.queue_changes=[{port}]");
        let answer = workplace
            .tenter(&["validate", "signals.yaml", "--set", &change])
            .expect(2);
        assert!(answer.stderr.contains(reason), "{port}: {}", answer.stderr);
    }
}
