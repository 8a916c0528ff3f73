//! Trials that end their process: each costs itself alone, and the page answers meanwhile.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::client::{Folder, Server, tenter};
use crate::{LONG, SCENARIO};

/// A server in whose trials a fault is planted (`abort@bad`).
fn with_fault(folder: &Folder, fault: &str) -> Server {
    let arguments = [
        "ui",
        "trials",
        "--port",
        "0",
        "--no-open",
        "--threads",
        "1",
        "--jobs",
        "2",
    ];
    let mut command = tenter(folder, &arguments);
    command.env("TENTER_PLANTED_FAULT", fault);
    Server::of(command)
}

fn named(name: &str) -> String {
    SCENARIO.replace("name: small", &format!("name: {name}"))
}

#[test]
fn a_trial_that_ends_its_process_costs_itself_alone() {
    let faults = [
        ("abort", "has aborted"),
        ("memory", "memory allocation of"),
        ("program", "a system call that no trial may make"),
        ("socket", "a system call that no trial may make"),
        ("write", "the file was refused"),
        ("panic", "internal error: a planted panic"),
    ];
    for (fault, says) in faults {
        let folder = Folder::new(&format!("fault-{fault}"));
        let server = with_fault(&folder, &format!("{fault}@bad"));
        let (bad, good) = (server.queue(&named("bad")), server.queue(&named("good")));
        server.wait(&format!("/trials/{bad}"), "failed");
        let trial = server.json(&format!("/trials/{bad}"));
        let why = trial["error"].as_str().unwrap_or_default();
        assert!(why.contains(says), "{fault}: {trial}");
        server.wait(&format!("/trials/{good}"), "done");
        // The process of a next trial is a new one.
        let next = server.queue(&named("next"));
        server.wait(&format!("/trials/{next}"), "done");
    }
}

#[test]
fn the_page_answers_while_a_trial_takes_all_that_it_may() {
    let folder = Folder::new("eats");
    let server = with_fault(&folder, "memory@bad");
    let bad = server.queue(&named("bad"));
    let (mut slowest, began) = (Duration::ZERO, Instant::now());
    loop {
        let since = Instant::now();
        let trial = server.json(&format!("/trials/{bad}"));
        slowest = slowest.max(since.elapsed());
        if trial["state"] == "failed" {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{trial}");
    }
    // 100 ms on a quiet machine; other tests run beside this one.
    assert!(slowest < Duration::from_secs(2), "{slowest:?}");
}

/// Numbers of the processes of trials that a process has started.
fn children(of: u32) -> Vec<u32> {
    let listed = Command::new("pgrep").args(["-P", &of.to_string()]).output();
    let listed = listed.expect("pgrep runs").stdout;
    let text = String::from_utf8_lossy(&listed).into_owned();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

fn kill(process: u32) {
    let kill = Command::new("kill")
        .args(["-9", &process.to_string()])
        .stderr(Stdio::null())
        .status();
    kill.expect("kill runs");
}

#[test]
fn a_killed_process_is_the_failure_of_its_trial_and_ends_with_the_server() {
    let folder = Folder::new("killed-process");
    let server = Server::start(&folder, &[]);
    let long = server.queue(LONG);
    server.wait(&format!("/trials/{long}"), "running");
    let process = wait_for(|| children(server.process()).first().copied());
    kill(process);
    server.wait(&format!("/trials/{long}"), "failed");
    let trial = server.json(&format!("/trials/{long}"));
    let why = trial["error"].as_str().unwrap_or_default();
    assert!(why.contains("was killed"), "{trial}");
    // The other way round: the process ends with the server that has started it.
    let again = server.queue(LONG);
    server.wait(&format!("/trials/{again}"), "running");
    let process = wait_for(|| children(server.process()).first().copied());
    server.kill();
    wait_for(|| (!is_alive(process)).then_some(()));
}

fn is_alive(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

fn wait_for<T>(mut found: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "it does not come"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_process_of_trials_refuses_what_is_no_order() {
    let folder = Folder::new("no-order");
    let mut command = tenter(&folder, &["run-orders"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut input = child.stdin.take().expect("a pipe");
    std::io::Write::write_all(&mut input, json!({"Run": 1}).to_string().as_bytes())
        .expect("it is read");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("standard input has no order"), "{said}");
}
