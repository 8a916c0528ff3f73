//! What scenarios say of credit-based fabrics, and what they must not.

mod base;

use tenter_fabric::net::load_balancing::{ByDestination, LoadBalancing};
use tenter_fabric::net::{CreditSpec, Limit, UNLIMITED_POOL};
use tenter_language::units::{Bytes, Time};

use base::Base;

const SMALL: Base = Base(
    "
fabric: {kind: leaf-spine, leaves: 3, hosts_per_leaf: 2, spines: 2, switching: {kind: credit-based}}
jobs: [{collectives: [{collective: all-to-all, size: 1MiB}]}]
",
);

/// Asserts that the overrides are taken with a warning that says `expected`.
fn warned(overrides: &[&str], expected: &str) {
    let text = SMALL.good(overrides).warnings.render();
    assert!(
        text.contains(expected),
        "{overrides:?} lacks {expected:?}\n{text}"
    );
}

#[test]
fn defaults_are_those_of_the_standard_and_say_so() {
    let loaded = SMALL.good(&[]);
    assert!(loaded.warnings.is_empty());
    let plan = loaded.plan;
    let expected = CreditSpec {
        lane_bytes: 128 << 10,
        update_bytes: 4_096,
        delay: Time::from_ns(100),
    };
    assert_eq!(plan.credit, Some(expected));
    assert_eq!(plan.scheduled, None);
    let switch = &plan.switches.usual;
    assert_eq!(
        switch.load_balancing,
        LoadBalancing::Destination(ByDestination {})
    );
    assert_eq!(switch.classes[0].limit, Limit::Static(UNLIMITED_POOL));
    // A profile's buffer is not part of it.
    let profile = SMALL.good(&["fabric.switch.profile=tomahawk5"]).plan;
    assert_eq!(profile.switches.usual.pool_bytes, [UNLIMITED_POOL]);
    let own = SMALL.good(&["fabric.switch.profile=quantum2"]).plan;
    assert_eq!(own.credit, Some(expected));
    assert_eq!(own.switches.usual.ingress_latency, Time::from_ns(65));
}

#[test]
fn every_load_balancer_goes_together_with_it() {
    for kind in ["ecmp", "weighted-ecmp", "flowlet"] {
        SMALL.good(&[&format!("fabric.load_balancing.kind={kind}")]);
    }
    let any_order = "endpoint.nic.loss_recovery={kind: selective-repeat, reorder: 64}";
    for kind in ["adaptive", "queue-aware-spray", "random-spray", "telemetry"] {
        SMALL.good(&[&format!("fabric.load_balancing.kind={kind}"), any_order]);
    }
    SMALL.refused(
        &["fabric.load_balancing.kind=adaptive"],
        "lets packets of a queue pair overtake",
    );
    // By destination, without credit.
    SMALL.good(&[
        "fabric.switching.kind=output-queued",
        "fabric.load_balancing.kind=destination",
    ]);
}

#[test]
fn what_waits_for_host_memory_waits_in_the_lane() {
    let plan = SMALL
        .good(&["endpoint.nic.receive_buffer={drain_rate: 100Gbps, capacity: 1MiB}"])
        .plan;
    let buffer = plan.nic.receive_buffer.expect("it drains");
    assert_eq!(
        (buffer.capacity, buffer.xoff),
        (Bytes::new(UNLIMITED_POOL), None)
    );
}

#[test]
fn what_has_no_place_beside_it_is_refused() {
    SMALL.refused(&["fabric.flow_control=pfc"], "pauses nobody");
    SMALL.refused(&["fabric.flow_control=ecn"], "marking is not part of");
    SMALL.refused(
        &["fabric.switch.queue_capacity=1MiB"],
        "no frame is sent that finds no room",
    );
    SMALL.refused(
        &["fabric.switch.buffer={size: 1MiB}"],
        "no frame is sent that finds no room",
    );
    SMALL.refused(
        &["fabric.switch.pfc_watchdog={}"],
        "a credit-based fabric has none",
    );
    // The longest frame has 4,174 bytes, 66 blocks, and 63 free ones may not be known of.
    SMALL.refused(
        &["fabric.switching.lane_buffer=8255B"],
        "give at least `8256B`",
    );
    SMALL.good(&["fabric.switching.lane_buffer=8256B"]);
    SMALL.refused(&["fabric.switching.credit=4096B"], "unknown key `credit`");
}

#[test]
fn links_that_cannot_keep_their_rates_are_warned_of() {
    warned(
        &["fabric.switching.lane_buffer=256KiB"],
        "credit counters of 12 bits",
    );
    warned(&["fabric.switching.lane_buffer=16KiB"], "to keep its rate");
    warned(&["fabric.fabric_delay=20us"], "the link into");
    warned(
        &["faults.events=[{nic: host0, pause_storm: 20us, until: 400us}]"],
        "a pause storm has no effect",
    );
}
