//! A parallel application's steps, bound once the job's ranks are known.

use tenter_engine::Draws;
use tenter_language::notation::decode::split_remedy;
use tenter_workload::pattern::PatternSchedule;
use tenter_workload::spec::PatternSpec;
use tenter_workload::{CollectiveRun, Job, Traffic};

use super::draft::{Entry, starts_too_late};
use crate::resolve::hosts::HostNames;

/// Returns the random draws for a job's pattern, from a stream with the job's name.
pub(super) fn draws_of(seed: u64, job: &str) -> Draws {
    Draws::new(seed, job, "pattern")
}

/// Gives the job its steps, and returns an entry for each step that differs.
pub(super) fn bind(
    spec: &PatternSpec,
    names: &HostNames<'_>,
    path: &str,
    seed: u64,
    job: &mut Job,
) -> Option<Vec<Entry>> {
    let steps = spec.steps(job.background);
    // A pattern that never changes is one step, which iterations repeat.
    let differing = if spec.kind.changes() { steps } else { 1 };
    let draws = draws_of(seed, &job.name);
    let mut entries = Vec::new();
    for step in 0..differing {
        let schedule = PatternSchedule::new(spec.kind.clone(), draws, job.ranks(), step);
        let schedule = match schedule {
            Ok(schedule) => schedule,
            Err(error) => {
                let text = error.to_string();
                let (message, help) = split_remedy(&text);
                names.problem(names.place(path), message.to_owned(), help);
                return None;
            }
        };
        let size_bytes = schedule.busiest_bytes();
        let traffic = Traffic::Pattern(schedule);
        entries.push(Entry {
            traffic: traffic.clone(),
            largest_bytes: size_bytes,
            path: path.to_owned(),
        });
        job.sequence.push(CollectiveRun {
            traffic,
            size_bytes,
            drawn_from_bytes: None,
            compute: spec.compute(),
        });
    }
    // `differing` is 1 or `steps`, so the division is exact.
    job.iterations = steps / differing;
    if let Some(turns) = starts_too_late(job) {
        let message = format!("the last of {turns} steps is beyond the longest simulation");
        names.note(path, message, "give fewer `steps`, or less to `compute`");
        return None;
    }
    Some(entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenter_workload::pattern::PatternKind;

    #[test]
    fn the_defaults_of_all_patterns_suit_32_ranks() {
        for own in &PatternKind::defaults() {
            let name = own.word();
            assert_eq!(own.member().algorithm, name);
            let text = format!(
                "fabric: {{kind: single-switch, hosts: 32}}\n\
                 jobs: [{{name: job, pattern: {{kind: {name}}}}}]\n"
            );
            let loaded =
                crate::resolve::load(&text, "x.yaml", crate::resolve::Format::Yaml, &[], Some(1));
            let plan = loaded.expect("defaults suit 32 ranks").plan;
            let pattern = plan.jobs[0].sequence[0].traffic.pattern();
            assert_eq!(pattern.map(PatternSchedule::kind), Some(own));
            assert_eq!(plan.jobs[0].turns(), Some(4));
        }
    }
}
