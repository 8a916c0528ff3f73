//! `tenter report`, `tenter compare` and `tenter run --perfetto`: trials looked at.

use std::fs;

use serde_json::{Value, json};
use tenter::report::read_rows;

use crate::embedded::Embedded;
use crate::workplace::Workplace;

const INCAST: &str = "
name: <b>incast</b>
fabric: {kind: leaf-spine, leaves: 2, hosts_per_leaf: 4, spines: 1, flow_control: pfc, switch: {profile: generic-32mb}}
jobs:
  - name: gather
    collectives:
      - {collective: incast, root: 0, sizes: [8MiB, 64MiB]}
observe: {sample_interval: 2us}
";

/// A place with the trials `one` and `two`, which has half the rate.
fn with_trials(name: &str) -> Workplace {
    let workplace = Workplace::new(name);
    workplace.write("incast.yaml", INCAST);
    workplace
        .words("run incast.yaml -o one --perfetto")
        .expect(0);
    workplace
        .words("run incast.yaml -o two --set fabric.host_rate=200Gbps --set fabric.uplink_rate=200Gbps")
        .expect(0);
    workplace
}

#[test]
fn a_report_is_one_file_and_the_same_each_time() {
    let workplace = with_trials("report-file");
    let answer = workplace.words("report one two -o out/page.html").expect(0);
    assert_eq!(answer.stdout, "");
    assert!(
        answer.stderr.starts_with("report   out/page.html ("),
        "{}",
        answer.stderr
    );
    let page = fs::read_to_string(workplace.path("out/page.html")).expect("the report");
    assert!(!page.contains("<b>incast"), "names are escaped");
    let embedded = Embedded::of(&page);
    assert_eq!(embedded.document["title"], "2 trials");
    assert_eq!(embedded.document["home"], "#/compare?ids=1,2");
    for (address, part) in [
        ("compare?ids=1,2", "fabric.host_rate"),
        ("trials/1", "<b>incast</b>"),
        ("compare/pictures?ids=1,2", "Queues over time"),
        ("trials/1", "\"name\":\"one\""),
        ("trials/1/held-up", "Parts of the completion time"),
        ("trials/2/pictures?group=links", "leaf → spine"),
        ("trials/2/pictures?group=time", "When ports were paused"),
        ("trials/2/config", "host_rate: 200Gbps"),
        ("trials/2/fabric", "\"links\":["),
    ] {
        let text = embedded.text(&format!("/api/v1/{address}"));
        assert!(text.contains(part), "{address}: {part}");
    }
    let workplace_name = workplace.path("one").display().to_string();
    for (address, text) in &embedded.answers {
        assert!(!text.contains("NaN"), "{address}: places are numbers");
        assert!(
            !text.contains(&workplace_name),
            "{address}: no folder of this machine"
        );
    }
    workplace.words("report one two -o again.html").expect(0);
    let again = fs::read_to_string(workplace.path("again.html")).expect("the report");
    assert!(page == again, "the same trials give the same page");
}

#[test]
fn a_report_is_made_within_a_budget() {
    let workplace = Workplace::with_small("report-budget");
    workplace.words("run small.yaml -o one").expect(0);
    let large = "\
fabric: {kind: torus, sizes: [8, 256, 7], hosts_per_switch: 2}
jobs: [{collectives: [{collective: permutation, size: 4KiB}]}]
";
    workplace.write("one/config.yaml", large);
    for (option, limit) in [("--max-time", "5ms"), ("--max-memory", "100MB")] {
        let hint = format!("`{option} ");
        workplace
            .words(&format!("report one {option} {limit}"))
            .expect_refusal(&[limit, &hint]);
    }
    assert!(!workplace.path("report.html").exists());
}

