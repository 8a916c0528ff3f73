//! Circuits: what optical switches connect, and how it is chosen.
//!
//! ```text
//!   Traffic ─demand─▶ steer: matchings ─▶ choose: routes and loads of several ─▶ rewirings
//! ```

mod choice;
mod loads;
pub mod steering;
mod traffic;

pub use choice::{Choice, can_steer, choose, estimate, rewirings};
pub use loads::Estimate;
pub use traffic::Traffic;
