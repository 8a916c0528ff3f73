//! Compares load balancers at two sizes of an all-to-all, with three seeds each.
//!
//! ```sh
//! cargo run -p tenter --example grid
//! ```

#![expect(clippy::print_stdout, reason = "a program for people")]

use tenter::{Error, Experiment, Scenario, Trial};

const SCENARIO: &str = "
fabric: {kind: leaf-spine, leaves: 4, hosts_per_leaf: 4, spines: 4}
endpoint: {nic: {loss_recovery: selective-repeat}}
jobs:
  - {name: train, collectives: [{collective: all-to-all, size: 1MiB}]}
";

/// How long the job of a trial took, in microseconds.
fn time_us(trial: &Trial) -> Option<f64> {
    Some(trial.jobs().next()?.jct?.as_ns() / 1e3)
}

fn main() -> Result<(), Error> {
    let results = Experiment::new(&Scenario::from_yaml(SCENARIO))
        .vary(
            "fabric.load_balancing.kind",
            ["ecmp", "flowlet", "random-spray"],
        )
        .vary("jobs[0].collectives[0].size", ["256KiB", "4MiB"])
        .seeds(3)
        .run()?;
    for point in &results.points {
        let settings = point.settings.iter().map(|(_, value)| value.as_str());
        let settings: Vec<&str> = settings.collect();
        let times: Vec<f64> = point.trials.iter().filter_map(time_us).collect();
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        println!("{}: {mean:.1} us", settings.join(", "));
    }
    Ok(())
}
