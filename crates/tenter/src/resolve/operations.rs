//! Operation graphs from other programs' files, by a job's keys.

use std::cell::RefCell;
use std::iter;

use tenter_formats::{
    Content, Form, ImportError, Imported, RankFiles, Source, aicb, chakra, flight_recorder,
    flow_list, goal, graph_file, kineto, nccl_log, pytorch_et, simai,
};
use tenter_language::units::Budget;
use tenter_workload::graph::Graph;
use tenter_workload::spec::WorkloadKind;

use crate::resolve::files::Files;

/// An error in a graph's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OperationsError {
    /// The fault, and its place.
    pub what: String,
    /// Advice on what to change.
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

/// Reads a workload's graph from its files; `None` if it names no file.
///
/// # Errors
/// A file that cannot be read, or the first error in it.
pub(crate) fn read_operations(
    kind: &WorkloadKind,
    files: &Files<'_>,
    budget: &Budget,
) -> Result<Option<Imported>, OperationsError> {
    let Some(name) = kind.file() else {
        return Ok(None);
    };
    let from = Sources {
        name,
        files,
        budget,
    };
    let read = match from.traces(kind)? {
        Some(read) => read,
        None => match from.lists(kind)? {
            Some(read) => read,
            None => return Ok(None),
        },
    };
    let read = read.map_err(|error| OperationsError::of(name, error))?;
    Ok(Some(read))
}

/// A workload's files, and the budget for reading them.
struct Sources<'a> {
    name: &'a str,
    files: &'a Files<'a>,
    budget: &'a Budget,
}

/// A reader's result; `None` if the workload has another kind.
type Read = Result<Option<Result<Imported, ImportError>>, OperationsError>;

impl Sources<'_> {
    /// Reads traces and recordings with a file for each rank.
    fn traces(&self, kind: &WorkloadKind) -> Read {
        let budget = self.budget;
        let given = match kind {
            WorkloadKind::Chakra(spec) => spec.groups.as_ref(),
            WorkloadKind::Kineto(spec) => spec.groups.as_ref(),
            WorkloadKind::PytorchEt(spec) => spec.groups.as_ref(),
            WorkloadKind::FlightRecorder(spec) => spec.groups.as_ref(),
            WorkloadKind::NcclLog(_) => None,
            _ => return Ok(None),
        };
        let given = given.map(|name| NamedFile::read(name.clone(), self));
        let given = given.transpose()?;
        let ranks = OneByOne::of(self.name, self.files)?;
        let groups = given.as_ref().map(NamedFile::source);
        Ok(Some(match kind {
            WorkloadKind::Chakra(spec) if groups.is_none() => {
                let beside = self.communicators_beside();
                let groups = beside.as_ref().map(NamedFile::source);
                let read = chakra::read(&ranks, groups, &spec.reading, budget);
                read.map(|mut imported| {
                    let note = beside.map(|of| format!("communicators are those of `{}`", of.name));
                    imported.notes.extend(note);
                    imported
                })
            }
            WorkloadKind::Chakra(spec) => chakra::read(&ranks, groups, &spec.reading, budget),
            WorkloadKind::Kineto(spec) => kineto::read(&ranks, groups, spec, budget),
            WorkloadKind::PytorchEt(spec) => pytorch_et::read(&ranks, groups, spec, budget),
            WorkloadKind::FlightRecorder(spec) => {
                flight_recorder::read(&ranks, groups, spec, budget)
            }
            WorkloadKind::NcclLog(spec) => nccl_log::read(&ranks, spec, budget),
            _ => return Ok(None),
        }))
    }

    /// Reads graphs and lists that are one file.
    fn lists(&self, kind: &WorkloadKind) -> Read {
        let budget = self.budget;
        Ok(Some(match kind {
            WorkloadKind::Graph(_) => graph_file::read(self.open()?, budget).map(without_notes),
            WorkloadKind::Goal(_) => goal::read(self.open()?, budget),
            WorkloadKind::Aicb(spec) => aicb::read(&self.text()?, spec, budget),
            WorkloadKind::Simai(spec) => simai::read(&self.text()?, spec, budget),
            WorkloadKind::FlowTable(spec) => {
                let table = self.bytes(self.name, Form::Text)?;
                if flow_list::is_parquet(&table) {
                    flow_list::read_parquet(&table, spec.reading, budget)
                } else {
                    flow_list::read_table(&utf8(self.name, table)?, spec.reading, budget)
                }
            }
            WorkloadKind::Htsim(spec) => {
                flow_list::read_htsim(&self.text()?, spec.start_unit, spec.reading, budget)
            }
            WorkloadKind::Ns3(spec) => flow_list::read_ns3(&self.text()?, spec.reading, budget),
            _ => return Ok(None),
        }))
    }

    /// Finds the communicator file beside the ranks' files: `tenter export chakra` writes
    /// `NAME.groups.json`, generators for ASTRA-sim `NAME.json`.
    fn communicators_beside(&self) -> Option<NamedFile> {
        let names = [".groups.json", ".json"].map(|ending| format!("{}{ending}", self.name));
        let mut read = names
            .into_iter()
            .filter_map(|name| NamedFile::read(name, self).ok());
        // `NAME.json` may be any file, so its contents decide.
        read.find(|file| chakra::is_communicators(&file.bytes))
    }

    fn open(&self) -> Result<Content<'static>, OperationsError> {
        opened(self.name, self.files)
    }

    fn text(&self) -> Result<String, OperationsError> {
        utf8(self.name, self.bytes(self.name, Form::Text)?)
    }

    fn bytes(&self, name: &str, form: Form) -> Result<Vec<u8>, OperationsError> {
        let read = (self.files)(name).and_then(|content| content.whole(form, self.budget));
        read.map_err(|remedy| OperationsError::unreadable(name, remedy))
    }
}

fn without_notes(graph: Graph) -> Imported {
    Imported {
        graph,
        notes: Vec::new(),
    }
}

/// One file among those that make up a graph.
struct NamedFile {
    name: String,
    bytes: Vec<u8>,
}

impl NamedFile {
    fn read(name: String, from: &Sources<'_>) -> Result<NamedFile, OperationsError> {
        let bytes = from.bytes(&name, Form::Json)?;
        Ok(NamedFile { name, bytes })
    }

    fn source(&self) -> Source<'_> {
        Source {
            name: &self.name,
            bytes: &self.bytes,
        }
    }
}

/// File-name endings in the formats with a file for each rank, tried in this order.
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
/// Placeholder for the rank number.
const RANK: &str = "{rank}";

/// The file with exactly this name, or the rank files 0, 1, … up to the first that cannot be
/// opened.
struct OneByOne<'f> {
    names: Vec<String>,
    files: &'f Files<'f>,
    /// The first file's contents until they are used: a pipe can be opened only once.
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
        // `files` has no list of names: only opening a file shows whether it is there.
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

fn opened(name: &str, files: &Files<'_>) -> Result<Content<'static>, OperationsError> {
    let opened = files(name);
    opened.map_err(|remedy| OperationsError::unreadable(name, remedy))
}

fn utf8(name: &str, bytes: Vec<u8>) -> Result<String, OperationsError> {
    let text = String::from_utf8(bytes);
    text.map_err(|_| OperationsError::unreadable(name, "save it as a text in UTF-8".to_owned()))
}
