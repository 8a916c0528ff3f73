//! The access token, and the places in a request that may carry it.

use std::fmt::Write as _;

use axum::extract::Request;
use axum::http::header::{AUTHORIZATION, COOKIE, HeaderValue, REFRESH, SET_COOKIE};
use axum::http::{HeaderMap, Method};
use axum::response::{Html, IntoResponse, Response};

/// Makes a token from 128 random bits, as 32 hexadecimal digits.
pub(crate) fn token() -> Result<String, tenter::Error> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| {
        tenter::Error::Asked(format!("the system has no random numbers: {error}"))
    })?;
    let mut text = String::with_capacity(32);
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

/// Checks the token that a request brings: in this server's cookie or, for programs, in
/// `Authorization: Bearer`.
pub(crate) struct Entry {
    token: String,
    /// Cookie name, with the port: browsers send a cookie to every port on a host, so two servers
    /// need two names.
    cookie: String,
}

/// Page that sets the cookie and leads to the workspace at once. An HTTP redirection would count as
/// coming from the site that had the link, and browsers do not send a `SameSite=Strict` cookie
/// along with it; this page belongs to our own site.
const WELCOME: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
    <title>Tenter</title><p><a href=\"/\">Open the workspace</a></p>";

impl Entry {
    /// Makes the entry to the server on `port`.
    pub(crate) fn new(token: String, port: u16) -> Entry {
        Entry {
            token,
            cookie: format!("tenter-token-{port}"),
        }
    }

    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// Answers `GET /?token=…` with the right token: sets the cookie, and leads to the workspace
    /// without the token in the address bar.
    pub(crate) fn welcome(&self, request: &Request) -> Option<Response> {
        let query = request.uri().query()?;
        let given = query
            .split('&')
            .find_map(|part| part.strip_prefix("token="))?;
        let is_page = *request.method() == Method::GET && request.uri().path() == "/";
        if !is_page || !is_same(given, &self.token) {
            return None;
        }
        let cookie = format!(
            "{}={}; Path=/; HttpOnly; SameSite=Strict",
            self.cookie, self.token
        );
        let headers = [
            (SET_COOKIE, HeaderValue::from_str(&cookie).ok()?),
            (REFRESH, HeaderValue::from_static("0; url=/")),
        ];
        Some((headers, Html(WELCOME)).into_response())
    }

    /// True if a request carries the token.
    pub(crate) fn admits(&self, headers: &HeaderMap) -> bool {
        let bearer = headers.get(AUTHORIZATION).and_then(|of| of.to_str().ok());
        let bearer = bearer.and_then(|text| text.strip_prefix("Bearer "));
        if bearer.is_some_and(|given| is_same(given.trim(), &self.token)) {
            return true;
        }
        let cookies = headers
            .get_all(COOKIE)
            .iter()
            .filter_map(|of| of.to_str().ok());
        let mut pairs = cookies.flat_map(|of| of.split(';'));
        pairs.any(|pair| {
            let pair = pair.trim().split_once('=');
            pair.is_some_and(|(name, given)| name == self.cookie && is_same(given, &self.token))
        })
    }
}

/// Compares two texts in a time that does not reveal where they differ.
fn is_same(a: &str, b: &str) -> bool {
    a.len() == b.len()
        && a.bytes()
            .zip(b.bytes())
            .fold(0_u8, |differs, (a, b)| differs | (a ^ b))
            == 0
}
