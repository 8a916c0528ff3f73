//! Limits on connections: their number, the time that each may take, and the choice which one to
//! close when a new one finds no room.
//!
//! A connection costs memory and a file descriptor; a process has some 1,000 descriptors. A client
//! that holds many connections, on purpose or because a laptop sleeps, must not keep others out:
//! when all places are taken, the server closes the connection that has been least useful for
//! longest.

use std::collections::BTreeMap;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};
use tokio::time::Sleep;

/// Maximum number of connections at once. A browser holds six, and an event stream for each page.
const CONNECTIONS_MAX: usize = 128;
/// Time limit for a request's head, and for an idle connection until its next request.
const HEAD_PATIENCE: Duration = Duration::from_secs(15);
/// Time limit for a send that makes no progress because the client reads nothing.
const ANSWER_PATIENCE: Duration = Duration::from_secs(60);
/// A connection whose send has made no progress for this time may be closed for a new one.
const STALLED: Duration = Duration::from_secs(2);
/// Grace time for an idle connection: before it has passed, others are closed first, because its
/// request may be on its way.
const FRESH: Duration = Duration::from_secs(1);
/// A connection's read and write buffer, in bytes. A request head beyond this is refused.
const BUFFER: usize = 64 << 10;
/// Pause after a failed `accept`, and between two looks at the open connections at shutdown.
const REST: Duration = Duration::from_millis(50);

/// Accepts connections until `closing` is set, then waits for the answers under way.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    mut closing: watch::Receiver<bool>,
) {
    let connections = Arc::new(Connections::default());
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = closing.wait_for(|is| *is) => break,
        };
        match accepted {
            Ok((stream, _)) => {
                // No place: every open connection is being answered, so the new one is dropped at
                // once.
                if let Some(place) = connections.enter() {
                    tokio::spawn(answer(stream, place, router.clone(), closing.clone()));
                }
            }
            // The client may have gone already. If the process has no file descriptor left, an
            // immediate retry would spin.
            Err(_) => tokio::time::sleep(REST).await,
        }
    }
    while !connections.places().open.is_empty() {
        tokio::time::sleep(REST).await;
    }
}

