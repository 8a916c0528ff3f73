//! The ledger of a workspace, with its server and without.

use std::fs;

use serde_json::json;

use crate::SCENARIO;
use crate::client::{Folder, Server, printed, tenter};

#[test]
fn tags_and_notes_are_kept_and_found() {
    let folder = Folder::new("tags");
    let server = Server::start(&folder, &[]);
    let id = server.queue(SCENARIO);
    let path = format!("/trials/{id}");
    server.wait(&path, "done");
    let change = json!({"name": "first, with 100% load", "tags": ["baseline", "two spines"], "note": "# Learned\n\n`leaf0` is *hot*."});
    assert_eq!(server.send("PATCH", &path, &change).status, 200);
    let trial = server.json(&path);
    assert_eq!(trial["note"], change["note"]);
    let total = |query: &str| server.json(&format!("/trials?{query}"))["total"].clone();
    assert_eq!(total("search=100%25"), 1);
    assert_eq!(total("search=100_"), 0);
    assert_eq!(total("search=hot"), 1);
    assert_eq!(total("search=two%20sp"), 1);
    assert_eq!(total("tag=baseline"), 1);
    assert_eq!(total("tag=base"), 0);
    assert_eq!(total("tag=baseline&state=queued"), 0);
    assert_eq!(
        server.json("/tags"),
        json!([{"tag": "baseline", "trials": 1}, {"tag": "two spines", "trials": 1}])
    );
    // The command sees the same, while the server runs.
    let list = printed(&folder, &["trials", "list", "--tag", "baseline"]);
    assert!(list.contains("first, with 100% load"), "{list}");
    printed(
        &folder,
        &["trials", "tag", "1", "second", "--remove", "baseline"],
    );
    assert_eq!(server.json(&path)["tags"], json!(["second", "two spines"]));
    let shown = printed(&folder, &["trials", "show", "first, with 100% load"]);
    assert!(
        shown.contains("`leaf0` is *hot*.") && shown.contains("JCT"),
        "{shown}"
    );
    printed(&folder, &["trials", "note", "1", "another"]);
    assert_eq!(printed(&folder, &["trials", "note", "1"]), "another\n");
    let csv = printed(&folder, &["trials", "export", "--format", "csv"]);
    assert!(
        csv.lines()
            .nth(1)
            .is_some_and(|line| line.starts_with("1,\"first, with 100% load\",done")),
        "{csv}"
    );
}

#[test]
fn trials_of_the_command_are_found() {
    let folder = Folder::new("found");
    fs::write(folder.path().join("small.yaml"), SCENARIO).expect("a file for the test");
    printed(&folder, &["run", "small.yaml", "-o", "trials/mine"]);
    let server = Server::start(&folder, &[]);
    let list = server.json("/trials");
    assert_eq!(list["total"], 1);
    let trial = &list["rows"][0];
    assert_eq!(
        (&trial["name"], &trial["state"], &trial["hosts"]),
        (&"mine".into(), &"done".into(), &8.into())
    );
    assert!(server.get("/trials/1/config").text().contains("leaf-spine"));
    assert!(
        server.json("/trials/1/cdf")["jobs"][0]["count"]
            .as_u64()
            .is_some_and(|of| of > 0)
    );
    printed(&folder, &["trials", "rm", "mine"]);
    assert!(!folder.path().join("trials/mine").exists());
    assert_eq!(server.get("/trials/1").status, 404);
    assert_eq!(
        tenter(&folder, &["trials", "show", "mine"])
            .output()
            .expect("it runs")
            .status
            .code(),
        Some(2)
    );
}

#[test]
fn files_of_others_are_not_removed() {
    let folder = Folder::new("others");
    let server = Server::start(&folder, &[]);
    let id = server.queue(SCENARIO);
    server.wait(&format!("/trials/{id}"), "done");
    let own = folder.path().join("trials/small/analysis.ipynb");
    fs::write(&own, "mine").expect("a file for the test");
    assert_eq!(
        server
            .send("DELETE", &format!("/trials/{id}"), &json!({}))
            .status,
        204
    );
    assert!(own.exists());
    assert_eq!(server.json("/trials")["total"], 0);
}
