//! The error of flow level on the corpus: the table that trials print, and that of the page.

#![allow(missing_docs, reason = "tests")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use tenter::explain::known_error;
use tenter::{
    FidelityClass, FidelityRow, KnownError, LevelErrors, Scenario, compare_levels, corpus_scenario,
    fidelity_csv, fidelity_rows,
};
use tenter_results::NoteCode;

/// Scenarios of the corpus that the table is measured on: those with the seeds from 1.
const SCENARIOS: u64 = 200;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The errors of all scenarios, in the order of their seeds.
fn errors() -> Vec<(FidelityClass, LevelErrors)> {
    let next = AtomicU64::new(1);
    let found = Mutex::new(Vec::new());
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed > SCENARIOS {
                return;
            }
            let both = compare_levels(&corpus_scenario(seed), 1);
            let both = both.unwrap_or_else(|error| panic!("corpus-{seed}: {error}"));
            let of_seed = (seed, (both.class(), both.errors()));
            found.lock().expect("no thread has panicked").push(of_seed);
        }
    };
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(work);
        }
    });
    let mut found = found.into_inner().expect("no thread has panicked");
    found.sort_by_key(|(seed, _)| *seed);
    found.into_iter().map(|(_, errors)| errors).collect()
}

fn markdown(rows: &[FidelityRow]) -> String {
    let mut text = "\n| fabric | load | trials | JCT: bias | mean | P95 | worst | FCT P50: mean | FCT P99: mean |\n| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n".to_owned();
    for FidelityRow {
        class,
        trials,
        jct,
        fct_p50,
        fct_p99,
    } in rows
    {
        let _ = writeln!(
            text,
            "| {} | {} | {trials} | {:+.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} |",
            class.fabric,
            class.load,
            jct.bias,
            jct.mean,
            jct.p95,
            jct.worst,
            fct_p50.mean,
            fct_p99.mean,
        );
    }
    text.push('\n');
    text
}

/// A file with what it should have between two marks, or as a whole.
fn expect(path: &str, text: &str, marks: Option<[&str; 2]>) {
    let file = root().join(path);
    let now = fs::read_to_string(&file).expect("a file of the repository");
    let expected = match marks {
        None => text.to_owned(),
        Some([begin, end]) => {
            let (before, rest) = now.split_once(begin).expect("the mark before the table");
            let (_, after) = rest.split_once(end).expect("the mark behind the table");
            format!("{before}{begin}{text}{end}{after}")
        }
    };
    if now == expected {
        return;
    }
    assert!(
        std::env::var_os("UPDATE_EXPECTED").is_some(),
        "{path} is not what the corpus gives; look at the differences and run with UPDATE_EXPECTED=1:\n{text}"
    );
    fs::write(&file, expected).expect("a file of the repository can be written");
}

#[test]
fn the_table_of_errors_is_that_of_the_corpus() {
    // What two jobs do to each other is not known from two that are alike.
    let mut errors = errors();
    errors.retain(|(class, _)| class.load != "mix");
    let rows = fidelity_rows(&errors);
    expect(
        "crates/tenter/src/explain/fidelity.csv",
        &fidelity_csv(&rows),
        None,
    );
    let marks = ["<!-- errors -->\n", "<!-- end of errors -->"];
    expect("docs/flow-level.md", &markdown(&rows), Some(marks));
}

fn known(text: &str) -> Option<KnownError> {
    let plan = Scenario::from_yaml(text.to_owned()).resolve();
    let plan = plan.unwrap_or_else(|error| panic!("{error}"));
    known_error(plan.resolved())
}

/// Two NICs send to a third, one by one queue pair and one by seven: with PFC each has half of the
/// link, as pauses are by ingress port, and at flow level an eighth and seven.
const UNEQUAL: &str = "
fabric: {kind: single-switch, hosts: 3, rate: 400Gbps, flow_control: pfc}
jobs:
  - {name: one, ranks: [2, 0], queue_pairs: 1, collectives: [{collective: incast, size: 64MiB}]}
  - {name: seven, ranks: [2, 1], queue_pairs: 7, collectives: [{collective: incast, size: 448MiB}]}
