//! Kernels of experts against measured times, and the page with the errors.
//!
//! The quick form leaves out the longest rows over several servers, and the page; `make test-all`
//! has all of them.
//!
//! With `TENTER_TEST_CASES=all` and `UPDATE_EXPECTED=1` in the environment the page is written
//! instead of compared; review the difference.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, thread};

use tenter::{Run, Scenario};
use tenter_testkit::cases;

/// A measured table, and the keys of its rows that no fit has seen.
struct Published {
    name: &'static str,
    text: &'static str,
    sealed: &'static str,
    /// Column with the algorithm.
    mode: &'static str,
}

const TABLES: [Published; 2] = [
    Published {
        name: "silicon-deepep",
        text: include_str!("../../../../studies/published/silicon-deepep.csv"),
        sealed: include_str!("sealed-deepep.csv"),
        mode: "mode",
    },
    Published {
        name: "silicon-moe-a2a",
        text: include_str!("../../../../studies/published/silicon-moe-a2a.csv"),
        sealed: include_str!("sealed-moe-a2a.csv"),
        mode: "kernel",
    },
];

/// The page as it was committed; the text before the first table stays.
const PAGE: &str = include_str!("../../../../docs/silicon-experts.md");

/// A row of a table, by its columns.
struct Row {
    columns: BTreeMap<&'static str, &'static str>,
    /// All columns before the value, as the list of sealed rows has them.
    key: String,
}

impl Row {
    fn get(&self, column: &str) -> &'static str {
        self.columns.get(column).copied().unwrap_or_default()
    }

    fn number(&self, column: &str) -> u32 {
        let text = self.get(column);
        text.parse().unwrap_or_else(|_| panic!("{column}: {text}"))
    }

    fn value(&self) -> f64 {
        self.get("value").parse().expect("a number")
    }

    /// Returns true for a row that takes seconds: many tokens over several servers, or eight
    /// servers whose measured fabric is not described.
    fn is_long(&self) -> bool {
        let nodes = self.get("nodes").parse().unwrap_or(1);
        let tokens = if nodes == 8 { 256 } else { 4_096 };
        !self.is_summary() && nodes > 1 && self.number("tokens_per_rank") > tokens
    }

    fn is_summary(&self) -> bool {
        self.get("source") == "computed"
    }

    /// Returns true if this summary is over `row`: its keys are those of the row, or empty.
    fn covers(&self, row: &Row, keys: &[&str]) -> bool {
        keys.iter()
            .all(|key| self.get(key).is_empty() || self.get(key) == row.get(key))
    }
}

fn rows(of: &Published) -> (Vec<&'static str>, Vec<Row>) {
    let mut lines = of.text.lines();
    let head: Vec<&str> = lines.next().expect("a head").split(',').collect();
    let keys = head
        .iter()
        .position(|name| *name == "value")
        .expect("it is there");
    let row = |line: &'static str| {
        // The last column, a reason, may have commas.
        let cells: Vec<&str> = line.splitn(head.len(), ',').collect();
        Row {
            key: cells[..keys].join(","),
            columns: head.iter().copied().zip(cells).collect(),
        }
    };
    (head[..keys].to_vec(), lines.map(row).collect())
}

/// The servers of a system: what one has in its domain, and the fabric between them.
fn fabric(row: &Row) -> String {
    let (ranks, nodes) = (row.number("ranks"), row.get("nodes").parse().unwrap_or(1));
    let npus = ranks / nodes;
    // NVLink one way, as the presets and the makers' sheets have it.
    let (gbps, generation, kernels) = match row.get("system") {
        "h100_sxm" => (2_966, "hopper", "h100"),
        "b200_sxm" => (5_774, "blackwell", "b200"),
        "gb200" => (7_200, "blackwell", "gb200"),
        other => panic!("no such system: {other}"),
    };
    let network = if nodes == 1 {
        format!("{{kind: single-switch, hosts: {ranks}, rate: 400Gbps, flow_control: pfc}}")
    } else {
        format!(
            "{{kind: rail, servers: {nodes}, nics_per_server: {npus}, spines: {npus}, \
             host_rate: 400Gbps, uplink_rate: 400Gbps, flow_control: pfc, \
             load_balancing: {{kind: adaptive}}}}"
        )
    };
    format!(
        "fabric: {network}\n\
         endpoint:\n  \
           nic: {{mtu: 4096, loss_recovery: {{kind: selective-repeat, reorder: 64}}}}\n  \
           host: {{scale_up: {{npus_per_host: {npus}, rate: {gbps}Gbps, latency: 600ns, \
             generation: {generation}, expert_kernels: {kernels}}}}}\n\
         observe: {{samples: false}}\n"
    )
}

