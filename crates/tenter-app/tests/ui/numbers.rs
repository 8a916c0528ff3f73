//! Numbers are those of `tenter run` of the same file, digit by digit.

use std::fs;

use serde_json::{Value, json};

use crate::SCENARIO;
use crate::client::{Folder, Server, printed};
use crate::embedded::Embedded;
use crate::kinds::KINDS;

/// What depends on the machine and not on the scenario.
const OF_MACHINE: [&str; 4] = ["wall_s", "set_up_s", "peak_rss_bytes", "threads"];

#[test]
fn a_trial_has_the_numbers_that_the_command_prints() {
    let folder = Folder::new("numbers");
    fs::write(folder.path().join("small.yaml"), SCENARIO).expect("a file for the test");
    let table = printed(&folder, &["run", "small.yaml", "-o", "by-command"]);
    let server = Server::start(&folder, &[]);
    let id = server.queue(SCENARIO);
    let trial = server.wait(&format!("/trials/{id}"), "done");
    let own: Value = read(&folder.path().join("by-command/summary.json"));
    let mut pair = [own, trial["summary"].clone()];
    for summary in &mut pair {
        for name in OF_MACHINE {
            summary["engine"][name] = Value::Null;
        }
    }
    assert_eq!(pair[0], pair[1]);
    // All but the line of the engine, which has wall times, and that of the folder.
    let lines = |text: &str| -> Vec<String> {
        let shown = |line: &&str| !line.starts_with("engine") && !line.starts_with("trial");
        text.lines().filter(shown).map(str::to_owned).collect()
    };
    let text = trial["summary_text"].as_str().expect("a text");
    assert_eq!(lines(&table), lines(text));
    let jct = trial["jct_text"].as_str().expect("a time");
    assert!(table.contains(&format!("JCT {jct}")), "{jct}");
}

/// Words with one blank between them.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The texts of an array of the answer.
fn texts(value: &Value) -> Vec<&str> {
    let items = value.as_array().expect("an array").iter();
    items.map(|item| item.as_str().expect("a text")).collect()
}

/// The answers of each kind of trial are those of the command, word by word, on the page and in
/// the report.
#[test]
fn page_and_report_have_what_the_command_prints_of_every_kind_of_trial() {
    let folder = Folder::new("kinds");
    let scenarios = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    for kind in KINDS {
        let file = scenarios.join(kind).with_extension("yaml");
        let file = file.to_str().expect("a plain path");
        let table = printed(&folder, &["run", file, "-o", &format!("trials/{kind}")]);
        let lines: Vec<String> = table.lines().map(words).collect();
        printed(
            &folder,
            &["report", &format!("trials/{kind}"), "-o", "report.html"],
        );
        let report = Embedded::read(&folder.path().join("report.html")).json("/api/v1/trials/1");
        let is_printed = |text: &str| {
            assert!(lines.contains(&words(text)), "{kind}: {text} in\n{table}");
        };
        let server = Server::start(&folder, &[]);
        let found = server.json("/trials");
        let mut trials = found["rows"].as_array().expect("trials").iter();
        let trial = trials
            .find(|trial| trial["folder"] == kind)
            .expect("it is listed");
        let trial = server.json(&format!("/trials/{}", trial["id"]));
        for section in trial["sections"].as_array().expect("sections") {
            is_printed(section["title"].as_str().expect("a title"));
            texts(&section["lines"]).into_iter().for_each(is_printed);
            for answer in section["tables"].as_array().expect("tables") {
                for row in answer["rows"].as_array().expect("rows") {
                    is_printed(&texts(row).join(" "));
                }
            }
        }
        for fact in trial["facts"].as_array().expect("facts") {
            let [label, text] = ["label", "text"].map(|key| fact[key].as_str().expect("a text"));
            is_printed(&format!("{label} {text}"));
        }
        for key in ["tiles", "sections", "facts", "summary"] {
            assert_eq!(report[key], trial[key], "{kind}: {key} of the report");
        }
    }
}

