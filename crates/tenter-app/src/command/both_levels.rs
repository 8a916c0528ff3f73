//! `tenter run --fidelity both`: runs a scenario with packets and with flows, side by side.

use serde_json::json;
use tenter::report::{NamedSummary, comparison_rows, comparison_table, csv};
use tenter::{BothLevels, compare_levels};
use tenter_results::{Names, Notes};

use crate::command::arguments::{OutputFormat, Run};
use crate::command::calibrate_fidelity::percents;
use crate::command::exit::ExitCode;
use crate::command::failure::{Failure, print, print_tables, say};
use crate::command::source;
use crate::command::trial::exit_code;

pub(crate) fn run(arguments: &Run) -> Result<ExitCode, Failure> {
    let asks_for_more = [
        arguments.output.is_some(),
        arguments.seeds.is_some(),
        arguments.watch.is_some(),
        arguments.perfetto,
        arguments.asked_interference().is_some(),
    ];
    if asks_for_more.contains(&true) {
        return Err(Failure::input(
            "`--fidelity both` keeps no folder and runs one seed of all jobs: leave out --output, --seeds, --watch, --perfetto, --baseline and --interference, or run each level by itself",
        ));
    }
    let mut asked = arguments.scenario.clone();
    // Each level is set by `compare_levels`.
    asked.fidelity = None;
    let scenario = source::scenario(&asked)?;
    let both = compare_levels(&scenario, arguments.threads.count)?;
    let named = |name: &str, trial: &tenter::Trial| NamedSummary {
        name: name.to_owned(),
        summary: trial.summary().clone(),
    };
    let trials = [named("packets", &both.packets), named("flows", &both.flows)];
    let rows = comparison_rows(&trials);
    match arguments.format {
        OutputFormat::Table => {
            print_tables(comparison_table(&rows).trim_start_matches('\n'));
            print(&errors(&both));
        }
        OutputFormat::Csv => print(&csv(&rows, &Names::default())),
        OutputFormat::Json => {
            let errors = both.errors();
            let document = json!({
                "comparison": rows,
                "errors_percent": {
                    "jct": errors.jct,
                    "fct_p50": errors.fct_p50,
                    "fct_p99": errors.fct_p99,
                },
                "packets": trials[0].summary,
                "flows": trials[1].summary,
            });
            print(&format!("{document:#}\n"));
        }
    }
    let notes = [&both.packets, &both.flows].map(|trial| &trial.summary().notes);
    for note in Notes::of_all(notes).iter() {
        say(&format!("{}\n", note.line()));
    }
    let both_done = [&both.packets, &both.flows].map(|trial| exit_code(trial.summary()));
    let failed = both_done
        .into_iter()
        .find(|code| *code != ExitCode::SUCCESS);
    Ok(failed.unwrap_or(ExitCode::SUCCESS))
}

/// Formats flow level's errors, and the time that each level took.
fn errors(both: &BothLevels) -> String {
    let errors = both.errors();
    let [packets, flows] = [&both.packets, &both.flows].map(|trial| trial.summary().engine.wall_s);
    format!(
        "\nflow level is off by {} (JCT by job); {} (FCT P99 by collective)\nit took {flows:.3} s, packets {packets:.3} s\n",
        percents(&errors.jct),
        percents(&errors.fct_p99),
    )
}
