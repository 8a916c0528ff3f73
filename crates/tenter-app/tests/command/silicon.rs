//! NCCL in one server as `tenter bench` has it, against measured times: the rows of
//! `studies/published/silicon-nccl.csv`, with those that no fit has seen beside the others.
//!
//! `UPDATE_EXPECTED=1` in the environment writes the table in `docs/models/nccl-kernels.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::workplace::Workplace;

const BEGIN: &str = "<!-- errors -->\n";
const END: &str = "<!-- /errors -->\n";

/// System of the table, and the preset that stands for it.
const PRESETS: [(&str, &str); 8] = [
    ("a100_sxm", "dgx-a100-64"),
    ("h100_sxm", "dgx-h100-64"),
    ("h200_sxm", "dgx-h200-64"),
    ("b200_sxm", "dgx-b200-64"),
    ("gb200", "gb200-nvl72-144"),
    ("gb300", "gb300-nvl72-144"),
    ("rtx_pro_6000_server", "rtx-pro-6000-64"),
    ("l40s", "l40s-32"),
];

/// Required summaries that are missed, by system and collective. The page says why.
const MISSED: [(&str, &str); 1] = [("h200_sxm", "all_gather")];

/// System, collective, GPUs and bytes.
type Case = (String, String, String, String);

/// A row of the table by its columns.
type Columns = BTreeMap<String, String>;

/// Deviations in per cent, of rows in the fit and of sealed ones.
#[derive(Default)]
struct Errors {
    fitted: Vec<f64>,
    sealed: Vec<f64>,
}

impl Errors {
    fn all(&self) -> Vec<f64> {
        [self.fitted.clone(), self.sealed.clone()].concat()
    }
}

fn read(path: &str) -> Vec<Columns> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path);
    let text = fs::read_to_string(path).expect("the table is there");
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().expect("a header").split(',').collect();
    // Reasons stand last, so their commas matter to no other column.
    let columns = |line: &str| {
        let values = line.split(',').map(str::to_owned);
        names
            .iter()
            .map(|name| (*name).to_owned())
            .zip(values)
            .collect()
    };
    lines.map(columns).collect()
}

fn case(row: &Columns) -> Case {
    let of = |name: &str| row[name].clone();
    (of("system"), of("collective"), of("gpus"), of("size_bytes"))
}

/// Runs the command for each collective and number of GPUs, over all sizes of the table.
fn simulate(rows: &[Columns]) -> BTreeMap<Case, f64> {
    let workplace = Workplace::new("silicon-nccl");
    let groups: BTreeSet<_> = rows.iter().map(case).map(|of| (of.0, of.1, of.2)).collect();
    let mut times = BTreeMap::new();
    for (system, collective, gpus) in groups {
        let (_, preset) = PRESETS
            .iter()
            .find(|(name, _)| *name == system)
            .unwrap_or_else(|| panic!("no preset stands for {system}"));
        let line = format!(
            "bench {collective} --fabric {preset} -g {gpus} -b 512 -e 512M -f 4 -d half --output {preset}-{collective}-{gpus}"
        );
        let table = workplace.words(&line).expect(0).stdout;
        for row in table.lines().filter(|line| !line.starts_with('#')) {
            let columns: Vec<&str> = row.split_whitespace().collect();
            let [size, _, _, _, _, time, ..] = columns.as_slice() else {
                continue;
            };
            let of = (system.clone(), collective.clone(), gpus.clone());
            let time = time.parse().expect("a time");
            times.insert((of.0, of.1, of.2, (*size).to_owned()), time);
        }
    }
    times
}

/// The deviation below which a share of all lies, between its neighbours in proportion.
fn quantile(mut errors: Vec<f64>, share: f64) -> Option<f64> {
    errors.sort_by(f64::total_cmp);
    let at = share * (errors.len().checked_sub(1)?) as f64;
    let (low, high) = (at.floor() as usize, at.ceil() as usize);
    Some(errors[low] + (errors[high] - errors[low]) * at.fract())
}

fn shown(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.1}"))
}

/// The deviations of a summary's rows: an empty collective, or `all`, is any.
fn errors(summary: &Columns, rows: &[Columns], times: &BTreeMap<Case, f64>) -> Errors {
    let sealed: BTreeSet<Case> = read("studies/silicon/nccl/sealed.csv")
        .iter()
        .map(case)
        .collect();
    let is_any = summary["collective"] == "all";
    let same = |row: &&Columns, key: &str| row[key] == summary[key];
    let mut errors = Errors::default();
    let own = rows
        .iter()
        .filter(|row| same(row, "system") && same(row, "nccl"));
    for row in own.filter(|row| is_any || same(row, "collective")) {
        let key = case(row);
        let measured: f64 = row["value"].parse().expect("a time");
        let error = (times[&key] / measured - 1.0).abs() * 100.0;
        if sealed.contains(&key) {
            errors.sealed.push(error);
        } else {
            errors.fitted.push(error);
        }
    }
    errors
}

/// Judges the summaries as the table says: the median or the 90th percentile over all of their
/// rows.
#[test]
fn one_server_is_as_it_is_measured() {
    let (summaries, rows): (Vec<_>, Vec<_>) = read("studies/published/silicon-nccl.csv")
        .into_iter()
        .partition(|row| row["source"] == "computed");
    let times = simulate(&rows);
    let (mut table, mut misses) = (String::new(), Vec::new());
    table.push_str("| system | NCCL | collective | statistic | rows | all % | fitted % | sealed % | bar % | gate | |\n|---|---|---|---|---:|---:|---:|---:|---:|---|---|\n");
    for summary in &summaries {
        let (name, share) = match summary["unit"].as_str() {
            "percent_median" => ("median", 0.5),
            _ => ("P90", 0.9),
        };
        let of = errors(summary, &rows, &times);
        let all = of.all();
        let count = all.len();
        let found = quantile(all, share);
        let bar: f64 = summary["band_high"].parse().expect("a bar");
        let is_met = found.is_some_and(|found| found <= bar);
        let line = format!(
            "| {} | {} | {} | {name} | {count} | {} | {} | {} | {bar} | {} | {} |",
            summary["system"],
            summary["nccl"],
            summary["collective"],
            shown(found),
            shown(quantile(of.fitted, share)),
            shown(quantile(of.sealed, share)),
            summary["gate"],
            if is_met { "met" } else { "missed" },
        );
        if !is_met && summary["gate"] == "required" {
            misses.push((summary["system"].as_str(), summary["collective"].as_str()));
        }
        let _ = writeln!(table, "{line}");
    }
    compare(&table);
    assert_eq!(misses, MISSED, "required summaries that are not met");
}

/// Compares the table of the page with what has been found.
fn compare(table: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/models/nccl-kernels.md");
    let page = fs::read_to_string(&path).expect("the page is there");
    let (before, rest) = page
        .split_once(BEGIN)
        .expect("the page has a table of errors");
    let (found, after) = rest.split_once(END).expect("the table of errors ends");
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        let page = format!("{before}{BEGIN}{table}{END}{after}");
        fs::write(&path, page).expect("the page can be written");
        return;
    }
    assert_eq!(
        found, table,
        "docs/models/nccl-kernels.md is out of date; run with UPDATE_EXPECTED=1 and review"
    );
}
