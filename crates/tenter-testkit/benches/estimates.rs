//! The wall time that `tenter explain` expects of a run, against that of the run: one thread, the
//! best of three.
//!
//! It judges nothing: the constants were measured on one machine, and another one is faster or
//! slower by a factor. What should be alike are the ratios.
#![expect(clippy::print_stdout, reason = "the table is what it is for")]

#[path = "../tests/binary/mod.rs"]
mod binary;

use binary::{Workplace, tenter};
use serde_json::Value;

/// Scenarios, and what makes them long enough to be measured.
const CASES: [(&str, &str); 10] = [
    ("quickstart", ""),
    ("sharded-training", "jobs[0].iterations=4"),
    ("all-reduce-algorithms", "jobs[0].iterations=3"),
    ("fat-tree", "jobs[0].iterations=3"),
    ("adaptive", "jobs[0].iterations=8"),
    ("packet-spray", "jobs[0].iterations=8"),
    ("pfc", "jobs[0].collectives[0].size=1600MiB"),
    ("dcqcn", "jobs[0].collectives[0].size=2GiB"),
    ("timely", "jobs[0].collectives[0].size=2GiB"),
    ("shared-buffer", "jobs[0].iterations=100"),
];
const RUNS: usize = 3;

fn main() {
    let binary = tenter();
    let workplace = Workplace::new("wall-times");
    let number = |arguments: &[&str], section: &str, key: &str| {
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        let output = workplace.run(&binary, &arguments);
        let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
            let stderr = String::from_utf8_lossy(&output.stderr);
            panic!("{arguments:?}: {error}\n{stderr}")
        });
        document[section][key].as_f64().expect("it is a number")
    };
    println!("| scenario | changed | wall time estimated (s) | measured (s) | ratio |");
    println!("| --- | --- | ---: | ---: | ---: |");
    for (name, change) in CASES {
        let file = format!("scenarios/{name}.yaml");
        let mut given = vec![file.as_str(), "--format", "json"];
        if !change.is_empty() {
            given.extend(["--set", change]);
        }
        let estimated = number(&[&["explain"], &given[..]].concat(), "cost", "wall_s");
        let run = [&["run", "-o", "trial"], &given[..]].concat();
        let runs = (0..RUNS).map(|_| number(&run, "engine", "wall_s"));
        let measured = runs.fold(f64::INFINITY, f64::min);
        let ratio = estimated / measured;
        println!("| `{name}` | {change} | {estimated:.3} | {measured:.3} | {ratio:.2} |");
    }
}
