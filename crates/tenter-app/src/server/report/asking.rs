//! Calls routes in process, without a connection.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use serde_json::Value;
use tenter::{Error, TrialQuery};
use tokio::runtime::Runtime;

use crate::server::routes;
use crate::server::state::{App, Shared};

/// Answer from a route.
pub(super) struct Answered {
    pub(super) status: u16,
    pub(super) body: Vec<u8>,
}

/// The routes for a workspace in memory, and the runtime that runs them.
pub(super) struct Asking {
    runtime: Runtime,
    routes: TowerToHyperService<Router>,
    app: Shared,
}

impl Asking {
    pub(super) fn of(app: App) -> Result<Asking, Error> {
        let app = Arc::new(app);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .map_err(|error| Error::Internal(error.to_string()))?;
        Ok(Asking {
            runtime,
            routes: TowerToHyperService::new(routes::unguarded(Arc::clone(&app))),
            app,
        })
    }

    /// Returns the trials' numbers, in the order in which the trials were given.
    pub(super) fn trials(&self) -> Result<Vec<i64>, Error> {
        let all = self.app.workspace.trials(&TrialQuery::default())?;
        let mut ids: Vec<i64> = all.trials.iter().map(|trial| trial.id).collect();
        // They are listed by when they ran, and numbered as they were given.
        ids.sort_unstable();
        Ok(ids)
    }

    /// Returns the answer to `GET address`. `address` is plain text and gets percent-encoded here.
    pub(super) fn ask(&self, address: &str) -> Result<Answered, Error> {
        let internal = |error: String| Error::Internal(format!("{address}: {error}"));
        let request = Request::get(encoded(address)).body(Body::empty());
        let request = request.map_err(|error| internal(error.to_string()))?;
        self.runtime.block_on(async {
            let Ok(answer) = self.routes.call(request).await;
            let status = answer.status().as_u16();
            let body = to_bytes(answer.into_body(), usize::MAX).await;
            let body = body.map_err(|error| internal(error.to_string()))?.to_vec();
            let number = address.strip_prefix("/api/v1/trials/").unwrap_or("-");
            // The trial itself, and none of the routes below it.
            let is_of_trial = number.bytes().all(|byte| byte.is_ascii_digit());
            let body = match status {
                200 if is_of_trial => for_pages(body),
                200 => body,
                _ => self.without_folders(&body),
            };
            Ok(Answered { status, body })
        })
    }
}

impl Asking {
    /// Names trials in a refusal by their folders' last parts: where they lie on this machine does
    /// not concern the report's reader.
    fn without_folders(&self, body: &[u8]) -> Vec<u8> {
        let mut text = String::from_utf8_lossy(body).into_owned();
        for folder in self.app.read.keys() {
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            text = text.replace(&*folder.to_string_lossy(), &name);
        }
        text.into_bytes()
    }
}

/// Removes from a trial's answer what only programs read: its tables as text, which name a folder
/// on this machine that the report's reader should not see.
fn for_pages(body: Vec<u8>) -> Vec<u8> {
    let Ok(Value::Object(mut answer)) = serde_json::from_slice(&body) else {
        return body;
    };
    for name in ["summary_text", "summary_csv"] {
        answer.remove(name);
    }
    serde_json::to_vec(&answer).unwrap_or(body)
}

/// Percent-encodes what an address may not contain.
fn encoded(address: &str) -> String {
    encoded_but(address, b"-_./?=&,:")
}

/// Percent-encodes a text that is one part of an address.
pub(super) fn encoded_part(part: &str) -> String {
    encoded_but(part, b"-_.")
}

/// Percent-encodes all bytes but ASCII letters, digits and the signs in `kept`.
fn encoded_but(text: &str, kept: &[u8]) -> String {
    let parts = text.bytes().map(|byte| {
        if byte.is_ascii_alphanumeric() || kept.contains(&byte) {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn blanks_and_signs_are_encoded() {
        assert_eq!(
            super::encoded("/a?where=x > 0&b=1,2"),
            "/a?where=x%20%3E%200&b=1,2"
        );
        assert_eq!(super::encoded_part("a/b %?#"), "a%2Fb%20%25%3F%23");
    }
}
