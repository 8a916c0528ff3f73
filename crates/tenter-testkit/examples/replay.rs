//! Runs a random scenario again on every engine and shows where they differ.
//!
//! ```text
//! cargo run -p tenter-testkit --example replay -- SEED
//! ```

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use tenter_testkit::{
    Engine, Probe, RandomScenario, difference, first_divergence, random_scenario,
};

fn main() -> ExitCode {
    let argument = std::env::args().nth(1);
    let Some(seed) = argument.and_then(|text| text.parse().ok()) else {
        eprintln!(
            "write the seed of a scenario: cargo run -p tenter-testkit --example replay -- 17"
        );
        return ExitCode::from(2);
    };
    let scenario = random_scenario(seed);
    println!("{}", scenario.text);
    let [reference, others @ ..] = Engine::all(seed);
    let equal = others
        .iter()
        .filter(|engine| is_equal(&scenario, reference, **engine));
    if equal.count() == others.len() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Compares one engine with the reference and says what it found.
fn is_equal(scenario: &RandomScenario, reference: Engine, engine: Engine) -> bool {
    let run = |engine: Engine| {
        catch_unwind(AssertUnwindSafe(|| engine.run(&scenario.plan)))
            .map_err(|_| "panicked".to_owned())
            .and_then(|result| result.map_err(|error| error.to_string()))
    };
    let how = match (run(reference), run(engine)) {
        (Ok(left), Ok(right)) => match difference(&left, &right) {
            None => {
                println!("{engine}: equal, digest {}", left.outcome.digest);
                return true;
            }
            Some(how) => how,
        },
        (Err(how), Ok(_)) => format!("{reference} fails: {how}"),
        (Ok(_), Err(how)) => how,
        (Err(left), Err(right)) => format!("{right}; and {reference} fails: {left}"),
    };
    println!("{engine}: {how}");
    // What a side makes of it does not matter here: its events do, as far as it comes.
    let watch = |engine: Engine, probe: &Probe| {
        let _ = catch_unwind(AssertUnwindSafe(|| {
            engine.run_watched(&scenario.plan, probe)
        }));
    };
    let left = |probe: &Probe| watch(reference, probe);
    let right = |probe: &Probe| watch(engine, probe);
    match first_divergence(&left, &right) {
        None => println!("  No event differs."),
        Some(divergence) => println!("{}", divergence.describe(&scenario.plan.topology)),
    }
    false
}
