//! Sweeps of a workspace.

use serde_json::json;

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
    for row in rows {
        assert!(
            wider["rows"]
                .as_array()
                .is_some_and(|all| all.contains(row))
        );
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
