//! What scenarios say of buffers, classes, PFC and ECN, and what they must not.

mod base;

use tenter::resolve::{Format, Loaded, load};
use tenter_fabric::net::{
    EcnSpec, Headroom, Limit, LosslessSpec, MarkAt, PfcTrigger, PoolScope, Scheduling, SwitchSpec,
    UNLIMITED_POOL,
};
use tenter_fabric::topology::HostId;
use tenter_language::units::{Bytes, Rate, Time};

use base::Base;

const SMALL: Base = Base(
    "
fabric: {kind: single-switch, hosts: 4}
jobs: [{collectives: [{collective: all-to-all, size: 1MiB}]}]
",
);

/// Loads, without warnings.
fn good(overrides: &[&str]) -> Loaded {
    let loaded = SMALL.good(overrides);
    assert!(loaded.warnings.is_empty(), "{}", loaded.warnings);
    loaded
}

fn switch(overrides: &[&str]) -> SwitchSpec {
    good(overrides).plan.switches.usual
}

/// Asserts that the overrides are refused with one problem that says `expected`, where, and what to
/// do.
fn refused(overrides: &[&str], expected: &str) {
    let errors = SMALL.refused(overrides, expected);
    assert!(errors.problems()[0].span.is_some(), "{errors}");
}

fn warned(overrides: &[&str]) -> String {
    let loaded = SMALL
        .set(overrides)
        .unwrap_or_else(|errors| panic!("{overrides:?}\n{errors}"));
    loaded.warnings.render_as("warning")
}

fn dynamic(numerator: u32, denominator: u32) -> Limit {
    Limit::Dynamic {
        numerator,
        denominator,
    }
}

/// The headroom of the model behind a host link of 400G and 25 ns: with 20 ps a byte, 4,194 + 84
/// bytes on the reverse wire 85.56 ns, cable 25 ns, response 1,158.4 ns, flight 25 ns and half of
/// the pipeline's 600 ns.
const HOST_HEADROOM: u64 = stretch(85_560 + 25_000 + 1_158_400 + 325_000, 20);

/// Frame bytes of full frames that start within so many ps, at so many ps a byte.
const fn stretch(ps: u64, byte_ps: u64) -> u64 {
    (ps * 4_174).div_ceil(byte_ps * 4_194) + 4_174
}

#[test]
fn a_pool_that_pauses_senders_needs_a_limit_below_its_size() {
    let class = |limit: &str| {
        format!(
            "fabric.switch={{buffer: {{size: 1MiB}}, classes: [{{class: 0, {limit} lossless: {{headroom: 20kB, trigger: pool}}}}]}}"
        )
    };
    SMALL.refused(&[&class("alpha: 1000,")], "full before it pauses anybody");
    SMALL.refused(&[&class("limit: 2MiB,")], "full before it pauses anybody");
    let levels = class("levels: [{above: 100kB, limit: 50kB}],");
    SMALL.refused(&[&levels], "knows no account but the pool");
    SMALL.good(&[&class("limit: 500kB,")]);
    SMALL.good(&[&class("alpha: 1,")]);
    SMALL.good(&[&class("")]);
}

