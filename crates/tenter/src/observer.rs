//! Callbacks from running trials.

use std::path::Path;

use crate::budget::run_budget;
use crate::explain::packet_hops;
use tenter_results::{Control, FlowRow, Progress, SampleRow, SinkError, Summary};

/// Follows trials while they run, takes their rows, and may stop them. By default every method does
/// nothing.
///
/// All calls come from the thread that runs the trial, between engine windows.
pub trait Observer {
    /// A simulation begins: a trial, or a further run with some of its jobs only. `title` tells
    /// several simulations apart, and is empty for a single one.
    fn begins(&mut self, _title: &str) {}

    /// Takes the rows for flows that have ended since the last call, in an order that is the same
    /// on any number of threads. Further runs pass no rows.
    ///
    /// # Errors
    /// When the rows cannot be kept: that ends the trial.
    fn flows(&mut self, _rows: &[FlowRow]) -> Result<(), SinkError> {
        Ok(())
    }

    /// Returns true if [`Observer::samples`] shall be called for a trial in another process, which
    /// sends the rows of the last instant alone, and at most 20 times per second. It may change
    /// while the trial runs.
    fn wants_samples(&self) -> bool {
        false
    }

    /// Takes port samples, from one or more sampling instants.
    ///
    /// # Errors
    /// When the rows cannot be kept: that ends the trial.
    fn samples(&mut self, _rows: &[SampleRow]) -> Result<(), SinkError> {
        Ok(())
    }

    /// Takes the simulation's progress, and may end it there with [`Control::Stop`]; the results so
    /// far become a partial trial.
    fn progress(&mut self, _at: &Running<'_>) -> Control {
        Control::Continue
    }

    /// Returns true if no further simulation shall begin. It is asked between trials in an
    /// experiment or study and between further runs, since a short simulation ends without
    /// reporting progress.
    fn is_cancelled(&self) -> bool {
        false
    }

    /// `_count` further runs with some of the jobs only are about to begin.
    fn further_runs(&mut self, _count: usize) {}

    /// A simulation has ended, or failed.
    fn ends(&mut self) {}

    /// A trial and its further runs have ended, or were stopped.
    fn trial(&mut self, _title: &str, _summary: &Summary) {}

    /// A finished trial from an earlier run is read from its folder and not run again.
    fn kept(&mut self, _title: &str, _folder: &Path) {}
}

/// The observer that ignores everything.
impl Observer for () {}

/// Passes calls on, so that a caller can lend an observer and keep it.
impl<T: Observer + ?Sized> Observer for &mut T {
    fn begins(&mut self, title: &str) {
        (**self).begins(title);
    }

    fn flows(&mut self, rows: &[FlowRow]) -> Result<(), SinkError> {
        (**self).flows(rows)
    }

    fn wants_samples(&self) -> bool {
        (**self).wants_samples()
    }

    fn samples(&mut self, rows: &[SampleRow]) -> Result<(), SinkError> {
        (**self).samples(rows)
    }

    fn progress(&mut self, at: &Running<'_>) -> Control {
        (**self).progress(at)
    }

    fn is_cancelled(&self) -> bool {
        (**self).is_cancelled()
    }

    fn further_runs(&mut self, count: usize) {
        (**self).further_runs(count);
    }

    fn ends(&mut self) {
        (**self).ends();
    }

    fn trial(&mut self, title: &str, summary: &Summary) {
        (**self).trial(title, summary);
    }

    fn kept(&mut self, title: &str, folder: &Path) {
        (**self).kept(title, folder);
    }
}

/// Progress of one simulation, as an observer sees it.
#[derive(Clone, Copy, Debug)]
pub struct Running<'a> {
    pub(crate) expected: Expected<'a>,
    /// Simulated time (ps), packet-hops and flows so far.
    pub progress: Progress,
}

impl Running<'_> {
    /// Estimates the packet-hops that the whole simulation has; NaN if they cannot be predicted.
    /// Each call counts anew, so keep the value.
    pub fn expected_packet_hops(&self) -> f64 {
        match self.expected {
            Expected::Of(plan) => packet_hops(plan, &run_budget()).unwrap_or(f64::NAN),
            Expected::Hops(hops) => hops,
        }
    }
}

/// Source of the packet-hops that a simulation is expected to have.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Expected<'a> {
    /// They are counted when they are asked for.
    Of(&'a tenter_sim::plan::Plan),
    /// They came with the order of the trial.
    Hops(f64),
}
