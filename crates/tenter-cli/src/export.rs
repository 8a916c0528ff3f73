//! `tenter export`: what a job runs, in the formats of others.

use serde_json::json;
use tenter::OperationGraph;

use crate::arguments::{Export, ExportCommand, TextFormat};
use crate::exit::ExitCode;
use crate::failure::{Failure, print, say};
use crate::report::write_bytes;
use crate::source;

pub(crate) fn export(arguments: &Export) -> Result<ExitCode, Failure> {
    let (of, mut notes) = match &arguments.command {
        ExportCommand::Goal(of) | ExportCommand::Graph(of) => (of, Vec::new()),
    };
    let plan = source::read(&of.scenario)?;
    let graph = OperationGraph::of_job(&plan, of.job.as_deref())?;
    let bytes = match &arguments.command {
        ExportCommand::Goal(_) => {
            let (text, cut) = graph.to_goal()?;
            if cut > 0 {
                notes.push(format!("{cut} times were cut to whole nanoseconds"));
            }
            text.into_bytes()
        }
        ExportCommand::Graph(_) => graph.to_file(),
    };
    write_bytes(&of.output, &bytes)?;
    notes.splice(0..0, graph.notes.iter().cloned());
    for note in &notes {
        say(&format!("note: {note}\n"));
    }
    let counts = graph.counts();
    if of.format == TextFormat::Json {
        let document = json!({
            "ranks": counts.ranks,
            "operations": counts.operations(),
            "bytes": bytes.len(),
            "notes": notes,
            "output": of.output,
        });
        print(&format!("{document:#}\n"));
    }
    Ok(ExitCode::SUCCESS)
}
