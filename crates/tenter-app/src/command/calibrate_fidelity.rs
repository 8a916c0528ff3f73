//! `tenter calibrate-fidelity`: measures flow level's errors.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use tenter::{
    FIDELITY_COLUMNS, FidelityClass, FidelityRow, LevelErrors, Scenario, compare_levels,
    corpus_scenario, fidelity_csv, fidelity_rows,
};

use crate::command::arguments::{CalibrateFidelity, OutputFormat};
use crate::command::exit::ExitCode;
use crate::command::failure::{Failure, print, print_tables, say};

pub(crate) fn calibrate_fidelity(arguments: &CalibrateFidelity) -> Result<ExitCode, Failure> {
    let mut trials = Vec::new();
    for file in &arguments.files {
        let scenario = Scenario::read(file)?;
        // An invalid scenario is an error; one that only flow level rejects is left out.
        scenario.clone().resolve()?;
        add(
            &file.display().to_string(),
            &scenario,
            arguments,
            &mut trials,
        )?;
    }
    for seed in 0..arguments.random {
        let seed = arguments.seed.wrapping_add(seed);
        let scenario = corpus_scenario(seed);
        add(&format!("corpus-{seed}"), &scenario, arguments, &mut trials)?;
    }
    if trials.is_empty() {
        return Err(Failure::input(
            "there is no scenario to run at both levels; name files, or give --random 50",
        ));
    }
    let rows = fidelity_rows(&trials);
    match arguments.format {
        OutputFormat::Table => print_tables(&table(&rows)),
        OutputFormat::Csv => print(&fidelity_csv(&rows)),
        OutputFormat::Json => print(&json(&rows)),
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs a scenario at both levels, and prints flow level's errors.
fn add(
    name: &str,
    scenario: &Scenario,
    arguments: &CalibrateFidelity,
    trials: &mut Vec<(FidelityClass, LevelErrors)>,
) -> Result<(), Failure> {
    match compare_levels(scenario, arguments.threads.count) {
        Ok(both) => {
            let (class, errors) = (both.class(), both.errors());
            say(&format!(
                "{name} ({class}): JCT {}\n",
                percents(&errors.jct)
            ));
            trials.push((class, errors));
        }
        // One scenario that flow level rejects must not end a long series.
        Err(error) if error.is_of_flow_level() => {
            say(&format!("{name} is left out: {error}\n"));
        }
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

/// Formats errors with their signs.
pub(crate) fn percents(errors: &[f64]) -> String {
    let texts = errors.iter().map(|error| format!("{error:+.2} %"));
    texts.collect::<Vec<_>>().join(", ")
}

fn table(rows: &[FidelityRow]) -> String {
    let mut text = format!(
        "  {:<20} {:<12} {:>6}  {:>7} {:>6} {:>6} {:>6}  {:>7} {:>7}\n  {:<20} {:<12} {:>6}  {:>7} {:>6} {:>6} {:>6}  {:>7} {:>7}\n",
        "fabric",
        "load",
        "trials",
        "JCT",
        "",
        "",
        "",
        "FCT P50",
        "FCT P99",
        "",
        "",
        "",
        "bias %",
        "mean",
        "P95",
        "worst",
        "mean %",
        "mean %",
    );
    for row in rows {
        let _ = writeln!(
            text,
            "  {:<20} {:<12} {:>6}  {:>+7.2} {:>6.2} {:>6.2} {:>6.2}  {:>7.2} {:>7.2}",
            row.class.fabric,
            row.class.load,
            row.trials,
            row.jct.bias,
            row.jct.mean,
            row.jct.p95,
            row.jct.worst,
            row.fct_p50.mean,
            row.fct_p99.mean,
        );
    }
    text
}

fn json(rows: &[FidelityRow]) -> String {
    let row = |row: &FidelityRow| -> Value {
        let cells = FIDELITY_COLUMNS.iter().zip(row.cells());
        let cells = cells.map(|(column, cell)| {
            let value = cell
                .parse::<f64>()
                .map_or_else(|_| json!(cell), |number| json!(number));
            ((*column).to_owned(), value)
        });
        Value::Object(cells.collect::<Map<_, _>>())
    };
    let rows: Vec<Value> = rows.iter().map(row).collect();
    format!("{:#}\n", json!({ "classes": rows }))
}
