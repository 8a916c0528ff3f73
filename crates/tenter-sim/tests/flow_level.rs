//! Flow level against packets and closed forms.

#![allow(missing_docs, reason = "tests")]

use std::fs;
use std::path::{Path, PathBuf};

use tenter::resolve::{Format, load};
use tenter_sim::plan::{Fidelity, Plan};
use tenter_sim::{Options, Outcome, run};

fn plan(text: &str, settings: &[&str]) -> Plan {
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    match load(text, "test", Format::Yaml, &settings, None) {
        Ok(loaded) => loaded.plan,
        Err(problems) => panic!("{}", problems.render()),
    }
}

fn outcome(plan: &Plan) -> Outcome {
    run(plan, Options::default(), &mut ()).unwrap_or_else(|error| panic!("{error}"))
}

fn at(plan: &Plan, fidelity: Fidelity) -> Outcome {
    outcome(&Plan {
        fidelity,
        ..plan.clone()
    })
}

fn jcts(outcome: &Outcome) -> Vec<u64> {
    let jobs = outcome.jobs.iter().filter(|job| !job.background);
    jobs.map(|job| job.jct.expect("it ends").ps()).collect()
}

/// How much later flow level says that the jobs end, in percent.
fn errors(plan: &Plan) -> Vec<f64> {
    let packets = jcts(&at(plan, Fidelity::Packet));
    let flows = jcts(&at(plan, Fidelity::Flow));
    let pairs = packets.iter().zip(&flows);
    pairs
        .map(|(&packets, &flows)| 100.0 * (flows as f64 / packets as f64 - 1.0))
        .collect()
}

const SWITCH: &str = "
fabric: {kind: single-switch, hosts: 8, rate: 400Gbps}
jobs: [{name: job, collectives: [{collective: all-reduce, algorithm: ring, size: 8MiB}]}]
";

#[test]
fn a_ring_takes_what_its_packets_take() {
    let found = errors(&plan(SWITCH, &[]));
    assert!(found[0].abs() < 0.1, "{found:?}");
}

#[test]
fn an_incast_takes_what_its_packets_take() {
    let jobs = "jobs=[{name: job, collectives: [{collective: incast, size: 8MiB}]}]";
    let found = errors(&plan(SWITCH, &[jobs]));
    assert!(found[0].abs() < 0.2, "{found:?}");
}

fn scenarios() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let entries = fs::read_dir(root).expect("scenarios/ can be read");
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "yaml"))
        .collect();
    files.sort();
    files
}

#[test]
#[ignore = "a table to look at"]
fn table_of_scenarios() {
    for file in scenarios() {
        let name = file
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let text = fs::read_to_string(&file).expect("a scenario");
        let Ok(loaded) = load(&text, &name, Format::Yaml, &[], None) else {
            println!("{name}: needs files");
            continue;
        };
        let plan = loaded.plan;
        let of_flows = Plan {
            fidelity: Fidelity::Flow,
            ..plan.clone()
        };
        let began = std::time::Instant::now();
        let flows = match run(&of_flows, Options::default(), &mut ()) {
            Ok(flows) => flows,
            Err(error) => {
                println!("{name}: {error}");
                continue;
            }
        };
        let flow_s = began.elapsed().as_secs_f64();
        let began = std::time::Instant::now();
        let packets = at(&plan, Fidelity::Packet);
        let packet_s = began.elapsed().as_secs_f64();
        let pairs = packets.jobs.iter().zip(&flows.jobs);
        let off: Vec<String> = pairs
            .map(|(a, b)| match (a.jct, b.jct) {
                (Some(a), Some(b)) => {
                    format!("{:+.2}%", 100.0 * (b.ps() as f64 / a.ps() as f64 - 1.0))
                }
                (a, b) => format!("{a:?} {b:?}"),
            })
            .collect();
        println!("{name}: {} ({packet_s:.2} s, {flow_s:.2} s)", off.join(" "));
    }
}

/// Two leaves with one uplink each to two spines, and a transfer between them.
const LEAVES: &str = "
fabric: {kind: leaf-spine, leaves: 2, hosts_per_leaf: 2, spines: 2, host_rate: 100Gbps, uplink_rate: 100Gbps, load_balancing: {kind: ecmp}}
observe: {samples: false}
";

#[test]
fn a_slower_link_takes_its_time_from_then_on() {
    let text = format!(
        "{LEAVES}
jobs: [{{name: job, ranks: [host0, host2], collectives: [{{collective: send-recv, size: 10MB}}]}}]
faults: {{events: [{{link: leaf1-host2, at: 400us, rate: 50Gbps}}]}}
"
    );
    let found = errors(&plan(&text, &[]));
    assert!(found[0].abs() < 0.2, "{found:?}");
}

