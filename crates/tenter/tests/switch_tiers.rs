//! Switches of a tier that are not like the others.

mod base;

use tenter_fabric::net::{Forwarding, Limit, UNLIMITED_POOL};
use tenter_language::units::Time;

use base::Base;

const TWO_TIERS: Base = Base(
    "
fabric:
  kind: leaf-spine
  leaves: 2
  hosts_per_leaf: 2
  spines: 2
  flow_control: pfc
  switch:
    profile: tofino2
jobs: [{collectives: [{collective: all-to-all, size: 1MiB}]}]
",
);

/// Asserts that the overrides are refused with one problem that says `expected`, where, and what to
/// do.
fn refused(overrides: &[&str], expected: &str) {
    let errors = TWO_TIERS.refused(overrides, expected);
    assert!(errors.problems()[0].span.is_some(), "{errors}");
}

#[test]
fn a_tier_has_what_it_does_not_say_from_the_others() {
    let loaded = TWO_TIERS.good(&["fabric.switch.tiers=[{tier: 1, pipeline_latency: 1us}]"]);
    let switches = &loaded.plan.switches;
    let spine = switches.of_tier(1);
    assert_eq!(
        spine.ingress_latency + spine.egress_latency,
        Time::from_us(1)
    );
    assert_eq!(spine.classes, switches.usual.classes);
    assert_eq!(spine.forwarding, Forwarding::CutThrough);
    assert_eq!(spine.pool_bytes.len(), switches.usual.pool_bytes.len());
    assert_eq!(switches.of_tier(0), &switches.usual);
    assert_eq!(
        loaded.plan.devices.of_tier(1),
        loaded.plan.devices.usual.as_ref()
    );
}

#[test]
fn a_device_of_a_tier_has_its_own_constants() {
    let loaded = TWO_TIERS.good(&["fabric.switch.tiers=[{tier: 1, profile: tomahawk5}]"]);
    let device = loaded.plan.devices.of_tier(1).expect("it is named");
    assert_eq!(device.name, "tomahawk5");
    let alone = TWO_TIERS.good(&["fabric.switch.profile=tomahawk5"]);
    let spine = loaded.plan.switches.of_tier(1);
    // Spines are alike in both, and so is what headroom leaves of their buffers.
    assert_eq!(spine.classes, alone.plan.switches.usual.classes);
    assert!(loaded.warnings.is_empty(), "{}", loaded.warnings);
}

#[test]
fn a_tier_without_a_shared_buffer() {
    let deep = "fabric.switch.tiers=[{tier: 1, queue_capacity: none, classes: [{class: 3}]}]";
    let loaded = TWO_TIERS.good(&[deep]);
    let spine = loaded.plan.switches.of_tier(1);
    assert_eq!(spine.pool_bytes, [UNLIMITED_POOL]);
    assert_eq!(spine.classes[0].limit, Limit::Static(UNLIMITED_POOL));
    assert!(spine.classes[0].lossless.is_none());
    assert!(loaded.plan.switches.usual.classes[0].lossless.is_some());
    let warnings = loaded.warnings.render_as("warning");
    assert!(
        warnings
            .contains("class 3 is lossless in other tiers, but not in `fabric.switch.tiers[0]`"),
        "{warnings}"
    );
}

#[test]
fn a_buffer_of_a_tier_is_shared_out_among_its_own_switches() {
    let profile = "fabric.switch.profile=generic-32mb";
    let pool = |overrides: &[&str], tier| {
        let loaded = TWO_TIERS.good(overrides);
        loaded.plan.switches.of_tier(tier).pool_bytes.clone()
    };
    // A leaf has four ports that keep headroom, a spine two: alone it has more left.
    let own = [
        profile,
        "fabric.switch.tiers=[{tier: 0, buffer: {size: 1GB}}]",
    ];
    assert_eq!(
        pool(&own, 0),
        pool(&[profile, "fabric.switch.buffer={size: 1GB}"], 0)
    );
    let [alone] = pool(&own, 1)[..] else {
        panic!("one pool")
    };
    let [among_all] = pool(&[profile], 1)[..] else {
        panic!("one pool")
    };
    let (whole, outside) = (32 << 20, (32 << 20) - among_all);
    assert!(whole - alone < outside, "{alone} {among_all}");
}

#[test]
fn tiers_that_do_not_go_together_are_refused() {
    refused(
        &["fabric.switch.tiers=[{tier: 2}]"],
        "no switch of this fabric is of tier 2",
    );
    refused(
        &["fabric.switch.tiers=[{tier: 1}, {tier: 1}]"],
        "`fabric.switch.tiers[1].tier` is a tier that was described before",
    );
    refused(
        &["fabric.switch.tiers=[{tier: 1, classes: [{class: 0}, {class: 3}]}]"],
        "`fabric.switch.tiers[0].classes` has the classes 0, 3, and `fabric.switch` has 3",
    );
    refused(
        &["fabric.switch.tiers=[{tier: 1, profile: generic-32mb, buffer: {size: 10kB}}]"],
        "`fabric.switch.tiers[0].buffer` holds 10000 bytes",
    );
    refused(
        &["fabric.switch.tiers=[{tier: 1, pfc_watchdog: none}]"],
        "unknown key `pfc_watchdog` in `fabric.switch.tiers[0]`",
    );
    refused(
        &["fabric.switch.tiers=[{tier: 1, queue_capacity: 100B, classes: [{class: 3}]}]"],
        "`fabric.switch.tiers[0].queue_capacity` is 100 bytes",
    );
}
