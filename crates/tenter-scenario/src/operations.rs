//! Graphs of operations from the files of other programs, by what a job says of them.

use std::cell::RefCell;
use std::iter;

use tenter_formats::{
    Content, ImportError, Imported, RankFiles, Source, aicb, chakra, flight_recorder, flow_list,
    goal, graph_file, kineto, nccl_log, pytorch_et, simai,
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
    let open = || opened(name, files);
    let bytes = || bytes_of(name, files);
    let text = || text_of(name, files);
    let ranks = || OneByOne::of(name, files);
    let read = match kind {
        WorkloadKind::Flows(_) | WorkloadKind::Training(_) | WorkloadKind::Inference(_) => {
            return Ok(None);
        }
        WorkloadKind::Graph(_) => graph_file::read(open()?).map(without_notes),
        WorkloadKind::Goal(_) => goal::read(open()?),
        WorkloadKind::Chakra(spec) => {
            let groups = groups_of(spec.groups.as_ref(), files)?;
            let groups = groups.as_ref().map(NamedFile::source);
            chakra::read(&ranks()?, groups, &spec.reading)
        }
        WorkloadKind::Kineto(spec) => {
            let groups = groups_of(spec.groups.as_ref(), files)?;
            kineto::read(&ranks()?, groups.as_ref().map(NamedFile::source), spec)
        }
        WorkloadKind::PytorchEt(spec) => {
            let groups = groups_of(spec.groups.as_ref(), files)?;
            pytorch_et::read(&ranks()?, groups.as_ref().map(NamedFile::source), spec)
        }
        WorkloadKind::FlightRecorder(spec) => {
            let groups = groups_of(spec.groups.as_ref(), files)?;
            flight_recorder::read(&ranks()?, groups.as_ref().map(NamedFile::source), spec)
        }
        WorkloadKind::NcclLog(spec) => nccl_log::read(&ranks()?, spec),
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

/// The file of that very name, or those of ranks: all that can be opened, one after the other.
struct OneByOne<'f> {
    names: Vec<String>,
    files: &'f Files<'f>,
    /// The first one, until it is used: a pipe can be opened once.
    first: RefCell<Option<Content<'static>>>,
}

impl<'f> OneByOne<'f> {
    fn of(name: &str, files: &'f Files<'f>) -> Result<OneByOne<'f>, OperationsError> {
        let of_rank = |pattern: &str, rank: usize| pattern.replace(RANK, &rank.to_string());
        let (pattern, first) = if name.contains(RANK) {
            (name.to_owned(), opened(&of_rank(name, 0), files)?)
        } else {
            let unreadable = match opened(name, files) {
                Ok(first) => return Ok(OneByOne::new(vec![name.to_owned()], first, files)),
                Err(error) => error,
            };
            let patterns = ENDINGS.iter().map(|ending| format!("{name}{ending}"));
            let mut found = patterns.filter_map(|pattern| {
                let first = files(&of_rank(&pattern, 0)).ok()?;
                Some((pattern, first))
            });
            found.next().ok_or(unreadable)?
        };
        let further = (1..).map(|rank| of_rank(&pattern, rank));
        let further = further.take_while(|name| files(name).is_ok());
        let names = iter::once(of_rank(&pattern, 0)).chain(further).collect();
        Ok(OneByOne::new(names, first, files))
    }

    fn new(names: Vec<String>, first: Content<'static>, files: &'f Files<'f>) -> OneByOne<'f> {
        OneByOne {
            names,
            files,
            first: RefCell::new(Some(first)),
        }
    }
}

impl RankFiles for OneByOne<'_> {
    fn count(&self) -> usize {
        self.names.len()
    }

    fn name(&self, place: usize) -> &str {
        &self.names[place]
    }

    fn open(&self, place: usize) -> Result<Content<'_>, ImportError> {
        if let Some(first) = self.first.borrow_mut().take_if(|_| place == 0) {
            return Ok(first);
        }
        let opened = (self.files)(&self.names[place]);
        opened.map_err(ImportError::unreadable)
    }
}

/// The file of groups, where one is named.
fn groups_of(
    name: Option<&String>,
    files: &Files<'_>,
) -> Result<Option<NamedFile>, OperationsError> {
    let named = name.map(|name| NamedFile::read(name.clone(), files));
    named.transpose()
}

fn opened(name: &str, files: &Files<'_>) -> Result<Content<'static>, OperationsError> {
    let opened = files(name);
    opened.map_err(|remedy| OperationsError::unreadable(name, remedy))
}

fn bytes_of(name: &str, files: &Files<'_>) -> Result<Vec<u8>, OperationsError> {
    let read = files(name).and_then(Content::whole);
    read.map_err(|remedy| OperationsError::unreadable(name, remedy))
}

fn text_of(name: &str, files: &Files<'_>) -> Result<String, OperationsError> {
    utf8(name, bytes_of(name, files)?)
}

fn utf8(name: &str, bytes: Vec<u8>) -> Result<String, OperationsError> {
    let text = String::from_utf8(bytes);
    text.map_err(|_| OperationsError::unreadable(name, "save it as a text in UTF-8".to_owned()))
}
