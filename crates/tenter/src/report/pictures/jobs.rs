//! Jobs over time: a lane for each job, a bar for each collective.

use super::plot::{Num, Picture, Plot, Timeline};
use crate::report::trial_data::TrialData;
use tenter_results::JobSummary;

/// Maximum number of bars in a picture; more would be narrower than a pixel each.
const BARS: usize = 4_000;

/// Names and units for a bar's numbers.
const COLUMNS: [(&str, &str); 3] = [("collective", ""), ("iteration", ""), ("size", "bytes")];

/// Heading above the picture of jobs.
pub(super) const TITLE: &str = "Jobs over time";

/// Draws the jobs in `trials`, if there is more than one bar. Lanes are named by trial if there are
/// several trials.
pub(super) fn picture(trials: &[&TrialData], names: &[String]) -> Option<Picture> {
    let jobs = trials.iter().zip(names).flat_map(|(trial, name)| {
        let jobs = trial.summary.jobs.iter();
        jobs.map(move |job| (name.as_str(), job))
    });
    let jobs: Vec<(&str, &JobSummary)> = jobs
        .filter(|(_, job)| job.collectives.iter().any(|row| row.end.is_some()))
        .collect();
    let count: usize = jobs.iter().map(|(_, job)| job.collectives.len()).sum();
    // A single bar says no more than the completion time of its job.
    if !(2..=BARS).contains(&count) {
        return None;
    }
    let lane = |(trial, job): &(&str, &JobSummary)| match trials {
        [_] => job.job.name.clone(),
        _ => format!("{trial}: {}", job.job.name),
    };
    let mut bars = Vec::new();
    let mut end = 0.0_f64;
    let mut known_jobs: Vec<&str> = Vec::new();
    for (number, (_, job)) in jobs.iter().enumerate() {
        // A job has the same colour in all trials.
        let name = job.job.name.as_str();
        let known = known_jobs.iter().position(|known| *known == name);
        let colour = known.unwrap_or(known_jobs.len());
        if known.is_none() {
            known_jobs.push(name);
        }
        for row in &job.collectives {
            let Some(last) = row.end else {
                continue;
            };
            end = end.max(last.as_ns());
            let numbers = [
                number as f64,
                row.start.as_ns(),
                last.as_ns(),
                (colour % 8) as f64,
                f64::from(row.index),
                f64::from(row.iteration),
                row.size_bytes as f64,
            ];
            bars.push(numbers.into_iter().map(Num).collect());
        }
    }
    let plot = Plot::Timeline(Timeline {
        title: TITLE,
        label: "Time",
        from_ns: Num(0.0),
        to_ns: Num(end),
        lanes: jobs.iter().map(lane).collect(),
        names: 180,
        columns: &COLUMNS,
        marked: None,
        bars,
    });
    let lead =
        "A bar for each collective, from its beginning to the last byte at its last receiver.";
    Some(plot.picture(TITLE, lead))
}