";

#[test]
fn no_kind_lends_another_its_error() {
    let leaf_spine = |fabric: &str, nic: &str, jobs: &str| {
        format!(
            "fabric: {{kind: leaf-spine, leaves: 2, hosts_per_leaf: 4, spines: 2, {fabric}}}\nendpoint: {{nic: {{{nic}}}}}\njobs:\n  - {{name: a, ranks: 4, collectives: [{{collective: all-to-all, size: 1MiB}}]}}\n{jobs}"
        )
    };
    let selective = "loss_recovery: {kind: selective-repeat, reorder: 1024}";
    let ecmp = "load_balancing: {kind: ecmp}";
    let of_one = known(&leaf_spine(ecmp, "", "")).expect("it is measured");
    assert_eq!(of_one.class.to_string(), "ecmp, collectives");
    let spray = "load_balancing: {kind: queue-aware-spray}";
    assert!(known(&leaf_spine(spray, selective, "")).is_some());
    // Measured without pauses only.
    let paused = format!("flow_control: pfc, {spray}");
    assert_eq!(known(&leaf_spine(&paused, selective, "")), None);
    for balancing in ["flowlet", "round-robin-spray"] {
        let fabric = format!("load_balancing: {{kind: {balancing}}}");
        assert_eq!(
            known(&leaf_spine(&fabric, selective, "")),
            None,
            "{balancing}"
        );
    }
    let control = "congestion_control: swift, acknowledge: per-packet";
    assert_eq!(known(&leaf_spine("flow_control: pfc", control, "")), None);
    for other in [
        "  - {name: b, ranks: 4, free_hosts: true, collectives: [{collective: incast, size: 1MiB}]}\n",
        "  - {name: b, ranks: 4, free_hosts: true, background: true, collectives: [{collective: all-to-all, size: 1MiB}]}\n",
        "  - {name: b, workload: {sizes: websearch-hpcc, arrivals: poisson, load: 0.2, pairs: [{from: [0-7], to: [0-7]}], duration: 100us}}\n",
        "faults: {convergence: 5us, events: [{link: leaf0-spine0, down: 40us, up: 200us}]}\n",
    ] {
        assert_eq!(known(&leaf_spine(ecmp, "", other)), None, "{other}");
    }
    assert_eq!(known(UNEQUAL), None);
}

