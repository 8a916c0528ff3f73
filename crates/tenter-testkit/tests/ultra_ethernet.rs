//! The transport of Ultra Ethernet: random scenarios on all engines, and times that follow from
//! bytes and delays.

use std::ops::Range;

use tenter_scenario::{Format, load};
use tenter_testkit::{Engine, compare, random_ultra_ethernet};

/// The scenario of the study, which has one flow.
const STUDY: &str = include_str!("../../../studies/ultra-ethernet/validation/scenario.yaml");

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
    let loaded = load(STUDY, "study.yaml", Format::Yaml, &overrides, None);
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