#[test]
fn a_comparison_is_against_the_first_trial() {
    let workplace = with_trials("compare-trials");
    let table = workplace.words("compare one two").expect(0).stdout;
    for part in [
        "gather: job completion time",
        "gather: incast",
        "whole trial, all jobs together",
        "busbw",
        "two",
    ] {
        assert!(table.contains(part), "{part}\n{table}");
    }
    let json = workplace.words("compare one two --format json").expect(0);
    let json: Value = serde_json::from_str(&json.stdout).expect("JSON");
    let rows = json["comparison"].as_array().expect("rows");
    // The job and two sizes, of two trials each, and the two trials.
    assert_eq!(rows.len(), 8);
    assert!(rows[..6].iter().all(|row| row["xoff_frames"].is_null()));
    assert!(
        rows[6..]
            .iter()
            .all(|row| row["xoff_frames"].is_u64() && row["job_name"] == "")
    );
    let slower = rows[5]["time_difference_percent"].as_f64();
    // Half the rate takes twice as long, but for latencies.
    let slower = slower.expect("a difference");
    assert!((99.0..=101.0).contains(&slower), "{slower}");
    assert_eq!(rows[4]["time_difference_percent"], Value::Null);
    assert_eq!(json["trials"][1]["trial"], "two");
    let csv = workplace.words("compare one two --format csv").expect(0);
    assert_eq!(csv.stdout.lines().count(), 9);
}

#[test]
fn a_trial_stands_beside_its_own_log() {
    let workplace = Workplace::new("compare-log");
    workplace
        .words("bench all_reduce -b 1M -e 2M -f 2 --nodes 4 --fabric rail-64 --output bench -J log.json")
        .expect(0);
    let csv = workplace.words("compare bench --nccl-tests log.json --format csv");
    let csv = csv.expect(0).stdout;
    let of_log: Vec<&str> = csv
        .lines()
        .filter(|line| line.starts_with("log.json"))
        .collect();
    assert_eq!(of_log.len(), 2, "{csv}");
    let column = csv.lines().next().expect("a head").split(',');
    let column = column
        .clone()
        .position(|name| name == "time_difference_percent");
    for line in of_log {
        let difference: f64 = line
            .split(',')
            .nth(column.expect("a column"))
            .expect("a cell")
            .parse()
            .expect("a number");
        assert!(difference.abs() < 0.01, "{line}");
    }
}

#[test]
fn deviations_of_several_files_stand_in_table_json_and_report() {
    let workplace = Workplace::new("compare-measured");
    workplace
        .words("bench all_reduce -b 1M -e 4M -f 2 --nodes 4 --fabric rail-64 --output bench -J log.json")
        .expect(0);
    // In 10,000 µs 1 MiB would have a bus bandwidth of 0.157 GB/s among four ranks.
    workplace.write(
        "own.csv",
        "size (MiB),time (us),busbw (GB/s),host\n1,10000,0.15729,a\n64,1,1,a\n",
    );
    workplace.write(
        "perftest.json",
        "{\"test_info\": {\"test\": RDMA_Write_BW},\n\"results\": {\"MsgSize\": 2097152, \"BW_average\": 400.0, \"MsgRate\": 0.023842}}",
    );
    let files = "--measured log.json --measured own.csv --measured perftest.json";
    let json = workplace.words(&format!("compare bench {files} --format json"));
    let json = json.expect(0).json();
    let rows = json["deviations"].as_array().expect("rows");
    let of: Vec<_> = rows
        .iter()
        .map(|row| {
            let deviation = row["time_deviation_percent"].as_f64();
            (row["measured"].as_str().expect("a name"), deviation)
        })
        .collect();
    assert_eq!(of.len(), 5, "{json:#}");
    assert!(of[..3].iter().all(|(name, percent)| {
        *name == "log.json" && percent.is_some_and(|percent| percent.abs() < 0.01)
    }));
    assert!(of[3].0 == "own.csv" && of[3].1.is_some_and(|percent| percent < -90.0));
    assert_eq!(of[4], ("perftest.json", None));
    // 50 GB/s, in 10⁹ bytes.
    let rate = rows[4]["measured_busbw_gbytes_per_s"].as_f64();
    assert!((rate.expect("a rate") - 50.0).abs() < 0.01);
    let doubts = json["doubts"].to_string();
    assert!(
        doubts.contains("columns that are not read: `host`"),
        "{doubts}"
    );
    assert!(
        doubts.contains("own.csv: 1 of 2 sizes are in no trial"),
        "{doubts}"
    );
    let text = workplace.words(&format!("compare bench {files}")).expect(0);
    assert!(
        text.stdout
            .contains("simulated beside measured: all-reduce of own.csv"),
        "{}",
        text.stdout
    );
    workplace
        .words(&format!("report bench {files} -o beside.html"))
        .expect(0);
    let page = fs::read_to_string(workplace.path("beside.html")).expect("the report");
    let embedded = Embedded::of(&page);
    let beside = embedded.text("/api/v1/compare/measured");
    for part in [
        "Simulated beside measured",
        "all-reduce of own.csv",
        "{\"colour\":0,\"name\":\"measured\",",
        "mean absolute deviation",
        "columns that are not read: `host`",
    ] {
        assert!(beside.contains(part), "{part} in {beside}");
    }
}

