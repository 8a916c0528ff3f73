//! `tenter trials check` and `repair`: damaged files of trials, and ledgers that are gone or
//! broken.

use std::fs;
use std::path::PathBuf;

use rusqlite::Connection;
use serde_json::Value;

use crate::SCENARIO;
use crate::client::{Folder, Server, printed, tenter};

type Damage = fn(&PathBuf);

/// A workspace with one trial that has a note and a tag.
fn with_trial(name: &str) -> (Folder, PathBuf) {
    let folder = Folder::new(name);
    fs::write(folder.path().join("small.yaml"), SCENARIO).expect("a file for the test");
    printed(&folder, &["run", "small.yaml", "-o", "trials/mine"]);
    printed(&folder, &["trials", "note", "mine", "what was learned"]);
    printed(&folder, &["trials", "tag", "mine", "kept"]);
    let ledger = folder.path().join("trials/ledger.sqlite");
    (folder, ledger)
}

fn exported(folder: &Folder) -> Value {
    let text = printed(folder, &["trials", "export", "--format", "json"]);
    serde_json::from_str(&text).expect("JSON")
}

/// Checks that the ledger has the trial, with its note and its tag.
fn has_note_and_tag(folder: &Folder) {
    let note = printed(folder, &["trials", "note", "mine"]);
    assert_eq!(note, "what was learned\n");
    let list = printed(folder, &["trials", "list", "--tag", "kept"]);
    assert!(list.contains("mine"), "{list}");
}

fn refused(folder: &Folder, arguments: &[&str]) -> String {
    let output = tenter(folder, arguments).output().expect("the binary runs");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    String::from_utf8(output.stderr).expect("UTF-8")
}

#[test]
fn damaged_files_of_trials_are_found() {
    let (folder, _) = with_trial("check");
    let sound = printed(&folder, &["trials", "check"]);
    assert_eq!(sound, "sound    1 trial\n");
    let file = folder.path().join("trials/mine/flows.parquet");
    let mut bytes = fs::read(&file).expect("the table");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&file, &bytes).expect("it can be written");
    fs::remove_file(folder.path().join("trials/mine/ports.parquet")).expect("it is there");
    let output = tenter(&folder, &["trials", "check"])
        .output()
        .expect("the binary runs");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(
        said.contains("damaged  trial 1 (mine): flows.parquet has other bytes than were written"),
        "{said}"
    );
    assert!(
        said.contains("damaged  trial 1 (mine): ports.parquet: "),
        "{said}"
    );
}

#[test]
fn a_ledger_that_is_gone_or_broken_is_replaced_and_notes_survive() {
    let damages: [(&str, Damage); 4] = [
        ("deleted", |ledger| {
            fs::remove_file(ledger).expect("it is there");
        }),
        ("emptied", |ledger| {
            fs::write(ledger, "").expect("it is there");
        }),
        ("truncated", |ledger| {
            let bytes = fs::read(ledger).expect("it is there");
            fs::write(ledger, &bytes[..bytes.len() / 2]).expect("it can be written");
        }),
        ("overwritten", |ledger| {
            let mut bytes = fs::read(ledger).expect("it is there");
            bytes[..4_096].fill(0x5a);
            fs::write(ledger, &bytes).expect("it can be written");
        }),
    ];
    for (name, damage) in damages {
        let (folder, ledger) = with_trial(&format!("repair-{name}"));
        let before = exported(&folder);
        damage(&ledger);
        let said = printed(&folder, &["trials", "repair"]);
        assert!(
            said.contains("its copy has taken its place"),
            "{name}: {said}"
        );
        has_note_and_tag(&folder);
        assert_eq!(exported(&folder), before, "{name}");
        // Nothing was removed, and there is nothing to do again.
        let aside = folder.path().join("trials/ledger.sqlite.damaged-1");
        assert_eq!(aside.is_file(), name != "deleted", "{name}");
        assert!(printed(&folder, &["trials", "repair"]).starts_with("ledger   sound\n"));
    }
}

#[test]
fn notes_are_read_from_a_broken_ledger_without_a_copy() {
    let (folder, ledger) = with_trial("salvage");
    fs::remove_file(folder.path().join("trials/ledger.sqlite.copy")).expect("it is there");
    // An index that lacks a row is damage that leaves the rows.
    let broken = Connection::open(&ledger).expect("a ledger");
    broken
        .execute_batch(
            "PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = replace(sql, '(created)', '(name)')
                WHERE name = 'workspace_trials_by_created';",
        )
        .expect("it can be written");
    drop(broken);
    let said = printed(&folder, &["trials", "repair"]);
    assert!(said.contains("a new one has taken its place"), "{said}");
    assert!(said.contains("notes and tags of 1 read"), "{said}");
    has_note_and_tag(&folder);
}

#[test]
fn a_ledger_of_a_later_version_or_in_use_is_left_alone() {
    let (folder, ledger) = with_trial("later");
    let server = Server::start(&folder, &[]);
    let said = refused(&folder, &["trials", "repair"]);
    assert!(
        said.contains("uses the workspace") && said.contains("end it first"),
        "{said}"
    );
    drop(server);
    let later = Connection::open(&ledger).expect("a ledger");
    later
        .pragma_update(None, "user_version", 99)
        .expect("it can be written");
    drop(later);
    for arguments in [["trials", "repair"], ["trials", "list"]] {
        let said = refused(&folder, &arguments);
        assert!(
            said.contains("has layout 99") && said.contains("use that version"),
            "{said}"
        );
    }
}
