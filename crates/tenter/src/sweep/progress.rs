//! How far a sweep is, and who hears of it.

use std::path::Path;

use tenter_record::Summary;

use super::swept::Swept;
use crate::Control;

/// Hears how far a sweep or a study is, and may stop it; called from the thread that runs it.
pub trait SweepObserver {
    /// Hears of all trials together, about ten times a second. [`Control::Stop`] stops those that
    /// run; what has run is kept.
    fn progress(&mut self, _at: &SweepProgress) -> Control {
        Control::Continue
    }

    /// A trial has come to its end, or was stopped.
    fn trial(&mut self, _title: &str, _summary: &Summary) {}

    /// A trial of a sweep has ended, or had before; none of a study is told. Each is told once.
    fn swept(&mut self, _trial: &Swept<'_>) {}

    /// A trial that was finished before is read from its folder and not run again.
    fn kept(&mut self, _title: &str, _folder: &Path) {}
}

impl SweepObserver for () {}

/// How far a sweep is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SweepProgress {
    /// Trials of the sweep.
    pub trials: usize,
    /// Those that have run, in this run of the sweep or before.
    pub done: usize,
    /// Those of them that had run before.
    pub kept: usize,
    /// Those that have failed.
    pub failed: usize,
    /// Those that run now.
    pub running: usize,
    /// Wall time that the trials of this run have taken so far, each by itself, in seconds.
    pub trials_wall_s: f64,
    /// Packet-hops of this run so far.
    pub packet_hops: f64,
    /// Packet-hops that all trials are expected to have, less those of trials that had run before.
    pub expected_packet_hops: f64,
}
