//! Requests that must be refused, and change nothing.

use serde_json::{Value, json};

use crate::SCENARIO;
use crate::client::{Folder, Server, tenter};

const JSON: &str = "Content-Type: application/json";

/// A server with a trial, and what its list is.
struct Bystander {
    server: Server,
    _folder: Folder,
    before: Value,
}

impl Bystander {
    fn new(name: &str) -> Bystander {
        let folder = Folder::new(name);
        let server = Server::start(&folder, &[]);
        let id = server.queue(SCENARIO);
        server.wait(&format!("/trials/{id}"), "done");
        Bystander {
            before: server.json("/trials"),
            server,
            _folder: folder,
        }
    }

    /// The status of a request with these headers beside `Host` and the token.
    fn status(&self, line: &str, headers: &[&str], body: &str) -> u16 {
        self.server.own(line, headers, body).status
    }

    fn get(&self, path: &str) -> u16 {
        self.status(&format!("GET {path}"), &[], "")
    }

    fn changed_nothing(&self) {
        assert_eq!(self.server.json("/trials"), self.before);
    }
}

#[test]
fn paths_lead_nowhere() {
    let of = Bystander::new("paths");
    for path in [
        "/api/v1/trials/..%2F..%2Fetc%2Fpasswd",
        "/../../../../etc/passwd",
        "/assets/..%2f..%2f..%2fetc%2fpasswd.txt",
        "/api/v1/trials/1/files/..%2Fmanifest.json",
        "/api/v1/trials/1/files/manifest.json",
        "/api/v1/trials/1/tables/%2Fetc%2Fpasswd",
    ] {
        assert_eq!(of.get(path), 404, "{path}");
    }
    // Nor does a scenario that names files.
    let naming = SCENARIO.replace(
        "{collective: all-to-all, size: 1MiB}",
        "{collective: matrix, file: /etc/passwd}",
    );
    let post = |path: &str, body: Value| of.server.send("POST", path, &body).status;
    assert_eq!(post("/trials", json!({ "text": naming })), 422);
    let sweep = "scenario: /etc/passwd\naxes: {seed: [1]}\n";
    assert_eq!(post("/sweeps", json!({ "text": sweep })), 422);
    of.changed_nothing();
}

#[test]
fn what_is_not_there_or_not_understood_is_refused() {
    let of = Bystander::new("unknown");
    let statuses = [
        ("/api/v1/trials/999", 404),
        ("/api/v1/trials/99999999999999999999", 404),
        ("/api/v1/nothing", 404),
        ("/api/v1/trials/1/tables/nothing", 404),
        ("/api/v1/trials/1/tables/flows?where=nothing=1", 400),
        ("/api/v1/trials/1/tables/flows?where=fct_ns", 400),
        ("/api/v1/trials/1/tables/flows?limit=-1", 400),
        ("/api/v1/trials/1/cdf?of=nothing", 400),
        ("/api/v1/compare?ids=1,x", 400),
        ("/api/v1/trials?sort=id;DROP%20TABLE%20trials", 400),
        ("/api/v1/trials?state=asleep", 400),
        ("/api/v1/sweeps/1", 404),
        ("/api/v1/studies/nothing", 404),
    ];
    for (path, status) in statuses {
        assert_eq!(of.get(path), status, "{path}");
    }
    of.changed_nothing();
}

#[test]
fn wrong_types_are_refused() {
    let of = Bystander::new("types");
    let body = json!({ "text": SCENARIO }).to_string();
    let post = |headers: &[&str], body: &str| of.status("POST /api/v1/trials", headers, body);
    assert_eq!(post(&[JSON], "{"), 422);
    assert_eq!(post(&[JSON], "{\"text\": 7}"), 422);
    assert_eq!(post(&["Content-Type: text/plain"], &body), 415);
    assert_eq!(post(&[], &body), 415);
    assert_eq!(of.status("PUT /api/v1/trials", &[JSON], &body), 405);
    for change in [
        json!({"tags": ["\u{7}"]}),
        json!({"folder": "/"}),
        json!({"name": ""}),
        json!({"note": 1}),
    ] {
        let answer = of.server.send("PATCH", "/trials/1", &change);
        assert_eq!(answer.status, 422, "{change}");
    }
    of.changed_nothing();
}

