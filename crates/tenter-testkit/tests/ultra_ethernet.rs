//! The transport of Ultra Ethernet: random scenarios on all engines, and times that follow from
//! bytes and delays.

use std::ops::Range;

use tenter::resolve::{Format, load, load_beside};
use tenter_language::units::Budget;
use tenter_testkit::{Engine, compare, random_ultra_ethernet};

/// The scenario of the study, which has one flow.
const STUDY: &str = include_str!("../../../studies/ultra-ethernet/validation/scenario.yaml");
/// The equipment that it names.
const EQUIPMENT: &[u8] = include_bytes!("../../../studies/equipment/ultra-ethernet.yaml");

/// What happened in random scenarios.
#[derive(Debug, Default)]
struct Seen {
    trimmed: u64,
    dropped: u64,
    repeated: u64,
    timeouts: u64,
    lost: u64,
    complete: u64,
}

fn run(seeds: Range<u64>) {
    let count = seeds.end - seeds.start;
    let mut seen = Seen::default();
    for seed in seeds {
        let trials = compare(&random_ultra_ethernet(seed));
        let trials = trials.unwrap_or_else(|failure| panic!("seed {seed}: {failure}"));
        let summary = &trials.reference.outcome.summary;
        let totals = &summary.totals;
        seen.trimmed += u64::from(totals.trimmed_frames > 0);
        seen.dropped += u64::from(totals.dropped_frames > 0);
        seen.repeated += u64::from(totals.retransmitted_frames > 0);
        seen.timeouts += u64::from(totals.timeouts > 0);
        seen.lost += u64::from(totals.lost_frames > 0);
        seen.complete += u64::from(summary.jobs.iter().all(|job| job.job.complete));
    }
    let often = seen.trimmed.min(seen.repeated).min(seen.timeouts);
    assert!(
        often >= count / 6
            && seen.dropped.min(seen.lost) >= count / 10
            && seen.complete >= count / 2,
        "the scenarios are too tame or too wild: {seen:?} of {count}"
    );
}

#[test]
fn engines_agree_on_the_first_half() {
    run(0..60);
}

#[test]
fn engines_agree_on_the_second_half() {
    run(60..120);
}

/// Completion times at the senders, in ps, ascending.
fn times(overrides: &[&str]) -> Vec<u64> {
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    let files = |_: &str| Ok(EQUIPMENT.into());
    let loaded = load_beside(
        STUDY,
        "study.yaml",
        Format::Yaml,
        &overrides,
        None,
        &files,
        &Budget::unlimited(),
    );
    let plan = loaded.unwrap_or_else(|errors| panic!("{errors}")).plan;
    let trial = Engine::windowed(1).run(&plan).expect("it runs");
    let rows = trial.rows.flows.iter();
    let mut times: Vec<u64> = rows
        .map(|row| (row.acknowledged - row.posted).ps())
        .collect();
    times.sort_unstable();
    times
}

/// One flow of this many bytes over six links.
fn one(bytes: u64) -> String {
    format!(
        "jobs=[{{name: a, ranks: [1000, 0], collectives: [{{collective: incast, size: {}B}}]}}]",
        2 * bytes
    )
}

/// Six links of 1 us there and back; all packets one after the other, the last one through five
/// more links, and its acknowledgement of 64 bytes through six: 80 ps a byte.
fn closed_form(wire_bytes: u64, last: u64) -> u64 {
    12_000_000 + 80 * (wire_bytes + 5 * last + 6 * 64)
}

#[test]
fn one_flow_takes_the_time_of_its_bytes_and_links() {
    // 10 packets of 4,150 bytes on the wire: 17.0107 us, as the consortium's simulator publishes.
    let ten = times(&[&one(10 * 4086)]);
    assert_eq!(ten, [closed_form(41_500, 4_150)]);
    assert_eq!(ten, [17_010_720]);
    // 100 packets: 46.8907 us.
    assert_eq!(times(&[&one(100 * 4086)]), [46_890_720]);
    // 490 packets, of which the last is short: it catches up with the one before at each link.
    // 176.2 us.
    let whole = 489 * 4_150;
    let short = 2_000_000 - 489 * 4_086 + 64;
    let expected = 12_000_000 + 80 * (whole + 5 * 4_150 + short + 6 * 64);
    assert_eq!(times(&[&one(2_000_000)]), [expected]);
    assert_eq!(expected / 10_000, 17_619);
}

#[test]
fn an_incast_takes_the_time_of_its_bytes_under_credit() {
    // 7 senders under one leaf with the receiver: 0.99 of the line, less what the first window
    // gets ahead.
    let incast = "jobs=[{name: a, ranks: 8, collectives: [{collective: incast, size: 16000000B}]}]";
    let control =
        "endpoint.nic.transport.congestion_control={kind: rccc, oversubscription_control: false}";
    let last = *times(&[incast, control]).last().expect("it has flows");
    let bytes = 7.0 * (2_000_000.0 + 490.0 * 64.0);
    let ideal = bytes * 80.0 / 0.99;
    let over = last as f64 / ideal;
    assert!((0.98..1.02).contains(&over), "{over} of the ideal");
}

