//! Builds scenarios in code from typed values, as `build_scenario` does from JSON: the compiler
//! checks the names of keys, and `resolve` their values.
//!
//! ```sh
//! cargo run -p tenter --example typed_scenario
//! ```

#![expect(clippy::print_stdout, reason = "a program for people")]

use tenter::spec::collective::AllToAllParallel;
use tenter::spec::load_balancing::{LoadBalancing, RandomSpray};
use tenter::spec::loss_recovery::{LossRecovery, SelectiveRepeat};
use tenter::spec::{self, CollectiveSpec, HostRef, LeafSpine, Ranks};
use tenter::{Bytes, Error, Run, Scenario};

/// An all-to-all of the first half of the hosts.
fn scenario(leaves: u32, hosts_per_leaf: u32) -> spec::Scenario {
    let half = leaves * hosts_per_leaf / 2;
    let exchange = CollectiveSpec::new(AllToAllParallel, Bytes::new(1 << 20));
    let mut job = spec::job("train", vec![exchange]);
    job.ranks = Ranks::Hosts(vec![HostRef::Stretch(0, half - 1)]);

    let fabric = LeafSpine::new(leaves, hosts_per_leaf, hosts_per_leaf);
    let mut scenario = spec::Scenario::new(fabric);
    scenario.name = format!("{leaves} leaves");
    let spray = LoadBalancing::RandomSpray(RandomSpray::default());
    scenario.fabric.load_balancing = Some(spray.into());
    // Packets overtake each other.
    let repeat = LossRecovery::SelectiveRepeat(SelectiveRepeat::default());
    scenario.endpoint.nic.loss_recovery = repeat;
    scenario.jobs.push(job);
    scenario
}

fn main() -> Result<(), Error> {
    for leaves in [2, 4, 8] {
        let plan = Scenario::from(&scenario(leaves, 4)).resolve()?;
        let trial = Run::new(&plan).run()?;
        for job in trial.jobs() {
            println!("{}: {:?}", plan.name(), job.jct);
        }
    }
    Ok(())
}
