//! The ways to run a sweep: here, through a queue, or by the caller.

use std::time::Duration;

use tenter_units::Budget;

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
    /// When a point does not hold, before any trial; when the ledger or the results cannot be
    /// written. A trial that fails is among the [failures](SweepResults::failures), and the others
    /// go on.
    pub fn run(&self) -> Result<SweepResults, Error> {
        self.run_with(&mut ())
    }

    /// The same, with an observer, which may stop it.
    ///
    /// # Errors
    /// As [`SweepRun::run`].
    pub fn run_with(&self, observer: &mut dyn SweepObserver) -> Result<SweepResults, Error> {
        let session = SweepSession::open(self, None)?;
        telling::run(&session, self.workers, observer)?;
        match self.named {
            Some(_) => Ok(session.told()),
            None => session.end(),
        }
    }

    /// Runs nothing, and puts all trials that have not run into a queue, from which a
    /// [`SweepWorker`](super::SweepWorker) on any machine takes them that has the folder; how many
    /// it did not have before. A worker that has said nothing for so long is taken for lost; a
    /// queue that is there keeps a greater patience. A queue of another build of Tenter is
    /// replaced. Trials that the sweep has no more are forgotten, unless it is a part that is
    /// queued; what workers have answered is put into the ledger before. [`SweepRun::run`] takes
    /// the answers.
    ///
    /// # Errors
    /// When a point does not hold, the patience is below [`PATIENCE_MIN`](super::PATIENCE_MIN) or a
    /// year and more, or the ledger or the queue cannot be written.
    pub fn queue(&self, patience: Duration) -> Result<usize, Error> {
        queue::check_patience(patience)?;
        SweepSession::open(self, Some(patience))?.queue_all()
    }

    /// Checks points without running any, each within the memory of a budget, and as many as its
    /// time allows: the others are checked when the sweep begins.
    ///
    /// # Errors
    /// When a point does not hold, or takes more memory or, alone, more time than the budget has.
    pub fn check(&self, budget: &Budget) -> Result<(), Error> {
        first::check_some(self, &self.trials()?, budget)
    }

    /// Begins the sweep and leaves the running of its trials to the caller.
    ///
    /// # Errors
    /// When a point does not hold, or the ledger cannot be opened.
    pub fn begin(&self) -> Result<SweepSession, Error> {
        SweepSession::open(self, None)
    }
}
