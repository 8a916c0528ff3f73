//! Checks that every request must pass: a `Host` that names this server, no foreign `Origin`, a
//! JSON body if it changes something, and the token where one is required.

use std::net::SocketAddr;

use axum::extract::{Request, State};
use axum::http::header::{
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, HeaderValue, ORIGIN, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::server::error::ApiError;
use crate::server::state::{App, Shared};
use crate::server::token::Role;

/// Content security policy for answers: the page loads nothing from elsewhere, and no other page
/// can show it in a frame.
const POLICY: &str = "default-src 'self'; connect-src 'self'; img-src 'self' data: blob:; \
    style-src 'self' 'unsafe-inline'; worker-src 'self' blob:; object-src 'none'; \
    base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// Refuses requests that come neither from this page nor from a program with the token, and adds
/// the security headers to every answer.
pub(crate) async fn guard(State(app): State<Shared>, request: Request, next: Next) -> Response {
    let mut response = match check(&app, &request) {
        Ok(None) => next.run(request).await,
        Ok(Some(welcome)) => welcome,
        Err(refused) => refused.into_response(),
    };
    let headers = response.headers_mut();
    // A report brings a policy of its own, which is narrower and stays.
    headers
        .entry(CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

/// Returns `None` if the request may go on, or the answer to a request that brings the token in its
/// address.
fn check(app: &App, request: &Request) -> Result<Option<Response>, ApiError> {
    let headers = request.headers();
    // `Host` is checked first: a foreign name that resolves to this machine (DNS rebinding) would
    // make the browser treat the attacker's page and this server as one site.
    let host = text(headers, HOST.as_str()).or_else(|| request.uri().host());
    if !host.is_some_and(|host| is_own(app, host)) {
        return Err(forbidden(
            "this server is not called that; open the address that `tenter ui` has printed",
        ));
    }
    // Programs send no origin; browsers send one with each request of another site that changes
    // something.
    if let Some(origin) = text(headers, ORIGIN.as_str())
        && !is_own_origin(app, origin)
    {
        return Err(forbidden(
            "the request comes from another site; open the page of this server",
        ));
    }
    let changes = !matches!(
        *request.method(),
        Method::GET | Method::HEAD | Method::OPTIONS
    );
    if let Some(entry) = &app.entry {
        if let Some(welcome) = entry.welcome(request) {
            return Ok(Some(welcome));
        }
        match entry.role_of(headers) {
            Some(Role::Owner) => {}
            Some(Role::Reader) if !changes || is_question(request) => {}
            Some(Role::Reader) => {
                return Err(forbidden(
                    "this address is for reading; ask the owner of the workspace for theirs",
                ));
            }
            None => {
                return Err(ApiError::new(
                    StatusCode::UNAUTHORIZED,
                    "the token is missing; open the whole address that `tenter ui` has printed, \
                     or send the token in it as `Authorization: Bearer`",
                ));
            }
        }
    }
    // A form of another site can post without asking, but cannot send this content type.
    if changes && !is_json(headers) {
        return Err(ApiError::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "the request must be JSON; send `Content-Type: application/json`",
        ));
    }
    Ok(None)
}

/// Routes that take a body and change nothing.
const QUESTIONS: [&str; 4] = ["check", "fabric", "mapping", "compare/measured"];

fn is_question(request: &Request) -> bool {
    let route = request.uri().path().strip_prefix("/api/v1/");
    *request.method() == Method::POST && route.is_some_and(|route| QUESTIONS.contains(&route))
}

fn forbidden(message: &str) -> ApiError {
    ApiError::new(StatusCode::FORBIDDEN, message)
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

fn is_own_origin(app: &App, origin: &str) -> bool {
    let host = origin.strip_prefix("http://");
    host.is_some_and(|host| is_own(app, host))
}

/// True if `host` names this server. A server that listens on all addresses accepts any IP address
/// with its port: an attacker can make a name resolve to this machine, but not a number.
fn is_own(app: &App, host: &str) -> bool {
    let by_number = || {
        let address = host.parse::<SocketAddr>();
        address.is_ok_and(|address| Some(address.port()) == app.port_of_any)
    };
    app.hosts.iter().any(|own| own.eq_ignore_ascii_case(host)) || by_number()
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = text(headers, CONTENT_TYPE.as_str()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
}