#[test]
fn other_sites_and_other_names_are_refused() {
    let of = Bystander::new("sites");
    let body = json!({ "text": SCENARIO }).to_string();
    let from = |origin: &str| of.status("POST /api/v1/trials", &[JSON, origin], &body);
    assert_eq!(from("Origin: http://evil.example"), 403);
    assert_eq!(from("Origin: null"), 403);
    let named = |headers: &[&str]| of.server.raw("GET /api/v1/trials", headers, b"").status;
    assert_eq!(named(&["Host: evil.example"]), 403);
    assert_eq!(named(&["Host: 127.0.0.1:1"]), 403);
    assert_eq!(named(&[]), 403);
    of.changed_nothing();
}

#[test]
fn a_body_that_is_too_long_is_refused() {
    let folder = Folder::new("long-body");
    let server = Server::start(&folder, &[]);
    let text = format!("{{\"text\": \"{}\"}}", "a".repeat(65 << 20));
    let answer = server.ask("POST", "/check", &[JSON], &text);
    assert_eq!(answer.status, 413);
    assert!(answer.json()["error"]["help"].is_string());
    assert_eq!(server.json("/trials")["total"], 0);
}

#[test]
fn answers_are_fenced_in() {
    let folder = Folder::new("fenced");
    let server = Server::start(&folder, &[]);
    for path in ["/", "/api/v1/about", "/api/v1/nothing"] {
        let answer = server.own(&format!("GET {path}"), &[], "");
        let policy = answer.header("content-security-policy").expect("a policy");
        assert!(policy.contains("default-src 'self'") && policy.contains("frame-ancestors 'none'"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
}

/// Headers with which requests come in or not, in the order of `path, header, status`.
fn token_cases(server: &Server, host: &str) {
    let token = &server.token;
    assert_eq!(token.len(), 32);
    let get = |path: &str, more: &str| {
        let mut headers = vec![host];
        headers.extend(Some(more).filter(|more| !more.is_empty()));
        server.raw(&format!("GET {path}"), &headers, b"")
    };
    let port = server.address.split(':').nth(1).expect("a port");
    let of_port = format!("Cookie: tenter-token-{port}={token}");
    let cases = [
        ("/api/v1/trials", String::new(), 401),
        ("/", String::new(), 401),
        ("/assets/index.js", String::new(), 401),
        (
            "/?token=00000000000000000000000000000000",
            String::new(),
            401,
        ),
        (
            "/api/v1/trials",
            "Authorization: Bearer wrong".to_owned(),
            401,
        ),
        (
            "/api/v1/trials",
            format!("Cookie: tenter-token={token}"),
            401,
        ),
        (
            "/api/v1/trials",
            format!("Cookie: tenter-token-1={token}"),
            401,
        ),
        ("/api/v1/trials", of_port.clone(), 200),
        (
            "/api/v1/trials",
            format!("Authorization: Bearer {token}"),
            200,
        ),
    ];
    for (path, header, status) in cases {
        assert_eq!(get(path, &header).status, status, "{path} {header}");
    }
    // What a browser gets for the printed address, which it leaves at once.
    let entrance = get(&format!("/?token={token}"), "");
    assert_eq!(
        (entrance.status, entrance.header("refresh")),
        (200, Some("0; url=/"))
    );
    let cookie = entrance.header("set-cookie").expect("a cookie");
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"));
    let cookie = cookie.split(';').next().expect("its value");
    assert_eq!(format!("Cookie: {cookie}"), of_port);
}

#[test]
fn nobody_comes_in_without_the_token() {
    let of = Bystander::new("token");
    let host = format!("Host: {}", of.server.address);
    token_cases(&of.server, &host);
    // Another user of the machine queues, reads and removes nothing.
    let body = json!({ "text": SCENARIO }).to_string();
    let by_other =
        |line: &str, body: &str| of.server.raw(line, &[&host, JSON], body.as_bytes()).status;
    assert_eq!(by_other("POST /api/v1/trials", &body), 401);
    assert_eq!(by_other("GET /api/v1/trials/1/config", ""), 401);
    assert_eq!(by_other("DELETE /api/v1/trials/1", ""), 401);
    of.changed_nothing();
}

#[test]
fn other_machines_need_the_token_and_call_the_server_by_number() {
    let folder = Folder::new("token-of-any");
    let server = Server::start(&folder, &["--listen", "0.0.0.0"]);
    let port = server.address.split(':').nth(1).expect("a port");
    token_cases(&server, &format!("Host: 192.168.7.7:{port}"));
    let evil = format!("Host: evil.example:{port}");
    assert_eq!(server.raw("GET /", &[&evil], b"").status, 403);
}

#[test]
fn a_server_without_a_token_is_one_of_this_machine() {
    let folder = Folder::new("no-token");
    let server = Server::start(&folder, &["--no-token"]);
    assert_eq!(server.token, "");
    let host = format!("Host: {}", server.address);
    assert_eq!(server.raw("GET /api/v1/trials", &[&host], b"").status, 200);
    let open = ["ui", "elsewhere", "--port", "0", "--no-open", "--no-token"];
    let refused = tenter(&folder, &[&open[..], &["--listen", "0.0.0.0"]].concat()).output();
    let refused = refused.expect("it runs");
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.contains("leave `--no-token` out"), "{said}");
    assert!(!folder.path().join("elsewhere").exists());
}

#[test]
fn the_description_in_the_repository_is_that_of_the_program() {
    let folder = Folder::new("openapi");
    let printed = crate::client::printed(&folder, &["ui", "--openapi"]);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/openapi.json");
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        std::fs::write(path, &printed).expect("the file can be written");
    }
    let kept = std::fs::read_to_string(path).expect("the file is there");
    assert!(
        kept == printed,
        "write it anew: UPDATE_EXPECTED=1 cargo test -p tenter-app --test ui"
    );
    let description: Value = serde_json::from_str(&printed).expect("JSON");
    assert_eq!(description["openapi"], "3.1.0");
    for (path, methods) in description["paths"].as_object().expect("paths") {
        for (method, operation) in methods.as_object().expect("methods") {
            let answers = &operation["responses"];
            let has_body = operation.get("requestBody").is_some();
            let what = format!("{method} {path}");
            for status in ["408", "413"] {
                assert_eq!(answers.get(status).is_some(), has_body, "{what}: {status}");
            }
            let route = path.trim_start_matches("/api/v1");
            if ["/check", "/fabric", "/mapping"].contains(&route) {
                assert!(answers.get("409").is_some(), "{what}");
                assert_eq!(
                    operation["parameters"][0]["name"], "Tenter-Client",
                    "{what}"
                );
                assert_eq!(operation["parameters"][0]["in"], "header", "{what}");
            }
        }
    }
    // Clients name their functions so.
    let paths = description["paths"].as_object().expect("paths").values();
    let operations = paths.flat_map(|path| path.as_object().expect("methods").values());
    let mut names: Vec<&str> = operations
        .filter_map(|operation| operation["operationId"].as_str())
        .collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
}

#[test]
fn readers_read_and_change_nothing() {
    let folder = Folder::new("readers");
    let mut server = Server::start(&folder, &[]);
    let id = server.queue(SCENARIO);
    let path = format!("/trials/{id}");
    server.wait(&path, "done");
    let before = server.json(&path);
    server.token = std::mem::take(&mut server.readers_token);
    assert_eq!(server.json(&path), before);
    let text = json!({ "text": SCENARIO });
    assert_eq!(server.send("POST", "/check", &text).status, 200);
    let note = json!({ "note": "mine" });
    for (method, route, body) in [
        ("POST", "/trials", &text),
        ("PATCH", path.as_str(), &note),
        ("DELETE", path.as_str(), &note),
        ("POST", &format!("{path}/cancel"), &note),
        ("POST", "/sweeps", &text),
    ] {
        let answer = server.send(method, route, body);
        assert_eq!(answer.status, 403, "{method} {route}: {}", answer.text());
        assert!(
            answer.text().contains("is for reading"),
            "{}",
            answer.text()
        );
    }
    assert_eq!(server.json(&path), before);
}
