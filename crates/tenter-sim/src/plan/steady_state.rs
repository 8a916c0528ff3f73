//! The choice between simulating and jumping steady states.

use tenter_language::config::choice;

/// Handling of a network that returns to the same state again and again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SteadyState {
    /// Every period is simulated, like all else.
    #[default]
    Simulate,
    /// Whole periods are jumped over; results are the same.
    Jump,
}

choice!(SteadyState { "simulate" => Simulate, "jump" => Jump });
