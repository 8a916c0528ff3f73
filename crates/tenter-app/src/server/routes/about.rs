//! Routes that describe the server and the scenario format.

use axum::Json;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use crate::server::state::Shared;

/// The server and its machine.
#[derive(Serialize, ToSchema)]
pub(crate) struct About {
    /// Version of Tenter.
    version: String,
    /// The folder of the workspace.
    folder: String,
    /// Trials that run side by side.
    jobs: usize,
    /// Threads of each trial at most.
    threads: u16,
    /// Cores of the machine.
    cores: Option<usize>,
    /// Memory that the system and its limits have left, in bytes.
    available_memory_bytes: Option<u64>,
    /// Whether requests need a token.
    token: bool,
}

/// The server, its folder and its machine.
#[utoipa::path(get, path = "/about", tag = "server", responses((status = 200, body = About)))]
pub(crate) async fn about(State(app): State<Shared>) -> Json<About> {
    Json(About {
        version: tenter::version().to_owned(),
        folder: app.workspace.folder().display().to_string(),
        jobs: app.options.jobs,
        threads: app.options.threads,
        cores: std::thread::available_parallelism().ok().map(usize::from),
        available_memory_bytes: tenter::report::available_memory_bytes(),
        token: app.entry.is_some(),
    })
}

/// The JSON Schema of scenarios.
#[utoipa::path(get, path = "/schema", tag = "scenarios",
    responses(
        (status = 200, body = serde_json::Value)))]
pub(crate) async fn schema() -> Response {
    ([(CONTENT_TYPE, "application/json")], tenter::schema()).into_response()
}
