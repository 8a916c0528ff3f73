//! Starts sweeps: in this process, through a queue, or step by step.

use std::time::Duration;

use tenter_language::units::Budget;

use super::pool::Hands;
use super::progress::SweepObserver;
use super::results::SweepResults;
use super::run::SweepRun;
use super::session::SweepSession;
use super::{first, queue, telling};
use crate::Error;

impl SweepRun {
    /// Runs all trials that have not run yet.
    ///
    /// # Errors
    /// Before any trial: when a point is invalid. Later: when the ledger or the results cannot be
    /// written. A trial that fails is listed in [`SweepResults::failures`], and the others go on.
    pub fn run(&self) -> Result<SweepResults, Error> {
        self.run_with(&mut ())
    }

    /// Runs all trials with an observer, which may stop the sweep.
    ///
    /// # Errors
    /// As [`SweepRun::run`].
    pub fn run_with(&self, observer: &mut dyn SweepObserver) -> Result<SweepResults, Error> {
        let session = SweepSession::open(self, None)?;
        let hands = Hands {
            workers: self.workers,
            threads: self.threads,
            program: self.program.as_ref(),
        };
        telling::run(&session, hands, observer)?;
        match self.named {
            Some(_) => Ok(session.told()),
            None => session.end(),
        }
    }

    /// Runs nothing, and puts all trials that have not run into a queue in the sweep's folder. A
    /// [`SweepWorker`](super::SweepWorker) on any machine with access to that folder takes them
    /// from there; [`SweepRun::run`] collects the answers. Returns how many trials the queue did
    /// not have before.
    ///
    /// A worker that has been silent for `patience` counts as lost; an existing queue keeps a
    /// greater patience. A queue from another build of Tenter is replaced. Trials that the sweep no
    /// longer has are removed from the queue, unless only part of the sweep is queued; answers to
    /// them go into the ledger first.
    ///
    /// # Errors
    /// When a point is invalid, the ledger or queue cannot be written, or `patience` is below
    /// [`PATIENCE_MIN`](super::PATIENCE_MIN) or at least 366 days.
    pub fn queue(&self, patience: Duration) -> Result<usize, Error> {
        queue::check_patience(patience)?;
        SweepSession::open(self, Some(patience))?.queue_all()
    }

    /// Checks points without running any, each within the memory in `budget`, and as many as its
    /// time allows. The others are checked when the sweep begins.
    ///
    /// # Errors
    /// When a point is invalid, takes more memory than `budget` has or, alone, more time.
    pub fn check(&self, budget: &Budget) -> Result<(), Error> {
        first::check_some(self, &self.trials()?, budget)
    }

    /// Begins the sweep; the caller runs its trials.
    ///
    /// # Errors
    /// When a point is invalid, or the ledger cannot be opened.
    pub fn begin(&self) -> Result<SweepSession, Error> {
        SweepSession::open(self, None)
    }
}
