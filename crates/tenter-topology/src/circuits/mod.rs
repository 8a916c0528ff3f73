//! Circuits: what optical switches connect, and how it is chosen.
//!
//! ```text
//!   Traffic ─▶ Scenes ─demand─▶ steer: matchings ─▶ choose: loads of several ─▶ rewirings
//! ```

mod choice;
mod loads;
mod scenes;
pub mod steering;
mod traffic;

pub use choice::{Choice, can_steer, choose, choose_greedily, rewirings};
pub use loads::{Estimate, estimate};
pub use scenes::Scenes;
pub use traffic::Traffic;
