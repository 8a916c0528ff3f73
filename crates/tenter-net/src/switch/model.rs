//! The models of switches: where frames wait, and what lets them leave.

use crate::credit::CreditSpec;
use crate::input_queued::{Crossbar, InputQueuedSpec};
use crate::port::Port;
use crate::scheduled::spec::ScheduledSpec;
use crate::scheduled::{Leaf, LeafWiring};

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

/// What a switch has of its model alone.
#[derive(Clone, Debug)]
pub(crate) enum Model {
    /// Nothing: also spines of a scheduled fabric, which differ in their load balancer.
    OutputQueued,
    /// Its input buffers are in the buffer, its credit in the ports.
    Credit,
    /// What its frames pass.
    InputQueued(Box<Crossbar>),
    /// The virtual output queues and schedulers.
    Leaf(Box<Leaf>),
}

impl Model {
    pub(super) fn new(model: SwitchModel<'_>, ports: &[Port], queues: usize) -> Model {
        match model {
            SwitchModel::OutputQueued | SwitchModel::Spine { .. } => Model::OutputQueued,
            SwitchModel::Credit(_) => Model::Credit,
            SwitchModel::InputQueued(spec) => {
                Model::InputQueued(Box::new(Crossbar::new(*spec, ports.len(), queues)))
            }
            SwitchModel::Leaf(spec, wiring) => {
                Model::Leaf(Box::new(Leaf::new(spec, wiring, ports, queues)))
            }
        }
    }

    /// What a leaf of a scheduled fabric has.
    #[inline]
    pub(super) fn leaf(&self) -> Option<&Leaf> {
        if let Model::Leaf(leaf) = self {
            Some(leaf)
        } else {
            None
        }
    }

    /// The same, to change.
    #[inline]
    pub(super) fn leaf_mut(&mut self) -> Option<&mut Leaf> {
        if let Model::Leaf(leaf) = self {
            Some(leaf)
        } else {
            None
        }
    }

    /// The crossbar of a switch whose frames wait at inputs.
    #[inline]
    pub(crate) fn crossbar(&self) -> Option<&Crossbar> {
        if let Model::InputQueued(crossbar) = self {
            Some(crossbar)
        } else {
            None
        }
    }

    /// The same, to change.
    #[inline]
    pub(super) fn crossbar_mut(&mut self) -> Option<&mut Crossbar> {
        if let Model::InputQueued(crossbar) = self {
            Some(crossbar)
        } else {
            None
        }
    }
}
