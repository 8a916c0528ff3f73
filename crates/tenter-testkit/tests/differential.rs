//! A thousand random scenarios give the same records to the bit on the reference engine, on one,
//! two and three threads, and with windows of other lengths.
//!
//! Whatever differs is a defect. The failure names a command that runs the scenario again and shows
//! the first event that differs.

use std::ops::Range;

use tenter_fabric::net::{ClassSpec, Headroom};
use tenter_results::{NoteCode, PortRow, Summary};
use tenter_sim::plan::{OnChange, Plan};
use tenter_testkit::{Engine, RandomScenario, Trial, compare, random_scenario};

/// How many scenarios there are; their seeds are counted from 0.
const SCENARIOS: u64 = 1_000;
/// One test runs one in so many, so that each processor has something to do.
const SHARES: u64 = 4;
/// Failures that are shown.
const SHOWN: usize = 3;

/// What happened in the scenarios, to be sure that they put the engines to the test.
#[derive(Debug, Default)]
struct Seen {
    packet_hops: u64,
    drops: u64,
    naks: u64,
    timeouts: u64,
    queue_pair_errors: u64,
    time_limits: u64,
    central: u64,
    pauses: u64,
    marks: u64,
    lossless_drops: u64,
    nic_drops: u64,
    notifications: u64,
    out_of_order: u64,
    given_up: u64,
    loads: u64,
    lost: u64,
    unsent: u64,
    storms: u64,
    moves: u64,
    kept: u64,
    signals: u64,
    signal_pauses: u64,
}

fn share(number: u64) -> Range<u64> {
    SCENARIOS * number / SHARES..SCENARIOS * (number + 1) / SHARES
}

