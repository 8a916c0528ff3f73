//! Sweeps that are killed, resumed and shared among workers.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use rusqlite::Connection;
use serde_json::Value;

const SCENARIO: &str = "
fabric: {kind: leaf-spine, leaves: 2, hosts_per_leaf: 4, spines: 4, flow_control: pfc}
jobs:
  - {name: train, collectives: [{collective: all-to-all, size: 1MiB}]}
observe: {samples: false}
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
seeds: SEEDS
readings:
  - {name: time, query: max(jobs.jct_ns)}
";

/// A folder with a scenario and a sweep, removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, seeds: usize) -> Folder {
        let folder = format!("tenter-sweep-ends-{name}-{}", std::process::id());
        let folder = Folder(std::env::temp_dir().join(folder));
        fs::create_dir_all(&folder.0).expect("a folder");
        folder.write("scenario.yaml", SCENARIO);
        folder.write("sweep.yaml", &SWEEP.replace("SEEDS", &seeds.to_string()));
        folder
    }

    fn write(&self, file: &str, text: &str) {
        fs::write(self.0.join(file), text).expect("a file");
    }

    fn command(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tenter"));
        command
            .arg("sweep")
            .args(words.split(' '))
            .current_dir(&self.0);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn start(&self, words: &str) -> Child {
        self.command(words).spawn().expect("the binary runs")
    }

    fn sweep(&self, words: &str) -> Output {
        self.command(words).output().expect("the binary runs")
    }

    fn json(&self, words: &str) -> Value {
        let output = self.sweep(&format!("{words} --format json"));
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        serde_json::from_slice(&output.stdout).expect("JSON and nothing else")
    }

    fn results(&self, folder: &str) -> Vec<u8> {
        fs::read(self.0.join(folder).join("results.parquet")).expect("the results")
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

/// What a ledger says of the trials in a state: when they ended, and how often they were begun.
fn trials(folder: &Path, state: &str) -> BTreeMap<String, (f64, i64)> {
    let ledger = Connection::open(folder.join("ledger.sqlite")).expect("a ledger");
    let check = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
    let intact = ledger.query_row("PRAGMA integrity_check", [], check);
    assert_eq!(intact.expect("an answer"), "ok");
    let query = "SELECT key, coalesce(ended, 0), runs FROM trials WHERE state = ?1";
    let mut statement = ledger.prepare(query).expect("the table");
    let rows = statement.query_map([state], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))));
    rows.expect("rows").map(|row| row.expect("a row")).collect()
}

/// The same of a ledger that may not have its table yet.
fn trials_now(folder: &Path, state: &str) -> BTreeMap<String, (f64, i64)> {
    let version = |ledger: &Connection| {
        ledger.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0))
    };
    let file = folder.join("ledger.sqlite");
    let has_table = file.is_file()
        && Connection::open(file).is_ok_and(|ledger| version(&ledger).is_ok_and(|of| of > 0));
    if has_table {
        trials(folder, state)
    } else {
        BTreeMap::new()
    }
}

