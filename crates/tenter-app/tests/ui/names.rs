//! Names of trials that would be in the place of the ledger, or show as another name.

use std::fs;

use serde_json::json;

use crate::SCENARIO;
use crate::client::{Folder, Server, printed, tenter};

const RESERVED: [&str; 4] = [
    "ledger.sqlite",
    "ledger.sqlite-journal",
    "workers",
    "sweeps",
];
/// `safe` with an override that shows what follows from right to left.
const TURNED: &str = "safe\u{202e}txt";

/// What a command says that must be refused.
fn refused(folder: &Folder, arguments: &[&str]) -> String {
    let output = tenter(folder, arguments).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_scenario_cannot_take_the_place_of_the_ledger() {
    let folder = Folder::new("names-run");
    for name in RESERVED {
        let text = SCENARIO.replace("name: small", &format!("name: {name}"));
        fs::write(folder.path().join("s.yaml"), text).expect("a scenario");
        let said = refused(&folder, &["run", "s.yaml"]);
        assert!(said.contains("of the ledger"), "{said}");
        assert!(said.contains("choose another name"), "{said}");
        assert!(said.contains("s.yaml"), "it names the place: {said}");
    }
    let text = SCENARIO.replace("name: small", &format!("name: \"{TURNED}\""));
    fs::write(folder.path().join("s.yaml"), text).expect("a scenario");
    let said = refused(&folder, &["validate", "s.yaml"]);
    assert!(said.contains("change the direction of text"), "{said}");
    fs::write(folder.path().join("s.yaml"), SCENARIO).expect("a scenario");
    let said = refused(
        &folder,
        &["run", "s.yaml", "-o", "trials/ledger.sqlite-wal"],
    );
    assert!(said.contains("choose another name"), "{said}");
    assert!(!folder.path().join("trials/ledger.sqlite-wal").exists());
    printed(
        &folder,
        &["run", "s.yaml", "-o", "trials/a", "--threads", "1"],
    );
    printed(&folder, &["trials", "list"]);
}

#[test]
fn the_page_and_commands_refuse_such_names_too() {
    let folder = Folder::new("names-page");
    let server = Server::start(&folder, &[]);
    let id = server.queue(SCENARIO);
    server.wait(&format!("/trials/{id}"), "done");
    let named = RESERVED
        .into_iter()
        .chain([TURNED, "a\u{2066}b", "a\u{61c}b"]);
    for name in named {
        let queued = json!({ "text": SCENARIO, "name": name });
        let queued = server.send("POST", "/trials", &queued);
        assert_eq!(queued.status, 422, "{name:?}: {}", queued.text());
        let change = json!({ "name": name });
        let renamed = server.send("PATCH", &format!("/trials/{id}"), &change);
        assert_eq!(renamed.status, 422, "{name:?}");
    }
    let tagged = json!({ "tags": [TURNED] });
    let tagged = server.send("PATCH", &format!("/trials/{id}"), &tagged);
    assert_eq!(tagged.status, 422);
    assert_eq!(server.json("/trials")["total"], 1);
    let said = refused(&folder, &["trials", "tag", "small", TURNED]);
    assert!(said.contains("change the direction of text"), "{said}");
}

#[test]
fn a_folder_in_the_place_of_the_ledger_is_named() {
    let folder = Folder::new("names-old");
    for name in [
        "ledger.sqlite-journal",
        "ledger.sqlite",
        "ledger.sqlite-wal",
    ] {
        let trial = folder.path().join("trials").join(name);
        fs::create_dir_all(&trial).expect("a folder");
        let said = refused(&folder, &["trials", "list"]);
        assert!(said.contains(&format!("{name} is a folder")), "{said}");
        assert!(said.contains("move it away"), "{said}");
        fs::remove_dir(&trial).expect("it is empty");
    }
    printed(&folder, &["trials", "list"]);
}
