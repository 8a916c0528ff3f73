//! What goes wrong in a lab, and how trials end then.

use std::thread;
use std::time::{Duration, Instant};

use tenter::report::{read_manifest, read_rows};
use tenter_results::{FlowRow, StopKind};

use crate::bench::{Bench, command, complete};

/// Long enough for a fault in the middle. Hosts send to one other at a time: seven queue pairs that
/// fill a queue starve one of them now and then until it gives up, without any fault.
const LONG: &str = "
name: long
endpoint: {nic: {acknowledge: {every: 4}, retransmission_timeout: 150ms, retry_count: 5}}
jobs: [{name: long, collectives: [{collective: all-to-all, algorithm: pairwise, size: 2MiB}, {collective: all-to-all, algorithm: pairwise, size: 16MiB}]}]
";

/// One packet of a hundred is dropped at a spine: all arrives all the same.
pub(crate) fn loss(bench: &Bench) {
    let spine = bench.namespace("spine0");
    let rules = "table ip loss { chain drops { type filter hook forward priority 10; numgen random mod 100 0 drop; }; }";
    command(&["ip", "netns", "exec", &spine, "nft", rules]);
    for recovery in ["go-back-n", "selective-repeat"] {
        let text = format!(
            "
name: loss
endpoint: {{nic: {{loss_recovery: {recovery}, retransmission_timeout: 200ms}}}}
jobs: [{{name: lossy, collectives: [{{collective: all-to-all, size: 2MiB}}]}}]
"
        );
        let (outcome, folder, problems) = bench.run(&text);
        complete(&outcome.summary, &problems);
        let rows: Vec<FlowRow> = read_rows(&folder).expect("rows");
        assert_eq!(rows.len(), 56);
        assert!(
            outcome.summary.totals.retransmitted_frames > 0,
            "{recovery}"
        );
    }
    command(&["ip", "netns", "exec", &spine, "nft", "delete table ip loss"]);
}

/// The link of a host goes down in the middle.
pub(crate) fn link_down(bench: &Bench) {
    let leaf = bench.namespace("leaf1");
    // A busy machine may keep other pairs waiting, too, but not for so long.
    let text = LONG.replace("150ms", "800ms");
    let (outcome, folder) = thread::scope(|scope| {
        let run = scope.spawn(|| bench.run(&text));
        thread::sleep(Duration::from_millis(1_500));
        command(&["ip", "-n", &leaf, "link", "set", "p2", "down"]);
        let (outcome, folder, problems) = run.join().expect("no panic");
        assert!(!problems.is_empty());
        (outcome, folder)
    });
    command(&["ip", "-n", &leaf, "link", "set", "p2", "up"]);
    restore(bench, "leaf1", 2, "10.1.0.4");
    let summary = &outcome.summary;
    assert!(!summary.complete);
    assert_eq!(summary.stopped_by, Some(StopKind::Lab));
    let why = summary.stopped.as_deref().expect("a reason");
    assert!(why.contains("given up") && why.contains("host6"), "{why}");
    assert!(outcome.jobs[0].failure.is_some());
    partial_rows(&folder);
}

/// A link that goes down takes its neighbour and its route with it.
fn restore(bench: &Bench, leaf: &str, port: u16, address: &str) {
    let name = bench.namespace(leaf);
    let device = format!("p{port}");
    let host = bench.namespace("host6");
    let shown = command(&["ip", "-n", &host, "-o", "link", "show", "p0"]);
    let mac = shown
        .split("link/ether ")
        .nth(1)
        .and_then(|rest| rest.split(' ').next());
    let mac = mac.expect("an address");
    command(&[
        "ip",
        "-n",
        &name,
        "neigh",
        "replace",
        "169.254.0.1",
        "lladdr",
        mac,
        "nud",
        "permanent",
        "dev",
        &device,
    ]);
    let to = format!("{address}/32");
    command(&[
        "ip",
        "-n",
        &name,
        "route",
        "replace",
        &to,
        "via",
        "169.254.0.1",
        "dev",
        &device,
        "onlink",
    ]);
}

