//! Graphs of operations that the jobs of a scenario name by their files.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use tenter_config::{Component, Written};
use tenter_notation::tree::Node;
use tenter_workload::graph::Graph;
use tenter_workload::inference::{self, Inference, InferenceSpec, Reach};
use tenter_workload::spec::{FlowReading, OperationTiming, WorkloadKind};
use tenter_workload::training::{self, Training, TrainingSpec};
use tenter_workload::transformer::Unfit;
use tenter_workload::{Known, Operations};

use crate::files::Files;
use crate::findings::Findings;
use crate::operations::read_operations;

/// A graph that a job runs.
struct OfJob {
    /// Its place among all graphs.
    graph: usize,
    timing: OperationTiming,
}

/// The graphs of a scenario, each read once.
pub(crate) struct Graphs<'f> {
    files: &'f Files<'f>,
    findings: Findings<'f>,
    found: RefCell<Found>,
}

/// What an inference depends on: what a job says of it, its ranks, the seed, and how fast ranks
/// reach each other.
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
    /// The place of each graph by what a job says of it; none where it could not be read.
    places: BTreeMap<String, Option<usize>>,
    jobs: BTreeMap<usize, OfJob>,
    /// Steps of trainings, by what jobs say of them and their ranks.
    steps: Vec<(TrainingSpec, Option<u32>, Operations)>,
    /// Inferences, by what they depend on.
    inferences: Vec<(InferenceKey, Operations)>,
}

impl<'f> Graphs<'f> {
    /// None read yet. Problems are noted, and warnings.
    pub(crate) fn new(files: &'f Files<'f>, findings: Findings<'f>) -> Graphs<'f> {
        Graphs {
            files,
            findings,
            found: RefCell::default(),
        }
    }

    /// The graph of a job with what its operations take; `None` where it could not be read.
    pub(crate) fn operations(&self, job: usize, kind: &WorkloadKind) -> Option<Operations> {
        let timing = kind.timing()?;
        let mut found = self.found.borrow_mut();
        let key = format!("{:?}", without_timing(kind));
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

    /// The step of a training on so many ranks, where that is known; `None` where its numbers do
    /// not fit together.
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

    /// The inference of a model on so many ranks, where that is known, with the requests of a seed;
    /// `None` where its numbers do not fit together.
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

    /// Warns of what shows at the value at a path.
    pub(crate) fn warn(&self, path: &str, message: String, help: &str) {
        self.findings.warnings.note(path, message, help);
    }

    /// Numbers of a model do not fit together.
    fn refuse(&self, job: usize, error: Unfit) {
        let problems = self.findings.problems;
        let path = format!("jobs[{job}].workload.{}", error.key);
        let what = format!("`{path}` {}", error.what);
        problems.push(problems.place(&path), what, Some(error.remedy));
    }

    /// Reads the files of a job. What is noteworthy in them is a warning.
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

    /// Gives the graphs of jobs the names of files of their own, in place of those that they were
    /// read from; the graphs with these names.
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

/// What a job says of the files of its graph.
fn without_timing(kind: &WorkloadKind) -> Vec<(&'static str, Written)> {
    let of_timing = |key: &str| OperationTiming::TABLE.get(key).is_some();
    let keys = kind.written().into_iter();
    keys.filter(|(key, _)| !of_timing(key)).collect()
}
