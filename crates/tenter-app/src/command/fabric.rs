//! `--fabric`: a preset or a scenario file, to which a command adds jobs.

use tenter::resolve::Preset;
use tenter::{Error, Plan, Scenario};
use tenter_fabric::topology::TopologySpec;

use crate::command::failure::Failure;

/// Name under which errors report the keys that a command makes from its flags.
const OVERLAY: &str = "jobs of this command";

/// Returns the flag for an error's place in the command's own keys. The user has typed the flag and
/// never saw that line.
fn flag_of(keys: &str, place: &str) -> Option<String> {
    let line = place.strip_prefix(OVERLAY)?.strip_prefix(':')?;
    let line: usize = line.split(':').next()?.parse().ok()?;
    let text = keys.lines().nth(line.checked_sub(1)?)?;
    let key = text.trim_start_matches([' ', '-']).split(':').next()?;
    let flag = match key {
        "ranks" => "--nodes, -t and -g",
        "iterations" => "-n",
        "warm_up" => "-w",
        // An error about a collective may also mean that its size is too large.
        "collective" => "COLLECTIVE, -b, -e, -f and -i",
        "algorithm" => "--algorithm",
        "root" => "-r",
        "npus_per_host" => "-g",
        "sizes" => "-b, -e, -f and -i",
        _ => "this command",
    };
    Some(flag.to_owned())
}

/// Returns a job that fits any fabric: its ranks are joined by cables.
pub(crate) fn any_job(scenario: &Scenario) -> String {
    let job = |ranks: &str| {
        format!("jobs: [{{ranks: {ranks}, collectives: [{{collective: send-recv, size: 1B}}]}}]")
    };
    let usual = job("all");
    let typed = scenario.clone().with_keys(OVERLAY, usual.as_str()).typed();
    match typed.map(|of| of.fabric.topology) {
        // Nothing joins two rails. The first NICs of two servers are on one rail.
        Ok(TopologySpec::RailOnly(of)) => job(&format!("[0, {}]", of.nics_per_server)),
        _ => usual,
    }
}

/// A fabric that the user named.
pub(crate) struct Fabric {
    /// Name for messages and trial folders: the preset, or the file name without extension.
    pub(crate) name: String,
    scenario: Scenario,
}

impl Fabric {
    /// Finds the preset with that name, or else reads the file.
    pub(crate) fn find(given: &str) -> Result<Fabric, Failure> {
        let file = std::path::Path::new(given);
        let scenario = match Preset::of_name(given) {
            Ok(_) => Scenario::preset(given)?,
            Err(help) if !file.exists() => {
                return Err(Failure::input(format!(
                    "there is no preset and no file `{given}`; {help}"
                )));
            }
            Err(_) => Scenario::read(file)?,
        };
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        Ok(Fabric {
            name: stem.into_owned(),
            scenario,
        })
    }

    /// Resolves the fabric with `keys` in place of the scenario's own.
    pub(crate) fn with(
        &self,
        keys: &str,
        overrides: &[String],
        seed: Option<u64>,
    ) -> Result<Plan, Failure> {
        let mut scenario = self.scenario.clone().with_keys(OVERLAY, keys);
        for setting in overrides {
            scenario = scenario.with_setting(setting);
        }
        if let Some(seed) = seed {
            scenario = scenario.seed(seed);
        }
        scenario.resolve().map_err(|error| match error {
            Error::Scenario(problems) => {
                let problems = problems.with_places(|place| flag_of(keys, place));
                Failure::of_scenario(&problems)
            }
            error => error.into(),
        })
    }

    /// Resolves the fabric with a job that fits any, for callers that only need to know the fabric.
    pub(crate) fn alone(&self, overrides: &[String]) -> Result<Plan, Failure> {
        let keys = &any_job(&self.scenario);
        // Overrides of `jobs` mean the command's own job, which is not there yet.
        let of_fabric = |change: &&String| !change.trim_start().starts_with("jobs");
        let overrides: Vec<String> = overrides.iter().filter(of_fabric).cloned().collect();
        self.with(keys, &overrides, None)
    }
}
