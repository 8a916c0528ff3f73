//! `tenter import`: converts other systems' workloads and configurations to operation graphs and to
//! scenario sections.

use std::fmt::Write as _;

use serde_json::json;
use tenter::report::grouped;
use tenter::{
    FabricFormat, OperationCounts, OperationGraph, import_fabric, other_format, run_budget,
};
use tenter_formats::import_sonic;

use crate::command::arguments::{
    Import, ImportCommand, ImportFabric, ImportFormat, ImportOperations, ImportSonic, TextFormat,
};
use crate::command::exit::ExitCode;
use crate::command::failure::{Failure, print, say, say_notes};
use crate::command::report::{write_bytes, write_with};

pub(crate) fn import(arguments: &Import) -> Result<ExitCode, Failure> {
    if let ImportCommand::Sonic(arguments) = &arguments.command {
        return sonic(arguments);
    }
    if let Some((format, arguments)) = arguments.command.fabric() {
        return fabric(format, arguments);
    }
    let of = arguments.command.operations();
    of.map_or(Ok(ExitCode::SUCCESS), |(kind, of)| operations(kind, of))
}

fn sonic(arguments: &ImportSonic) -> Result<ExitCode, Failure> {
    let text = tenter::read_text(&arguments.file)?;
    let name = arguments.file.display().to_string();
    let fragment = import_sonic(&text, &name, arguments.port.as_deref(), &run_budget()).map_err(
        |problems| {
            let hint = other_format(&arguments.file, "sonic");
            Failure::input(problems.render()).or(hint.as_deref())
        },
    )?;
    let mut warnings = String::new();
    for warning in &fragment.warnings {
        let _ = writeln!(warnings, "warning: {warning}");
    }
    say(&warnings);
    print(&match arguments.format {
        ImportFormat::Yaml => fragment.yaml(),
        ImportFormat::Json => fragment.json(),
        ImportFormat::Override => fragment.as_override(),
    });
    Ok(ExitCode::SUCCESS)
}

/// Prints a fabric as a scenario section, or writes it to the output file.
fn fabric(format: FabricFormat, arguments: &ImportFabric) -> Result<ExitCode, Failure> {
    let read = import_fabric(format, &arguments.file, &arguments.settings, &run_budget())?;
    say_notes(&read.notes);
    let Some(output) = &arguments.output else {
        print(&read.yaml);
        return Ok(ExitCode::SUCCESS);
    };
    write_bytes(output, read.yaml.as_bytes())?;
    // A server's topology file gives an `endpoint`, which cannot run by itself.
    if read.yaml.contains("fabric:\n") {
        let shown = output.display();
        print(&format!(
            "Give it `jobs:` and run it, or `tenter run {shown} --set 'jobs=[{{collectives: \
             [{{collective: all-reduce, size: 16MiB}}]}}]'`.\n"
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads files in a format, counts their operations, and writes these to the output file.
fn operations(kind: &str, arguments: &ImportOperations) -> Result<ExitCode, Failure> {
    let imported =
        OperationGraph::import(kind, &arguments.file, &arguments.settings, &run_budget())?;
    say_notes(&imported.notes);
    if let Some(output) = &arguments.output {
        write_with(output, |to| imported.write_file(to))?;
    }
    let counts = imported.counts();
    print(&match arguments.format {
        TextFormat::Text => text(&counts, arguments),
        TextFormat::Json => json(&counts, &imported, arguments),
    });
    Ok(ExitCode::SUCCESS)
}

fn text(counts: &OperationCounts, arguments: &ImportOperations) -> String {
    let mut out = String::new();
    for (name, count) in [
        ("ranks", u64::from(counts.ranks)),
        ("operations", counts.operations()),
        ("  compute", counts.computes),
        ("  timed wait", counts.timed_waits),
        ("  send", counts.sends),
        ("  receive", counts.receives),
        ("  collective", counts.collectives),
        ("waits", counts.waits),
        ("bytes sent", counts.sent_bytes),
    ] {
        let _ = writeln!(out, "{name:<14}{:>20}", grouped(count.cast_signed()));
    }
    if let Some(output) = &arguments.output {
        let shown = output.display();
        let _ = writeln!(
            out,
            "\nRun them with `workload: {{kind: graph, file: {shown}}}`."
        );
    }
    out
}

fn json(
    counts: &OperationCounts,
    imported: &OperationGraph,
    arguments: &ImportOperations,
) -> String {
    let document = json!({
        "ranks": counts.ranks,
        "operations": counts.operations(),
        "computes": counts.computes,
        "timed_waits": counts.timed_waits,
        "sends": counts.sends,
        "receives": counts.receives,
        "collectives": counts.collectives,
        "waits": counts.waits,
        "sent_bytes": counts.sent_bytes,
        "notes": imported.notes,
        "output": arguments.output,
    });
    format!("{document:#}\n")
}
