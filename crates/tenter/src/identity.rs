//! States which program writes a trial folder, and for which run.

use std::sync::LazyLock;

use crate::report::RunIdentity;
use tenter_sim::Interference;
use tenter_sim::plan::Plan;

/// Describes a run for its manifest: scenario, seed, program, command, and the further runs that
/// were `asked` for.
pub(crate) fn identity(plan: &Plan, asked: Interference) -> RunIdentity {
    RunIdentity {
        scenario: plan.name.clone(),
        seed: plan.seed,
        commit: option_env!("TENTER_COMMIT").map(str::to_owned),
        command: command(),
        program: Some(sources().to_owned()),
        interference: match asked {
            Interference::None => "none",
            Interference::Alone => "alone",
            Interference::Pairs => "pairs",
        }
        .to_owned(),
    }
}

/// Returns this process's command line; bytes that are not UTF-8 show as `�`.
fn command() -> Vec<String> {
    let arguments = std::env::args_os();
    arguments
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect()
}

/// Returns Tenter's version, with the commit that it was built from if known:
/// `0.1.0 (1a2b3c4d5e6f)`. A plus after the commit marks a build with uncommitted changes.
pub fn version() -> &'static str {
    static VERSION: LazyLock<String> = LazyLock::new(|| {
        let version = env!("CARGO_PKG_VERSION");
        match option_env!("TENTER_COMMIT") {
            Some(commit) => format!("{version} ({commit})"),
            None => version.to_owned(),
        }
    });
    &VERSION
}

/// Returns the digest over the sources that this library was built from.
pub(crate) fn sources() -> &'static str {
    env!("TENTER_SOURCES")
}
