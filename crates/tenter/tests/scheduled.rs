//! What scenarios say of scheduled fabrics, and what they must not.

mod base;

use std::time::{Duration, Instant};

use tenter_fabric::net::headroom::{Senders, incoming};
use tenter_fabric::net::scheduled::{CellSpec, IndicationSpec, ScheduledSpec, SprayKind};
use tenter_language::units::Time;

use base::Base;

const SMALL: Base = Base(
    "
fabric: {kind: leaf-spine, leaves: 3, hosts_per_leaf: 2, spines: 2, switching: {kind: scheduled}}
jobs: [{collectives: [{collective: all-to-all, size: 1MiB}]}]
",
);

fn scheduled(overrides: &[&str]) -> ScheduledSpec {
    let plan = SMALL.good(overrides).plan;
    plan.scheduled.expect("the fabric is scheduled")
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
        control_bytes: 0,
        indication: None,
    };
    assert_eq!(scheduled(&[]), plain);
    let told = IndicationSpec {
        threshold_bytes: 32 << 10,
        hold: Time::from_us(20),
    };
    let own = [
        "fabric.switching.indication={hold: 20us}",
        "fabric.switching.control=128B",
    ];
    let with = ScheduledSpec {
        control_bytes: 128,
        indication: Some(told),
        ..plain.clone()
    };
    assert_eq!(scheduled(&own), with);
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
    let plan = SMALL.good(&["fabric.flow_control=pfc"]).plan;
    assert!(plan.switches.usual.pool_bytes[0] > 12_000_000_000);
    assert_eq!(
        plan.devices.usual.map(|device| device.name),
        Some("jericho3-ramon3".to_owned())
    );
    // Without the kind the profile says nothing of it.
    let other = SMALL.good(&["fabric.switching.kind=output-queued", profile]);
    assert_eq!(other.plan.scheduled, None);
    assert!(!other.effective.contains("switching"));
}

#[test]
fn what_it_does_not_work_with_is_refused() {
    SMALL.refused(
        &["fabric.load_balancing.kind=ecmp"],
        "`fabric.load_balancing` has no place in a scheduled fabric",
    );
    SMALL.refused(
        &["fabric={kind: single-switch, hosts: 2, switching: {kind: scheduled}}"],
        "cannot be `scheduled` with `kind: single-switch`",
    );
    SMALL.refused(
        &["fabric.switch.classes=[{class: 0, ecn: astra-400g}]"],
        "a scheduled fabric marks nothing",
    );
    SMALL.refused(
        &["fabric.flow_control=pfc", "fabric.switch.pfc_watchdog={}"],
        "`fabric.switch.pfc_watchdog` looks at output queues",
    );
    let by_pool = "fabric.switch={buffer: {size: 64MiB}, classes: [{class: 0, limit: 1MiB, lossless: {trigger: pool}}]}";
    SMALL.refused(&[by_pool], "`trigger: pool` would pause the links");
    SMALL.refused(
        &["endpoint.nic={congestion_control: {kind: hpcc}, acknowledge: per-packet}"],
        "writes no in-band telemetry",
    );
    SMALL.refused(
        &["fabric.overrides=[{leaf: 0, spine: 0, links: 0}, {leaf: 1, spine: 1, links: 0}]"],
        "`leaf0` and `leaf1` have no spine in common",
    );
    SMALL.refused(
        &["fabric.switching.cell={payload: 9000B, bundle: 2}"],
        "makes bundles of 18032 bytes",
    );
    SMALL.refused(&["fabric.switching.credit=100B"], "outside its range");
    SMALL.refused(
        &["fabric.switching={kind: output-queued, credit: 4096B}"],
        "unknown key `credit`",
    );
}

/// What is done for each two leaves is done for each two kinds of them: of 5,000 leaves, and of
/// 4,000 of which some miss a spine.
#[test]
fn many_leaves_are_checked_at_once() {
    let began = Instant::now();
    SMALL.refused(
        &[
            "fabric={kind: torus, sizes: [1000, 5], links: [1000, 7], wrap_around: false, switching: {kind: scheduled}}",
        ],
        "cannot be `scheduled` with `kind: torus`",
    );
    let of = |overrides: &str| {
        format!(
            "fabric={{kind: leaf-spine, leaves: 4000, hosts_per_leaf: 1, spines: 40, \
             switching: {{kind: scheduled}}, overrides: [{overrides}]}}"
        )
    };
    let gaps = (0..1_000).map(|leaf| format!("{{leaf: {leaf}, spine: {}, links: 0}}", leaf % 39));
    let gaps = gaps.collect::<Vec<_>>().join(", ");
    let ranks = "jobs=[{ranks: 2, collectives: [{collective: all-to-all, size: 1MiB}]}]";
    let plan = SMALL.set(&[&of(&gaps), ranks]).expect("it is one").plan;
    assert_eq!(plan.lookahead, SMALL.good(&[]).plan.lookahead);
    let took = began.elapsed();
    assert!(took < Duration::from_secs(5), "{took:?}");
}

/// A leaf takes frames of hosts whole, however the switches forward: what is on its way when it
/// pauses a host is a frame more than cut-through has.
#[test]
fn headroom_counts_that_leaves_take_frames_whole() {
    let flights = |overrides: &[&str]| -> Vec<Vec<Time>> {
        let mut all = vec![
            "fabric.flow_control=pfc",
            "fabric.switch.forwarding=cut-through",
            "fabric.switch.pipeline_latency=600ns",
        ];
        all.extend(overrides);
        let plan = SMALL.good(&all).plan;
        let senders = Senders {
            frame_bytes: 4_180,
            transmit_latency: Time::ZERO,
            fast_ppm: 0,
            pause_response: plan.switches.pause_response,
        };
        let switches = plan.topology.switch_nodes();
        let of = |node| incoming(&plan.topology, &plan.switches, node, &senders);
        let flights = switches.map(|node| of(node).map(|link| link.flight).collect());
        flights.collect()
    };
    let plain = flights(&["fabric.switching={kind: output-queued}"]);
    let whole = flights(&[]);
    // 4,200 bytes at 400 Gb/s; spines cut through.
    let frame = Time::from_ns(84);
    assert_eq!((plain.len(), whole.len()), (5, 5));
    for (leaf, (plain, whole)) in plain.iter().zip(&whole).enumerate() {
        assert_eq!(
            (plain.len(), whole.len()),
            if leaf < 3 { (4, 4) } else { (3, 3) }
        );
        let more = if leaf < 3 { frame } else { Time::ZERO };
        for (plain, whole) in plain.iter().zip(whole) {
            assert_eq!(*whole, *plain + more);
        }
    }
}