/// Jobs, loads and background jobs beside each other, on which flow level is off by more than half.
const MIXES: [&str; 4] = [
    // flowlets
    "
name: r71
seed: 71
fabric:
  kind: leaf-spine
  leaves: 3
  hosts_per_leaf: 6
  spines: 4
  host_rate: 100Gbps
  uplink_rate: 100Gbps
  flow_control: pfc
  load_balancing: {kind: flowlet}
endpoint:
  nic:
    loss_recovery: {kind: selective-repeat, reorder: 1024}
jobs:
  - {name: j0, ranks: 4, placement: random, free_hosts: true, start: 20us, iterations: 2, queue_pairs: 1, collectives: [{collective: all-reduce, algorithm: double-binary-tree, size: 2048KiB}]}
  - {name: j1, ranks: 8, placement: random, free_hosts: true, start: 50us, iterations: 2, queue_pairs: 2, collectives: [{collective: broadcast, size: 256KiB}]}
  - {name: j2, ranks: 6, placement: random, free_hosts: true, start: 20us, iterations: 2, queue_pairs: 1, collectives: [{collective: all-reduce, algorithm: ring, size: 512KiB}]}
  - {name: bg, ranks: 8, placement: random, background: true, collectives: [{collective: permutation, size: 512KiB}]}
observe: {samples: false}
",
    // ECMP with pauses
    "
name: r25
seed: 25
fabric:
  kind: leaf-spine
  leaves: 3
  hosts_per_leaf: 8
  spines: 4
  host_rate: 100Gbps
  uplink_rate: 100Gbps
  flow_control: pfc
  load_balancing: {kind: ecmp}
endpoint:
  nic:
    start_skew_max: 5us
jobs:
  - {name: j0, ranks: 4, placement: random, free_hosts: true, start: 50us, iterations: 1, queue_pairs: 1, collectives: [{collective: all-to-all, algorithm: pairwise, size: 1024KiB}, {collective: all-reduce, size: 1024KiB, compute: 0us}]}
  - {name: mix, workload: {sizes: facebook-hadoop-hpcc, arrivals: poisson, load: 0.4, pairs: [{from: [0-23], to: [0-23]}], duration: 200us}}
  - {name: bg, ranks: 8, placement: random, background: true, collectives: [{collective: incast, size: 512KiB}]}
observe: {samples: false}
",
    // spraying in turn with pauses
    "
name: r56
seed: 56
fabric:
  kind: rail
  servers: 8
  nics_per_server: 4
  spines: 2
  host_rate: 100Gbps
  uplink_rate: 100Gbps
  flow_control: pfc
  load_balancing: {kind: round-robin-spray}
endpoint:
  nic:
    loss_recovery: {kind: selective-repeat, reorder: 1024}
    start_skew_max: 5us
jobs:
  - {name: j0, ranks: 8, placement: packed, free_hosts: true, start: 50us, iterations: 2, queue_pairs: 2, collectives: [{collective: all-reduce, algorithm: ring, size: 2048KiB}]}
  - {name: j1, ranks: 4, placement: random, free_hosts: true, start: 50us, iterations: 1, queue_pairs: 2, collectives: [{collective: gather, size: 256KiB}, {collective: all-reduce, size: 256KiB, compute: 30us}]}
  - {name: mix, workload: {sizes: websearch-hpcc, arrivals: poisson, load: 0.4, pairs: [{from: [0-31], to: [0-31]}], duration: 200us}}
observe: {samples: false}
",
    // the shortest queue
    "
name: r75
seed: 75
fabric:
  kind: rail
  servers: 4
  nics_per_server: 4
  spines: 2
  host_rate: 200Gbps
  uplink_rate: 200Gbps
  load_balancing: {kind: adaptive}
endpoint:
  nic:
    loss_recovery: {kind: selective-repeat, reorder: 1024}
    retransmission_timeout: 300us
jobs:
  - {name: j0, ranks: 12, placement: round-robin, free_hosts: true, start: 0us, iterations: 2, queue_pairs: 1, collectives: [{collective: reduce-scatter, algorithm: ring, size: 512KiB}]}
  - {name: mix, workload: {sizes: alistorage-2019, arrivals: poisson, load: 0.4, pairs: [{from: [0-15], to: [0-15]}], duration: 100us}}
  - {name: bg, ranks: 8, placement: random, background: true, collectives: [{collective: all-to-all, size: 512KiB}]}
observe: {samples: false}
",
];

#[test]
fn no_error_is_greater_than_the_worst_that_is_printed() {
    for text in MIXES.into_iter().chain([UNEQUAL]) {
        let scenario = Scenario::from_yaml(text.to_owned());
        let both = compare_levels(&scenario, 1).unwrap_or_else(|error| panic!("{error}"));
        let errors = both.errors().jct.into_iter().map(f64::abs);
        let worst = errors.fold(0.0, f64::max);
        assert!(
            worst > 50.0,
            "{worst}: flow level has become better; print its error"
        );
        let plan = both.flows.plan();
        if let Some(known) = known_error(plan.resolved()) {
            assert!(
                worst <= known.jct.worst,
                "{worst} % off, and {known} is printed"
            );
        }
        let mut notes = both.flows.summary().notes.iter();
        let note = notes.find(|note| note.code == NoteCode::FlowLevelError);
        let note = note.expect("each trial at flow level has one");
        assert!(note.text.contains("not measured"), "{}", note.text);
    }
}
