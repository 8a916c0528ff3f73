//! Random scenarios take every way there is through a visit of a switch, so that comparing them
//! with the reference engine says something about each.

use tenter_fabric::net::VisitCounts;
use tenter_sim::{AnySimulation, Driver, NodeModel, Options, Simulation};
use tenter_testkit::random_scenario;

/// The first of those that the differential test compares.
const SCENARIOS: u64 = 1_000;

#[test]
fn random_scenarios_take_every_way_through_a_visit() {
    let mut sum = VisitCounts::default();
    for seed in 0..SCENARIOS {
        let plan = random_scenario(seed).plan;
        let simulation = Simulation::new(&plan, Options::default());
        let simulation = simulation.expect("a random scenario can be run");
        let mut simulation = AnySimulation::Plain(simulation);
        simulation.run(&mut ()).expect("it runs");
        let AnySimulation::Plain(simulation) = &simulation else {
            continue;
        };
        let driver = simulation.driver();
        let parts = (0..driver.parts()).map(|part| driver.fabric(part).nodes());
        for node in parts.flatten() {
            let NodeModel::Switch(switch) = node else {
                continue;
            };
            sum += switch.visit_counts();
        }
    }
    assert!(sum.by_port >= 100_000, "{sum:?}");
    assert!(sum.in_order >= 1_000, "{sum:?}");
    assert!(sum.in_time_order >= 1_000, "{sum:?}");
    assert!(sum.journals_in_order >= 1_000, "{sum:?}");
    assert!(sum.journals - sum.journals_in_order >= 100, "{sum:?}");
    assert!(sum.slots_in_order >= 1_000, "{sum:?}");
    assert!(sum.slots_by_port >= 1_000, "{sum:?}");
    assert!(sum.late_releases >= 10, "{sum:?}");
}
