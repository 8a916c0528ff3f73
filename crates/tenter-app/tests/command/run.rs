//! `tenter run`: exit codes, formats, and the trial folder.

use std::fs;

use serde_json::Value;
use tenter::report::{read_manifest, read_rows, read_summary};
use tenter_results::{CollectiveRow, FlowRow, JobRow, PortRow, SampleRow};

use crate::workplace::{Workplace, entries};

const FILES: [&str; 12] = [
    "collectives.parquet",
    "config.yaml",
    "flows.parquet",
    "jobs.parquet",
    "manifest.json",
    "notes.parquet",
    "ports.parquet",
    "queues.parquet",
    "samples.parquet",
    "summary.json",
    "switches.parquet",
    "tiers.parquet",
];

/// The digest of a run of `small.yaml` with more arguments.
fn digest(workplace: &Workplace, arguments: &[&str]) -> String {
    let mut all = vec!["run", "small.yaml", "-o", "digest", "--format", "json"];
    all.extend_from_slice(arguments);
    let answer = workplace.tenter(&all).expect(0).json();
    let digest = answer["engine"]["digest"].as_str();
    digest.expect("the answer has a digest").to_owned()
}

#[test]
fn a_trial_leaves_its_folder() {
    let workplace = Workplace::with_small("run-folder");
    let answer = workplace
        .tenter(&["run", "small.yaml", "-o", "trial"])
        .expect(0);
    assert_eq!(answer.stderr, "");
    for part in [
        "small, seed 1",
        "training: 4 ranks",
        "all-to-all, parallel",
        "trial    trial",
    ] {
        assert!(answer.stdout.contains(part), "{part}\n{}", answer.stdout);
    }
    let folder = workplace.path("trial");
    assert_eq!(entries(&folder), FILES);
    let manifest = read_manifest(&folder).expect("the manifest is there");
    let summary = read_summary(&folder).expect("the summary is there");
    assert!(manifest.complete && summary.complete && manifest.stopped.is_none());
    assert_eq!(manifest.digest.as_ref(), Some(&summary.engine.digest));
    assert!(answer.stdout.contains(&summary.engine.digest));
    // Two all-to-alls of 12 transfers and two rings of 6 · 4; 4 + 2·4 + 2·2 ports.
    let flows: Vec<FlowRow> = read_rows(&folder).expect("flows");
    assert_eq!(flows.len(), 2 * 12 + 2 * 24);
    let collectives: Vec<CollectiveRow> = read_rows(&folder).expect("collectives");
    assert_eq!(collectives.len(), 4);
    assert_eq!(collectives, summary.jobs[0].collectives);
    let jobs: Vec<JobRow> = read_rows(&folder).expect("jobs");
    assert_eq!((jobs.len(), jobs[0].complete), (1, true));
    let ports: Vec<PortRow> = read_rows(&folder).expect("ports");
    assert_eq!(ports.len(), 4 + 2 * 4 + 2 * 2);
    let samples: Vec<SampleRow> = read_rows(&folder).expect("samples");
    assert!(samples.len() > 10);
    assert_eq!(workplace.entries(), ["small.yaml", "trial"]);
}

#[test]
fn json_is_the_summary_file() {
    let workplace = Workplace::with_small("run-json");
    let arguments = ["run", "small.yaml", "-o", "trial", "--format", "json"];
    let answer = workplace.tenter(&arguments).expect(0);
    assert_eq!(answer.stderr, "");
    let json = answer.json();
    assert_eq!(json, workplace.json("trial/summary.json"));
    let collectives = json["jobs"][0]["collectives"].as_array().expect("a list");
    assert_eq!(collectives.len(), 4);
    for row in collectives {
        for key in [
            "completion_time_ns",
            "algbw_gbytes_per_s",
            "busbw_gbytes_per_s",
            "line_rate_percent",
            "percent_of_ideal",
        ] {
            assert!(
                row[key].as_f64().is_some_and(|value| value > 0.0),
                "{key}: {row}"
            );
        }
    }
    let engine = &json["engine"];
    for key in [
        "packet_hops",
        "threads",
        "node_visits",
        "windows",
        "window_ps",
    ] {
        assert!(
            engine[key].as_u64().is_some_and(|value| value > 0),
            "{key}: {engine}"
        );
    }
    for key in ["wall_s", "set_up_s", "simulated_ns"] {
        assert!(
            engine[key].as_f64().is_some_and(|value| value > 0.0),
            "{key}: {engine}"
        );
    }
    assert_eq!(engine["digest"].as_str().map(str::len), Some(32));
    if cfg!(target_os = "linux") {
        assert!(
            engine["peak_rss_bytes"].as_u64() > Some(1 << 20),
            "{engine}"
        );
    }
}

