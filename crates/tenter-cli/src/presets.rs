//! `tenter presets`: fabrics by name.

use std::process::ExitCode;

use tenter_report::{TextColumn, TextTable};
use tenter_scenario::{PRESETS, Preset};

use crate::arguments::{Presets, PresetsCommand};
use crate::fabric::Fabric;
use crate::failure::{Failure, print};

pub(crate) fn presets(arguments: &Presets) -> Result<ExitCode, Failure> {
    match &arguments.command {
        None | Some(PresetsCommand::List) => list()?,
        Some(PresetsCommand::Show { name }) => {
            let preset = Preset::of_name(name)
                .map_err(|help| Failure::input(format!("there is no preset `{name}`; {help}")))?;
            print(preset.text);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn list() -> Result<(), Failure> {
    let mut table = TextTable::new(vec![
        TextColumn::name("preset"),
        TextColumn::number("NICs", ""),
        TextColumn::number("switches", ""),
        TextColumn::number("cables", ""),
        TextColumn::name("what"),
    ]);
    for preset in PRESETS {
        let plan = Fabric::find(preset.name)?.alone(&[])?;
        let plan = plan.resolved();
        table.push(vec![
            preset.name.to_owned(),
            plan.topology.hosts.to_string(),
            plan.topology.switches().to_string(),
            plan.topology.cables.len().to_string(),
            plan.description.clone(),
        ]);
    }
    print(&format!(
        "{table}\n`tenter run NAME` runs an all-reduce on one, `tenter bench all_reduce --fabric NAME` a benchmark, \
         `tenter new --fabric NAME` writes a scenario with it.\n"
    ));
    Ok(())
}