#[test]
fn connections_that_wait_for_their_turns_are_not_sent_again() {
    // 127 connections of a NIC at 100G have a turn every 42 us, so the four packets that a receiver
    // acknowledges together leave within 170 us; the timeout is 44 us. Nothing is lost but for what
    // the switch says it trimmed or dropped.
    let scenario = "
fabric: {kind: single-switch, hosts: 128, rate: 100Gbps, switch: {classes: [{class: 3, limit: 60kB, ecn: {kmin: 15kB, kmax: 45kB, pmax: 1}, trim: {to: 6}}, {class: 6, scheduling: strict, limit: 60kB}]}}
endpoint: {nic: {transport: ultra-ethernet}}
jobs: [{collectives: [{collective: all-to-all, size: 2MiB}]}]
observe: {samples: false}
";
    let loaded = load(scenario, "turns.yaml", Format::Yaml, &[], None);
    let plan = loaded.unwrap_or_else(|errors| panic!("{errors}")).plan;
    let trial = Engine::windowed(1).run(&plan).expect("it runs");
    let totals = &trial.outcome.summary.totals;
    let missed = totals.trimmed_frames + totals.dropped_frames;
    assert!(
        totals.retransmitted_frames <= missed + missed / 2,
        "{} sent again for {missed} that were trimmed or dropped",
        totals.retransmitted_frames
    );
}

#[test]
fn receivers_grant_no_less_than_the_share_of_an_oversubscribed_core() {
    // 4:1, a permutation of 2 MB at 100G: 651 us at the fair share of the core, and 723 us at the
    // floor of 0.9 of it; without such control, 39,731 packets were trimmed.
    let scenario = "
fabric: {kind: leaf-spine, leaves: 4, hosts_per_leaf: 8, spines: 2, host_rate: 100Gbps, uplink_rate: 100Gbps, host_delay: 1us, fabric_delay: 1us, switch: {forwarding: store-and-forward, pipeline_latency: 0ns, classes: [{class: 0, limit: 115640B, ecn: {kmin: 24780B, kmax: 99120B, pmax: 1, mark: dequeue}, trim: {to: 6, size: 44B}}, {class: 6, scheduling: strict, limit: 239540B}]}}
endpoint: {addresses: {dscp: 0}, nic: {control_dscp: 48, transport: {kind: ultra-ethernet, payload: 4086B, header: 44B, control_frame: 44B, congestion_control: rccc, entropy: {kind: mixed, values: 64}}}}
jobs: [{ranks: 32, collectives: [{collective: permutation, algorithm: random, size: 2000000B}]}]
observe: {samples: false}
";
    let run = |set: &[String]| {
        let loaded = load(scenario, "core.yaml", Format::Yaml, set, None);
        let plan = loaded.unwrap_or_else(|errors| panic!("{errors}")).plan;
        let trial = Engine::windowed(1).run(&plan).expect("it runs");
        let last = trial
            .rows
            .flows
            .iter()
            .map(|row| row.acknowledged - row.posted);
        let last = last.max().map_or(0.0, |time| time.as_ns() / 1e3);
        (last, trial.outcome.summary.totals.trimmed_frames)
    };
    let (us, trimmed) = run(&[]);
    assert!((651.0..820.0).contains(&us), "{us} us");
    assert!(trimmed < 4_000, "{trimmed}");
    // On a full core, and beside windows of senders, nothing is held back.
    let control = |value: &str| format!("endpoint.nic.transport.congestion_control={value}");
    let full = "fabric.spines=8".to_owned();
    let off = "{kind: rccc, oversubscription_control: false}";
    let same = run(&[full.clone(), control(off)]);
    assert_eq!(run(&[full]), same);
    let off = "{kind: nscc+rccc, oversubscription_control: false}";
    assert_eq!(run(&[control("nscc+rccc")]), run(&[control(off)]));
}

#[test]
fn what_is_trimmed_last_is_granted() {
    // Eight senders with three packets each, and a queue of five: most are trimmed, the last of a
    // sender too. All take 20 us at 40G; a timeout is 21 us.
    let scenario = "
fabric: {kind: single-switch, hosts: 9, rate: 40Gbps, switch: {classes: [{class: 3, limit: 21kB, trim: {to: 6}}, {class: 6, scheduling: strict, limit: 42kB}]}}
endpoint: {nic: {control_dscp: 48, transport: {kind: ultra-ethernet, congestion_control: eqds}}}
jobs: [{collectives: [{collective: incast, root: 0, algorithm: parallel, size: 110592B}]}]
observe: {samples: false}
";
    for kind in ["eqds", "ndp"] {
        let set = [format!("endpoint.nic.transport.congestion_control={kind}")];
        let loaded = load(scenario, "last.yaml", Format::Yaml, &set, None);
        let plan = loaded.unwrap_or_else(|errors| panic!("{errors}")).plan;
        let trial = Engine::windowed(1).run(&plan).expect("it runs");
        let totals = &trial.outcome.summary.totals;
        assert!(totals.trimmed_frames > 8, "{}", totals.trimmed_frames);
        let times = trial
            .rows
            .flows
            .iter()
            .map(|row| row.acknowledged - row.posted);
        let last = times.max().map_or(0.0, |time| time.as_ns() / 1e3);
        assert!(last < 60.0, "{kind}: {last} us");
    }
}
