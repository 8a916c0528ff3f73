//! `congestion_control` and `loss_recovery` of the NIC.

use tenter_endpoint::NotificationSpec;
use tenter_endpoint::congestion_control::dcqcn::{self, Window};
use tenter_endpoint::congestion_control::{CongestionControl, Dcqcn};
use tenter_endpoint::loss_recovery::{LossRecovery, SelectiveRepeat};
use tenter_units::{Bytes, Rate, Time};

use tenter_config::Presence::{Default as Otherwise, Depends, Required};
use tenter_config::{Component, Form, Key, KeyTable, Shape, joined, key};
use tenter_notation::decode::{Field, Read, Section};
use tenter_notation::tree::{Entry, Node};

const CONTROL: KeyTable = KeyTable {
    title: "`endpoint.nic.congestion_control`, written as a mapping",
    keys: &[Key {
        form: Form::Typed(|| Shape::Choice(CongestionControl::NAMES)),
        ..key(
            "kind",
            "",
            Required,
            "Which congestion control; the other keys belong to it",
        )
    }],
};

/// The key in the section of the NIC.
pub(crate) const KEY: Key = Key {
    form: Form::Typed(|| Shape::WordOrMapping(CongestionControl::NAMES)),
    ..key(
        "congestion_control",
        "",
        Otherwise("none"),
        "How senders slow down when the network is congested",
    )
};

const DCQCN: KeyTable = KeyTable {
    title: "`endpoint.nic.congestion_control` with `kind: dcqcn`",
    keys: &[
        key(
            "preset",
            "`nvidia`, `kai`, `hpcc`, `paper-2015` or `tester`",
            Otherwise("nvidia"),
            "Where all other keys come from; `tester` sends notifications and does not react to them",
        )
        .from("what is in use; the page of the model has the origin of every constant"),
        key(
            "reaction",
            "`true` or `false`",
            Depends("by `preset`: `false` for `tester`"),
            "Whether senders slow down when they are notified",
        ),
        key(
            "cnp",
            "`packet` or `in-acknowledgement`",
            Otherwise("packet"),
            "What carries notifications: a packet of their own (CNP), or the next acknowledgement or NAK of the QP",
        )
        .from("RoCEv2 (InfiniBand Architecture Specification, Annex A17); HPCC's simulator has `in-acknowledgement`"),
        key(
            "cnp_interval",
            "time",
            Depends("by `preset`"),
            "A receiver sends at most one notification (CNP) for each QP in this time",
        ),
        key(
            "cnp_dscp",
            "0 to 63",
            Depends("by `preset`: `48`"),
            "DSCP of notifications, and with it their class, which is the DSCP shifted right by 3",
        ),
    ],
};

const REACTION: KeyTable = KeyTable {
    title: "`endpoint.nic.congestion_control` with `kind: dcqcn`, where senders react",
    keys: &[
        key(
            "gain",
            "1 to 1024, in 1024ths",
            Depends("by `preset`"),
            "Gain g of alpha, the estimate of congestion",
        ),
        key(
            "alpha_initial",
            "0 to 1024, in 1024ths",
            Depends("by `preset`"),
            "Alpha when the first notification arrives",
        ),
        key(
            "alpha_interval",
            "time",
            Depends("by `preset`"),
            "Alpha falls once in this time",
        ),
        key(
            "decrease_interval",
            "time or `none`",
            Depends("by `preset`"),
            "The rate falls at most once in this time, and alpha rises once in its own; `none`: both with each notification, at once",
        ),
        key(
            "first_rate",
            "rate or `none`",
            Depends("by `preset`"),
            "The rate at the first notification; `none`: it falls as with any other",
        ),
        key(
            "decrease_max_percent",
            "1 to 100",
            Depends("by `preset`"),
            "The most that the rate falls at once",
        ),
        key(
            "min_rate",
            "rate",
            Depends("by `preset`"),
            "The rate never falls below",
        ),
        key(
            "clamp_target",
            "`true` or `false`",
            Depends("by `preset`"),
            "Whether the target always falls to what the rate was; else only where the rate has risen since it fell last",
        ),
        key(
            "increase_interval",
            "time",
            Depends("by `preset`"),
            "The rate rises once in this time",
        ),
        key(
            "increase_bytes",
            "size or `none`",
            Depends("by `preset`"),
            "The rate also rises after this many frame bytes sent",
        ),
        key(
            "recovery_steps",
            "0 to 1000",
            Depends("by `preset`"),
            "How often the rate rises half of the way to its target before the target rises too",
        ),
        key(
            "additive_increase",
            "rate",
            Depends("by `preset`"),
            "What the target rises by then",
        ),
        key(
            "hyper_increase",
            "rate",
            Depends("by `preset`"),
            "What the target rises by when timer and byte counter are both beyond `recovery_steps`",
        ),
        key(
            "scale_from",
            "rate or `none`",
            Depends("`none`"),
            "The line rate that `min_rate`, `additive_increase` and `hyper_increase` are meant for: on other lines they are in proportion",
        ),
        key(
            "window",
            "`none`, `fixed` or `scaled`",
            Otherwise("none"),
            "What a QP may have under way beside its rate: no limit, what its line carries in `base_round_trip`, or what its rate does",
        )
        .from("HPCC's simulator has `scaled` (HAS_WIN and VAR_WIN) for all its congestion controls"),
        key(
            "base_round_trip",
            "time",
            Depends("with `window`"),
            "The round-trip time of an idle network: the longest there is",
        ),
    ],
};

