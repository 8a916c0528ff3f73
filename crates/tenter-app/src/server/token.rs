//! The access token, and the places in a request that may carry it.

use std::fmt::Write as _;

use axum::extract::Request;
use axum::http::header::{AUTHORIZATION, COOKIE, HeaderValue, REFRESH, SET_COOKIE};
use axum::http::{HeaderMap, Method};
use axum::response::{Html, IntoResponse, Response};

/// Makes a token from 128 random bits, as 32 hexadecimal digits.
fn token() -> Result<String, tenter::Error> {
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

/// Rights of whoever has a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Everything.
    Owner,
    /// Everything that changes no trial, sweep, tag or note.
    Reader,
}

/// Checks the token that a request brings: in this server's cookie or, for programs, in
/// `Authorization: Bearer`.
pub(crate) struct Entry {
    tokens: [(Role, String); 2],
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
    /// Makes the entry to the server on `port`, with new tokens.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub(crate) fn new(port: u16) -> Result<Entry, tenter::Error> {
        Ok(Entry {
            tokens: [(Role::Owner, token()?), (Role::Reader, token()?)],
            cookie: format!("tenter-token-{port}"),
        })
    }

    pub(crate) fn token(&self, of: Role) -> &str {
        let [(_, owner), (_, reader)] = &self.tokens;
        match of {
            Role::Owner => owner,
            Role::Reader => reader,
        }
    }

    fn role(&self, given: &str) -> Option<Role> {
        let mut tokens = self.tokens.iter();
        let found = tokens.find(|(_, token)| is_same(given, token))?;
        Some(found.0)
    }

    /// Answers `GET /?token=…` with a right token: sets the cookie, and leads to the workspace
    /// without the token in the address bar.
    pub(crate) fn welcome(&self, request: &Request) -> Option<Response> {
        let query = request.uri().query()?;
        let given = query
            .split('&')
            .find_map(|part| part.strip_prefix("token="))?;
        let is_page = *request.method() == Method::GET && request.uri().path() == "/";
        if !is_page || self.role(given).is_none() {
            return None;
        }
        let cookie = format!("{}={given}; Path=/; HttpOnly; SameSite=Strict", self.cookie);
        let headers = [
            (SET_COOKIE, HeaderValue::from_str(&cookie).ok()?),
            (REFRESH, HeaderValue::from_static("0; url=/")),
        ];
        Some((headers, Html(WELCOME)).into_response())
    }

    /// Returns the role of whoever has sent a request; `None` without a right token.
    pub(crate) fn role_of(&self, headers: &HeaderMap) -> Option<Role> {
        let bearer = headers.get(AUTHORIZATION).and_then(|of| of.to_str().ok());
        let bearer = bearer.and_then(|text| text.strip_prefix("Bearer "));
        if let Some(role) = bearer.and_then(|given| self.role(given.trim())) {
            return Some(role);
        }
        let cookies = headers
            .get_all(COOKIE)
            .iter()
            .filter_map(|of| of.to_str().ok());
        let mut pairs = cookies.flat_map(|of| of.split(';'));
        pairs.find_map(|pair| {
            let (name, given) = pair.trim().split_once('=')?;
            (name == self.cookie).then(|| self.role(given)).flatten()
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
