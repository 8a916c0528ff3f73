//! Answers that are read or computed part after part.

use std::io;

use axum::body::{Body, Bytes};
use tokio::sync::OwnedSemaphorePermit;
use tokio_stream::wrappers::ReceiverStream;

/// A body of the parts that `next` gives until there is none. Each is made once its client has
/// taken the part before the last one, on a thread that may wait: a client that takes nothing holds
/// two parts in memory, and no thread. `held` is given back with the end of the answer.
pub(crate) fn in_parts<P, N>(mut next: N, held: Option<OwnedSemaphorePermit>) -> Body
where
    P: Into<Bytes> + Send + 'static,
    N: FnMut() -> io::Result<Option<P>> + Send + 'static,
{
    let (sender, receiver) = tokio::sync::mpsc::channel::<Result<P, io::Error>>(1);
    tokio::spawn(async move {
        let _held = held;
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
                // The answer breaks off, which its client sees.
                Ok((_, Err(error))) => return room.send(Err(error)),
                Err(_) => return room.send(Err(io::Error::other("a part was not made"))),
            }
        }
    });
    Body::from_stream(ReceiverStream::new(receiver))
}
