//! Sends the event stream to a client.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use tokio::sync::{broadcast, watch};
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;

use crate::server::events::{Missed, Told};
use crate::server::state::Shared;

/// Time after which a disconnected client reconnects.
const RETRY: Duration = Duration::from_secs(1);
/// Interval between keep-alive comments, which show a client that the server is still there.
const ALIVE: Duration = Duration::from_secs(15);

/// One stream of everything that happens: `trial` (a row of the list, or `{id}` of one that was
/// removed), `progress`, `sweep`. After `reset` a client asks for the state of things anew: it has
/// missed more than is kept.
#[utoipa::path(get, path = "/events", tag = "events",
    params(("Last-Event-ID" = Option<u64>, Header, description = "The last event that was heard")),
    responses((status = 200, content_type = "text/event-stream", body = String)))]
pub(crate) async fn events(
    State(app): State<Shared>,
    headers: HeaderMap,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    // A number that does not parse is treated as unknown: the client is told to reload.
    let last = last.map(|id| id.trim().parse().unwrap_or(0));
    let (missed, receiver) = app.events.hear(last);
    // Bounded: a slow client fills the channel, lags behind the broadcast, and is then told to
    // reload.
    let (sender, stream) = tokio::sync::mpsc::channel(64);
    tokio::spawn(forward(missed, receiver, app.closing(), sender));
    Sse::new(ReceiverStream::new(stream)).keep_alive(KeepAlive::new().interval(ALIVE))
}

type Sender = tokio::sync::mpsc::Sender<Result<Event, Infallible>>;

/// Sends missed events, then new ones, until the client leaves or the server ends.
async fn forward(
    missed: Missed,
    mut receiver: broadcast::Receiver<Arc<Told>>,
    mut closing: watch::Receiver<bool>,
    sender: Sender,
) {
    let first = Event::default().retry(RETRY).comment("tenter");
    if sender.send(Ok(first)).await.is_err() {
        return;
    }
    match missed {
        Missed::TooMuch => {
            if sender.send(Ok(reset())).await.is_err() {
                return;
            }
        }
        Missed::Events(events) => {
            for told in events {
                if sender.send(Ok(event(&told))).await.is_err() {
                    return;
                }
            }
        }
    }
    loop {
        let next = tokio::select! {
            told = receiver.recv() => told,
            _ = closing.wait_for(|is| *is) => return,
            // return, =>
            () = sender.closed() => return,
        };
        let event = match next {
            Ok(told) => event(&told),
            Err(broadcast::error::RecvError::Lagged(_)) => reset(),
            Err(broadcast::error::RecvError::Closed) => return,
        };
        if sender.send(Ok(event)).await.is_err() {
            return;
        }
    }
}

fn event(told: &Told) -> Event {
    Event::default()
        .id(told.id.to_string())
        .event(told.topic)
        .data(&told.data)
}

fn reset() -> Event {
    Event::default().event("reset").data("{}")
}
