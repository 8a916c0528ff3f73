//! Checks of scenarios that declare much: every count of every kind of topology as large as it may
//! be, alone and with another one. Each is answered or refused within the memory and the processor
//! time that it is given.

use std::alloc::System;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use cap::Cap;
use serde_json::{Map, Value, json};
use tenter::{Bytes, Error, Limits, Run, Scenario, Time, check_budget, run_budget};

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// Memory that a check may take beyond its limit: a tenth of it, and what the program has before.
const BEYOND_PERCENT: u64 = 10;
const PROGRAM_BYTES: u64 = 16 << 20;
/// A check looks at its clock between pieces of work: with a short time it may be so late.
const LATE: Duration = Duration::from_millis(250);
/// With this time a check is not late.
const WHOLE_TIME: Duration = Duration::from_secs(5);

/// Jobs that go with any fabric: of few ranks, and of all.
const JOBS: [&str; 5] = [
    "{ranks: 4, collectives: [{collective: all-to-all, size: 200kB}]}",
    "{collectives: [{collective: permutation, size: 4KiB}]}",
    "{collectives: [{collective: all-to-all, size: 1MiB}]}",
    "{collectives: [{collective: all-reduce, size: 1MiB}]}",
    "{ranks: 2, collectives: [{collective: all-reduce, algorithm: ring, sizes: [1MiB, 1GiB]}]}",
];

/// Switches that the fabrics may have.
const SWITCHING: [&str; 6] = [
    "{kind: output-queued}",
    "{kind: input-queued}",
    "{kind: output-queued}, flow_control: pfc",
    "{kind: scheduled}",
    "{kind: credit-based}",
    "{kind: output-queued}, load_balancing: {kind: flowlet}",
];

/// Scenarios of under 200 bytes that took minutes, or gigabytes, before they were refused.
const SHORT: [&str; 2] = [
    "fabric: {kind: torus, sizes: [1000, 5], links: [1000, 7], wrap_around: false, switching: {kind: scheduled}}
jobs: [{ranks: 4, collectives: [{collective: all-to-all, size: 200kB}]}]
",
    "fabric: {kind: torus, sizes: [8, 256, 7], hosts_per_switch: 2}
jobs: [{collectives: [{collective: permutation, size: 4KiB}]}]
",
];

/// A count of a description: where it is, and the most it may be.
struct Count {
    path: Vec<String>,
    most: u64,
}

/// The counts of a part of the schema, with the smallest value of what is required.
fn counts(schema: &Value, path: &[String], found: &mut Vec<Count>) -> Value {
    let at = |key: &str| [path, &[key.to_owned()]].concat();
    if let Some(choices) = schema.get("anyOf").and_then(Value::as_array) {
        return choices
            .first()
            .map_or(Value::Null, |first| counts(first, path, found));
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("integer") => {
            let most = schema["maximum"].as_u64().unwrap_or(u64::MAX);
            found.push(Count {
                path: path.to_vec(),
                most,
            });
            json!(schema["minimum"].as_u64().unwrap_or(0).max(2).min(most))
        }
        Some("array") if schema["items"]["type"] == "integer" => {
            let first = counts(&schema["items"], &at("0"), found);
            let second = counts(&schema["items"], &at("1"), found);
            json!([first, second])
        }
        Some("object") => {
            let mut of = Map::new();
            let required = schema["required"].as_array().cloned().unwrap_or_default();
            let properties = schema["properties"]
                .as_object()
                .cloned()
                .unwrap_or_default();
            for (key, schema) in properties {
                let value = counts(&schema, &at(&key), found);
                if required.contains(&json!(key)) {
                    of.insert(key, value);
                }
            }
            Value::Object(of)
        }
        _ => schema.get("const").cloned().unwrap_or(Value::Null),
    }
}

/// Sets the count at a path, with what is around it.
fn set(value: &mut Value, path: &[String], to: u64, whole: &Value) {
    let Some((key, rest)) = path.split_first() else {
        *value = json!(to);
        return;
    };
    let inner = match (key.parse::<usize>(), &mut *value) {
        (Ok(place), Value::Array(list)) => &mut list[place],
        (_, Value::Object(of)) => of.entry(key.clone()).or_insert_with(|| whole[key].clone()),
        _ => return,
    };
    let whole = key
        .parse::<usize>()
        .map_or_else(|_| &whole[key], |place| &whole[place]);
    set(inner, rest, to, whole);
}

