//! `tenter`: run a fabric, check and explain a scenario, reproduce a published study.
//!
//! ```text
//!   arguments ─▶ a command's module ─▶ library crates
//!                     │ text for people on stdout, progress and errors on stderr
//!                     └ exit code: 0 done, 1 an answer of "no", 2 bad input,
//!                       3 a failure on this side, 130 interrupted
//! ```
//!
//! This room parses arguments, reads and writes files, measures wall time and talks to the
//! terminal. It contains no model.

mod arguments;
mod bench;
mod both_levels;
mod calibrate_fidelity;
mod compare;
mod exit;
mod explain;
mod export;
mod fabric;
mod fabric_line;
mod failure;
mod folders;
mod import;
#[cfg(target_os = "linux")]
mod lab;
#[cfg(target_os = "linux")]
mod lab_counters;
#[cfg(target_os = "linux")]
mod lab_plan;
mod measured;
mod new;
mod orders;
mod paint;
mod presets;
mod progress;
mod query;
mod report;
mod run;
mod seeds;
mod shell;
mod source;
mod study;
mod study_table;
mod sweep;
mod text;
mod trial;
mod trials;
mod ui;
mod validate;
mod watch;

use std::ffi::OsString;

use clap::Parser;

use arguments::{Arguments, Command};
use exit::ExitCode;
use failure::Failure;

/// Runs the command as [`run`] does, in the program `tenter` itself, which calls itself to run
/// trials in processes of their own.
pub fn run_program(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    orders::is_own_program();
    run(arguments)
}

/// Runs the command and returns its exit code. `arguments` begin with the program's name.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(answer) => {
            // Help and version arrive here too; clap gives them exit code 0.
            let _ = answer.print();
            return answer.exit_code() as u8;
        }
    };
    // A user sees a sentence and exit code 3 in place of a stack trace.
    std::panic::set_hook(Box::new(|panic| {
        // The Parquet library panics on some damaged files. Its caller turns that into an error of
        // the file.
        if tenter_formats::is_decoding() {
            return;
        }
        failure::say(&format!(
            "error: internal error: {panic}\nThis is a defect of Tenter; please report it with the scenario and the command.\n"
        ));
    }));
    let answer = std::panic::catch_unwind(|| answer(arguments));
    answer.map_or(failure::DEFECT, ExitCode::code)
}

fn answer(arguments: Arguments) -> ExitCode {
    let as_json = arguments.wants_json();
    let answer = match arguments.command {
        None => {
            failure::print(WELCOME);
            Ok(ExitCode::SUCCESS)
        }
        Some(Command::Run(run)) => run::run(&run),
        Some(Command::Explain(explain)) => explain::explain(&explain),
        Some(Command::Bench(bench)) => bench::bench(&bench),
        Some(Command::Presets(presets)) => presets::presets(presets),
        Some(Command::New(new)) => new::new(&new),
        Some(Command::Validate(validate)) => validate::validate(&validate),
        Some(Command::Import(arguments)) => import::import(&arguments),
        Some(Command::Export(arguments)) => export::export(&arguments),
        Some(Command::Schema) => {
            failure::print(&tenter::resolve::schema());
            Ok(ExitCode::SUCCESS)
        }
        Some(Command::Study(study)) => study::study(&study),
        Some(Command::Sweep(arguments)) => sweep::sweep(&arguments),
        Some(Command::Compare(compare)) => compare::compare(&compare),
        Some(Command::Query(asked)) => query::query(&asked),
        Some(Command::CalibrateFidelity(of)) => calibrate_fidelity::calibrate_fidelity(&of),
        Some(Command::Report(report)) => report::report(&report),
        Some(Command::Trials(arguments)) => trials::trials(&arguments),
        #[cfg(target_os = "linux")]
        Some(Command::Lab(arguments)) => lab::lab(&arguments),
        #[cfg(target_os = "linux")]
        Some(Command::Agent(arguments)) => lab::agent(&arguments),
        Some(Command::Ui(arguments)) => ui::ui(&arguments),
        Some(Command::RunOrders) => orders::run_orders(),
        Some(Command::Completions { shell }) => Ok(shell::completions(shell)),
        Some(Command::Man { folder }) => shell::manual(&folder),
        Some(Command::Licenses) => {
            failure::print(LICENSES);
            Ok(ExitCode::SUCCESS)
        }
    };
    let code = answer.unwrap_or_else(|failure: Failure| failure.report(as_json));
    // A command that has succeeded fails all the same if its output was lost.
    failure::lost_output().map_or(code, |lost| lost.report(false))
}

const LICENSES: &str = include_str!("../../THIRD-PARTY.txt");

const WELCOME: &str = "\
Tenter runs AI and HPC network fabrics packet by packet.

Start with these:
  tenter new                               write a first scenario, scenario.yaml
  tenter run scenario.yaml                 run it: its tables, and a trial folder
  tenter validate scenario.yaml            show all of its errors at once
  tenter explain scenario.yaml             show what it means and what it costs
  tenter report trials/first               draw a trial as one HTML file
  tenter compare trials/a trials/b         put trials side by side
  tenter ui                                do all this in a browser
  tenter sweep sweep.yaml                  compare variants over values and seeds
  tenter bench all_reduce -b 8 -e 1G -f 2  print the table of nccl-tests
  tenter study list                        list published results to reproduce

`tenter help` lists every command, `tenter help COMMAND` its options.
";
