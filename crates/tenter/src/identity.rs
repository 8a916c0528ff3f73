//! What a trial folder says of the program that wrote it.

use std::time::UNIX_EPOCH;

use tenter_plan::Plan;
use tenter_record::Names;
use tenter_report::RunIdentity;
use tenter_sim::Interference;

/// What is run and measured beside, and by which program.
pub(crate) fn identity(plan: &Plan, asked: Interference) -> RunIdentity {
    RunIdentity {
        scenario: plan.name.clone(),
        seed: plan.seed,
        commit: option_env!("TENTER_COMMIT").map(str::to_owned),
        command: command(),
        program: program(),
        interference: match asked {
            Interference::None => "none",
            Interference::Alone => "alone",
            Interference::Pairs => "pairs",
        }
        .to_owned(),
    }
}

/// The command as it was typed; bytes that are not UTF-8 show as such.
fn command() -> Vec<String> {
    let arguments = std::env::args_os();
    arguments
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect()
}

/// The size of this program's own file and when it was written: two builds of one version may
/// answer differently.
fn program() -> Option<String> {
    let file = std::env::current_exe().ok()?.metadata().ok()?;
    let written = file.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{} bytes, {} ns", file.len(), written.as_nanos()))
}

/// The names that tables have beside numbers.
pub(crate) fn names(plan: &Plan) -> Names {
    Names {
        jobs: plan.jobs.iter().map(|job| job.name.clone()).collect(),
        nodes: plan
            .topology
            .nodes
            .iter()
            .map(|node| node.name.clone())
            .collect(),
    }
}
