//! Limits of a call's time and memory.

use std::fmt::Display;
use std::str::FromStr;
use std::sync::Arc;

use pyo3::prelude::*;
use tenter::{Budget, Error, Limits, check_budget, check_limits, way_to_more};

use crate::error::{raised_with, wrong};

/// End of a message that refuses a call: the keyword that allows more time or memory.
pub(crate) const MORE_TIME: &str = "; `max_time=\"60s\"` allows more";
pub(crate) const MORE_MEMORY: &str = "; `max_memory=\"64GiB\"` allows more";

/// Limits of a call, by the keywords `max_time` and `max_memory`, else those of a check.
#[derive(Clone, Copy)]
pub(crate) struct Allowance(Limits);

impl Allowance {
    /// Reads the keywords, a time and a size with their units.
    pub(crate) fn read(
        py: Python<'_>,
        max_time: Option<&str>,
        max_memory: Option<&str>,
    ) -> PyResult<Allowance> {
        let usual = check_limits();
        Ok(Allowance(Limits {
            time: quantity(py, "max_time", max_time)?.unwrap_or(usual.time),
            memory: quantity(py, "max_memory", max_memory)?.unwrap_or(usual.memory),
            ..usual
        }))
    }

    /// Returns the time and memory limits.
    pub(crate) fn limits(self) -> Limits {
        self.0
    }

    /// Runs `work` within the budget, without the interpreter's lock; a refusal names the keyword
    /// that allows more.
    pub(crate) fn within<T: Send>(
        self,
        py: Python<'_>,
        work: impl FnOnce(&Budget) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let (result, way) = py.detach(|| {
            let budget = self.budget();
            (work(&budget), way_to_more(&budget, MORE_TIME, MORE_MEMORY))
        });
        result.map_err(|error| raised_with(py, &error, way.unwrap_or_default()))
    }

    /// Makes a budget of the calling thread, whose time counts from now.
    pub(crate) fn budget(self) -> Budget {
        check_budget(self.0, Arc::default())
    }
}

fn quantity<T: FromStr<Err: Display>>(
    py: Python<'_>,
    name: &str,
    text: Option<&str>,
) -> PyResult<Option<T>> {
    let read = text.map(str::parse).transpose();
    read.map_err(|error: T::Err| wrong(py, &format!("`{name}`: {error}")))
}
