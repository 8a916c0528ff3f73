//! A dragonfly under uniform traffic and with groups that send to the next one: the throughput of
//! shortest paths and of detours, and the classes that keep pauses from going round in a cycle.

use crate::trial::Trial;
use crate::wire::{MESSAGE, MTU, wire};

/// 400 Gbit/s.
const BYTE: u64 = 20;
const BYTES: u64 = 2 << 20;
const GROUPS: u64 = 9;
/// Four routers with two hosts each.
const PER_GROUP: u64 = 8;

/// The full dragonfly with NICs that take packets in any order.
const FABRIC: &str = "
fabric: {kind: dragonfly, groups: 9, routers_per_group: 4, hosts_per_router: 2, global_links_per_router: 2}
endpoint:
  nic: {loss_recovery: {kind: selective-repeat, reorder: 100000, window: 100000}, retransmission_timeout: 100ms}
jobs: [{pattern: {kind: matrix, steps: 1, sends: \"0 8 1\"}}]
observe: {samples: false}
";

/// Each host sends to the host of its number so many groups further on.
fn shift(balancing: &str, switch: &str, further: u64, bytes: u64) -> Trial {
    let hosts = GROUPS * PER_GROUP;
    let send = |host: u64| format!("{host} {} {bytes}", (host + further * PER_GROUP) % hosts);
    let sends: Vec<String> = (0..hosts).map(send).collect();
    let sends = format!("jobs[0].pattern.sends={}", sends.join("; "));
    let balancing = format!("fabric.load_balancing={{kind: {balancing}}}");
    Trial::run(FABRIC, &[&balancing, switch, &sends])
}

/// Queues that hold everything.
const DEEP: &str = "fabric.switch={queue_capacity: none}";

/// Wire bytes of what one host sends, in ps.
fn of_one_host() -> u64 {
    wire(BYTES, MTU, MESSAGE).iter().sum::<u64>() * BYTE
}

#[test]
fn a_shift_of_groups_shares_one_cable() {
    // On shortest paths the one cable to the next group carries what all eight hosts of a group
    // send. It begins with the first packet of a host on its router and is never idle.
    let shortest = shift("ecmp", DEEP, 1, BYTES).completion(0);
    let all = PER_GROUP * of_one_host();
    assert!(
        (all..all + 8_000_000).contains(&shortest),
        "{shortest}, not {all}"
    );
    // Valiant: a cable between groups carries an eighth of what each group sends on the first part
    // of its way, and as much of others on their second; together what two hosts send. Draws are
    // uneven: of 1,024 packets on a cable the standard deviation is 30, and the fullest of 72
    // cables decides.
    let detours = shift("valiant", DEEP, 1, BYTES).completion(0);
    let two = 2 * of_one_host();
    assert!(
        (two..two * 13 / 10).contains(&detours),
        "{detours}, not {two}"
    );
}

/// How many flows went out through each port, where their wire bytes are whole flows everywhere.
fn flows_by_port(trial: &Trial) -> Option<Vec<u64>> {
    let of_flow: u64 = wire(BYTES, MTU, MESSAGE).iter().sum();
    let ports = trial.outcome.counts.ports.iter();
    let flows = ports.map(|port| {
        let bytes = port.tx_data_wire_bytes;
        bytes.is_multiple_of(of_flow).then_some(bytes / of_flow)
    });
    flows.collect()
}

#[test]
fn a_flow_that_draws_once_goes_by_one_region() {
    let sent = |balancing: &str| {
        let trial = shift(balancing, DEEP, 1, BYTES);
        let mut flows = trial.flows.iter();
        assert!(flows.all(|flow| flow.retransmitted_frames == 0));
        flows_by_port(&trial)
    };
    // All data of a flow pass the same cables.
    let by_flow = sent("valiant, draw: flow").expect("no flow is split");
    assert_eq!(sent("valiant"), None);
    // Flows draw different regions: none has to share the one cable to the next group with all
    // others, and those that take a detour pass two cables between groups.
    let shortest = sent("ecmp").expect("no flow is split");
    let most = |flows: &[u64]| flows.iter().copied().max();
    assert_eq!(most(&shortest), Some(PER_GROUP));
    assert!(most(&by_flow) < Some(PER_GROUP), "{by_flow:?}");
    let hops = |flows: &[u64]| flows.iter().sum::<u64>();
    assert!(hops(&by_flow) > hops(&shortest) + GROUPS * PER_GROUP / 2);
}

/// Pauses with little memory, so that a queue is felt at the source: 100 kB for each port and
/// class. A packet takes the next of these classes in each further region.
fn lossless(classes: u8) -> String {
    let class = |class: u8| {
        let next = class + 1;
        let next = (next < 3 + classes).then(|| format!(", next_region: {next}"));
        let next = next.unwrap_or_default();
        format!("{{class: {class}, lossless: true, limit: 100kB{next}}}")
    };
    let classes: Vec<String> = (3..3 + classes).map(class).collect();
    format!("fabric.switch={{classes: [{}]}}", classes.join(", "))
}

/// The part of the hosts' rate at which all data arrive.
fn throughput(trial: &Trial, bytes: u64) -> f64 {
    assert!(
        trial.outcome.summary.complete,
        "{:?}",
        trial.outcome.summary.stopped
    );
    let alone: u64 = wire(bytes, MTU, MESSAGE).iter().sum();
    (alone * BYTE) as f64 / trial.completion(0) as f64
}

#[test]
fn ugal_is_near_the_better_of_shortest_paths_and_detours() {
    // Kim et al. (2008), figure 8. Groups that send to the next one: on shortest paths eight hosts
    // share a cable, 1/8; a detour takes two cables between groups, so Valiant leaves 1/2 at most,
    // less what the last packets wait. UGAL learns of the cable when pauses have come back to the
    // source.
    let shifted = |kind: &str| {
        let bytes = 4 << 20;
        throughput(&shift(kind, &lossless(3), 1, bytes), bytes)
    };
    let [shortest, valiant, ugal] = ["ecmp", "valiant", "ugal"].map(shifted);
    assert!((0.123..0.125).contains(&shortest), "{shortest}");
    assert!((0.42..0.5).contains(&valiant), "{valiant}");
    assert!((0.40..0.5).contains(&ugal), "{ugal}");
    // All to all: a group sends 64 of the 71 messages of a host to each other group over one cable,
    // so shortest paths leave the whole rate. With Valiant 15 of 8 times as much passes each cable,
    // 71/120 = 0.59 at most. The delays of the path are a part of the time, too.
    let uniform = |kind: &str| {
        let bytes = 64 << 10;
        let balancing = format!("fabric.load_balancing={{kind: {kind}}}");
        let job = format!(
            "jobs=[{{collectives: [{{collective: all-to-all, size: {}B}}]}}]",
            72 * bytes
        );
        71.0 * throughput(
            &Trial::run(FABRIC, &[&balancing, &lossless(3), &job]),
            bytes,
        )
    };
    let [shortest, valiant, ugal] = ["ecmp", "valiant", "ugal"].map(uniform);
    assert!((0.92..1.0).contains(&shortest), "{shortest}");
    assert!((0.5..0.592).contains(&valiant), "{valiant}");
    assert!((0.88..1.0).contains(&ugal), "{ugal}");
}

#[test]
fn a_class_for_each_region_keeps_pauses_from_a_cycle() {
    let bytes = 1 << 20;
    for further in 1..GROUPS {
        for (kind, needed) in [("ecmp", 2), ("valiant", 3), ("ugal", 3)] {
            let trial = shift(kind, &lossless(needed), further, bytes);
            let totals = &trial.outcome.summary.totals;
            assert!(trial.outcome.summary.complete, "{kind}, {further}");
            assert!(totals.xoff_frames > 0 && totals.dropped_frames == 0);
            // Both ends of a link count a pause frame for the class that it names.
            for class in 3..3 + u16::from(needed) {
                let queues = trial.outcome.counts.queues.iter();
                let of_class = queues.filter(|queue| queue.class == class);
                let frames = of_class.map(|queue| (queue.tx_xoff_frames, queue.rx_xoff_frames));
                let sums = frames.fold((0, 0), |sum, (tx, rx)| (sum.0 + tx, sum.1 + rx));
                assert_eq!(sums.0, sums.1, "{kind}, {further}, class {class}");
            }
        }
    }
    // With one class a group's paused cable waits for the next group's.
    for kind in ["ecmp", "valiant", "ugal"] {
        let trial = shift(kind, &lossless(1), 1, bytes);
        let stopped = trial.outcome.summary.stopped.as_deref();
        let is_found = stopped.is_some_and(|why| why.starts_with("PFC deadlock"));
        assert!(is_found, "{kind}: {stopped:?}");
    }
}
