//! Runs a random scenario again on every engine and shows where they differ.
//!
//! ```text
//! cargo run -p tenter-testkit --example replay -- SEED
//! ```

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command")]

use std::process::ExitCode;

use tenter_testkit::{
    Engine, Probe, RandomScenario, Trial, difference, first_divergence, random_scenario,
};

fn main() -> ExitCode {
    let argument = std::env::args().nth(1);
    let Some(seed) = argument.and_then(|text| text.parse().ok()) else {
        eprintln!(
            "give the seed of a scenario: cargo run -p tenter-testkit --example replay -- 17"
        );
        return ExitCode::from(2);
    };
    // A panic is told of once, with the engine it happened in.
    std::panic::set_hook(Box::new(|_| {}));
    let scenario = random_scenario(seed);
    println!("{}", scenario.text);
    let [reference, others @ ..] = Engine::all(seed);
    let expected = reference.run(&scenario.plan);
    match &expected {
        Ok(trial) => println!("{reference}: digest {}", trial.outcome.digest),
        Err(how) => println!("{reference}: {how}"),
    }
    let equal = others
        .iter()
        .filter(|engine| is_equal(&scenario, expected.as_ref().ok(), **engine));
    if equal.count() == others.len() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Compares one engine with the reference and says what it found.
fn is_equal(scenario: &RandomScenario, expected: Option<&Trial>, engine: Engine) -> bool {
    let trial = engine.run(&scenario.plan);
    let both_fail = expected.is_none() && trial.is_err();
    let how = match (expected, trial) {
        (Some(left), Ok(right)) => match difference(left, &right) {
            None => {
                println!("{engine}: equal");
                return true;
            }
            Some(how) => how,
        },
        (_, Err(how)) => how,
        (None, Ok(right)) => format!("digest {}", right.outcome.digest),
    };
    println!("\n{engine}: {how}");
    if both_fail {
        return false;
    }
    println!("Events, left on {}, right on {engine}:", Engine::Reference);
    // A side that fails is compared as far as it comes.
    let left = |probe: &Probe| drop(Engine::Reference.run_watched(&scenario.plan, probe));
    let right = |probe: &Probe| drop(engine.run_watched(&scenario.plan, probe));
    match first_divergence(&left, &right) {
        None => println!("  no event differs"),
        Some(divergence) => print!("{}", divergence.describe(&scenario.plan.topology)),
    }
    false
}
