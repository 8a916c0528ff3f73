//! Repetition: every run in a process of its own, all cases in turn.
//!
//! A process of its own starts with an empty heap, as `tenter run` does, so the peak of memory is
//! that of the one case. Taking all cases in turn spreads a busy phase of the machine over all of
//! them, the kernels included; the best of each is kept.

use std::process::{Command, Stdio};

use crate::cases::Case;
use crate::failure::Failure;
use crate::once::Measured;

/// What is the same for all runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    pub(crate) runs: u32,
    pub(crate) shorten: u64,
    pub(crate) threads: u16,
    /// Count time on a core instead of wall time.
    pub(crate) on_core: bool,
}

/// The best of all runs of each case, in the order of the cases.
pub(crate) fn best(
    cases: &[Case],
    manner: Manner,
    say: impl Fn(&str),
) -> Result<Vec<Measured>, Failure> {
    let mut best: Vec<Option<Measured>> = vec![None; cases.len()];
    for run in 1..=manner.runs {
        for (case, best) in cases.iter().zip(&mut best) {
            say(&format!("run {run} of {}: {}", manner.runs, case.name));
            let mut measured = in_own_process(case, manner)?;
            if manner.on_core {
                measured.run_s = measured.run_on_core_s.ok_or_else(|| {
                    Failure("this system does not tell a thread's time on a core".to_owned())
                })?;
            }
            *best = Some(match best.take() {
                None => measured,
                Some(best) => merge(case, best, measured)?,
            });
        }
    }
    let best: Option<Vec<Measured>> = best.into_iter().collect();
    best.ok_or_else(|| Failure("no run at all: ask for at least one".to_owned()))
}

/// Keeps the shorter times, and insists that everything else is equal.
fn merge(case: &Case, best: Measured, other: Measured) -> Result<Measured, Failure> {
    if best.digest != other.digest || best.packet_hops != other.packet_hops {
        return Err(Failure(format!(
            "{}: two runs differ (digests {} and {}): the simulation is not deterministic",
            case.name, best.digest, other.digest
        )));
    }
    let set_up_s = best.set_up_s.min(other.set_up_s);
    let faster = if other.run_s < best.run_s {
        other
    } else {
        best
    };
    Ok(Measured { set_up_s, ..faster })
}

pub(crate) fn in_own_process(case: &Case, manner: Manner) -> Result<Measured, Failure> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["--once", case.name]);
    command.args(["--shorten", &manner.shorten.to_string()]);
    command.args(["--threads", &manner.threads.to_string()]);
    let output = command.stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(Failure(format!("{}: {}", case.name, output.status)));
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}
