//! `tenter study` as a user types it.

mod embedded;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use embedded::Embedded;
use serde_json::Value;

fn tenter(arguments: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_tenter"))
        .args(arguments)
        // The studies are part of the program: no file of the repository is near.
        .current_dir(std::env::temp_dir())
        .output();
    output.expect("the binary runs")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

/// The keys of an object in the order in which they are printed.
fn keys_of_first(text: &str, array: &str) -> Vec<String> {
    let start = text.find(array).expect("the array is there");
    let object = &text[start..];
    let (open, close) = (object.find('{'), object.find('}'));
    let object = &object[open.expect("an object")..close.expect("its end")];
    let lines = object.lines().filter_map(|line| line.split_once("\": "));
    lines
        .map(|(key, _)| key.trim().trim_start_matches('"').to_owned())
        .collect()
}

/// A temporary folder, removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let name = format!("tenter-study-{name}-{}", std::process::id());
        Folder(std::env::temp_dir().join(name))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What a failed clean-up leaves is in the system's temporary folder.
        drop(fs::remove_dir_all(&self.0));
    }
}

#[test]
fn run_prints_the_documented_json_and_writes_it() {
    let folder = Folder::new("a");
    let path = folder.0.to_str().expect("a plain path");
    let output = tenter(&[
        "study",
        "run",
        "methodology/jct-2",
        "--quick",
        "--format",
        "json",
        "-o",
        path,
    ]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = stdout(&output);
    let json: Value = serde_json::from_str(&text).expect("JSON and nothing else");
    let study = &json["studies"][0];
    assert_eq!(study["study"], "methodology/jct-2");
    assert_eq!(study["digest"].as_str().map(str::len), Some(32));
    let expected = "case metric variant published origin measured band gate verdict";
    assert!(text.contains("\"cases\": ["));
    let keys = keys_of_first(&text.replace(char::is_numeric, ""), "\"cases\"");
    assert_eq!(keys.join(" "), expected);

    let rows = study["cases"].as_array().expect("rows");
    // 6 cases up to 512 MiB, 4 metrics, 2 variants.
    assert_eq!(rows.len(), 48);
    let row = |metric: &str, variant: &str| {
        let wanted = |row: &&Value| {
            row["case"] == "16MiB" && row["metric"] == metric && row["variant"] == variant
        };
        rows.iter().find(wanted).expect("the row is there")
    };
    let judged = row("completion_time_ms", "calibrated");
    assert_eq!(judged["published"], 0.313);
    assert_eq!(judged["band"], serde_json::json!([0.3036, 0.3224]));
    assert_eq!(judged["gate"], "required");
    assert_eq!(judged["verdict"], "match");
    let measured = judged["measured"].as_f64().expect("a number");
    assert!((0.3036..=0.3224).contains(&measured), "{measured}");
    for shown in [
        row("completion_time_ms", "pure"),
        row("fct_p50_ms", "calibrated"),
    ] {
        assert_eq!(shown["band"], Value::Null);
        assert_eq!(shown["gate"], "info");
        assert_eq!(shown["verdict"], "info");
    }

    let written = fs::read_to_string(folder.0.join("studies.json"));
    assert_eq!(written.expect("the file"), text);
    for variant in ["pure", "calibrated"] {
        let trial = folder.0.join("methodology/jct-2").join(variant);
        let summary = fs::read_to_string(trial.join("summary.json")).expect("a trial folder");
        let summary: Value = serde_json::from_str(&summary).expect("JSON");
        assert_eq!(summary["complete"], true);
        assert!(trial.join("config.yaml").is_file());
    }
    report_of(&folder);
}

/// What a study left has a report, but not together with trials.
fn report_of(folder: &Folder) {
    let path = folder.0.to_str().expect("a plain path");
    let page = folder.0.join("report.html");
    let page_path = page.to_str().expect("a plain path");
    let report = tenter(&["report", path, "-o", page_path]);
    assert_eq!(report.status.code(), Some(0), "{report:?}");
    let report = Embedded::read(&page);
    assert_eq!(report.document["home"], "#/studies/methodology%2Fjct-2");
    let study = report.json("/api/v1/studies/methodology/jct-2");
    assert_eq!(
        (&study["required"], &study["required_matches"]),
        (&6.into(), &6.into())
    );
    assert_eq!(study["charts"], Value::Array(Vec::new()));
    let trial = folder.0.join("methodology/jct-2/pure");
    let both = tenter(&["report", path, trial.to_str().expect("a plain path")]);
    assert_eq!(both.status.code(), Some(2));
    let text = String::from_utf8_lossy(&both.stderr);
    assert!(
        text.contains("is not a folder of studies, but others are"),
        "{text}"
    );
}

#[test]
fn a_study_without_a_quick_form_is_not_run() {
    let output = tenter(&["study", "run", "methodology/iso-1", "--quick"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = stdout(&output);
    assert!(text.contains("not run: it has no quick form"), "{text}");
}

#[test]
fn run_prints_tables_and_csv() {
    let table = tenter(&["study", "run", "methodology/jct-1", "--quick"]);
    assert_eq!(table.status.code(), Some(0), "{table:?}");
    let text = stdout(&table);
    assert!(text.contains("2 of 2 required rows match"));
    assert!(text.contains("calibration endpoint.host.step_delay=0.56ms, fitted to"));

    let csv = tenter(&[
        "study",
        "run",
        "methodology/jct-1",
        "--quick",
        "--format",
        "csv",
    ]);
    let text = stdout(&csv);
    let lines: Vec<&str> = text.lines().collect();
    let header = "study,case,bar,metric,variant,origin,published,measured,least,greatest,deviation_percent,band_low,band_high,gate,verdict";
    assert_eq!(lines[0], header);
    assert_eq!(lines.len(), 1 + 48);
    assert!(
        lines[1]
            .starts_with("methodology/jct-1,16MiB,,completion_time_ms,pure,published,3.89,0.518")
    );
    assert!(lines[1].ends_with(",,,info,info"));
    assert!(lines[2].ends_with(",3.8511,3.9289,required,match"));
}

#[test]
fn list_and_show_need_no_run() {
    let list = tenter(&["study", "list"]);
    assert_eq!(list.status.code(), Some(0));
    let text = stdout(&list);
    assert!(text.contains("methodology/jct-1") && text.contains("methodology/jct-2"));
    assert!(text.contains("AI Fabric Test Methodology (Keysight)"));

    let show = tenter(&["study", "show", "methodology/jct-2"]);
    assert_eq!(show.status.code(), Some(0));
    let text = stdout(&show);
    assert!(text.contains("## Published rows"));
    assert!(text.contains("155.325"));
    assert!(text.contains("153.7717–156.8782"));
}

#[test]
fn an_unknown_study_is_an_input_error_with_a_suggestion() {
    for command in ["run", "show"] {
        let output = tenter(&["study", command, "methodology/jct2"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(output.stdout.is_empty());
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(text.contains("did you mean `methodology/jct-2`?"), "{text}");
        assert!(text.contains("\n  methodology/: jct-1, jct-2"));
    }
}

#[test]
fn a_path_without_a_study_names_what_runs_it() {
    let folder = Folder::new("b");
    std::fs::create_dir_all(&folder.0).expect("a folder");
    let path = folder.0.to_string_lossy().into_owned();
    let output = tenter(&["study", "run", &path]);
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        error.contains("study.yaml") && error.contains("tenter sweep FILE"),
        "{error}"
    );
}

#[test]
fn a_study_says_alike_what_trials_were_kept_side_by_side() {
    let folder = Folder::new("c");
    let path = folder.0.to_string_lossy().into_owned();
    let said = |more: &[&str]| {
        let words = ["study", "run", "methodology/jct-2", "--quick", "-o", &path];
        let output = tenter(&[&words, more].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort_unstable();
        lines
    };
    said(&[]);
    let one_by_one = said(&[]);
    assert!(one_by_one.iter().any(|line| line.contains("is kept")));
    assert_eq!(said(&["--workers", "2"]), one_by_one);
}

#[test]
fn a_study_is_the_same_trial_by_trial_and_side_by_side() {
    let run = |more: &[&str]| {
        let words = [
            "study",
            "run",
            "methodology/jct-2",
            "--quick",
            "--format",
            "json",
        ];
        let output = tenter(&[&words, more].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        stdout(&output)
    };
    assert_eq!(run(&[]), run(&["--workers", "2"]));
}

/// A copy runs as the study does, and other settings or tables are the user's.
#[test]
fn a_copy_of_a_study_is_the_users() {
    let folder = Folder::new("d");
    let path = folder.0.to_string_lossy().into_owned();
    let copied = tenter(&["study", "copy", "methodology/jct-2", &path]);
    assert_eq!(copied.status.code(), Some(0), "{copied:?}");
    let again = tenter(&["study", "copy", "methodology/jct-2", &path]);
    assert_eq!(again.status.code(), Some(2));
    let run = |more: &[&str]| {
        let words = ["study", "run", &path, "--quick", "--variant", "calibrated"];
        tenter(&[&words, more].concat())
    };
    assert_eq!(run(&[]).status.code(), Some(0));
    let other = run(&["--set", "fabric.host_rate=200Gbps"]);
    assert_eq!(other.status.code(), Some(0), "{other:?}");
    assert!(stdout(&other).contains("not judged by this form: 6"));
    // A measurement of one's own, and its band.
    let table = folder.0.join("keysight-trials.csv");
    let text = fs::read_to_string(&table).expect("the table");
    let text = text.replace(",0.3036,0.3224,required,", ",0.1,0.2,required,");
    fs::write(&table, text).expect("it can be written");
    assert_eq!(run(&[]).status.code(), Some(1));
}

/// Two rows of a table may have one name: each has a line with its own verdict.
#[test]
fn rows_of_one_name_have_verdicts_of_their_own() {
    let folder = Folder::new("e");
    let write = |file: &str, text: &str| {
        fs::write(folder.0.join(file), text).expect("it can be written");
    };
    fs::create_dir_all(&folder.0).expect("a folder");
    write(
        "scenario.yaml",
        "fabric: {kind: single-switch, hosts: 4}\n\
         jobs: [{collectives: [{collective: all-to-all, size: 1MiB}]}]\n",
    );
    write(
        "lab.csv",
        "size_bytes,time_us,band_low,band_high,gate,reason\n\
         1048576,16,1,1000,required,by hand\n1048576,16,1,2,required,by hand\n",
    );
    write(
        "study.yaml",
        "title: a lab\nsource: its log\nscenario: scenario.yaml\npublished: {table: lab}\n\
         judge: a\nvariants: {a: {}, b: {fabric.host_delay: 1us}}\nreadings:\n  \
         - case: \"{size_bytes}B\"\n    each_row: true\n    value: time_us\n    \
         query: max(jobs.jct_ns) / 1000\n",
    );
    let run = tenter(&["study", "run", &folder.0.to_string_lossy()]);
    assert_eq!(run.status.code(), Some(1), "{run:?}");
    let text = stdout(&run);
    let verdicts = text
        .lines()
        .filter(|line| line.trim_start().starts_with("1MiB"));
    let verdicts: Vec<_> = verdicts
        .filter_map(|line| line.split_whitespace().last())
        .collect();
    assert_eq!(verdicts, ["match", "MISS"], "{text}");
}

#[test]
fn only_the_variants_asked_for_are_run() {
    let run = ["study", "run", "methodology/jct-2", "--quick", "--variant"];
    let output = tenter(&[&run[..], &["pure", "--format", "csv"]].concat());
    assert_eq!(output.status.code(), Some(0));
    let text = stdout(&output);
    assert!(text.lines().count() > 1 && text.contains(",pure,"));
    assert!(!text.contains("calibrated"), "{text}");

    let output = tenter(&[&run[..], &["pure"]].concat());
    let text = stdout(&output);
    assert!(text.contains("not run (--variant): calibrated"), "{text}");

    let output = tenter(&[&run[..], &["pur"]].concat());
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8_lossy(&output.stderr);
    let wanted = "the study `methodology/jct-2` has no variant `pur`\n  its variants: ";
    assert!(text.contains(wanted), "{text}");

    let study = ["run", "scheduled-fabric/impairments", "--variant"];
    let run = [&["study"], &study[..], &["ecmp-none", "--quick"]].concat();
    let output = tenter(&run);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("leave out --quick"), "{text}");
}
