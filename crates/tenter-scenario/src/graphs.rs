//! Graphs of operations that the jobs of a scenario name by their files.

use std::collections::BTreeMap;
use std::sync::Arc;

use tenter_formats::goal;
use tenter_notation::diagnostics::{Location, Problems, quote};
use tenter_notation::tree::{Node, Value};
use tenter_workload::Operations;
use tenter_workload::graph::Graph;
use tenter_workload::spec::OperationTiming;

use crate::files::{Files, bytes_of, tell};

/// A graph, and the bytes of its file.
struct Read {
    graph: Arc<Graph>,
    bytes: Vec<u8>,
}

/// The graphs of a scenario, by the names of their files.
#[derive(Default)]
pub(crate) struct Graphs {
    read: BTreeMap<String, Read>,
}

/// The kinds of workloads that are graphs, and what reads their files.
const KIND: &str = "goal";

impl Graphs {
    /// Reads the files that jobs name. What is noteworthy in them is a warning.
    pub(crate) fn of(
        root: &Node,
        files: &Files<'_>,
        problems: &Problems,
        warnings: &Problems,
    ) -> Graphs {
        let mut graphs = Graphs::default();
        let jobs = root.entry("jobs").map(|entry| entry.node.items());
        for job in jobs.unwrap_or_default() {
            let workload = job.entry("workload").map(|entry| &entry.node);
            let workload = workload.filter(|of| of.word("kind") == Some(KIND));
            let Some(entry) = workload.and_then(|of| of.entry("file")) else {
                continue;
            };
            let Value::Scalar { text: name, .. } = &entry.node.value else {
                continue;
            };
            if !graphs.read.contains_key(name) {
                let at = entry.node.at;
                if let Some(read) = read(name, at, files, (problems, warnings)) {
                    graphs.read.insert(name.clone(), read);
                }
            }
        }
        graphs
    }

    /// The graph of a file with what its operations take; `None` where it could not be read.
    pub(crate) fn operations(&self, file: &str, timing: OperationTiming) -> Option<Operations> {
        let read = self.read.get(file)?;
        Some(Operations {
            graph: Arc::clone(&read.graph),
            timing: timing.timing(),
        })
    }

    /// Gives the files of jobs names of their own, and their names and bytes.
    pub(crate) fn take_out(self, root: &mut Node, taken: &mut Vec<(String, Vec<u8>)>) {
        let names = (0..).zip(self.read).map(|(number, (name, read))| {
            let own = format!("operations-{number}.{KIND}");
            taken.push((own.clone(), read.bytes));
            (name, own)
        });
        let names: BTreeMap<String, String> = names.collect();
        let Some(Value::List(jobs)) = root.entry_mut("jobs").map(|jobs| &mut jobs.value) else {
            return;
        };
        for job in jobs {
            let workload = job.entry_mut("workload");
            let workload = workload.filter(|of| of.word("kind") == Some(KIND));
            if let Some(workload) = workload
                && let Some(own) = workload.word("file").and_then(|file| names.get(file))
            {
                workload.put(&["file"], Node::plain(own.clone()));
            }
        }
    }
}

fn read(
    name: &str,
    at: Option<Location>,
    files: &Files<'_>,
    (problems, warnings): (&Problems, &Problems),
) -> Option<Read> {
    let bytes = bytes_of(name, at, files, problems)?;
    match goal::read(&bytes) {
        Ok(imported) => {
            for note in imported.notes {
                warnings.push(at, format!("the file {}: {note}", quote(name)), None);
            }
            let graph = Arc::new(imported.graph);
            Some(Read { graph, bytes })
        }
        Err(error) => {
            tell(name, at, &error, problems);
            None
        }
    }
}
