//! The keys of telemetry-assisted load balancing.

use tenter_net::load_balancing::TelemetryAssisted;
use tenter_units::{Bytes, Time};

use super::{BUCKETS_MAX, IN_ORDER_NICS, REFRESH, SECOND, STEP, read_quality};
use crate::decode::Section;
use crate::keys::Presence::Default;
use crate::keys::{KeyTable, key};

pub(super) const TELEMETRY: KeyTable = KeyTable {
    title: "`fabric.load_balancing` with `kind: telemetry`",
    keys: &[
        key(
            "threshold",
            "size",
            Default("128KiB"),
            "A queue towards another switch is long when more waits in it; the switch before is then told, if it grows, or where a host sent the packet this one",
        )
        .from("assumed: under three microseconds at 400G, and below the queues at which ECN marks"),
        key(
            "growth",
            "size",
            Default("16KiB"),
            "A long queue grows when so much more waits in it than when it was last looked at, or when the sender has been paused since; one that only stands would not be helped by a move",
        )
        .from("assumed: 3 % of what a link of 400G carries in `notice_interval`"),
        key(
            "notice_interval",
            "time",
            Default("10us"),
            "How often a switch looks at a port, at most one notice each time",
        )
        .from("assumed: as long as notice and response take, so that one move is seen before the next is asked for"),
        key(
            "response",
            "time",
            Default("5us"),
            "From the arrival of a notice to the first packet that may take another link",
        )
        .from("assumed: hardware that changes an entry of a table"),
        key(
            "buckets",
            "whole number",
            Default("4096"),
            "Entries of a switch's table of flows; flows of one entry count as one",
        )
        .from("assumed: so many that flows of a leaf seldom share one"),
        key(
            "hold_down",
            "time",
            Default("100us"),
            "So long a flow that has moved stays where it is",
        )
        .from("assumed: long enough for the queue that it left to drain"),
        key(
            "memory",
            "time",
            Default("100us"),
            "So long a switch counts what it has been told of the way behind one of its links",
        )
        .from("assumed: as `hold_down`"),
        key(
            "delta",
            "whole number",
            Default("1"),
            "By so many of eight levels another link must be better",
        )
        .from("the quality delta of dynamic load balancing; its value is assumed"),
        key(
            "move",
            "`at-once` or `at-gap`",
            Default("at-once"),
            "When a flow moves: with its next packet, which may overtake those before it, or when it has sent nothing for `gap`",
        ),
        key(
            "gap",
            "time",
            Default("256us"),
            "With `move: at-gap`, so long a flow must have sent nothing",
        )
        .from("a common default of the inactivity interval in dynamic load balancing"),
        REFRESH,
        STEP,
        IN_ORDER_NICS,
    ],
};

/// No threshold is larger.
const THRESHOLD_MAX: Bytes = Bytes::new(1 << 40);
/// There are eight levels, and twice as many of own queue and notice together.
const DELTA_MAX: u64 = 14;

pub(super) fn read(section: &mut Section<'_>) -> Option<TelemetryAssisted> {
    section.extend(&TELEMETRY);
    let mut size = |name| {
        let sizes = Bytes::new(0)..=THRESHOLD_MAX;
        section.take(name)?.quantity::<Bytes>("a size", &sizes)
    };
    let threshold = size("threshold");
    let growth = size("growth");
    let mut time = |name| section.time(name, Time::ZERO..=SECOND);
    let notice_interval = time("notice_interval");
    let response = time("response");
    let hold_down = time("hold_down");
    let memory = time("memory");
    let buckets = section.integer("buckets", 1..=BUCKETS_MAX);
    let delta = section.integer("delta", 1..=DELTA_MAX);
    let waits = section.choice("move", &[("at-once", false), ("at-gap", true)]);
    let gap = section.time("gap", Time::from_ps(1)..=SECOND);
    let quality = read_quality(section);
    Some(TelemetryAssisted {
        quality: quality?,
        threshold_bytes: threshold?.count(),
        growth_bytes: growth?.count(),
        notice_interval: notice_interval?,
        response: response?,
        buckets: buckets?,
        hold_down: hold_down?,
        memory: memory?,
        delta: delta?,
        gap: waits?.then_some(gap?),
    })
}
