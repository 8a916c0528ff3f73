//! `tenter lab counters`: the counters that switches have.

use tenter::report::{TextColumn, TextTable};
use tenter_lab::{Counter, LabFile, SwitchShown, add_counters, read_switches};

use crate::command::arguments::LabCounters;
use crate::command::exit::ExitCode;
use crate::command::failure::{Failure, print_tables, say};

/// Columns for an interface: titles and counters.
const SHOWN: [(&str, Counter); 8] = [
    ("rx frames", Counter::RxFrames),
    ("rx bytes", Counter::RxBytes),
    ("tx frames", Counter::TxFrames),
    ("tx bytes", Counter::TxBytes),
    ("dropped", Counter::DroppedFrames),
    ("marked", Counter::MarkedFrames),
    ("rx pauses", Counter::RxPauseFrames),
    ("tx pauses", Counter::TxPauseFrames),
];

/// Prints switch counters, or adds counters from files to a trial.
pub(crate) fn counters(arguments: &LabCounters) -> Result<ExitCode, Failure> {
    let lab = LabFile::read(&arguments.lab)?;
    let switches = &lab.keys.switches;
    let folders = (&arguments.trial, &arguments.before, &arguments.after);
    if let (Some(trial), Some(before), Some(after)) = folders {
        for warning in add_counters(switches, trial, before, after)? {
            say(&format!("warning: {warning}\n"));
        }
        say(&format!("counters are in {}\n", trial.display()));
        return Ok(ExitCode::SUCCESS);
    }
    if switches.is_empty() {
        return Err(Failure::input(format!(
            "{} has no `switches`: list them with their `ports`",
            arguments.lab.display()
        )));
    }
    let shown = read_switches(switches, lab.folder());
    print_tables(&table(&shown).to_string());
    let mut all = true;
    for switch in &shown {
        for why in &switch.refused {
            say(&format!("warning: {why}\n"));
        }
        match &switch.shown {
            Some(Ok(_)) => {}
            Some(Err(why)) => {
                // The other switches are still shown.
                all = false;
                say(&format!("error: {why}\n"));
            }
            None => say(&format!("switch `{}` is read from files\n", switch.name)),
        }
    }
    Ok(if all {
        ExitCode::SUCCESS
    } else {
        ExitCode::NOT_COMPLETE
    })
}

fn table(shown: &[SwitchShown]) -> TextTable {
    let mut columns = vec![TextColumn::name("switch"), TextColumn::name("interface")];
    columns.extend(SHOWN.iter().map(|(title, _)| TextColumn::number(title, "")));
    let mut table = TextTable::new(columns);
    for switch in shown {
        let Some(Ok(snapshot)) = &switch.shown else {
            continue;
        };
        for (name, interface) in &snapshot.0 {
            let count = |counter| interface.count(counter).map(|count| count.to_string());
            let cells = SHOWN.iter().map(|(_, counter)| count(*counter));
            let cells = cells.map(|cell| cell.unwrap_or_else(|| "–".to_owned()));
            let names = [switch.name.clone(), name.clone()];
            table.push(names.into_iter().chain(cells).collect());
        }
    }
    table
}