/// The fabrics: each count at its most and at some sizes below, alone and in pairs.
fn fabrics() -> Vec<Value> {
    let schema: Value = serde_json::from_str(&tenter::schema()).expect("it is JSON");
    let kinds = schema["properties"]["fabric"]["oneOf"]
        .as_array()
        .expect("kinds");
    let mut all = Vec::new();
    for kind in kinds {
        let mut found = Vec::new();
        let mut whole = counts(kind, &[], &mut found);
        let name = kind["properties"]["kind"]["const"].as_str();
        let Some(name) = name.filter(|name| *name != "explicit") else {
            continue;
        };
        // What switches and circuits have is not of the fabric's size.
        found.retain(|count| {
            let of = count.path[0].as_str();
            ![
                "switch",
                "circuits",
                "cabling",
                "overrides",
                "switching",
                "load_balancing",
            ]
            .contains(&of)
        });
        whole["kind"] = json!(name);
        let least = whole.clone();
        // `core`, `links` and their like are there once one of their counts is given.
        let mut full = least.clone();
        for key in ["core", "links"] {
            let part = counts(&kind["properties"][key], &[], &mut Vec::new());
            if !part.is_null() {
                full[key] = part;
            }
        }
        for (place, one) in found.iter().enumerate() {
            for to in [one.most, 65_536, 700] {
                let mut fabric = least.clone();
                set(&mut fabric, &one.path, to.min(one.most), &full);
                all.push(fabric);
            }
            for other in &found[..place] {
                for (to, too) in [
                    (one.most, 2_000),
                    (1_500, 1_500),
                    (160, 90),
                    (3, other.most),
                ] {
                    let mut fabric = least.clone();
                    set(&mut fabric, &one.path, to.min(one.most), &full);
                    set(&mut fabric, &other.path, too.min(other.most), &full);
                    all.push(fabric);
                }
            }
        }
    }
    all
}

/// A scenario of a fabric: the kinds of switches and jobs take turns.
fn scenario(number: usize, fabric: &Value) -> String {
    let fabric = fabric.to_string();
    let fabric = fabric.strip_suffix('}').expect("it is a mapping");
    let switching = SWITCHING[number % SWITCHING.len()];
    let jobs = JOBS[number % JOBS.len()];
    format!("fabric: {fabric}, \"switching\": {switching}}}\njobs: [{jobs}]\n")
}

/// The variable that names the scenario of [`one_run`].
const ONE: &str = "TENTER_BUDGET_SCENARIO";
/// Runs that are estimated to take longer, or more memory, are left out.
const RUN_SECONDS_MAX: f64 = 2.0;
const RUN_BYTES_MAX: u64 = 2 << 30;

/// A run takes at most a tenth more memory than its estimate says, and what the program has beside
/// it.
#[test]
#[ignore = "80 runs take minutes"]
fn runs_stay_within_their_estimates() {
    let limits = Limits {
        memory: Bytes::new(1 << 30),
        time: Time::from_us(WHOLE_TIME.as_micros() as u64),
        ..Limits::NONE
    };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = folder.join(format!("run-{}.yaml", std::process::id()));
    let (mut runs, mut beyond) = (0, Vec::new());
    for (number, fabric) in fabrics().iter().enumerate() {
        let text = scenario(number, fabric);
        let budget = check_budget(limits, Arc::default());
        let plan = Scenario::from_yaml(&text).resolve_within(&budget);
        let Ok(explained) = plan.and_then(|plan| plan.explain_within(&budget)) else {
            continue;
        };
        let (seconds, estimate) = (explained.cost.wall_s, explained.cost.peak_bytes);
        if seconds > RUN_SECONDS_MAX || estimate > RUN_BYTES_MAX {
            continue;
        }
        fs::write(&file, &text).expect("a file can be written");
        let peak = peak_of_run(&file);
        runs += 1;
        println!("{number}: {peak} bytes, {estimate} estimated, {seconds:.2} s");
        if peak > estimate + estimate * BEYOND_PERCENT / 100 + PROGRAM_BYTES {
            beyond.push(format!(
                "{number}: {peak} bytes, estimated {estimate}\n{text}"
            ));
        }
    }
    fs::remove_file(&file).expect("it can be removed");
    assert!(runs >= 50, "only {runs} can be run");
    assert!(beyond.is_empty(), "{}", beyond.join("\n"));
}

/// The most bytes that a process takes which runs a scenario: the allocator of this one knows the
/// peak of all its scenarios alone.
fn peak_of_run(file: &Path) -> u64 {
    let program = std::env::current_exe().expect("it runs");
    let output = Command::new(program)
        .args(["one_run", "--exact", "--ignored", "--nocapture"])
        .env(ONE, file)
        .output()
        .expect("it runs again");
    let text = String::from_utf8_lossy(&output.stdout);
    let peak = text.lines().find_map(|line| line.strip_prefix("peak "));
    let peak = peak.and_then(|peak| peak.parse().ok());
    peak.unwrap_or_else(|| panic!("{text}\n{}", String::from_utf8_lossy(&output.stderr)))
}

/// Runs one scenario for [`runs_stay_within_their_estimates`], which starts it as a process.
#[test]
#[ignore = "it is run by another test"]
fn one_run() {
    let Ok(file) = std::env::var(ONE) else {
        return;
    };
    let text = fs::read_to_string(file).expect("the scenario is there");
    let plan = Scenario::from_yaml(&text).resolve_within(&run_budget());
    let plan = plan.unwrap_or_else(|error| panic!("{error}"));
    let ran = Run::new(&plan).run();
    ran.unwrap_or_else(|error| panic!("{error}"));
    println!("\npeak {}", ALLOCATOR.max_allocated());
}

/// The processor time of this thread.
fn processor_time() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let ns = text
        .split_whitespace()
        .next()
        .and_then(|ns| ns.parse().ok());
    Duration::from_nanos(ns.unwrap_or(0))
}

