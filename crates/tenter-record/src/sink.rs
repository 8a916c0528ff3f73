//! Where rows go while a trial runs.

use std::fmt;

use tenter_units::Time;

use crate::rows::{FlowRow, SampleRow};

/// Takes what a running trial produces; the caller decides whether that is a file, memory or
/// nothing.
///
/// All calls come from one thread, between windows of the engine. An error ends the trial.
pub trait Sink {
    /// Takes the rows of chunks that have ended since the last call, in an order that is the same
    /// on any number of threads.
    ///
    /// # Errors
    /// When the rows cannot be kept.
    fn flows(&mut self, rows: &[FlowRow]) -> Result<(), SinkError>;

    /// Takes the port samples of one or more sampling instants.
    ///
    /// # Errors
    /// When the rows cannot be kept.
    fn samples(&mut self, rows: &[SampleRow]) -> Result<(), SinkError>;

    /// Hears how far the trial is, and may ask it to stop there.
    ///
    /// # Errors
    /// When the progress cannot be shown.
    fn progress(&mut self, progress: &Progress) -> Result<Control, SinkError>;
}

/// A sink behind a reference, so that one function serves sinks of any kind.
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

/// How far a trial is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Simulated time.
    pub simulated: Time,
    /// Packets carried so far, counted once per link.
    pub packet_hops: u64,
    /// Flows (data chunks on queue pairs) completed so far.
    pub flows_done: u64,
    /// Flows of the whole trial.
    pub flows_total: u64,
}

/// What the trial shall do next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Control {
    /// Go on.
    #[default]
    Continue,
    /// End at this instant and leave what there is as a partial trial.
    Stop,
}

/// Why a sink could not take what it was given: a sentence with the place and the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SinkError(pub String);

impl fmt::Display for SinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SinkError {}

/// Keeps nothing.
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

/// Keeps everything in memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MemorySink {
    /// The flow rows in the order they came.
    pub flows: Vec<FlowRow>,
    /// The sample rows in the order they came.
    pub samples: Vec<SampleRow>,
    /// The last progress heard of.
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
