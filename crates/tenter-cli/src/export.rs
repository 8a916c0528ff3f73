//! `tenter export`: what a job runs, in the formats of others.

use std::path::PathBuf;

use serde_json::json;
use tenter::OperationGraph;

use crate::arguments::{Export, ExportCommand, TextFormat};
use crate::exit::ExitCode;
use crate::failure::{Failure, print, say_notes};
use crate::report::write_bytes;
use crate::source;

pub(crate) fn export(arguments: &Export) -> Result<ExitCode, Failure> {
    let of = arguments.operations();
    let plan = source::read(&of.scenario)?;
    let graph = OperationGraph::of_job(&plan, of.job.as_deref())?;
    let mut notes = graph.notes.clone();
    let files = match &arguments.command {
        ExportCommand::Goal(_) => {
            let (text, cut) = graph.to_goal()?;
            note(&mut notes, cut, "times were cut to whole nanoseconds");
            vec![(of.output.clone(), text.into_bytes())]
        }
        ExportCommand::Chakra(_) => {
            let written = graph.to_chakra()?;
            let (rounded, starts) = (written.rounded, written.starts);
            note(
                &mut notes,
                rounded,
                "times were rounded to whole microseconds",
            );
            note(
                &mut notes,
                starts,
                "waits for a start became waits for an end",
            );
            let with = |suffix: &str| {
                let mut name = of.output.clone().into_os_string();
                name.push(suffix);
                PathBuf::from(name)
            };
            let ranks = written.ranks.into_iter().enumerate();
            let ranks = ranks.map(|(rank, bytes)| (with(&format!(".{rank}.et")), bytes));
            let groups = written.groups.into_iter();
            let groups = groups.map(|groups| (with(".groups.json"), groups.into_bytes()));
            ranks.chain(groups).collect()
        }
        ExportCommand::Htsim(_) => {
            let text = graph.to_htsim()?;
            notes.push("starts are picoseconds: read them with `start_unit: ps`".to_owned());
            vec![(of.output.clone(), text.into_bytes())]
        }
        ExportCommand::Ns3(_) => {
            let text = OperationGraph::run_for_ns3(&plan, of.job.as_deref())?;
            notes = vec![format!(
                "starts are those of a run with seed {}",
                plan.seed()
            )];
            vec![(of.output.clone(), text.into_bytes())]
        }
        ExportCommand::Graph(_) => vec![(of.output.clone(), graph.to_file())],
    };
    for (path, bytes) in &files {
        write_bytes(path, bytes)?;
    }
    say_notes(&notes);
    if of.format == TextFormat::Json {
        let counts = graph.counts();
        let document = json!({
            "ranks": counts.ranks,
            "operations": counts.operations(),
            "bytes": files.iter().map(|(_, bytes)| bytes.len()).sum::<usize>(),
            "notes": notes,
            "output": files.iter().map(|(path, _)| path).collect::<Vec<_>>(),
        });
        print(&format!("{document:#}\n"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Adds what was done so often, if it was.
fn note(notes: &mut Vec<String>, times: u64, what: &str) {
    if times > 0 {
        notes.push(format!("{times} {what}"));
    }
}