/// What had been measured is there, and the folder is whole.
fn partial_rows(folder: &std::path::Path) {
    let rows: Vec<FlowRow> = read_rows(folder).expect("rows of a partial trial");
    assert!(
        rows.len() >= 56,
        "the first collective: {} rows",
        rows.len()
    );
    let manifest = read_manifest(folder).expect("a manifest");
    assert!(!manifest.complete, "it states that it is not complete");
}

/// A coordinator vanishes: its agents are free for the next within seconds.
pub(crate) fn lost_coordinator(bench: &Bench) {
    let control = bench.namespace("control");
    let text = LONG.replace("16MiB", "64MiB");
    let trial = bench.trial(&text);
    thread::scope(|scope| {
        let run = scope.spawn(|| bench.run_trial(&trial));
        thread::sleep(Duration::from_secs(1));
        // Its cables are cut: agents hear nothing more, and it hears nothing of them.
        for host in 0..8 {
            command(&[
                "ip",
                "-n",
                &control,
                "link",
                "set",
                &format!("c{host}"),
                "down",
            ]);
        }
        let (outcome, folder, problems) = run.join().expect("no panic");
        let summary = outcome.expect("it has a folder").summary;
        assert!(!summary.complete && !problems.is_empty());
        assert!(summary.stopped.expect("a reason").contains("was lost"));
        let _ = folder;
    });
    for (host, address) in (0..8).zip(bench.lab.agents()) {
        let device = format!("c{host}");
        command(&["ip", "-n", &control, "link", "set", &device, "up"]);
        let _ = address;
    }
    // Agents notice it by its silence.
    thread::sleep(Duration::from_secs(6));
    let (outcome, _, problems) = bench.run(
        "
name: after
jobs: [{name: after, collectives: [{collective: all-to-all, size: 64KiB}]}]
",
    );
    complete(&outcome.summary, &problems);
}

/// An agent is killed in the middle.
pub(crate) fn killed_agent(bench: &Bench) {
    let host = bench.namespace("host3");
    let (outcome, folder, problems) = thread::scope(|scope| {
        let run = scope.spawn(|| bench.run(LONG));
        thread::sleep(Duration::from_millis(1_500));
        for pid in command(&["ip", "netns", "pids", &host]).lines() {
            command(&["kill", "-9", pid.trim()]);
        }
        run.join().expect("no panic")
    });
    let summary = &outcome.summary;
    assert!(!summary.complete && !problems.is_empty());
    let why = summary.stopped.as_deref().expect("a reason");
    assert!(why.contains("host3") && why.contains("lost"), "{why}");
    partial_rows(&folder);
    // The coordinator of the next trial says so at once.
    let trial = bench.trial(LONG);
    let began = Instant::now();
    let (outcome, ..) = bench.run_trial(&trial);
    let said = outcome.expect_err("an agent is missing").to_string();
    assert!(said.contains("host3"), "{said}");
    assert!(began.elapsed() < Duration::from_secs(5));
}

/// `down` leaves no namespace and no process.
pub(crate) fn nothing_is_left(bench: &Bench) {
    let name = &bench.lab.keys.name;
    let removed = tenter_lab::down(name).expect("it goes down");
    assert_eq!(removed, 13);
    let list = command(&["ip", "netns", "list"]);
    assert!(!list.contains(&format!("tenter-{name}")), "{list}");
    let own = bench.folder.display().to_string();
    let others = std::fs::read_dir("/proc")
        .expect("processes")
        .flatten()
        .filter(|entry| {
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let is_self = entry.file_name().to_string_lossy() == std::process::id().to_string();
            !is_self && String::from_utf8_lossy(&line).contains(&own)
        });
    assert_eq!(others.count(), 0, "processes of the lab");
    assert_eq!(tenter_lab::down(name).expect("again"), 0);
}
