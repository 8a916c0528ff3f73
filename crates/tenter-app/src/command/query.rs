//! `tenter query`: answers a query over trials' tables.

use std::path::{Path, PathBuf};

use serde_json::json;
use tenter::Summary;
use tenter::report::{
    FolderTables, NamedAnswer, NamedSummary, answer_columns, answer_csv, answer_rows, answer_table,
    check_is_trial, read_summary, remarks, seed_folders,
};
use tenter_results::{Answer, Query, QueryProblem};

use crate::command::arguments::{Allowance, Asked, OutputFormat};
use crate::command::exit::ExitCode;
use crate::command::failure::{Failure, print, print_tables, say};
use crate::command::folders::short_names;
use crate::command::trial::{described, incomplete};

pub(crate) fn query(arguments: &Asked) -> Result<ExitCode, Failure> {
    let (text, folders) = arguments.words.split_last().unzip();
    let text = text.and_then(|text| text.to_str()).unwrap_or_default();
    let query = parsed(text)?;
    let folders = trials_of(folders.unwrap_or_default())?;
    let mut summaries = Vec::new();
    let mut answers = Vec::new();
    for (folder, name) in folders.iter().zip(short_names(&folders)) {
        let (summary, answer) = ask(&query, folder, arguments.allowance)?;
        answers.push(NamedAnswer {
            trial: name.clone(),
            answer,
        });
        summaries.push(NamedSummary { name, summary });
    }
    let mut notes: Vec<String> = remarks(&summaries);
    notes.extend(summaries.iter().filter_map(incomplete));
    let notes: String = notes.into_iter().map(|line| line + "\n").collect();
    match arguments.format {
        OutputFormat::Table => print_tables(&(notes + &answer_table(&answers))),
        OutputFormat::Csv => {
            // CSV has no place for notes.
            say(&notes);
            print(&answer_csv(&answers));
        }
        OutputFormat::Json => print(&document(text, &folders, &summaries, &answers)),
    }
    Ok(ExitCode::SUCCESS)
}

/// Parses a query; the error shows the place in it.
pub(crate) fn parsed(text: &str) -> Result<Query, Failure> {
    let query = text.parse();
    query.map_err(|problem: QueryProblem| Failure::input(problem.to_string()))
}

/// Returns a trial's summary and its answer to a query, within the allowance.
pub(crate) fn ask(
    query: &Query,
    folder: &Path,
    allowance: Allowance,
) -> Result<(Summary, Answer), Failure> {
    let failed = |error: String| Failure::input(format!("{}: {error}", folder.display()));
    let summary = read_summary(folder).map_err(|error| failed(error.to_string()))?;
    let answer = allowance.within(|budget| {
        let answer = query.ask(&FolderTables(folder), budget);
        answer.map_err(|error| failed(error.to_string()))
    })?;
    Ok((summary, answer))
}

/// Lists the trials in folders, some of which may hold several seeds.
pub(crate) fn trials_of(folders: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut trials = Vec::new();
    for folder in folders {
        let seeds = seed_folders(folder).unwrap_or_default();
        if seeds.is_empty() {
            check_is_trial(folder).map_err(|error| Failure::input(error.to_string()))?;
            trials.push(folder.clone());
        }
        for seed in seeds {
            match check_is_trial(&seed) {
                Ok(()) => trials.push(seed),
                // One seed that was interrupted must not hide the others.
                Err(error) => say(&format!("warning: {error}; it is left out\n")),
            }
        }
    }
    if trials.is_empty() {
        return Err(Failure::input(
            "no trial of these folders has ended; run them again",
        ));
    }
    Ok(trials)
}

fn document(
    query: &str,
    folders: &[PathBuf],
    summaries: &[NamedSummary],
    answers: &[NamedAnswer],
) -> String {
    let trials = folders.iter().zip(summaries).zip(answers);
    let trials = trials.map(|((folder, named), answer)| {
        let mut described = described(named, folder);
        described["rows"] = json!(answer_rows(&answer.answer));
        described
    });
    let columns = answers.first().map(|first| answer_columns(&first.answer));
    let document = json!({
        "query": query,
        "columns": columns.unwrap_or_default(),
        "trials": trials.collect::<Vec<_>>(),
    });
    format!("{document:#}\n")
}
