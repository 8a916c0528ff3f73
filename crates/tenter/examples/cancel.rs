//! Runs a trial on a thread of its own, looks how far it is, and cancels it; what was done until
//! then is a partial trial.
//!
//! ```sh
//! cargo run -p tenter --example cancel
//! ```

#![expect(clippy::print_stdout, reason = "a program for people")]

use std::time::Duration;

use tenter::{Error, Run, Scenario};

/// A million all-to-alls: hours of work.
const LONG: &str = "
fabric: {kind: leaf-spine, leaves: 4, hosts_per_leaf: 4, spines: 2}
jobs:
  - name: endless
    iterations: 1000000
    gap: 2us
    collectives: [{collective: all-to-all, size: 256KiB}]
";

fn main() -> Result<(), Error> {
    let plan = Scenario::from_yaml(LONG).resolve()?;
    let expected = plan.packet_hops()?;
    let run = Run::new(&plan).start()?;
    for _ in 0..5 {
        std::thread::sleep(Duration::from_millis(100));
        let progress = run.progress();
        let percent = 100.0 * progress.packet_hops as f64 / expected;
        println!("{percent:.4} %, {} simulated", progress.simulated);
    }
    run.cancel();
    let trial = run.join()?;
    let done = trial.collectives().filter(|row| row.complete).count();
    println!("cancelled: {}, {done} all-to-alls", trial.was_cancelled());
    Ok(())
}