#[test]
fn flows_take_the_routes_that_are_left() {
    // Sixteen flows of each of two hosts to the other leaf.
    let text = |down: &str| {
        format!(
            "{LEAVES}
jobs:
  - {{name: a, ranks: [host0, host2], queue_pairs: 16, collectives: [{{collective: send-recv, size: 10MB}}]}}
  - {{name: b, ranks: [host1, host3], queue_pairs: 16, collectives: [{{collective: send-recv, size: 10MB}}]}}
faults: {{convergence: 1us, events: [{down}]}}
"
        )
    };
    let last = |down: &str| {
        let jcts = jcts(&at(&plan(&text(down), &[]), Fidelity::Flow));
        jcts.into_iter().max().expect("two jobs") as f64 / 1e9
    };
    let whole = last("");
    // All share one uplink for the rest of the time.
    let cut = last("{link: leaf0-spine0, down: 100us}");
    assert!((1.5..1.95).contains(&cut), "{cut} ms, {whole} ms");
    let repaired = last("{link: leaf0-spine0, down: 100us, up: 600us}");
    assert!(
        whole < repaired && repaired < cut,
        "{whole} {repaired} {cut} ms"
    );
    // With no way at all they wait until there is one.
    let both =
        last("{link: leaf0-spine0, down: 100us}, {link: leaf0-spine1, down: 100us, up: 4ms}");
    assert!((5.3..5.8).contains(&both), "{both} ms");
}

#[test]
fn a_fabric_of_circuits_is_steered_as_with_packets() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/steered-rails.yaml");
    let text = fs::read_to_string(path).expect("the scenario is there");
    let steered = plan(&text, &["observe.samples=false"]);
    let [packets, flows] = [Fidelity::Packet, Fidelity::Flow].map(|level| at(&steered, level));
    let circuits = |of: &Outcome| {
        let rows = of.counts.circuits.iter();
        let rows = rows.map(|row| (row.optical_switch, row.optical_port, row.peer_optical_port));
        rows.collect::<Vec<_>>()
    };
    assert!(!circuits(&flows).is_empty());
    assert_eq!(circuits(&packets).len(), circuits(&flows).len());
    for (packets, flows) in jcts(&packets).into_iter().zip(jcts(&flows)) {
        let off = flows as f64 / packets as f64 - 1.0;
        assert!(off.abs() < 0.25, "{flows} {packets}");
    }
}

#[test]
fn hosts_slower_than_their_wires_hold_their_flows_back() {
    let text = format!(
        "{LEAVES}
jobs: [{{name: job, ranks: [host0, host2], collectives: [{{collective: send-recv, size: 10MB}}]}}]
endpoint: {{nic: {{receive_buffer: {{drain_rate: 50Gbps}}}}}}
"
    );
    let found = errors(&plan(&text, &["fabric.flow_control=pfc"]));
    assert!(found[0].abs() < 2.0, "{found:?}");
    let text = text.replace(
        "receive_buffer: {drain_rate: 50Gbps}",
        "pcie: {peak: 60Gbps}",
    );
    let found = errors(&plan(&text, &["fabric.flow_control=pfc"]));
    assert!(found[0].abs() < 2.0, "{found:?}");
}

#[test]
fn messages_wait_behind_what_came_before_them() {
    // Two flows of one NIC, one of which meets the flow of a whole NIC on a link: that waits behind
    // half as much as it sends itself, where equal shares would let it wait behind as much.
    let jobs = "[
  {name: half, ranks: 3, placement: round-robin, free_hosts: true, pattern: {kind: matrix, sends: '0 1 8388608; 0 2 8388608', steps: 1}},
  {name: whole, ranks: 2, placement: round-robin, free_hosts: true, pattern: {kind: matrix, sends: '0 1 4194304; 1 0 4194304', steps: 1}}]";
    let fabric = "{kind: leaf-spine, leaves: 2, hosts_per_leaf: 3, spines: 1, host_rate: 400Gbps, uplink_rate: 400Gbps, flow_control: none}";
    let found = errors(&plan(&format!("fabric: {fabric}\njobs: {jobs}"), &[]));
    assert!(found.iter().all(|of| of.abs() < 0.1), "{found:?}");
}

#[test]
fn queues_that_packets_would_overflow_are_told() {
    let overflows = |size: &str| {
        let text = format!(
            "
fabric: {{kind: single-switch, hosts: 8, rate: 400Gbps, flow_control: none, switch: {{queue_capacity: 4MiB}}}}
jobs: [{{name: job, collectives: [{{collective: incast, size: {size}}}]}}]
"
        );
        let outcome = at(&plan(&text, &[]), Fidelity::Flow);
        let mut warnings = outcome.summary.notes.warnings();
        warnings.any(|text| text.contains("wait in one queue, and queues hold 4MiB"))
    };
    assert!(!overflows("1MiB"));
    assert!(overflows("16MiB"));
}

