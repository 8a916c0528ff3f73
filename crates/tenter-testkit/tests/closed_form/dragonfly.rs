//! A dragonfly whose groups send to the next one: what shortest paths and detours leave of the
//! rate.

use crate::trial::Trial;
use crate::wire::{MESSAGE, MTU, wire};

/// 400 Gbit/s.
const BYTE: u64 = 20;
const BYTES: u64 = 2 << 20;
const GROUPS: u64 = 9;
/// Four routers with two hosts each.
const PER_GROUP: u64 = 8;

/// Each host of a full dragonfly sends to the host of its number in the next group.
fn shift(balancing: &str) -> Trial {
    let hosts = GROUPS * PER_GROUP;
    let send = |host: u64| format!("{host} {} {BYTES}", (host + PER_GROUP) % hosts);
    let sends: Vec<String> = (0..hosts).map(send).collect();
    let scenario = format!(
        "
fabric:
  kind: dragonfly
  groups: {GROUPS}
  routers_per_group: 4
  hosts_per_router: 2
  global_links_per_router: 2
  load_balancing: {balancing}
  switch: {{queue_capacity: none}}
endpoint:
  nic: {{loss_recovery: {{kind: selective-repeat, reorder: 1000, window: 8192}}, retransmission_timeout: 100ms}}
jobs: [{{pattern: {{kind: matrix, steps: 1, sends: \"{}\"}}}}]
observe: {{samples: false}}
",
        sends.join("; ")
    );
    Trial::run(&scenario, &[])
}

/// Wire bytes of what one host sends, in ps.
fn of_one_host() -> u64 {
    wire(BYTES, MTU, MESSAGE).iter().sum::<u64>() * BYTE
}

#[test]
fn a_shift_of_groups_shares_one_cable() {
    // On shortest paths the one cable to the next group carries what all eight hosts of a group
    // send. It begins with the first packet of a host on its router and is never idle.
    let shortest = shift("{kind: ecmp}").completion(0);
    let all = PER_GROUP * of_one_host();
    assert!(
        (all..all + 8_000_000).contains(&shortest),
        "{shortest}, not {all}"
    );
    // Valiant: a cable between groups carries an eighth of what each group sends on the first part
    // of its way, and as much of others on their second; together what two hosts send. Draws are
    // uneven: of 1,024 packets on a cable the standard deviation is 30, and the fullest of 72
    // cables decides.
    let detours = shift("{kind: valiant}").completion(0);
    let two = 2 * of_one_host();
    assert!(
        (two..two * 13 / 10).contains(&detours),
        "{detours}, not {two}"
    );
}

#[test]
fn a_flow_that_draws_once_goes_by_one_region() {
    let trial = shift("{kind: valiant, draw: flow}");
    // No packet overtakes another of its flow.
    let ports = trial.outcome.counts.ports.iter();
    let frames: u64 = ports.map(|port| port.tx_frames).sum();
    let flows = trial.flows.iter();
    assert!(flows.clone().all(|flow| flow.retransmitted_frames == 0));
    assert!(frames > 0 && flows.count() == (GROUPS * PER_GROUP) as usize);
}