fn run(seeds: Range<u64>) {
    let count = seeds.end - seeds.start;
    let mut seen = Seen::default();
    let mut failures = Vec::new();
    for seed in seeds {
        let scenario = random_scenario(seed);
        match compare(&scenario) {
            Ok(trials) => {
                let summary = &trials.reference.outcome.summary;
                assert_totals(seed, summary);
                assert_marks(seed, &trials.reference);
                assert_wire(seed, &scenario.plan, &trials.reference);
                seen.kept += u64::from(has_kept_all(&scenario, summary));
                seen.packet_hops += summary.engine.packet_hops;
                seen.drops += u64::from(summary.totals.dropped_frames > 0);
                seen.naks += u64::from(summary.totals.nak_frames > 0);
                seen.timeouts += u64::from(summary.totals.timeouts > 0);
                seen.pauses += u64::from(summary.totals.xoff_frames > 0);
                seen.marks += u64::from(summary.totals.marked_frames > 0);
                seen.lossless_drops += u64::from(summary.totals.lossless_dropped_frames > 0);
                seen.nic_drops += u64::from(summary.totals.nic_dropped_frames > 0);
                seen.notifications += u64::from(summary.totals.cnp_frames > 0);
                seen.out_of_order += u64::from(summary.totals.out_of_order_frames > 0);
                seen.given_up += u64::from(summary.totals.given_up_frames > 0);
                seen.loads += u64::from(is_loaded(summary));
                seen.lost += u64::from(summary.totals.lost_frames > 0);
                seen.unsent += u64::from(summary.totals.unsent_frames > 0);
                seen.moves += u64::from(summary.totals.flow_moves > 0);
                seen.signals += u64::from(summary.totals.signal_frames > 0);
                seen.signal_pauses += u64::from(summary.totals.signal_xoff_frames > 0);
                seen.storms += u64::from(summary.totals.watchdog_storms > 0);
                let failed = summary.jobs.iter().any(|job| job.job.failure.is_some());
                let deadlocked = ["PFC deadlock", "credit deadlock"]
                    .iter()
                    .any(|kind| is_deadlocked(summary, kind));
                let limited = summary.stopped.is_some() && !deadlocked;
                seen.queue_pair_errors += u64::from(failed && !limited && !deadlocked);
                seen.time_limits += u64::from(limited);
                let mut notes = trials.windowed.outcome.summary.notes.iter();
                let is_central = notes.any(|note| note.code == NoteCode::CentralEngine);
                seen.central += u64::from(is_central);
            }
            Err(failure) => failures.push(failure),
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {count} scenarios differ; the first are\n\n{}",
        failures.len(),
        failures[..failures.len().min(SHOWN)].join("\n\n")
    );
    assert_wild(&seen, count);
}

/// The scenarios put the engines to the test, and no longer than anyone waits.
fn assert_wild(seen: &Seen, count: u64) {
    let often = seen.drops.min(seen.naks).min(seen.timeouts);
    let at_times = seen
        .queue_pair_errors
        .min(seen.time_limits)
        .min(seen.central);
    let paused = seen.pauses.min(seen.marks);
    let lost_all_the_same = seen.lossless_drops.min(seen.nic_drops);
    let broken = seen.lost.min(seen.unsent);
    let endured = seen.notifications.min(seen.out_of_order).min(seen.given_up);
    assert!(
        often >= count / 6
            && seen.loads >= count / 40
            && paused >= count / 10
            && at_times >= count / 20
            && lost_all_the_same >= count / 100
            && endured >= count / 100
            && broken >= count / 20
            && seen.signals >= count / 20
            && seen.signal_pauses >= count / 40
            && seen.moves >= count / 125
            && seen.storms >= count / 200
            && seen.kept >= count / 100,
        "the scenarios have become too tame: {seen:?} in {count}"
    );
    // More would take longer than anyone waits for a test.
    assert!(
        seen.packet_hops <= count * 20_000,
        "the scenarios have become too large: {seen:?} in {count}"
    );
}

/// No link carries more than its rate, and no queue holds more than it is said to have held.
fn assert_wire(seed: u64, plan: &Plan, trial: &Trial) {
    // A frame counts from its beginning. Clocks of NICs run up to some 100 ppm fast.
    const FRAME: f64 = 10_000.0;
    const CLOCK: f64 = 1.001;
    let ports = &trial.outcome.counts.ports;
    for port in ports {
        assert!(
            port.utilisation <= CLOCK,
            "{seed}: {} to {} was sending for {} of the time",
            port.node_name,
            port.peer_name,
            port.utilisation
        );
    }
    let Some(interval) = plan.sample_interval else {
        return;
    };
    for sample in &trial.rows.samples {
        let of = |port: &&PortRow| (port.node, port.port) == (sample.node, sample.port);
        let port = ports.iter().find(of).expect("every port has a row");
        let most = port.rate_gbps * interval.as_ns() / 8.0 * CLOCK + FRAME;
        assert!(
            sample.tx_bytes as f64 <= most,
            "{seed}: {} to {} sent {} bytes up to {}, and its line carries {most}",
            port.node_name,
            port.peer_name,
            sample.tx_bytes,
            sample.time
        );
        assert!(
            sample.queue_bytes <= sample.queue_high_water_bytes,
            "{seed}: {sample:?} of {}",
            port.node_name
        );
    }
}

/// Whether the trial was completed beside a load that got something done.
fn is_loaded(summary: &Summary) -> bool {
    let mut loads = summary.jobs.iter().filter(|job| job.job.background);
    summary.complete && loads.any(|job| job.collectives.iter().any(|row| row.complete))
}

/// Whether senders were paused where headroom is sufficient; then nothing may have been dropped.
fn has_kept_all(scenario: &RandomScenario, summary: &Summary) -> bool {
    if !has_sufficient_headroom(&scenario.plan) {
        return false;
    }
    let totals = &summary.totals;
    assert_eq!(totals.lossless_dropped_frames, 0, "seed {}", scenario.seed);
    totals.xoff_frames > 0
}

/// Whether no frame of a lossless class may be lost: all headroom is the model's, pauses outlast
/// their repetition, ports do not share it, and nothing goes wrong on links.
fn has_sufficient_headroom(plan: &Plan) -> bool {
    let sufficient = |class: &ClassSpec| {
        let of = class.lossless.as_ref();
        of.is_none_or(|of| of.headroom == Headroom::Model && of.quanta == u16::MAX)
    };
    let circuits = plan.circuits.as_ref();
    let shared = plan.switches.usual.sharing.headroom_pool_bytes;
    plan.faults.events.is_empty()
        && shared.is_none()
        && circuits.is_none_or(|of| of.on_change == OnChange::Drain)
        && plan.impairments.is_empty()
        && plan.watchdog.is_none()
        && !plan.switches.any_class(|class| !sufficient(class))
}

fn is_deadlocked(summary: &Summary, kind: &str) -> bool {
    let stopped = summary.stopped.as_deref();
    stopped.is_some_and(|why| why.starts_with(kind))
}

/// Where every flow has ended, the flows' own counts add up to the totals of the NICs.
fn assert_totals(seed: u64, summary: &Summary) {
    let collectives = || summary.jobs.iter().flat_map(|job| &job.collectives);
    let totals = &summary.totals;
    let acknowledged: u64 = collectives().map(|row| row.flows).sum();
    // A load is cut off with flows under way, and a time limit may strike between the last arrival
    // and its acknowledgement.
    let loaded = summary.jobs.iter().any(|job| job.job.background);
    // Data that arrived and of which no acknowledgement did has no row.
    let gave_up = summary
        .notes
        .0
        .iter()
        .any(|note| note.code == NoteCode::GaveUp);
    let ended = summary.complete && summary.stopped.is_none() && !loaded && !gave_up;
    if ended && acknowledged == totals.flows {
        let sums = collectives().fold((0, 0, 0), |sums, row| {
            (
                sums.0 + row.tx_frames,
                sums.1 + row.rx_frames,
                sums.2 + row.retransmitted_frames,
            )
        });
        let counted = (
            totals.tx_frames,
            totals.rx_frames,
            totals.retransmitted_frames,
        );
        assert_eq!(sums, counted, "scenario {seed}");
    }
}

/// No mark is told of two chunks, and none is left out where every flow has ended and nothing
/// overtook anything or was given up.
fn assert_marks(seed: u64, trial: &Trial) {
    let totals = &trial.outcome.summary.totals;
    let marked: u64 = trial
        .rows
        .flows
        .iter()
        .map(|flow| flow.rx_marked_frames)
        .sum();
    let told: u64 = trial.rows.flows.iter().map(|flow| flow.cnp_frames).sum();
    assert!(
        marked <= totals.rx_marked_frames && told <= totals.cnp_frames,
        "scenario {seed}: {marked} marks and {told} notifications of chunks"
    );
    let summary = &trial.outcome.summary;
    let again = totals.retransmitted_frames
        + totals.lost_frames
        + totals.out_of_order_frames
        + totals.given_up_frames;
    let loaded = summary.jobs.iter().any(|job| job.job.background);
    if summary.complete && !loaded && again == 0 {
        let all = (totals.rx_marked_frames, totals.cnp_frames);
        assert_eq!((marked, told), all, "scenario {seed}");
    }
}

#[test]
fn engines_agree_on_the_first_quarter() {
    run(share(0));
}

#[test]
fn engines_agree_on_the_second_quarter() {
    run(share(1));
}

#[test]
fn engines_agree_on_the_third_quarter() {
    run(share(2));
}

#[test]
fn engines_agree_on_the_fourth_quarter() {
    run(share(3));
}

#[test]
fn pauses_go_round_in_some() {
    let scenarios = (0..SCENARIOS).map(random_scenario);
    let rings = scenarios.filter(|scenario| !scenario.plan.topology.routes.is_empty());
    let [_, windowed, ..] = Engine::all(0);
    let (mut of_pauses, mut of_credit) = (0, 0);
    for scenario in rings {
        let trial = windowed.run(&scenario.plan).expect("the scenario runs");
        let summary = &trial.outcome.summary;
        of_pauses += u32::from(is_deadlocked(summary, "PFC deadlock"));
        of_credit += u32::from(is_deadlocked(summary, "credit deadlock"));
    }
    assert!(
        of_pauses >= 8 && of_credit >= 2,
        "{of_pauses} deadlocks by pauses and {of_credit} by credit in {SCENARIOS} scenarios"
    );
}
