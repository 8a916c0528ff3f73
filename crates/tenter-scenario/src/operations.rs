//! Graphs of operations from the files of other programs, by what a job says of them.

use tenter_formats::{ImportError, Imported, goal, graph_file};
use tenter_workload::spec::WorkloadKind;

use crate::files::Files;

/// Why the files of a graph cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationsError {
    /// What is wrong, and where.
    pub what: String,
    /// What to do.
    pub remedy: String,
}

impl OperationsError {
    fn unreadable(name: &str, remedy: String) -> OperationsError {
        OperationsError {
            what: format!("cannot read the file `{name}`"),
            remedy,
        }
    }

    fn of(name: &str, error: ImportError) -> OperationsError {
        let name = error.file.as_deref().unwrap_or(name);
        OperationsError {
            what: format!("the file `{name}`, {}: {}", error.place, error.what),
            remedy: error.remedy,
        }
    }
}

/// Reads the graph of a workload; `None` where the workload is none.
///
/// # Errors
/// A file that cannot be read, and the first thing in it that is not as its format has it.
pub fn read_operations(
    kind: &WorkloadKind,
    files: &Files<'_>,
) -> Result<Option<Imported>, OperationsError> {
    let bytes_of = |name: &str| {
        let read = files(name);
        read.map_err(|remedy| OperationsError::unreadable(name, remedy))
    };
    let (name, read) = match kind {
        WorkloadKind::Flows(_) => return Ok(None),
        WorkloadKind::Graph(spec) => {
            let graph = graph_file::read(&bytes_of(&spec.file)?);
            let notes = Vec::new();
            (&spec.file, graph.map(|graph| Imported { graph, notes }))
        }
        WorkloadKind::Goal(spec) => (&spec.file, goal::read(&bytes_of(&spec.file)?)),
    };
    let read = read.map_err(|error| OperationsError::of(name, error))?;
    Ok(Some(read))
}
