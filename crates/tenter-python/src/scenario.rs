//! Scenarios, and the plans that they resolve to.

use std::path::PathBuf;

use pyo3::prelude::*;
use tenter::{Budget, Diagnostics, Format};

use crate::allowance::Allowance;
use crate::error::{raised, wrong};

/// A scenario as it is written; nothing is checked before `resolve`.
#[pyclass(frozen, module = "tenter._core")]
pub(crate) struct Scenario(pub(crate) tenter::Scenario);

#[pymethods]
impl Scenario {
    /// Reads a file: TOML or JSON by its name, YAML otherwise.
    #[staticmethod]
    fn read(py: Python<'_>, file: PathBuf) -> PyResult<Scenario> {
        let scenario = tenter::Scenario::read(file);
        Ok(Scenario(scenario.map_err(|error| raised(py, &error))?))
    }

    /// A text; `format` is `yaml`, `json` or `toml`, and `name` is what problems call it.
    #[staticmethod]
    fn parse(py: Python<'_>, text: String, format: &str, name: &str) -> PyResult<Scenario> {
        let scenario = tenter::Scenario::parse(name, text, format_of(py, format)?);
        // A text has no folder: paths in it count from the current one.
        Ok(Scenario(scenario.beside("")))
    }

    /// The fabric and the hosts of a preset.
    #[staticmethod]
    fn preset(py: Python<'_>, name: &str) -> PyResult<Scenario> {
        let scenario = tenter::Scenario::preset(name);
        Ok(Scenario(scenario.map_err(|error| raised(py, &error))?))
    }

    /// Returns a copy with a setting, `PATH=VALUE`.
    fn with_setting(&self, setting: String) -> Scenario {
        Scenario(self.0.clone().with_setting(setting))
    }

    /// Returns a copy with keys in YAML in place of the scenario's own.
    fn with_keys(&self, name: &str, yaml: String) -> Scenario {
        Scenario(self.0.clone().with_keys(name, yaml))
    }

    /// Returns a copy with another seed.
    fn with_seed(&self, seed: u64) -> Scenario {
        Scenario(self.0.clone().seed(seed))
    }

    /// Fills in every default and checks everything.
    #[pyo3(signature = (max_time=None, max_memory=None))]
    fn resolve(
        &self,
        py: Python<'_>,
        max_time: Option<&str>,
        max_memory: Option<&str>,
    ) -> PyResult<Plan> {
        let allowance = Allowance::read(py, max_time, max_memory)?;
        let plan = allowance.within(py, |budget| self.0.resolve_within(budget))?;
        Ok(Plan { plan, allowance })
    }
}

/// Returns the format that a word names.
pub(crate) fn format_of(py: Python<'_>, word: &str) -> PyResult<Format> {
    match word {
        "yaml" => Ok(Format::Yaml),
        "json" => Ok(Format::Json),
        "toml" => Ok(Format::Toml),
        other => Err(wrong(
            py,
            &format!("there is no format `{other}`: choose yaml, json or toml"),
        )),
    }
}

/// A scenario in which every number stands.
#[pyclass(frozen, module = "tenter._core")]
pub(crate) struct Plan {
    pub(crate) plan: tenter::Plan,
    /// Limits for each call about the plan: those it was made within.
    pub(crate) allowance: Allowance,
}

#[pymethods]
impl Plan {
    #[getter]
    fn name(&self) -> &str {
        self.plan.name()
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.plan.seed()
    }

    /// The scenario as YAML, every default filled in.
    #[getter]
    fn yaml(&self) -> &str {
        self.plan.to_yaml()
    }

    /// Oddities of the scenario, a text each.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        let warnings: &Diagnostics = self.plan.warnings();
        let each = warnings.problems().iter();
        each.map(|problem| problem.message.clone()).collect()
    }

    /// Returns meaning and cost of the scenario, as JSON.
    fn explain(&self, py: Python<'_>) -> PyResult<String> {
        let explain = |budget: &Budget| self.plan.explain_within(budget);
        let explanation = self.allowance.within(py, explain)?;
        serde_json::to_string(&explanation).map_err(|error| wrong(py, &error.to_string()))
    }

    /// Bytes of memory that a run is expected to take.
    #[getter]
    fn memory_bytes(&self, py: Python<'_>) -> PyResult<u64> {
        let bytes = py.detach(|| self.plan.memory_bytes());
        bytes.map_err(|error| raised(py, &error))
    }

    /// Packet-hops that a run is expected to have.
    #[getter]
    fn packet_hops(&self, py: Python<'_>) -> PyResult<f64> {
        let count = |budget: &Budget| self.plan.packet_hops_within(budget);
        self.allowance.within(py, count)
    }
}
