//! `tenter presets`: fabrics by name.

use serde_json::json;
use tenter::report::{TextColumn, TextTable};
use tenter::resolve::{PRESETS, Preset};

use crate::command::arguments::{Presets, PresetsCommand, TextFormat};
use crate::command::exit::ExitCode;
use crate::command::fabric::Fabric;
use crate::command::failure::{Failure, print, print_tables};
use crate::command::text::wrap;

/// Width of the last column: what the others leave of 80 columns.
const DESCRIPTION_WIDTH: usize = 34;

pub(crate) fn presets(arguments: Presets) -> Result<ExitCode, Failure> {
    let format = arguments.format;
    match arguments.command.unwrap_or(PresetsCommand::List { format }) {
        PresetsCommand::List { format } => list(format)?,
        PresetsCommand::Show { name, format } => {
            let preset = Preset::of_name(&name)
                .map_err(|help| Failure::input(format!("there is no preset `{name}`; {help}")))?;
            match format {
                TextFormat::Text => print(preset.text),
                TextFormat::Json => {
                    let document = json!({"preset": preset.name, "scenario": preset.text});
                    print(&format!("{document:#}\n"));
                }
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the presets and the sizes of their fabrics.
fn list(format: TextFormat) -> Result<(), Failure> {
    let mut documents = Vec::new();
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
        let topology = &plan.topology;
        let counts = [topology.hosts, topology.switches(), topology.cables.len()];
        documents.push(json!({
            "preset": preset.name,
            "nics": counts[0],
            "switches": counts[1],
            "cables": counts[2],
            "description": plan.description,
        }));
        let mut first = vec![preset.name.to_owned()];
        first.extend(counts.map(|count| count.to_string()));
        for line in wrap(&plan.description, DESCRIPTION_WIDTH) {
            // Lines that continue a description leave the other columns empty.
            first.resize(4, String::new());
            first.push(line);
            table.push(std::mem::take(&mut first));
        }
    }
    if format == TextFormat::Json {
        print(&format!("{:#}\n", json!(documents)));
        return Ok(());
    }
    print_tables(&format!(
        "{table}\n\
         tenter run NAME                        runs an all-reduce on it\n\
         tenter bench all_reduce --fabric NAME  runs a benchmark on it\n\
         tenter new --fabric NAME               writes a scenario with it\n"
    ));
    Ok(())
}
