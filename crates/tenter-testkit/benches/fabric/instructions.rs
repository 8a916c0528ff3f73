//! Instructions per packet-hop, counted by valgrind's callgrind.
//!
//! They do not depend on what else the machine does. The set-up is counted in a run that ends after
//! it, and subtracted.

use std::fmt::Write;
use std::process::Command;

use crate::cases::Case;
use crate::failure::Failure;
use crate::once::Measured;

/// A table of instructions per packet-hop.
pub(crate) fn count(cases: &[Case], shorten: u64, say: impl Fn(&str)) -> Result<String, Failure> {
    if Command::new("valgrind").arg("--version").output().is_err() {
        return Err(Failure(
            "valgrind is not installed: install it with the system's package manager".to_owned(),
        ));
    }
    let mut table = String::from(
        "| case                  | packet-hops (M) | instructions/packet-hop |\n\
         | --------------------- | --------------: | ----------------------: |\n",
    );
    for case in cases {
        say(&format!("counting the instructions of {}", case.name));
        let (set_up, _) = count_once(case, shorten, true)?;
        let (all, measured) = count_once(case, shorten, false)?;
        let per_hop = all.saturating_sub(set_up) as f64 / measured.packet_hops as f64;
        let hops = measured.packet_hops as f64 / 1e6;
        writeln!(
            table,
            "| {:<21} | {hops:>15.1} | {per_hop:>23.1} |",
            case.name
        )?;
    }
    Ok(table)
}

/// Instructions of one run.
fn count_once(case: &Case, shorten: u64, set_up_only: bool) -> Result<(u64, Measured), Failure> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    command.arg(std::env::current_exe()?);
    command.args(["--once", case.name, "--shorten", &shorten.to_string()]);
    if set_up_only {
        command.arg("--set-up-only");
    }
    let output = command.output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(Failure(format!("{}: {}\n{said}", case.name, output.status)));
    }
    // `==123== Collected : 456`
    let collected = said.lines().find_map(|line| {
        let (_, count) = line.split_once("Collected :")?;
        count.trim().parse().ok()
    });
    let collected = collected
        .ok_or_else(|| Failure(format!("valgrind does not say what it collected:\n{said}")))?;
    Ok((collected, serde_json::from_slice(&output.stdout)?))
}
