//! The workspace of Tenter: a local server with an HTTP interface for programs and a page for
//! people.
//!
//! ```text
//!   browser ──HTTP──▶ guard ──▶ routes ──▶ ledger of the workspace, trial folders
//!      ▲                          │
//!      └──── events ◀── runner ◀──┘ queue: trials run on threads of their own
//! ```
//!
//! Requests are answered on the threads of `tokio`. Work that reads files, resolves scenarios or
//! takes long moves to threads that may wait, and occupies none while a client is slow. Trials run
//! through the library `tenter`, so they are the same as those of `tenter run`.
//!
//! **Architecture invariant.** No text of a request becomes a path: trials are found by number in
//! the ledger, tables in the list of those that a trial can have, and files of the page in the
//! table that is built into the program.

mod apart;
mod cache;
mod cells;
mod connections;
mod distribution;
mod error;
mod events;
mod extract;
mod guard;
mod live;
mod named_trial;
mod options;
mod page;
mod parts;
mod picture_body;
mod report;
mod resolve;
mod routes;
mod rows;
mod runner;
mod section_body;
mod series;
mod serve;
mod state;
mod stored;
mod summary_schema;
mod sweep_body;
mod sweep_runner;
mod token;
mod trial_body;
mod turns;

pub(crate) use named_trial::NamedTrial;
pub(crate) use options::CHECK_MEMORY;
pub use options::Options;
pub use report::{LeftOut, Report};
pub(crate) use report::{report_of_studies, report_of_sweeps, report_of_trials};
pub use routes::openapi;
pub use serve::Server;
