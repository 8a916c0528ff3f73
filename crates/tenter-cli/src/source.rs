//! Reading a scenario from a file.

use std::fs::File;
use std::io::Read;

use tenter_scenario::{Format, Loaded, MAX_SOURCE_BYTES, load, text_of};

use crate::arguments::Scenario;
use crate::failure::{Failure, say};

/// Reads, overrides and resolves a scenario; prints its warnings.
pub(crate) fn read(scenario: &Scenario) -> Result<Loaded, Failure> {
    let name = scenario.file.display().to_string();
    let bytes = bytes(scenario).map_err(|error| unreadable(scenario, &error))?;
    let text = text_of(&bytes, &name).map_err(|problems| Failure::input(problems.render()))?;
    let format = Format::of_name(&name);
    let loaded = load(text, &name, format, &scenario.overrides, scenario.seed)
        .map_err(|problems| Failure::input(problems.render()))?;
    say(&loaded.warnings.render_as("warning"));
    Ok(loaded)
}

/// The file's bytes, or the first ones and one too many: a device may have no end.
fn bytes(scenario: &Scenario) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = File::open(&scenario.file)?;
    file.take(MAX_SOURCE_BYTES as u64 + 1)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn unreadable(scenario: &Scenario, error: &std::io::Error) -> Failure {
    let name = scenario.file.display();
    let remedy = if scenario.file.is_dir() {
        "it is a folder; name a scenario file in it".to_owned()
    } else if error.kind() == std::io::ErrorKind::NotFound {
        "check the path; `scenarios/quickstart.yaml` is a good first one".to_owned()
    } else {
        format!("{error}; check the path and its permissions")
    };
    Failure::input(format!("cannot read {name}: {remedy}"))
}
