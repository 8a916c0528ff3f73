//! Reading a scenario from a file.

use std::path::Path;

use tenter::{Budget, Plan, Scenario};
use tenter_scenario::Preset;

use crate::arguments::{self, Fidelity};
use crate::failure::{Failure, say};

/// What runs on a preset, which has no jobs.
pub(crate) const FIRST_JOBS: &str = "\
jobs:
  - name: train
    collectives:
      - {collective: all-reduce, size: 16MiB}
";

/// The scenario that a command was given, with its overrides and its seed.
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

/// The setting of a level.
pub(crate) fn fidelity(fidelity: Fidelity) -> Result<&'static str, Failure> {
    fidelity.setting().ok_or_else(|| {
        Failure::input("`--fidelity both` goes with `tenter run FILE`; give packet or flow")
    })
}

/// What messages call standard input.
const STANDARD_INPUT: &str = "standard input";

fn is_standard_input(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// What messages call a file.
pub(crate) fn shown(file: &Path) -> String {
    if is_standard_input(file) {
        STANDARD_INPUT.to_owned()
    } else {
        file.display().to_string()
    }
}

/// A file, standard input, or a preset where there is no file of that name.
fn named(asked: &arguments::Scenario) -> Result<Scenario, Failure> {
    if is_standard_input(&asked.file) {
        let input = std::io::stdin().lock();
        return Ok(Scenario::read_from(STANDARD_INPUT, input)?.beside("."));
    }
    let preset = asked.file.to_str().filter(|_| !asked.file.exists());
    let Some(Ok(preset)) = preset.map(Preset::of_name) else {
        return Ok(Scenario::read(&asked.file)?);
    };
    let of_jobs = |setting: &String| setting.trim_start().starts_with("jobs");
    if !asked.overrides.iter().any(of_jobs) {
        say(
            "note: a preset has no jobs: an all-reduce of 16 MiB over all NICs is run; `--set 'jobs=[…]'` runs others\n",
        );
    }
    let name = preset.name;
    // Files that settings name lie where the command runs.
    let preset = Scenario::preset(name)?.beside(".");
    Ok(preset.with_keys("first jobs", FIRST_JOBS))
}

/// Reads, overrides and resolves a scenario within a budget; prints its warnings.
pub(crate) fn read(asked: &arguments::Scenario, budget: &Budget) -> Result<Plan, Failure> {
    let plan = scenario(asked)?.resolve_within(budget)?;
    say(&plan.warnings().render_as("warning"));
    Ok(plan)
}