#[test]
fn levels_rise_and_what_they_leave_does_not() {
    let class = |keys: &str| {
        format!("fabric.switch={{buffer: {{size: 8MiB}}, classes: [{{class: 0, {keys}}}]}}")
    };
    let spec = switch(&[&class(
        "levels: [{above: 1MB, limit: 1MB}, {above: 4MB, limit: 0B}], lossless: true",
    )]);
    let Limit::Levels(levels) = spec.classes[0].limit else {
        panic!("{:?}", spec.classes[0].limit);
    };
    let limits = [0, 1_000_000, 1_000_001, 4_000_001].map(|used| levels.limit(used));
    assert_eq!(limits, [u64::MAX, u64::MAX, 1_000_000, 0]);
    // What one account comes to hold alone: it is the pool's fill, too.
    assert_eq!(levels.of_all(8 << 20), 1_000_000);
    let wrong = "cannot be told apart";
    SMALL.refused(&[&class("levels: []")], wrong);
    let falling = "levels: [{above: 2MB, limit: 1MB}, {above: 1MB, limit: 0B}]";
    SMALL.refused(&[&class(falling)], wrong);
    let growing = "levels: [{above: 1MB, limit: 1MB}, {above: 2MB, limit: 2MB}]";
    SMALL.refused(&[&class(growing)], wrong);
    let two = "alpha: 1, levels: [{above: 1MB, limit: 1MB}]";
    SMALL.refused(&[&class(two)], "exclude each other");
    let unshared = "fabric.switch={classes: [{class: 0, levels: [{above: 1MB, limit: 1MB}]}]}";
    SMALL.refused(&[unshared], "a buffer that is not shared");
}

#[test]
fn a_scope_goes_with_a_pool_that_pauses() {
    let class = |lossless: &str| {
        format!(
            "fabric.switch={{buffer: {{size: 8MiB}}, classes: [{{class: 0, lossless: {{{lossless}}}}}]}}"
        )
    };
    let trigger = |lossless: &str| {
        let spec = switch(&[&class(lossless)]);
        spec.classes[0]
            .lossless
            .as_ref()
            .map(|lossless| lossless.trigger)
    };
    assert_eq!(trigger("trigger: egress"), Some(PfcTrigger::Egress));
    let hosts = "trigger: pool, scope: hosts";
    assert_eq!(trigger(hosts), Some(PfcTrigger::Pool(PoolScope::Hosts)));
    SMALL.refused(&[&class("scope: hosts")], "says whom a pool pauses");
    SMALL.refused(
        &[&class("scope: hosts, trigger: egress")],
        "says whom a pool pauses",
    );
}

#[test]
fn a_switch_without_a_buffer_has_private_queues() {
    let spec = switch(&[]);
    assert_eq!(spec.pool_bytes, [UNLIMITED_POOL]);
    assert_eq!(spec.classes.len(), 1);
    assert_eq!(spec.classes[0].limit, Limit::Static(64 << 20));
    assert_eq!(spec.classes[0].lossless, None);
    assert!(!good(&[]).effective.contains("classes"));
    // Classes may differ all the same, each with queues of its own.
    let spec = switch(&[
        "fabric.switch={queue_capacity: 1MB, classes: [{class: 5, weight: 3}, {class: 3, limit: 2MB, lossless: true}]}",
    ]);
    assert_eq!((spec.classes[0].class, spec.classes[1].class), (3, 5));
    assert_eq!(spec.classes[0].limit, Limit::Static(2_000_000));
    assert_eq!(spec.classes[1].limit, Limit::Static(1_000_000));
    // Three times the largest frame.
    let quantum_bytes = 3 * 4174;
    assert_eq!(
        spec.classes[1].scheduling,
        Scheduling::Weighted { quantum_bytes }
    );
    assert_eq!(spec.classes[0].scheduling, Scheduling::Strict);
}

#[test]
fn one_pool_holds_what_is_left() {
    let spec = switch(&[
        "fabric.switch.buffer.size=1MB",
        "fabric.switch.classes=[{class: 0, reserved: 10kB}, {class: 3, alpha: 1/8, reserved: 5kB, lossless: {headroom: 120kB}}]",
    ]);
    // 4 ports, each 10 + 5 + 120 kB.
    assert_eq!(spec.pool_bytes, [1_000_000 - 4 * 135_000]);
    assert_eq!(spec.classes[0].limit, dynamic(1, 1));
    assert_eq!(spec.classes[1].limit, dynamic(1, 8));
    let loaded = good(&["fabric.switch.buffer.size=1MB"]);
    assert_eq!(loaded.plan.switches.usual.pool_bytes, [1_000_000]);
    assert!(
        loaded
            .effective
            .contains("pools:\n        - name: shared\n          size: 1MB"),
        "{}",
        loaded.effective
    );
}