const REPEAT_KIND: Key = key(
    "kind",
    "`selective-repeat`",
    Required,
    "The loss recovery that has further keys",
);

pub(crate) const REPEAT: KeyTable = KeyTable {
    title: "`endpoint.nic.loss_recovery`, written as a mapping",
    keys: &joined::<{ 1 + SelectiveRepeat::KEYS.len() }>(&[&[REPEAT_KIND], SelectiveRepeat::KEYS]),
};

/// The table of the section of a congestion control, and those of DCQCN.
pub(crate) const OF_CONTROL: [&KeyTable; 3] = [&CONTROL, &DCQCN, &REACTION];

/// The tables of this part for the reference.
pub(crate) fn tables() -> impl Iterator<Item = &'static KeyTable> {
    std::iter::once(&REPEAT)
        .chain(OF_CONTROL)
        .chain(CongestionControl::TABLES)
}

const SECOND: Time = Time::from_us(1_000_000);
/// Timers are no finer: a million steps a second are caught up one by one.
const TICK_MIN: Time = Time::from_ns(100);
const BYTES_MAX: u64 = 1 << 40;

fn rates() -> std::ops::RangeInclusive<Rate> {
    Rate::from_bits_per_second(1_000)..=Rate::from_gbps(100_000)
}

fn read_rate(section: &mut Section<'_>, name: &str) -> Option<Rate> {
    section.take(name)?.quantity("a rate", &rates())
}

fn rate_or_none(section: &mut Section<'_>, name: &str) -> Read<Option<Rate>> {
    let field = section.take(name)?;
    field.or_none(|field| field.quantity("a rate", &rates()))
}

/// Keys and values as if they had been written.
fn entries(given: impl IntoIterator<Item = (&'static str, String)>) -> Vec<Entry> {
    let entry = |(key, text): (&str, String)| Entry {
        key: key.to_owned(),
        key_at: None,
        node: Node::plain(text),
    };
    given.into_iter().map(entry).collect()
}

fn or_none<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(|| "none".to_owned(), |value| value.to_string())
}

/// What a scenario says of congestion: of the sender's part and of the receiver's.
pub(crate) type Congestion = (Option<CongestionControl>, Option<NotificationSpec>);

/// Reads `congestion_control` out of the NIC's section.
pub(crate) fn read_control(nic: &mut Section<'_>) -> Read<Congestion> {
    let field = nic.take("congestion_control")?;
    if field.word() == Some("none") {
        return Some((None, None));
    }
    let mut field = field;
    if let Some(word) = field.word() {
        let kind = Node::plain(word);
        field.node.value = Node::mapping([("kind", kind)]).value;
    }
    let mut own = field.section(&CONTROL);
    let names = CongestionControl::NAMES.iter().copied();
    let kinds: Vec<(&str, usize)> = names.zip(0..).collect();
    // DCQCN stands first: its keys depend on its preset.
    let read = match own.choice("kind", &kinds)?.checked_sub(1) {
        None => read_dcqcn(&mut own),
        Some(place) => {
            own.extend(&CongestionControl::TABLES[place]);
            CongestionControl::read(place, &mut own).map(|control| {
                let notification = control.notification();
                (Some(control), notification)
            })
        }
    };
    nic.put("congestion_control", own.finish());
    read
}

fn read_dcqcn(own: &mut Section<'_>) -> Read<Congestion> {
    own.extend(&DCQCN);
    let names = Dcqcn::PRESETS.map(|name| (name, name));
    let name = own.choice("preset", &names)?;
    let (preset, notification) = Dcqcn::preset(name)?;
    own.fill(&entries([
        ("reaction", preset.is_some().to_string()),
        ("cnp_interval", notification.interval.to_string()),
        ("cnp_dscp", (notification.class << 3).to_string()),
    ]));
    let reaction = own.boolean("reaction");
    let carriers = [("packet", false), ("in-acknowledgement", true)];
    let in_acknowledgements = own.choice("cnp", &carriers);
    let interval = own.time("cnp_interval", Time::ZERO..=SECOND);
    let dscp: Option<u8> = own.integer("cnp_dscp", 0..=63);
    let control = if reaction? {
        let usual = Dcqcn::preset("nvidia").and_then(|(usual, _)| usual);
        let control = read_reaction(own, preset.or(usual)?)?;
        Some(CongestionControl::Dcqcn(control))
    } else {
        None
    };
    let notification = NotificationSpec {
        interval: interval?,
        in_acknowledgements: in_acknowledgements?,
        class: dscp? >> 3,
    };
    Some((control, Some(notification)))
}

