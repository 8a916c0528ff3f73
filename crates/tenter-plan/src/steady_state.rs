//! What is done while the network is in a steady state.

use tenter_config::choice;

/// What is done while the network comes back to the same state again and again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SteadyState {
    /// It is simulated as all else.
    #[default]
    Simulate,
    /// Whole periods are jumped over; results are the same.
    Jump,
}

choice!(SteadyState { "simulate" => Simulate, "jump" => Jump });
