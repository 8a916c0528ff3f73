//! What a check has built is kept for what is asked of the plan next.

use tenter::{Budget, Limits, Scenario, Time};
use tenter_fabric::topology::Routing;

/// A fabric whose table of routes is most of the work on it.
const WIDE: &str = "
fabric: {kind: leaf-spine, leaves: 2000, hosts_per_leaf: 1, spines: 60}
jobs: [{ranks: 2, collectives: [{collective: all-reduce, size: 1KiB}]}]
";

fn limited(time: Time) -> Budget {
    Budget::new(Limits {
        time,
        ..Limits::NONE
    })
}

/// The least time that some work takes, to 1/64, as a budget without a clock counts it.
fn least_time(works: impl Fn(&Budget) -> bool) -> Time {
    let mut high = Time::from_us(1);
    while !works(&limited(high)) {
        high = high.saturating_mul(2);
    }
    let step = high.ps() / 64;
    let mut times = (32..=64).map(|part| Time::from_ps(step * part));
    times.find(|time| works(&limited(*time))).unwrap_or(high)
}

#[test]
fn a_check_its_notes_and_its_cost_build_one_table_of_routes() {
    let plan = Scenario::from_yaml(WIDE).resolve().expect("it holds");
    let topology = &plan.resolved().topology;
    let table = least_time(|budget| Routing::build(topology, budget).is_ok());
    assert!(table > Time::from_us(5_000), "it is no work: {table}");
    let all = |budget: &Budget| {
        let checked = plan.checked(budget)?;
        checked.notes(budget)?;
        checked.cost(budget)?;
        checked.explain(budget)
    };
    let together = Time::from_ps(table.ps() / 2 * 3);
    all(&limited(together)).expect("a second table would take as long again");
    assert!(all(&limited(Time::from_ps(table.ps() / 2))).is_err());
}
