//! `tenter compare`: puts trials, seeds or sweeps side by side.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::json;
use tenter::report::{
    AskedFolder, AskedRecords, AskedTrial, Beside, Measured, NamedRecord, NamedSummary,
    add_measured, check_is_trial, comparison_rows, comparison_table, csv, deviation_table,
    mixed_levels, paired_rows, paired_table, read_summary, read_sweep, remarks, seed_folders,
};
use tenter_results::{ComparisonRow, Names};

use crate::command::arguments::{Compare, OutputFormat};
use crate::command::exit::ExitCode;
use crate::command::failure::{Failure, print, print_tables, say};
use crate::command::folders::{Several, refuse_twice, short_names};
use crate::command::measured;
use crate::command::query::{ask, parsed, trials_of};
use crate::command::trial::{described, incomplete};

/// Explains the columns in a comparison seed by seed.
const PAIRED_REMARK: &str = "\nThe difference is the geometric mean of the ratios of trials with equal seeds; * marks p < 0.05 (two-sided sign test).\n";

pub(crate) fn compare(arguments: &Compare) -> Result<ExitCode, Failure> {
    if let Some(query) = &arguments.query {
        return by_query(query, arguments);
    }
    if let Some(several) = Several::read(&arguments.trials)? {
        return seed_by_seed(several, arguments);
    }
    if arguments.trials.len() < 2 && arguments.measured.is_empty() {
        return Err(Failure::input(
            "there is one trial and nothing to compare it with; name another, or a file of measurements with --measured",
        ));
    }
    let mut trials = Vec::new();
    for (folder, name) in arguments.trials.iter().zip(short_names(&arguments.trials)) {
        // This error says what the folder holds instead, such as seeds or an unfinished trial.
        check_is_trial(folder).map_err(|error| Failure::input(error.to_string()))?;
        let summary = read_summary(folder).map_err(|error| Failure::input(error.to_string()))?;
        trials.push(NamedSummary { name, summary });
    }
    let mut rows = comparison_rows(&trials);
    let files = measured::read(&arguments.measured)?;
    let collective = measured::collective(arguments.collective.as_deref());
    // Each file's column goes right behind the trials, so the last one is added first.
    for file in files.iter().rev() {
        add_measured(&mut rows, file, collective.as_deref())
            .map_err(|error| Failure::input(format!("{}: {error}", file.name)))?;
    }
    let beside = Beside::of(&trials, &files, collective.as_deref()).map_err(Failure::input)?;
    let text = match arguments.format {
        OutputFormat::Table => table(&trials, &rows, &beside),
        OutputFormat::Json => json(arguments, &trials, &files, &rows, &beside)?,
        OutputFormat::Csv => csv(&rows, &Names::default()),
    };
    match arguments.format {
        OutputFormat::Table => print_tables(&text),
        OutputFormat::Json | OutputFormat::Csv => print(&text),
    }
    Ok(ExitCode::SUCCESS)
}

/// Compares folders with several trials each, pairing equal seeds.
fn seed_by_seed(several: Several, arguments: &Compare) -> Result<ExitCode, Failure> {
    if !arguments.measured.is_empty() {
        return Err(Failure::input(
            "--measured goes with trials; name folders `seed-…` of this one",
        ));
    }
    several.say_scenarios();
    print_paired(&several.records(), &[], arguments)
}

/// Compares what trials answer to a query: groups with equal keys are compared, and trials of
/// several seeds are paired by seed.
fn by_query(text: &str, arguments: &Compare) -> Result<ExitCode, Failure> {
    let query = parsed(text)?;
    let folders = &arguments.trials;
    if folders.len() < 2 {
        return Err(Failure::input(
            "there is one folder and nothing to compare it with; name another, or ask it with `tenter query`",
        ));
    }
    refuse_twice(folders)?;
    let has_seeds = |folder: &PathBuf| seed_folders(folder).is_ok_and(|seeds| !seeds.is_empty());
    let are_paired_by_seed = folders.iter().any(has_seeds);
    let (mut asked, mut summaries) = (Vec::new(), Vec::new());
    for (folder, name) in folders.iter().zip(short_names(folders)) {
        if read_sweep(folder).is_ok_and(|sweep| sweep.is_some()) {
            return Err(Failure::input(format!(
                "{} holds a sweep, whose readings are compared without `--query`; give the sweep a reading with the query",
                folder.display()
            )));
        }
        let mut trials = Vec::new();
        for trial in trials_of(std::slice::from_ref(folder))? {
            let (summary, answer) = ask(&query, &trial, arguments.allowance.into())?;
            trials.push(AskedTrial {
                // Single trials stand beside each other whatever their seeds are.
                seed: if are_paired_by_seed { summary.seed } else { 0 },
                digest: summary.engine.digest.clone(),
                notes: summary.notes.clone(),
                answer,
            });
            summaries.push(NamedSummary {
                name: name.clone(),
                summary,
            });
        }
        asked.push(AskedFolder { name, trials });
    }
    let found = AskedRecords::of(&asked, arguments.more_is_better).map_err(Failure::input)?;
    let mut lines: Vec<String> = mixed_levels(&summaries).into_iter().collect();
    lines.extend(found.alone);
    lines.extend(summaries.iter().filter_map(incomplete));
    print_paired(&found.records, &lines, arguments)
}