#[test]
fn headroom_of_the_model_is_kept_at_each_port() {
    let class = "fabric.switch.classes=[{class: 0, lossless: true}]";
    let spec = switch(&["fabric.switch.buffer.size=1MB", class]);
    assert_eq!(spec.pool_bytes, [1_000_000 - 4 * HOST_HEADROOM]);
    // On faster wires frames of the 400G ports are stored whole: 4,194 · 20 ps more of flight.
    let spec = switch(&[
        "fabric={kind: leaf-spine, leaves: 2, hosts_per_leaf: 2, spines: 1, uplink_rate: 800Gbps, fabric_delay: 25ns}",
        "fabric.switch.buffer.size=2MB",
        class,
    ]);
    let host = stretch(85_560 + 25_000 + 1_158_400 + 325_000 + 83_880, 20);
    let uplink = stretch(42_780 + 25_000 + 579_200 + 625_000, 10);
    // The leaf has three ports, the spine two of them; the leaf needs more.
    assert_eq!(spec.pool_bytes, [2_000_000 - 2 * host - uplink]);
}

#[test]
fn pools_are_named() {
    let spec = switch(&[
        "fabric.switch.buffer={size: 1MB, pools: [{name: a, size: 300kB}, {name: b, size: 200kB}]}",
        "fabric.switch.classes=[{class: 1, pool: b}, {class: 4}, {class: 7, pool: a, limit: 50kB}]",
    ]);
    assert_eq!(spec.pool_bytes, [300_000, 200_000]);
    let pools: Vec<u8> = spec.classes.iter().map(|class| class.pool).collect();
    assert_eq!(pools, [1, 0, 0]);
}

#[test]
fn flow_control_is_a_short_form() {
    let lossless = LosslessSpec {
        trigger: PfcTrigger::Ingress,
        xon_offset_bytes: 3 << 10,
        headroom: Headroom::Model,
        quanta: 65_535,
        refresh_percent: 50,
    };
    let ecn = EcnSpec {
        min_bytes: 800_000,
        max_bytes: 3_200_000,
        max_probability_ppm: 200_000,
        scale_from: Some("400Gbps".parse().expect("a rate")),
        mark_at: MarkAt::Enqueue,
        at_hosts: true,
    };
    let pfc = switch(&["fabric.flow_control=pfc"]);
    // DSCP 26 is class 3; 4 KiB reserved and the headroom at each of four ports.
    assert_eq!(pfc.classes.len(), 1);
    assert_eq!((pfc.classes[0].class, pfc.classes[0].ecn), (3, None));
    assert_eq!(pfc.classes[0].limit, dynamic(1, 8));
    assert_eq!(pfc.classes[0].lossless, Some(lossless.clone()));
    assert_eq!(pfc.pool_bytes, [(32 << 20) - 4 * (4096 + HOST_HEADROOM)]);
    let marked = switch(&["fabric.flow_control=ecn"]);
    assert_eq!(marked.classes[0].lossless, None);
    assert_eq!(marked.classes[0].ecn, Some(ecn));
    assert_eq!(marked.pool_bytes, [32 << 20]);
    // Control packets in a class of their own, and two classes of data.
    let both = switch(&[
        "fabric.flow_control=pfc+ecn",
        "endpoint.nic.control_dscp=48",
        "endpoint.addresses.overrides=[{host: 2, dscp: 8}]",
    ]);
    let said: Vec<_> = both
        .classes
        .iter()
        .map(|class| (class.class, class.lossless.clone(), class.ecn, class.limit))
        .collect();
    let data = (Some(lossless), Some(ecn), dynamic(1, 8));
    assert_eq!(
        said,
        [
            (1, data.0.clone(), data.1, data.2),
            (3, data.0, data.1, data.2),
            (6, None, None, dynamic(1, 1)),
        ]
    );
}

