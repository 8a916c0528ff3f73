//! Sweeps of a workspace.

use serde_json::{Value, json};

use crate::SCENARIO;
use crate::client::{Folder, Server};

#[test]
fn a_sweep_is_run_and_its_rows_are_read() {
    let folder = Folder::new("sweep");
    let server = Server::start(&folder, &[]);
    let text = "name: spines\naxes: {fabric.spines: [1, 2]}\nseeds: 2\n";
    let asked = json!({"text": text, "scenario": SCENARIO});
    let answer = server.send("POST", "/sweeps", &asked);
    assert_eq!(answer.status, 201, "{}", answer.text());
    let path = format!("/sweeps/{}", answer.json()["id"]);
    let sweep = server.wait(&path, "done");
    assert_eq!((&sweep["total"], &sweep["done"]), (&4.into(), &4.into()));
    assert_eq!(sweep["axes"][0]["path"], "fabric.spines");
    assert_eq!(sweep["axes"][0]["values"], json!(["1", "2"]));
    let rows = sweep["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 4);
    assert!(
        rows.iter()
            .all(|row| row["values"][0].as_f64().is_some_and(|value| value > 0.0))
    );
    // A trial that has run is not run again, whichever sweep asks for it.
    let wider = json!({"text": text.replace("[1, 2]", "[1, 2, 4]"), "scenario": SCENARIO});
    let answer = server.send("POST", "/sweeps", &wider).json();
    let wider = server.wait(&format!("/sweeps/{}", answer["id"]), "done");
    assert_eq!(wider["rows"].as_array().map(Vec::len), Some(6));
    let read = |row: &Value| {
        let names = ["variant", "point", "seed", "values"];
        names.map(|name| row[name].clone())
    };
    let wider: Vec<_> = wider["rows"].as_array().expect("rows").iter().collect();
    for row in rows {
        assert!(wider.iter().any(|other| read(other) == read(row)), "{row}");
    }
    assert_eq!(server.json("/sweeps").as_array().map(Vec::len), Some(2));
    let missing = json!({"text": "name: a\naxes: {fabric.nothing: [1]}\n", "scenario": SCENARIO});
    let refused = server.send("POST", "/sweeps", &missing);
    assert_eq!(refused.status, 422, "{}", refused.text());
    assert_eq!(
        server
            .send("POST", &format!("{path}/cancel"), &json!({}))
            .status,
        409
    );
}

/// Each trial of a sweep is a trial of the workspace, too, with the tables that the sweep keeps.
#[test]
fn trials_of_a_sweep_have_rows_of_their_own() {
    let folder = Folder::new("swept");
    let server = Server::start(&folder, &[]);
    for (keep, has_tables) in [("summary", false), ("tables", true)] {
        let seed = if has_tables { "[8, 9]" } else { "[1, 2]" };
        let text = format!("name: {keep}\nseeds: {seed}\nkeep: {keep}\n");
        let asked = json!({"text": text, "scenario": SCENARIO});
        let id = server.send("POST", "/sweeps", &asked).json()["id"].clone();
        let sweep = server.wait(&format!("/sweeps/{id}"), "done");
        let rows = sweep["rows"].as_array().expect("rows");
        assert_eq!(rows.len(), 2);
        for row in rows {
            let trial = server.json(&format!("/trials/{}", row["trial"]));
            assert_eq!((&trial["sweep"], &trial["state"]), (&id, &"done".into()));
            let name = trial["name"].as_str().expect("a name");
            assert!(name.starts_with(&format!("{keep}: ")), "{name}");
            // The reading is the job completion time, unless the sweep says other ones.
            let jct = &trial["summary"]["jobs"][0]["jct_ns"];
            assert_eq!(&row["values"][0], jct);
            let tables = server.get(&format!("/trials/{}/tables/jobs", row["trial"]));
            assert_eq!(tables.status, if has_tables { 200 } else { 409 });
        }
        let named = server.json(&format!("/trials?search={keep}"));
        assert_eq!(named["total"], 2);
    }
    // One that is removed stays read.
    let first = server.json("/sweeps/1")["rows"][0]["trial"].clone();
    assert_eq!(
        server
            .send("DELETE", &format!("/trials/{first}"), &json!({}))
            .status,
        204
    );
    let rows = server.json("/sweeps/1")["rows"].clone();
    assert_eq!(
        (rows.as_array().map(Vec::len), &rows[0]["trial"]),
        (Some(2), &Value::Null)
    );
}
