//! Runs a scenario file and prints how long its jobs took.
//!
//! ```sh
//! cargo run -p tenter --example run_scenario -- scenarios/quickstart.yaml
//! ```

#![expect(clippy::print_stdout, reason = "a program for people")]

use tenter::{Error, Run, Scenario};

fn main() -> Result<(), Error> {
    let file = std::env::args().nth(1);
    let file = file.unwrap_or_else(|| "scenarios/quickstart.yaml".to_owned());
    let plan = Scenario::read(&file)?.resolve()?;
    print!("{}", plan.warnings().render_as("warning"));
    println!("{file}: about {:.0} packet-hops", plan.packet_hops()?);

    let trial = Run::new(&plan).run()?;
    for job in trial.jobs() {
        match job.jct {
            Some(time) => println!("{}: {time}", job.name),
            None => println!("{}: not completed", job.name),
        }
    }
    for row in trial.collectives().filter(|row| !row.warm_up) {
        let percent = row.percent_of_ideal.unwrap_or(f64::NAN);
        let (name, bytes) = (&row.collective, row.size_bytes);
        println!("  {name}, {bytes} bytes: {percent:.1} % of the ideal");
    }
    println!("digest {}", trial.digest());
    Ok(())
}
