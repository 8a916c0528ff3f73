//! Workloads of flows through the command: run, summary, rows, report and refusal.

use tenter::report::read_rows;
use tenter_results::FlowRow;

use crate::embedded::Embedded;
use crate::workplace::Workplace;

const LOAD: &str = "
name: load
fabric: {kind: single-switch, hosts: 4, rate: 100Gbps}
jobs:
  - name: web
    workload: {sizes: google-all-rpc-homa, arrivals: poisson, load: 0.4, flows: 2000, pairs: [{from: [0-3], to: [0-3]}]}
";

#[test]
fn a_workload_leaves_rows_and_percentiles_by_size() {
    let workplace = Workplace::new("flow-workloads");
    workplace.write("load.yaml", LOAD);
    let answer = workplace.words("run load.yaml -o trial").expect(0);
    for part in [
        "web: flow completion times by size",
        "slowdown P50",
        "flows, open-loop",
    ] {
        assert!(answer.stdout.contains(part), "{part}: {}", answer.stdout);
    }
    let summary = workplace.json("trial/summary.json");
    let rows = summary["flow_sizes"].as_array().expect("a list");
    assert_eq!(rows[0]["flows"], 2_000);
    assert!(rows[0]["slowdown_p50"].as_f64().expect("a number") >= 1.0);
    let tenths: u64 = rows[1..]
        .iter()
        .filter_map(|row| row["flows"].as_u64())
        .sum();
    assert_eq!(tenths, 2_000);
    let flows: Vec<FlowRow> = read_rows(&workplace.path("trial")).expect("rows");
    assert_eq!(flows.len(), 2_000);
    workplace.words("report trial -o page.html").expect(0);
    let report = Embedded::read(&workplace.path("page.html"));
    let pictures = report.text("/api/v1/trials/1/pictures?group=fct");
    assert!(pictures.contains("Flow completion times of web: flows, open-loop"));
    // What is written out runs again and means the same.
    let again = workplace.words("run trial/config.yaml -o again").expect(0);
    assert!(again.stdout.contains("2,000 flows"), "{}", again.stdout);
    let digest = |trial: &str| workplace.json(trial)["engine"]["digest"].clone();
    assert_eq!(digest("trial/summary.json"), digest("again/summary.json"));
}

#[test]
fn what_cannot_be_run_says_why() {
    let workplace = Workplace::new("flow-refusals");
    workplace.write("load.yaml", LOAD);
    let refusals = [
        (
            "jobs[0].workload.load=none",
            "`jobs[0].workload.load` cannot be `none`",
        ),
        (
            "jobs[0].workload.sizes=hadoop",
            "`jobs[0].workload.sizes` cannot be `hadoop`",
        ),
        (
            "jobs[0].workload.fan_in=4",
            "a fan-in of 4 needs as many senders",
        ),
    ];
    for (own, why) in refusals {
        let answer = workplace.tenter(&["run", "load.yaml", "--set", own]);
        answer.expect_refusal(&[why]);
    }
}
