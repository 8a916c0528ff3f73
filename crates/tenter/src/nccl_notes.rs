//! Notes on collective algorithms that the scenario leaves to the default, where that is NCCL's
//! choice or PXN.

use std::collections::BTreeMap;

use crate::resolve::Loaded;
use tenter_language::units::Bytes;
use tenter_results::{NoteCode, NoteRow};
use tenter_workload::{Job, Operations};

/// Writes a note for each job whose collectives run as NCCL chooses, or by PXN, by default.
pub(crate) fn of(loaded: &Loaded) -> Vec<NoteRow> {
    let is_named = |index: usize, rest: &str| {
        let path = format!("jobs[{index}].{rest}");
        loaded.given.iter().any(|given| given.starts_with(&path))
    };
    let jobs = loaded.plan.jobs.iter().enumerate();
    let taken = jobs.filter_map(|(index, job)| {
        let operations = job.sequence.first().and_then(|of| of.traffic.operations());
        let sentence = match operations {
            Some(of) if !is_named(index, "workload.algorithms") => of_graph(of),
            Some(_) => None,
            None if is_list_named(loaded, index) => None,
            None => of_list(job),
        };
        let text = |sentence| format!("job `{}`: {sentence}", job.name);
        let note = |sentence| NoteRow::new(NoteCode::Algorithm, text(sentence));
        sentence.map(|sentence: String| note(sentence).at(format!("jobs[{index}]")))
    });
    taken.collect()
}

/// True if the scenario names an algorithm for each of a job's collectives.
fn is_list_named(loaded: &Loaded, job: usize) -> bool {
    let start = format!("jobs[{job}].collectives[");
    let keys = |key: &str| {
        let of_job = loaded
            .given
            .iter()
            .filter(|given| given.starts_with(&start));
        of_job.filter(|given| given.ends_with(key)).count()
    };
    // An entry without `algorithm` leaves fewer of these keys than entries.
    keys("].collective") <= keys("].algorithm")
}

/// Describes the algorithms that NCCL's model chooses for the listed collectives, by size.
fn of_list(job: &Job) -> Option<String> {
    let ways = |ways: Vec<(String, u64)>| {
        let way = |(way, bytes): (String, u64)| format!("{way} from {}", Bytes::new(bytes));
        ways.into_iter().map(way).collect::<Vec<_>>().join(", ")
    };
    let chosen = job.nccl_choices().into_iter();
    let mut parts: Vec<String> = chosen
        .map(|(name, of)| format!("{name} as NCCL chooses ({})", ways(of)))
        .collect();
    let mut kinds = job
        .sequence
        .iter()
        .filter_map(|run| run.traffic.collective());
    if kinds.any(|kind| kind.algorithm() == "pxn") {
        parts.push("all-to-all by PXN".to_owned());
    }
    let help = "`algorithm` names another one";
    (!parts.is_empty()).then(|| format!("{}; {help}", parts.join(", ")))
}

/// Counts the graph's collectives by algorithm, if NCCL's model chooses any.
fn of_graph(operations: &Operations) -> Option<String> {
    let collectives = operations.graph.collectives();
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for number in 0..collectives.len() as u32 {
        let kind = collectives.get(number).1;
        *counts.entry(kind.member().to_string()).or_default() += 1;
    }
    counts.keys().any(|name| name.contains("nccl")).then(|| {
        let counts = counts.iter().map(|(name, count)| format!("{count} {name}"));
        let counts = counts.collect::<Vec<_>>().join(", ");
        format!("collectives as NCCL chooses, where it does: {counts}; `workload.algorithms` names others")
    })
}
