//! What scenarios say of congestion control and loss recovery, and what they must not.

mod base;

use tenter::resolve::Loaded;
use tenter_endpoint::congestion_control::dcqcn::{Preset, Reaction, Window};
use tenter_endpoint::congestion_control::{CongestionControl, Hpcc, Swift, Timely};
use tenter_endpoint::loss_recovery::{LossRecovery, SelectiveRepeat};
use tenter_endpoint::{LimitedBy, NicSpec, NotificationSpec};
use tenter_language::config::{Share, Words as _};
use tenter_language::units::{Bytes, Rate, Time};

use base::Base;

const SMALL: Base = Base(
    "
fabric: {kind: single-switch, hosts: 4, flow_control: ecn}
jobs: [{collectives: [{collective: all-to-all, size: 1MiB}]}]
",
);
const CONTROL: &str = "endpoint.nic.congestion_control";

/// Loads, without warnings.
fn good(overrides: &[&str]) -> Loaded {
    let loaded = SMALL.good(overrides);
    assert!(loaded.warnings.is_empty(), "{}", loaded.warnings);
    loaded
}

fn nic(value: &str) -> NicSpec {
    good(&[&format!("{CONTROL}={value}")]).plan.nic
}

#[test]
fn presets_are_what_the_model_says() {
    for &preset in Preset::ALL {
        // At 400G those of slower lines are warned of.
        let control = format!("{CONTROL}={{kind: dcqcn, preset: {}}}", preset.word());
        let nic = SMALL.good(&[&control]).plan.nic;
        let control = CongestionControl::Dcqcn(preset.of_both());
        assert_eq!(nic.congestion_control, Some(control));
        assert_eq!(nic.reacting().is_some(), preset != Preset::Tester);
        assert!(nic.notification().is_some());
    }
    let usual = CongestionControl::Dcqcn(Preset::Nvidia.of_both());
    assert_eq!(nic("dcqcn").congestion_control, Some(usual));
    let none = nic("none");
    assert_eq!((none.notification(), none.congestion_control), (None, None));
}

#[test]
fn keys_take_the_place_of_the_preset() {
    let keys = "kind: dcqcn, preset: kai, gain: 7, first_rate: none, increase_bytes: none, \
                scale_from: 100Gbps, cnp: in-acknowledgement, cnp_interval: 9us, cnp_dscp: 40, decrease_interval: none";
    let nic = nic(&format!("{{{keys}}}"));
    let Some(CongestionControl::Dcqcn(control)) = nic.congestion_control else {
        panic!("{nic:?}");
    };
    let expected = Reaction {
        gain: 7,
        first_rate: None,
        increase_bytes: None,
        decrease_interval: None,
        scale_from: Some(Rate::from_gbps(100)),
        ..Preset::Kai.of_both().reaction
    };
    assert_eq!(control.reaction, expected);
    let notification = NotificationSpec {
        interval: Time::from_us(9),
        limited_by: LimitedBy::QueuePair,
        in_acknowledgements: true,
        class: 5,
    };
    assert_eq!(nic.notification(), Some(notification));
}

#[test]
fn a_preset_may_react_or_not() {
    let still = nic("{kind: dcqcn, reaction: false}");
    assert_eq!(still.reacting(), None);
    assert!(still.notification().is_some());
    let tester = nic("{kind: dcqcn, preset: tester, reaction: true}");
    let Some(CongestionControl::Dcqcn(control)) = tester.reacting() else {
        panic!("{tester:?}");
    };
    assert_eq!(control.reaction, Preset::Nvidia.of_both().reaction);
    SMALL.refused(
        &[&format!(
            "{CONTROL}={{kind: dcqcn, preset: tester, gain: 3}}"
        )],
        "means nothing where senders do not react",
    );
}

/// A control that runs on the other transport is refused with what is lacking, in both forms.
#[test]
fn a_control_of_the_other_transport_is_refused() {
    for own in ["nscc", "{kind: nscc, target_delay: 3us}"] {
        SMALL.refused(
            &[&format!("{CONTROL}={own}")],
            "cannot be `nscc`: NICs with `transport: roce` have no reports of trimmed packets",
        );
    }
    SMALL.refused(
        &["endpoint.nic.transport={kind: ultra-ethernet, congestion_control: swift}"],
        "cannot be `swift`: NICs with `transport: ultra-ethernet` have no rates",
    );
    let own = format!("{CONTROL}=dctcp");
    let both = SMALL.good(&[&own, "endpoint.nic.acknowledge=per-packet"]);
    let control = both.plan.nic.reacting().map(CongestionControl::word);
    assert_eq!(control, Some("dctcp"));
}