/// Waits for something that comes within ten minutes, however busy the machine is.
fn until(mut is_there: impl FnMut() -> bool) {
    for _ in 0..60_000 {
        if is_there() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("it has not come within ten minutes");
}

/// How often the sweep is killed: `TENTER_KILLS` tries more often than a test has time for.
fn kills() -> usize {
    let asked = std::env::var("TENTER_KILLS").ok();
    asked.and_then(|count| count.parse().ok()).unwrap_or(6)
}

#[test]
fn a_trial_that_ends_its_process_is_a_failure_and_the_others_go_on() {
    let folder = Folder::new("fault", 2);
    let mut command = folder.command("sweep.yaml -o out --format json --workers 2");
    let output = command.env("TENTER_PLANTED_FAULT", "abort@ecmp").output();
    let output = output.expect("the binary runs");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let failures = answer["failures"].as_array().expect("a list");
    assert_eq!(failures.len(), 4, "{answer}");
    for failure in failures {
        let why = failure["error"].as_str().expect("a text");
        assert!(
            why.contains("the process of this trial has aborted"),
            "{why}"
        );
    }
    assert_eq!(trials(&folder.0.join("out"), "done").len(), 4);
    // Without the fault the same command has them run.
    let answer = folder.json("sweep.yaml -o out --retry-failed");
    assert_eq!(answer["failures"].as_array().map(Vec::len), Some(0));
    assert_eq!(trials(&folder.0.join("out"), "done").len(), 8);
}

#[test]
fn a_sweep_that_is_killed_at_any_moment_goes_on_where_it_was() {
    let kills = kills();
    let folder = Folder::new("killed", 8 * kills);
    let ledger = folder.0.join("killed");
    let mut done = BTreeMap::new();
    let mut interrupted = 0;
    for kill in 0..kills {
        let mut killed = folder.start("sweep.yaml -o killed");
        // Every other time from when trials run, whatever else the machine does.
        if kill % 2 == 1 {
            until(|| {
                let has_ended = killed.try_wait().is_ok_and(|status| status.is_some());
                has_ended || !trials_now(&ledger, "running").is_empty()
            });
        }
        let pause = 5 + (kill as u64 * 89) % 400;
        std::thread::sleep(Duration::from_millis(pause));
        // It may have ended before.
        let _ = killed.kill();
        killed.wait().expect("it has ended");
        if !ledger.join("ledger.sqlite").is_file() {
            continue;
        }
        let now = trials_now(&ledger, "done");
        for (key, before) in &done {
            assert_eq!(
                now.get(key),
                Some(before),
                "a finished trial was lost or run again"
            );
        }
        interrupted += trials_now(&ledger, "running").len();
        done = now;
    }
    assert!(interrupted > 0, "no kill has met a trial that was running");
    let resumed = folder.json("sweep.yaml -o killed --resume");
    let now = trials(&ledger, "done");
    for (key, before) in &done {
        assert_eq!(now.get(key), Some(before), "a finished trial was run again");
    }
    let whole = folder.json("sweep.yaml -o whole");
    assert_eq!(resumed["studies"], whole["studies"]);
    assert_eq!(folder.results("killed"), folder.results("whole"));
    let begun_once = trials(&folder.0.join("whole"), "done");
    assert_eq!(begun_once.len(), 32 * kills);
    assert!(begun_once.values().all(|(_, runs)| *runs == 1));
}

#[test]
fn workers_share_a_queue_and_one_may_be_killed() {
    let folder = Folder::new("workers", 30);
    let refused = folder.sweep("sweep.yaml -o shared --queue --patience 1");
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert!(text(&refused.stderr).contains("NFS"), "{refused:?}");
    let queued = folder.json("sweep.yaml -o shared --queue");
    // Users wait for two minutes and more.
    let terms = folder.0.join("shared/queue/terms.json");
    let text_of_terms = fs::read_to_string(&terms).expect("the terms");
    let hasty = text_of_terms.replace("\"patience_s\":300.0", "\"patience_s\":1.0");
    assert_ne!(hasty, text_of_terms);
    fs::write(&terms, hasty).expect("a file");
    assert_eq!(queued["queued"], 120);
    assert_eq!(trials(&folder.0.join("shared"), "queued").len(), 120);
    let work = "worker --ledger shared --workers 1 --format json";
    let mut lost = folder.start(work);
    let others = [folder.start(work), folder.start(work)];
    let answers = folder.0.join("shared/queue/answers");
    until(|| fs::read_dir(&answers).is_ok_and(|answers| answers.count() > 9));
    // It may have ended before; then there is nothing that it has left.
    let _ = lost.kill();
    lost.wait().expect("it has ended");
    let mut run = 0;
    for other in others {
        let output = other.wait_with_output().expect("it has ended");
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(answer["failed"], 0);
        run += answer["run"].as_u64().expect("a count");
    }
    assert!(run > 0);
    // It takes the answers, waits until the worker that was killed is lost, and runs what it left.
    let shared = folder.json("sweep.yaml -o shared");
    let whole = folder.json("sweep.yaml -o whole");
    assert_eq!(shared["studies"], whole["studies"]);
    assert_eq!(folder.results("shared"), folder.results("whole"));
    assert!(!folder.0.join("shared/queue").exists(), "the queue is done");
    let done = trials(&folder.0.join("shared"), "done");
    assert_eq!(done.len(), 120);
    let refused = folder.sweep("worker --ledger shared");
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert!(text(&refused.stderr).contains("--queue"), "{refused:?}");
}

/// A reading that the sweep did not have before.
const MORE: &str = "  - {name: pauses, query: sum(ports.rx_xoff_frames)}\n";

#[test]
fn trials_that_lack_a_reading_are_run_once_by_two_processes() {
    let folder = Folder::new("lacking", 30);
    folder.json("sweep.yaml -o shared");
    let text = SWEEP.replace("SEEDS", "30") + MORE;
    folder.write("sweep.yaml", &text);
    let other = folder.start("sweep.yaml -o shared --format json");
    let mine = folder.json("sweep.yaml -o shared");
    let other = other.wait_with_output().expect("it has ended");
    let other: Value = serde_json::from_slice(&other.stdout).expect("JSON");
    assert_eq!(mine["studies"], other["studies"]);
    let done = trials(&folder.0.join("shared"), "done");
    assert_eq!(done.len(), 120);
    let runs: Vec<i64> = done.values().map(|(_, runs)| *runs).collect();
    assert_eq!(runs, [2; 120], "once for each reading");
}

#[test]
fn trials_that_lack_a_reading_are_queued() {
    let folder = Folder::new("lacking-queue", 2);
    folder.json("sweep.yaml -o shared");
    folder.write("sweep.yaml", &(SWEEP.replace("SEEDS", "2") + MORE));
    let queued = folder.json("sweep.yaml -o shared --queue");
    assert_eq!(queued["queued"], 8);
    // What has run is not forgotten meanwhile.
    assert_eq!(trials(&folder.0.join("shared"), "done").len(), 8);
    let work = folder.json("worker --ledger shared");
    assert_eq!(work["run"], 8);
    let all = folder.json("sweep.yaml -o shared");
    assert_eq!(all["failures"], serde_json::json!([]));
    let done = trials(&folder.0.join("shared"), "done");
    assert!(done.values().all(|(_, runs)| *runs == 1), "{done:?}");
}

#[test]
fn a_queue_forgets_trials_that_the_sweep_has_no_more() {
    let folder = Folder::new("forgets", 3);
    assert_eq!(folder.json("sweep.yaml -o shared --queue")["queued"], 12);
    folder.write("sweep.yaml", &SWEEP.replace("SEEDS", "2"));
    assert_eq!(folder.json("sweep.yaml -o shared --queue")["queued"], 0);
    let orders = fs::read_dir(folder.0.join("shared/queue/orders")).expect("orders");
    assert_eq!(orders.count(), 8);
    folder.json("sweep.yaml -o shared");
    assert!(!folder.0.join("shared/queue").exists(), "the queue is done");
}

/// How many files a part of the queue has.
fn queued(folder: &Folder, part: &str) -> usize {
    let files = fs::read_dir(folder.0.join("shared/queue").join(part));
    files.expect("the queue is there").count()
}

#[test]
fn what_workers_have_answered_is_not_lost_with_the_trials_of_a_sweep() {
    let folder = Folder::new("answered", 3);
    let ledger = folder.0.join("shared");
    assert_eq!(folder.json("sweep.yaml -o shared --queue")["queued"], 12);
    assert_eq!(folder.json("worker --ledger shared")["run"], 12);
    // A look at fewer seeds leaves the queue of the others as it is.
    folder.write("sweep.yaml", &SWEEP.replace("SEEDS", "1"));
    folder.json("sweep.yaml -o shared");
    assert_eq!(
        (queued(&folder, "orders"), queued(&folder, "answers")),
        (8, 8)
    );
    // Where they are forgotten, the ledger has the answers before.
    folder.write("sweep.yaml", &SWEEP.replace("SEEDS", "2"));
    assert_eq!(folder.json("sweep.yaml -o shared --queue")["queued"], 0);
    assert_eq!(trials(&ledger, "done").len(), 12);
    folder.write("sweep.yaml", &SWEEP.replace("SEEDS", "3"));
    folder.json("sweep.yaml -o shared");
    let done = trials(&ledger, "done");
    assert!(
        done.values().all(|(_, runs)| *runs == 0),
        "by workers: {done:?}"
    );
}

#[test]
fn a_new_reading_of_trials_that_are_answered_is_queued() {
    let folder = Folder::new("answered-lacking", 2);
    assert_eq!(folder.json("sweep.yaml -o shared --queue")["queued"], 8);
    assert_eq!(folder.json("worker --ledger shared")["run"], 8);
    folder.write("sweep.yaml", &(SWEEP.replace("SEEDS", "2") + MORE));
    assert_eq!(folder.json("sweep.yaml -o shared --queue")["queued"], 8);
    assert_eq!(folder.json("worker --ledger shared")["run"], 8);
    let all = folder.json("sweep.yaml -o shared");
    assert_eq!(all["failures"], serde_json::json!([]));
    let done = trials(&folder.0.join("shared"), "done");
    assert!(
        done.values().all(|(_, runs)| *runs == 0),
        "by workers: {done:?}"
    );
}

#[test]
fn a_part_of_a_sweep_is_run_and_resumed() {
    let folder = Folder::new("part", 2);
    let none = folder.sweep("sweep.yaml --resume");
    assert_eq!(none.status.code(), Some(2), "{none:?}");
    assert!(
        text(&none.stderr).contains("no sweep to resume"),
        "{none:?}"
    );
    assert!(!folder.0.join("sweeps").exists());
    let part = text(
        &folder
            .sweep("sweep.yaml --only spray --only size=1MiB")
            .stdout,
    );
    for other in ["ecmp", "256KiB", " - "] {
        assert!(!part.contains(other), "{other}: {part}");
    }
    let ledger = folder.0.join("sweeps/fabrics");
    assert_eq!(trials(&ledger, "done").len(), 2);
    let whole = folder.sweep("sweep.yaml --resume");
    let shown = text(&whole.stdout);
    assert!(shown.contains("8 trials, 2 of them from before"), "{shown}");
    // Bands of other parts are not judged.
    let band = SWEEP
        .replace("SEEDS", "2")
        .replace("jct_ns)}", "jct_ns), band: [1, 1e12]}");
    folder.write("sweep.yaml", &band);
    let part = folder.json("sweep.yaml -o banded --only spray");
    let verdicts = part["studies"][0]["cases"].as_array().expect("rows");
    let verdicts: Vec<&str> = verdicts
        .iter()
        .filter_map(|case| case["verdict"].as_str())
        .collect();
    assert_eq!(verdicts, ["not judged", "match", "not judged", "match"]);
    // Nor are those that are divided by a variant of another part.
    let band = band.replace("band: [1, 1e12]", "against: ecmp, band: [0, 1e12]");
    folder.write("sweep.yaml", &band);
    let part = folder.json("sweep.yaml -o divided --only spray");
    let verdicts = part["studies"][0]["cases"].as_array().expect("rows");
    assert!(
        verdicts.iter().all(|case| case["verdict"] == "not judged"),
        "{verdicts:?}"
    );
    for (words, expected) in [
        ("--only spary", "did you mean `spray`?"),
        ("--only sise=1MiB", "did you mean `size`?"),
        ("--only size=2MiB", "has no value `2MiB`"),
    ] {
        let refused = folder.sweep(&format!("sweep.yaml {words}"));
        let error = text(&refused.stderr);
        assert!(error.contains(expected), "{words}: {error}");
    }
}

#[test]
fn one_kind_of_seed_is_varied_and_others_are_held() {
    let folder = Folder::new("seeds", 1);
    let open_loop = "
fabric: {kind: leaf-spine, leaves: 2, hosts_per_leaf: 4, spines: 4}
jobs:
  - name: load
    workload:
      sizes: websearch-hpcc
      arrivals: poisson
      load: 0.4
      flows: 60
      pairs: [{from: 0-3, to: 4-7}]
observe: {samples: false}
";
    folder.write("scenario.yaml", open_loop);
    let paired = "
scenario: scenario.yaml
seeds: {hashing: 4}
readings:
  - {name: posted, query: sum(flows.posted_ns)}
  - {name: bytes, query: sum(flows.payload_bytes)}
  - {name: fct, query: sum(flows.fct_ns)}
";
    folder.write("sweep.yaml", paired);
    let answer = folder.json("sweep.yaml -o hashing");
    let spread = |at: usize| {
        let spread = &answer["studies"][0]["cases"][at]["spread"];
        (spread["least"].clone(), spread["greatest"].clone())
    };
    // The same flows at the same times, on other paths.
    for held in [0, 1] {
        let (least, greatest) = spread(held);
        assert_eq!(least, greatest);
    }
    let (least, greatest) = spread(2);
    assert_ne!(least, greatest);
    folder.write(
        "sweep.yaml",
        &paired.replace("{hashing: 4}", "{arrivals: [3, 5]}"),
    );
    let answer = folder.json("sweep.yaml -o arrivals");
    let spread = &answer["studies"][0]["cases"][0]["spread"];
    assert_ne!(spread["least"], spread["greatest"]);
    assert_eq!(
        answer["studies"][0]["variants"][0]["seeds"],
        serde_json::json!([3, 5])
    );
}