#[test]
fn a_profile_fills_what_is_left_out() {
    let spec = switch(&["fabric.switch.profile=tomahawk5", "fabric.flow_control=pfc"]);
    let class = &spec.classes[0];
    assert_eq!((class.reserved_bytes, class.limit), (18_796, dynamic(1, 1)));
    let lossless = class.lossless.as_ref().expect("PFC");
    assert_eq!(lossless.headroom, Headroom::Bytes(612_140));
    assert_eq!(lossless.xon_offset_bytes, 3_556);
    assert_eq!(spec.pool_bytes, [173_268_640 - 4 * (18_796 + 612_140)]);
    assert_eq!(spec.ingress_latency, Time::from_ns(350));
    // What the scenario says wins, key by key.
    let spec = switch(&[
        "fabric.switch={profile: tomahawk5, pipeline_latency: 1us, buffer: {size: 64MiB}}",
        "fabric.switch.classes=[{class: 3, limit: 1MB, lossless: {headroom: sonic}}, {class: 0}]",
    ]);
    assert_eq!(spec.ingress_latency, Time::from_ns(500));
    let [lossy, lossless] = &spec.classes[..] else {
        panic!("{spec:?}")
    };
    assert_eq!((lossy.reserved_bytes, lossy.limit), (1_778, dynamic(1, 1)));
    assert_eq!(lossless.limit, Limit::Static(1_000_000));
    assert_eq!(lossless.reserved_bytes, 18_796);
    let own = lossless.lossless.as_ref().expect("PFC");
    assert_eq!(
        (own.headroom, own.xon_offset_bytes),
        (Headroom::Sonic, 3_556)
    );
    // 4,174 + 3 · (9,216 + 2,500 + 819 + 57,920).
    let sonic = 4_174 + 3 * 70_455;
    assert_eq!(spec.pool_bytes, [(64 << 20) - 4 * (1_778 + 18_796 + sonic)]);
    // A profile alone is lossy.
    let spec = switch(&["fabric.switch.profile=generic-32mb"]);
    assert_eq!((spec.classes.len(), spec.classes[0].class), (1, 0));
    assert_eq!(spec.pool_bytes, [32 << 20]);
    // And with private queues only its latency is left.
    let spec = switch(&["fabric.switch={profile: tomahawk5, queue_capacity: 5MB}"]);
    assert_eq!(spec.pool_bytes, [UNLIMITED_POOL]);
    assert_eq!(spec.classes[0].limit, Limit::Static(5_000_000));
    let spec = switch(&[
        "fabric.switch={profile: tomahawk5, queue_capacity: 5MB}",
        "fabric.flow_control=pfc",
    ]);
    assert_eq!(spec.classes[0].limit, Limit::Static(5_000_000));
    assert!(spec.classes[0].lossless.is_some());
}

#[test]
fn every_profile_works_with_every_flow_control() {
    for profile in ["tomahawk5", "tomahawk5-sonic", "tofino2", "generic-32mb"] {
        for flow_control in ["none", "pfc", "ecn", "pfc+ecn"] {
            let spec = switch(&[
                &format!("fabric.switch.profile={profile}"),
                &format!("fabric.flow_control={flow_control}"),
            ]);
            let class = &spec.classes[0];
            let has = |part: &str| flow_control.contains(part);
            assert_eq!(class.lossless.is_some(), has("pfc"), "{profile}");
            assert_eq!(class.ecn.is_some(), has("ecn"), "{profile}");
        }
    }
    let pools = switch(&["fabric.switch.profile=tofino2"]).pool_bytes;
    assert_eq!(pools, [7_600_000, 6_400_000]);
}

