//! A job that can never be done ends the run and says why, whatever background load goes on: at the
//! same instant on every engine.

use tenter::resolve::{Format, load};
use tenter_sim::plan::Plan;
use tenter_testkit::Engine;

/// Longer than any of these runs, and far from the longest that is simulated.
const SOON_NS: f64 = 1e9;

fn plan(text: &str) -> Plan {
    match load(text, "stalls.yaml", Format::Yaml, &[], None) {
        Ok(loaded) => loaded.plan,
        Err(errors) => panic!("{}", errors.render()),
    }
}

/// Runs a scenario on all engines; why its first job is not done, and when the run ended.
fn failure(text: &str) -> (String, f64) {
    let plan = plan(text);
    let mut first: Option<(String, String, f64)> = None;
    for engine in Engine::all(7) {
        let trial = engine
            .run(&plan)
            .unwrap_or_else(|error| panic!("{engine}: {error}"));
        let outcome = trial.outcome;
        assert!(!outcome.summary.complete, "{engine}");
        let failure = outcome.jobs[0].failure.clone();
        let failure = failure.unwrap_or_else(|| panic!("{engine}: no reason"));
        let found = (
            outcome.digest.to_string(),
            failure,
            outcome.summary.engine.simulated_ns,
        );
        assert!(found.2 < SOON_NS, "{engine}: {found:?}");
        assert_eq!(
            first.get_or_insert_with(|| found.clone()),
            &found,
            "{engine}"
        );
    }
    let (_, failure, end) = first.expect("there are engines");
    (failure, end)
}

/// Nobody sends anything once the only switch is gone; what was never sent does not time out.
#[test]
fn a_stream_beside_a_switch_that_is_gone_ends() {
    let (failure, _) = failure(
        "
fabric: {kind: single-switch, hosts: 3}
endpoint: {nic: {retransmission_timeout: 1ms}}
jobs:
  - {name: tested, collectives: [{collective: broadcast, size: 256KiB}]}
  - {name: load, background: true, flows: [{from: 1, to: 2, rate: 40Gbps}]}
faults: {events: [{switch: leaf0, down: 500ns}]}
",
    );
    assert!(failure.contains("is down since 500ns"), "{failure}");
}

#[test]
fn a_sender_without_a_link_ends_a_run_that_others_go_on_with() {
    let (failure, _) = failure(
        "
fabric: {kind: single-switch, hosts: 4}
jobs:
  - {name: tested, ranks: [host0, host1], collectives: [{collective: broadcast, size: 256KiB}]}
  - {name: load, background: true, flows: [{from: 2, to: 3, rate: 10Gbps}]}
faults: {events: [{link: host0-leaf0, down: 500ns}]}
",
    );
    assert!(
        failure.contains("the link host0:0 to leaf0:0 is down since 500ns"),
        "{failure}"
    );
}

#[test]
fn collectives_in_the_background_end_too() {
    let (failure, _) = failure(
        "
fabric: {kind: leaf-spine, leaves: 2, hosts_per_leaf: 3, spines: 2, flow_control: pfc}
jobs:
  - {name: tested, ranks: [0, 3], collectives: [{collective: broadcast, size: 256KiB}]}
  - {name: load, ranks: [1, 4], background: true, collectives: [{collective: send-recv, size: 64KiB}]}
  - {name: lost, ranks: [2, 5], background: true, collectives: [{collective: send-recv, size: 64KiB}]}
faults: {events: [{link: host0-leaf0, down: 500ns}, {link: host2-leaf0, down: 500ns}]}
",
    );
    assert!(
        failure.contains("the link host0:0 to leaf0:0 is down since 500ns"),
        "{failure}"
    );
}

/// A link that comes back long after all others are idle is waited for.
#[test]
fn a_repair_to_come_is_waited_for() {
    let plan = plan(
        "
fabric: {kind: single-switch, hosts: 4}
jobs:
  - {name: tested, ranks: [host0, host1], collectives: [{collective: broadcast, size: 256KiB}]}
  - {name: load, background: true, flows: [{from: 2, to: 3, rate: 1Gbps}]}
faults: {events: [{link: host0-leaf0, down: 500ns, up: 30ms}]}
",
    );
    for engine in [Engine::all(7)[0], Engine::all(7)[1]] {
        let trial = engine
            .run(&plan)
            .unwrap_or_else(|error| panic!("{engine}: {error}"));
        assert!(trial.outcome.summary.complete, "{engine}");
        assert!(trial.outcome.summary.engine.simulated_ns > 30e6, "{engine}");
    }
}

/// A switch without any cable has counters of no port.
#[test]
fn telemetry_without_cables() {
    let plan = plan(
        "
fabric:
  kind: leaf-spine
  leaves: 1
  hosts_per_leaf: 3
  spines: 2
  overrides: [{leaf: 0, spine: 1, links: 0}]
  load_balancing: {kind: telemetry, in_order_nics: allow}
jobs: [{collectives: [{collective: all-to-all, size: 16KiB}]}]
",
    );
    for engine in Engine::all(7) {
        let trial = engine
            .run(&plan)
            .unwrap_or_else(|error| panic!("{engine}: {error}"));
        assert!(trial.outcome.summary.complete, "{engine}");
    }
}
