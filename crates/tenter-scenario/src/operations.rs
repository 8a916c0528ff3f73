//! Graphs of operations from the files of other programs, by what a job says of them.

use tenter_formats::{
    ImportError, Imported, Source, aicb, chakra, flight_recorder, flow_list, goal, graph_file,
    kineto, nccl_log, pytorch_et, simai,
};
use tenter_workload::graph::Graph;
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
        WorkloadKind::Flows(_) | WorkloadKind::Training(_) | WorkloadKind::Inference(_) => {
            return Ok(None);
        }
        WorkloadKind::Graph(_) => graph_file::read(&bytes()?).map(without_notes),
        WorkloadKind::Goal(_) => goal::read(&bytes()?),
        WorkloadKind::Chakra(spec) => {
            let ranks = all_files(name, files)?;
            let ranks: Vec<Source<'_>> = ranks.iter().map(NamedFile::source).collect();
            let groups = groups_of(spec.groups.as_ref(), files)?;
            chakra::read(
                &ranks,
                groups.as_ref().map(NamedFile::source),
                &spec.reading,
            )
        }
        WorkloadKind::Kineto(spec) => {
            let groups = groups_of(spec.groups.as_ref(), files)?;
            let reader = kineto::Reader::new(spec, groups.as_ref().map(NamedFile::source));
            let mut reader = reader.map_err(|error| OperationsError::of(name, error))?;
            // Traces have hundreds of megabytes each.
            each_file(name, files, |file| {
                let added = reader.add(file.source());
                added.map_err(|error| OperationsError::of(name, error))
            })?;
            reader.finish()
        }
        WorkloadKind::PytorchEt(spec) => {
            let groups = groups_of(spec.groups.as_ref(), files)?;
            let ranks = all_files(name, files)?;
            let ranks: Vec<Source<'_>> = ranks.iter().map(NamedFile::source).collect();
            pytorch_et::read(&ranks, groups.as_ref().map(NamedFile::source), spec)
        }
        WorkloadKind::FlightRecorder(spec) => {
            let groups = groups_of(spec.groups.as_ref(), files)?;
            let ranks = all_files(name, files)?;
            let ranks: Vec<Source<'_>> = ranks.iter().map(NamedFile::source).collect();
            flight_recorder::read(&ranks, groups.as_ref().map(NamedFile::source), spec)
        }
        WorkloadKind::NcclLog(spec) => {
            let logs = all_files(name, files)?;
            let logs: Vec<Source<'_>> = logs.iter().map(NamedFile::source).collect();
            nccl_log::read(&logs, spec)
        }
        WorkloadKind::Aicb(spec) => aicb::read(&text()?, spec),
        WorkloadKind::Simai(spec) => simai::read(&text()?, spec),
        WorkloadKind::FlowTable(spec) => {
            let table = bytes()?;
            if flow_list::is_parquet(&table) {
                flow_list::read_parquet(&table, spec.reading)
            } else {
                flow_list::read_table(&utf8(name, table)?, spec.reading)
            }
        }
        WorkloadKind::Htsim(spec) => flow_list::read_htsim(&text()?, spec.start_unit, spec.reading),
        WorkloadKind::Ns3(spec) => flow_list::read_ns3(&text()?, spec.reading),
    };
    let read = read.map_err(|error| OperationsError::of(name, error))?;
    Ok(Some(read))
}

fn without_notes(graph: Graph) -> Imported {
    Imported {
        graph,
        notes: Vec::new(),
    }
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

/// Behind what the names of files begin with: the endings of formats, with the number of the rank.
const ENDINGS: [&str; 9] = [
    ".{rank}.et",
    ".{rank}.json",
    ".{rank}.json.gz",
    "{rank}.json",
    "{rank}.json.gz",
    "{rank}.pt.trace.json",
    "{rank}.pt.trace.json.gz",
    ".{rank}.log",
    "{rank}",
];
/// What stands for the number of the rank.
const RANK: &str = "{rank}";

/// Takes the file of that very name, or one file after the other for each rank.
fn each_file(
    name: &str,
    files: &Files<'_>,
    mut take: impl FnMut(NamedFile) -> Result<(), OperationsError>,
) -> Result<(), OperationsError> {
    let of_rank = |pattern: &str, rank: usize| {
        NamedFile::read(pattern.replace(RANK, &rank.to_string()), files)
    };
    let (pattern, first) = if name.contains(RANK) {
        (name.to_owned(), of_rank(name, 0)?)
    } else {
        let unreadable = match NamedFile::read(name.to_owned(), files) {
            Ok(one) => return take(one),
            Err(error) => error,
        };
        let patterns = ENDINGS.iter().map(|ending| format!("{name}{ending}"));
        let mut found = patterns.filter_map(|pattern| {
            let first = of_rank(&pattern, 0).ok()?;
            Some((pattern, first))
        });
        found.next().ok_or(unreadable)?
    };
    take(first)?;
    let mut rank = 1;
    while let Ok(next) = of_rank(&pattern, rank) {
        take(next)?;
        rank += 1;
    }
    Ok(())
}

/// The file of that very name, or one for each rank.
fn all_files(name: &str, files: &Files<'_>) -> Result<Vec<NamedFile>, OperationsError> {
    let mut found = Vec::new();
    each_file(name, files, |file| {
        found.push(file);
        Ok(())
    })?;
    Ok(found)
}

/// The file of groups, where one is named.
fn groups_of(
    name: Option<&String>,
    files: &Files<'_>,
) -> Result<Option<NamedFile>, OperationsError> {
    let named = name.map(|name| NamedFile::read(name.clone(), files));
    named.transpose()
}

fn bytes_of(name: &str, files: &Files<'_>) -> Result<Vec<u8>, OperationsError> {
    let read = files(name);
    read.map_err(|remedy| OperationsError::unreadable(name, remedy))
}

fn text_of(name: &str, files: &Files<'_>) -> Result<String, OperationsError> {
    utf8(name, bytes_of(name, files)?)
}

fn utf8(name: &str, bytes: Vec<u8>) -> Result<String, OperationsError> {
    let text = String::from_utf8(bytes);
    text.map_err(|_| OperationsError::unreadable(name, "save it as a text in UTF-8".to_owned()))
}
