//! Notes on trials: each surface on which a number stands has what must be known beside it.

use std::fs;

use tenter::report::read_rows;
use tenter_results::NoteRow;

use crate::embedded::Embedded;
use crate::workplace::Workplace;

/// No class of the data is marked, so its congestion control does nothing.
const UNMARKED: &str = "
name: unmarked
fabric: {kind: leaf-spine, leaves: 2, hosts_per_leaf: 2, spines: 2}
jobs: [{name: a, collectives: [{collective: all-to-all, size: 64KiB}]}]
";

const SWEEP: &str = "
name: nw
scenario: unmarked.yaml
variants:
  pfc: {}
  dcqcn: {endpoint.nic.congestion_control: dcqcn}
";

/// Of the warning that `endpoint.nic.congestion_control` has no effect.
const NO_MARKS: &str = "no class of the data is marked";
/// Of a setting without effect.
const NO_WINDOW: &str = "windows are never longer than 2 us";
/// Of flow level.
const FLOWS: &str = "at flow level";

const SET: &str =
    "--set endpoint.nic.congestion_control=dcqcn --set engine.window=1ms --fidelity packet";

fn place(name: &str) -> Workplace {
    let workplace = Workplace::new(name);
    workplace.write("unmarked.yaml", UNMARKED);
    workplace.write("nw.yaml", SWEEP);
    workplace
}

/// Asserts that a text has all of these.
fn has(what: &str, text: &str, parts: &[&str]) {
    // JSON has other quotes than texts, but not within these parts.
    for part in parts {
        assert!(text.contains(part), "{what} lacks {part:?}:\n{text}");
    }
}

/// All answers in a report, one after the other.
fn answers(workplace: &Workplace, report: &str) -> String {
    let report = Embedded::read(&workplace.path(report));
    report.answers.into_values().collect()
}

#[test]
fn no_surface_of_a_trial_drops_a_note() {
    let workplace = place("notes-trial");
    let both = [NO_MARKS, NO_WINDOW];
    let run = workplace
        .words(&format!("run unmarked.yaml {SET} -o packets"))
        .expect(0);
    has("run", &run.stdout, &both);
    let flows = workplace
        .words("run unmarked.yaml --fidelity flow -o flows")
        .expect(0);
    has("run at flow level", &flows.stdout, &[FLOWS]);

    let rows: Vec<NoteRow> = read_rows(&workplace.path("packets")).expect("a table of notes");
    let codes: Vec<&str> = rows.iter().map(|row| row.code.word()).collect();
    assert_eq!(codes, ["scenario", "no-effect"]);
    let places: Vec<&str> = rows.iter().map(|row| row.place.as_str()).collect();
    assert_eq!(places, ["endpoint.nic.congestion_control", "engine.window"]);
    let summary = workplace.json("packets/summary.json");
    assert_eq!(summary["notes"].as_array().map(Vec::len), Some(2));
    assert_eq!(summary["warnings"].as_array().map(Vec::len), Some(1));
    let flows = workplace.json("flows/summary.json");
    assert_eq!(flows["notes"][0]["code"], "flow-level-error");

    let compared = workplace.words("compare packets flows").expect(0).stdout;
    has("compare", &compared, &both);
    has(
        "compare",
        &compared,
        &["flows at flow level beside packets with packets"],
    );
    let json = workplace
        .words("compare packets flows --format json")
        .expect(0)
        .json();
    has("compare, JSON", &json.to_string(), &both);
    assert_eq!(json["trials"][1]["engine"], "flow");
    assert_eq!(json["trials"][0]["notes"][1]["code"], "no-effect");
    workplace
        .words("report packets flows -o report.html")
        .expect(0);
    let report = answers(&workplace, "report.html");
    has("report", &report, &both);
    has(
        "report",
        &report,
        &["flows (2) at flow level beside packets (1) with packets"],
    );

    let seeds = workplace
        .words(&format!("run unmarked.yaml {SET} --seeds 2 -o seeds"))
        .expect(0);
    has("seeds", &seeds.stdout, &both);
    let seeds = format!("run unmarked.yaml {SET} --seeds 2 -o seeds --format json");
    has(
        "seeds, JSON",
        &workplace.words(&seeds).expect(0).stdout,
        &both,
    );
    workplace.words("report seeds -o seeds.html").expect(0);
    let report = answers(&workplace, "seeds.html");
    has("report of seeds", &report, &both);
}