/// A wrong key of the notification point hides nothing of the reaction point.
#[test]
fn both_points_are_read_in_one_round() {
    let refused = |keys: &str| {
        let control = format!("{CONTROL}={{kind: dcqcn, {keys}}}");
        let errors = SMALL.set(&[&control]).expect_err("it is wrong");
        errors.to_string()
    };
    for keys in ["gain: 5000", "window: scaled"] {
        let both = refused(&format!("cnp_dscp: 99, {keys}"));
        for part in ["cnp_dscp", keys.split(':').next().expect("it has a key")] {
            assert!(both.contains(part), "{part}: {both}");
        }
    }
    let preset = refused("preset: nvidai, gain: 5000");
    for part in ["did you mean `nvidia`?", "gain"] {
        assert!(preset.contains(part), "{part}: {preset}");
    }
    let still = refused("cnp_dscp: 99, reaction: false, gain: 3");
    for part in ["cnp_dscp", "means nothing where senders do not react"] {
        assert!(still.contains(part), "{part}: {still}");
    }
}

#[test]
fn notifications_have_a_class_of_their_own() {
    let loaded = good(&[&format!("{CONTROL}=dcqcn")]);
    let classes = &loaded.plan.switches.usual.classes;
    let numbers: Vec<u8> = classes.iter().map(|class| class.class).collect();
    assert_eq!(numbers, [3, 6]);
    assert!(classes[0].ecn.is_some() && classes[1].ecn.is_none());
}

#[test]
fn thresholds_may_follow_the_line() {
    let class = |keys: &str| {
        let ecn = format!("ecn: {{kmin: 400kB, kmax: 1600kB, pmax: 0.2{keys}}}");
        let classes = format!("fabric.switch.classes=[{{class: 3, {ecn}}}]");
        let plan = good(&["fabric.flow_control=none", &classes]).plan;
        plan.switches.usual.classes[0]
            .ecn
            .expect("it was given")
            .scale_from
    };
    assert_eq!(class(""), None);
    assert_eq!(class(", scale_from: 100Gbps"), Some(Rate::from_gbps(100)));
}

#[test]
fn where_nothing_is_marked_nothing_is_notified() {
    let unmarked = ["fabric.flow_control=pfc", &format!("{CONTROL}=dcqcn")];
    let loaded = SMALL.set(&unmarked).expect("it can be run");
    let text = loaded.warnings.render_as("warning");
    assert!(text.contains("has no effect"), "{text}");
}

#[test]
fn delays_control_rates_and_windows() {
    let slow = "fabric.rate=10Gbps";
    let timely = good(&[slow, &format!("{CONTROL}=timely")]).plan.nic;
    let usual = CongestionControl::Timely(Timely::default());
    assert_eq!(timely.congestion_control, Some(usual));
    let swift = [
        slow,
        &*format!("{CONTROL}=swift"),
        "endpoint.nic.acknowledge=per-packet",
    ];
    let swift = good(&swift).plan.nic.congestion_control;
    assert_eq!(swift, Some(CongestionControl::Swift(Swift::default())));
    let hpcc = |value: &str| {
        let control = format!("{CONTROL}={value}");
        let set = [&*control, "endpoint.nic.acknowledge=per-packet"];
        good(&set).plan.nic
    };
    let usual = Some(CongestionControl::Hpcc(Hpcc::default()));
    assert_eq!(hpcc("hpcc").congestion_control, usual);
    let short =
        hpcc("{kind: hpcc, base_round_trip: 8us, target: 0.9, additive_increase: 1kB, hops: 3}");
    let given = Hpcc {
        base_round_trip: Some(Time::from_us(8)),
        target: Share::from_ppm(900_000),
        additive_increase: Bytes::new(1000),
        hops: 3,
        ..Hpcc::default()
    };
    assert_eq!(
        short.congestion_control,
        Some(CongestionControl::Hpcc(given))
    );
    // 2 bytes and 8 for each hop.
    assert_eq!(short.telemetry_bytes(), 26);
    let keys = "{kind: timely, weight: 0.25, low: 5us, high: 60us, scale_from: none}";
    let Some(CongestionControl::Timely(timely)) = nic(keys).congestion_control else {
        panic!("{keys}");
    };
    assert_eq!((timely.weight.ppm(), timely.scale_from), (250_000, None));
}