#[test]
fn trimming_is_one_word() {
    let set = [
        "fabric.flow_control=trim",
        "endpoint.nic.transport=ultra-ethernet",
    ];
    let loaded = good(&set);
    let spec = &loaded.plan.switches.usual;
    let [data, trimmed] = &spec.classes[..] else {
        panic!("{spec:?}")
    };
    assert_eq!((data.class, trimmed.class), (3, 6));
    // Acknowledgements and grants do not wait, and are not dropped, behind data.
    assert_eq!(loaded.plan.nic.control_class(), Some(6));
    assert!(loaded.effective.contains("control_dscp: 48"));
    let own = [&set[..], &["endpoint.nic.control_dscp=26"]].concat();
    let own = SMALL.set(&own).expect("a class of one's own is kept");
    assert_eq!(own.plan.nic.control_class(), Some(3));
    let warnings = own.warnings.render_as("warning");
    assert!(warnings.contains("share class 3 with data that is trimmed"));
    let limit = |bytes, least| Limit::AtRate {
        bytes,
        rate: Rate::from_gbps(400),
        least,
    };
    assert_eq!(
        (data.limit, trimmed.limit),
        (limit(416_000, 150_000), limit(832_000, 300_000))
    );
    let ecn = data.ecn.expect("it is marked");
    assert_eq!((ecn.min_bytes, ecn.max_bytes), (104_000, 312_000));
    assert!(data.trim.is_some() && data.lossless.is_none());
    refused(
        &["fabric.switch.classes=[{class: 3, limit: 40kB, limit_floor: 10kB}]"],
        "`limit_scale_from` is missing",
    );
    // RoCE has nothing to do with packets without payload.
    let problems = SMALL.set(&["fabric.flow_control=trim"]);
    assert!(problems.is_err(), "RoCE does not take trimmed frames");
}

#[test]
fn marking_is_a_preset_or_three_numbers() {
    let ecn = |value: &str| {
        let class = format!("fabric.switch.classes=[{{class: 0, ecn: {value}}}]");
        let ecn = switch(&[&class]).classes[0].ecn;
        ecn.map(|ecn| (ecn.min_bytes, ecn.max_bytes, ecn.max_probability_ppm))
    };
    assert_eq!(ecn("none"), None);
    assert_eq!(ecn("sonic"), Some((1 << 20, 2 << 20, 50_000)));
    assert_eq!(ecn("hpcc-100g"), Some((400_000, 1_600_000, 200_000)));
    let rate = |value: &str| {
        let class = format!("fabric.switch.classes=[{{class: 0, ecn: {value}}}]");
        switch(&[&class]).classes[0]
            .ecn
            .and_then(|ecn| ecn.scale_from)
    };
    assert_eq!(rate("hpcc-100g"), Some(Rate::from_gbps(100)));
    assert_eq!(rate("astra-400g"), Some(Rate::from_gbps(400)));
    assert_eq!(
        (rate("sonic"), rate("{kmin: 1kB, kmax: 2kB, pmax: 1}")),
        (None, None)
    );
    for (pmax, ppm) in [
        ("1", 1_000_000),
        ("0", 0),
        ("0.000001", 1),
        ("0.25", 250_000),
    ] {
        let value = format!("{{kmin: 10kB, kmax: 20kB, pmax: {pmax}}}");
        assert_eq!(ecn(&value), Some((10_000, 20_000, ppm)));
    }
    let refuse = |value: &str, expected: &str| {
        let class = format!("fabric.switch.classes=[{{class: 0, ecn: {value}}}]");
        refused(&[&class], expected);
    };
    refuse("sonik", "did you mean `sonic`?");
    for pmax in ["1.1", "20%", "-0.1", "0.1234567", ".5", "99999999999"] {
        let value = format!("{{kmin: 1kB, kmax: 2kB, pmax: {pmax}}}");
        refuse(&value, "write a decimal from 0 to 1");
    }
    refuse("{kmin: 2kB, kmax: 1kB, pmax: 0.2}", "is less than `kmin`");
}

