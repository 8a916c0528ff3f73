//! What scenarios say of load balancers, and what they must not.

mod base;

use tenter_fabric::net::load_balancing::{LoadBalancing, Moves, Notify, QueueAwareSpray};
use tenter_language::units::Time;

use base::Base;

const SMALL: Base = Base(
    "
fabric: {kind: leaf-spine, leaves: 2, hosts_per_leaf: 2, spines: 2}
jobs: [{collectives: [{collective: all-to-all, size: 1MiB}]}]
",
);
const PATIENT: &str = "endpoint.nic.loss_recovery={kind: selective-repeat, reorder: 64}";

/// The load balancer, whose effective form says the same.
fn good(overrides: &[&str]) -> LoadBalancing {
    let loaded = SMALL.good(overrides);
    assert!(loaded.warnings.is_empty(), "{}", loaded.warnings);
    loaded.plan.switches.usual.load_balancing
}

fn refused(overrides: &[&str], expected: &[&str]) {
    for part in expected {
        SMALL.refused(overrides, part);
    }
}

#[test]
fn telemetry_moves_at_once_or_at_a_gap() {
    let kind = "fabric.load_balancing.kind=telemetry";
    let LoadBalancing::Telemetry(spec) = good(&[kind, PATIENT]) else {
        panic!("it is telemetry");
    };
    assert_eq!(
        (spec.threshold.count(), spec.growth.count()),
        (128 << 10, 16 << 10)
    );
    assert_eq!(
        (spec.response, spec.moves),
        (Time::from_us(5), Moves::AtOnce)
    );
    // A NIC that needs order is refused, and told of both ways out.
    refused(
        &[kind],
        &["overtake each other", "selective-repeat", "move: at-gap"],
    );
    let moves = "fabric.load_balancing.move=at-gap";
    let LoadBalancing::Telemetry(spec) = good(&[kind, moves]) else {
        panic!("it is telemetry");
    };
    assert_eq!((spec.moves, spec.gap), (Moves::AtGap, Time::from_us(256)));
    // Zero levels would let flows change places with their equals for ever.
    let delta = "fabric.load_balancing.delta=0";
    refused(&[kind, PATIENT, delta], &["fabric.load_balancing.delta"]);
}

#[test]
fn telemetry_tells_leaves_or_hosts() {
    let kind = "fabric.load_balancing={kind: telemetry, notify: host}";
    let plan = SMALL.good(&[kind, PATIENT]).plan;
    let LoadBalancing::Telemetry(spec) = &plan.switches.usual.load_balancing else {
        panic!("it is telemetry");
    };
    assert_eq!(spec.notify, Notify::Host);
    let notices = plan.switches.usual.classes.last().map(|class| class.class);
    assert_eq!(notices, Some(7));
    let reroute = plan.port_changes.reroute.expect("NICs obey");
    assert_eq!(reroute.response, Time::from_us(5));
    assert_eq!((reroute.differences.len(), reroute.differences[0]), (64, 0));
    refused(&[kind], &["overtake each other", "notify: leaf"]);
    let with = |set: &str, expected: &str| refused(&[kind, PATIENT, set], &[expected]);
    with("fabric.load_balancing.move=at-gap", "cannot be `at-gap`");
    with(
        "fabric.load_balancing.buckets=64",
        "has no effect with `notify: host`",
    );
    with("endpoint.nic.entropy={}", "has no flow to move");
    with("fabric.source_flow_control.mode=nic", "exclude each other");
    with("jobs[0].class=7", "class 7, which is in use");
}

#[test]
fn queue_aware_spray_has_the_numbers_of_drill() {
    let kind = "fabric.load_balancing.kind=queue-aware-spray";
    let drill = QueueAwareSpray {
        samples: 2,
        remember: true,
    };
    let spec = good(&[kind, PATIENT]);
    assert_eq!(spec, LoadBalancing::QueueAwareSpray(drill));
    refused(&[kind], &["overtake each other", "selective-repeat"]);
    let samples = "fabric.load_balancing.samples=0";
    refused(
        &[kind, PATIENT, samples],
        &["fabric.load_balancing.samples"],
    );
}

