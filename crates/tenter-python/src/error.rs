//! Errors of the library as Python exceptions.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use tenter::{Error, Problem};

/// Makes the exception of an error; `tenter._errors` has the classes.
pub(crate) fn raised(py: Python<'_>, error: &Error) -> PyErr {
    raised_with(py, error, "")
}

/// Makes the exception of an error, with `end` appended to its message.
pub(crate) fn raised_with(py: Python<'_>, error: &Error, end: &str) -> PyErr {
    let kind = match error {
        Error::Scenario(_) => "ScenarioError",
        Error::Folder(_) | Error::NotWritten { .. } | Error::Unreadable { .. } => "FolderError",
        Error::Internal(_) => "InternalError",
        error if error.is_of_input() => "InputError",
        _ => "RunError",
    };
    let problems: &[Problem] = match error {
        Error::Scenario(problems) => problems.problems(),
        _ => &[],
    };
    made(
        py,
        kind,
        &format!("{}{end}", error.to_string().trim_end()),
        problems,
    )
}

/// Makes the exception for a defect in Tenter.
pub(crate) fn internal(py: Python<'_>, message: &str) -> PyErr {
    raised(py, &Error::Internal(message.to_owned()))
}

/// Makes the exception for a wrong call.
pub(crate) fn wrong(py: Python<'_>, message: &str) -> PyErr {
    raised(py, &Error::Asked(message.to_owned()))
}

fn made(py: Python<'_>, kind: &str, message: &str, problems: &[Problem]) -> PyErr {
    let make = || -> PyResult<PyErr> {
        let list = problems.iter().map(|problem| described(py, problem));
        let list = list.collect::<PyResult<Vec<_>>>()?;
        let class = py.import("tenter._errors")?.getattr(kind)?;
        let error = class.call1((message.trim_end(), list))?;
        Ok(PyErr::from_value(error))
    };
    // If the class cannot be made, the reason is raised in its place.
    make().unwrap_or_else(|error| error)
}

/// Describes a problem as a mapping; lines and columns count from 1.
fn described<'py>(py: Python<'py>, problem: &Problem) -> PyResult<Bound<'py, PyDict>> {
    let at = problem.position.as_ref();
    let described = PyDict::new(py);
    described.set_item("message", &problem.message)?;
    described.set_item("help", &problem.help)?;
    described.set_item("source", at.map(|at| &at.source))?;
    described.set_item("line", at.map(|at| at.start.0))?;
    described.set_item("column", at.map(|at| at.start.1))?;
    Ok(described)
}