#[test]
fn buffers_that_do_not_fit_are_refused_with_the_sum() {
    refused(
        &[
            "fabric.switch.buffer.size=300kB",
            "fabric.switch.classes=[{class: 0, reserved: 1kB, lossless: true}]",
        ],
        &format!(
            "but `leaf0` with 4 ports needs reserved 4000 + headroom {}, and leaves no frame",
            4 * HOST_HEADROOM
        ),
    );
    refused(
        &[
            "fabric.switch.buffer={size: 1MB, pools: [{name: a, size: 900kB}, {name: b, size: 200kB}]}",
        ],
        "reserved 0 + headroom 0 + pools 1100000",
    );
    refused(
        &["fabric={kind: single-switch, hosts: 400, flow_control: pfc}"],
        "`fabric.switch.buffer` holds 33554432 bytes",
    );
}

#[test]
fn thresholds_are_at_least_a_frame() {
    let shared = "fabric.switch.buffer.size=1MB";
    let class = |keys: &str| format!("fabric.switch.classes=[{{class: 0, {keys}}}]");
    refused(&[shared, &class("limit: 4173B")], "nothing could ever wait");
    refused(&[&class("limit: 4173B")], "nothing could ever wait");
    good(&[&class("limit: 4174B")]);
    good(&[shared, &class("limit: 4kB, reserved: 174B")]);
    // 1 MB / 1000.
    refused(
        &[shared, &class("alpha: 1/1000")],
        "`fabric.switch.classes[0].alpha` gives an account 1000 bytes at most",
    );
    refused(
        &[&class("limit: 1kB, lossless: true")],
        "every frame that waits would pause its sender",
    );
}

#[test]
fn pauses_must_last_and_headroom_should_do() {
    let class = |keys: &str| format!("fabric.switch.classes=[{{class: 0, lossless: {{{keys}}}}}]");
    // 4,194 + 84 bytes are 66.8 quanta, which must fit into the half that is left.
    good(&[&class("quanta: 134")]);
    refused(&[&class("quanta: 133")], "give at least 134");
    refused(&[&class("quanta: 134, refresh: 60")], "give at least 168");
    // Two pause frames of 84 bytes, 2.625 quanta, for each lossless class.
    good(&[&class("quanta: 263, refresh: 1")]);
    refused(&[&class("quanta: 262, refresh: 1")], "give at least 263");
    let both = "[{class: 0, lossless: {quanta: 525, refresh: 1}}, {class: 1, lossless: true}]";
    good(&[&format!("fabric.switch.classes={both}")]);
    let both = both.replace("525", "524");
    refused(
        &[&format!("fabric.switch.classes={both}")],
        "give at least 525",
    );
    let needed = HOST_HEADROOM;
    assert_eq!(warned(&[&class(&format!("headroom: {needed}B"))]), "");
    let said = warned(&[&class(&format!("headroom: {}B", needed - 1))]);
    assert!(
        said.contains(&format!("up to {needed} can arrive at leaf0:0 after XOFF")),
        "{said}"
    );
}

#[test]
fn what_excludes_each_other_is_refused() {
    refused(
        &[
            "fabric.flow_control=pfc",
            "fabric.switch.classes=[{class: 3}]",
        ],
        "`fabric.switch.classes` and `fabric.flow_control` exclude each other",
    );
    refused(
        &["fabric.switch={buffer: {size: 1MB}, queue_capacity: 1MB}"],
        "has no meaning with a shared buffer",
    );
    let class = |keys: &str| format!("fabric.switch.classes=[{{class: 0, {keys}}}]");
    let shared = "fabric.switch.buffer.size=1MB";
    refused(
        &[shared, &class("alpha: 1, limit: 1MB")],
        "exclude each other",
    );
    refused(
        &[&class("scheduling: strict, weight: 2")],
        "exclude each other",
    );
    refused(&[&class("alpha: 1")], "a buffer that is not shared");
    refused(&[&class("pool: a")], "a buffer that is not shared");
    refused(&[&class("reserved: 1kB")], "a buffer that is not shared");
}

