//! `tenter query`: numbers of trials in the words of the data dictionary.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tenter::report::{read_rows, read_summary};
use tenter_results::FlowRow;

use crate::kinds::KINDS;
use crate::workplace::Workplace;

#[test]
fn a_query_has_the_digits_of_the_tables() {
    let workplace = Workplace::with_small("query-digits");
    workplace
        .words("run small.yaml -o trial --seeds 2")
        .expect(0);
    let query = "max(flows.fct_ns), count(flows) by collective where size >= 100KiB";
    let text = workplace.tenter(&["query", "trial", query]).expect(0);
    for part in ["seed-1", "seed-2", "all-to-all", "all-reduce", "(ns)"] {
        assert!(text.stdout.contains(part), "{part}\n{}", text.stdout);
    }
    let json = workplace.tenter(&[
        "query",
        "trial/seed-1",
        "trial/seed-2",
        query,
        "--format=json",
    ]);
    let json: Value = serde_json::from_str(&json.expect(0).stdout).expect("JSON");
    assert_eq!(json["columns"][1]["unit"], "ns");
    let csv = workplace.tenter(&["query", "trial", query, "--format", "csv"]);
    let csv = csv.expect(0).stdout;
    for (at, seed) in ["seed-1", "seed-2"].into_iter().enumerate() {
        let folder = workplace.path("trial").join(seed);
        let summary = read_summary(&folder).expect("a trial");
        let trial = &json["trials"][at];
        assert_eq!(trial["digest"], summary.engine.digest);
        assert_eq!(
            trial["notes"],
            serde_json::to_value(&*summary.notes).expect("plain data")
        );
        let flows: Vec<FlowRow> = read_rows(&folder).expect("the table");
        // The second size of each of the two collectives.
        for (row, index) in [(0, 3), (1, 1)] {
            let of = flows.iter().filter(|flow| flow.collective == index);
            let times: Vec<f64> = of.map(|flow| flow.fct().as_ns()).collect();
            let greatest = times.iter().copied().fold(0.0, f64::max);
            let name = ["all-reduce", "all-to-all"][row];
            assert_eq!(
                trial["rows"][row],
                serde_json::json!([name, greatest, times.len() as f64])
            );
            let line = format!("{seed},{name},{greatest},{}\n", times.len());
            assert!(csv.contains(&line), "{line}{csv}");
        }
    }
}

/// Values that every kind of trial has.
const READINGS: [&str; 3] = [
    "max(ports.queue_high_water_bytes)",
    "sum(ports.tx_bytes) / max(engine.simulated_ns)",
    "count(ports)",
];

/// Copies the files of a folder.
fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).expect("a folder for the test");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        fs::copy(entry.path(), to.join(entry.file_name())).expect("a file");
    }
}

#[test]
fn query_sweep_and_comparison_have_one_number() {
    let workplace = Workplace::new("query-surfaces");
    let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let query = READINGS.join(", ");
    for kind in KINDS {
        let file = scenarios.join(kind).with_extension("yaml");
        let file = file.to_str().expect("a plain path");
        workplace.tenter(&["run", file, "-o", kind]).expect(0);
        let asked = workplace.tenter(&["query", kind, &query, "--format", "json"]);
        let asked = asked.expect(0).json();
        let values = asked["trials"][0]["rows"][0].as_array().expect("a row");
        assert!(values.iter().all(Value::is_f64), "{kind}: {values:?}");
        let notes = asked["trials"][0]["notes"].as_array().expect("notes");

        // A second trial with the same results.
        let like = format!("{kind}-like");
        copy(&workplace.path(kind), &workplace.path(&like));
        let compared = [
            "compare", &like, kind, "--query", &query, "--format", "json",
        ];
        let compared = workplace.tenter(&compared).expect(0).json();
        let rows = compared["comparison"].as_array().expect("rows");
        assert!(
            rows.iter().map(|row| &row["value"]).eq(values),
            "{kind}: {rows:?}"
        );
        let compared = compared["folders"][1]["notes"].as_array();
        assert_eq!(compared.map(Vec::len), Some(notes.len()), "{kind}");

        let readings = READINGS.map(|of| format!("  - {{name: '{of}', query: '{of}'}}\n"));
        let sweep = format!(
            "name: {kind}\nscenario: {file}\nreadings:\n{}",
            readings.concat()
        );
        workplace.write("sweep.yaml", &sweep);
        let swept = workplace.tenter(&["sweep", "sweep.yaml", "--format", "json"]);
        let swept = swept.expect(0).json();
        let cases = swept["studies"][0]["cases"].as_array().expect("rows");
        let measured = cases.iter().map(|case| &case["measured"]);
        assert!(measured.eq(values), "{kind}: {cases:?}");
        let noted = &swept["studies"][0]["variants"][0]["notes"];
        assert_eq!(noted.as_array().map_or(0, Vec::len), notes.len(), "{kind}");
    }
}

#[test]
fn every_table_can_be_asked_of_every_trial() {
    let workplace = Workplace::with_small("query-tables");
    workplace.words("run small.yaml -o trial").expect(0);
    for table in tenter_results::table_names() {
        let query = format!("count({table})");
        let answer = workplace.tenter(&["query", "trial", &query, "--format", "csv"]);
        let answer = answer.expect(0).stdout;
        let count = answer.trim_end().rsplit(',').next().expect("a value");
        let count: u64 = count.parse().expect(&answer);
        let expected = match table {
            "jobs" | "totals" | "engine" => Some(1),
            "collectives" => Some(4),
            "signals" | "training_steps" | "requests" | "power" => Some(0),
            _ => None,
        };
        assert!(
            expected.is_none_or(|expected| count == expected),
            "{answer}"
        );
    }
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let workplace = Workplace::with_small("query-refused");
    workplace.words("run small.yaml -o trial").expect(0);
    for (arguments, expected) in [
        (
            ["trial", "max(flows.fct_n)"].as_slice(),
            "did you mean `fct_ns`?\n  max(flows.fct_n)\n      ^",
        ),
        (&["trial", "trial"], "a statistic is wanted here"),
        (&["nowhere", "count(flows)"], "nowhere"),
        (&["trial"], "2 values required"),
        (
            &["trial", "max(flows.fct)", "--max-memory", "100B"],
            "100B are allowed",
        ),
    ] {
        let words = [["query"].as_slice(), arguments].concat();
        let answer = workplace.tenter(&words).expect(2);
        assert!(answer.stderr.contains(expected), "{}", answer.stderr);
    }
}
