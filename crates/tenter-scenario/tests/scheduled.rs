//! What scenarios say of scheduled fabrics, and what they must not.

use tenter_net::scheduled::{CellSpec, ScheduledSpec, SprayKind};
use tenter_scenario::{Diagnostics, Format, Loaded, load};
use tenter_units::Time;

const SMALL: &str = "
fabric: {kind: leaf-spine, leaves: 3, hosts_per_leaf: 2, spines: 2, switching: {kind: scheduled}}
jobs: [{collectives: [{collective: all-to-all, size: 1MiB}]}]
";

fn set(overrides: &[&str]) -> Result<Loaded, Diagnostics> {
    let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
    load(SMALL, "small.yaml", Format::Yaml, &overrides, None)
}

/// Loads, with an effective form that gives the same plan and form.
fn good(overrides: &[&str]) -> Loaded {
    let loaded = set(overrides).unwrap_or_else(|errors| panic!("{overrides:?}\n{errors}"));
    let again = load(&loaded.effective, "config.yaml", Format::Yaml, &[], None);
    let again = again.unwrap_or_else(|errors| panic!("{errors}\n{}", loaded.effective));
    assert_eq!(again.plan, loaded.plan, "{}", loaded.effective);
    assert_eq!(again.effective, loaded.effective);
    loaded
}

fn scheduled(overrides: &[&str]) -> ScheduledSpec {
    let plan = good(overrides).plan;
    plan.scheduled.expect("the fabric is scheduled")
}

/// Asserts that the overrides are refused with one problem that says `expected` and what to do.
fn refused(overrides: &[&str], expected: &str) {
    let errors = set(overrides).expect_err(expected);
    let text = errors.render();
    assert_eq!(errors.problems().len(), 1, "{overrides:?}\n{text}");
    assert!(errors.problems()[0].help.is_some(), "{text}");
    assert!(
        text.contains(expected),
        "{overrides:?} lacks {expected:?}\n{text}"
    );
}

#[test]
fn defaults_are_those_of_the_table_or_of_the_profile() {
    let plain = ScheduledSpec {
        credit_bytes: 4_096,
        over_speed_ppm: 20_000,
        egress_buffer_bytes: 512 << 10,
        cell: None,
        spray: SprayKind::RoundRobin,
        reassembly_timeout: Time::from_us(100),
    };
    assert_eq!(scheduled(&[]), plain);
    let cell = CellSpec {
        payload_bytes: 256,
        overhead_bytes: 16,
        bundle: 1,
    };
    let profile = "fabric.switch.profile=jericho3-ramon3";
    let of_device = scheduled(&[profile]);
    assert_eq!(of_device.cell, Some(cell));
    // A key that is given wins, and what is left out beside it is the profile's.
    let bundled = scheduled(&[profile, "fabric.switching.cell={bundle: 8}"]);
    assert_eq!(bundled.cell, Some(CellSpec { bundle: 8, ..cell }));
    assert_eq!(scheduled(&[profile, "fabric.switching.cell=none"]), plain);
    // Flow control has the memory of that device behind it unless another is named.
    let plan = good(&["fabric.flow_control=pfc"]).plan;
    assert!(plan.switches.usual.pool_bytes[0] > 12_000_000_000);
    assert_eq!(
        plan.devices.usual.map(|device| device.name),
        Some("jericho3-ramon3".to_owned())
    );
    // Without the kind the profile says nothing of it.
    let other = good(&["fabric.switching.kind=output-queued", profile]);
    assert_eq!(other.plan.scheduled, None);
    assert!(!other.effective.contains("switching"));
}

#[test]
fn what_it_does_not_work_with_is_refused() {
    refused(
        &["fabric.load_balancing.kind=ecmp"],
        "`fabric.load_balancing` has no place in a scheduled fabric",
    );
    refused(
        &["fabric={kind: single-switch, hosts: 2, switching: {kind: scheduled}}"],
        "cannot be `scheduled` with `kind: single-switch`",
    );
    refused(
        &["fabric.switch.classes=[{class: 0, ecn: astra-400g}]"],
        "a scheduled fabric marks nothing",
    );
    refused(
        &["fabric.flow_control=pfc", "fabric.switch.pfc_watchdog={}"],
        "`fabric.switch.pfc_watchdog` looks at output queues",
    );
    let by_pool = "fabric.switch={buffer: {size: 64MiB}, classes: [{class: 0, limit: 1MiB, lossless: {trigger: pool}}]}";
    refused(&[by_pool], "`trigger: pool` would pause the links");
    refused(
        &["endpoint.nic={congestion_control: {kind: hpcc}, acknowledge: per-packet}"],
        "writes no in-band telemetry",
    );
    refused(
        &["fabric.overrides=[{leaf: 0, spine: 0, links: 0}, {leaf: 1, spine: 1, links: 0}]"],
        "`leaf0` and `leaf1` have no spine in common",
    );
    refused(
        &["fabric.switching.cell={payload: 9000B, bundle: 2}"],
        "makes bundles of 18032 bytes",
    );
    refused(&["fabric.switching.credit=100B"], "outside its range");
    refused(
        &["fabric.switching={kind: output-queued, credit: 4096B}"],
        "unknown key `credit`",
    );
}
