//! What a program hears while trials run.

use std::path::Path;

use crate::budget::run_budget;
use tenter_explain::packet_hops;
use tenter_record::{Control, FlowRow, Progress, SampleRow, SinkError, Summary};

/// Hears of trials while they run, takes their rows, and may stop them; every method does nothing
/// unless it is written.
///
/// All calls come from the thread that runs the trial, between windows of the engine.
pub trait Observer {
    /// A simulation begins: a trial, or a further run with some of its jobs only. `title` tells
    /// several apart, and is empty for a single one.
    fn begins(&mut self, _title: &str) {}

    /// Takes the rows of chunks that have ended since the last call, in an order that is the same
    /// on any number of threads; those of further runs are left out.
    ///
    /// # Errors
    /// When the rows cannot be kept: that ends the trial.
    fn flows(&mut self, _rows: &[FlowRow]) -> Result<(), SinkError> {
        Ok(())
    }

    /// Takes the samples of ports at one or more instants.
    ///
    /// # Errors
    /// When the rows cannot be kept: that ends the trial.
    fn samples(&mut self, _rows: &[SampleRow]) -> Result<(), SinkError> {
        Ok(())
    }

    /// Hears how far the simulation is, and may end it there; what there is becomes a partial
    /// trial.
    fn progress(&mut self, _at: &Running<'_>) -> Control {
        Control::Continue
    }

    /// Whether no further simulation shall begin: asked between the trials of an experiment or a
    /// study and between further runs, since a short simulation ends without telling how far it is.
    fn is_cancelled(&self) -> bool {
        false
    }

    /// So many further runs with some of the jobs only are about to begin.
    fn further_runs(&mut self, _count: usize) {}

    /// A simulation has ended.
    fn ends(&mut self) {}

    /// A trial has come to its end, its further runs too, or was stopped.
    fn trial(&mut self, _title: &str, _summary: &Summary) {}

    /// A trial that was finished before is read from its folder and not run again.
    fn kept(&mut self, _title: &str, _folder: &Path) {}
}

/// Hears nothing.
impl Observer for () {}

/// An observer that stays with its owner.
impl<T: Observer + ?Sized> Observer for &mut T {
    fn begins(&mut self, title: &str) {
        (**self).begins(title);
    }

    fn flows(&mut self, rows: &[FlowRow]) -> Result<(), SinkError> {
        (**self).flows(rows)
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

/// How far a simulation is.
#[derive(Clone, Copy, Debug)]
pub struct Running<'a> {
    pub(crate) plan: &'a tenter_plan::Plan,
    /// Simulated time, packet-hops and flows so far.
    pub progress: Progress,
}

impl Running<'_> {
    /// The packet-hops that the whole simulation is expected to have; NaN where nothing can be
    /// foretold. It is counted anew at each call.
    pub fn expected_packet_hops(&self) -> f64 {
        packet_hops(self.plan, &run_budget()).unwrap_or(f64::NAN)
    }
}
