//! Answers that are read or computed part by part.

use std::io;

use axum::body::{Body, Bytes};
use tokio::sync::OwnedSemaphorePermit;
use tokio_stream::wrappers::ReceiverStream;

/// Returns a body with the parts that `next` yields until it returns `None`. Each part is made on a
/// blocking thread once the client has taken the part before the last one: a client that reads
/// nothing costs two parts in memory, and no thread. `held` is dropped when the answer ends.
pub(crate) fn in_parts<P, N>(mut next: N, held: Option<OwnedSemaphorePermit>) -> Body
where
    P: Into<Bytes> + Send + 'static,
    N: FnMut() -> io::Result<Option<P>> + Send + 'static,
{
    let (sender, receiver) = tokio::sync::mpsc::channel::<Result<P, io::Error>>(1);
    tokio::spawn(async move {
        let _held = held;
        // A place in the channel is reserved before the part is made, not after: this bounds the
        // memory.
        while let Ok(room) = sender.reserve().await {
            let made = tokio::task::spawn_blocking(move || {
                let part = next();
                (next, part)
            });
            match made.await {
                Ok((again, Ok(Some(part)))) => {
                    room.send(Ok(part));
                    next = again;
                }
                Ok((_, Ok(None))) => return,
                // The body ends with an error, so that the client sees a broken answer rather than
                // a short one.
                Ok((_, Err(error))) => return room.send(Err(error)),
                Err(_) => return room.send(Err(io::Error::other("a part was not made"))),
            }
        }
    });
    Body::from_stream(ReceiverStream::new(receiver))
}
