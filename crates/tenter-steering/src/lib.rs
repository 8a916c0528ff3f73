//! Controllers of optical circuits: the ports that optical switches connect, for a traffic demand.
//!
//! ```text
//!   Traffic ─▶ Scenes ─demand─▶ steer: matchings ─▶ choose: loads of several ─▶ rewirings
//! ```
//!
//! [`Traffic`] is the traffic between leaves, and [`Scenes`] are the traffics that do not overlap
//! in time. [`choose`] tries the circuits that [`matching::steer`] finds for several numbers of
//! them, and keeps those whose [`Estimate`] is best; [`choose_greedily`] gives the heaviest pair of
//! leaves the next circuit. Both return the fabric with its new circuits, and [`rewirings`] is the
//! difference between two such fabrics.

mod choice;
mod loads;
pub mod matching;
mod scenes;
mod traffic;

pub use choice::{Choice, can_steer, choose, choose_greedily, rewirings};
pub use loads::{Estimate, estimate};
pub use scenes::Scenes;
pub use traffic::Traffic;
