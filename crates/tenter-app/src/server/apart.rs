//! Moves blocking work off `tokio`'s threads.

use crate::server::error::ApiError;

/// Runs `work`, which may read files or compute for long, on a `tokio` thread for blocking work. A
/// panic in it becomes an internal error, so that one bad request does not end the server.
pub(crate) async fn apart<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(answer) => answer,
        Err(error) => {
            // A task that did not panic was cancelled, which happens only at shutdown.
            let said = error.try_into_panic().map_or_else(
                |_| "the server is ending".to_owned(),
                |panic| message_of(&*panic),
            );
            Err(ApiError::internal(&said))
        }
    }
}

/// Returns the message with which a thread panicked.
pub(crate) fn message_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "a handler panicked".to_owned())
}
