//! The parts of a request; what does not fit is told in the same form as every other error.

use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::error::ApiError;

/// The longest body of a request: a scenario of 8 MiB, escaped as JSON.
pub(crate) const BODY_MAX: usize = 64 << 20;

/// A body of JSON.
pub(crate) struct Body<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Body<T>, ApiError> {
        let bytes = axum::body::to_bytes(request.into_body(), BODY_MAX).await;
        let bytes = bytes.map_err(|error| {
            // Either it is too long, or the other end has gone away.
            ApiError::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                format!("the body cannot be read ({error}); send at most {BODY_MAX} bytes"),
            )
        })?;
        let value = serde_json::from_slice(&bytes);
        value.map(Body).map_err(|error| {
            ApiError::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                format!("the body does not fit: {error}; docs/workspace.md describes each request"),
            )
        })
    }
}

/// The parts of the path.
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

/// The parts behind the question mark.
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
