//! `fabric.switching` with `kind: input-queued`: its keys, and what such a fabric cannot work with.

use tenter_net::Scheduling;
use tenter_net::input_queued::{InputQueuedSpec, InputQueues};

use crate::switching::Around;
use tenter_config::Presence::Default;
use tenter_config::{KeyTable, key};
use tenter_notation::decode::Section;
use tenter_notation::diagnostics::{Location, Problems};

pub(crate) const INPUT_QUEUED: KeyTable = KeyTable {
    title: "`fabric.switching` with `kind: input-queued`",
    keys: &[
        key(
            "queues",
            "`fifo` or `per-output`",
            Default("per-output"),
            "How frames of a class wait at an input: in the order of arrival, or in a queue for each output (virtual output queues)",
        ),
        key(
            "channels",
            "count, 1 to 64",
            Default("1"),
            "With `queues: fifo`: virtual channels of an input, each in the order of arrival; a frame takes the shortest",
        )
        .from("1 is the textbook's FIFO switch; BookSim has 16 unless told otherwise"),
        key(
            "iterations",
            "count, 1 to 64",
            Default("4"),
            "The most rounds of requests, grants and acceptances when inputs and outputs are matched (iSLIP)",
        )
        .from("log₂ of 16 ports (McKeown: The iSLIP Scheduling Algorithm for Input-Queued Switches)"),
    ],
};

pub(super) fn read(section: &mut Section<'_>) -> Option<InputQueuedSpec> {
    let kinds = [("fifo", true), ("per-output", false)];
    let fifo = section.choice("queues", &kinds);
    let channels: Option<u8> = section.integer("channels", 1..=64);
    let iterations = section.integer("iterations", 1..=64);
    let channels = channels?;
    Some(InputQueuedSpec {
        queues: if fifo? {
            InputQueues::Fifo(channels)
        } else {
            InputQueues::PerOutput
        },
        iterations: iterations?,
    })
}

/// Refuses what input-queued switches cannot work with.
pub(super) fn check(at: Option<Location>, around: &Around<'_>, problems: &Problems) {
    let refuse = |what: &str, help: &str| {
        problems.push(at, what.to_owned(), Some(help.to_owned()));
    };
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
