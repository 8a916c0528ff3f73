//! Trial folders of strangers, with links in them.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use crate::SCENARIO;
use crate::client::{Folder, Server, printed};

/// A workspace with one trial of `tenter run`, of which `change` makes another.
fn with_trial(name: &str, change: impl FnOnce(&std::path::Path)) -> Folder {
    let folder = Folder::new(name);
    fs::write(folder.path().join("small.yaml"), SCENARIO).expect("a scenario");
    let run = ["run", "small.yaml", "-o", "trials/a", "--threads", "1"];
    printed(&folder, &run);
    fs::write(folder.path().join("secret"), "TOP SECRET\n").expect("a file");
    change(&folder.path().join("trials/a"));
    folder
}

/// Replaces a file by a link to another one beside the workspace.
fn link(trial: &std::path::Path, file: &str, to: &str) {
    let _ = fs::remove_file(trial.join(file));
    symlink(trial.join("../..").join(to), trial.join(file)).expect("a link");
}

/// Every route that reads files of a trial.
const ROUTES: [&str; 17] = [
    "",
    "/config",
    "/files/flows.parquet",
    "/trace.json",
    "/report.html",
    "/tables",
    "/tables/flows",
    "/cdf",
    "/timeline",
    "/ports/leaf0:0?metric=tx_bytes",
    "/ports-heat?metric=tx_bytes",
    "/fabric",
    "/held-up",
    "/pictures",
    "/live",
    "/files/ports.parquet",
    "/files/samples.parquet",
];

#[test]
fn no_route_follows_a_link_of_a_trial() {
    let files = [
        "flows.parquet",
        "config.yaml",
        "ports.parquet",
        "summary.json",
        "samples.parquet",
    ];
    let folder = with_trial("links", |trial| {
        for file in files {
            link(trial, file, "secret");
        }
        link(trial, "trace.json", "made-outside");
    });
    let server = Server::start(&folder, &[]);
    let found = server.json("/trials");
    let row = &found["rows"][0];
    assert_eq!(row["state"], "failed", "{found}");
    let why = row["error"].as_str().expect("a reason");
    assert!(
        why.contains("flows.parquet: it is a symbolic link"),
        "{why}"
    );
    assert!(why.contains("put the file itself there"), "{why}");
    for route in ROUTES {
        let answer = server.get(&format!("/trials/1{route}"));
        assert!(answer.status < 500, "{route}: {}", answer.text());
        assert!(!answer.text().contains("SECRET"), "{route}");
    }
    assert_eq!(server.get("/trials/1/files/flows.parquet").status, 409);
    assert_eq!(server.get("/trials/1/trace.json").status, 409);
    assert_eq!(server.get("/compare?ids=1").status, 409);
    assert!(!folder.path().join("made-outside").exists());
    let secret = fs::read_to_string(folder.path().join("secret"));
    assert_eq!(secret.expect("it is still there"), "TOP SECRET\n");
}

#[test]
fn a_trial_whose_links_have_gone_is_read() {
    let folder = with_trial("links-gone", |trial| {
        link(trial, "trace.json", "made-outside");
    });
    let server = Server::start(&folder, &[]);
    let state = |server: &Server| server.json("/trials")["rows"][0]["state"].clone();
    assert_eq!(state(&server), "failed");
    let answer = server.get("/trials/1/trace.json");
    assert!(answer.text().contains("symbolic link"), "{}", answer.text());
    assert!(!folder.path().join("made-outside").exists());
    fs::remove_file(folder.path().join("trials/a/trace.json")).expect("a link");
    std::thread::sleep(std::time::Duration::from_millis(2_100));
    assert_eq!(state(&server), "done");
    assert_eq!(server.get("/trials/1/trace.json").status, 200);
    assert_eq!(server.json("/trials/1")["row"]["error"], json!(null));
}

#[test]
fn a_folder_that_becomes_a_link_and_a_ledger_that_leads_out_are_refused() {
    let folder = with_trial("links-folder", |_| ());
    let server = Server::start(&folder, &[]);
    assert_eq!(server.json("/trials")["rows"][0]["state"], "done");
    let trials = folder.path().join("trials");
    fs::rename(trials.join("a"), folder.path().join("elsewhere")).expect("it moves");
    symlink(folder.path().join("elsewhere"), trials.join("a")).expect("a link");
    let answer = server.get("/trials/1/files/flows.parquet");
    assert_eq!(answer.status, 409);
    assert!(
        answer
            .text()
            .contains("its folder a: it is a symbolic link")
    );
    let removed = server.send("DELETE", "/trials/1", &json!({}));
    assert_eq!(removed.status, 204);
    assert!(folder.path().join("elsewhere/flows.parquet").exists());
}

#[test]
fn a_configuration_reads_files_of_its_own_trial_alone() {
    let folder = with_trial("links-config", |trial| {
        let text = "fabric: {kind: single-switch, hosts: 2}\n\
            jobs: [{collectives: [{collective: matrix, file: ../../secret}]}]\n";
        fs::write(trial.join("config.yaml"), text).expect("a configuration");
    });
    let server = Server::start(&folder, &[]);
    // Its results are those of its summary; its fabric is not known.
    let found = server.json("/trials");
    assert_eq!(found["rows"][0]["fabric"], "", "{found}");
    assert_eq!(found["rows"][0]["state"], "done");
}
