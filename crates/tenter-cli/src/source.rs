//! Reading a scenario from a file.

use tenter_scenario::{Format, Loaded, load, text_of};

use crate::arguments::Scenario;
use crate::failure::{Failure, say};

/// Reads, overrides and resolves a scenario; prints its warnings.
pub(crate) fn read(scenario: &Scenario) -> Result<Loaded, Failure> {
    let name = scenario.file.display().to_string();
    let bytes = std::fs::read(&scenario.file).map_err(|error| unreadable(scenario, &error))?;
    let text = text_of(&bytes, &name).map_err(|problems| Failure::input(problems.render()))?;
    let format = Format::of_name(&name);
    let loaded = load(text, &name, format, &scenario.overrides, scenario.seed)
        .map_err(|problems| Failure::input(problems.render()))?;
    say(&loaded.warnings.render());
    Ok(loaded)
}

fn unreadable(scenario: &Scenario, error: &std::io::Error) -> Failure {
    let name = scenario.file.display();
    let remedy = if scenario.file.is_dir() {
        "it is a folder; name a scenario file in it".to_owned()
    } else if error.kind() == std::io::ErrorKind::NotFound {
        "check the path; `scenarios/quickstart.yaml` is a good first one".to_owned()
    } else {
        format!("{error}; check its permissions")
    };
    Failure::input(format!("cannot read {name}: {remedy}"))
}
