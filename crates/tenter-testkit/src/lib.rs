//! What the tests of Tenter share: a second engine to compare with, random scenarios to compare
//! on, and a finder of the first event that differs.

mod comparison;
mod divergence;
mod random;
mod reference;

pub use comparison::{
    BoundedSink, Engine, EqualTrials, Trial, compare, difference, replay_command,
};
pub use divergence::{Divergence, Probe, Side, first_divergence};
pub use random::{RandomScenario, random_scenario};
pub use reference::ReferenceDriver;
