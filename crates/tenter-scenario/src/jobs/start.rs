//! When a job starts: at a time, or when another job has ended.

use std::collections::BTreeMap;

use tenter_units::Time;

use super::{JobDraft, LATEST, read_delay};
use crate::hosts::HostNames;
use tenter_config::Presence::{Default, Required};
use tenter_config::{KeyTable, key};
use tenter_notation::decode::{Read, Section, suggestion};
use tenter_notation::diagnostics::{Location, quote};
use tenter_notation::tree::Value;

pub(super) const START: KeyTable = KeyTable {
    title: "`jobs[].start`",
    keys: &[
        key(
            "after",
            "name",
            Required,
            "The job whose end is waited for: any but background load, before or after this one in the list",
        ),
        key(
            "delay",
            "time, 2us or more",
            Default("10us"),
            "From the end of that job to the start of this one; the end of a job is news from everywhere, as the barrier of a `gap` is",
        ),
    ],
};

/// Mistakes that are reported before the rest is passed over.
const MISTAKES_MAX: usize = 20;

/// When a job starts, as written.
pub(super) struct StartDraft {
    /// From time 0, or from the end of the other job.
    pub(super) time: Time,
    pub(super) after: Option<Awaited>,
}

/// A job by its name, and where that stands.
pub(super) struct Awaited {
    name: String,
    at: Option<Location>,
}

/// Reads `start` out of a job.
pub(super) fn read(job: &mut Section<'_>) -> Read<StartDraft> {
    let field = job.take("start")?;
    if !matches!(field.node.value, Value::Map(_)) {
        let time = field.quantity("a time", &(Time::ZERO..=LATEST))?;
        return Some(StartDraft { time, after: None });
    }
    let mut section = field.section(&START);
    let after = section.take("after");
    let after = after.and_then(|field| {
        let name = field.text(64)?;
        Some(Awaited { name, at: field.at })
    });
    let delay = section.take("delay");
    let delay = delay.and_then(|field| read_delay(&field, "the end of a job"));
    job.put("start", section.finish());
    Some(StartDraft {
        time: delay?,
        after: Some(after?),
    })
}

/// Finds the jobs that are waited for; those that are not there, do not end or wait in turn are
/// problems.
pub(super) fn bind(drafts: &mut [JobDraft], names: &HostNames<'_>) {
    let jobs = drafts.iter().enumerate();
    let numbers: BTreeMap<String, usize> = jobs
        .map(|(index, draft)| (draft.job.name.clone(), index))
        .collect();
    let mut mistakes = 0;
    for index in 0..drafts.len() {
        let Some(awaited) = &drafts[index].after else {
            continue;
        };
        let (name, at) = (quote(&awaited.name), awaited.at);
        let (message, help) = match numbers.get(&awaited.name) {
            None => {
                let known = numbers.keys().map(String::as_str);
                let help = suggestion(&awaited.name, known);
                (format!("there is no job called {name}"), help)
            }
            Some(&other) if drafts[other].job.background => {
                let message =
                    format!("{name} is background load, which does not end before the others");
                (message, "wait for a job under test".to_owned())
            }
            Some(&other) => {
                drafts[index].job.after = Some(other as u32);
                continue;
            }
        };
        names.problem(at, message, Some(help));
        mistakes += 1;
        if mistakes == MISTAKES_MAX {
            break;
        }
    }
    refuse_circles(drafts, names);
}

/// Refuses jobs that wait for each other: each names one at most, so that whoever goes from one to
/// the next comes to an end or round a circle.
fn refuse_circles(drafts: &[JobDraft], names: &HostNames<'_>) {
    // For each job the one from which it was first come by.
    let mut seen: Vec<Option<usize>> = vec![None; drafts.len()];
    for first in 0..drafts.len() {
        let mut job = first;
        while seen[job].is_none() {
            seen[job] = Some(first);
            let Some(next) = drafts[job].job.after else {
                break;
            };
            job = next as usize;
            if seen[job] == Some(first) {
                let at = drafts[job].after.as_ref().and_then(|awaited| awaited.at);
                let name = quote(&drafts[job].job.name);
                let message =
                    format!("{name} waits for its own end, by way of the jobs that it waits for");
                let help = "let one of them start at a time".to_owned();
                names.problem(at, message, Some(help));
            }
        }
    }
}
