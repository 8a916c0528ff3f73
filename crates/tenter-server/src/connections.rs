//! The connections of the server: how many there are, how long each may take, and which one gives
//! way to a new one.
//!
//! A connection costs memory and a file of the process, of which there are some 1,000. A client
//! that holds many of them, on purpose or because a laptop sleeps, must not keep others out: when
//! all places are taken, the connection that has been of least use for longest is closed.

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

/// The most connections at once: a browser holds six, and an event stream for each page.
const CONNECTIONS_MAX: usize = 128;
/// How long the head of a request may take, and how long a connection may wait for the next one.
const HEAD_PATIENCE: Duration = Duration::from_secs(15);
/// How long an answer may stand still because its client takes nothing.
const ANSWER_PATIENCE: Duration = Duration::from_secs(60);
/// How long an answer stands still before its connection may have to give way.
const STALLED: Duration = Duration::from_secs(2);
/// How long a connection may wait for a request before it has to give way first.
const FRESH: Duration = Duration::from_secs(1);
/// Bytes of a connection that are kept at most before they are taken; also the longest head.
const BUFFER: usize = 64 << 10;
/// How long the server waits where the system has no connection to give.
const REST: Duration = Duration::from_millis(50);

/// Accepts connections until the server ends, and waits for the answers under way.
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
                // Without a place the connection is closed: all others are being answered.
                if let Some(place) = connections.enter() {
                    tokio::spawn(answer(stream, place, router.clone(), closing.clone()));
                }
            }
            // The client has gone already, or the system has no file for it.
            Err(_) => tokio::time::sleep(REST).await,
        }
    }
    while !connections.places().open.is_empty() {
        tokio::time::sleep(REST).await;
    }
}

/// Answers the requests of one connection, one after the other.
async fn answer(
    stream: TcpStream,
    place: Arc<Place>,
    router: Router,
    mut closing: watch::Receiver<bool>,
) {
    let _leaves = Leaves(Arc::clone(&place));
    let router = TowerToHyperService::new(router);
    let of_requests = Arc::clone(&place);
    let service = service_fn(move |mut request: Request<Incoming>| {
        let place = Arc::clone(&of_requests);
        if request.body().is_end_stream() {
            place.becomes(Use::Answers);
        }
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
        // A client that goes away is no fault.
        _ = connection.as_mut() => return,
        () = place.gives_way.notified() => return,
        _ = closing.wait_for(|is| *is) => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

/// Whether an answer ends only with its client: a stream of events.
fn is_endless(answer: &Response) -> bool {
    let kind = answer.headers().get(CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

/// What a connection is used for, the first to give way first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Use {
    /// Nothing, or its client has not sent its request to the end.
    Waits,
    /// Its client takes nothing of its answer.
    Stalls,
    /// It tells of events.
    Streams,
    /// It waits since a moment ago: its request may be on its way.
    Arrives,
    /// A request is being answered: it does not give way.
    Answers,
}

/// A place of a connection.
pub(crate) struct Place {
    number: u64,
    used: Mutex<(Use, Instant)>,
    /// Since when nothing could be sent.
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

    /// The request has been read to its end, and is answered now.
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
            _ if used == Use::Waits && since.elapsed() < FRESH => (Use::Arrives, since),
            _ => (used, since),
        }
    }
}

/// The connections that are open.
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

    /// A place for a new connection, for which another one may have to give way.
    fn enter(self: &Arc<Connections>) -> Option<Arc<Place>> {
        let mut places = self.places();
        if places.open.len() >= CONNECTIONS_MAX {
            let used = |place: &Arc<Place>| (place.used(), place.number);
            let ((used, _), number) = places.open.values().map(used).min()?;
            if used == Use::Answers {
                return None;
            }
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

/// A connection that ends, in whatever way.
struct Leaves(Arc<Place>);

impl Drop for Leaves {
    fn drop(&mut self) {
        self.0.connections.places().open.remove(&self.0.number);
    }
}

/// The body of an answer, which tells when all of it was taken.
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

/// A stream whose client must take what is sent.
struct Watched {
    stream: TcpStream,
    place: Arc<Place>,
    /// What ends a connection that stands still.
    patience: Option<Pin<Box<Sleep>>>,
}

impl Watched {
    fn sent(&mut self, context: &mut Context<'_>, sent: &Poll<io::Result<usize>>) -> Poll<()> {
        if sent.is_ready() {
            self.patience = None;
            self.place.stalls(false);
            return Poll::Pending;
        }
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