#[test]
fn trials_in_folders_of_one_name_are_told_apart() {
    let workplace = Workplace::with_small("report-apart");
    for folder in ["a/trial", "b/trial"] {
        workplace
            .words(&format!("run small.yaml -o {folder}"))
            .expect(0);
    }
    let answer = workplace
        .words("report a/trial b/trial --format json")
        .expect(0);
    assert_eq!(answer.json()["left_out"], json!([]));
    let report = fs::read_to_string(workplace.path("report.html")).expect("a report");
    let root = workplace.path("").display().to_string();
    let embedded = Embedded::of(&report);
    let answers = embedded.answers.values();
    assert!(answers.clone().any(|answer| answer.contains("\"b/trial\"")));
    let with_path: Vec<&String> = answers.filter(|answer| answer.contains(&root)).collect();
    assert_eq!(with_path, Vec::<&String>::new());
    workplace
        .words("report a/trial b/../a/trial")
        .expect_refusal(&["is named twice"]);
}

#[test]
fn what_cannot_be_read_is_refused_with_what_to_do() {
    let workplace = with_trials("report-refused");
    workplace.write(
        "broken.log",
        "1048576 262144 float sum -1 12.5 oops 3 0 1 1 1 0\n",
    );
    workplace.write("other.log", "8 2 float none -1 12.5 1 3 0 1 1 1 0\n");
    workplace.write("sum.log", "8 2 float sum -1 12.5 1 3 0 1 1 1 0\n");
    workplace.write("noise.log", "\u{0}\u{1}\u{2} nothing\n");
    fs::create_dir_all(workplace.path("empty")).expect("a folder");
    fs::create_dir_all(workplace.path("damaged")).expect("a folder");
    for entry in fs::read_dir(workplace.path("one")).expect("the trial") {
        let entry = entry.expect("a file");
        let to = workplace.path("damaged").join(entry.file_name());
        fs::copy(entry.path(), to).expect("a copy");
    }
    workplace.write("damaged/flows.parquet", "PAR1 is not enough PAR1");
    let cases = [
        ("report nowhere", "nowhere: there is no such folder"),
        ("report empty", "empty: it is no trial folder"),
        ("report damaged -o d.html", "damaged/flows.parquet"),
        ("report one -o one", "cannot write one: "),
        ("compare one", "nothing to compare it with"),
        ("compare one empty", "empty: it is no trial folder"),
        ("compare one --nccl-tests nowhere", "cannot read nowhere"),
        (
            "compare one --nccl-tests noise.log",
            "noise.log: there is no row of results",
        ),
        (
            "compare one --nccl-tests broken.log",
            "broken.log: line 1: `oops` in column `algbw` is not a number",
        ),
        (
            "compare one --measured other.log",
            "no size of incast is in both: the file has 8 B, the trial 8 MiB, 64 MiB",
        ),
        (
            "report one --measured other.log",
            "no size is both in a trial and in a file of measurements",
        ),
        (
            "compare one --measured sum.log",
            "sum.log: the file is of an operation that reduces, and the trial has only incast",
        ),
        (
            "compare one --nccl-tests other.log --collective gather",
            "the file is of gather, and the trial has only incast",
        ),
        (
            "compare one --nccl-tests other.log --collective sum",
            "the file is of sum, and the trial has only incast",
        ),
    ];
    for (command, expected) in cases {
        let answer = workplace.words(command).expect(2);
        assert!(
            answer.stderr.contains(expected),
            "{command}: {}",
            answer.stderr
        );
    }
}

