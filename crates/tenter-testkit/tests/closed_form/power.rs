//! Power of a run, by the parts there are and the bits that were counted.

use crate::trial::Trial;
use crate::wire::{ACK_WIRE, wire};

/// Rank 1 sends rank 0 20,000 bytes: of an incast of 2·S − 1 bytes its block has S.
const TINY: &str = "
fabric: {kind: single-switch, hosts: 2, rate: 100Gbps, power: edr-100g}
endpoint: {nic: {mtu: 4096, message_size: 128KiB, retransmission_timeout: 1s}}
jobs: [{start: 5us, collectives: [{collective: incast, size: 39999B}]}]
observe: {samples: false}
";

fn close(found: f64, expected: f64) {
    let off = (found - expected).abs() / expected.abs();
    assert!(off < 1e-12, "{found} is not {expected}");
}

#[test]
fn two_hosts_and_a_switch_by_hand() {
    let trial = Trial::run(
        TINY,
        &["fabric.power={profile: edr-100g, cable_bit_fj: 500}"],
    );
    let summary = &trial.outcome.summary;
    let power = summary.power.as_ref().expect("the profile is named");
    // A switch of 64 W, two ports of 2 W, two cables with two ends of 3.5 W.
    close(power.static_power, 64.0 + 4.0 + 14.0);
    // Five packets and one acknowledgement, each over two cables and through one switch.
    let packets = wire(20_000, 4_096, 128 << 10);
    assert_eq!(packets.len(), 5);
    let bits = 8 * (packets.iter().sum::<u64>() + ACK_WIRE);
    let joules = bits as f64 * (3_800.0 + 2.0 * 500.0) * 1e-15;
    close(power.dynamic_energy, joules);
    // From the start of the job to the end of the acknowledgement.
    let seconds = (summary.engine.simulated_ns - 5_000.0) * 1e-9;
    close(power.duration.as_s(), seconds);
    close(power.dynamic_power.unwrap(), joules / seconds);
    assert_eq!(power.rx_payload_bytes, 20_000);
    let gbps = 160_000.0 / seconds / 1e9;
    close(power.throughput_gbps.unwrap(), gbps);
    close(power.static_per_gbps.unwrap(), 82.0 / gbps);
    close(power.dynamic_per_gbps.unwrap(), joules / seconds / gbps);
    let picojoules = (82.0 * seconds + joules) / 160_000.0 * 1e12;
    close(power.picojoules_per_bit.unwrap(), picojoules);
}

#[test]
fn power_changes_no_result() {
    let without = Trial::run(TINY, &["fabric.power=none"]);
    let with = Trial::run(TINY, &[]);
    assert_eq!(without.outcome.summary.power, None);
    assert!(with.outcome.summary.power.is_some());
    assert_eq!(without.outcome.digest, with.outcome.digest);
}

#[test]
fn what_is_not_delivered_costs_nothing_per_bit() {
    // The trial ends before anything has been sent.
    let trial = Trial::run(TINY, &["limits.time=4us"]);
    let power = trial.outcome.summary.power.as_ref().unwrap();
    assert!(power.dynamic_energy.abs() < f64::EPSILON);
    assert_eq!((power.dynamic_power, power.static_per_gbps), (None, None));
}
