//! `tenter explain`, settings without effect, and runs that would not fit into memory.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::workplace::Workplace;

#[test]
fn a_scenario_is_explained_without_being_run() {
    let workplace = Workplace::with_small("explain");
    let answer = workplace.tenter(&["explain", "small.yaml"]).expect(0);
    assert_eq!(answer.stderr, "");
    for part in [
        "small, seed 1",
        "fabric: leaf-spine, 4 NICs, 4 switches, 8 cables",
        "leaf - spine: 1 cable between each of 4 pairs, at 400 Gb/s",
        "training: 4 ranks on hosts 0-3, run once; ideal times",
        "cost of a run, every transfer counted",
        "bill of materials",
        "2 leaf switches: 4 ports at 400 Gb/s",
        "not known: ports and power of the switches",
    ] {
        assert!(answer.stdout.contains(part), "{part}\n{}", answer.stdout);
    }
    assert_eq!(workplace.entries(), ["small.yaml"]);
}

#[test]
fn json_says_the_same_in_numbers() {
    let workplace = Workplace::with_small("explain-json");
    let json = |more: &[&str]| {
        let all = [&["explain", "small.yaml", "--format", "json"], more].concat();
        workplace.tenter(&all).expect(0).json()
    };
    let plain = json(&[]);
    assert_eq!(plain["fabric"]["hosts"], 4);
    assert_eq!(plain["fabric"]["tiers"][0]["oversubscription_max"], 1.0);
    // Two cables of 25 ns, a switch of 600 ns, and 4,174 + 20 bytes at 20 ps.
    let near = &plain["paths"][0];
    assert_eq!(
        (&near["switches"], &near["frame_ns"]),
        (&1.into(), &733.88.into())
    );
    // An acknowledgement of 66 + 20 bytes on the way back: 1,385.6 ns at 50 bytes each.
    assert_eq!(near["round_trip_ns"], 1_385.6);
    assert_eq!(near["bdp_bytes"], 69_280);
    // Overrides count, here a device whose ports and power somebody has said something about.
    let device = json(&["--set", "fabric.switch.profile=tomahawk5"]);
    assert_eq!(device["switch"]["profile"], "tomahawk5");
    assert_eq!(device["bill"]["switch_chips_watts"], 2_000);
    assert_eq!(device["bill"]["switches"][0]["device_percent"], 3.125);
}

#[test]
fn headroom_and_thresholds_are_those_of_the_model() {
    let workplace = Workplace::with_small("explain-pfc");
    let arguments = [
        "explain",
        "small.yaml",
        "--set",
        "fabric.flow_control=pfc+ecn",
    ];
    let format = ["--format", "json"];
    let json = workplace
        .tenter(&[&arguments[..], &format].concat())
        .expect(0)
        .json();
    let class = &json["switch"]["classes"][0];
    assert_eq!(
        (&class["class"], &class["carries"]),
        (&3.into(), &"data and control".into())
    );
    let pool = json["switch"]["pools"][0]["bytes"]
        .as_u64()
        .expect("a size");
    // An eighth of what is free: an eighth of all at first, a ninth once this account fills it.
    assert_eq!(class["threshold"]["empty_bytes"], pool / 8);
    assert_eq!(class["threshold"]["alone_bytes"], pool / 9);
    let lossless = &class["lossless"];
    let bytes = |key: &str| lossless[key].as_u64().expect("a count of bytes");
    assert!(bytes("headroom_min_bytes") > 0);
    assert!(bytes("headroom_max_bytes") >= bytes("headroom_min_bytes"));
    assert!(class["ecn"]["kmin_bytes"].as_u64() > Some(0));
    let text = workplace.tenter(&arguments).expect(0).stdout;
    assert!(text.contains("class 3 pauses by ingress"), "{text}");
}

