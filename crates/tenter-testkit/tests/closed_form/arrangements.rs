//! Grids, Dragonfly+ and slim flies in which a few cables carry all: the times of shortest paths,
//! what detours change, and the classes that keep pauses from going round in a cycle.

use tenter_testkit::compare_plan;

use crate::trial::{Trial, plan};
use crate::wire::{MESSAGE, MTU, wire};

/// 400 Gbit/s.
const BYTE: u64 = 20;
const BYTES: u64 = 2 << 20;

const ENDS: &str = "
endpoint:
  nic: {loss_recovery: {kind: selective-repeat, reorder: 100000, window: 100000}, retransmission_timeout: 100ms}
jobs: [{pattern: {kind: matrix, steps: 1, sends: \"0 1 1\"}}]
observe: {samples: false}
";

/// Queues that hold everything.
const DEEP: &str = "fabric.switch={queue_capacity: none}";

/// Each host sends to that of another number.
fn sends(fabric: &str, hosts: u64, to: impl Fn(u64) -> u64, settings: &[&str]) -> Trial {
    let send = |host: u64| format!("{host} {} {BYTES}", to(host));
    let sends: Vec<String> = (0..hosts).map(send).collect();
    let sends = format!("jobs[0].pattern.sends={}", sends.join("; "));
    let text = format!("\nfabric: {{{fabric}}}{ENDS}");
    let settings: Vec<&str> = settings.iter().copied().chain([&*sends]).collect();
    Trial::run(&text, &settings)
}

/// The wire bytes of what a number of hosts send, in ps, and the time of a path beside it: the rest
/// of the longest path and of its latencies is far less than 10 us.
fn of_hosts(hosts: u64) -> std::ops::Range<u64> {
    let all = hosts * wire(BYTES, MTU, MESSAGE).iter().sum::<u64>() * BYTE;
    all..all + 10_000_000
}

#[test]
fn hosts_of_a_hyperx_switch_share_the_cable_to_the_next() {
    let fabric = |links: u64| {
        format!("kind: hyperx, sizes: [4, 3], hosts_per_switch: 4, links: [{links}, 1]")
    };
    let next = |host: u64| {
        let (switch, place) = (host / 4, host % 4);
        (switch / 4 * 4 + (switch + 1) % 4) * 4 + place
    };
    let time = |links: u64, balancing: &str| {
        let balancing = format!("fabric.load_balancing={{kind: {balancing}}}");
        sends(&fabric(links), 48, next, &[&balancing, DEEP]).completion(0)
    };
    let shortest = time(1, "ecmp");
    assert!(
        of_hosts(4).contains(&shortest),
        "{shortest}, not {:?}",
        of_hosts(4)
    );
    // With two cables each carries half of the packets.
    let two = time(2, "round-robin-spray");
    assert!(of_hosts(2).contains(&two), "{two}, not {:?}", of_hosts(2));
    // Valiant: of the 11 switches that may be drawn 8 are in another row, so a switch sends 8/11 of
    // the packets of four hosts over its two cables to other rows, and on the second part of the
    // way as much: together what 32/11 hosts send. Draws are uneven.
    let detours = time(1, "valiant");
    let all = of_hosts(1).start * 32 / 11;
    assert!(
        (all..all * 12 / 10).contains(&detours),
        "{detours}, not {all}"
    );
}

#[test]
fn a_tornado_loads_one_direction_of_a_torus() {
    // Dally and Towles, section 3.2: in a ring of 8 each node sends to the one 3 further on, so
    // each cable carries what 3 hosts send in one direction, and nothing in the other.
    let further = |by: u64| move |host: u64| (host + by) % 8;
    let tornado = sends("kind: torus, sizes: [8]", 8, further(3), &[DEEP]).completion(0);
    assert!(of_hosts(3).contains(&tornado), "{tornado}");
    // A ring of 8 rows of 3: the first dimension does not see the other.
    let rows = |host: u64| host / 8 * 8 + (host + 3) % 8;
    let both = sends("kind: torus, sizes: [8, 3]", 24, rows, &[DEEP]).completion(0);
    assert!(of_hosts(3).contains(&both), "{both}");
    // In the mesh the packets of the three hosts before the end go back over all cables.
    let mesh = sends(
        "kind: torus, sizes: [8], wrap_around: false",
        8,
        further(3),
        &[DEEP],
    );
    assert!(of_hosts(3).contains(&mesh.completion(0)));
}

/// Lossless classes with little memory, each the next one of that before.
fn lossless(classes: u8) -> String {
    let class = |class: u8| {
        let next = class + 1;
        let next = (next < 3 + classes).then(|| format!(", next_region: {next}"));
        let next = next.unwrap_or_default();
        format!("{{class: {class}, lossless: true, limit: 20kB{next}}}")
    };
    let classes: Vec<String> = (3..3 + classes).map(class).collect();
    format!("fabric.switch={{classes: [{}]}}", classes.join(", "))
}

/// Why a run ended before all had arrived.
fn stopped(trial: &Trial) -> Option<&str> {
    let totals = &trial.outcome.summary.totals;
    assert!(totals.xoff_frames > 0 && totals.dropped_frames == 0);
    trial.outcome.summary.stopped.as_deref()
}

#[test]
fn a_dateline_keeps_pauses_from_going_round_a_ring() {
    let further = |host: u64| host / 8 * 8 + (host + 3) % 8;
    let ring = |classes: u8| {
        sends(
            "kind: torus, sizes: [8], hosts_per_switch: 1",
            8,
            further,
            &[&lossless(classes)],
        )
    };
    assert_eq!(stopped(&ring(2)), None);
    // With one class each switch waits for the next, all the way round.
    let deadlock = ring(1);
    let why = stopped(&deadlock);
    assert!(
        why.is_some_and(|why| why.starts_with("PFC deadlock")),
        "{why:?}"
    );
    // Three rings: all packets go half round each of them. Four classes are enough.
    let opposite = |host: u64| {
        let at = [host % 4, host / 4 % 4, host / 16];
        let [x, y, z] = at.map(|at| (at + 1) % 4);
        x + 4 * y + 16 * z
    };
    let cube = sends(
        "kind: torus, sizes: [4, 4, 4], hosts_per_switch: 1",
        64,
        opposite,
        &[&lossless(4)],
    );
    assert_eq!(cube.outcome.summary.stopped, None);
}

#[test]
fn a_shift_of_groups_of_a_dragonfly_plus_shares_one_cable() {
    let fabric = "kind: dragonfly-plus, groups: 5, leaves_per_group: 2, spines_per_group: 2, hosts_per_leaf: 2, global_links_per_spine: 2";
    let next = |host: u64| (host + 4) % 20;
    let time = |balancing: &str| {
        let balancing = format!("fabric.load_balancing={{kind: {balancing}}}");
        sends(fabric, 20, next, &[&balancing, DEEP]).completion(0)
    };
    // The one cable between two groups carries what the four hosts of a group send.
    let shortest = time("ecmp");
    assert!(of_hosts(4).contains(&shortest), "{shortest}");
    // By three other groups, and a quarter of the packets that draw their own group on the shortest
    // path: each cable carries a quarter of a group's packets on the first part and on the second.
    let detours = time("valiant");
    assert!(
        (of_hosts(1).start..of_hosts(3).start).contains(&detours),
        "{detours}"
    );
}

#[test]
fn hosts_of_a_slim_fly_router_share_the_cable_to_the_next() {
    // With q = 5, 1 is a difference of the first half of the groups and 2 one of the others.
    let next = |host: u64| {
        let (router, place) = (host / 2, host % 2);
        let (group, at) = (router / 5, router % 5);
        let step = if group < 5 { 1 } else { 2 };
        (group * 5 + (at + step) % 5) * 2 + place
    };
    let time = sends(
        "kind: slim-fly, q: 5, hosts_per_router: 2",
        100,
        next,
        &[DEEP],
    )
    .completion(0);
    assert!(of_hosts(2).contains(&time), "{time}");
}

#[test]
fn a_class_for_each_switch_keeps_detours_from_a_cycle() {
    let next = |host: u64| (host + 4) % 64;
    for (paths, balancing, classes) in [
        ("all", "ecmp", 3),
        ("dimension-order", "ecmp", 1),
        ("all", "valiant", 5),
        ("dimension-order", "ugal", 5),
    ] {
        let fabric = format!("kind: hyperx, sizes: [4, 4], hosts_per_switch: 4, paths: {paths}");
        let balancing = format!("fabric.load_balancing={{kind: {balancing}}}");
        let trial = sends(&fabric, 64, next, &[&balancing, &lossless(classes)]);
        assert_eq!(stopped(&trial), None, "{paths}, {balancing}");
    }
}

#[test]
fn rails_without_spines_are_as_fast_as_rails_with_them() {
    let text = |fabric: &str| {
        format!(
            "
fabric: {{{fabric}}}
endpoint: {{host: {{scale_up: {{npus_per_host: 4}}}}}}
jobs: [{{collectives: [{{collective: all-to-all, algorithm: pxn, npus_per_host: 4, size: 4MiB}}]}}]
"
        )
    };
    let alone = text("kind: rail-only, servers: 6, nics_per_server: 4");
    let joined = text("kind: rail, servers: 6, nics_per_server: 4, spines: 4");
    // Blocks change rails within servers, so that no packet crosses a spine.
    let times = [&alone, &joined].map(|text| Trial::run(text, &[]).completion(0));
    assert_eq!(times[0], times[1]);
    compare_plan(&plan(&alone, &[]), 1).unwrap_or_else(|how| panic!("{how}"));
    let leaves = text(
        "kind: rail-only, servers: 6, nics_per_server: 4, servers_per_leaf: 3, spines_per_rail: 2",
    );
    compare_plan(&plan(&leaves, &[]), 2).unwrap_or_else(|how| panic!("{how}"));
}
