//! `tenter export`: writes a job's operations, or the fabric, in other systems' formats.

use std::path::PathBuf;

use serde_json::json;
use tenter::{FabricFormat, OperationGraph, Plan, export_fabric};

use crate::command::arguments::{
    Export, ExportCommand, ExportFabric, ExportOperations, TextFormat,
};
use crate::command::exit::ExitCode;
use crate::command::fabric::any_job;
use crate::command::failure::{Failure, print, say_notes};
use crate::command::report::write_bytes;
use crate::command::source;
use tenter::run_budget;

pub(crate) fn export(arguments: &Export) -> Result<ExitCode, Failure> {
    if let Some((format, of)) = arguments.fabric() {
        return fabric(format, of);
    }
    let of = arguments.operations();
    of.map_or(Ok(ExitCode::SUCCESS), |of| {
        operations(&arguments.command, of)
    })
}

/// Writes a scenario's fabric. A scenario without jobs is fine.
fn fabric(format: FabricFormat, of: &ExportFabric) -> Result<ExitCode, Failure> {
    let scenario = source::scenario(&of.scenario)?;
    // If the scenario does not resolve, it may only lack jobs, which the fabric does not need.
    // Should it fail with a job too, the first errors are the ones to report.
    let plan = scenario.resolve().or_else(|problems| {
        let with_jobs = scenario.clone().with_keys("a job", any_job(&scenario));
        with_jobs.resolve().map_err(|_| problems)
    });
    let plan = plan?;
    let as_json = of.output.extension().is_some_and(|of| of == "json");
    let (text, notes) = export_fabric(&plan, format, as_json)?;
    write_bytes(&of.output, text.as_bytes())?;
    say_notes(&notes);
    if of.format == TextFormat::Json {
        let topology = &plan.resolved().topology;
        let document = json!({
            "hosts": topology.hosts,
            "switches": topology.switches(),
            "cables": topology.cables.len(),
            "bytes": text.len(),
            "notes": notes,
            "output": of.output,
        });
        print(&format!("{document:#}\n"));
    }
    Ok(ExitCode::SUCCESS)
}

fn operations(command: &ExportCommand, of: &ExportOperations) -> Result<ExitCode, Failure> {
    let plan = source::read(&of.scenario, &run_budget())?;
    // ns-3 knows no dependencies, so a run has to find the starts.
    if let ExportCommand::Ns3(_) = command {
        return flows_of_ns3(&plan, of);
    }
    let graph = OperationGraph::of_job(&plan, of.job.as_deref())?;
    let mut notes = graph.notes.clone();
    let files = match command {
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
        _ => {
            let mut bytes = Vec::new();
            // Writing into memory does not fail.
            let _ = graph.write_file(&mut bytes);
            vec![(of.output.clone(), bytes)]
        }
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

/// Runs a job, and writes its flows with the start times from that run.
fn flows_of_ns3(plan: &Plan, of: &ExportOperations) -> Result<ExitCode, Failure> {
    let written = OperationGraph::run_for_ns3(plan, of.job.as_deref())?;
    write_bytes(&of.output, written.text.as_bytes())?;
    say_notes(&written.notes);
    if of.format == TextFormat::Json {
        let document = json!({
            "hosts": written.hosts,
            "flows": written.flows,
            "bytes": written.text.len(),
            "notes": written.notes,
            "output": [&of.output],
        });
        print(&format!("{document:#}\n"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Adds a note if something was done `times` times, more than 0.
fn note(notes: &mut Vec<String>, times: u64, what: &str) {
    if times > 0 {
        notes.push(format!("{times} {what}"));
    }
}
