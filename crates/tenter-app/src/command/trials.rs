//! `tenter trials`: the ledger of a workspace, without its server.

use std::fmt::Write as _;
use std::io::Read as _;

use serde_json::{Value, json};
use tenter::report::{
    Format, TextColumn, TextTable, TrialReport, csv_field, printed_time, read_summary,
};
use tenter::{TrialQuery, TrialState, Workspace, WorkspaceTrial, check_limits};
use tenter_language::units::Time;

use crate::command::arguments::{
    OutputFormat, TextFormat, Trials, TrialsCommand, TrialsList, WorkspaceFolder,
};
use crate::command::exit::ExitCode;
use crate::command::fabric_line::counted;
use crate::command::failure::{Failure, print, print_tables, say};
use crate::command::report::write;

pub(crate) fn trials(arguments: &Trials) -> Result<ExitCode, Failure> {
    match &arguments.command {
        TrialsCommand::List(list) => print_list(list)?,
        TrialsCommand::Export { list, output } => match output {
            None => print_list(list)?,
            Some(file) => {
                let (workspace, trials) = found(list)?;
                write(file, &text(&workspace, &trials, list.format)?)?;
            }
        },
        TrialsCommand::Show { of, format } => show(&open(&of.workspace)?, &of.trial, *format)?,
        TrialsCommand::Tag { of, tags, remove } => {
            let workspace = open(&of.workspace)?;
            let trial = workspace.find_trial(&of.trial)?;
            let mut all = trial.tags;
            all.extend(tags.iter().cloned());
            // A tag that is both added and removed is removed.
            all.retain(|tag| !remove.contains(tag));
            workspace.set_tags(trial.id, &all)?;
            workspace.copy_ledger();
        }
        TrialsCommand::Note { of, text } => {
            let workspace = open(&of.workspace)?;
            let trial = workspace.find_trial(&of.trial)?;
            match text.as_deref() {
                None => print(&format!("{}\n", workspace.note(trial.id)?.trim_end())),
                Some("-") => workspace.set_note(trial.id, &from_standard_input()?)?,
                Some(text) => workspace.set_note(trial.id, text)?,
            }
            workspace.copy_ledger();
        }
        TrialsCommand::Check { workspace, format } => return check(workspace, *format),
        TrialsCommand::Repair { workspace } => repair(workspace)?,
        TrialsCommand::Rm { trials, workspace } => {
            let workspace = open(workspace)?;
            for name in trials {
                let trial = workspace.find_trial(name)?;
                workspace.remove(trial.id)?;
                say(&format!("trial {} ({}) is removed\n", trial.id, trial.name));
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints which trials have damaged files; the exit code is 1 if there are any.
fn check(of: &WorkspaceFolder, format: TextFormat) -> Result<ExitCode, Failure> {
    let checked = open(of)?.check()?;
    let damaged = checked
        .iter()
        .filter(|(.., found)| !found.damaged.is_empty());
    let unknown = checked
        .iter()
        .filter(|(.., found)| found.is_unknown)
        .count();
    let count = damaged.clone().count();
    match format {
        TextFormat::Json => {
            let trials = checked.iter().map(|(id, name, found)| {
                json!({
                    "id": id, "name": name, "sound_files": found.sound,
                    "damaged": found.damaged, "has_checksums": !found.is_unknown,
                })
            });
            let trials: Vec<Value> = trials.collect();
            print(&format!("{:#}\n", json!({ "trials": trials })));
        }
        TextFormat::Text => {
            for (id, name, found) in damaged {
                for what in &found.damaged {
                    print(&format!("damaged  trial {id} ({name}): {what}\n"));
                }
            }
            let sound = checked.len() - count - unknown;
            print(&format!("sound    {}\n", counted(sound, "trial", "trials")));
            if unknown > 0 {
                let trials = counted(unknown, "trial", "trials");
                print(&format!(
                    "unknown  {trials} without checksums: they run, were interrupted, or come from an earlier version\n"
                ));
            }
        }
    }
    Ok(if count == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}

fn repair(of: &WorkspaceFolder) -> Result<(), Failure> {
    let folder = existing(of)?;
    let done = Workspace::repair(folder, check_limits())?;
    match &done.aside {
        None if done.was_missing => print(&format!(
            "ledger   missing; {} has taken its place\n",
            if done.from_copy {
                "its copy"
            } else {
                "a new one"
            }
        )),
        None => print("ledger   sound\n"),
        Some(aside) => print(&format!(
            "ledger   damaged, now {}; {} has taken its place\n",
            aside.display(),
            if done.from_copy {
                "its copy"
            } else {
                "a new one"
            }
        )),
    }
    let (found, salvaged) = (done.found, done.salvaged);
    print(&format!(
        "trials   {} found in folders; names, notes and tags of {salvaged} read from the damaged ledger\n",
        counted(found, "trial", "trials")
    ));
    Ok(())
}

/// Returns the folder of a workspace, which must exist.
fn existing(folder: &WorkspaceFolder) -> Result<&std::path::Path, Failure> {
    if folder.folder.is_dir() {
        return Ok(&folder.folder);
    }
    Err(Failure::input(format!(
        "there is no folder {}; name the folder of the workspace with `--workspace`",
        folder.folder.display()
    )))
}

/// Opens the workspace in an existing folder, and adds the trials that other commands have left
/// there.
fn open(folder: &WorkspaceFolder) -> Result<Workspace, Failure> {
    existing(folder)?;
    let workspace = Workspace::open(&folder.folder)?;
    workspace.find(check_limits())?;
    workspace.copy_ledger();
    Ok(workspace)
}

fn from_standard_input() -> Result<String, Failure> {
    let mut text = String::new();
    // A note has at most 1 MiB. One byte more is read, so that a longer note is rejected and not
    // cut.
    let mut input = std::io::stdin().lock().take((1 << 20) + 1);
    input
        .read_to_string(&mut text)
        .map_err(|error| Failure::input(format!("cannot read standard input: {error}")))?;
    Ok(text)
}

fn found(list: &TrialsList) -> Result<(Workspace, Vec<WorkspaceTrial>), Failure> {
    let state = list.state.as_deref().map(|word| {
        TrialState::of_word(word).ok_or_else(|| {
            let words: Vec<&str> = TrialState::ALL.iter().map(|state| state.word()).collect();
            Failure::input(format!(
                "there is no state `{word}`; states are {}",
                words.join(", ")
            ))
        })
    });
    let query = TrialQuery {
        search: list.search.clone(),
        tag: list.tag.clone(),
        state: state.transpose()?,
        descending: true,
        ..TrialQuery::default()
    };
    let workspace = open(&list.workspace)?;
    let trials = workspace.trials(&query)?.trials;
    Ok((workspace, trials))
}

fn print_list(list: &TrialsList) -> Result<(), Failure> {
    let (workspace, trials) = found(list)?;
    let text = text(&workspace, &trials, list.format)?;
    match list.format {
        OutputFormat::Table => print_tables(&text),
        OutputFormat::Json | OutputFormat::Csv => print(&text),
    }
    Ok(())
}

fn text(
    workspace: &Workspace,
    trials: &[WorkspaceTrial],
    format: OutputFormat,
) -> Result<String, Failure> {
    match format {
        OutputFormat::Table => Ok(table(trials)),
        OutputFormat::Json => {
            let rows = trials.iter().map(|trial| document(workspace, trial));
            let rows: Vec<Value> = rows.collect::<Result<_, _>>()?;
            Ok(format!("{:#}\n", json!({ "trials": rows })))
        }
        OutputFormat::Csv => csv(workspace, trials),
    }
}

fn table(trials: &[WorkspaceTrial]) -> String {
    let mut table = TextTable::new(vec![
        TextColumn::number("trial", ""),
        TextColumn::name("name"),
        TextColumn::name("state"),
        TextColumn::number("JCT", ""),
        TextColumn::name("of job"),
        TextColumn::number("ideal", "%"),
        TextColumn::number("busbw", "GB/s"),
        TextColumn::name("of"),
        TextColumn::name("fabric"),
        TextColumn::name("tags"),
    ]);
    let two = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |v| format!("{v:.2}"));
    for trial in trials {
        let shown = &trial.headline;
        let jct = shown
            .jct_ns
            .map(|ns| Time::from_ps((ns * 1e3).round() as u64));
        table.push(vec![
            trial.id.to_string(),
            trial.name.clone(),
            trial.state.word().to_owned(),
            jct.map_or_else(|| "–".to_owned(), printed_time),
            shown.jct_job.clone().unwrap_or_default(),
            two(shown.ideal_percent),
            two(shown.busbw_gbytes_per_s),
            shown.collective.clone().unwrap_or_default(),
            shown.fabric.clone(),
            trial.tags.join(", "),
        ]);
    }
    table.to_string()
}

fn document(workspace: &Workspace, trial: &WorkspaceTrial) -> Result<Value, Failure> {
    let shown = &trial.headline;
    Ok(json!({
        "id": trial.id,
        "name": trial.name,
        "state": trial.state.word(),
        "tags": trial.tags,
        "note": workspace.note(trial.id)?,
        "folder": trial.folder,
        "created": trial.created,
        "started": trial.started,
        "ended": trial.ended,
        "error": trial.error,
        "fabric": shown.fabric,
        "hosts": shown.hosts,
        "jobs": shown.jobs,
        "jct_ns": shown.jct_ns,
        "jct_job": shown.jct_job,
        "collective": shown.collective,
        "ideal_percent": shown.ideal_percent,
        "algbw_gbytes_per_s": shown.algbw_gbytes_per_s,
        "busbw_gbytes_per_s": shown.busbw_gbytes_per_s,
        "digest": shown.digest,
        "seed": shown.seed,
        "wall_s": shown.wall_s,
    }))
}

fn csv(workspace: &Workspace, trials: &[WorkspaceTrial]) -> Result<String, Failure> {
    const COLUMNS: [&str; 17] = [
        "id",
        "name",
        "state",
        "tags",
        "fabric",
        "hosts",
        "jobs",
        "jct_ns",
        "jct_job",
        "collective",
        "ideal_percent",
        "algbw_gbytes_per_s",
        "busbw_gbytes_per_s",
        "seed",
        "digest",
        "wall_s",
        "note",
    ];
    let mut text = COLUMNS.join(",") + "\n";
    for trial in trials {
        let mut row = document(workspace, trial)?;
        // CSV has no lists: tags are one cell with spaces between.
        row["tags"] = trial.tags.join(" ").into();
        let cells = COLUMNS.map(|column| match &row[column] {
            Value::Null => String::new(),
            Value::String(text) => csv_field(text).into_owned(),
            other => other.to_string(),
        });
        text += &(cells.join(",") + "\n");
    }
    Ok(text)
}

fn show(workspace: &Workspace, name: &str, format: TextFormat) -> Result<(), Failure> {
    let trial = workspace.find_trial(name)?;
    let summary = trial
        .folder
        .as_deref()
        .and_then(|folder| read_summary(folder).ok());
    if format == TextFormat::Json {
        let mut row = document(workspace, &trial)?;
        row["summary"] = json!(summary);
        print(&format!("{row:#}\n"));
        return Ok(());
    }
    let note = workspace.note(trial.id)?;
    let mut text = format!(
        "trial    {}, {}, {}\n",
        trial.id,
        trial.name,
        trial.state.word()
    );
    if !trial.tags.is_empty() {
        let _ = writeln!(text, "tags     {}", trial.tags.join(", "));
    }
    if let Some(error) = &trial.error {
        let _ = writeln!(text, "ended    {error}");
    }
    match &summary {
        Some(summary) => {
            let report = TrialReport {
                summary,
                fabric: &trial.headline.fabric,
                folder: trial.folder.as_deref(),
                ideal: false,
            };
            let _ = write!(text, "\n{}", report.render(Format::Table));
        }
        None => {
            let _ = writeln!(text, "{}", trial.headline.fabric);
        }
    }
    if !note.is_empty() {
        let _ = writeln!(text, "\n{}", note.trim_end());
    }
    print_tables(&text);
    Ok(())
}
