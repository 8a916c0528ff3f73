//! Sweeps: many trials of one scenario, side by side within the machine's cores and memory, with a
//! ledger that remembers which have run.

mod elsewhere;
mod first;
pub(crate) mod ledger;
mod only;
mod order;
mod outcome;
pub(crate) mod pool;
mod progress;
mod queue;
mod reading;
mod results;
mod run;
mod session;
mod start;
mod swept;
mod telling;
mod worker;

pub use order::{TrialAnswer, TrialOrder};
pub use progress::{SweepObserver, SweepProgress};
pub use queue::PATIENCE_MIN;
pub use reading::read_trial;
pub use results::{RESULTS_FILE, SweepResults};
pub use run::SweepRun;
pub(crate) use run::published_beside;
pub use session::{NextTrial, SweepSession};
pub use swept::{Swept, SweptOutcome};
pub use worker::{SweepWorker, WorkerResults};