/// The collective that a row has measured.
fn collective(row: &Row, mode: &str) -> String {
    let algorithm = match row.get(mode) {
        "low_latency" | "trtllm_deepep_ll" => "low-latency",
        "normal" | "trtllm_deepep_ht" => "normal",
        "NVLinkTwoSided" => "nvlink",
        other => panic!("no such kernel: {other}"),
    };
    let mut text = format!(
        "{{collective: moe-{}, algorithm: {algorithm}, tokens: {}, hidden: {}, top_k: {}, \
         experts: {}",
        row.get("phase"),
        row.get("tokens_per_rank"),
        row.get("hidden"),
        row.get("topk"),
        row.get("experts"),
    );
    // DeepEP sends FP8 and gets BF16 back; the other table says what tokens are dispatched in.
    match (row.get("precision"), row.get("phase")) {
        ("bfloat16", _) => text.push_str(", precision: bf16"),
        (precision @ "nvfp4", "dispatch") => {
            let _ = write!(text, ", precision: {precision}");
        }
        _ => {}
    }
    if algorithm == "normal" {
        // DeepEP's test takes the experts of a token from four nodes.
        text.push_str(", hosts_per_token: 4");
        if !row.get("sms").is_empty() {
            let _ = write!(text, ", sms: {}", row.get("sms"));
        }
    }
    text.push('}');
    text
}

/// Simulates rows of one system and number of ranks one after the other; returns µs.
fn simulate(rows: &[&Row], mode: &str) -> Vec<f64> {
    let mut text = fabric(rows[0]);
    let _ = writeln!(
        text,
        "jobs:\n  - name: experts\n    ranks: {}\n    collectives:",
        rows[0].number("ranks")
    );
    for row in rows {
        let _ = writeln!(text, "      - {}", collective(row, mode));
    }
    let plan = Scenario::from_yaml(&text).resolve();
    let plan = plan.unwrap_or_else(|error| panic!("{error}\n{text}"));
    let trial = Run::new(&plan).run().expect("it runs");
    let times = trial.collectives().filter(|of| !of.warm_up);
    let times = times.map(|of| of.completion_time.expect("it ends").as_ns() / 1_000.0);
    let times: Vec<f64> = times.collect();
    assert_eq!(times.len(), rows.len(), "{text}");
    times
}

/// Simulates all rows, on two threads; returns µs by the row's key.
fn simulated(table: &Published, rows: &[Row]) -> BTreeMap<String, f64> {
    let mut groups: BTreeMap<String, Vec<&Row>> = BTreeMap::new();
    for row in rows.iter().filter(|row| !row.is_summary()) {
        groups.entry(fabric(row)).or_default().push(row);
    }
    let groups: Vec<_> = groups.into_values().collect();
    let next = std::sync::atomic::AtomicUsize::new(0);
    let work = || {
        let mut found = Vec::new();
        while let Some(rows) = groups.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
            let keys = rows.iter().map(|row| row.key.clone());
            found.extend(keys.zip(simulate(rows, table.mode)));
        }
        found
    };
    thread::scope(|scope| {
        let all: Vec<_> = (0..2).map(|_| scope.spawn(work)).collect();
        let all = all.into_iter().map(|one| one.join().expect("it ends"));
        all.flatten().collect()
    })
}

/// The value below which a share of the errors is; the mean of the two around it.
fn quantile(errors: &[f64], share: f64) -> f64 {
    let mut sorted = errors.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = share * (sorted.len() - 1) as f64;
    let (below, above) = (
        sorted[place.floor() as usize],
        sorted[place.ceil() as usize],
    );
    below + (above - below) * place.fract()
}

/// The errors in per cent of rows that a fit has seen, and of sealed ones.
#[derive(Default)]
struct Errors {
    fitted: Vec<f64>,
    sealed: Vec<f64>,
}