#[test]
fn csv_is_one_line_per_collective() {
    let workplace = Workplace::with_small("run-csv");
    let arguments = ["run", "small.yaml", "-o", "trial", "--format", "csv"];
    let text = workplace.tenter(&arguments).expect(0).stdout;
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 5, "{text}");
    assert!(lines[0].contains(",completion_time_ns,"));
    let columns = lines[0].split(',').count();
    assert!(lines.iter().all(|line| line.split(',').count() == columns));
}

#[test]
fn threads_change_nothing() {
    let workplace = Workplace::with_small("run-threads");
    let run = |threads: &str| {
        let arguments = [
            "run",
            "small.yaml",
            "-o",
            "trial",
            "--format",
            "json",
            "--threads",
            threads,
        ];
        let mut answer = workplace.tenter(&arguments).expect(0).json();
        let engine = answer
            .as_object_mut()
            .and_then(|object| object.remove("engine"));
        let digest = engine.expect("the answer says how it ran")["digest"].clone();
        let flows: Vec<FlowRow> = read_rows(&workplace.path("trial")).expect("flows");
        (answer, digest, flows)
    };
    let one = run("1");
    for threads in ["2", "3", "16"] {
        assert_eq!(run(threads), one, "{threads} threads");
    }
}

#[test]
fn seed_and_overrides_are_applied_and_kept() {
    let workplace = Workplace::with_small("run-set");
    let plain = digest(&workplace, &[]);
    assert_eq!(digest(&workplace, &[]), plain, "twice the same");
    assert_ne!(digest(&workplace, &["--seed", "2"]), plain);
    // The seed of the scenario and that of the command are the same thing.
    let by_command = digest(&workplace, &["--seed", "18446744073709551615"]);
    let by_override = digest(&workplace, &["--set", "seed=18446744073709551615"]);
    assert_eq!(by_command, by_override);
    let set = [
        "--set",
        "fabric.uplink_rate=100Gbps",
        "--set",
        "jobs[0].queue_pairs=2",
    ];
    assert_ne!(digest(&workplace, &set), plain);
    let config = fs::read_to_string(workplace.path("digest/config.yaml")).expect("it is there");
    for part in [
        "uplink_rate: 100Gbps",
        "queue_pairs: 2",
        "message_size: 128KiB",
    ] {
        assert!(config.contains(part), "{part}\n{config}");
    }
}

#[test]
fn the_effective_configuration_runs_again() {
    let workplace = Workplace::with_small("run-again");
    let set = [
        "--seed",
        "7",
        "--set",
        "endpoint.nic.start_skew_max=1us",
        "--set",
        "jobs[0].collectives[0].collective=permutation",
    ];
    let first = digest(&workplace, &set);
    fs::copy(
        workplace.path("digest/config.yaml"),
        workplace.path("again.yaml"),
    )
    .expect("a copy");
    let arguments = ["run", "again.yaml", "-o", "again", "--format", "json"];
    let answer = workplace.tenter(&arguments).expect(0).json();
    assert_eq!(answer["engine"]["digest"], Value::from(first));
    let [config, again] =
        ["again.yaml", "again/config.yaml"].map(|name| fs::read(workplace.path(name)));
    assert_eq!(config.expect("first"), again.expect("second"));
}

#[test]
fn a_long_matrix_lies_beside_the_effective_configuration() {
    let workplace = Workplace::new("run-long-matrix");
    // 190·189 sends of some 10 letters are more than what is written out.
    let row = |src: u32| {
        let bytes = (0..190).map(|dst| if src == dst { "0" } else { "64" });
        bytes.collect::<Vec<_>>().join(",") + "\n"
    };
    workplace.write("all.csv", (0..190).map(row).collect::<String>());
    workplace.write(
        "long.yaml",
        "fabric: {kind: single-switch, hosts: 190}\n\
         jobs: [{pattern: {kind: matrix, file: all.csv, steps: 1}}]\n\
         observe: {samples: false}\n",
    );
    let run = |file: &str, folder: &str| {
        let answer = workplace.tenter(&["run", file, "-o", folder, "--format", "json"]);
        answer.expect(0).json()["engine"]["digest"].clone()
    };
    let first = run("long.yaml", "trial");
    let config = fs::read_to_string(workplace.path("trial/config.yaml")).expect("it is there");
    assert!(config.contains("file: sends-0.csv") && config.len() < 10_000);
    assert_eq!(run("trial/config.yaml", "again"), first);
    // A trial without such a file does not keep one.
    workplace.write("small.yaml", "fabric: {kind: single-switch, hosts: 2}\njobs: [{collectives: [{collective: send-recv, size: 64KiB}]}]\n");
    run("small.yaml", "again");
    assert!(!workplace.path("again/sends-0.csv").exists());
}

