//! Clients that are slow, many or gone, and how a server serves others meanwhile.

use std::collections::VecDeque;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::SCENARIO;
use crate::client::{Folder, Server};

/// How long other requests may take meanwhile: without load they take milliseconds.
const PROMPT: Duration = Duration::from_secs(10);
/// Connections that the client holds at most: a process may have some 1,000 files.
const HELD: usize = 800;

/// Asks as another client does, which must be answered soon.
fn is_prompt(server: &Server, meanwhile: &str) {
    let since = Instant::now();
    for path in ["/about", "/trials?limit=1", "/tags"] {
        assert_eq!(server.get(path).status, 200, "{meanwhile}: {path}");
    }
    let check = json!({ "text": SCENARIO });
    assert_eq!(server.send("POST", "/check", &check).status, 200);
    let took = since.elapsed();
    assert!(took < PROMPT, "{meanwhile}: {took:?}");
}

/// A connection that has sent a request, or the beginning of one, and reads nothing.
fn begun(server: &Server, line: &str, more: &str) -> TcpStream {
    let mut stream = server.connect();
    let headers = server.own_headers().join("\r\n");
    let text = format!("{line} HTTP/1.1\r\n{headers}\r\n{more}");
    // A server that has no place closes the connection.
    let _ = stream.write_all(text.as_bytes());
    stream
}

/// Opens so many, of which the newest are held.
fn hold(count: usize, open: impl FnMut() -> TcpStream) -> VecDeque<TcpStream> {
    let mut held = VecDeque::new();
    for stream in std::iter::repeat_with(open).take(count) {
        held.push_back(stream);
        if held.len() > HELD {
            held.pop_front();
        }
    }
    held
}

/// A server with a trial whose file of flows is 32 MB long, which no socket holds.
fn with_long_file(name: &str) -> (Folder, Server) {
    let folder = Folder::new(name);
    let server = Server::start(&folder, &[]);
    let id = server.queue(SCENARIO);
    server.wait(&format!("/trials/{id}"), "done");
    let file = folder.path().join("trials/small/flows.parquet");
    fs::write(file, vec![b'x'; 32 << 20]).expect("a file");
    (folder, server)
}

#[test]
fn downloads_that_stand_still_hold_no_thread() {
    let (_folder, server) = with_long_file("downloads");
    let line = "GET /api/v1/trials/1/files/flows.parquet";
    let held = hold(24, || begun(&server, line, "\r\n"));
    is_prompt(&server, "24 downloads stand still");
    // The whole file still comes.
    assert_eq!(
        server.get("/trials/1/files/flows.parquet").bytes().len(),
        32 << 20
    );
    drop(held);
}

fn slow_heads(name: &str, count: usize) {
    let folder = Folder::new(name);
    let server = Server::start(&folder, &[]);
    let held = hold(count, || begun(&server, "GET /api/v1/about", "X-A: b"));
    is_prompt(&server, "heads do not end");
    drop(held);
}

#[test]
fn heads_that_do_not_end_give_way() {
    slow_heads("heads", 300);
}

#[test]
#[ignore = "thousands of connections; `make test-all` runs it"]
fn three_thousand_heads_that_do_not_end_give_way() {
    slow_heads("heads-all", 3_000);
}

#[test]
fn streams_of_events_give_way() {
    let folder = Folder::new("streams");
    let server = Server::start(&folder, &[]);
    let mut held = hold(300, || begun(&server, "GET /api/v1/events", "\r\n"));
    is_prompt(&server, "300 streams of events");
    let mut newest = held.pop_back().expect("300");
    let mut begin = [0; 12];
    newest.read_exact(&mut begin).expect("it is heard");
    assert_eq!(&begin, b"HTTP/1.1 200");
}

/// Bodies that are sent but for their last byte.
fn large_bodies(name: &str, count: usize, mebibytes: usize) -> (Folder, Server) {
    let folder = Folder::new(name);
    let server = Server::start(&folder, &[]);
    is_prompt(&server, "at the beginning");
    let part = vec![b'a'; 1 << 20];
    let begin = format!(
        "Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{{\"text\":\"",
        (mebibytes << 20) + 16
    );
    let held = hold(count, || {
        let mut stream = begun(&server, "POST /api/v1/check", &begin);
        let patience = Some(Duration::from_millis(300));
        stream.set_write_timeout(patience).expect("a time limit");
        // The server reads one of them, and lets the others wait.
        let _ = (0..mebibytes).try_for_each(|_| stream.write_all(&part));
        stream
    });
    is_prompt(&server, "large bodies do not end");
    #[cfg(target_os = "linux")]
    {
        // One of them, and a little of each of the others.
        let most = ((mebibytes + 3 * count + 100) as u64) << 20;
        let has = server.memory_bytes();
        assert!(has < most, "{} MiB", has >> 20);
    }
    drop(held);
    (folder, server)
}

