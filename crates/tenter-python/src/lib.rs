//! Native module of the Python package: the library's scenarios, runs, tables and sweeps, which
//! `python/tenter` wraps for users.
//!
//! Long calls run on a thread of their own, without the interpreter's lock; the calling thread
//! waits and checks for signals twenty times a second. Errors become exceptions of
//! `tenter._errors`. Tables are handed over as Arrow streams without a copy.

mod allowance;
mod background;
mod error;
mod run;
mod scenario;
mod sweep;
mod table;

use pyo3::prelude::*;

/// Runs the command with these arguments, the name of the program first, and gives its exit code.
#[pyfunction]
fn command(py: Python<'_>, arguments: Vec<String>) -> u8 {
    py.detach(|| tenter_app::command::run(arguments.into_iter().map(Into::into)))
}

/// The JSON Schema of scenarios.
#[pyfunction]
fn schema() -> String {
    tenter::schema()
}

#[pymodule(gil_used = false)]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("version", tenter::version())?;
    module.add(
        "table_names",
        tenter::Trial::table_names().collect::<Vec<_>>(),
    )?;
    module.add_function(wrap_pyfunction!(command, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(run::run, module)?)?;
    module.add_function(wrap_pyfunction!(run::open, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::carry_out, module)?)?;
    module.add_class::<scenario::Scenario>()?;
    module.add_class::<scenario::Plan>()?;
    module.add_class::<run::Trial>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<sweep::SweepRun>()?;
    module.add_class::<sweep::SweepSession>()
}