#[test]
fn a_trace_has_every_chunk_and_goes_with_its_trial() {
    let workplace = with_trials("perfetto");
    let text = fs::read_to_string(workplace.path("one/trace.json")).expect("the trace");
    let trace: Value = serde_json::from_str(&text).expect("JSON");
    let events = trace["traceEvents"].as_array().expect("events");
    let slices = |pid: u64| {
        let of = move |event: &&Value| event["ph"] == "X" && event["pid"] == pid;
        events.iter().filter(of).count()
    };
    let flows: Vec<tenter_results::FlowRow> = read_rows(&workplace.path("one")).expect("the flows");
    // The job and its two collectives; each chunk is on a track of its rank.
    assert_eq!(slices(1), 3);
    assert_eq!(slices(2), flows.len());
    let counter = |name: &str| {
        let is_it = |event: &&Value| {
            event["ph"] == "C" && event["name"].as_str().is_some_and(|n| n.ends_with(name))
        };
        events.iter().filter(is_it).count()
    };
    assert!(counter("queue") > 0 && counter("paused") > 0);
    assert_eq!(trace["otherData"]["chunks_left_out"], 0);
    // Slices of one track do not overlap.
    let mut ends = std::collections::BTreeMap::new();
    for event in events
        .iter()
        .filter(|event| event["ph"] == "X" && event["pid"] == 2)
    {
        let number = |key: &str| event[key].as_f64().expect("a number");
        let end: &mut f64 = ends.entry(number("tid") as u64).or_default();
        assert!(number("ts") >= *end - 1e-6, "{event}");
        *end = number("ts") + number("dur");
    }
    // A trial in the place of another does not keep its trace.
    workplace.words("run incast.yaml -o one").expect(0);
    assert!(!workplace.path("one/trace.json").exists());
}

/// Senders of an incast under DCQCN wait for their rates most of the time, and the parts of it are
/// all of it. Without congestion control nothing waits for a rate.
#[test]
fn a_report_says_that_senders_were_held_by_their_rates() {
    let workplace = Workplace::new("report-held-by-rate");
    let scenario = |nic: &str| {
        format!(
            "fabric: {{kind: single-switch, hosts: 9, rate: 400Gbps, flow_control: pfc+ecn}}
endpoint: {{nic: {{{nic}}}}}
jobs: [{{collectives: [{{collective: incast, root: 0, algorithm: parallel, size: 144MiB}}]}}]
"
        )
    };
    let page = |name: &str, nic: &str| {
        workplace.write(&format!("{name}.yaml"), scenario(nic));
        let run = format!("run {name}.yaml -o {name}");
        workplace.words(&run).expect(0);
        let report = format!("report {name} -o {name}.html");
        workplace.words(&report).expect(0);
        let page = fs::read_to_string(workplace.path(&format!("{name}.html")));
        let page = Embedded::of(&page.expect("the report"));
        let trial = tenter::read_for_report(workplace.path(name), &tenter::Budget::unlimited())
            .expect("the trial");
        (page, tenter::report::held_up(&trial))
    };
    let (text, found) = page("dcqcn", "congestion_control: dcqcn");
    let [rank, nic, held, alone, lost] = found[0].chain.sums();
    let total = rank + nic + held + alone + lost;
    let last = found[0].links.len() - 1;
    let received = found[0].chain.links[last].chunk.received;
    assert!((total - (received - found[0].start)).abs() < 1e-3);
    assert!(held > 0.5 * total && lost >= 0.0, "{held} of {total}");
    let told = text.json("/api/v1/trials/1/held-up");
    let told = &told["collectives"][0];
    assert!((told["held_by_rate_ns"].as_f64().expect("a time") - held).abs() < 1e-3);
    let parts = told["pictures"][0]["plot"]["parts"].to_string();
    assert!(
        parts.contains("held by rates"),
        "the cause is named: {parts}"
    );
    let (text, found) = page("pauses", "");
    assert!(found[0].chain.sums()[2].abs() < f64::EPSILON);
    let parts = text.text("/api/v1/trials/1/held-up");
    assert!(!parts.contains("held by"), "{parts}");
}