#[test]
fn words_and_numbers_have_their_limits() {
    let class = |keys: &str| format!("fabric.switch.classes=[{{class: 0, {keys}}}]");
    let shared = "fabric.switch.buffer.size=1MB";
    refused(&["fabric.flow_control=pcf"], "did you mean `pfc`?");
    refused(
        &["fabric.switch.profile=tomahawk4"],
        "did you mean `tomahawk5`?",
    );
    refused(&["fabric.switch.classes=[]"], "is empty");
    refused(&["fabric.switch.classes=[{class: 8}]"], "outside its range");
    refused(
        &["fabric.switch.classes=[{class: 1}, {class: 1}]"],
        "lists class 1 again",
    );
    refused(&[&class("weight: 0")], "outside its range");
    refused(&[&class("scheduling: wrr")], "choose from strict");
    refused(&[shared, &class("pool: shard")], "did you mean `shared`?");
    for alpha in ["0", "1/0", "-1", "0.5", "1/2/3", "half", "99999999999"] {
        refused(&[shared, &class(&format!("alpha: {alpha}"))], "fraction");
    }
    refused(&[&class("lossless: yes")], "choose from true, false");
    for (keys, expected) in [
        ("trigger: egres", "egress"),
        ("headroom: sonik", "headroom"),
        ("quanta: 65536", "outside its range"),
        ("refresh: 100", "outside its range"),
        ("xof: 1B", "unknown key `xof`"),
    ] {
        refused(&[&class(&format!("lossless: {{{keys}}}"))], expected);
    }
    refused(
        &["fabric.switch.buffer={size: 1MB, pools: [{name: a, size: 1kB}, {name: a, size: 1kB}]}"],
        "as another pool is",
    );
    refused(&["fabric.switch.buffer={}"], "lacks `size`");
}

#[test]
fn a_nic_may_be_slow_to_take_what_arrives() {
    let nic = good(&["endpoint.nic.receive_buffer={drain_rate: 250Gbps, capacity: 1MB}"])
        .plan
        .nic;
    let buffer = nic.receive_buffer.expect("it was given");
    assert_eq!(buffer.drain_rate, Some(Rate::from_gbps(250)));
    assert_eq!(buffer.capacity, Bytes::new(1_000_000));
    assert_eq!(
        (buffer.xoff, buffer.xon),
        (Some(Bytes::new(500_000)), Bytes::new(250_000))
    );
    assert_eq!(buffer.quanta, 65_535);
    let nic = good(&["endpoint.nic.receive_buffer={drain_rate: 1Gbps, xoff: none}"])
        .plan
        .nic;
    let buffer = nic.receive_buffer.expect("it was given");
    assert_eq!((buffer.capacity, buffer.xoff), (Bytes::new(2 << 20), None));
    let given = |keys: &str| format!("endpoint.nic.receive_buffer={{drain_rate: 1Gbps, {keys}}}");
    refused(&[&given("capacity: 4173B")], "outside its range");
    refused(&[&given("xoff: 3MiB")], "outside its range");
    refused(&[&given("xoff: 1MiB, xon: 2MiB")], "outside its range");
    refused(&[&given("xoff: none, xon: 1B")], "never paused");
    refused(
        &["endpoint.nic.receive_buffer.capacity=1MB"],
        "lacks `drain_rate`",
    );
    // A full frame and a pause frame, 66.8 quanta, must fit into the half that is left.
    let paused = |quanta: &str| given(quanta).replace("1Gbps", "1Gbps, xoff: 100kB");
    let lossless = "fabric.switch.classes=[{class: 0, lossless: true}]";
    good(&[lossless, &paused("quanta: 134")]);
    refused(&[lossless, &paused("quanta: 133")], "give at least 134");
    good(&[&paused("quanta: 1")]);
    // A switch's headroom behind this wire, without the ingress half and with the frame whole.
    let need = stretch(85_560 + 25_000 + 1_158_400 + 325_000 + 83_880, 20);
    let above = |room: u64| given(&format!("xoff: 100kB, capacity: {}B", 100_000 + room));
    assert_eq!(warned(&[&above(need)]), "");
    assert!(warned(&[&above(need - 1)]).contains(&format!("up to {need} can arrive")));
}

