//! Reading a scenario from a file, standard input or a preset.

use std::path::Path;

use tenter::resolve::Preset;
use tenter::{Budget, Plan, Scenario};

use crate::command::arguments::{self, Fidelity};
use crate::command::failure::{Failure, say};

/// Job that runs on a preset, which has none of its own.
pub(crate) const FIRST_JOBS: &str = "\
jobs:
  - name: train
    collectives:
      - {collective: all-reduce, size: 16MiB}
";

/// Reads the scenario that the user named, and applies overrides and seed.
pub(crate) fn scenario(asked: &arguments::Scenario) -> Result<Scenario, Failure> {
    let mut scenario = named(asked)?;
    for setting in &asked.overrides {
        scenario = scenario.with_setting(setting);
    }
    if let Some(fidelity) = asked.fidelity {
        let setting = self::fidelity(fidelity)?;
        scenario = scenario.with_setting(setting);
    }
    Ok(match asked.seed {
        Some(seed) => scenario.seed(seed),
        None => scenario,
    })
}

/// Returns the setting for a fidelity.
pub(crate) fn fidelity(fidelity: Fidelity) -> Result<&'static str, Failure> {
    fidelity.setting().ok_or_else(|| {
        Failure::input("`--fidelity both` goes with `tenter run FILE`; give packet or flow")
    })
}

/// Name of standard input in messages.
const STANDARD_INPUT: &str = "standard input";

fn is_standard_input(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// Returns a file's name in messages.
pub(crate) fn shown(file: &Path) -> String {
    if is_standard_input(file) {
        STANDARD_INPUT.to_owned()
    } else {
        file.display().to_string()
    }
}

/// Reads a file, standard input, or a preset if there is no such file.
fn named(asked: &arguments::Scenario) -> Result<Scenario, Failure> {
    if is_standard_input(&asked.file) {
        let input = std::io::stdin().lock();
        return Ok(Scenario::read_from(STANDARD_INPUT, input)?.beside("."));
    }
    // A file goes before a preset with the same name.
    let preset = asked.file.to_str().filter(|_| !asked.file.exists());
    let Some(Ok(preset)) = preset.map(Preset::of_name) else {
        return Ok(Scenario::read(&asked.file)?);
    };
    let of_jobs = |setting: &String| setting.trim_start().starts_with("jobs");
    // With jobs of their own, users need not be told of the default ones.
    if !asked.overrides.iter().any(of_jobs) {
        say(
            "note: a preset has no jobs: an all-reduce of 16 MiB over all NICs is run; `--set 'jobs=[…]'` runs others\n",
        );
    }
    let name = preset.name;
    // Files named in settings are looked up where the command runs.
    let preset = Scenario::preset(name)?.beside(".");
    Ok(preset.with_keys("first jobs", FIRST_JOBS))
}

/// Reads, overrides and resolves a scenario within a budget, and prints its warnings.
pub(crate) fn read(asked: &arguments::Scenario, budget: &Budget) -> Result<Plan, Failure> {
    let plan = scenario(asked)?.resolve_within(budget)?;
    say(&plan.warnings().render_as("warning"));
    Ok(plan)
}