#[test]
fn no_surface_of_a_sweep_drops_a_note() {
    let workplace = place("notes-sweep");
    let text = workplace.words("sweep nw.yaml -o out").expect(0).stdout;
    let line = text.lines().find(|line| line.contains(NO_MARKS));
    let line = line.unwrap_or_else(|| panic!("the sweep drops its warning:\n{text}"));
    assert!(line.starts_with("warning: dcqcn: "), "{line}");
    let json = workplace
        .words("sweep nw.yaml -o out --format json")
        .expect(0)
        .json();
    let variants = &json["studies"][0]["variants"];
    assert_eq!(variants[0].get("notes"), None, "{variants}");
    assert_eq!(variants[1]["notes"][0]["code"], "scenario");
    let record = workplace.json("out/sweep.json");
    assert_eq!(record["sweep"]["notes"][1][0]["code"], "scenario");
    let results = fs::read(workplace.path("out/results.parquet")).expect("a table");
    assert!(String::from_utf8_lossy(&results).contains("no class of the data"));
    workplace.words("report out -o out.html").expect(0);
    let report = answers(&workplace, "out.html");
    has("report of the sweep", &report, &[NO_MARKS]);

    let flows = workplace
        .words("sweep nw.yaml -o flows --fidelity flow")
        .expect(0)
        .stdout;
    has("sweep at flow level", &flows, &[FLOWS, NO_MARKS]);
    // Each variant has a known error of its own, or none.
    for line in [
        "warning: pfc: this trial is",
        "warning: dcqcn: this trial is",
    ] {
        assert_eq!(flows.matches(line).count(), 1, "{line}: {flows}");
    }
    let compared = workplace.words("compare out flows").expect(0).stdout;
    has(
        "compare of sweeps",
        &compared,
        &["warning: flows: ", FLOWS, NO_MARKS],
    );
    let json = workplace
        .words("compare out flows --format json")
        .expect(0)
        .stdout;
    has("compare of sweeps, JSON", &json, &[FLOWS, NO_MARKS]);
}

#[test]
fn no_surface_of_a_study_drops_a_note() {
    let workplace = place("notes-study");
    fs::create_dir_all(workplace.path("mine")).expect("a folder");
    let dcqcn = "endpoint: {nic: {congestion_control: dcqcn}}\nengine: {window: 1ms}\n";
    workplace.write("mine/scenario.yaml", format!("{UNMARKED}{dcqcn}"));
    let table = "case,metric,published,band_low,band_high,gate,reason\n\
                 a,completion_time_ms,0.05,0.001,10,required,wide\n";
    workplace.write("mine/measured.csv", table);
    let study = "title: mine\nsource: none\nscenario: scenario.yaml\n\
                 published: {table: measured}\nvariants: {pure: {about: as it is}}\n\
                 readings:\n  - {case: a, row: {case: a}, query: max(jobs.jct_ns) / 1000000}\n";
    workplace.write("mine/study.yaml", study);
    let both = [NO_MARKS, NO_WINDOW];
    let text = workplace.words("study run ./mine -o out").expect(0).stdout;
    has("study", &text, &both);
    let json = workplace
        .words("study run ./mine --format json")
        .expect(0)
        .json();
    let notes = &json["studies"][0]["variants"][0]["notes"];
    assert_eq!(notes[0]["code"], "scenario");
    assert_eq!(notes[1]["code"], "no-effect");
    workplace.words("report out -o out.html").expect(0);
    let report = answers(&workplace, "out.html");
    has("report of a study", &report, &both);
}

#[test]
fn trimmed_frames_stand_in_the_summary() {
    let workplace = Workplace::new("notes-trimmed");
    let text = "
fabric:
  kind: single-switch
  hosts: 8
  switch: {classes: [{class: 3, limit: 60kB, trim: {to: 6}}, {class: 6, scheduling: strict, limit: 600kB}]}
endpoint: {nic: {transport: ultra-ethernet}}
jobs: [{collectives: [{collective: incast, size: 8MiB}]}]
observe: {samples: false}
";
    workplace.write("trimmed.yaml", text);
    let text = workplace.words("run trimmed.yaml -o out").expect(0).stdout;
    let totals = workplace.json("out/summary.json")["totals"].clone();
    let frames = totals["trimmed_frames"].as_u64().expect("a count");
    assert!(frames > 0, "{totals}");
    let line = text.lines().find(|line| line.starts_with("trimmed  "));
    let line = line.unwrap_or_else(|| panic!("trimmed frames are not said:\n{text}"));
    for part in ["dropped whole", "retransmitted", "timeout"] {
        assert!(line.contains(part), "{part}: {line}");
    }
    assert!(
        !text.contains("class 6"),
        "the class has trimmed frames:\n{text}"
    );
}
