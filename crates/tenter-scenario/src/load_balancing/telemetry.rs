//! The keys of telemetry-assisted load balancing.

use tenter_net::load_balancing::{BUCKETS_MAX, Notify, QualitySpec, TelemetryAssisted};
use tenter_units::{Bytes, Time};

use super::IN_ORDER_NICS;
use crate::decode::Section;
use tenter_config::Presence::Default;
use tenter_config::{Component, Key, KeyTable, joined, key};

pub(super) const TELEMETRY: KeyTable = KeyTable {
    title: "`fabric.load_balancing` with `kind: telemetry`",
    keys: &joined::<{ OWN.len() + QualitySpec::KEYS.len() + 1 }>(&[
        OWN,
        QualitySpec::KEYS,
        &[IN_ORDER_NICS],
    ]),
};

const OWN: &[Key] = &[
        key(
            "notify",
            "`leaf` or `host`",
            Default("leaf"),
            "Who moves a flow: the switch before the long queue, to the least busy of its links; or the NIC that sends it, by another UDP source port, which ECMP then has any link for. Notices to hosts are packets of class 7",
        ),
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
            "From the arrival of a notice to the first packet that may take another link, or at the host to its new source port",
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
];

/// No time is longer.
const SECOND: Time = Time::from_us(1_000_000);
/// No threshold is larger.
const THRESHOLD_MAX: Bytes = Bytes::new(1 << 40);
/// There are eight levels, and twice as many of own queue and notice together.
const DELTA_MAX: u64 = 14;

/// The class of notices to hosts: above all others.
pub(crate) const HOST_NOTICE_CLASS: u8 = 7;

/// What only a leaf that moves flows goes by.
const OF_LEAVES: [&str; 4] = ["buckets", "memory", "delta", "gap"];

pub(super) fn read(section: &mut Section<'_>) -> Option<TelemetryAssisted> {
    section.extend(&TELEMETRY);
    let given = OF_LEAVES.map(|name| section.has(name));
    let host = Notify::Host {
        class: HOST_NOTICE_CLASS,
    };
    let notify = section.choice("notify", &[("leaf", Notify::Leaf), ("host", host)]);
    let at = section.at();
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
    let buckets = section.integer("buckets", 1..=u64::from(BUCKETS_MAX));
    let delta = section.integer("delta", 1..=DELTA_MAX);
    let waits = section.choice("move", &[("at-once", false), ("at-gap", true)]);
    let gap = section.time("gap", Time::from_ps(1)..=SECOND);
    let quality = QualitySpec::read(section);
    if notify == Some(host) {
        refuse_of_leaves(section, given);
    }
    if notify == Some(host) && waits == Some(true) {
        let what = "cannot be `at-gap` with `notify: host`: a NIC changes the source port at once";
        section.problem_of("move", at, what, "leave `move` out, or use `notify: leaf`");
        return None;
    }
    Some(TelemetryAssisted {
        notify: notify?,
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

/// Refuses keys that only leaves go by where hosts move flows, and leaves them out of the effective
/// configuration.
fn refuse_of_leaves(section: &mut Section<'_>, given: [bool; 4]) {
    for (name, given) in OF_LEAVES.into_iter().zip(given) {
        if given {
            let what = "has no effect with `notify: host`: switches go by the hash alone";
            section.problem_of(name, section.at(), what, "leave it out");
        }
        section.drop_key(name);
    }
}
