//! Builds scenarios in code: leaf-spine fabrics of several sizes, and a job over half of the hosts.
//!
//! ```sh
//! cargo run -p tenter --example build_scenario
//! ```

#![expect(clippy::print_stdout, reason = "a program for people")]

use serde_json::json;
use tenter::{Error, Run, Scenario};

/// An all-to-all of the first half of the hosts.
fn scenario(leaves: u32, hosts_per_leaf: u32) -> Result<Scenario, Error> {
    let half = leaves * hosts_per_leaf / 2;
    let ranks: Vec<String> = (0..half).map(|host| format!("host{host}")).collect();
    Scenario::from_value(&json!({
        "name": format!("{leaves} leaves"),
        "fabric": {
            "kind": "leaf-spine",
            "leaves": leaves,
            "hosts_per_leaf": hosts_per_leaf,
            "spines": hosts_per_leaf,
        },
        "jobs": [{
            "name": "train",
            "ranks": ranks,
            "collectives": [{"collective": "all-to-all", "size": "1MiB"}],
        }],
    }))
}

fn main() -> Result<(), Error> {
    for leaves in [2, 4, 8] {
        let plan = scenario(leaves, 4)?
            .set("fabric.load_balancing.kind", "random-spray")
            .set("endpoint.nic.loss_recovery", "selective-repeat")
            .resolve()?;
        let trial = Run::new(&plan).run()?;
        for job in trial.jobs() {
            println!("{}: {:?}", plan.name(), job.jct);
        }
    }
    Ok(())
}