#[test]
fn large_bodies_are_read_one_at_a_time() {
    let (_folder, server) = large_bodies("bodies", 8, 24);
    // The next one is read once those have gone.
    let text = format!("{SCENARIO}# {}\n", "a".repeat(2 << 20));
    let answer = server.send("POST", "/check", &json!({ "text": text }));
    assert_eq!(answer.json()["problems"], json!([]), "{}", answer.text());
}

#[test]
#[ignore = "2 GB are sent; `make test-all` runs it"]
fn thirty_bodies_of_62_mebibytes_leave_no_memory_behind() {
    let (_folder, server) = large_bodies("bodies-all", 30, 62);
    std::thread::sleep(Duration::from_secs(2));
    is_prompt(&server, "they have gone");
    #[cfg(target_os = "linux")]
    {
        let has = server.memory_bytes();
        assert!(has < 150 << 20, "{} MiB", has >> 20);
    }
}

#[test]
fn bodies_that_are_too_long_or_break_off_are_refused() {
    let folder = Folder::new("bodies-odd");
    let server = Server::start(&folder, &[]);
    let json = "Content-Type: application/json\r\n";
    let mut stream = begun(
        &server,
        "POST /api/v1/check",
        &format!("{json}Content-Length: 9999999999\r\n\r\n"),
    );
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).expect("an answer");
    assert_eq!(&answer, b"HTTP/1.1 413");
    let broken = begun(
        &server,
        "POST /api/v1/check",
        &format!("{json}Content-Length: 100\r\n\r\n{{"),
    );
    drop(broken);
    is_prompt(&server, "a body has broken off");
}

/// An all-to-all among 192 NICs: 37,000 flows.
const MANY_FLOWS: &str = "
name: flows
fabric: {kind: single-switch, hosts: 192}
jobs: [{collectives: [{collective: all-to-all, size: 192KiB}]}]
";

#[test]
#[ignore = "a table of 37,000 flows as text, 16 times; `make test-all` runs it"]
fn tables_as_text_that_stand_still_leave_others_alone() {
    let folder = Folder::new("csv");
    let server = Server::start(&folder, &[]);
    let id = server.queue(MANY_FLOWS);
    server.wait(&format!("/trials/{id}"), "done");
    let line = "GET /api/v1/trials/1/tables/flows";
    let held = hold(16, || begun(&server, line, "Accept: text/csv\r\n\r\n"));
    is_prompt(&server, "16 tables stand still");
    drop(held);
    let csv = server.ask("GET", "/trials/1/tables/flows", &["Accept: text/csv"], "");
    assert_eq!(csv.text().lines().count(), 1 + 192 * 191);
}

/// Some 350 MB each.
#[cfg(target_os = "linux")]
const LARGE: &str = "
name: large
fabric: {kind: leaf-spine, leaves: 32, hosts_per_leaf: 32, spines: 32}
jobs: [{name: a, collectives: [{collective: all-to-all, size: 1MiB}]}]
limits: {time: 5us}
";

#[test]
#[cfg(target_os = "linux")]
fn trials_that_do_not_fit_side_by_side_wait_for_each_other() {
    let folder = Folder::new("memory");
    let mut server = Server::start_within(&folder, 1_300_000, "--jobs 3");
    for seed in 1..=3 {
        server.queue(&format!("{LARGE}seed: {seed}\n"));
    }
    let ends: Vec<Value> = (1..=3)
        .map(|id| server.wait_for_end(&format!("/trials/{id}")))
        .collect();
    assert!(server.lives());
    let run = ends.iter().filter(|end| end["state"] == "incomplete");
    assert!(run.count() >= 2, "{ends:?}");
    // Address space that has been used once is not always given back, so that one of them may be
    // refused; it says why.
    for end in ends.iter().filter(|end| end["state"] != "incomplete") {
        let why = end["error"].as_str().unwrap_or_default();
        assert!(why.contains("of memory"), "{end}");
    }
}

#[test]
#[cfg(unix)]
fn a_signal_ends_the_server_as_it_ends_other_commands() {
    for signal in ["-HUP", "-TERM", "-INT"] {
        let folder = Folder::new("signals");
        let server = Server::start(&folder, &[]);
        assert_eq!(server.end_by(signal), Some(130), "{signal}");
    }
}
