//! The `pattern` of a job: steps of a parallel application.

use tenter_config::Presence::{Default, Depends};
use tenter_config::{Key, KeyTable, Reader as _, key};
use tenter_engine::Draws;
use tenter_notation::decode::{Field, Section, split_remedy};
use tenter_notation::diagnostics::Location;
use tenter_notation::tree::Node;
use tenter_workload::collective::CollectiveKind;
use tenter_workload::pattern::{PatternKind, PatternSchedule};
use tenter_workload::{CollectiveRun, Compute, Job};

use crate::collectives::{self, Entry};
use crate::hosts::HostNames;

const KIND: Key = PatternKind::VARIANTS.own.keys[0];

pub(super) const PATTERN: KeyTable = KeyTable {
    title: "`jobs[].pattern`",
    keys: &[
        KIND,
        key(
            "steps",
            "count",
            Depends("`4`; none in the background"),
            "How often the ranks compute and then communicate; takes the place of `iterations`",
        ),
        key(
            "compute_spread",
            "time",
            Default("0ns"),
            "Computing takes up to this much less or more, drawn for each time; no more than `compute`",
        ),
    ],
};

/// Keys of a job that its pattern says instead.
const REFUSED: [&str; 1] = ["iterations"];
/// Other things that a job may run.
const OTHERS: [&str; 3] = ["collectives", "flows", "workload"];
const USUAL_STEPS: u32 = 4;
/// More steps than anyone simulates packet by packet.
const STEPS_MAX: u64 = 1_000_000;
/// Steps that differ are stored each by itself.
const CHANGING_STEPS_MAX: u64 = 100;

/// A pattern whose ranks are not known yet.
pub(super) struct PatternDraft {
    kind: PatternKind,
    draws: Draws,
    steps: u32,
    compute: Compute,
    at: Option<Location>,
}

/// Refuses what a job with a pattern does not have.
pub(super) fn refuse_keys(section: &mut Section<'_>) {
    for name in REFUSED.into_iter().chain(OTHERS) {
        if section.has(name)
            && let Some(field) = section.take(name)
        {
            let help =
                "leave it out: a pattern says by itself what is sent, and in how many `steps`";
            field.problem("has no effect beside `pattern`", help.to_owned());
        }
    }
}

/// Leaves these out of the effective configuration.
pub(super) fn leave_out(section: &mut Section<'_>) {
    for name in REFUSED.into_iter().chain(OTHERS) {
        section.drop_key(name);
    }
}

/// Reads the mapping of a job of that name; `seed` is that of the scenario.
pub(super) fn read(
    field: Field<'_>,
    of_job: OfJob<'_>,
    background: bool,
) -> (Option<PatternDraft>, Node) {
    let at = field.at;
    let mut section = field.section(&PATTERN);
    let kind = PatternKind::read_keys(&mut section);
    let mean = kind.as_ref().map(PatternKind::compute);
    let compute = collectives::read_spread(&mut section, mean);
    let changes = kind.as_ref().is_some_and(PatternKind::changes);
    let steps = read_steps(&mut section, changes, background);
    let node = section.finish();
    let draft = || {
        Some(PatternDraft {
            kind: kind?,
            draws: draws_of(of_job),
            steps: steps?,
            compute: compute?,
            at,
        })
    };
    (draft(), node)
}

/// Reads the mapping as who sends how much to whom: nothing is said of steps then, nor of how they
/// differ.
pub(super) fn read_without_steps(field: Field<'_>) -> (Option<PatternKind>, Node) {
    let mut section = field.section(&PATTERN);
    let kind = PatternKind::read_keys(&mut section);
    for key in ["steps", "compute_spread"] {
        section.take(key);
    }
    let of_steps = ["steps", "compute", "compute_spread"].into_iter();
    let has_regrid = matches!(kind, Some(PatternKind::Amr(_)));
    for key in of_steps.chain(has_regrid.then_some("regrid")) {
        if section.was_given(key) {
            let what = "has no effect in a workload of flows";
            let help = "leave it out: flows arrive by themselves, as in the first step";
            section.refuse(key, what, help);
        }
        section.drop_key(key);
    }
    (kind, section.finish())
}

/// The seed of the scenario and the name of a job, by which its draws are told apart.
pub(super) type OfJob<'a> = (u64, &'a str);

/// What is random about the pattern of a job.
pub(super) fn draws_of((seed, job): OfJob<'_>) -> Draws {
    Draws::new(seed, job, "pattern")
}

/// How many steps there are; a list that is repeated for as long as others run has one, unless its
/// steps differ.
fn read_steps(section: &mut Section<'_>, changes: bool, background: bool) -> Option<u32> {
    if background && !changes {
        if section.has("steps")
            && let Some(field) = section.take("steps")
        {
            let help = "leave it out: the step is repeated for as long as other jobs run";
            field.problem("has no effect in the background", help.to_owned());
        }
        section.drop_key("steps");
        return Some(1);
    }
    if !section.has("steps") {
        section.put("steps", Node::plain(USUAL_STEPS.to_string()));
        return Some(USUAL_STEPS);
    }
    let most = if changes {
        CHANGING_STEPS_MAX
    } else {
        STEPS_MAX
    };
    section.integer("steps", 1..=most)
}

impl PatternDraft {
    /// Gives the job its steps, once its hosts are known, and the entry of each that differs.
    pub(super) fn bind(self, names: &HostNames<'_>, job: &mut Job) -> Option<Vec<Entry>> {
        let differing = if self.kind.changes() { self.steps } else { 1 };
        let mut entries = Vec::new();
        for step in 0..differing {
            let schedule = PatternSchedule::new(self.kind.clone(), self.draws, job.ranks(), step);
            let schedule = match schedule {
                Ok(schedule) => schedule,
                Err(error) => {
                    let text = error.to_string();
                    let (message, help) = split_remedy(&text);
                    names.problem(self.at, message.to_owned(), help);
                    return None;
                }
            };
            let size_bytes = schedule.busiest_bytes();
            let kind = CollectiveKind::Pattern { schedule };
            entries.push(Entry {
                kind: kind.clone(),
                largest_bytes: size_bytes,
                at: self.at,
            });
            job.sequence.push(CollectiveRun {
                kind,
                size_bytes,
                drawn_from_bytes: None,
                compute: self.compute,
            });
        }
        job.iterations = self.steps / differing;
        if let Some(turns) = super::starts_too_late(job) {
            let message = format!("the last of {turns} steps is beyond the longest simulation");
            let help = "give fewer `steps`, or less to `compute`".to_owned();
            names.problem(self.at, message, Some(help));
            return None;
        }
        Some(entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_states_the_defaults_of_the_members() {
        for own in &PatternKind::defaults() {
            let name = own.word();
            assert_eq!(own.member().algorithm, name);
            let text = format!(
                "fabric: {{kind: single-switch, hosts: 32}}\n\
                 jobs: [{{name: job, pattern: {{kind: {name}}}}}]\n"
            );
            let loaded = crate::load(&text, "x.yaml", crate::Format::Yaml, &[], Some(1));
            let plan = loaded.expect("defaults suit 32 ranks").plan;
            let pattern = plan.jobs[0].sequence[0].kind.pattern();
            assert_eq!(pattern.map(PatternSchedule::kind), Some(own));
            assert_eq!(plan.jobs[0].turns(), Some(4));
        }
    }
}