#[test]
fn json_and_toml_scenarios_are_the_same_trial() {
    let workplace = Workplace::new("run-notations");
    workplace.write("a.yaml", "fabric: {kind: single-switch, hosts: 4}\njobs: [{collectives: [{collective: all-to-all, size: 64KiB}]}]\n");
    workplace.write("a.json", r#"{"fabric": {"kind": "single-switch", "hosts": 4}, "jobs": [{"collectives": [{"collective": "all-to-all", "size": "64KiB"}]}]}"#);
    workplace.write("a.toml", "[fabric]\nkind = \"single-switch\"\nhosts = 4\n[[jobs]]\ncollectives = [{collective = \"all-to-all\", size = \"64KiB\"}]\n");
    let digests = ["a.yaml", "a.json", "a.toml"].map(|file| {
        let answer = workplace.tenter(&["run", file, "-o", "trial", "--format", "json"]);
        answer.expect(0).json()["engine"]["digest"].clone()
    });
    assert!(
        digests.iter().all(|digest| *digest == digests[0]),
        "{digests:?}"
    );
}

#[test]
fn without_a_folder_each_trial_gets_a_new_one() {
    let workplace = Workplace::with_small("run-default");
    for folder in ["trials/small", "trials/small-2", "trials/small-3"] {
        let answer = workplace.tenter(&["run", "small.yaml"]).expect(0);
        assert!(
            answer.stdout.contains(&format!("trial    {folder}\n")),
            "{}",
            answer.stdout
        );
        assert_eq!(entries(&workplace.path(folder)), FILES);
    }
    // A scenario without a name is called after its file.
    let answer = workplace.tenter(&["run", "small.yaml", "--set", "name=''"]);
    assert!(answer.expect(0).stdout.starts_with("seed 1\n"));
    assert!(workplace.path("trials/small-4").is_dir());
}

#[test]
fn a_trial_may_replace_a_trial_and_nothing_else() {
    let workplace = Workplace::with_small("run-replace");
    workplace
        .tenter(&["run", "small.yaml", "-o", "trial"])
        .expect(0);
    workplace
        .tenter(&["run", "small.yaml", "-o", "trial", "--seed", "2"])
        .expect(0);
    assert_eq!(workplace.json("trial/summary.json")["seed"], 2);
    // Somebody's folder.
    workplace.write("mine/precious.txt", "do not touch");
    let answer = workplace.tenter(&["run", "small.yaml", "-o", "mine"]);
    answer.expect_refusal(&[
        "mine",
        "not a trial folder",
        "choose another folder with -o",
    ]);
    assert_eq!(entries(&workplace.path("mine")), ["precious.txt"]);
    let kept = fs::read_to_string(workplace.path("mine/precious.txt"));
    assert_eq!(kept.expect("still there"), "do not touch");
    // A file, and a path below one.
    for place in ["small.yaml", "small.yaml/below"] {
        let answer = workplace.tenter(&["run", "small.yaml", "-o", place]);
        answer.expect_refusal(&[place, "choose another folder with -o"]);
    }
    assert_eq!(workplace.entries(), ["mine", "small.yaml", "trial"]);
    // An empty folder is as good as none.
    fs::create_dir(workplace.path("empty")).expect("a folder can be made");
    workplace
        .tenter(&["run", "small.yaml", "-o", "empty"])
        .expect(0);
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let workplace = Workplace::with_small("run-permission");
    let closed = workplace.path("closed");
    fs::create_dir(&closed).expect("a folder can be made");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o555)).expect("modes can be set");
    // To the superuser no folder is closed.
    if fs::write(closed.join("probe"), "").is_err() {
        for place in ["closed", "closed/below"] {
            let answer = workplace.tenter(&["run", "small.yaml", "-o", place]);
            answer.expect_refusal(&["closed", "choose a folder you may write to with -o"]);
        }
        assert_eq!(entries(&closed), Vec::<String>::new());
    }
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).expect("modes can be set");
}