#[test]
fn source_ports_that_change_need_nics_that_take_any_order() {
    let few = "endpoint.nic.entropy={values: 4}";
    refused(
        &[few],
        &[
            "`endpoint.nic.entropy` lets packets of a queue pair overtake each other",
            "in_order_nics: allow",
        ],
    );
    let plan = SMALL.good(&[few, PATIENT]).plan;
    let entropy = plan.port_changes.entropy.expect("it was asked for");
    let hashes: Vec<u32> = entropy.hashes(0).collect();
    assert_eq!((hashes.len(), hashes[0]), (4, 0));
    let allowed = "endpoint.nic.entropy={values: 4, in_order_nics: allow}";
    assert!(SMALL.good(&[allowed]).plan.port_changes.entropy.is_some());
    assert!(
        SMALL
            .good(&["endpoint.nic.entropy=none"])
            .plan
            .nic
            .entropy
            .is_none()
    );
    SMALL.refused(
        &["endpoint.nic.entropy={values: 1}", PATIENT],
        "outside its range",
    );
    // Switches that do not look at the port keep the order.
    let blind = "fabric.load_balancing.fields=[source_address]";
    assert!(
        SMALL
            .good(&[few, blind])
            .plan
            .port_changes
            .entropy
            .is_some()
    );
    let of_one = "impairments=[{link: all, rules: [{from: host0, every: 9}]}]";
    SMALL.refused(&[few, PATIENT, of_one], "exclude each other");
}

#[test]
fn choices_that_learn_need_an_answer_to_each_packet() {
    let each = "endpoint.nic.acknowledge=per-packet";
    let marks = "fabric.flow_control=ecn";
    for kind in ["bitmap", "reps", "mixed"] {
        let chosen = &*format!("endpoint.nic.entropy={{kind: {kind}}}");
        SMALL.refused(
            &[chosen, PATIENT, marks],
            "goes by the answer to each of them",
        );
        let good = SMALL.good(&[chosen, PATIENT, marks, each]);
        let entropy = good.plan.port_changes.entropy.expect("it was asked for");
        assert_eq!(entropy.kind().word(), kind);
        let warnings = good.warnings.to_string();
        assert!(!warnings.contains("entropy"), "{warnings}");
        // Without marks only losses tell of paths, and without a choice nothing does.
        let warned = |more: &str| {
            SMALL
                .good(&[chosen, PATIENT, each, more])
                .warnings
                .to_string()
        };
        let none = warned("fabric.flow_control=none");
        assert!(none.contains("no switch marks packets"), "{none}");
        let blind = warned("fabric.load_balancing.fields=[source_address]");
        assert!(blind.contains("senders learn for nothing"), "{blind}");
        // Messages of one packet are answered one by one.
        let short = "endpoint.nic.message_size=4KiB";
        SMALL.good(&[chosen, PATIENT, marks, short]);
    }
    for kind in ["random", "oblivious"] {
        let chosen = &*format!("endpoint.nic.entropy={{kind: {kind}}}");
        let warnings = SMALL.good(&[chosen, PATIENT]).warnings.to_string();
        assert!(!warnings.contains("entropy"), "{warnings}");
    }
}

#[test]
fn ports_that_are_chosen_for_each_packet_are_a_power_of_two_without_runs() {
    let odd = "endpoint.nic.entropy={kind: oblivious, values: 48}";
    SMALL.refused(
        &[odd, PATIENT],
        "`endpoint.nic.entropy.values` is no power of two",
    );
    let runs = "endpoint.nic.entropy={kind: oblivious, packets: 32}";
    SMALL.refused(&[runs, PATIENT], "a port is chosen for each packet");
    let any = "endpoint.nic.entropy={kind: random, values: 48, packets: 32}";
    SMALL.good(&[any, PATIENT]);
}

#[test]
fn hosts_of_pxn_that_are_no_domain_are_warned_of() {
    let pxn = "jobs=[{collectives: [{collective: all-to-all, algorithm: pxn, npus_per_host: 2, size: 1MiB}]}]";
    let warned = SMALL.good(&[pxn]).warnings.to_string();
    assert!(warned.contains("not in one scale-up domain"), "{warned}");
    let domain = "endpoint.host.scale_up={npus_per_host: 2}";
    let fits = SMALL.good(&[pxn, domain]);
    assert!(fits.warnings.is_empty(), "{}", fits.warnings);
}

/// A dragonfly of so many groups, whose warnings are of interest.
fn warned(groups: u32, balancing: &str, classes: &str) -> String {
    let text = format!(
        "
fabric: {{kind: dragonfly, groups: {groups}, routers_per_group: 2, hosts_per_router: 1, global_links_per_router: 2, load_balancing: {{kind: {balancing}}}, switch: {{classes: [{classes}]}}}}
endpoint: {{nic: {{loss_recovery: {{kind: selective-repeat, reorder: 1000}}}}}}
jobs: [{{collectives: [{{collective: all-to-all, size: 1MiB}}]}}]
"
    );
    let loaded = tenter::resolve::load(&text, "x.yaml", tenter::resolve::Format::Yaml, &[], None);
    let loaded = loaded.unwrap_or_else(|errors| panic!("{errors}"));
    loaded.warnings.render()
}

