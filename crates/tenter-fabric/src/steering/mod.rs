//! Controllers for optical circuits: they choose which ports optical switches join for a traffic
//! demand.
//!
//! ```text
//!   Traffic ─▶ Scenes ─demand─▶ steer: matchings ─▶ choose: loads of several ─▶ rewirings
//! ```
//!
//! [`Traffic`] is the traffic between leaves, and [`Scenes`] are traffics that do not overlap in
//! time. [`choose`] tries the circuits that [`matching::steer`] finds when asked for several
//! numbers of circuits, and keeps those with the best [`Estimate`]; [`choose_greedily`] always
//! gives the heaviest pair of leaves the next circuit. Both return the fabric with its new
//! circuits, and [`rewirings`] is the difference between two such fabrics.

mod choice;
mod loads;
pub mod matching;
mod scenes;
mod traffic;

pub use choice::{Choice, can_steer, choose, choose_greedily, rewirings};
pub use loads::{Estimate, estimate};
pub use scenes::Scenes;
pub use traffic::Traffic;
