//! Long work on a thread of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use pyo3::prelude::*;

use crate::error::internal;

/// Interval between checks for signals.
const TICK: Duration = Duration::from_millis(50);

/// Runs `work` on a thread, without the interpreter's lock, and calls `tick` meanwhile. If a signal
/// arrives or `tick` raises, `cancelled` asks the work to end, and the exception is raised once it
/// has.
pub(crate) fn wait_for<T: Send + 'static>(
    py: Python<'_>,
    cancelled: &Arc<AtomicBool>,
    mut tick: impl FnMut(Python<'_>) -> PyResult<()>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, mut receiver) = channel();
    let thread = std::thread::Builder::new().name("tenter".to_owned());
    // The receiver waits until the work has ended, so sending does not fail.
    let thread = thread.spawn(move || drop(sender.send(work())));
    let thread = thread.map_err(|error| internal(py, &format!("no thread can start: {error}")))?;
    let mut raised = None;
    let done = loop {
        let heard;
        // The receiver moves into the closure and back: it is not `Sync`, so a reference may not
        // cross.
        (heard, receiver) = py.detach(move || (receiver.recv_timeout(TICK), receiver));
        match heard {
            Ok(done) => break Some(done),
            // The work has dropped the sender without a value: it panicked.
            Err(RecvTimeoutError::Disconnected) => break None,
            Err(RecvTimeoutError::Timeout) if raised.is_none() => {
                if let Err(error) = py.check_signals().and_then(|()| tick(py)) {
                    cancelled.store(true, Ordering::Relaxed);
                    raised = Some(error);
                }
            }
            // After an exception the thread only waits: a second one would hide the first.
            Err(RecvTimeoutError::Timeout) => {}
        }
    };
    let joined = py.detach(|| thread.join());
    match (done, raised) {
        (_, Some(error)) => Err(error),
        (Some(done), None) => Ok(done),
        (None, None) => {
            let panic = joined.err();
            let text = panic.and_then(|panic| panic.downcast_ref::<String>().cloned());
            Err(internal(
                py,
                &text.unwrap_or_else(|| "the run panicked".to_owned()),
            ))
        }
    }
}