#[test]
fn delays_of_another_line_are_warned_of_unless_they_are_written() {
    let warnings = |rate: &str, control: &str| {
        let set = [
            &*format!("fabric.rate={rate}"),
            &*format!("{CONTROL}={control}"),
            "endpoint.nic.acknowledge=per-packet",
            "endpoint.nic.mtu=4096",
        ];
        SMALL.good(&set).warnings.to_string()
    };
    for (rate, control, expected) in [
        ("10Gbps", "timely", ""),
        // 50 us and 500 us of 100 Gb/s.
        ("100Gbps", "timely", "625kB and 6.25MB"),
        ("100Gbps", "{kind: timely, low: 50us}", ""),
        ("100Gbps", "swift", ""),
        // 25 us of 400 Gb/s.
        ("400Gbps", "swift", "which are 1.25MB"),
        ("400Gbps", "{kind: swift, base_target: 20us}", ""),
        (
            "400Gbps",
            "{kind: swift, base_target: 20us, max_window: 200}",
            "200 packets of 4096 B, its `max_window`, are 800KiB of the 1MB",
        ),
        ("400Gbps", "hpcc", ""),
        // NVIDIA gives its steps for NICs of all lines, the paper for 40G.
        ("400Gbps", "dcqcn", ""),
        ("40Gbps", "{kind: dcqcn, preset: paper-2015}", ""),
        (
            "100Gbps",
            "{kind: dcqcn, preset: paper-2015}",
            "rise by 40Mbps a step",
        ),
        (
            "400Gbps",
            "{kind: dcqcn, preset: hpcc, scale_from: 100Gbps}",
            "",
        ),
    ] {
        let found = warnings(rate, control);
        assert_eq!(found.is_empty(), expected.is_empty(), "{control}: {found}");
        assert!(found.contains(expected), "{control} at {rate}: {found}");
    }
}

#[test]
fn dcqcn_may_have_a_window_beside_its_rate() {
    let with = |keys: &str| {
        let control = format!("{CONTROL}={{kind: dcqcn, {keys}}}");
        let set = [&*control, "endpoint.nic.acknowledge=per-packet"];
        match good(&set).plan.nic.congestion_control {
            Some(CongestionControl::Dcqcn(control)) => {
                (control.reaction.window, control.reaction.base_round_trip)
            }
            other => panic!("{other:?}"),
        }
    };
    let of = |window: Window| (window, Some(Time::from_us(9)));
    assert_eq!(with("gain: 4"), (Window::None, None));
    assert_eq!(with("window: none"), (Window::None, None));
    assert_eq!(
        with("window: scaled, base_round_trip: 9us"),
        of(Window::Scaled)
    );
    assert_eq!(
        with("window: fixed, base_round_trip: 9us"),
        of(Window::Fixed)
    );
    // A fixed window may be as long as it takes to the first acknowledgement of a message.
    SMALL.refused(
        &[&format!(
            "{CONTROL}={{kind: dcqcn, window: fixed, base_round_trip: 1us}}"
        )],
        "but the first acknowledgement comes after",
    );
    good(&[&format!(
        "{CONTROL}={{kind: dcqcn, window: fixed, base_round_trip: 1ms}}"
    )]);
    for (keys, expected) in [
        ("window: scaled", "lacks `base_round_trip`"),
        ("base_round_trip: 9us", "means nothing without `window`"),
        (
            "window: scaled, base_round_trip: 9us",
            "acknowledge: per-packet",
        ),
        (
            "cnp: in-acknowledgment",
            "did you mean `in-acknowledgement`?",
        ),
    ] {
        SMALL.refused(&[&format!("{CONTROL}={{kind: dcqcn, {keys}}}")], expected);
    }
}

#[test]
fn what_cannot_work_is_refused() {
    let control = |value: &str| format!("{CONTROL}={value}");
    for (value, expected) in [
        ("dcqn", "did you mean `dcqcn`?"),
        ("{preset: kai}", "lacks `kind`"),
        ("{kind: dcqcn, preset: nvida}", "did you mean `nvidia`?"),
        ("{kind: dcqcn, gain: 0}", "outside its range"),
        ("{kind: dcqcn, alpha_interval: 1ns}", "outside its range"),
        ("{kind: dcqcn, min_rate: 5}", "min_rate"),
        (
            "{kind: timely, low: 50us, high: 40us}",
            "is less than `low`",
        ),
        ("{kind: timely, beta: 1.5}", "cannot be"),
        ("swift", "acknowledge: per-packet"),
        ("hpcc", "acknowledge: per-packet"),
        ("{kind: hpcc, target: 0.001}", "too little"),
        ("{kind: hpcc, hops: 16}", "outside its range"),
        ("{kind: hpcc, additive_increase: 80}", "additive_increase"),
    ] {
        SMALL.refused(&[&control(value)], expected);
    }
}

