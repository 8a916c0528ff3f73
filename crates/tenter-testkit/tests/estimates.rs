//! What `tenter explain` expects of every scenario in `scenarios/`, against the run.
//!
//! Packet-hops and peak memory must agree within a factor of 1.5; wall time depends on the machine
//! and is not judged. The table in `docs/explain.md` shows both; its columns that are the same on
//! every machine are compared, and `UPDATE_EXPECTED=1` in the environment writes it anew.

mod binary;

use std::fmt::Write as _;
use std::fs;

use binary::{Workplace, root, tenter};
use serde_json::Value;
use tenter_testkit::of_each;

/// An estimate is right within this factor.
const FACTOR: f64 = 1.5;
/// Runs whose length no estimate foresees: one stops at its deadlock, and streams go on as long as
/// they hold up the job beside them.
const UNFORESEEN: [&str; 3] = ["pfc-deadlock", "background-flows", "ultra-ethernet"];
const BEGIN: &str = "<!-- BEGIN estimates -->\n";
const END: &str = "<!-- END estimates -->";

/// One scenario, estimated and run.
struct Line {
    name: String,
    estimated_hops: f64,
    carried_hops: f64,
    estimated_bytes: f64,
    /// Missing where the system does not say.
    measured_bytes: Option<f64>,
}

impl Line {
    /// What is the same on every machine.
    fn fixed(&self) -> String {
        format!(
            "| `{}` | {} | {} | {:.2} | {:.1} |",
            self.name,
            self.estimated_hops.round(),
            self.carried_hops,
            self.estimated_hops / self.carried_hops,
            self.estimated_bytes / 1e6,
        )
    }

    fn whole(&self) -> String {
        let measured = self.measured_bytes.map_or_else(
            || " - | - |".to_owned(),
            |bytes| {
                format!(
                    " {:.1} | {:.2} |",
                    bytes / 1e6,
                    self.estimated_bytes / bytes
                )
            },
        );
        self.fixed() + &measured
    }

    /// What is further off than it may be.
    fn misses(&self) -> Vec<String> {
        let mut misses = Vec::new();
        let mut judge = |what: &str, ratio: f64| {
            if !(1.0 / FACTOR..=FACTOR).contains(&ratio) {
                misses.push(format!("{}: {what} are off by {ratio:.2}", self.name));
            }
        };
        // What stays within hosts has no packets.
        let has_packets = self.estimated_hops > 0.0 || self.carried_hops > 0.0;
        if has_packets && !UNFORESEEN.contains(&self.name.as_str()) {
            judge("packet-hops", self.estimated_hops / self.carried_hops);
        }
        if let Some(bytes) = self.measured_bytes {
            judge("bytes of memory", self.estimated_bytes / bytes);
        }
        misses
    }
}

fn scenarios() -> Vec<String> {
    let entries = fs::read_dir(root().join("scenarios")).expect("scenarios/ can be read");
    let files = entries.map(|entry| entry.expect("an entry can be read").file_name());
    let files = files.map(|file| file.to_string_lossy().into_owned());
    let names = files.filter_map(|file| file.strip_suffix(".yaml").map(str::to_owned));
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

fn lines() -> Vec<Line> {
    let binary = tenter();
    let workplace = Workplace::new("estimates");
    let json = |arguments: &[&str]| -> Value {
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        let output = workplace.run(&binary, &arguments);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
            let stderr = String::from_utf8_lossy(&output.stderr);
            panic!("{arguments:?}: {error}\n{stderr}")
        })
    };
    let number = |value: &Value| value.as_f64().expect("it is a number");
    let line = |name: &String| {
        let (file, trial) = (format!("scenarios/{name}.yaml"), format!("trials/{name}"));
        let cost = &json(&["explain", &file, "--format", "json"])["cost"];
        let engine = &json(&["run", &file, "-o", &trial, "--format", "json"])["engine"];
        Line {
            name: name.clone(),
            estimated_hops: number(&cost["packet_hops"]),
            carried_hops: number(&engine["packet_hops"]),
            estimated_bytes: number(&cost["peak_bytes"]),
            measured_bytes: engine["peak_rss_bytes"].as_f64(),
        }
    };
    let mut lines = of_each(&scenarios(), line);
    // The estimate of the program itself is that of the release. Another build is larger by what
    // half of the runs take more than their estimates.
    if !binary
        .components()
        .any(|part| part.as_os_str() == "release")
    {
        let surplus = |line: &Line| Some(line.measured_bytes? - line.estimated_bytes);
        let mut surplus: Vec<f64> = lines.iter().filter_map(surplus).collect();
        surplus.sort_unstable_by(f64::total_cmp);
        let usual = surplus.get(surplus.len() / 2).copied().unwrap_or(0.0);
        for line in &mut lines {
            line.measured_bytes = line.measured_bytes.map(|bytes| bytes - usual.max(0.0));
        }
    }
    lines
}

fn table(lines: &[Line]) -> String {
    let mut table = "| scenario | packet-hops estimated | carried | ratio | memory estimated (MB) | measured (MB) | ratio |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n".to_owned();
    for line in lines {
        let _ = writeln!(table, "{}", line.whole());
    }
    table
}

#[test]
fn estimates_are_right_within_a_factor_of_one_and_a_half() {
    let lines = lines();
    let path = root().join("docs/explain.md");
    let page = fs::read_to_string(&path).expect("docs/explain.md is part of the repository");
    let (before, rest) = page
        .split_once(BEGIN)
        .expect("the page has a table of estimates");
    let (shown, after) = rest.split_once(END).expect("the table of estimates ends");
    let stale = lines.iter().map(Line::fixed);
    let stale: Vec<String> = stale
        .filter(|line| !shown.contains(line.as_str()))
        .collect();
    let is_current = stale.is_empty() && shown.lines().count() == lines.len() + 2;
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        // Measured memory differs from run to run, so a table that is right otherwise stays.
        if !is_current {
            let page = format!("{before}{BEGIN}{}{END}{after}", table(&lines));
            fs::write(&path, page).expect("docs/explain.md can be written");
        }
        return;
    }
    let misses: Vec<String> = lines.iter().flat_map(Line::misses).collect();
    assert!(misses.is_empty(), "{}", misses.join("\n"));
    assert!(
        is_current,
        "docs/explain.md is out of date, run with UPDATE_EXPECTED=1 and review; it lacks\n{}",
        stale.join("\n")
    );
}
