//! Graphs of operations from the files of other programs, by what a job says of them.

use tenter_formats::{ImportError, Imported, Source, chakra, flow_list, goal, graph_file, simai};
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
    let Some(name) = kind.file() else {
        return Ok(None);
    };
    let bytes = || bytes_of(name, files);
    let text = || text_of(name, files);
    let read = match kind {
        WorkloadKind::Flows(_) | WorkloadKind::Training(_) => return Ok(None),
        WorkloadKind::Graph(_) => graph_file::read(&bytes()?).map(|graph| Imported {
            graph,
            notes: Vec::new(),
        }),
        WorkloadKind::Goal(_) => goal::read(&bytes()?),
        WorkloadKind::Chakra(spec) => {
            let ranks = ranks_of(name, files)?;
            let ranks: Vec<Source<'_>> = ranks.iter().map(NamedFile::source).collect();
            let named = |name: &String| NamedFile::read(name.clone(), files);
            let groups = spec.groups.as_ref().map(named).transpose()?;
            chakra::read(
                &ranks,
                groups.as_ref().map(NamedFile::source),
                &spec.reading,
            )
        }
        WorkloadKind::Simai(spec) => simai::read(&text()?, spec),
        WorkloadKind::FlowTable(spec) => flow_list::read_table(&text()?, spec.reading),
        WorkloadKind::Htsim(spec) => flow_list::read_htsim(&text()?, spec.start_unit, spec.reading),
        WorkloadKind::Ns3(spec) => flow_list::read_ns3(&text()?, spec.reading),
    };
    let read = read.map_err(|error| OperationsError::of(name, error))?;
    Ok(Some(read))
}

/// A file of several that make a graph.
struct NamedFile {
    name: String,
    bytes: Vec<u8>,
}

impl NamedFile {
    fn read(name: String, files: &Files<'_>) -> Result<NamedFile, OperationsError> {
        let bytes = bytes_of(&name, files)?;
        Ok(NamedFile { name, bytes })
    }

    fn source(&self) -> Source<'_> {
        Source {
            name: &self.name,
            bytes: &self.bytes,
        }
    }
}

/// The file of that very name as the trace of one rank, or one file for each rank.
fn ranks_of(name: &str, files: &Files<'_>) -> Result<Vec<NamedFile>, OperationsError> {
    if let Ok(one) = NamedFile::read(name.to_owned(), files) {
        return Ok(vec![one]);
    }
    let of_rank = |rank: usize| NamedFile::read(format!("{name}.{rank}.et"), files);
    let mut found = vec![of_rank(0)?];
    while let Ok(next) = of_rank(found.len()) {
        found.push(next);
    }
    Ok(found)
}

fn bytes_of(name: &str, files: &Files<'_>) -> Result<Vec<u8>, OperationsError> {
    let read = files(name);
    read.map_err(|remedy| OperationsError::unreadable(name, remedy))
}

fn text_of(name: &str, files: &Files<'_>) -> Result<String, OperationsError> {
    let text = String::from_utf8(bytes_of(name, files)?);
    text.map_err(|_| OperationsError::unreadable(name, "save it as a text in UTF-8".to_owned()))
}
