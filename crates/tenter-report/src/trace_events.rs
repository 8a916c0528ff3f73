//! Events of a trace, in the trace event format.

use std::io::{self, Write};

use serde_json::{Value, json};

/// Writes the events one by one, in valid JSON.
pub(crate) struct Events<W> {
    out: W,
    is_first: bool,
}

impl<W: Write> Events<W> {
    /// None yet.
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

    /// Names a process or a thread.
    pub(crate) fn name(
        &mut self,
        what: &str,
        (pid, tid): (usize, usize),
        name: &str,
    ) -> io::Result<()> {
        self.add(&json!({
            "ph": "M", "name": what, "pid": pid, "tid": tid, "args": {"name": name},
        }))
    }

    pub(crate) fn slice(
        &mut self,
        (pid, tid): (usize, usize),
        name: &str,
        (from, to): (f64, f64),
        about: &Value,
    ) -> io::Result<()> {
        self.add(&json!({
            "ph": "X", "name": name, "pid": pid, "tid": tid,
            "ts": from / 1e3, "dur": (to - from).max(0.0) / 1e3, "args": about,
        }))
    }
}