#[test]
fn the_class_of_control_packets_is_that_of_their_dscp() {
    let class = |value: &str| good(&[value]).plan.nic.control_class();
    assert_eq!(class("endpoint.nic.control_dscp=48"), Some(6));
    assert_eq!(class("endpoint.nic.control_dscp=none"), None);
    refused(&["endpoint.nic.control_dscp=64"], "outside its range");
    assert_eq!(good(&[]).plan.addresses[HostId::new(0)].class(), 3);
}

#[test]
fn a_gap_that_is_shorter_than_paths_differ_is_warned_of() {
    // Two cables between the switches, one of them 9 us longer.
    let text = |gap: &str, nic: &str| {
        format!(
            "
fabric:
  kind: explicit
  nodes: [{{name: a}}, {{name: b}}, {{name: x, kind: switch, tier: 0}}, {{name: y, kind: switch, tier: 0}}]
  links:
    - {{a: a, b: x, rate: 400Gbps}}
    - {{a: b, b: y, rate: 400Gbps}}
    - {{a: x, b: y, rate: 400Gbps, delay: 10us}}
    - {{a: x, b: y, rate: 400Gbps, delay: 1us}}
  load_balancing: {{kind: flowlet, gap: {gap}}}
endpoint: {{nic: {nic}}}
jobs: [{{collectives: [{{collective: send-recv, size: 1MiB}}]}}]
"
        )
    };
    let warnings = |gap: &str, nic: &str| {
        let loaded = load(&text(gap, nic), "x.yaml", Format::Yaml, &[], None);
        let loaded = loaded.unwrap_or_else(|problems| panic!("{}", problems.render()));
        loaded.warnings.render_as("warning")
    };
    let warned = warnings("8us", "{}");
    for part in [
        "`gap` of `fabric.load_balancing` is 8us",
        "differ by 9us",
        "make `gap` longer",
    ] {
        assert!(warned.contains(part), "{part}\n{warned}");
    }
    assert_eq!(warnings("9us", "{}"), "");
    let patient = "{loss_recovery: {kind: selective-repeat, reorder: 64}}";
    assert_eq!(warnings("8us", patient), "");
}

#[test]
fn shared_headroom_is_compared_with_what_each_part_may_need() {
    let warnings = |shared: &str, parts: u32| {
        let text = format!(
            "fabric: {{kind: leaf-spine, leaves: 5, hosts_per_leaf: 4, spines: 4, host_rate: 400Gbps, uplink_rate: 400Gbps, fabric_delay: 5us, switch: {{buffer: {{size: 16MB, headroom_pool: {shared}, partitions: {parts}}}, classes: [{{class: 0, lossless: true}}]}}}}\njobs: [{{collectives: [{{collective: incast, size: 1MiB}}]}}]\n"
        );
        let loaded = load(&text, "x.yaml", Format::Yaml, &[], None);
        let loaded = loaded.unwrap_or_else(|problems| panic!("{}", problems.render()));
        loaded.warnings.render_as("warning")
    };
    // Five ports of a spine need more together than the eight of a leaf, four of which are short.
    let warned = warnings("2967739B", 1);
    assert!(
        warned.contains("of `spine0` may need 2967740 together"),
        "{warned}"
    );
    assert_eq!(warnings("2967740B", 1), "");
    // The last three ports of a spine are in one part.
    let warned = warnings("2967740B", 2);
    for part in ["1483870 in each of 2 parts", "of part 1 of `", "may need"] {
        assert!(warned.contains(part), "{part}\n{warned}");
    }
    assert_eq!(warnings("8MB", 2), "");
    let unused = warnings("8MB", 6);
    assert!(
        unused.contains("is 6, and `spine0` has 5 ports"),
        "{unused}"
    );
}