#[test]
fn what_cannot_be_run_cannot_be_explained() {
    let workplace = Workplace::with_small("explain-broken");
    let arguments = ["explain", "small.yaml", "--set", "fabric.spines=none"];
    workplace.tenter(&arguments).expect_refusal(&["--set:1:15"]);
    let absent = workplace.tenter(&["explain", "absent.yaml"]);
    absent.expect_refusal(&["cannot read absent.yaml"]);
}

#[test]
fn settings_without_effect_are_named() {
    let workplace = Workplace::with_small("explain-idle");
    let run = ["run", "small.yaml", "-o", "trial"];
    let idle = ["--set", "endpoint.nic.control_dscp=48"];
    let note = "`endpoint.nic.control_dscp` has no effect: switches put the packets of all classes in use into one queue";
    let answer = workplace.tenter(&[&run[..], &idle].concat()).expect(0);
    let line = format!("note: {note}\n");
    assert!(answer.stdout.contains(&line), "{}", answer.stdout);
    assert_eq!(
        workplace.json("trial/summary.json")["notes"][0]["text"],
        Value::from(note)
    );
    let answer = workplace.tenter(&[&["explain", "small.yaml"][..], &idle].concat());
    assert!(answer.expect(0).stdout.contains(&line));
    // With classes of their own the packets are told apart, and nothing is to be said.
    let classes = ["--set", "fabric.flow_control=pfc"];
    let answer = workplace
        .tenter(&[&run[..], &idle, &classes].concat())
        .expect(0);
    assert!(!answer.stdout.contains("note: "), "{}", answer.stdout);
    assert_eq!(
        workplace.json("trial/summary.json")["notes"],
        Value::from(Vec::<String>::new())
    );
}

#[test]
fn the_level_that_runs_is_estimated() {
    let workplace = Workplace::new("explain-level");
    // 64 MiB to each of 31 peers: some 17,000 packets a flow at each of their links.
    let text = "
fabric: {kind: leaf-spine, leaves: 4, hosts_per_leaf: 8, spines: 8}
jobs: [{collectives: [{collective: all-to-all, size: 2GiB}]}]
observe: {samples: false}
";
    workplace.write("long.yaml", text);
    let cost = |more: &str| {
        let words = format!("explain long.yaml --format json {more}");
        workplace.words(&words).expect(0).json()["cost"].clone()
    };
    let [packets, flows] = ["--fidelity packet", "--fidelity flow"].map(cost);
    assert_eq!([&packets["level"], &flows["level"]], ["packet", "flow"]);
    assert_eq!(packets["flows"], flows["flows"]);
    let seconds = |cost: &Value| cost["wall_s"].as_f64().expect("a number");
    // 992 flows are some milliseconds, 60 million packet-hops some seconds.
    assert!(
        seconds(&packets) > 100.0 * seconds(&flows),
        "{packets} {flows}"
    );
    assert_eq!(flows["ns_per_packet_hop"], 0.0);
    let text = workplace
        .words("explain long.yaml --fidelity flow")
        .expect(0)
        .stdout;
    assert!(
        text.contains("992 flows at flow level, in place of "),
        "{text}"
    );
    // As much as packets may take by default is not reached; a second is.
    let auto = "--set engine.fidelity=auto --set engine.packets_time=1s";
    assert_eq!(cost(auto)["level"], "flow");
    let text = workplace
        .words(&format!("validate long.yaml {auto}"))
        .expect(0)
        .stdout;
    assert!(
        text.contains("`engine.fidelity: auto` is flows: packets are estimated"),
        "{text}"
    );
    assert!(text.contains(", and flows "), "{text}");
}

/// A completion time of 8 bytes is kept of each flow: 44 TB.
const ENDLESS: &str = "
fabric: {kind: single-switch, hosts: 512}
jobs:
  - iterations: 1000000
    collectives: [{collective: all-to-all, sizes: {start: 1KiB, end: 1GiB}}]
";