/// The checks so far: their budget, how many were answered, how long they took, and the failures.
struct Checks {
    memory: u64,
    time: Duration,
    inputs: usize,
    answered: usize,
    /// The longest processor time of an answer, and of a refusal.
    longest: [Duration; 2],
    failures: Vec<String>,
}

impl Checks {
    fn fail(&mut self, number: usize, text: &str, what: &str) {
        self.failures.push(format!("{number}: {what}\n{text}"));
    }

    /// Checks one scenario by one of the commands, and as the page and Python do.
    fn check(&mut self, number: usize, text: &str) {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let file = folder.join(format!("budget-{}.yaml", std::process::id()));
        fs::write(&file, text).expect("a file can be written");
        let (memory, time) = (self.memory, self.time);
        let command = ["validate", "explain"][number % 2];
        let arguments: [OsString; 5] = [
            "tenter".into(),
            command.into(),
            file.clone().into_os_string(),
            format!("--max-memory={memory}B").into(),
            format!("--max-time={}ms", time.as_millis()).into(),
        ];
        let began = processor_time();
        let code = tenter_app::command::run(arguments);
        let took = processor_time().saturating_sub(began);
        if code != 0 && code != 2 {
            self.fail(number, text, &format!("{command} has the code {code}"));
        }
        self.inputs += 1;
        self.answered += usize::from(code == 0);
        self.check_costs(number, text, command, code == 0, took);
        fs::remove_file(&file).expect("it can be removed");
        self.check_call(number, text);
    }

    /// Neither took more than it may.
    #[expect(clippy::print_stdout, reason = "`--nocapture` shows what checks cost")]
    fn check_costs(&mut self, number: usize, text: &str, what: &str, ok: bool, took: Duration) {
        let (memory, peak) = (self.memory, ALLOCATOR.max_allocated() as u64);
        let longest = &mut self.longest[usize::from(!ok)];
        *longest = took.max(*longest);
        if took > self.time / 5 {
            println!("{number} {what}: {took:?}, answered: {ok}, peak so far {peak}\n{text}");
        }
        let late = if self.time < WHOLE_TIME {
            LATE
        } else {
            Duration::ZERO
        };
        if took > self.time + late {
            self.fail(number, text, &format!("{what} took {took:?}"));
        }
        let most = memory + memory * BEYOND_PERCENT / 100 + PROGRAM_BYTES;
        assert!(peak <= most, "{number} {what}: {peak} bytes\n{text}");
    }

    /// A request of the page or a call from Python keeps to its budget, too, and a refusal names
    /// the place and the remedy.
    fn check_call(&mut self, number: usize, text: &str) {
        let limits = Limits {
            memory: Bytes::new(self.memory),
            time: Time::from_us(self.time.as_micros() as u64),
            ..Limits::NONE
        };
        let began = processor_time();
        let budget = check_budget(limits, Arc::default());
        let resolved = Scenario::from_yaml(text).resolve_within(&budget);
        let explained = resolved.and_then(|plan| plan.explain_within(&budget).map(drop));
        let took = processor_time().saturating_sub(began);
        self.check_costs(number, text, "a call", explained.is_ok(), took);
        let Err(error) = explained else {
            return;
        };
        let says = match &error {
            Error::Scenario(problems) => {
                let mut problems = problems.problems().iter();
                problems.all(|problem| problem.position.is_some() && problem.help.is_some())
            }
            other => other.to_string().contains("; "),
        };
        if !says {
            self.fail(
                number,
                text,
                &format!("it has no place or no remedy: {error}"),
            );
        }
    }
}

/// Checks each `step`th scenario.
#[expect(clippy::print_stdout, reason = "`--nocapture` shows the figures")]
fn check_all(step: usize, memory: u64, time: Duration) {
    let fabrics = fabrics();
    assert!(fabrics.len() >= 500, "there are {}", fabrics.len());
    let mut checks = Checks {
        memory,
        time,
        inputs: 0,
        answered: 0,
        longest: [Duration::ZERO; 2],
        failures: Vec::new(),
    };
    for (number, text) in SHORT.into_iter().enumerate() {
        checks.check(number, text);
    }
    assert_eq!(checks.answered, 0, "they are refused");
    for (number, fabric) in fabrics.iter().enumerate().step_by(step) {
        checks.check(number, &scenario(number, fabric));
    }
    let [answer, refusal] = checks.longest;
    println!(
        "{} inputs, {} answered; longest answer {answer:?}, longest refusal {refusal:?}; \
         {} bytes at the peak, of {memory}",
        checks.inputs,
        checks.answered,
        ALLOCATOR.max_allocated()
    );
    assert!(checks.failures.is_empty(), "{}", checks.failures.join("\n"));
    assert!(checks.answered > 0, "all are refused");
}

#[test]
fn checks_stay_within_their_budget() {
    check_all(9, 96 << 20, Duration::from_millis(250));
}

#[test]
#[ignore = "500 scenarios take minutes"]
fn checks_of_all_counts_stay_within_their_budget() {
    check_all(1, 1 << 30, WHOLE_TIME);
}
