//! Requests that must be refused, and change nothing.

use serde_json::{Value, json};

use crate::SCENARIO;
use crate::client::{Folder, Server};

const JSON: &str = "Content-Type: application/json";

#[test]
fn bad_requests_have_the_right_status_and_change_nothing() {
    let folder = Folder::new("bad");
    let server = Server::start(&folder, &[]);
    let id = server.queue(SCENARIO);
    server.wait(&format!("/trials/{id}"), "done");
    let before = server.json("/trials");
    let body = json!({ "text": SCENARIO }).to_string();
    let host = format!("Host: {}", server.address);
    let own = host.as_str();
    let raw = |line: &str, headers: &[&str], body: &str| {
        server.raw(line, headers, body.as_bytes()).status
    };
    let get = |path: &str| raw(&format!("GET {path}"), &[own], "");
    // Paths lead nowhere.
    assert_eq!(get("/api/v1/trials/..%2F..%2Fetc%2Fpasswd"), 404);
    assert_eq!(get("/../../../../etc/passwd"), 404);
    assert_eq!(get("/assets/..%2f..%2f..%2fetc%2fpasswd.txt"), 404);
    assert_eq!(
        get(&format!("/api/v1/trials/{id}/files/..%2Fmanifest.json")),
        404
    );
    assert_eq!(
        get(&format!("/api/v1/trials/{id}/tables/%2Fetc%2Fpasswd")),
        404
    );
    // Nor does a scenario that names files.
    let naming = json!({"text": SCENARIO.replace("{collective: all-to-all, size: 1MiB}", "{collective: matrix, file: /etc/passwd}")});
    assert_eq!(server.send("POST", "/trials", &naming).status, 422);
    assert_eq!(
        server
            .send(
                "POST",
                "/sweeps",
                &json!({"text": "scenario: /etc/passwd\naxes: {seed: [1]}\n"})
            )
            .status,
        422
    );
    // Unknown things.
    assert_eq!(get("/api/v1/trials/999"), 404);
    assert_eq!(get("/api/v1/trials/99999999999999999999"), 404);
    assert_eq!(get("/api/v1/nothing"), 404);
    assert_eq!(get(&format!("/api/v1/trials/{id}/tables/nothing")), 404);
    assert_eq!(
        get(&format!("/api/v1/trials/{id}/tables/flows?where=nothing=1")),
        400
    );
    assert_eq!(
        get(&format!("/api/v1/trials/{id}/tables/flows?limit=-1")),
        400
    );
    assert_eq!(get("/api/v1/trials?sort=id;DROP%20TABLE%20trials"), 400);
    assert_eq!(get("/api/v1/trials?state=asleep"), 400);
    assert_eq!(raw("PUT /api/v1/trials", &[own, JSON], &body), 405);
    // Wrong types.
    assert_eq!(raw("POST /api/v1/trials", &[own, JSON], "{"), 422);
    assert_eq!(
        raw("POST /api/v1/trials", &[own, JSON], "{\"text\": 7}"),
        422
    );
    assert_eq!(
        raw(
            "POST /api/v1/trials",
            &[own, "Content-Type: text/plain"],
            &body
        ),
        415
    );
    assert_eq!(raw("POST /api/v1/trials", &[own], &body), 415);
    assert_eq!(
        server
            .send(
                "PATCH",
                &format!("/trials/{id}"),
                &json!({"tags": ["\u{7}"]})
            )
            .status,
        422
    );
    assert_eq!(
        server
            .send("PATCH", &format!("/trials/{id}"), &json!({"folder": "/"}))
            .status,
        422
    );
    assert_eq!(
        server
            .send("PATCH", &format!("/trials/{id}"), &json!({"name": ""}))
            .status,
        422
    );
    // Other sites, and names that lead here by a trick.
    assert_eq!(
        raw(
            "POST /api/v1/trials",
            &[own, JSON, "Origin: http://evil.example"],
            &body
        ),
        403
    );
    assert_eq!(
        raw("POST /api/v1/trials", &[own, JSON, "Origin: null"], &body),
        403
    );
    assert_eq!(raw("GET /api/v1/trials", &["Host: evil.example"], ""), 403);
    assert_eq!(raw("GET /api/v1/trials", &["Host: 127.0.0.1:1"], ""), 403);
    assert_eq!(raw("GET /api/v1/trials", &[], ""), 403);
    assert_eq!(server.json("/trials"), before);
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
    let host = format!("Host: {}", server.address);
    for path in ["/", "/api/v1/about", "/api/v1/nothing"] {
        let answer = server.raw(&format!("GET {path}"), &[&host], b"");
        let policy = answer.header("content-security-policy").expect("a policy");
        assert!(policy.contains("default-src 'self'") && policy.contains("frame-ancestors 'none'"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
}

#[test]
fn other_machines_need_the_token() {
    let folder = Folder::new("token");
    let server = Server::start(&folder, &["--listen", "0.0.0.0"]);
    let token = server
        .url
        .split("token=")
        .nth(1)
        .expect("a token")
        .to_owned();
    let port = server.address.split(':').nth(1).expect("a port");
    let host = format!("Host: 127.0.0.1:{port}");
    let get = |path: &str, more: &str| {
        let mut headers = vec![host.as_str()];
        headers.extend(Some(more).filter(|more| !more.is_empty()));
        server.raw(&format!("GET {path}"), &headers, b"")
    };
    assert_eq!(get("/api/v1/trials", "").status, 401);
    assert_eq!(get("/", "").status, 401);
    assert_eq!(
        get("/?token=00000000000000000000000000000000", "").status,
        401
    );
    assert_eq!(
        get("/api/v1/trials", "Authorization: Bearer wrong").status,
        401
    );
    let entrance = get(&format!("/?token={token}"), "");
    assert_eq!(
        (entrance.status, entrance.header("location")),
        (303, Some("/"))
    );
    let cookie = entrance.header("set-cookie").expect("a cookie");
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"));
    let cookie = cookie.split(';').next().expect("its value");
    assert_eq!(
        get("/api/v1/trials", &format!("Cookie: {cookie}")).status,
        200
    );
    assert_eq!(
        get("/api/v1/trials", &format!("Authorization: Bearer {token}")).status,
        200
    );
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
        "write it anew: UPDATE_EXPECTED=1 cargo test -p tenter-cli --test ui"
    );
    let description: Value = serde_json::from_str(&printed).expect("JSON");
    assert_eq!(description["openapi"], "3.1.0");
    // Clients name their functions so.
    let paths = description["paths"].as_object().expect("paths").values();
    let operations = paths.flat_map(|path| path.as_object().expect("methods").values());
    let mut names: Vec<&str> = operations
        .filter_map(|operation| operation["operationId"].as_str())
        .collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
}