/// Serves one connection's requests, one after the other.
async fn answer(
    stream: TcpStream,
    place: Arc<Place>,
    router: Router,
    mut closing: watch::Receiver<bool>,
) {
    // Dropped with this future, so the place is given back on every way out.
    let _leaves = Leaves(Arc::clone(&place));
    let router = TowerToHyperService::new(router);
    let of_requests = Arc::clone(&place);
    let service = service_fn(move |mut request: Request<Incoming>| {
        let place = Arc::clone(&of_requests);
        // Requests with a body count as waiting until the body was read (`Place::answers`): a
        // client could otherwise keep its place by never sending the rest.
        if request.body().is_end_stream() {
            place.becomes(Use::Answers);
        }
        // The body reader finds the place here and marks it when the body has arrived.
        request.extensions_mut().insert(Arc::clone(&place));
        let answer = router.call(request);
        async move {
            let answer = answer.await?;
            place.becomes(if is_endless(&answer) {
                Use::Streams
            } else {
                Use::Answers
            });
            Ok::<_, std::convert::Infallible>(
                answer.map(|body| Body::new(Answered { body, place })),
            )
        }
    });
    // `hyper` limits the time of heads, not of answers that nobody reads; the stream itself does.
    let stream = TokioIo::new(Watched {
        stream,
        place: Arc::clone(&place),
        patience: None,
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_PATIENCE)
        .max_buf_size(BUFFER)
        .serve_connection(stream, service);
    tokio::pin!(connection);
    tokio::select! {
        // The client went away, which is no error.
        _ = connection.as_mut() => return,
        () = place.gives_way.notified() => return,
        _ = closing.wait_for(|is| *is) => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

/// True for an event stream, whose answer ends only when its client leaves.
fn is_endless(answer: &Response) -> bool {
    let kind = answer.headers().get(CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

/// Current use of a connection. The order is that in which connections give way: the first variant
/// is closed first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Use {
    /// Idle, or the client has not sent its request to the end.
    Waits,
    /// The client reads nothing from its answer.
    Stalls,
    /// Carries an event stream; its client reconnects by itself.
    Streams,
    /// Idle for less than [`FRESH`]: a request may be on its way.
    Arrives,
    /// A request is being answered. Such a connection is never closed for another one.
    Answers,
}

/// State of one open connection, shared by its task, its stream and the list with all places.
pub(crate) struct Place {
    number: u64,
    used: Mutex<(Use, Instant)>,
    /// Time since which the socket takes no bytes; `None` while it takes them.
    stalled: Mutex<Option<Instant>>,
    gives_way: Notify,
    connections: Arc<Connections>,
}

fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Place {
    fn becomes(&self, used: Use) {
        *held(&self.used) = (used, Instant::now());
    }

    /// Notes that the request body has been read to its end and the answer is being computed.
    pub(crate) fn answers(&self) {
        self.becomes(Use::Answers);
    }

    fn stalls(&self, is_stalled: bool) {
        let mut stalled = held(&self.stalled);
        if is_stalled {
            stalled.get_or_insert_with(Instant::now);
        } else {
            *stalled = None;
        }
    }

    fn used(&self) -> (Use, Instant) {
        let (used, since) = *held(&self.used);
        match *held(&self.stalled) {
            Some(stalled) if used > Use::Stalls && stalled.elapsed() > STALLED => {
                (Use::Stalls, stalled)
            }
            // A fresh connection is only ranked differently: `used` itself stays `Waits`, and no
            // timer is needed to change it later.
            _ if used == Use::Waits && since.elapsed() < FRESH => (Use::Arrives, since),
            _ => (used, since),
        }
    }
}

/// All open connections, by number.
#[derive(Default)]
struct Connections {
    places: Mutex<Places>,
}

#[derive(Default)]
struct Places {
    next: u64,
    open: BTreeMap<u64, Arc<Place>>,
}

impl Connections {
    fn places(&self) -> MutexGuard<'_, Places> {
        held(&self.places)
    }

    /// Takes a place for a new connection, and asks another one to close if all are taken. Returns
    /// `None` if every connection is being answered.
    fn enter(self: &Arc<Connections>) -> Option<Arc<Place>> {
        let mut places = self.places();
        if places.open.len() >= CONNECTIONS_MAX {
            let used = |place: &Arc<Place>| (place.used(), place.number);
            let ((used, _), number) = places.open.values().map(used).min()?;
            if used == Use::Answers {
                return None;
            }
            // The place is free at once, although the task of the closed connection ends a little
            // later.
            let place = places.open.remove(&number)?;
            place.gives_way.notify_one();
        }
        let number = places.next;
        places.next += 1;
        let place = Arc::new(Place {
            number,
            used: Mutex::new((Use::Waits, Instant::now())),
            stalled: Mutex::default(),
            gives_way: Notify::new(),
            connections: Arc::clone(self),
        });
        places.open.insert(number, Arc::clone(&place));
        Some(place)
    }
}

/// Gives the place back when its connection's task ends, for whatever reason.
struct Leaves(Arc<Place>);

impl Drop for Leaves {
    fn drop(&mut self) {
        self.0.connections.places().open.remove(&self.0.number);
    }
}

/// Answer body. When it is dropped, sent or not, its connection counts as idle again.
struct Answered {
    body: Body,
    place: Arc<Place>,
}

impl HttpBody for Answered {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Answered {
    fn drop(&mut self) {
        self.place.becomes(Use::Waits);
    }
}

/// A socket that fails with `TimedOut` if its client reads nothing for [`ANSWER_PATIENCE`].
struct Watched {
    stream: TcpStream,
    place: Arc<Place>,
    /// Runs while no bytes can be sent; the connection fails when it ends.
    patience: Option<Pin<Box<Sleep>>>,
}

impl Watched {
    // The timer must be polled each time: it wakes the task when the socket never becomes ready.
    fn sent(&mut self, context: &mut Context<'_>, sent: &Poll<io::Result<usize>>) -> Poll<()> {
        if sent.is_ready() {
            self.patience = None;
            self.place.stalls(false);
            return Poll::Pending;
        }
        // The place counts as stalled long before the timer ends, so that a new connection can take
        // it.
        self.place.stalls(true);
        let patience = self
            .patience
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(ANSWER_PATIENCE)));
        patience.as_mut().poll(context)
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let sent = Pin::new(&mut self.stream).poll_write(context, bytes);
        match self.sent(context, &sent) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => sent,
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let sent = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        match self.sent(context, &sent) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => sent,
        }
    }
}
