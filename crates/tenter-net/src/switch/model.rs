//! The models of switches: where frames wait, and what lets them leave.

use crate::credit::CreditSpec;
use crate::input_queued::InputQueuedSpec;
use crate::scheduled::LeafWiring;
use crate::scheduled::spec::ScheduledSpec;

/// The model of a switch, chosen when it is made.
#[derive(Clone, Debug)]
pub enum SwitchModel<'a> {
    /// Frames wait at outputs, in a shared buffer.
    OutputQueued,
    /// Frames wait at outputs, and each has an input buffer for which its sender had credit.
    Credit(&'a CreditSpec),
    /// Frames wait at inputs, in front of a crossbar.
    InputQueued(&'a InputQueuedSpec),
    /// A leaf of a scheduled fabric: frames wait in virtual output queues for credit.
    Leaf(&'a ScheduledSpec, LeafWiring),
    /// A spine of a scheduled fabric: it spreads what goes to a leaf over all links that lead
    /// there.
    Spine {
        /// How cells are spread.
        spec: &'a ScheduledSpec,
        /// The seed of the trial.
        seed: u64,
        /// The name of the switch.
        name: &'a str,
    },
}