fn read_reaction(own: &mut Section<'_>, preset: Dcqcn) -> Option<Dcqcn> {
    own.extend(&REACTION);
    own.fill(&entries([
        ("gain", preset.gain.to_string()),
        ("alpha_initial", preset.alpha_initial.to_string()),
        ("alpha_interval", preset.alpha_interval.to_string()),
        ("decrease_interval", or_none(preset.decrease_interval)),
        ("first_rate", or_none(preset.first_rate)),
        (
            "decrease_max_percent",
            preset.decrease_max_percent.to_string(),
        ),
        ("min_rate", preset.min_rate.to_string()),
        ("clamp_target", preset.clamp_target.to_string()),
        ("increase_interval", preset.increase_interval.to_string()),
        (
            "increase_bytes",
            or_none(preset.increase_bytes.map(Bytes::new)),
        ),
        ("recovery_steps", preset.recovery_steps.to_string()),
        ("additive_increase", preset.additive.to_string()),
        ("hyper_increase", preset.hyper.to_string()),
        ("scale_from", or_none(preset.scale_from)),
    ]));
    let parts = u64::from(dcqcn::PARTS);
    let gain = own.integer("gain", 1..=parts);
    let alpha_initial = own.integer("alpha_initial", 0..=parts);
    let alpha_interval = own.time("alpha_interval", TICK_MIN..=SECOND);
    let decrease_interval = own
        .take("decrease_interval")
        .and_then(|field| field.or_none(|field| field.quantity("a time", &(TICK_MIN..=SECOND))));
    let first_rate = rate_or_none(own, "first_rate");
    let decrease_max_percent = own.integer("decrease_max_percent", 1..=100);
    let min_rate = read_rate(own, "min_rate");
    let clamp_target = own.boolean("clamp_target");
    let increase_interval = own.time("increase_interval", TICK_MIN..=SECOND);
    let increase_bytes = own
        .take("increase_bytes")
        .and_then(|field| field.or_none(|field| field.size(&(1..=BYTES_MAX))));
    let recovery_steps = own.integer("recovery_steps", 0..=1000);
    let additive = read_rate(own, "additive_increase");
    let hyper = read_rate(own, "hyper_increase");
    let scale_from = rate_or_none(own, "scale_from");
    let window = read_window(own);
    Some(Dcqcn {
        gain: gain?,
        alpha_initial: alpha_initial?,
        alpha_interval: alpha_interval?,
        decrease_interval: decrease_interval?,
        first_rate: first_rate?,
        decrease_max_percent: decrease_max_percent?,
        min_rate: min_rate?,
        clamp_target: clamp_target?,
        increase_interval: increase_interval?,
        increase_bytes: increase_bytes?,
        recovery_steps: recovery_steps?,
        additive: additive?,
        hyper: hyper?,
        window: window?,
        scale_from: scale_from?,
    })
}

/// A window beside the rate, and the round trip that it holds.
fn read_window(own: &mut Section<'_>) -> Read<Option<Window>> {
    let kinds = [
        ("none", None),
        ("fixed", Some(false)),
        ("scaled", Some(true)),
    ];
    let scaled = own.choice("window", &kinds);
    let field = own.take("base_round_trip");
    let base = field
        .as_ref()
        .and_then(|field| field.quantity("a time", &(TICK_MIN..=SECOND)));
    match (scaled?, field) {
        (None, None) => Some(None),
        (None, Some(field)) => {
            let help = "leave it out, or set `window: scaled`".to_owned();
            field.problem("means nothing without `window`", help);
            None
        }
        (Some(_), None) => {
            let help = "add `base_round_trip: 13us`, for example".to_owned();
            own.problem("has a `window`, but lacks `base_round_trip`", help);
            None
        }
        (Some(scaled), Some(_)) => Some(Some(Window {
            base_round_trip: base?,
            scaled,
        })),
    }
}

/// Reads `loss_recovery` out of the NIC's section.
pub(crate) fn read_recovery(nic: &mut Section<'_>) -> Read<LossRecovery> {
    let field: Field<'_> = nic.take("loss_recovery")?;
    let usual = LossRecovery::SelectiveRepeat(SelectiveRepeat::default());
    if field.word().is_some() {
        let recovery = field.choice(&[
            ("go-back-n", LossRecovery::GoBackN),
            ("selective-repeat", usual),
            ("none", LossRecovery::None),
        ])?;
        return Some(recovery);
    }
    let mut own = field.section(&REPEAT);
    let kind = own.choice("kind", &[("selective-repeat", ())]);
    let repeat = SelectiveRepeat::read(&mut own);
    nic.put("loss_recovery", own.finish());
    kind?;
    repeat.map(LossRecovery::SelectiveRepeat)
}