/// Two flows into a queue of ten packets: the first keeps it full, and the second one's QP gives up
/// (as computed in the closed-form tests).
const HOPELESS: &str = "
fabric: {kind: single-switch, hosts: 3, switch: {queue_capacity: 41740B}}
endpoint: {nic: {message_size: 4KiB, retransmission_timeout: 50us, retry_count: 3}}
jobs:
  - {name: lucky, ranks: [host0, host1], collectives: [{collective: incast, size: 24000KiB}]}
  - {name: hopeless, ranks: [host0, host2], collectives: [{collective: incast, size: 240KiB}]}
";

#[test]
fn a_job_that_is_not_completed_is_exit_code_one() {
    let workplace = Workplace::new("run-hopeless");
    workplace.write("hopeless.yaml", HOPELESS);
    let answer = workplace
        .tenter(&["run", "hopeless.yaml", "-o", "trial"])
        .expect(1);
    assert!(
        answer
            .stderr
            .contains("error: job `hopeless` was not completed\n")
    );
    let parts = [
        "queue pair 0 of rank 1 (host2) to rank 0 (host0) gave up at",
        "after 3 retries",
    ];
    for part in parts {
        assert!(answer.stdout.contains(part), "{part}\n{}", answer.stdout);
    }
    assert!(answer.stdout.contains("NOT COMPLETE"), "{}", answer.stdout);
    assert!(!answer.stderr.contains("`lucky`"));
    let summary = workplace.json("trial/summary.json");
    assert_eq!(summary["complete"], false);
    assert_eq!(summary["jobs"][0]["complete"], true);
    assert_eq!(summary["jobs"][1]["complete"], false);
    assert_eq!(summary["jobs"][1]["jct_ns"], Value::Null);
    assert_eq!(workplace.json("trial/manifest.json")["complete"], false);
}

#[test]
fn a_ring_of_switches_that_wait_for_each_other_is_named() {
    let workplace = Workplace::new("run-deadlock");
    let scenario = include_str!("../../../../scenarios/pfc-deadlock.yaml");
    workplace.write("ring.yaml", scenario);
    let answer = workplace
        .tenter(&["run", "ring.yaml", "-o", "trial"])
        .expect(1);
    // Clockwise s0 sends to s1 through its port 1, s1 to s2 through port 2, s2 to s0 through
    // port 1.
    let cycle = "PFC deadlock, a cyclic buffer dependency: s1:2 (class 3), which waits for s2:1 (class 3), \
                 which waits for s0:1 (class 3), which waits for the first";
    let summary = workplace.json("trial/summary.json");
    assert_eq!(summary["stopped"], cycle);
    assert!(answer.stdout.contains(cycle), "{}", answer.stdout);
    assert!(
        answer
            .stdout
            .contains("rank 0 waits for 32MiB that rank 1 posted")
    );
    assert!(
        answer
            .stderr
            .contains("error: job `first` was not completed\n")
    );
    assert_eq!(summary["totals"]["dropped_frames"], 0);
    // At once: the jobs alone would take 0.7 ms.
    assert!(
        summary["engine"]["simulated_ns"].as_f64() < Some(500_000.0),
        "{summary}"
    );
    // By the shortest paths there is no cycle.
    let direct = [
        "run",
        "ring.yaml",
        "-o",
        "trial",
        "--set",
        "fabric.routes=[]",
    ];
    workplace.tenter(&direct).expect(0);
}