fn read(path: &std::path::Path) -> Value {
    let text = fs::read_to_string(path).expect("the file is there");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn statistics_agree_with_the_tables() {
    let folder = Folder::new("statistics");
    let server = Server::start(&folder, &[]);
    let id = server.queue(SCENARIO);
    let trial = server.wait(&format!("/trials/{id}"), "done");
    let of = |path: &str| server.json(&format!("/trials/{id}/{path}"));
    let first = &trial["summary"]["jobs"][0]["collectives"][0];
    // The greatest flow completion time of the all-to-all, three times.
    let slowest =
        of("tables/flows?where=collective_index=0&sort=fct_ns&order=desc&limit=1&columns=fct_ns");
    assert_eq!(slowest["total"], first["flows"]);
    assert_eq!(slowest["rows"][0][0], first["fct_max_ns"]);
    let cdf = of("cdf?job=0&collective=0");
    assert_eq!(cdf["jobs"][0]["max"], first["fct_max_ns"]);
    assert_eq!(cdf["jobs"][0]["p50"], first["fct_p50_ns"]);
    assert_eq!(cdf["jobs"][0]["count"], first["flows"]);
    // All rows as text, and a line of names.
    let csv = server.ask(
        "GET",
        &format!("/trials/{id}/tables/flows"),
        &["Accept: text/csv"],
        "",
    );
    assert_eq!(
        csv.text().lines().count() as u64 - 1,
        of("tables/flows")["total"].as_u64().expect("a count")
    );
    let timeline = of("timeline?collective=0");
    assert_eq!(timeline["total"], first["flows"]);
    assert_eq!(timeline["merged"], false);
    let fabric = of("fabric");
    assert_eq!(fabric["nodes"].as_array().map(Vec::len), Some(12));
    assert_eq!(
        fabric["loads"].as_array().map(Vec::len),
        Some(2 * fabric["links"].as_array().map_or(0, Vec::len))
    );
    let at = of("fabric?time=20000");
    assert!(at["time_ns"].as_f64().is_some_and(|time| time >= 20_000.0));
    let held = of("held-up");
    let total = held["collectives"][0]["total_ns"].as_f64().expect("a time");
    let time = first["completion_time_ns"].as_f64().expect("a time");
    assert!((total - time).abs() < 1.0, "{total} and {time}");
    let heat = of("ports-heat?metric=utilisation&columns=20");
    assert!(
        heat["values"][0]
            .as_array()
            .is_some_and(|row| row.len() <= 20)
    );
    assert!(
        of("ports/leaf0:4?metric=tx_gbps")["points"]
            .as_array()
            .is_some_and(|of| !of.is_empty())
    );
    for (file, begin) in [
        ("files/flows.parquet", "PAR1"),
        ("trace.json", "{"),
        ("report.html", "<!doctype"),
    ] {
        let answer = server.get(&format!("/trials/{id}/{file}"));
        assert_eq!(answer.status, 200);
        let bytes = &answer.bytes()[..begin.len()];
        assert!(bytes.eq_ignore_ascii_case(begin.as_bytes()), "{file}");
    }
}

#[test]
fn a_scenario_is_checked_drawn_and_compared() {
    let folder = Folder::new("check");
    let server = Server::start(&folder, &[]);
    let post =
        |path: &str, text: &str| server.send("POST", path, &serde_json::json!({"text": text}));
    let good = post("/check", SCENARIO).json();
    assert_eq!(good["problems"], serde_json::json!([]));
    assert_eq!(good["hosts"], 8);
    assert!(
        good["estimate"]["packet_hops"]
            .as_f64()
            .is_some_and(|hops| hops > 1e3)
    );
    let bad = post("/check", "fabric: {kind: leaf-spin}\njobs: []\n");
    assert_eq!(bad.status, 200);
    let bad = bad.json();
    assert_eq!(bad["problems"][0]["line"], 1);
    assert!(
        bad["problems"][0]["help"]
            .as_str()
            .is_some_and(|help| help.contains("leaf-spine"))
    );
    assert_eq!(
        post("/fabric", SCENARIO).json()["links"]
            .as_array()
            .map(Vec::len),
        Some(12)
    );
    let ranks = &post("/mapping", SCENARIO).json()["jobs"][0]["ranks"];
    assert_eq!(
        (&ranks[5]["host"], &ranks[5]["leaf"]),
        (&"host5".into(), &"leaf1".into())
    );
}

#[test]
fn trials_stand_side_by_side() {
    let folder = Folder::new("beside");
    let server = Server::start(&folder, &[]);
    let ids = [
        SCENARIO.to_owned(),
        SCENARIO.replace("spines: 2", "spines: 1"),
    ]
    .map(|text| server.queue(&text));
    for id in ids {
        server.wait(&format!("/trials/{id}"), "done");
    }
    let beside = server.json(&format!("/compare?ids={},{}", ids[0], ids[1]));
    let differs: Vec<&str> = beside["config"]
        .as_array()
        .expect("settings")
        .iter()
        .filter_map(|of| of["path"].as_str())
        .collect();
    assert_eq!(differs, ["fabric.spines"]);
    assert_eq!(beside["config"][0]["values"], serde_json::json!(["2", "1"]));
    assert_eq!(beside["cdfs"].as_array().map(Vec::len), Some(2));
}

/// One job on the eight NICs of the small scenario.
fn one_job(name: &str, collective: &str, spines: u64) -> String {
    format!(
        "
name: {name}
fabric: {{kind: leaf-spine, leaves: 2, hosts_per_leaf: 4, spines: {spines}}}
jobs: [{{name: {name}, collectives: [{{collective: {collective}, size: 1MiB}}]}}]
"
    )
}

#[test]
fn rows_of_a_comparison_are_of_the_trial_that_they_name() {
    let folder = Folder::new("unlike");
    let server = Server::start(&folder, &[]);
    let ids = [
        one_job("first", "all-to-all", 2),
        one_job("unlike", "all-gather", 2),
        one_job("last", "all-to-all", 1),
    ]
    .map(|text| server.queue(&text));
    let times = ids.map(|id| {
        let trial = server.wait(&format!("/trials/{id}"), "done");
        trial["summary"]["jobs"][0]["jct_ns"].clone()
    });
    let [first, unlike, last] = ids;
    let beside = server.json(&format!("/compare?ids={first},{unlike},{last}"));
    let columns = beside["columns"].as_array().expect("columns");
    let named = |row: &Value, name: &str| {
        let place = columns.iter().position(|column| column["name"] == name);
        row[place.expect("a column")].clone()
    };
    let rows = beside["rows"].as_array().expect("rows");
    let places = beside["places"].as_array().expect("places");
    assert_eq!(rows.len(), places.len());
    let mut groups = vec![Vec::new(); 3];
    for (row, place) in rows.iter().zip(places) {
        let at = ids.iter().position(|&id| place["trial"] == id);
        let at = at.expect("a trial that was asked for");
        let name = named(row, "trial");
        let name = name.as_str().expect("a name");
        assert!(name.ends_with(&format!("({})", ids[at])), "{name}");
        let group = place["group"].as_u64().expect("a group") as usize;
        groups[group].push(ids[at]);
        if named(row, "collective") != Value::Null {
            assert_eq!(named(row, "time_ns"), times[at], "{name}");
            let differs = named(row, "time_difference_percent");
            assert_eq!(differs.is_number(), at == 2, "{name}: {differs}");
        }
    }
    // The all-to-alls belong together, though their jobs have other names.
    assert_eq!(
        groups,
        [vec![first, last], vec![unlike], vec![first, unlike, last]]
    );
    assert_eq!(
        server.get(&format!("/compare?ids={first},{first}")).status,
        400
    );
}

/// Two jobs, of which the short one is near its ideal and has the larger collective.
const TWO_JOBS: &str = "
name: two
fabric: {kind: leaf-spine, leaves: 2, hosts_per_leaf: 8, spines: 1, uplink_rate: 400Gbps}
jobs:
  - {name: short, ranks: [0-3], collectives: [{collective: all-reduce, size: 4MiB}]}
  - {name: long, ranks: [4-15], iterations: 4, collectives: [{collective: all-to-all, size: 2MiB}]}
  - {name: beside, ranks: [0-15], background: true, collectives: [{collective: all-to-all, size: 8MiB}]}
";

#[test]
fn the_headline_names_the_job_of_each_number_and_has_the_lowest_share_of_ideal() {
    let folder = Folder::new("headline");
    let server = Server::start(&folder, &[]);
    let quiet = TWO_JOBS.lines().filter(|line| !line.contains("beside"));
    let quiet = quiet.collect::<Vec<_>>().join("\n");
    for text in [quiet.as_str(), TWO_JOBS] {
        let id = server.queue(text);
        let trial = server.wait(&format!("/trials/{id}"), "done");
        let jobs = trial["summary"]["jobs"].as_array().expect("jobs");
        let number = |of: &Value, name: &str| of[name].as_f64().expect("a number");
        let measured = jobs.iter().filter(|job| job["background"] == false);
        let longest = measured
            .clone()
            .max_by(|a, b| number(a, "jct_ns").total_cmp(&number(b, "jct_ns")));
        let longest = longest.expect("a job");
        assert_eq!(trial["jct_ns"], longest["jct_ns"]);
        assert_eq!(trial["jct_job"], longest["job_name"]);
        let rows = measured.flat_map(|job| {
            let rows = job["collectives"].as_array().expect("rows");
            rows.iter().map(move |row| (job, row))
        });
        let share = |row: &Value| number(row, "percent_of_ideal");
        let lowest = rows.min_by(|a, b| share(a.1).total_cmp(&share(b.1)));
        let (job, row) = lowest.expect("a collective");
        for name in [
            "percent_of_ideal",
            "algbw_gbytes_per_s",
            "busbw_gbytes_per_s",
        ] {
            let shown = name.replace("percent_of_ideal", "ideal_percent");
            assert_eq!(trial[shown.as_str()], row[name], "{name}");
        }
        let of = format!(
            "{}: all-to-all, 2 MiB",
            job["job_name"].as_str().expect("a name")
        );
        assert_eq!(trial["collective"], of.as_str());
    }
    // The command says the same.
    let list = printed(&folder, &["trials", "list"]);
    assert!(list.contains("long: all-to-all, 2 MiB"), "{list}");
}

#[test]
fn a_study_says_how_many_rows_must_match() {
    let folder = Folder::new("required");
    let server = Server::start(&folder, &[]);
    let studies = server.json("/studies");
    let mut without = 0;
    for study in studies.as_array().expect("studies") {
        let name = study["name"].as_str().expect("a name");
        let page = server.json(&format!("/studies/{}", name.replace('/', "%2F")));
        let cases = page["cases"].as_array().expect("cases");
        let required = |verdict: &[&str]| {
            let rows = cases.iter().filter(|case| case["gate"] == "required");
            let judged = |case: &&Value| verdict.iter().any(|of| case["verdict"] == *of);
            rows.filter(judged).count() as u64
        };
        assert_eq!(study["required"], required(&["match", "miss"]), "{name}");
        assert_eq!(study["required_matches"], required(&["match"]), "{name}");
        without += u64::from(study["required"] == 0);
    }
    assert!(without > 0, "some studies are for information alone");
}

#[test]
fn presets_can_be_run_and_studies_have_recorded_rows() {
    let folder = Folder::new("presets");
    let server = Server::start(&folder, &[]);
    let post =
        |path: &str, text: &str| server.send("POST", path, &serde_json::json!({"text": text}));
    // Every preset can be run as it is.
    for preset in server.json("/presets").as_array().expect("presets") {
        let name = preset["name"].as_str().expect("a name").replace('/', "%2F");
        let text = server.json(&format!("/presets/{name}"))["text"]
            .as_str()
            .expect("a text")
            .to_owned();
        if preset["kind"] != "study" {
            assert_eq!(
                post("/check", &text).json()["problems"],
                serde_json::json!([]),
                "{name}"
            );
        }
    }
    assert!(
        server
            .json("/studies")
            .as_array()
            .is_some_and(|studies| studies.len() > 40)
    );
    let study = server.json("/studies/methodology%2Fjct-2");
    assert!(
        study["cases"]
            .as_array()
            .is_some_and(|cases| cases.iter().all(|case| case["verdict"] != "not judged"))
    );
}

/// A pipeline of two stages, each with two ranks.
const TRAINING: &str = "
name: training
fabric: {kind: leaf-spine, leaves: 2, hosts_per_leaf: 4, spines: 2}
jobs:
  - name: training
    workload:
      kind: training
      model: {layers: 2, hidden: 512, heads: 8, kv_heads: 4, ffn: 1408, vocabulary: 4000, sequence: 512}
      tp: 2
      pp: 2
      batch: 4
";

#[test]
fn a_report_has_the_pictures_of_the_page() {
    let folder = Folder::new("pictures");
    let server = Server::start(&folder, &[]);
    let [plain, training] = [SCENARIO, TRAINING].map(|scenario| {
        let id = server.queue(scenario);
        server.wait(&format!("/trials/{id}"), "done");
        id
    });
    let none = server.json(&format!("/trials/{plain}/pictures?group=operations"));
    assert_eq!(none, json!([]), "without operations there are none");
    let all = server.json(&format!("/trials/{plain}/pictures"));
    assert_eq!(all[0]["name"], "links");
    assert_eq!(all[0]["pictures"][0]["plot"]["kind"], "cells");
    let report = server.get(&format!("/trials/{training}/report.html"));
    let report = Embedded::of(&report.text());
    assert_eq!(report.document["title"], "training");
    assert!(report.answers.contains_key("/api/v1/trials/1/fabric"));
    let of_report = |path: &str| report.json(&format!("/api/v1/trials/1/{path}"));
    let groups = server.json(&format!("/trials/{training}/pictures"));
    assert_eq!(groups[0]["name"], "operations");
    let picture = &groups[0]["pictures"][0];
    assert_eq!(picture["title"], "training, iteration 0");
    assert_eq!(picture["plot"]["kind"], "operations");
    assert_eq!(of_report("pictures?group=operations"), json!([groups[0]]));
    let held = server.json(&format!("/trials/{training}/held-up"));
    let pictures = held["collectives"][0]["pictures"].as_array();
    let pictures = pictures.expect("pictures");
    let kinds: Vec<&Value> = pictures
        .iter()
        .map(|picture| &picture["plot"]["kind"])
        .collect();
    assert_eq!(kinds, ["parts", "chain"]);
    assert_eq!(of_report("held-up"), held);
}