#[test]
fn a_short_message_that_meets_nobody_takes_what_its_packet_takes() {
    let text = "
fabric: {kind: leaf-spine, leaves: 2, hosts_per_leaf: 2, spines: 1, host_rate: 10Gbps, uplink_rate: 10Gbps, flow_control: none, switch: {forwarding: store-and-forward}}
jobs: [{name: job, ranks: 2, placement: round-robin, pattern: {kind: matrix, sends: '0 1 64', steps: 1}}]
";
    let found = errors(&plan(text, &[]));
    assert!(found[0].abs() < 0.01, "{found:?}");
}

#[test]
fn a_fabric_of_many_nics_holds_none_back() {
    let text = "
fabric: {kind: single-switch, hosts: 8192, rate: 400Gbps, flow_control: none}
jobs: [{name: job, collectives: [{collective: permutation, size: 1MiB}]}]
engine: {fidelity: flow}
";
    let ps = jcts(&outcome(&plan(text, &[])))[0];
    assert!((21_000_000..23_000_000).contains(&ps), "{ps} ps");
}

#[test]
fn rings_over_slow_links_wait_in_their_queues() {
    let text = "
fabric: {kind: leaf-spine, leaves: 4, hosts_per_leaf: 4, spines: 2, host_rate: 400Gbps, uplink_rate: 200Gbps, flow_control: none}
jobs: [{name: job, collectives: [{collective: all-reduce, algorithm: ring, size: 16MiB}]}]
";
    let found = errors(&plan(text, &[]));
    assert!(found[0].abs() < 0.5, "{found:?}");
    let found = errors(&plan(text, &["jobs[0].placement=random"]));
    assert!(found[0].abs() < 2.0, "{found:?}");
}

#[test]
fn what_waits_for_links_together_waits_for_each_where_one_is_taken_alone() {
    // The first leaf has one spine, where all others have two that are loaded alike. The links of
    // these to the last leaf are full, those to its hosts are not.
    let text = "
fabric: {kind: leaf-spine, leaves: 4, hosts_per_leaf: 4, spines: 2, host_rate: 400Gbps, uplink_rate: 400Gbps, flow_control: none, load_balancing: {kind: flowlet}, overrides: [{leaf: 0, spine: 0, links: 0}]}
engine: {fidelity: flow}
jobs:
  - {name: early, ranks: 16, pattern: {kind: matrix, sends: '4 12 8388608; 5 13 8388608; 8 14 8388608; 9 15 8388608', steps: 1}}
  - {name: late, ranks: 16, start: 150us, pattern: {kind: matrix, sends: '0 12 1048576', steps: 1}}
";
    let late = jcts(&outcome(&plan(text, &[])));
    // A short message lets the links be taken one by one from the start.
    let short =
        "  - {name: short, ranks: 16, pattern: {kind: matrix, sends: '0 12 64', steps: 1}}\n";
    let soon = jcts(&outcome(&plan(&format!("{text}{short}"), &[])));
    for (late, soon) in late.iter().zip(&soon) {
        assert!(late.abs_diff(*soon) < 10_000, "{late} and {soon} ps");
    }
    // It takes 21 us by itself.
    assert!(late[1] > 100_000_000, "{} ps", late[1]);
}

#[test]
fn packets_come_to_links_as_late_as_they_are_far() {
    let text = "
fabric: {kind: leaf-spine, leaves: 4, hosts_per_leaf: 4, spines: 4, host_rate: 100Gbps, uplink_rate: 100Gbps, flow_control: none, load_balancing: {kind: ecmp}}
jobs: [{name: job, placement: random, collectives: [{collective: all-to-all, algorithm: pairwise, size: 4MiB}]}]
";
    let found = errors(&plan(text, &[]));
    assert!(found[0].abs() < 2.0, "{found:?}");
}

#[test]
fn ranks_get_out_of_step_where_links_are_chosen_by_chance() {
    let job = "{name: job, collectives: [{collective: all-reduce, algorithm: halving-doubling, size: 1MiB}]}";
    let text = |kind: &str| {
        format!(
            "
fabric: {{kind: leaf-spine, leaves: 4, hosts_per_leaf: 8, spines: 8, host_rate: 400Gbps, uplink_rate: 400Gbps, load_balancing: {{kind: {kind}}}}}
endpoint: {{nic: {{loss_recovery: {{kind: selective-repeat, reorder: 4096}}}}}}
observe: {{samples: false}}
jobs: [{job}]
"
        )
    };
    let mean = |kind: &str, fidelity: Fidelity| {
        let jct = |seed: u32| {
            let plan = plan(&text(kind), &[&format!("seed={seed}")]);
            jcts(&at(&plan, fidelity))[0]
        };
        let all: Vec<u64> = (1..=4).map(jct).collect();
        all.iter().sum::<u64>() as f64 / 4.0
    };
    let packets = mean("random-spray", Fidelity::Packet);
    let flows = mean("random-spray", Fidelity::Flow);
    let even = mean("queue-aware-spray", Fidelity::Flow);
    assert!((flows / packets - 1.0).abs() < 0.12, "{flows} {packets} ps");
    assert!(flows > 1.05 * even, "{flows} {even} ps");
}
