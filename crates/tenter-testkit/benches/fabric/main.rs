//! How fast packets move: `cargo bench -p tenter-testkit --bench fabric`.
//!
//! `benches/README.md` says what the columns mean. Without criterion, because a run takes seconds,
//! memory and instructions matter as much as time, and cases must take turns.

mod arguments;
mod cases;
mod contended;
mod failure;
mod instructions;
mod kernel;
mod machine;
mod once;
mod rounds;
mod table;

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use clap::Parser;

use crate::arguments::Arguments;
use crate::cases::{CASES, Case};
use crate::failure::Failure;
use crate::rounds::Manner;

fn main() -> ExitCode {
    match act(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            say(&format!("error: {failure}"));
            ExitCode::FAILURE
        }
    }
}

fn act(arguments: &Arguments) -> Result<(), Failure> {
    if let Some(name) = &arguments.once {
        let case = Case::named(name)
            .ok_or_else(|| Failure(format!("no case is called `{name}`; --list shows them")))?
            .shortened(arguments.shorten);
        let measured = once::run(&case, arguments.threads, arguments.set_up_only)?;
        return print(&serde_json::to_string(&measured)?);
    }
    let cases = chosen(&arguments.filters)?;
    if arguments.list {
        let names: Vec<&str> = cases.iter().map(|case| case.name).collect();
        return print(&names.join("\n"));
    }
    if arguments.contended {
        let (runs, shorten) = (arguments.runs, arguments.shorten);
        return print(&contended::compare(&arguments.filters, runs, shorten, say)?);
    }
    if arguments.instructions {
        return print(&instructions::count(&cases, arguments.shorten, say)?);
    }
    let manner = Manner {
        runs: arguments.runs,
        shorten: arguments.shorten,
        threads: arguments.threads,
        on_core: arguments.on_core,
    };
    let measured = rounds::best(&cases, manner, say)?;
    let rows = table::rows(&cases, &measured);
    if arguments.json {
        print(&table::json(&rows, manner)?)
    } else {
        print(&table::markdown(&rows, manner))
    }
}

/// The cases with one of the filters in their name, and the kernels they are compared with.
fn chosen(filters: &[String]) -> Result<Vec<Case>, Failure> {
    let asked =
        |case: &Case| filters.is_empty() || filters.iter().any(|filter| case.name.contains(filter));
    let mut chosen = CASES.to_vec();
    chosen.retain(|case| {
        asked(case)
            || CASES
                .iter()
                .any(|other| asked(other) && other.kernel().name == case.name)
    });
    if chosen.is_empty() {
        return Err(Failure(format!(
            "no case has {} in its name; --list shows them",
            filters.join(" or ")
        )));
    }
    Ok(chosen)
}

fn print(text: &str) -> Result<(), Failure> {
    Ok(writeln!(std::io::stdout(), "{text}")?)
}

/// Tells a person who waits; whoever reads the table from a pipe is not disturbed.
fn say(text: &str) {
    let mut stderr = std::io::stderr();
    let line = if stderr.is_terminal() && !text.starts_with("error") {
        format!("\r\x1b[K{text}")
    } else {
        format!("{text}\n")
    };
    // Nobody can be told when this fails.
    let _ = stderr.write_all(line.as_bytes());
}
