//! Progress of a sweep, and its observer.

use std::path::Path;

use tenter_results::Summary;

use super::swept::Swept;
use crate::Control;

/// Follows a sweep or a study, and may stop it; called from the thread that runs it.
pub trait SweepObserver {
    /// Takes the progress over all trials together, about ten times a second. [`Control::Stop`]
    /// stops those that run; finished trials are kept.
    fn progress(&mut self, _at: &SweepProgress) -> Control {
        Control::Continue
    }

    /// A trial has ended, or was stopped.
    fn trial(&mut self, _title: &str, _summary: &Summary) {}

    /// A trial in a sweep or study has ended, in this run or before; each is reported once. A
    /// [`SweepWorker`](super::SweepWorker) reports none here.
    fn swept(&mut self, _trial: &Swept<'_>) {}

    /// A finished trial from an earlier run is read from its folder and not run again.
    fn kept(&mut self, _title: &str, _folder: &Path) {}
}

impl SweepObserver for () {}

/// Progress of a sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SweepProgress {
    /// Trials in the sweep.
    pub trials: usize,
    /// Trials that have run, in this run or before.
    pub done: usize,
    /// Trials among `done` that had run before.
    pub kept: usize,
    /// Trials that have failed.
    pub failed: usize,
    /// Trials that run now.
    pub running: usize,
    /// Wall times of this run's trials so far, added up, in seconds, set-up included.
    pub trials_wall_s: f64,
    /// Packet-hops in this run's trials so far.
    pub packet_hops: f64,
    /// Packet-hops expected for all trials, except those that had run before or have failed.
    pub expected_packet_hops: f64,
}
