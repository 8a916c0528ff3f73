//! Request parts. A part that does not parse is refused in the same form as every other error.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body as Stream;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::StatusCode;
use axum::http::header::CONTENT_LENGTH;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;
use tokio::sync::OwnedSemaphorePermit;
use tokio_stream::StreamExt as _;

use crate::server::connections::Place;
use crate::server::error::ApiError;
use crate::server::state::{App, Shared};

/// Longest request body, in bytes: a scenario of 8 MiB, escaped as JSON.
const BODY_MAX: usize = 64 << 20;
/// Bodies beyond this length, in bytes, are read one at a time, so that all together take no more
/// memory than one.
const SMALL_BODY: usize = 1 << 20;
/// Time limit for a body's next part.
const PART_PATIENCE: Duration = Duration::from_secs(15);
/// Time limit for what remains of a body beyond [`SMALL_BODY`], because other requests wait for it.
const LARGE_PATIENCE: Duration = Duration::from_secs(60);

/// A JSON body, and for a large one the permit that keeps other large bodies waiting until it is
/// dropped.
pub(crate) struct Body<T>(pub(crate) T, pub(crate) Option<OwnedSemaphorePermit>);

impl<T: DeserializeOwned> FromRequest<Shared> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &Shared) -> Result<Body<T>, ApiError> {
        let place = request.extensions().get::<Arc<Place>>().cloned();
        let length = request.headers().get(CONTENT_LENGTH);
        let length = length.and_then(|text| text.to_str().ok()?.parse().ok());
        let (bytes, held) = whole(app, request.into_body(), length.unwrap_or(0)).await?;
        if let Some(place) = place {
            place.answers();
        }
        let value = serde_json::from_slice(&bytes);
        value.map(|value| Body(value, held)).map_err(|error| {
            ApiError::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                format!("the body does not fit: {error}; docs/workspace.md describes each request"),
            )
        })
    }
}

/// Reads a body whose head declares `length` bytes; `length` is 0 where the head declares none.
async fn whole(
    app: &App,
    body: Stream,
    length: usize,
) -> Result<(Vec<u8>, Option<OwnedSemaphorePermit>), ApiError> {
    // A client that declares too much is refused before it has sent anything.
    if length > BODY_MAX {
        return Err(too_long());
    }
    let mut parts = body.into_data_stream();
    // The declared length is not trusted: beyond `SMALL_BODY`, memory is reserved only with the
    // permit.
    let mut bytes = Vec::with_capacity(length.min(SMALL_BODY));
    let mut large: Option<(OwnedSemaphorePermit, tokio::time::Instant)> = None;
    loop {
        let by = tokio::time::Instant::now() + PART_PATIENCE;
        // A large body is limited as a whole, because it keeps others waiting.
        let by = large.as_ref().map_or(by, |(_, end)| by.min(*end));
        let Ok(next) = tokio::time::timeout_at(by, parts.next()).await else {
            return Err(ApiError::new(
                StatusCode::REQUEST_TIMEOUT,
                "the body does not arrive; send it at once",
            ));
        };
        let Some(part) = next else {
            return Ok((bytes, large.map(|(held, _)| held)));
        };
        let part = part.map_err(|error| ApiError::bad(format!("the body breaks off: {error}")))?;
        let together = bytes.len() + part.len();
        if together > BODY_MAX {
            return Err(too_long());
        }
        if together > SMALL_BODY && large.is_none() {
            let held = Arc::clone(&app.large_bodies).acquire_owned().await;
            let held = held.map_err(|_| ApiError::internal("the server ends"))?;
            large = Some((held, tokio::time::Instant::now() + LARGE_PATIENCE));
            bytes.reserve_exact(length.saturating_sub(bytes.len()));
        }
        bytes.extend_from_slice(&part);
    }
}

fn too_long() -> ApiError {
    ApiError::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        format!("the body is too long; send at most {BODY_MAX} bytes"),
    )
}

/// A route's path parameters.
pub(crate) struct At<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for At<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<At<T>, ApiError> {
        let found = Path::<T>::from_request_parts(parts, state).await;
        found
            .map(|Path(value)| At(value))
            .map_err(|refused: PathRejection| {
                ApiError::missing(format!(
                    "there is nothing of that name ({}); trials are named by their numbers",
                    refused.body_text()
                ))
            })
    }
}

/// A route's query parameters.
pub(crate) struct Asked<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Asked<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Asked<T>, ApiError> {
        let found = Query::<T>::from_request_parts(parts, state).await;
        found
            .map(|Query(value)| Asked(value))
            .map_err(|refused: QueryRejection| ApiError::bad(refused.body_text()))
    }
}
