//! The coordinator, which runs a trial on real hosts.
//!
//! ```text
//!   agents ◀──orders── run: jobs and their collectives ──▶ books ──▶ trial folder
//!      └──────reports────▶│
//!                         └── stops all when one is lost, or the time is over
//! ```

mod agents;
mod finish;
mod jobs;
mod run;
mod trial;
mod under_way;

pub use run::run;
pub use trial::{LabTrial, load};
pub use under_way::{LabRun, Observed};
