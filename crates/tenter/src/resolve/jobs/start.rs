//! Jobs that start when another one has ended.

use std::collections::BTreeMap;

use tenter_workload::spec::{JobSpec, Start};
use tenter_workload::{Job, JobId};

use crate::resolve::hosts::HostNames;
use tenter_language::notation::diagnostics::quote;
use tenter_language::units::suggestion;

/// Mistakes that are reported; later ones are skipped.
const MISTAKES_MAX: usize = 20;

/// Links each job to the one that it waits for. Refuses waiting for unknown or background jobs, and
/// in circles.
pub(super) fn bind(specs: &[JobSpec], jobs: &mut [Job], names: &HostNames<'_>) {
    let numbers = jobs.iter().zip((0..).map(JobId::new));
    let numbers: BTreeMap<String, JobId> = numbers
        .map(|(job, index)| (job.name.clone(), index))
        .collect();
    let mut mistakes = 0;
    for (index, spec) in specs.iter().enumerate() {
        let Start::After(awaited) = &spec.start else {
            continue;
        };
        let name = quote(&awaited.after);
        let (message, help) = match numbers.get(&awaited.after) {
            None => {
                let known = numbers.keys().map(String::as_str);
                let help = suggestion(&awaited.after, known);
                (format!("there is no job called {name}"), help)
            }
            Some(&other) if jobs[other.index()].background => {
                let message =
                    format!("{name} is background load, which does not end before the others");
                (message, "wait for a job under test".to_owned())
            }
            Some(&other) => {
                jobs[index].after = Some(other);
                continue;
            }
        };
        names.note(&format!("jobs[{index}].start.after"), message, &help);
        mistakes += 1;
        if mistakes == MISTAKES_MAX {
            break;
        }
    }
    refuse_circles(jobs, names);
}

/// Refuses jobs that wait for each other. Each waits for one at most, so a walk along these links
/// ends or closes a circle.
fn refuse_circles(jobs: &[Job], names: &HostNames<'_>) {
    // The walk that first visited each job. A second visit on the same walk closes a circle; a job
    // of an earlier walk has been checked.
    let mut seen: Vec<Option<usize>> = vec![None; jobs.len()];
    for first in 0..jobs.len() {
        let mut job = first;
        while seen[job].is_none() {
            seen[job] = Some(first);
            let Some(next) = jobs[job].after else {
                break;
            };
            job = next.index();
            if seen[job] == Some(first) {
                let name = quote(&jobs[job].name);
                let message =
                    format!("{name} waits for its own end, by way of the jobs that it waits for");
                let path = format!("jobs[{job}].start.after");
                names.note(&path, message, "let one of them start at a time");
            }
        }
    }
}
