//! Operation graphs that jobs name by their files.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use tenter_language::config::{Component, Written};
use tenter_language::notation::tree::Node;
use tenter_workload::graph::Graph;
use tenter_workload::inference::{self, Inference, InferenceSpec, Reach};
use tenter_workload::spec::{FlowReading, OperationTiming, WorkloadKind};
use tenter_workload::training::{self, Training, TrainingSpec};
use tenter_workload::transformer::Unfit;
use tenter_workload::{Known, Operations};

use crate::resolve::files::Files;
use crate::resolve::findings::Findings;
use crate::resolve::operations::read_operations;

/// The graph that one job runs.
struct OfJob {
    /// Index among the scenario's graphs.
    graph: usize,
    timing: OperationTiming,
}

/// A scenario's graphs; each is read or built once, however many jobs run it.
pub(crate) struct Graphs<'f> {
    files: &'f Files<'f>,
    findings: Findings<'f>,
    found: RefCell<Found>,
}

/// Inputs that decide an inference's graph: the job's keys, rank count, seed, and the speed between
/// ranks.
#[derive(PartialEq)]
struct InferenceKey {
    spec: InferenceSpec,
    ranks: Option<u32>,
    seed: u64,
    reach: Reach,
}

#[derive(Default)]
struct Found {
    graphs: Vec<Arc<Graph>>,
    /// Each graph's index by the job's keys for it; `None` if it could not be read.
    places: BTreeMap<String, Option<usize>>,
    jobs: BTreeMap<usize, OfJob>,
    /// Training steps, by the job's keys and its rank count.
    steps: Vec<(TrainingSpec, Option<u32>, Operations)>,
    /// Inferences by their deciding inputs.
    inferences: Vec<(InferenceKey, Operations)>,
}

impl<'f> Graphs<'f> {
    /// Starts without graphs. `findings` receives problems and warnings about files.
    pub(crate) fn new(files: &'f Files<'f>, findings: Findings<'f>) -> Graphs<'f> {
        Graphs {
            files,
            findings,
            found: RefCell::default(),
        }
    }

    /// Returns a job's graph from files, with its timing; `None` if it could not be read.
    pub(crate) fn operations(&self, job: usize, kind: &WorkloadKind) -> Option<Operations> {
        let timing = kind.timing()?;
        let mut found = self.found.borrow_mut();
        // The keys' text identifies the files and how they are read.
        let key = format!("{:?}", without_timing(kind));
        // A failure is kept too, so that a file that several jobs name is reported once.
        if !found.places.contains_key(&key) {
            let read = self.read(job, kind);
            let place = read.map(|graph| {
                found.graphs.push(Arc::new(graph));
                found.graphs.len() - 1
            });
            found.places.insert(key.clone(), place);
        }
        let place = found.places[&key];
        let graph = place?;
        found.jobs.insert(job, OfJob { graph, timing });
        Some(Operations {
            graph: Arc::clone(&found.graphs[graph]),
            timing: timing.timing(),
            known: None,
        })
    }

    /// Builds a training step on `ranks` ranks, if that number is known; notes a problem and
    /// returns `None` if its numbers do not fit together.
    pub(crate) fn step(
        &self,
        job: usize,
        spec: &TrainingSpec,
        ranks: Option<u32>,
    ) -> Option<Operations> {
        let mut found = self.found.borrow_mut();
        let known = found.steps.iter();
        let known = known.clone().find(|of| (&of.0, of.1) == (spec, ranks));
        if let Some((_, _, operations)) = known {
            return Some(operations.clone());
        }
        let built = Training::new(spec, ranks).and_then(|of| training::step(&of));
        match built {
            Ok((graph, step)) => {
                let operations = Operations {
                    graph: Arc::new(graph),
                    timing: FlowReading::default().timing().timing(),
                    known: Some(Known::Training(Arc::new(step))),
                };
                found.steps.push((spec.clone(), ranks, operations.clone()));
                Some(operations)
            }
            Err(error) => {
                self.refuse(job, error);
                None
            }
        }
    }

    /// Builds an inference on `ranks` ranks, if that number is known, with requests drawn from
    /// `seed`; notes a problem and returns `None` if its numbers do not fit together.
    pub(crate) fn inference(
        &self,
        job: usize,
        spec: &InferenceSpec,
        ranks: Option<u32>,
        seed: u64,
        reach: Reach,
    ) -> Option<Operations> {
        let mut found = self.found.borrow_mut();
        let key = InferenceKey {
            spec: spec.clone(),
            ranks,
            seed,
            reach,
        };
        let known = found.inferences.iter().find(|(of, _)| *of == key);
        if let Some((_, operations)) = known {
            return Some(operations.clone());
        }
        let built = Inference::new(spec, ranks, seed, reach).and_then(|of| inference::graph(&of));
        match built {
            Ok((graph, run)) => {
                let operations = Operations {
                    graph: Arc::new(graph),
                    timing: FlowReading::default().timing().timing(),
                    known: Some(Known::Inference(Arc::new(run))),
                };
                found.inferences.push((key, operations.clone()));
                Some(operations)
            }
            Err(error) => {
                self.refuse(job, error);
                None
            }
        }
    }

    /// Notes a warning about the value at `path`.
    pub(crate) fn warn(&self, path: &str, message: String, help: &str) {
        self.findings.warnings.note(path, message, help);
    }

    /// Notes a problem about a model whose numbers do not fit together.
    fn refuse(&self, job: usize, error: Unfit) {
        let problems = self.findings.problems;
        let path = format!("jobs[{job}].workload.{}", error.key);
        let what = format!("`{path}` {}", error.what);
        problems.push(problems.place(&path), what, Some(error.remedy));
    }

    /// Reads a job's files, and passes their notes on as warnings.
    fn read(&self, job: usize, kind: &WorkloadKind) -> Option<Graph> {
        let Findings {
            problems,
            warnings,
            budget,
            ..
        } = self.findings;
        let path = format!("jobs[{job}].workload.file");
        match read_operations(kind, self.files, budget) {
            Ok(imported) => {
                let imported = imported?;
                let at = warnings.place(&path);
                let name = kind.file().unwrap_or_default();
                for note in imported.notes {
                    warnings.push(at, format!("the file `{name}`: {note}"), None);
                }
                Some(imported.graph)
            }
            Err(error) => {
                let at = problems.place(&path);
                problems.push(at, error.what, Some(error.remedy));
                None
            }
        }
    }

    /// Makes each job in the tree refer to a file with its graph in Tenter's format, and returns
    /// file names and graphs.
    pub(crate) fn take_out(self, root: &mut Node) -> Vec<(String, Arc<Graph>)> {
        let found = self.found.into_inner();
        let own = |graph: usize| format!("operations-{graph}.tenter");
        for (job, of) in found.jobs {
            let mut keys = vec![
                ("kind", Written::word("graph")),
                ("file", Written::word(own(of.graph))),
            ];
            keys.extend(of.timing.written());
            if let Some(job) = root.item_mut("jobs", job) {
                job.put(&["workload"], Node::written(Written::mapping(keys)));
            }
        }
        let graphs = found.graphs.into_iter().enumerate();
        graphs.map(|(place, graph)| (own(place), graph)).collect()
    }
}

/// Returns a job's keys except timing: jobs with other timings share a graph.
fn without_timing(kind: &WorkloadKind) -> Vec<(&'static str, Written)> {
    let of_timing = |key: &str| OperationTiming::TABLE.get(key).is_some();
    let keys = kind.written().into_iter();
    keys.filter(|(key, _)| !of_timing(key)).collect()
}
