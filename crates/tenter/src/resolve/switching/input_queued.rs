//! `fabric.switching` with `kind: input-queued`: its keys, and what excludes it.

use tenter_fabric::net::Scheduling;
use tenter_fabric::net::input_queued::{InputQueuedSpec, InputQueues};

use super::around::{Around, PATH};
use tenter_language::config::{choice, component};
use tenter_language::notation::diagnostics::Problems;

component! {
    /// How frames wait at an input, and how inputs and outputs are matched.
    pub struct InputKeys as "`fabric.switching` with `kind: input-queued`" {
        /// How frames of a class wait at an input: in the order of arrival, or in a queue for each
        /// output (virtual output queues).
        queues: QueueKind = "per-output";
        /// With `queues: fifo`: virtual channels of an input, each in the order of arrival; a frame
        /// takes the shortest.
        channels: u8 = "1", in 1..=64, from "1 is the textbook's FIFO switch; BookSim has 16 unless told otherwise";
        /// The most rounds of requests, grants and acceptances when inputs and outputs are matched
        /// (iSLIP).
        iterations: u16 = "4", in 1..=64, from "log₂ of 16 ports (McKeown: The iSLIP Scheduling Algorithm for Input-Queued Switches)";
    }
}

/// Order in which a class's frames wait at an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueKind {
    /// In arrival order, whatever their output.
    Fifo,
    /// In a queue for each output.
    PerOutput,
}

choice!(QueueKind { "fifo" => Fifo, "per-output" => PerOutput });

impl InputKeys {
    pub(super) fn spec(self) -> InputQueuedSpec {
        InputQueuedSpec {
            queues: match self.queues {
                QueueKind::Fifo => InputQueues::Fifo(self.channels),
                QueueKind::PerOutput => InputQueues::PerOutput,
            },
            iterations: self.iterations,
        }
    }
}

/// Refuses what excludes input-queued switches.
pub(super) fn check(around: &Around<'_>, problems: &Problems) {
    let refuse = |what: &str, help: &str| {
        problems.note(PATH, what, help);
    };
    // A single class has nothing to share, so its weight does no harm.
    let several = around.switches.usual.classes.len() > 1;
    if several
        && around
            .switches
            .any_class(|class| class.scheduling != Scheduling::Strict)
    {
        refuse(
            "input-queued switches serve classes strictly, and have no weights",
            "leave out `weight` of `fabric.switch.classes`",
        );
    }
    if around.has_watchdog {
        refuse(
            "`fabric.switch.pfc_watchdog` looks at output queues, and in input-queued switches frames wait elsewhere",
            "leave it out",
        );
    }
}
