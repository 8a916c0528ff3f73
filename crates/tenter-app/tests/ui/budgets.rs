//! Requests have budgets, and work for nobody ends.

use std::fs;
use std::io::Write as _;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::SCENARIO;
use crate::client::{Folder, Server};

/// A scenario of 130 bytes whose table of routes takes gigabytes.
const LARGE: &str = "
fabric: {kind: torus, sizes: [8, 256, 7], hosts_per_switch: 2}
jobs: [{collectives: [{collective: permutation, size: 4KiB}]}]
";
/// A server of small scenarios has so much memory, with the answers that it makes.
const SMALL_SERVER: u64 = 400 << 20;

/// The problem that an answer consists of has the remedy, and that of this server.
fn is_refused(problem: &Value, option: &str) {
    let help = problem["help"].as_str().unwrap_or_default();
    assert!(help.contains(option), "{problem}");
}

#[test]
fn three_checks_of_a_large_fabric_leave_the_memory_to_others() {
    let folder = Folder::new("budget-memory");
    let server = Server::start(&folder, &[]);
    let check = json!({ "text": LARGE });
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let answer = server.send("POST", "/check", &check);
                assert_eq!(answer.status, 200, "{}", answer.text());
                let problem = &answer.json()["problems"][0];
                assert!(problem["message"].to_string().contains("of memory"));
                is_refused(problem, "`tenter ui --max-memory 16GiB` allows more");
            });
        }
    });
    for path in ["/fabric", "/mapping", "/trials"] {
        let answer = server.send("POST", path, &check);
        assert_eq!(answer.status, 422, "{path}: {}", answer.text());
    }
    let text = "axes: {fabric.hosts_per_switch: [1, 2]}";
    let sweep = json!({"text": text, "scenario": LARGE});
    let answer = server.send("POST", "/sweeps", &sweep);
    assert_eq!(answer.status, 422, "{}", answer.text());
    is_refused(&answer.json()["error"], "--max-memory");
    #[cfg(target_os = "linux")]
    {
        let peak = server.peak_bytes();
        assert!(peak < SMALL_SERVER, "{} MiB", peak >> 20);
    }
}

#[test]
fn a_scenario_in_a_folder_of_a_stranger_is_read_within_the_budget() {
    let folder = Folder::new("budget-folder");
    let server = Server::start(&folder, &[]);
    let id = server.queue(SCENARIO);
    server.wait(&format!("/trials/{id}"), "done");
    let config = folder.path().join("trials/small/config.yaml");
    fs::write(config, LARGE).expect("a file");
    for path in ["fabric", "held-up", "pictures", "trace.json", "report.html"] {
        let answer = server.get(&format!("/trials/{id}/{path}"));
        assert_eq!(answer.status, 422, "{path}: {}", answer.text());
    }
    #[cfg(target_os = "linux")]
    {
        let peak = server.peak_bytes();
        assert!(peak < SMALL_SERVER, "{} MiB", peak >> 20);
    }
}

#[test]
fn checks_take_no_more_time_than_they_may() {
    let folder = Folder::new("budget-time");
    let server = Server::start(&folder, &["--max-time", "50ms", "--max-memory", "4GiB"]);
    let answer = server.send("POST", "/check", &json!({ "text": SCENARIO }));
    assert_eq!(answer.json()["problems"], json!([]));
    let answer = server.send("POST", "/check", &json!({ "text": LARGE }));
    let problem = &answer.json()["problems"][0];
    assert!(problem["message"].to_string().contains("processor time"));
    is_refused(problem, "`tenter ui --max-time 60s` allows more");
    // Points for which no time is left are checked when the sweep runs.
    let points: Vec<u32> = (1..=64).collect();
    let text = format!("name: many\naxes: {{fabric.hosts_per_leaf: {points:?}}}");
    let sweep = json!({"text": text, "scenario": SCENARIO});
    let answer = server.send("POST", "/sweeps", &sweep);
    assert_eq!(answer.status, 201, "{}", answer.text());
}

#[cfg(target_os = "linux")]
#[test]
fn work_for_a_client_that_has_gone_ends() {
    let folder = Folder::new("budget-gone");
    let server = Server::start(&folder, &["--max-time", "600s", "--max-memory", "16GiB"]);
    let body = json!({ "text": LARGE.replace("256", "96") }).to_string();
    let headers = server.own_headers().join("\r\n");
    let before = server.processor_time();
    let mut stream = server.connect();
    let head = format!(
        "POST /api/v1/check HTTP/1.1\r\n{headers}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).expect("it is sent");
    stream.write_all(body.as_bytes()).expect("it is sent");
    let since = Instant::now();
    while server.processor_time() < before + Duration::from_millis(100) {
        assert!(
            since.elapsed() < Duration::from_secs(60),
            "it does not begin"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(stream);
    // It ends within a piece of its work; without that it would go on for seconds.
    std::thread::sleep(Duration::from_millis(500));
    let then = server.processor_time();
    std::thread::sleep(Duration::from_secs(1));
    let more = server.processor_time().saturating_sub(then);
    assert!(more < Duration::from_millis(100), "it works on: {more:?}");
}