/// Prints the comparison of records, with `lines` above it.
fn print_paired(
    records: &[NamedRecord],
    lines: &[String],
    arguments: &Compare,
) -> Result<ExitCode, Failure> {
    let rows = paired_rows(records).map_err(Failure::input)?;
    let lines: String = lines.iter().map(|line| line.clone() + "\n").collect();
    match arguments.format {
        OutputFormat::Table => print_tables(&format!(
            "{lines}{}{}{}",
            records.iter().map(notes_of).collect::<String>(),
            paired_table(&rows).trim_start_matches('\n'),
            if rows.iter().any(|row| row.pairs > 1) {
                PAIRED_REMARK
            } else {
                ""
            }
        )),
        OutputFormat::Json => {
            let of_folder = |(of, path): (&NamedRecord, &PathBuf)| {
                json!({
                    "folder": of.name,
                    "path": path.display().to_string(),
                    "trials": of.record.trials.len(),
                    "notes": of.record.notes.concat(),
                })
            };
            let document = json!({
                "folders": records.iter().zip(&arguments.trials).map(of_folder).collect::<Vec<_>>(),
                "comparison": rows,
                "remarks": lines.lines().collect::<Vec<_>>(),
            });
            print(&format!("{document:#}\n"));
        }
        OutputFormat::Csv => {
            // CSV has no place for remarks.
            say(&lines);
            print(&csv(&rows, &Names::default()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Formats the notes from a folder with several trials, each prefixed by the folder's name.
fn notes_of(of: &NamedRecord) -> String {
    let lines = of.record.noted().into_iter().map(|note| {
        let word = note.note.severity.word();
        let line = note.line(of.record.variants.len());
        let text = line.trim_start_matches(word).trim_start_matches(": ");
        format!("{word}: {}: {text}\n", of.name)
    });
    lines.collect()
}

fn table(trials: &[NamedSummary], rows: &[ComparisonRow], beside: &Beside) -> String {
    let mut text = String::new();
    for line in remarks(trials) {
        let _ = writeln!(text, "{line}");
    }
    text += comparison_table(rows).trim_start_matches('\n');
    text += &deviation_table(&beside.rows);
    for doubt in &beside.doubts {
        let _ = write!(text, "\nnote: {doubt}");
    }
    if !beside.doubts.is_empty() {
        text.push('\n');
    }
    for line in trials.iter().filter_map(incomplete) {
        let _ = write!(text, "\n{line}\n");
    }
    text
}

fn json(
    arguments: &Compare,
    trials: &[NamedSummary],
    files: &[Measured],
    rows: &[ComparisonRow],
    beside: &Beside,
) -> Result<String, Failure> {
    let of_trial = |(trial, path): (&NamedSummary, &PathBuf)| {
        let mut described = described(trial, path);
        // A lab's trial stands beside simulated ones, so its kind is named.
        described["engine"] = json!(trial.summary.engine.engine);
        described
    };
    let mut document = json!({
        "trials": trials.iter().zip(&arguments.trials).map(of_trial).collect::<Vec<_>>(),
        "comparison": rows,
        "remarks": remarks(trials),
    });
    if !files.is_empty() {
        let of_file = |file: &Measured| {
            json!({
                "measured": file.name,
                "collective": file.collective,
                "ranks": file.ranks,
                "sizes": file.rows.len(),
            })
        };
        document["measured"] = files.iter().map(of_file).collect();
        document["deviations"] = json!(beside.rows);
        document["doubts"] = json!(beside.doubts);
    }
    serde_json::to_string_pretty(&document)
        .map(|text| text + "\n")
        .map_err(|error| Failure::other(error.to_string()))
}
