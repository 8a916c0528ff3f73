//! `tenter sweep` as a user types it.

mod embedded;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use embedded::Embedded;
use serde_json::Value;

const SCENARIO: &str = "
fabric: {kind: leaf-spine, leaves: 2, hosts_per_leaf: 4, spines: 4, flow_control: pfc}
jobs:
  - {name: train, collectives: [{collective: all-to-all, size: 1MiB}]}
observe: {samples: false}
";

/// A fabric that takes a second to be planned.
const LARGE: &str = "
fabric: {kind: leaf-spine, leaves: 512, hosts_per_leaf: 16, spines: 64}
jobs: [{collectives: [{collective: permutation, size: 4KiB}]}]
";

const SWEEP: &str = "
name: fabrics
scenario: scenario.yaml
variants:
  ecmp: {}
  spray:
    fabric.load_balancing: {kind: random-spray}
    endpoint.nic.loss_recovery: {kind: selective-repeat, reorder: 64}
axes:
  jobs[0].collectives[0].size: [256KiB, 1MiB]
seeds: 3
readings:
  - {name: time, query: max(jobs.jct_ns)}
  - {name: gain, query: max(jobs.jct_ns), against: ecmp}
  - {name: pauses, query: sum(ports.rx_xoff_frames)}
";

/// A folder with a scenario and a sweep, removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, sweep: &str) -> Folder {
        let folder = format!("tenter-sweep-{name}-{}", std::process::id());
        let folder = Folder(std::env::temp_dir().join(folder));
        fs::create_dir_all(&folder.0).expect("a folder");
        folder.write("scenario.yaml", SCENARIO);
        folder.write("sweep.yaml", sweep);
        folder
    }

    fn write(&self, file: &str, text: &str) {
        fs::write(self.0.join(file), text).expect("a file");
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tenter"));
        command.arg("sweep").args(arguments).current_dir(&self.0);
        command
    }

    fn sweep(&self, arguments: &[&str]) -> Output {
        let output = self.command(arguments).output();
        output.expect("the binary runs")
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.sweep(&[arguments, &["--format", "json"]].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        serde_json::from_slice(&output.stdout).expect("JSON and nothing else")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

fn text(output: &[u8]) -> String {
    String::from_utf8_lossy(output).into_owned()
}

fn results(folder: &Path) -> Vec<u8> {
    fs::read(folder.join("results.parquet")).expect("the results")
}

#[test]
fn a_sweep_compares_variants_and_runs_no_trial_twice() {
    let folder = Folder::new("twice", SWEEP);
    let output = folder.sweep(&["sweep.yaml"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let first = text(&output.stdout);
    for expected in [
        "time\n",
        "256KiB",
        "spray",
        "12 trials in",
        "sweeps/fabrics/results",
    ] {
        assert!(first.contains(expected), "{expected}: {first}");
    }
    let notes = tenter::report::read_notes(&folder.0.join("sweeps/fabrics/results.parquet"));
    let notes = notes.expect("the results");
    assert_eq!(notes["tenter.version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(notes["tenter.seed"].split(',').count(), 3);
    assert!(first.contains(&notes["tenter.digest"]), "{first}");
    assert_eq!(notes["tenter.unit.time"], "ns");
    let table = results(&folder.0.join("sweeps/fabrics"));
    let again = text(&folder.sweep(&["sweep.yaml"]).stdout);
    assert!(
        again.contains("12 trials, 12 of them from before"),
        "{again}"
    );
    assert_eq!(results(&folder.0.join("sweeps/fabrics")), table);
}

#[test]
fn workers_do_not_change_the_results() {
    let folder = Folder::new("workers", SWEEP);
    let one = folder.json(&["sweep.yaml", "-o", "one", "--workers", "1"]);
    let three = folder.json(&["sweep.yaml", "-o", "three", "--workers", "3"]);
    assert_eq!(one["studies"], three["studies"]);
    assert_eq!(one["winners"], three["winners"]);
    assert_eq!(
        results(&folder.0.join("one")),
        results(&folder.0.join("three"))
    );
    let cases = one["studies"][0]["cases"].as_array().expect("rows");
    // Three readings of two variants at two points.
    assert_eq!(cases.len(), 12);
    // ECMP over itself.
    assert_eq!(cases[4]["metric"], "gain over that of ecmp");
    assert_eq!(cases[4]["measured"], 1.0);
}

#[test]
fn a_trial_of_a_sweep_has_the_digest_that_it_has_alone() {
    let folder = Folder::new("alone", "scenario: scenario.yaml\nseeds: [7]\n");
    folder.json(&["sweep.yaml", "-o", "of-sweep"]);
    let alone = Command::new(env!("CARGO_BIN_EXE_tenter"))
        .args([
            "run",
            "scenario.yaml",
            "--seed",
            "7",
            "--format",
            "json",
            "-o",
            "alone",
        ])
        .current_dir(&folder.0)
        .output()
        .expect("the binary runs");
    let alone: Value = serde_json::from_slice(&alone.stdout).expect("a summary");
    let digest = alone["engine"]["digest"].as_str().expect("a digest");
    let table = results(&folder.0.join("of-sweep"));
    let is_there = table
        .windows(digest.len())
        .any(|part| part == digest.as_bytes());
    assert!(is_there, "the table of results has the digest {digest}");
}

/// Enough trials that a process can be killed among them.
fn long() -> String {
    SWEEP.replace("seeds: 3", "seeds: 40")
}

#[test]
fn two_processes_share_a_ledger() {
    let folder = Folder::new("shared", &long());
    let other = folder
        .command(&["sweep.yaml", "-o", "shared", "--format", "json"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mine = folder.json(&["sweep.yaml", "-o", "shared"]);
    let other = other.wait_with_output().expect("it has ended");
    let other: Value = serde_json::from_slice(&other.stdout).expect("JSON");
    assert_eq!(mine["studies"], other["studies"]);
}

#[test]
fn a_reading_that_is_new_is_taken_and_a_band_decides_the_exit_code() {
    let folder = Folder::new("band", SWEEP);
    folder.json(&["sweep.yaml"]);
    let more = "  - {name: low, query: min(collectives.busbw_gbytes_per_s), band: [1e6, 2e6]}\n";
    folder.write("sweep.yaml", &format!("{SWEEP}{more}"));
    let output = folder.sweep(&["sweep.yaml"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(text(&output.stdout).contains("\nlow\n"), "{output:?}");
}

#[test]
fn mistakes_have_a_place_and_a_remedy() {
    let swept = |change: &str| {
        let folder = Folder::new("mistakes", &format!("scenario: scenario.yaml\n{change}\n"));
        let output = folder.sweep(&["sweep.yaml"]);
        assert_eq!(output.status.code(), Some(2), "{change}: {output:?}");
        assert!(!folder.0.join("sweeps").exists(), "{change}");
        text(&output.stderr)
    };
    for (change, expected) in [
        ("axis: {}", "did you mean `axes`?"),
        ("axes: {fabric.spine: [1, 2]}", "did you mean `spines`?"),
        (
            "variants: {a: {fabric.load_balancing: {kind: ecpm}}}",
            "did you mean `ecmp`?",
        ),
        (
            "readings: [{name: a, query: max(jobs.jct_n)}]",
            "did you mean `jct_ns`?",
        ),
    ] {
        let error = swept(change);
        assert!(error.contains(expected), "{change}: {error}");
    }
    let folder = Folder::new("missing", "scenario: other.yaml\n");
    let output = folder.sweep(&["sweep.yaml"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(text(&output.stderr).contains("other.yaml"), "{output:?}");
    let output = Folder::new("only", SWEEP).sweep(&["sweep.yaml", "--only", "spary"]);
    assert!(
        text(&output.stderr).contains("did you mean `spray`?"),
        "{output:?}"
    );
}

#[test]
fn a_study_is_run_from_any_folder() {
    let folder = Folder::new("study", SWEEP);
    let study = folder.0.join("mine");
    fs::create_dir_all(&study).expect("a folder");
    fs::write(study.join("scenario.yaml"), SCENARIO).expect("a file");
    let table = "case,metric,published,band_low,band_high,gate,reason\na,completion_time_ms,0.05,0.001,10,required,wide\n";
    fs::write(study.join("measured.csv"), table).expect("a file");
    let description = "title: mine\nsource: none\nscenario: scenario.yaml\npublished: {table: measured}\nvariants:\n  pure: {about: as it is}\nreadings:\n  - {case: a, row: {case: a}, query: max(jobs.jct_ns) / 1000000}\n";
    fs::write(study.join("study.yaml"), description).expect("a file");
    let output = Command::new(env!("CARGO_BIN_EXE_tenter"))
        .args(["study", "run", "./mine"])
        .current_dir(&folder.0)
        .output()
        .expect("the binary runs");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(text(&output.stdout).contains("match"), "{output:?}");
    // The same folder twice is one study; two of one name would be taken for each other.
    let other = folder.0.join("other/mine");
    fs::create_dir_all(&other).expect("a folder");
    for file in ["scenario.yaml", "measured.csv", "study.yaml"] {
        fs::copy(study.join(file), other.join(file)).expect("a file");
    }
    let both = |second: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tenter"));
        command
            .args(["study", "run", "mine", second])
            .current_dir(&folder.0);
        command.output().expect("the binary runs")
    };
    assert_eq!(both("./mine").status.code(), Some(0));
    let refused = both("other/mine");
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert!(text(&refused.stderr).contains("two studies are called `mine`"));
    let here = |folder: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tenter"));
        command.args(["study", "run", "."]).current_dir(folder);
        command.output().expect("the binary runs")
    };
    let output = here(&study);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(text(&output.stdout).contains("mine"), "{output:?}");
    fs::remove_file(study.join("measured.csv")).expect("it is there");
    let refused = text(&here(&study).stderr);
    for expected in ["measured.csv: there is no such table", "put it beside"] {
        assert!(refused.contains(expected), "{refused}");
    }
}

#[test]
fn folders_around_sweeps_and_unfinished_ones_are_told_apart() {
    let folder = Folder::new("around", SWEEP);
    folder.json(&["sweep.yaml"]);
    for command in ["report sweeps -o page.html", "compare sweeps sweeps"] {
        let refused = tenter(&folder, command);
        assert_eq!(refused.status.code(), Some(2), "{refused:?}");
        let error = text(&refused.stderr);
        assert!(error.contains("for instance sweeps/fabrics"), "{error}");
    }
    fs::remove_file(folder.0.join("sweeps/fabrics/sweep.json")).expect("it is there");
    let refused = text(&tenter(&folder, "report sweeps/fabrics -o page.html").stderr);
    assert!(refused.contains("run the same `tenter sweep`"), "{refused}");
}

#[test]
fn a_study_of_ones_own_may_have_tables_of_the_program() {
    let folder = Folder::new("tables", SWEEP);
    let from = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../studies/methodology/jct-2"
    );
    for file in ["study.yaml", "scenario.yaml"] {
        fs::copy(Path::new(from).join(file), folder.0.join(file)).expect("a file");
    }
    let output = tenter(&folder, "study run . --quick --format json");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let cases = answer["studies"][0]["cases"].as_array().expect("rows");
    assert!(cases.iter().any(|case| case["origin"] == "published"));
}

#[test]
fn an_error_of_a_trial_names_it_once() {
    let folder = Folder::new("errors", SWEEP);
    let wrong = "
name: wrong
scenario: scenario.yaml
variants:
  usual: {}
  other: {endpoint.nic.congestion_contrl: dcqcn}
";
    fs::write(folder.0.join("wrong.yaml"), wrong).expect("a file");
    let output = tenter(&folder, "sweep wrong.yaml -o wrong");
    let text = text(&output.stderr);
    assert!(
        text.starts_with("error: other: unknown key `congestion_contrl`"),
        "{text}"
    );
    assert_eq!(text.matches("error").count(), 1, "{text}");
}

/// Runs another command in the folder.
fn tenter(folder: &Folder, words: &str) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_tenter"))
        .args(words.split(' '))
        .current_dir(&folder.0)
        .output();
    output.expect("the binary runs")
}

#[test]
fn a_sweep_is_compared_with_itself_and_with_others() {
    let folder = Folder::new("compared", SWEEP);
    folder.json(&["sweep.yaml", "-o", "one"]);
    let within = tenter(&folder, "compare one");
    assert_eq!(within.status.code(), Some(0), "{within:?}");
    let text_within = text(&within.stdout);
    for part in ["time (less is better)", "size=1MiB", "of 3 seeds", "ecmp"] {
        assert!(text_within.contains(part), "{part}: {text_within}");
    }
    // The size is an axis of one sweep and a setting of the other, in other words.
    let other = SWEEP
        .replace("axes:", "set:")
        .replace("[256KiB, 1MiB]", "1024KiB");
    folder.write("other.yaml", &other);
    folder.json(&["other.yaml", "-o", "other"]);
    let json = tenter(&folder, "compare one other --format json");
    let json: Value = serde_json::from_slice(&json.stdout).expect("JSON");
    let rows = json["comparison"].as_array().expect("rows");
    // Three readings of two variants at one point, the same trials in both.
    assert_eq!(rows.len(), 6);
    assert!(rows.iter().all(|row| row["settings"] == "size=1MiB"));
    assert_eq!(rows[0]["ratio"], 1.0);
    assert_eq!(rows[0]["pairs"], 3);
    let csv = text(&tenter(&folder, "compare one other --format csv").stdout);
    assert!(
        csv.starts_with("reading,unit,settings,name,against"),
        "{csv}"
    );

    folder.write("apart.yaml", &other.replace("seeds: 3", "seeds: [91]"));
    folder.json(&["apart.yaml", "-o", "apart"]);
    let refused = tenter(&folder, "compare one apart");
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    let error = text(&refused.stderr);
    assert!(error.contains("no seed in common"), "{error}");
}

#[test]
fn a_folder_of_seeds_is_compared_with_a_sweep() {
    let folder = Folder::new("seeds-beside", SWEEP);
    folder.json(&["sweep.yaml", "-o", "one"]);
    let run = "run scenario.yaml --seeds 3 --set jobs[0].collectives[0].size=1MiB -o alone";
    assert_eq!(tenter(&folder, run).status.code(), Some(0));
    let json = tenter(&folder, "compare one alone --format json");
    assert_eq!(json.status.code(), Some(0), "{json:?}");
    let json: Value = serde_json::from_slice(&json.stdout).expect("JSON");
    let rows = json["comparison"].as_array().expect("rows");
    // Three readings, beside two variants, at the point whose size the trials have.
    assert_eq!(rows.len(), 6);
    assert!(
        rows.iter()
            .all(|row| row["settings"] == "size=1MiB" && row["pairs"] == 3)
    );
    // The scenario as it is has ECMP.
    assert_eq!(rows[0]["against"], "one: ecmp");
    assert_eq!(rows[0]["ratio"], 1.0);
    let run = "run scenario.yaml --seeds 3 --set jobs[0].collectives[0].size=2MiB -o other";
    assert_eq!(tenter(&folder, run).status.code(), Some(0));
    let refused = tenter(&folder, "compare one other");
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert!(text(&refused.stderr).contains("of no point"), "{refused:?}");
    // Another scenario is told.
    folder.write("named.yaml", &format!("name: named\n{SCENARIO}"));
    let run = "run named.yaml --seeds 3 -o named";
    assert_eq!(tenter(&folder, run).status.code(), Some(0));
    let both = tenter(&folder, "compare alone named");
    assert!(text(&both.stderr).contains("of 2 scenarios"), "{both:?}");
}

#[test]
fn charts_that_are_named_are_drawn_alone() {
    let charts = "charts:\n  - {title: Time by size, kind: lines, readings: [time]}\n";
    let folder = Folder::new("charts", &format!("{SWEEP}{charts}"));
    folder.json(&["sweep.yaml", "-o", "one"]);
    let output = tenter(&folder, "report one -o page.html");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let sweep = Embedded::read(&folder.0.join("page.html")).json("/api/v1/sweeps/1");
    let charts = sweep["charts"].as_array().expect("charts");
    assert_eq!(charts.len(), 1);
    assert_eq!(
        (&charts[0]["title"], &charts[0]["kind"]),
        (&"Time by size".into(), &"lines".into())
    );
    assert_eq!(sweep["readings"].as_array().map(Vec::len), Some(3));
}

#[test]
fn a_report_of_a_sweep_has_a_picture_and_a_table_for_each_reading() {
    // Half of the paths, so that one variant is better.
    let unequal = SWEEP.replace("ecmp: {}", "ecmp: {fabric.spines: 1}");
    let folder = Folder::new("page", &unequal);
    folder.json(&["sweep.yaml", "-o", "one"]);
    let output = tenter(&folder, "report one -o page.html");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let report = Embedded::read(&folder.0.join("page.html"));
    assert_eq!(report.document["home"], "#/sweeps/1");
    let sweep = report.json("/api/v1/sweeps/1");
    let readings = sweep["readings"].as_array().expect("readings");
    assert_eq!(readings.len(), 3);
    for reading in readings {
        // Two variants at two points, with all of their seeds.
        let cells = reading["cells"].as_array().expect("cells");
        assert_eq!(cells.len(), 4, "{reading}");
        assert!(
            cells
                .iter()
                .all(|cell| cell["values"].as_array().is_some_and(|of| !of.is_empty()))
        );
    }
    let best = readings[0]["best"].as_array().expect("the best variants");
    assert!(!best.is_empty(), "the winner is named");
    assert!(best.iter().all(|best| best["confidence"].is_string()));
    assert_eq!(
        sweep["axes"][0]["numbers"].as_array().map(Vec::len),
        Some(2)
    );
    // A file of an earlier version has no values by seed.
    let file = folder.0.join("one/sweep.json");
    let text_of = fs::read_to_string(&file).expect("the answer");
    fs::write(&file, text_of.replace("\"sweep\":", "\"other\":")).expect("written");
    let refused = tenter(&folder, "report one -o page.html");
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert!(text(&refused.stderr).contains("runs no trial twice"));
}

#[test]
fn each_plan_of_a_sweep_has_a_budget() {
    let sweep = "name: large\nscenario: scenario.yaml\naxes: {seed: [1, 2]}\n";
    let folder = Folder::new("budget", sweep);
    folder.write("scenario.yaml", LARGE);
    for (option, limit, reason) in [
        ("--max-time", "5ms", "more than 5ms of processor time"),
        ("--max-memory", "1MB", "1MB are allowed"),
    ] {
        let refused = folder.sweep(&["sweep.yaml", option, limit]);
        let said = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{option}: {said}");
        assert!(said.contains("seed=1"), "{option}: {said}");
        assert!(said.contains(reason), "{option}: {said}");
        // As those of one scenario do, it says how to allow more.
        assert!(said.contains(&format!("`{option} 6")), "{option}: {said}");
    }
}

#[test]
fn readings_without_a_row_for_each_cell_stand_in_their_cells() {
    let sweep = "
name: cells
scenario: scenario.yaml
variants:
  a: {}
  b: {only: {case: [small]}}
axes:
  case: {small: {}, large: {\"jobs[0].collectives[0].size\": 4MiB}}
readings:
  - {name: first, query: max(jobs.jct_ns), seeds: shares-no-uplink}
  - {name: time, query: max(jobs.jct_ns)}
  - {name: rate, query: max(collectives.busbw_gbytes_per_s), better: more}
charts:
  - {title: rates, kind: bars, readings: [rate]}
";
    let folder = Folder::new("cells", sweep);
    let output = folder.command(&["sweep.yaml"]).output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
    let text = fs::read_to_string(folder.0.join("sweeps/cells/sweep.json")).expect("an answer");
    let answer: Value = serde_json::from_str(&text).expect("it is JSON");
    let cases = answer["studies"][0]["cases"].as_array().expect("rows");
    // Three cells run, and each reading has a row for each.
    assert_eq!(cases.len(), 9);
    let winners = answer["winners"].as_array().expect("winners");
    let of = |reading: &str| winners.iter().find(|winner| winner["reading"] == reading);
    // No seed counts for the first reading, so nothing wins by it.
    assert!(of("first").is_none(), "{winners:?}");
    // The condition is read, too, behind the first reading.
    let record = &answer["sweep"];
    let drawn = record["charts"][0]["readings"][0]
        .as_u64()
        .expect("a reading");
    assert_eq!(
        record["readings"][drawn as usize]["name"], "rate",
        "{record}"
    );
    let printed = String::from_utf8_lossy(&output.stdout);
    let large = printed
        .lines()
        .filter(|line| line.trim_start().starts_with("large"));
    for line in large {
        assert_eq!(line.split_whitespace().nth(2), Some("-"), "{printed}");
    }
}
