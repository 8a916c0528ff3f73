//! `congestion_control` and `loss_recovery` of the NIC.

use tenter_endpoint::NotificationSpec;
use tenter_endpoint::congestion_control::dcqcn::{self, Window};
use tenter_endpoint::congestion_control::{CongestionControl, Dcqcn, Hpcc, Swift, Timely};
use tenter_endpoint::loss_recovery::{LossRecovery, SelectiveRepeat};
use tenter_units::{Bytes, Rate, Time};

use crate::classes::{decimal, read_probability};
use crate::decode::{Field, Read, Section};
use crate::tree::{Entry, Node};
use tenter_config::Presence::{Default as Otherwise, Depends, Required};
use tenter_config::{KeyTable, key};

const CONTROL: KeyTable = KeyTable {
    title: "`endpoint.nic.congestion_control`, written as a mapping",
    keys: &[key(
        "kind",
        "`dcqcn`, `timely`, `swift` or `hpcc`",
        Required,
        "Which congestion control; the other keys belong to it",
    )],
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
            "The rate also rises once in so many frame bytes sent",
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

const TIMELY: KeyTable = KeyTable {
    title: "`endpoint.nic.congestion_control` with `kind: timely`",
    keys: &[
        key(
            "low",
            "time",
            Otherwise("50us"),
            "Below this round-trip time the rate rises whatever the gradient",
        )
        .from("TIMELY (2015), section 5"),
        key(
            "high",
            "time",
            Otherwise("500us"),
            "Above this round-trip time the rate falls whatever the gradient",
        )
        .from("TIMELY (2015), section 5"),
        key(
            "base_round_trip",
            "time",
            Otherwise("20us"),
            "What gradients are measured in: the round-trip time of an idle network",
        )
        .from("TIMELY (2015), section 5"),
        key(
            "weight",
            "0 to 1, up to six decimals",
            Otherwise("0.875"),
            "Weight of a new difference of round-trip times in their average",
        )
        .from("TIMELY (2015), section 5"),
        key(
            "beta",
            "0 to 1, up to six decimals",
            Otherwise("0.8"),
            "Multiplicative decrease",
        )
        .from("TIMELY (2015), section 5"),
        key(
            "additive_increase",
            "rate",
            Otherwise("10Mbps"),
            "Additive increase",
        )
        .from("TIMELY (2015), section 5, at 10 Gb/s"),
        key(
            "scale_from",
            "rate or `none`",
            Otherwise("10Gbps"),
            "The line rate that `additive_increase` and `min_rate` are meant for: on other lines they are in proportion",
        ),
        key(
            "hyper_after",
            "count",
            Otherwise("5"),
            "After so many times in a row without a rising round-trip time, the rate rises `hyper_factor` times as much",
        )
        .from("TIMELY (2015), section 4.4"),
        key("hyper_factor", "count", Otherwise("5"), "How much more")
            .from("TIMELY (2015), section 4.4"),
        key(
            "min_rate",
            "rate",
            Otherwise("10Mbps"),
            "The rate never falls below",
        )
        .from("assumed: the paper has none"),
    ],
};

const SWIFT: KeyTable = KeyTable {
    title: "`endpoint.nic.congestion_control` with `kind: swift`",
    keys: &[
        key(
            "base_target",
            "time",
            Otherwise("25us"),
            "The round-trip time that large windows aim at",
        )
        .from("Swift (2020), what it shows for its own fabric; it depends on the network"),
        key(
            "scaling_range",
            "time",
            Otherwise("100us"),
            "What small windows add to the target at most",
        )
        .from("assumed: four times the base target"),
        key(
            "additive_increase",
            "packets, 1 to 1000",
            Otherwise("1"),
            "What a window grows in a round trip",
        )
        .from("Swift (2020), algorithm 1"),
        key(
            "beta",
            "0 to 1, up to six decimals",
            Otherwise("0.8"),
            "Multiplicative decrease",
        )
        .from("Swift (2020), algorithm 1"),
        key(
            "max_decrease",
            "0 to 1, up to six decimals",
            Otherwise("0.5"),
            "The most that a window falls at once",
        )
        .from("Swift (2020), algorithm 1"),
        key(
            "initial_window",
            "packets",
            Otherwise("100"),
            "The window of a new QP",
        )
        .from("assumed"),
        key(
            "max_window",
            "packets",
            Otherwise("1024"),
            "The largest window",
        )
        .from("assumed"),
    ],
};

const HPCC: KeyTable = KeyTable {
    title: "`endpoint.nic.congestion_control` with `kind: hpcc`",
    keys: &[
        key(
            "base_round_trip",
            "time",
            Otherwise("13us"),
            "T, the round-trip time of an idle network: the longest there is, or a little more",
        )
        .from("HPCC (2019), section 5.1, for its simulated fabric; it depends on the network"),
        key(
            "target",
            "0 to 1, up to six decimals",
            Otherwise("0.95"),
            "Eta, the utilisation of the busiest link that windows aim at; at least 0.01",
        )
        .from("HPCC (2019), section 5.1"),
        key(
            "max_stage",
            "0 to 1000",
            Otherwise("5"),
            "After so many additive increases in a row a window follows the utilisation again",
        )
        .from("HPCC (2019), section 5.1"),
        key(
            "additive_increase",
            "size",
            Otherwise("80B"),
            "W_AI: what a window grows in a round trip, in wire bytes",
        )
        .from("HPCC (2019), section 5.1, at 100 Gb/s"),
        key(
            "scale_from",
            "rate or `none`",
            Otherwise("100Gbps"),
            "The line rate that `additive_increase` is meant for: on other lines it is in proportion",
        )
        .from("HPCC (2019), section 3.3: W_AI is a share of what the line carries in a round trip"),
        key(
            "hops",
            "1 to 15",
            Otherwise("5"),
            "Switches for which packets have room; each takes 8 bytes of every data packet and its answer, and 2 more are taken for all. Switches beyond write nothing",
        )
        .from("HPCC (2019), section 4.1"),
    ],
};

const REPEAT: KeyTable = KeyTable {
    title: "`endpoint.nic.loss_recovery`, written as a mapping",
    keys: &[
        key(
            "kind",
            "`selective-repeat`",
            Required,
            "The loss recovery that has further keys",
        ),
        key(
            "window",
            "packets, 1 to 1048576",
            Otherwise("4096"),
            "How many packets a receiver keeps track of beyond the first missing one, and so how many a QP may have unacknowledged",
        )
        .from("16 MiB of full packets: more than a link of 400 Gb/s carries in 300 us"),
        key(
            "reorder",
            "packets, 1 to 1048576",
            Otherwise("1"),
            "A packet counts as lost once one that was sent so many packets later has arrived; more than 1 where packets overtake each other",
        ),
    ],
};

/// The tables of this part for the reference.
pub(crate) const TABLES: [&KeyTable; 7] =
    [&REPEAT, &CONTROL, &DCQCN, &REACTION, &TIMELY, &SWIFT, &HPCC];

const SECOND: Time = Time::from_us(1_000_000);
/// Timers are no finer: a million steps a second are caught up one by one.
const TICK_MIN: Time = Time::from_ns(100);
const BYTES_MAX: u64 = 1 << 40;
const PACKETS_MAX: u64 = 1 << 20;
/// The least utilisation to aim at, in millionths.
const TARGET_MIN: u32 = 10_000;

fn rates() -> std::ops::RangeInclusive<Rate> {
    Rate::from_bits_per_second(1_000)..=Rate::from_gbps(100_000)
}

fn read_rate(section: &mut Section<'_>, name: &str) -> Option<Rate> {
    section.take(name)?.quantity("a rate", &rates())
}

fn read_share(section: &mut Section<'_>, name: &str) -> Option<u32> {
    read_probability(&section.take(name)?)
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
    let kinds = [("dcqcn", 0), ("timely", 1), ("swift", 2), ("hpcc", 3)];
    let kind = own.choice("kind", &kinds);
    let read = match kind? {
        0 => read_dcqcn(&mut own),
        1 => read_timely(&mut own).map(|timely| (Some(CongestionControl::Timely(timely)), None)),
        2 => read_swift(&mut own).map(|swift| (Some(CongestionControl::Swift(swift)), None)),
        _ => read_hpcc(&mut own).map(|hpcc| (Some(CongestionControl::Hpcc(hpcc)), None)),
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

fn read_timely(own: &mut Section<'_>) -> Option<Timely> {
    own.extend(&TIMELY);
    let times = || TICK_MIN..=SECOND;
    let low = own.time("low", times());
    let high_field = own.take("high");
    let high: Option<Time> = high_field
        .as_ref()
        .and_then(|field| field.quantity("a time", &times()));
    let least = own.time("base_round_trip", times());
    let weight = read_share(own, "weight");
    let beta = read_share(own, "beta");
    let additive = read_rate(own, "additive_increase");
    let scale_from = rate_or_none(own, "scale_from");
    let hyper_after = own.integer("hyper_after", 1..=1000);
    let hyper_factor = own.integer("hyper_factor", 1..=1000);
    let min_rate = read_rate(own, "min_rate");
    put_shares(own, [("weight", weight), ("beta", beta)]);
    if low? > high? {
        let help = "give `high` at least as much as `low`".to_owned();
        high_field?.problem("is less than `low`", help);
        return None;
    }
    Some(Timely {
        low: low?,
        high: high?,
        least: least?,
        weight: weight?,
        beta: beta?,
        additive: additive?,
        scale_from: scale_from?,
        hyper_after: hyper_after?,
        hyper_factor: hyper_factor?,
        min_rate: min_rate?,
    })
}

fn read_swift(own: &mut Section<'_>) -> Option<Swift> {
    own.extend(&SWIFT);
    let base_target = own.time("base_target", TICK_MIN..=SECOND);
    let scaling_range = own.time("scaling_range", Time::ZERO..=SECOND);
    let additive: Option<u32> = own.integer("additive_increase", 1..=1000);
    let beta = read_share(own, "beta");
    let max_decrease = read_share(own, "max_decrease");
    let initial_window = own.integer("initial_window", 1..=PACKETS_MAX);
    let max_window = own.integer("max_window", 1..=PACKETS_MAX);
    put_shares(own, [("beta", beta), ("max_decrease", max_decrease)]);
    Some(Swift {
        base_target: base_target?,
        scaling_range: scaling_range?,
        additive: additive? * 1000,
        beta: beta?,
        max_decrease: max_decrease?,
        initial_window: initial_window?,
        max_window: max_window?,
        ..Swift::default()
    })
}

fn read_hpcc(own: &mut Section<'_>) -> Option<Hpcc> {
    own.extend(&HPCC);
    let base_round_trip = own.time("base_round_trip", TICK_MIN..=SECOND);
    let target_field = own.take("target");
    let target = target_field.as_ref().and_then(read_probability);
    put_shares(own, [("target", target)]);
    let max_stage = own.integer("max_stage", 0..=1000);
    let additive = own.take("additive_increase");
    let additive = additive.and_then(|field| field.size(&(1..=1 << 20)));
    let scale_from = rate_or_none(own, "scale_from");
    let hops = own.integer("hops", 1..=15);
    if target? < TARGET_MIN {
        let help = "give a utilisation of at least 0.01".to_owned();
        target_field?.problem("is too little to send at", help);
        return None;
    }
    Some(Hpcc {
        base_round_trip: base_round_trip?,
        target: target?,
        max_stage: max_stage?,
        additive_bytes: additive? as u32,
        scale_from: scale_from?,
        hops: hops?,
    })
}

/// Writes shares as they are read again.
fn put_shares<const N: usize>(own: &mut Section<'_>, shares: [(&str, Option<u32>); N]) {
    for (name, share) in shares {
        if let Some(ppm) = share {
            own.put(name, Node::plain(decimal(ppm)));
        }
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
    let window_packets = own.integer("window", 1..=PACKETS_MAX);
    let reorder_packets = own.integer("reorder", 1..=PACKETS_MAX);
    nic.put("loss_recovery", own.finish());
    kind?;
    Some(LossRecovery::SelectiveRepeat(SelectiveRepeat {
        window_packets: window_packets?,
        reorder_packets: reorder_packets?,
    }))
}