impl Errors {
    fn all(&self) -> Vec<f64> {
        [&self.fitted[..], &self.sealed[..]].concat()
    }
}

fn cell(errors: &[f64]) -> String {
    match errors {
        [] => "–".to_owned(),
        errors => format!("{:.1}", quantile(errors, 0.5)),
    }
}

fn is_quick() -> bool {
    cases(0, 1) == 0
}

/// A table with its simulated times.
struct Judged {
    keys: Vec<&'static str>,
    rows: Vec<Row>,
    /// Simulated µs by the row's key.
    times: BTreeMap<String, f64>,
    sealed: BTreeSet<&'static str>,
}

impl Judged {
    fn new(table: &Published) -> Judged {
        let (keys, mut rows) = rows(table);
        if is_quick() {
            rows.retain(|row| !row.is_long());
        }
        Judged {
            keys,
            times: simulated(table, &rows),
            rows,
            sealed: table.sealed.lines().skip(1).collect(),
        }
    }

    fn summaries(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.is_summary())
    }

    /// Returns the errors of the rows that `is_meant`.
    fn errors(&self, is_meant: impl Fn(&Row) -> bool) -> Errors {
        let mut errors = Errors::default();
        let measured = self.rows.iter().filter(|row| !row.is_summary());
        for row in measured.filter(|row| is_meant(row)) {
            let error = (self.times[&row.key] / row.value() - 1.0).abs() * 100.0;
            if self.sealed.contains(&*row.key) {
                errors.sealed.push(error);
            } else {
                errors.fitted.push(error);
            }
        }
        errors
    }
}

/// Adds a table to the page, and returns the required summaries that are not met.
fn judge(table: &Published, page: &mut String) -> Vec<String> {
    let of = Judged::new(table);
    let shown = &of.keys[..5];
    let _ = writeln!(
        page,
        "\n## {}\n\n| {} | rows | median | P90 | fitted | sealed | bound | gate | verdict |\n|{}",
        table.name,
        shown.join(" | "),
        "---|".repeat(shown.len() + 8),
    );
    let (mut missed, mut required) = (Vec::new(), 0);
    for summary in of.summaries() {
        let errors = of.errors(|row| summary.covers(row, &of.keys));
        let found = errors.all();
        let median = quantile(&found, 0.5);
        let is_met = median <= summary.get("band_high").parse().expect("a number");
        if summary.get("gate") == "required" {
            required += 1;
            missed.extend((!is_met).then(|| format!("{}: {median:.1} %", summary.key)));
        }
        let names: Vec<&str> = shown.iter().map(|key| summary.get(key)).collect();
        let _ = writeln!(
            page,
            "| {} | {} | {median:.1} | {:.1} | {} | {} | {} | {} | {} |",
            names.join(" | "),
            found.len(),
            quantile(&found, 0.9),
            cell(&errors.fitted),
            cell(&errors.sealed),
            summary.get("band_high"),
            summary.get("gate"),
            if is_met { "match" } else { "miss" },
        );
    }
    let all = of.errors(|_| true);
    let _ = writeln!(
        page,
        "\n{} of {required} required rows match. Of {} fitted rows the median error is {} %, \
         of {} sealed ones {} %.",
        required - missed.len(),
        all.fitted.len(),
        cell(&all.fitted),
        all.sealed.len(),
        cell(&all.sealed),
    );
    missed
}

#[test]
fn kernels_take_the_measured_times() {
    let head = PAGE.split("\n## ").next().expect("there is one");
    let mut page = head.to_owned();
    let missed: Vec<String> = TABLES
        .iter()
        .flat_map(|table| judge(table, &mut page))
        .collect();
    if is_quick() {
        assert!(missed.is_empty(), "{missed:#?}");
        return;
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/silicon-experts.md");
    if env::var_os("UPDATE_EXPECTED").is_some() {
        fs::write(&path, &page).expect("the repository can be written");
    }
    assert!(missed.is_empty(), "{missed:#?}");
    assert!(
        PAGE == page || env::var_os("UPDATE_EXPECTED").is_some(),
        "docs/silicon-experts.md differs; run with TENTER_TEST_CASES=all UPDATE_EXPECTED=1"
    );
}
