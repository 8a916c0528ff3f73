//! Graphs of operations from the files of other programs, by what a job says of them.

use tenter_formats::{ImportError, Imported, Source, chakra, flow_list, goal, graph_file, simai};
use tenter_workload::spec::{ChakraSpec, WorkloadKind};

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
    let bytes_of = |name: &str| bytes_of(name, files);
    let (name, read) = match kind {
        WorkloadKind::Flows(_) => return Ok(None),
        WorkloadKind::Graph(spec) => {
            let graph = graph_file::read(&bytes_of(&spec.file)?);
            let notes = Vec::new();
            (&spec.file, graph.map(|graph| Imported { graph, notes }))
        }
        WorkloadKind::Goal(spec) => (&spec.file, goal::read(&bytes_of(&spec.file)?)),
        WorkloadKind::Chakra(spec) => (&spec.file, of_chakra(spec, files)?),
        WorkloadKind::Simai(spec) => {
            let text = text_of(&spec.file, files)?;
            (&spec.file, simai::read(&text, spec))
        }
        WorkloadKind::FlowTable(spec) => {
            let text = text_of(&spec.file, files)?;
            (&spec.file, flow_list::read_table(&text, spec.reading))
        }
        WorkloadKind::Htsim(spec) => {
            let text = text_of(&spec.file, files)?;
            let read = flow_list::read_htsim(&text, spec.start_unit, spec.reading);
            (&spec.file, read)
        }
        WorkloadKind::Ns3(spec) => {
            let text = text_of(&spec.file, files)?;
            (&spec.file, flow_list::read_ns3(&text, spec.reading))
        }
    };
    let read = read.map_err(|error| OperationsError::of(name, error))?;
    Ok(Some(read))
}

fn bytes_of(name: &str, files: &Files<'_>) -> Result<Vec<u8>, OperationsError> {
    let read = files(name);
    read.map_err(|remedy| OperationsError::unreadable(name, remedy))
}

fn text_of(name: &str, files: &Files<'_>) -> Result<String, OperationsError> {
    let text = String::from_utf8(bytes_of(name, files)?);
    text.map_err(|_| OperationsError::unreadable(name, "save it as a text in UTF-8".to_owned()))
}

/// Reads the file of that very name as the trace of one rank, or one file for each rank.
fn of_chakra(
    spec: &ChakraSpec,
    files: &Files<'_>,
) -> Result<Result<Imported, ImportError>, OperationsError> {
    let groups = match &spec.groups {
        Some(name) => Some((name, bytes_of(name, files)?)),
        None => None,
    };
    let mut found: Vec<(String, Vec<u8>)> = Vec::new();
    match files(&spec.file) {
        Ok(bytes) => found.push((spec.file.clone(), bytes)),
        Err(_) => loop {
            let name = format!("{}.{}.et", spec.file, found.len());
            match files(&name) {
                Ok(bytes) => found.push((name, bytes)),
                Err(remedy) if found.is_empty() => {
                    return Err(OperationsError::unreadable(&name, remedy));
                }
                Err(_) => break,
            }
        },
    }
    let sources = found.iter().map(|(name, bytes)| Source { name, bytes });
    let sources: Vec<Source<'_>> = sources.collect();
    let groups = groups.as_ref().map(|(name, bytes)| Source { name, bytes });
    Ok(chakra::read(&sources, groups, &spec.reading))
}
