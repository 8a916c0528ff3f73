//! Sinks: they receive rows while a trial runs.

use std::fmt;

use tenter_language::units::Time;

use crate::rows::{FlowRow, SampleRow};

/// Receiver for a running trial's rows; the caller decides whether they go to a file, to memory or
/// nowhere.
///
/// All calls come from one thread, between windows of the engine. An error ends the trial.
pub trait Sink {
    /// Receives the flows that ended since the last call, in an order that does not depend on the
    /// thread count.
    ///
    /// # Errors
    /// Rows that cannot be stored.
    fn flows(&mut self, rows: &[FlowRow]) -> Result<(), SinkError>;

    /// Receives the port samples from one or more sampling instants.
    ///
    /// # Errors
    /// Rows that cannot be stored.
    fn samples(&mut self, rows: &[SampleRow]) -> Result<(), SinkError>;

    /// Receives the trial's progress, and may stop the trial there.
    ///
    /// # Errors
    /// Progress that cannot be shown.
    fn progress(&mut self, progress: &Progress) -> Result<Control, SinkError>;
}

/// Passes all calls on, so that one function serves any type of sink.
impl<S: Sink + ?Sized> Sink for &mut S {
    fn flows(&mut self, rows: &[FlowRow]) -> Result<(), SinkError> {
        (**self).flows(rows)
    }

    fn samples(&mut self, rows: &[SampleRow]) -> Result<(), SinkError> {
        (**self).samples(rows)
    }

    fn progress(&mut self, progress: &Progress) -> Result<Control, SinkError> {
        (**self).progress(progress)
    }
}

/// Progress that a trial has made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Simulated time that has passed.
    pub simulated: Time,
    /// Packets carried so far, once for each link.
    pub packet_hops: u64,
    /// Flows (data chunks on queue pairs) completed so far.
    pub flows_done: u64,
    /// Flows that the whole trial will have.
    pub flows_total: u64,
}

/// A sink's request to the trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Control {
    /// Simulate on, as without a sink.
    #[default]
    Continue,
    /// Stop at this instant and keep the results so far as a partial trial.
    Stop,
}

/// A sink's error: a sentence with the place and the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SinkError(pub String);

impl fmt::Display for SinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SinkError {}

/// Sink that discards everything it receives.
impl Sink for () {
    fn flows(&mut self, _: &[FlowRow]) -> Result<(), SinkError> {
        Ok(())
    }

    fn samples(&mut self, _: &[SampleRow]) -> Result<(), SinkError> {
        Ok(())
    }

    fn progress(&mut self, _: &Progress) -> Result<Control, SinkError> {
        Ok(Control::Continue)
    }
}

/// Sink that keeps everything in memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MemorySink {
    /// Flow rows in arrival order.
    pub flows: Vec<FlowRow>,
    /// Sample rows in arrival order.
    pub samples: Vec<SampleRow>,
    /// Progress at the last call.
    pub progress: Progress,
}

impl Sink for MemorySink {
    fn flows(&mut self, rows: &[FlowRow]) -> Result<(), SinkError> {
        self.flows.extend_from_slice(rows);
        Ok(())
    }

    fn samples(&mut self, rows: &[SampleRow]) -> Result<(), SinkError> {
        self.samples.extend_from_slice(rows);
        Ok(())
    }

    fn progress(&mut self, progress: &Progress) -> Result<Control, SinkError> {
        self.progress = *progress;
        Ok(Control::Continue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_keeps_rows_in_order() {
        let mut sink = MemorySink::default();
        let rows: Vec<FlowRow> = (0..3)
            .map(|chunk| FlowRow {
                chunk,
                ..FlowRow::default()
            })
            .collect();
        sink.flows(&rows[..1]).expect("memory does not fail");
        sink.flows(&rows[1..]).expect("memory does not fail");
        sink.samples(&[SampleRow::default()])
            .expect("memory does not fail");
        let progress = Progress {
            flows_done: 3,
            ..Progress::default()
        };
        assert_eq!(sink.progress(&progress), Ok(Control::Continue));
        assert_eq!(sink.flows, rows);
        assert_eq!((sink.samples.len(), sink.progress), (1, progress));
    }
}
