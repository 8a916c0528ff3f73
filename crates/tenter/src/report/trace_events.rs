//! Events in a trace, in the trace event format.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::report::span::Span;

/// Place where an event is drawn, in the format's terms.
#[derive(Clone, Copy, Default)]
pub(crate) struct Track {
    pub(crate) process: usize,
    pub(crate) thread: usize,
}

/// Writes events one by one as elements in a JSON array.
pub(crate) struct Events<W> {
    out: W,
    is_first: bool,
}

impl<W: Write> Events<W> {
    /// Makes a writer that has written no event yet.
    pub(crate) fn new(out: W) -> Events<W> {
        Events {
            out,
            is_first: true,
        }
    }

    pub(crate) fn add(&mut self, event: &Value) -> io::Result<()> {
        let separator = if self.is_first { "\n" } else { ",\n" };
        self.is_first = false;
        write!(self.out, "{separator}{event}")
    }

    /// Names a process, under which the viewer groups tracks.
    pub(crate) fn name_process(&mut self, process: usize, name: &str) -> io::Result<()> {
        let track = Track { process, thread: 0 };
        self.name("process_name", track, name)
    }

    /// Names a thread, which the viewer shows as a track.
    pub(crate) fn name_thread(&mut self, track: Track, name: &str) -> io::Result<()> {
        self.name("thread_name", track, name)
    }

    fn name(&mut self, what: &str, track: Track, name: &str) -> io::Result<()> {
        self.add(&json!({
            "ph": "M", "name": what, "pid": track.process, "tid": track.thread,
            "args": {"name": name},
        }))
    }

    pub(crate) fn slice(
        &mut self,
        track: Track,
        name: &str,
        span: Span,
        about: &Value,
    ) -> io::Result<()> {
        self.add(&json!({
            "ph": "X", "name": name, "pid": track.process, "tid": track.thread,
            "ts": span.from / 1e3, "dur": span.length().max(0.0) / 1e3, "args": about,
        }))
    }
}
