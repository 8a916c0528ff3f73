//! Graphs of operations through the command: what is printed of them, and what is not.

use serde_json::Value;

use crate::embedded::Embedded;
use crate::workplace::Workplace;

/// A reduce-scatter of eight ranks on NICs of 100 Gb/s, as `SimAI` writes it.
const SCATTER: &str = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 64 checkpoints: 0 checkpoint_initiates: 0
1
grad_param_comm -1 1 NONE 0 1 NONE 0 1 REDUCESCATTER 1048576 1
";
const ON_A_RAIL: &str = "
name: scatter
fabric: {kind: rail, servers: 8, nics_per_server: 8, spines: 8, host_rate: 100Gbps, uplink_rate: 100Gbps, flow_control: pfc}
endpoint: {host: {scale_up: {npus_per_host: 8, rate: 2400Gbps}}}
jobs: [{name: m, workload: {kind: simai, file: w.txt}}]
";

#[test]
fn a_graph_has_no_rates_of_one_collective() {
    let workplace = Workplace::new("graph-rates");
    workplace.write("w.txt", SCATTER);
    workplace.write("s.yaml", ON_A_RAIL);
    // Sizes over time were 14 GB/s on NICs of 12.5, and 114 % of their line rate.
    let run = workplace.words("run s.yaml -o trial").expect(0);
    for column in ["algbw", "busbw", "line rate", "ideal"] {
        assert!(!run.stdout.contains(column), "{column}: {}", run.stdout);
    }
    let summary = workplace.json("trial/summary.json");
    let job = &summary["jobs"][0];
    assert_eq!(job["ideal_ratio"], Value::Null);
    let row = &job["collectives"][0];
    assert!(row["completion_time_ns"].as_f64() > Some(0.0));
    for column in [
        "algbw_gbytes_per_s",
        "busbw_gbytes_per_s",
        "line_rate_percent",
        "ideal_ns",
        "percent_of_ideal",
        "ideal_ratio",
    ] {
        assert_eq!(row[column], Value::Null, "{column}");
    }
    let plan = workplace.words("explain s.yaml").expect(0);
    assert!(plan.stdout.contains("is a lower bound"), "{}", plan.stdout);
    let plan = workplace.words("explain s.yaml --format json").expect(0);
    let ideal = &plan.json()["jobs"][0]["collectives"][0];
    assert_eq!(ideal["ideal_busbw_gbytes_per_s"], Value::Null);
    workplace.words("report trial -o page.html").expect(0);
    let trial = Embedded::read(&workplace.path("page.html")).json("/api/v1/trials/1");
    let answers = format!("{}{}{}", trial["tiles"], trial["sections"], trial["facts"]);
    let beside = workplace.words("compare trial trial").expect(0);
    assert!(!beside.stdout.contains("busbw"), "{}", beside.stdout);
    assert!(!answers.contains("busbw") && !answers.contains("Lowest share of ideal"));
}

/// The parts of a critical path in `summary.json`.
const PARTS: [&str; 6] = [
    "compute_ns",
    "message_ns",
    "collective_ns",
    "acknowledgement_ns",
    "overhead_ns",
    "wait_ns",
];

fn number(row: &Value, column: &str) -> f64 {
    row[column]
        .as_f64()
        .unwrap_or_else(|| panic!("{column} in {row}"))
}

#[test]
fn the_parts_of_a_critical_path_add_up() {
    let workplace = Workplace::new("graph-shares");
    // The second flow starts 100 us after the first, which ends long before.
    workplace.write(
        "flows.csv",
        "source,destination,bytes,start_us\n0,1,1000000,0\n2,1,1000000,100\n",
    );
    workplace.write(
        "s.yaml",
        "
name: list
fabric: {kind: single-switch, hosts: 3, rate: 400Gbps, flow_control: pfc}
jobs: [{name: list, workload: {kind: flow-table, file: flows.csv}}]
",
    );
    let run = workplace.words("run s.yaml -o trial").expect(0);
    assert!(run.stdout.contains("waits"), "{}", run.stdout);
    let row = &workplace.json("trial/summary.json")["critical_shares"][0];
    let sum: f64 = PARTS.iter().map(|part| number(row, part)).sum();
    assert!(
        (sum - number(row, "completion_time_ns")).abs() < 0.01,
        "{row}"
    );
    assert!((number(row, "wait_ns") - 100_000.0).abs() < 0.01, "{row}");
    // The send is done with its acknowledgement, and waited for the megabyte before it.
    assert!(number(row, "message_ns") > 20_000.0, "{row}");
    assert!(number(row, "acknowledgement_ns") < 2_000.0, "{row}");
}

#[test]
fn a_training_has_one_exposed_time() {
    let workplace = Workplace::new("graph-exposed");
    let scenario = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../scenarios/training-small.yaml"
    );
    workplace
        .tenter(&["run", scenario, "-o", "trial"])
        .expect(0);
    let summary = workplace.json("trial/summary.json");
    let share = &summary["critical_shares"][0];
    let step = &summary["training_steps"][0];
    let parts = ["tp", "ep", "cp", "pp", "dp"];
    let parts = parts.map(|name| number(step, &format!("exposed_{name}_ns")));
    let sum: f64 = parts.iter().sum();
    let mean = number(share, "exposed_communication_mean_ns");
    assert!((mean - sum).abs() < 0.01, "{mean} is not {sum}");
    let sum: f64 = PARTS.iter().map(|part| number(share, part)).sum();
    assert!(
        (sum - number(share, "completion_time_ns")).abs() < 0.01,
        "{share}"
    );
}

#[test]
fn what_held_a_list_of_flows_up_is_the_port_that_they_share() {
    let workplace = Workplace::new("graph-incast");
    let flows = "0,4,4000000,0\n1,4,4000000,0\n2,4,4000000,0\n3,4,4000000,0\n";
    workplace.write(
        "flows.csv",
        format!("source,destination,bytes,start_us\n{flows}"),
    );
    workplace.write(
        "s.yaml",
        "
name: incast
fabric: {kind: single-switch, hosts: 5, rate: 400Gbps, flow_control: pfc}
jobs: [{name: list, workload: {kind: flow-table, file: flows.csv}}]
",
    );
    workplace.words("run s.yaml -o trial").expect(0);
    workplace.words("report trial -o page.html").expect(0);
    let held = Embedded::read(&workplace.path("page.html")).json("/api/v1/trials/1/held-up");
    let held = &held["collectives"][0];
    // Four flows share a port, so the last takes four times what it takes alone.
    let alone = number(held, "fastest_ns") / number(held, "total_ns");
    assert!((alone - 0.25).abs() < 0.02, "{alone}");
    let parts = held["pictures"][0].to_string();
    assert!(parts.contains("without other traffic"), "{parts}");
}
