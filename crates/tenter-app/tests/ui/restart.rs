//! A server that is killed, and the next one.

use std::io::{BufRead as _, BufReader, Write as _};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{Folder, Server};
use crate::{LONG, SCENARIO};

#[test]
fn a_killed_server_leaves_what_it_had_and_the_next_one_goes_on() {
    let folder = Folder::new("restart");
    let server = Server::start(&folder, &[]);
    let finished = server.queue(SCENARIO);
    let done = server.wait(&format!("/trials/{finished}"), "done");
    let long = server.queue(LONG);
    let waiting = server.queue(SCENARIO);
    server.wait(&format!("/trials/{long}"), "running");
    // Until its rows were made readable twice.
    let since = Instant::now();
    while since.elapsed() < Duration::from_secs(60) {
        let trial = server.json(&format!("/trials/{long}"));
        if trial["progress"]["elapsed_s"]
            .as_f64()
            .is_some_and(|elapsed| elapsed > 2.5)
        {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    server.kill();

    let server = Server::start(&folder, &[]);
    let interrupted = server.json(&format!("/trials/{long}"));
    assert_eq!(interrupted["state"], "interrupted");
    assert!(
        interrupted["partial"]["flows_done"]
            .as_u64()
            .is_some_and(|flows| flows > 0)
    );
    let flows = server.json(&format!("/trials/{long}/tables/flows?limit=3"));
    assert!(
        flows["total"].as_u64().is_some_and(|rows| rows > 100),
        "{flows}"
    );
    let cdf = server.json(&format!("/trials/{long}/cdf"));
    assert_eq!(cdf["jobs"][0]["count"], flows["total"]);
    let again = server.json(&format!("/trials/{finished}"));
    assert_eq!(again["summary"], done["summary"]);
    // What waited is run now.
    let next = server.wait(&format!("/trials/{waiting}"), "done");
    assert_eq!(next["digest"], done["digest"]);
    // The folder of the interrupted trial can be removed.
    assert_eq!(
        server
            .send("DELETE", &format!("/trials/{long}"), &json!({}))
            .status,
        204
    );
    assert!(!folder.path().join("trials/long").exists());
}

#[test]
fn a_cancelled_trial_keeps_what_it_has_and_events_tell_of_it() {
    let folder = Folder::new("cancel");
    let server = Server::start(&folder, &[]);
    let mut stream = server.connect();
    let headers = server.own_headers().join("\r\n");
    let request = format!("GET /api/v1/events HTTP/1.1\r\n{headers}\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("it is sent");
    let mut lines = BufReader::new(stream)
        .lines()
        .map(|line| line.expect("UTF-8"));
    let id = server.queue(LONG);
    let progress = lines.find(|line| line.starts_with("event: progress"));
    assert!(progress.is_some());
    let path = format!("/trials/{id}");
    assert_eq!(server.send("DELETE", &path, &json!({})).status, 409);
    // Several at once are as good as one.
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let status = server
                    .send("POST", &format!("{path}/cancel"), &json!({}))
                    .status;
                assert!(status == 202 || status == 409, "{status}");
            });
        }
    });
    let trial = server.wait(&path, "cancelled");
    assert_eq!(trial["summary"]["stopped_by"], "user");
    assert!(
        server.json(&format!("{path}/tables/flows"))["total"]
            .as_u64()
            .is_some_and(|of| of > 0)
    );
    let ended = lines.find(|line| line.starts_with("data: ") && line.contains("\"cancelled\""));
    assert!(ended.is_some());
    assert_eq!(
        server
            .send("POST", &format!("{path}/cancel"), &json!({}))
            .status,
        409
    );
    // One that waits is cancelled at once.
    let (running, waiting) = (server.queue(LONG), server.queue(LONG));
    let answer = server.send("POST", &format!("/trials/{waiting}/cancel"), &json!({}));
    assert_eq!(
        (answer.status, &answer.json()["state"]),
        (202, &"cancelled".into())
    );
    server.send("POST", &format!("/trials/{running}/cancel"), &json!({}));
}

/// Links and queues of a trial can be watched while it runs, and only then.
#[test]
fn a_trial_is_watched_while_it_runs() {
    let folder = Folder::new("live");
    let server = Server::start(&folder, &[]);
    let id = server.queue(LONG);
    let path = format!("/trials/{id}");
    server.wait(&path, "running");
    let mut seen = Value::Null;
    for _ in 0..200 {
        seen = server.json(&format!("{path}/live"));
        if seen["time_ns"].is_number() {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(
        seen["time_ns"].as_f64().is_some_and(|time| time > 0.0),
        "{seen}"
    );
    assert!(seen["interval_ns"].as_f64().is_some_and(|time| time > 0.0));
    let loads = seen["loads"].as_array().expect("loads");
    let links = server.json(&format!("{path}/fabric"))["links"]
        .as_array()
        .map_or(0, Vec::len);
    assert!(!loads.is_empty() && links > 0);
    for load in loads {
        assert!(
            load["link"]
                .as_u64()
                .is_some_and(|link| (link as usize) < links)
        );
        let share = load["utilisation"].as_f64();
        assert!(
            share.is_some_and(|share| (0.0..=1.0).contains(&share)),
            "{load}"
        );
    }
    server.send("POST", &format!("{path}/cancel"), &json!({}));
    server.wait(&path, "cancelled");
    let over = server.json(&format!("{path}/live"));
    assert_eq!(
        (&over["is_running"], &over["loads"]),
        (&false.into(), &json!([]))
    );
    assert_eq!(server.get("/trials/99/live").status, 404);
}