#[test]
fn a_run_that_does_not_fit_into_memory_is_refused() {
    if !Path::new("/proc/meminfo").exists() {
        return;
    }
    let workplace = Workplace::new("explain-memory");
    workplace.write("endless.yaml", ENDLESS);
    let explanation = ["explain", "endless.yaml", "--format", "json"];
    let explanation = workplace.tenter(&explanation).expect(0).json();
    // 512 x 511 flows a round, 21 sizes, a million rounds, 8 bytes each.
    let kept = 512 * 511 * 21 * 8_000_000_u64;
    assert!(explanation["cost"]["peak_bytes"].as_u64() > Some(kept));
    for arguments in [
        &["run", "endless.yaml"][..],
        &["run", "endless.yaml", "-o", "a/b"],
    ] {
        let answer = workplace.tenter(arguments);
        answer.expect_refusal(&["80.01 TiB of memory", "are available", "--force"]);
    }
    assert_eq!(workplace.entries(), ["endless.yaml"]);
    // What fits is run with and without.
    workplace.write("small.yaml", crate::workplace::SMALL);
    let forced = ["run", "small.yaml", "-o", "trial", "--force"];
    workplace.tenter(&forced).expect(0);
    fs::remove_dir_all(workplace.path("trial")).expect("it was written");
}

/// Many iterations of next to nothing.
const ITERATIONS: &str = "
fabric: {kind: single-switch, hosts: 4}
jobs: [{iterations: 20000, collectives: [{collective: all-to-all, size: 1KiB}]}]
observe: {samples: false}
";

#[test]
fn memory_counts_every_iteration() {
    let workplace = Workplace::new("explain-iterations");
    workplace.write("many.yaml", ITERATIONS);
    let explanation = ["explain", "many.yaml", "--format", "json"];
    let explanation = workplace.tenter(&explanation).expect(0).json();
    let run = ["run", "many.yaml", "-o", "trial"];
    workplace.tenter(&run).expect(0);
    let summary = workplace.json("trial/summary.json");
    // Where the system does not say there is nothing to compare with.
    let Some(peak) = summary["engine"]["peak_rss_bytes"].as_f64() else {
        return;
    };
    let ratio = explanation["cost"]["peak_bytes"]
        .as_f64()
        .expect("a number")
        / peak;
    assert!((1.0 / 1.5..=1.5).contains(&ratio), "{ratio}");
    // Within half a gibibyte of addresses two hundred thousand do not fit.
    let limited = "ulimit -v 524288; exec \"$0\" run many.yaml --set jobs[0].iterations=200000";
    let limited = std::process::Command::new("sh")
        .args(["-c", limited, env!("CARGO_BIN_EXE_tenter")])
        .current_dir(workplace.path("."))
        .output()
        .expect("there is a shell");
    let told = String::from_utf8_lossy(&limited.stderr);
    assert_eq!(limited.status.code(), Some(2), "{told}");
    assert!(told.contains("are available"), "{told}");
}

#[test]
fn what_takes_no_time_is_finite() {
    // Transfers within one host take none, and the job starts behind the time limit.
    let scenario = "
fabric: {kind: single-switch, hosts: 4}
endpoint: {host: {scale_up: {npus_per_host: 4}}}
jobs: [{start: 100us, collectives: [{collective: permutation, size: 100B}]}]
limits: {time: 10us}
";
    let workplace = Workplace::new("explain-no-time");
    workplace.write("within.yaml", scenario);
    let text = workplace.tenter(&["explain", "within.yaml"]).expect(0);
    assert!(!text.stdout.contains("NaN"), "{}", text.stdout);
    let explanation = ["explain", "within.yaml", "--format", "json"];
    let cost = &workplace.tenter(&explanation).expect(0).json()["cost"];
    for figure in ["packet_hops", "data_packet_hops", "wall_s"] {
        assert!(cost[figure].is_number(), "{figure}: {cost}");
    }
}