#[test]
fn chains_of_lossless_classes_are_as_long_as_paths() {
    let lossless = |class: u8, next: Option<u8>| {
        let next = next.map_or_else(String::new, |next| format!(", next_region: {next}"));
        format!("{{class: {class}, lossless: true, limit: 100kB{next}}}")
    };
    let one = lossless(3, None);
    let two = format!("{}, {}", lossless(3, Some(4)), lossless(4, None));
    let three = format!("{}, {two}", lossless(2, Some(3)));
    let apart = format!("{}, {two}", lossless(2, None));
    let lossy = format!("{}, {{class: 4}}", lossless(3, Some(4)));
    let cycle = "may end in a PFC deadlock";
    for (groups, balancing, classes, expected) in [
        (5, "ecmp", &one, Some(cycle)),
        (5, "ecmp", &two, None),
        (5, "ugal", &two, Some(cycle)),
        (5, "valiant", &three, None),
        (5, "ecmp", &apart, Some("lossless class 2 on paths")),
        (5, "ecmp", &lossy, Some("become class 4 in another region")),
        // Detours need a third group.
        (2, "ugal", &two, None),
        (1, "ecmp", &one, None),
    ] {
        let warnings = warned(groups, balancing, classes);
        if let Some(expected) = expected {
            assert!(warnings.contains(expected), "{warnings}");
        } else {
            let told = warnings.contains(cycle) || warnings.contains("in another region");
            assert!(!told, "{groups} {balancing}: {warnings}");
        }
    }
}

#[test]
fn grids_say_how_many_classes_are_enough() {
    let lossless = |classes: u8| {
        let class = |class: u8| {
            let next = (class < 2 + classes).then(|| format!(", next_region: {}", class + 1));
            let next = next.unwrap_or_default();
            format!("{{class: {class}, lossless: true, limit: 100kB{next}}}")
        };
        let classes: Vec<String> = (3..3 + classes).map(class).collect();
        classes.join(", ")
    };
    let warnings = |fabric: &str, balancing: &str, classes: u8| {
        let text = format!(
            "
fabric: {{{fabric}, load_balancing: {{kind: {balancing}}}, switch: {{classes: [{}]}}}}
endpoint: {{nic: {{loss_recovery: {{kind: selective-repeat, reorder: 1000}}}}}}
jobs: [{{collectives: [{{collective: all-to-all, size: 1MiB}}]}}]
",
            lossless(classes)
        );
        let loaded =
            tenter::resolve::load(&text, "x.yaml", tenter::resolve::Format::Yaml, &[], None);
        let loaded = loaded.unwrap_or_else(|errors| panic!("{errors}"));
        loaded.warnings.render()
    };
    let hyperx = "kind: hyperx, sizes: [3, 3], hosts_per_switch: 1";
    let ordered = "kind: hyperx, sizes: [3, 3], hosts_per_switch: 1, paths: dimension-order";
    let torus = "kind: torus, sizes: [4, 4]";
    let any = "kind: torus, sizes: [4, 4], paths: all";
    let plus = "kind: dragonfly-plus, groups: 3, leaves_per_group: 2, spines_per_group: 2, hosts_per_leaf: 1, global_links_per_spine: 1";
    let slim = "kind: slim-fly, q: 3, hosts_per_router: 1";
    let needs = |classes: u8| format!("its packets need {classes} classes one after the other");
    for (fabric, balancing, enough) in [
        (hyperx, "ecmp", 3),
        (hyperx, "ugal", 5),
        (ordered, "valiant", 5),
        (torus, "ecmp", 3),
        (plus, "valiant", 3),
        (slim, "ecmp", 3),
        (slim, "ugal", 5),
    ] {
        let few = warnings(fabric, balancing, enough - 1);
        assert!(few.contains(&needs(enough)), "{fabric}, {balancing}: {few}");
        let found = warnings(fabric, balancing, enough);
        assert!(
            !found.contains("PFC deadlock"),
            "{fabric}, {balancing}: {found}"
        );
    }
    for fabric in [ordered, plus] {
        let found = warnings(fabric, "ecmp", 1);
        assert!(!found.contains("PFC deadlock"), "{fabric}: {found}");
    }
    for (fabric, balancing) in [(any, "ecmp"), (torus, "ugal")] {
        let found = warnings(fabric, balancing, 5);
        assert!(
            found.contains("no number of classes prevents that"),
            "{fabric}: {found}"
        );
    }
}
