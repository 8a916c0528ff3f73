//! `tenter explain`: prints a scenario's meaning, cost and parts.

use std::fmt::Write as _;

use tenter::report::explanation_text;
use tenter::{SpeedUp, Time};

use crate::command::arguments::{Explain, TextFormat};
use crate::command::exit::ExitCode;
use crate::command::failure::{Failure, print, print_tables};
use crate::command::source;

pub(crate) fn explain(arguments: &Explain) -> Result<ExitCode, Failure> {
    let (plan, explanation) = arguments.allowance.within(|budget| {
        let plan = source::read(&arguments.scenario, budget)?;
        let explanation = plan.explain_within(budget)?;
        Ok((plan, explanation))
    })?;
    // Not within the budget: this runs the beginning of the trial.
    let speed_ups = plan.speed_ups(&arguments.threads)?;
    match arguments.format {
        TextFormat::Text => {
            print_tables(&explanation_text(&explanation));
            if !speed_ups.is_empty() {
                print_tables(&table(&speed_ups));
            } else if !arguments.threads.is_empty() {
                print("note: flow level has one thread; add `--fidelity packet`\n");
            }
        }
        TextFormat::Json => {
            let value = serde_json::to_value(&explanation).and_then(|mut value| {
                if !speed_ups.is_empty() {
                    value["speed_ups"] = serde_json::to_value(&speed_ups)?;
                }
                serde_json::to_string_pretty(&value)
            });
            let text = value.map_err(|error| Failure::other(error.to_string()))?;
            print(&format!("{text}\n"));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Formats the speed-up that more threads would bring, as a table.
fn table(speed_ups: &[SpeedUp]) -> String {
    let mut text = "\nthreads  expected  if meeting    work in windows\n         speed-up  were free  worth sharing (%)\n".to_owned();
    for of in speed_ups {
        let _ = writeln!(
            text,
            "{:>7}  {:>8.2}  {:>9.2}  {:>17.1}",
            of.threads, of.speed_up, of.balance, of.shared_percent
        );
    }
    if let Some(first) = speed_ups.first() {
        let _ = writeln!(
            text,
            "measured on the first {} of the trial, on one thread",
            Time::from_ps((first.simulated_ns * 1e3) as u64).rounded()
        );
    }
    text
}
