//! What a call may take.

use std::fmt::Display;
use std::str::FromStr;
use std::sync::Arc;

use pyo3::prelude::*;
use tenter::{Budget, Error, Limits, check_budget, check_limits, way_to_more};

use crate::error::{raised_with, wrong};

/// How to allow more of what a call was refused for.
pub(crate) const MORE_TIME: &str = "; `max_time=\"60s\"` allows more";
pub(crate) const MORE_MEMORY: &str = "; `max_memory=\"64GiB\"` allows more";

/// What a call may take: the keywords `max_time` and `max_memory`, or what a check may take.
#[derive(Clone, Copy)]
pub(crate) struct Allowance(Limits);

impl Allowance {
    /// Reads the keywords: a time and a size, each with its unit.
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

    /// The limits.
    pub(crate) fn limits(self) -> Limits {
        self.0
    }

    /// Works within the budget; a refusal for its sake says which keyword allows more.
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

    /// A budget of the thread that calls, whose time counts from now on.
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