#[test]
fn losses_are_recovered_in_three_ways() {
    let recovery = |value: &str| {
        let value = format!("endpoint.nic.loss_recovery={value}");
        good(&[&value]).plan.nic.loss_recovery
    };
    assert_eq!(recovery("go-back-n"), LossRecovery::GoBackN);
    assert_eq!(recovery("none"), LossRecovery::None);
    let usual = SelectiveRepeat::default();
    assert_eq!(
        recovery("selective-repeat"),
        LossRecovery::SelectiveRepeat(usual)
    );
    let given = SelectiveRepeat {
        window: 99,
        reorder: 3,
    };
    assert_eq!(
        recovery("{kind: selective-repeat, window: 99, reorder: 3}"),
        LossRecovery::SelectiveRepeat(given)
    );
    assert_eq!(good(&[]).plan.nic.loss_recovery, LossRecovery::GoBackN);
    let set = |value: &str| format!("endpoint.nic.loss_recovery={value}");
    SMALL.refused(&[&set("go-back")], "did you mean `go-back-n`?");
    SMALL.refused(
        &[&set("{kind: selective-repeat, window: 8}")],
        "is 8 packets, but the first acknowledgement comes after 32",
    );
}

#[test]
fn telemetry_needs_room_for_all_switches_of_the_longest_path() {
    const DRAGONFLY: Base = Base(
        "
fabric: {kind: dragonfly, groups: 5, routers_per_group: 2, hosts_per_router: 1, global_links_per_router: 2, flow_control: ecn}
endpoint: {nic: {acknowledge: per-packet, loss_recovery: {kind: selective-repeat, reorder: 64}}}
jobs: [{collectives: [{collective: all-to-all, size: 1MiB}]}]
",
    );
    let warnings = |balancing: &str, hops: u8| {
        let set = [
            &*format!("fabric.load_balancing={{kind: {balancing}}}"),
            &*format!("{CONTROL}={{kind: hpcc, hops: {hops}}}"),
        ];
        DRAGONFLY.good(&set).warnings.to_string()
    };
    for (balancing, hops, expected) in [
        ("ecmp", 4, None),
        (
            "ecmp",
            3,
            Some("pass up to 4 switches, and their telemetry header has room for 3"),
        ),
        ("valiant", 6, None),
        ("valiant", 5, Some("pass up to 6 switches on detours")),
        ("ugal", 5, Some("set `hops: 6`")),
    ] {
        let found = warnings(balancing, hops);
        assert_eq!(found.contains("telemetry"), expected.is_some(), "{found}");
        let expected = expected.unwrap_or_default();
        assert!(found.contains(expected), "{balancing}, {hops}: {found}");
    }
}

#[test]
fn ultra_ethernet_expects_switches_that_trim_or_mark() {
    let warnings = |classes: &str| {
        let set = [
            "endpoint.nic.transport=ultra-ethernet",
            "fabric.flow_control=none",
            "endpoint.nic.control_dscp=48",
            &*format!("fabric.switch.classes={classes}"),
        ];
        SMALL.good(&set).warnings.to_string()
    };
    let headers = "{class: 6, scheduling: strict, limit: 600kB}";
    let mark = "ecn: {kmin: 60kB, kmax: 240kB, pmax: 1, mark: dequeue}";
    for (data, expected) in [
        ("limit: 300kB", "neither trim nor mark"),
        ("limit: 300kB, trim: {to: 6}", ""),
        (&*format!("limit: 300kB, {mark}"), ""),
        // 20 MB at 400 Gb/s are 400 us.
        (
            "limit: 20MB, trim: {to: 6}",
            "holds 20MB, which takes 400us",
        ),
        (
            &*format!("limit: 20MB, trim: {{to: 6}}, {mark}"),
            "takes 400us",
        ),
    ] {
        let found = warnings(&format!("[{{class: 3, {data}}}, {headers}]"));
        assert_eq!(found.is_empty(), expected.is_empty(), "{data}: {found}");
        assert!(found.contains(expected), "{data}: {found}");
    }
}