#[test]
fn pools_that_wait_for_each_other_are_a_cycle_too() {
    // Direct links, hosts twice as fast as these, and a trigger on the whole pool: what one host
    // sends fills its switch, which pauses the switch behind it, all of it for its own host's
    // frames. No group of the ring holds anything, and yet nothing moves.
    let workplace = Workplace::new("run-pools");
    let scenario = include_str!("../../../../scenarios/pfc-deadlock.yaml");
    workplace.write("ring.yaml", scenario);
    let class = "fabric.switch.classes=[{class: 3, limit: 100kB, lossless: {trigger: pool}}]";
    let set = [
        "fabric.routes=[]",
        "fabric.flow_control=none",
        "fabric.switch.buffer={size: 64MB}",
        class,
        "fabric.links[0].rate=800Gbps",
        "fabric.links[1].rate=800Gbps",
        "fabric.links[2].rate=800Gbps",
        "limits.time=50ms",
    ];
    let set = set.iter().flat_map(|set| ["--set", set]);
    let arguments: Vec<&str> = ["run", "ring.yaml", "-o", "trial"]
        .into_iter()
        .chain(set)
        .collect();
    workplace.tenter(&arguments).expect(1);
    let summary = workplace.json("trial/summary.json");
    let stopped = summary["stopped"].as_str().unwrap_or_default();
    assert!(stopped.starts_with("PFC deadlock"), "{stopped}");
}

#[test]
fn a_time_limit_is_exit_code_one() {
    let workplace = Workplace::with_small("run-limit");
    let arguments = [
        "run",
        "small.yaml",
        "-o",
        "trial",
        "--set",
        "limits.time=20us",
    ];
    let answer = workplace.tenter(&arguments).expect(1);
    assert!(
        answer
            .stdout
            .contains("NOT COMPLETE  the time limit of 20us was reached")
    );
    let summary = workplace.json("trial/summary.json");
    assert_eq!(summary["stopped"], "the time limit of 20us was reached");
    assert_eq!(summary["stopped_by"], "time-limit");
    assert_eq!(summary["engine"]["simulated_ns"], 20_000.0);
    // What was done by then is there: the first all-to-all of 16 KiB takes a few microseconds.
    let rows = summary["jobs"][0]["collectives"]
        .as_array()
        .expect("a list");
    assert_eq!(rows[0]["complete"], true);
    assert_eq!(rows[rows.len() - 1]["complete"], false);
    let flows: Vec<FlowRow> = read_rows(&workplace.path("trial")).expect("flows");
    assert!(flows.len() >= 12);
}

#[test]
fn unreachable_ranks_are_refused_before_there_is_a_folder() {
    let workplace = Workplace::new("run-unreachable");
    workplace.write(
        "split.yaml",
        "
fabric:
  kind: explicit
  nodes: [{name: a}, {name: b}, {name: x, kind: switch}, {name: y, kind: switch}]
  links: [{a: a, b: x}, {a: b, b: y}]
jobs: [{collectives: [{collective: all-to-all, size: 1MiB}]}]
",
    );
    let answer = workplace.tenter(&["run", "split.yaml", "-o", "trial"]);
    answer.expect_refusal(&["a", "b"]);
    assert_eq!(workplace.entries(), ["split.yaml"]);
}

#[test]
fn wrong_commands_say_what_is_right() {
    let workplace = Workplace::with_small("run-usage");
    let cases: [(&[&str], &str); 9] = [
        (&["run"], "<FILE>"),
        (&["runn"], "'run'"),
        (&["run", "absent.yaml"], "absent.yaml: check the path"),
        (&["run", "."], "it is a folder"),
        (&["run", "small.yaml", "--threads", "0"], "1..=256"),
        (
            &["run", "small.yaml", "--format", "xml"],
            "table, json, csv",
        ),
        (&["run", "small.yaml", "--seed", "1x"], "whole number"),
        (
            &["run", "small.yaml", "--set", "fabric.spines"],
            "PATH=VALUE",
        ),
        (
            &["run", "small.yaml", "--set", "fabric.spine=3"],
            "did you mean `spines`?",
        ),
    ];
    for (arguments, part) in cases {
        workplace.tenter(arguments).expect_refusal(&[part]);
    }
    assert_eq!(workplace.entries(), ["small.yaml"]);
}

#[test]
fn without_a_command_it_says_how_to_begin() {
    let workplace = Workplace::new("run-welcome");
    let answer = workplace.tenter(&[]).expect(0);
    assert!(answer.stdout.contains("tenter new "));
    for arguments in [
        &["help"][..],
        &["--help"],
        &["help", "run"],
        &["run", "--help"],
    ] {
        let answer = workplace.tenter(arguments).expect(0);
        assert!(answer.stdout.contains("Usage: tenter"), "{}", answer.stdout);
    }
    let answer = workplace.tenter(&["--version"]).expect(0);
    assert_eq!(
        answer.stdout,
        format!("tenter {}\n", env!("CARGO_PKG_VERSION"))
    );
}
