//! Steady states are jumped over without any change of the records.

use std::ops::Range;

use tenter_results::{FlowRow, Progress};
use tenter_sim::plan::{Plan, SteadyState};
use tenter_testkit::{
    Engine, RandomScenario, Trial, cases, difference, random_rings, random_scenario,
    random_transfers,
};

/// How many scenarios with long transfers there are, which take more than a minute; `make test`
/// runs the first of them, and `make test-all` all.
const SCENARIOS: u64 = 1_000;
const SCENARIOS_QUICK: u64 = 320;
/// How many with rings.
const RINGS: u64 = 500;
const RINGS_QUICK: u64 = 160;
/// One test runs one in so many, so that each processor has something to do.
const SHARES: u64 = 4;
/// One in so many is also run on the reference engine, and on several threads.
const JUDGED: u64 = 5;
/// Failures that are shown.
const SHOWN: usize = 3;

fn run(engine: Engine, plan: &Plan, state: SteadyState) -> Trial {
    let plan = Plan {
        steady_state: state,
        ..plan.clone()
    };
    engine.run(&plan).unwrap_or_else(|how| panic!("{how}"))
}

/// What jumps came to.
#[derive(Debug, Default)]
struct Seen {
    scenarios: u64,
    jumped: u64,
    jumps: u64,
    hops: u64,
    hops_jumped: u64,
    pauses: u64,
    marks: u64,
}

impl Seen {
    fn add(&mut self, trial: &Trial) {
        let summary = &trial.outcome.summary;
        let engine = &summary.engine;
        self.scenarios += 1;
        self.jumped += u64::from(engine.jumps > 0);
        self.jumps += engine.jumps;
        self.hops += engine.packet_hops;
        self.hops_jumped += engine.jumped_packet_hops;
        if engine.jumps > 0 {
            self.pauses += u64::from(summary.totals.xoff_frames > 0);
            self.marks += u64::from(summary.totals.marked_frames > 0);
        }
    }
}

/// Jumps, their periods, and the packets in them.
fn counts(trial: &Trial) -> [u64; 3] {
    let engine = &trial.outcome.summary.engine;
    [
        engine.jumps,
        engine.jumped_periods,
        engine.jumped_packet_hops,
    ]
}

/// How the records of a plan change by jumps, if they do.
fn change(plan: &Plan, is_judged: bool, seen: &mut Seen) -> Option<String> {
    let mut simulated = run(Engine::windowed(1), plan, SteadyState::Simulate);
    assert_eq!(simulated.outcome.summary.engine.jumps, 0);
    let jumped = run(Engine::windowed(1), plan, SteadyState::Jump);
    seen.add(&jumped);
    let counts = counts(&jumped);
    let mut trials = vec![("one thread", jumped)];
    if is_judged {
        let jump = |threads| run(Engine::windowed(threads), plan, SteadyState::Jump);
        trials.push(("two threads", jump(2)));
        trials.push(("three threads", jump(3)));
        for (_, trial) in &trials {
            assert_eq!(self::counts(trial), counts, "jumps depend on threads");
        }
        let reference = run(Engine::Reference, plan, SteadyState::Simulate);
        trials.push(("the reference engine", reference));
    }
    // Rows and progress may be told at other times.
    let in_order = |trial: &mut Trial| {
        let order = |row: &FlowRow| {
            let turn = (row.job, row.iteration, row.collective);
            (turn, row.transfer, row.queue_pair)
        };
        trial.rows.flows.sort_by_key(order);
        trial.rows.progress = Progress::default();
    };
    in_order(&mut simulated);
    for (_, trial) in &mut trials {
        in_order(trial);
    }
    let differs = |(how, trial): &(&str, Trial)| {
        let difference = difference(&simulated, trial)?;
        Some(format!("{how}: {difference}"))
    };
    trials.iter().find_map(differs)
}

fn check(seeds: Range<u64>, scenario: impl Fn(u64) -> RandomScenario) -> Seen {
    let mut seen = Seen::default();
    let mut failures = Vec::new();
    for seed in seeds {
        let scenario = scenario(seed);
        let is_judged = seed % JUDGED == 0;
        if let Some(how) = change(&scenario.plan, is_judged, &mut seen) {
            failures.push(format!("seed {seed}: {how}\n{}", scenario.text));
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {} scenarios differ; the first are\n\n{}",
        failures.len(),
        seen.scenarios,
        failures[..failures.len().min(SHOWN)].join("\n\n")
    );
    seen
}

/// The seeds of a share.
fn share_of(all: u64, share: u64) -> Range<u64> {
    all * share / SHARES..all * (share + 1) / SHARES
}

fn check_transfers(share: u64) {
    let seen = check(
        share_of(cases(SCENARIOS_QUICK, SCENARIOS), share),
        random_transfers,
    );
    assert!(seen.jumped * 6 > seen.scenarios, "{seen:?}");
    // A few scenarios need not have everything.
    if cases(0, 1) == 1 {
        assert!(seen.jumped * 4 > seen.scenarios, "{seen:?}");
        assert!(seen.pauses > 0 && seen.marks > 0, "{seen:?}");
    }
}

fn check_rings(share: u64) {
    let seen = check(share_of(cases(RINGS_QUICK, RINGS), share), random_rings);
    assert!(seen.jumped * 5 > seen.scenarios, "{seen:?}");
}

#[test]
fn a_first_quarter_of_rings_is_the_same_with_jumps_over_whole_steps() {
    check_rings(0);
}

#[test]
fn a_second_quarter_of_rings_is_the_same_with_jumps_over_whole_steps() {
    check_rings(1);
}

#[test]
fn a_third_quarter_of_rings_is_the_same_with_jumps_over_whole_steps() {
    check_rings(2);
}

#[test]
fn a_fourth_quarter_of_rings_is_the_same_with_jumps_over_whole_steps() {
    check_rings(3);
}

#[test]
fn a_long_ring_jumps_over_nearly_all_its_steps() {
    let text = "fabric: {kind: single-switch, hosts: 24, rate: 400Gbps}\n\
        jobs: [{name: a, ranks: 24, collectives: [{collective: all-reduce, algorithm: ring, \
        size: 192MiB}]}]\nengine: {steady_state: jump}\nobserve: {samples: false}\n";
    let loaded = tenter::resolve::load(text, "ring.yaml", tenter::resolve::Format::Yaml, &[], None);
    let plan = loaded.expect("a scenario").plan;
    let mut seen = Seen::default();
    assert_eq!(change(&plan, true, &mut seen), None);
    assert!(seen.hops_jumped * 10 > seen.hops * 9, "{seen:?}");
}

#[test]
fn a_first_quarter_of_long_transfers_is_the_same_with_jumps() {
    check_transfers(0);
}

#[test]
fn a_second_quarter_of_long_transfers_is_the_same_with_jumps() {
    check_transfers(1);
}

#[test]
fn a_third_quarter_of_long_transfers_is_the_same_with_jumps() {
    check_transfers(2);
}

#[test]
fn a_fourth_quarter_of_long_transfers_is_the_same_with_jumps() {
    check_transfers(3);
}

#[test]
fn whatever_a_scenario_is_it_is_the_same_with_jumps() {
    let mut seen = Seen::default();
    for seed in 0..200 {
        let scenario = random_scenario(seed);
        let how = change(&scenario.plan, false, &mut seen);
        assert_eq!(how, None, "seed {seed}\n{}", scenario.text);
    }
}
