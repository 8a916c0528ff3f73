//! Models of switches: where frames wait, and which event lets them leave.

use crate::net::credit::CreditSpec;
use crate::net::input_queued::InputQueuedSpec;
use crate::net::scheduled::LeafWiring;
use crate::net::scheduled::spec::ScheduledSpec;

/// Model of a switch, chosen when the switch is made.
#[derive(Clone, Debug)]
pub enum SwitchModel<'a> {
    /// Frames wait at outputs, in a shared buffer.
    OutputQueued,
    /// Frames wait at outputs, each in an input buffer for which its sender had link credit.
    Credit(&'a CreditSpec),
    /// Frames wait at inputs, in front of a crossbar.
    InputQueued(&'a InputQueuedSpec),
    /// A leaf of a scheduled fabric: frames wait in virtual output queues for credit.
    Leaf(&'a ScheduledSpec, LeafWiring),
    /// A spine of a scheduled fabric: it spreads cells to a leaf over all links that lead there.
    Spine {
        /// Parameters of the fabric, among them how cells are spread.
        spec: &'a ScheduledSpec,
        /// Seed of the trial, from which the spray's order is drawn.
        seed: u64,
        /// Name of the switch, which names its random stream.
        name: &'a str,
    },
}
