//! Serves the page's files, which the build embeds compressed.

use std::io::Read as _;

use axum::http::header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, VARY};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use flate2::bufread::GzDecoder;

use crate::server::error::ApiError;

include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// Stands in for the page in a build without it.
const UNBUILT: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Tenter</title>\
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem}</style>\
<h1>The page is not part of this build</h1>\
<p>The server and its interface work: <a href=\"/api/v1/about\">/api/v1/about</a>, \
<a href=\"/api/v1/openapi.json\">/api/v1/openapi.json</a>.</p>\
<p>To have the page, run <code>make page</code> in the repository (it needs Node.js) and build the command again, \
or take a released one.</p>";

/// Serves a page file. A path without a file is a place within the page and gets `index.html`,
/// unless it looks like a file name.
pub(crate) async fn file(uri: Uri, asked: HeaderMap) -> Response {
    // The page has routes of its own, such as `/trials/3`, which a browser may load directly.
    let path = uri.path().trim_start_matches('/');
    if path.starts_with("api/") {
        return ApiError::missing("there is no such route; /api/v1/openapi.json lists them")
            .into_response();
    }
    let find = |name: &str| FILES.iter().find(|(of, _)| *of == name);
    let found = find(if path.is_empty() { "index.html" } else { path });
    if let Some((name, bytes)) = found {
        return served(name, bytes, &asked);
    }
    if path.contains('.') {
        return ApiError::missing("the page has no such file; reload it").into_response();
    }
    match find("index.html") {
        Some((name, bytes)) => served(name, bytes, &asked),
        None => ([(CONTENT_TYPE, "text/html; charset=utf-8")], UNBUILT).into_response(),
    }
}

fn served(name: &'static str, packed: &'static [u8], asked: &HeaderMap) -> Response {
    // Names of built files contain a hash of their content, so a browser may keep them for ever.
    let keep = if name.starts_with("assets/") {
        "public, max-age=31536000, immutable"
    } else {
        "no-cache"
    };
    let headers = [
        (CONTENT_TYPE, kind(name)),
        (CACHE_CONTROL, keep),
        (VARY, "accept-encoding"),
    ];
    // Files are kept compressed, so only clients that do not take gzip cost any work.
    if takes_gzip(asked) {
        return (headers, [(CONTENT_ENCODING, "gzip")], packed).into_response();
    }
    let mut bytes = Vec::new();
    match GzDecoder::new(packed).read_to_end(&mut bytes) {
        Ok(_) => (headers, bytes).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// True if the client accepts gzip, as every browser does.
fn takes_gzip(asked: &HeaderMap) -> bool {
    let encodings = asked.get_all(ACCEPT_ENCODING).iter();
    let mut encodings = encodings.filter_map(|value| value.to_str().ok());
    encodings.any(|value| value.contains("gzip"))
}

fn kind(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "txt" => "text/plain; charset=utf-8",
        "wasm" => "application/wasm",
        _ => "application/octet-stream",
    }
}
