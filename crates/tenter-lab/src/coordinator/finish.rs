//! The end of a trial: tables, summary and warnings.

use std::fmt::Write as _;

use tenter::report::{RunIdentity, TrialFolder, peak_rss_bytes};
use tenter_language::units::Instant;
use tenter_results::{NoteCode, NoteRow, Notes, Stop, StopKind};
use tenter_sim::Outcome;
use tenter_sim::real_time::{HostCounts, RealEnd};

use super::jobs::{JobRun, Stage};
use super::trial::LabTrial;
use super::under_way::{LabRun, Trial};
use crate::control::AgentReport;
use crate::data_path_kind::DataPathKind;
use crate::error::LabError;
use crate::switches::{Measured, SwitchShown};

/// File with the agents' clock estimates and reports.
const HOSTS_FILE: &str = "hosts.json";
/// File with the switches' snapshots before and after the trial.
const SWITCHES_FILE: &str = "switches.json";
/// Warning about everything that is not measured if RDMA hardware carries the data.
const OF_HARDWARE: &str = "data went by RDMA hardware: frames and their bytes follow from sizes; retransmissions, NAKs, timeouts, marks and notifications are 0 here, and in `hosts.json` as the devices count them; payloads were not compared";
/// Delay beyond which an agent was short of processor time and gets a warning: 2 ms, in ns.
const LATE_NS: u64 = 2_000_000;

/// Everything that [`finish()`] needs about an ended trial.
pub(super) struct Finished<'a, 't> {
    pub(super) trial: &'a LabTrial,
    pub(super) running: Trial<'t>,
    /// End of the trial; reading switches is not part of it.
    pub(super) ended: Instant,
    /// Growth in the switches' counters, with warnings.
    pub(super) switches: Measured,
    /// Snapshots from switches before and after the trial.
    pub(super) shown: [Vec<SwitchShown>; 2],
}

/// Creates the trial folder, with the scenario and the files that it refers to.
pub(super) fn begin_folder(trial: &LabTrial, options: &LabRun) -> Result<TrialFolder, LabError> {
    let plan = &trial.measured;
    let identity = RunIdentity {
        scenario: plan.name().to_owned(),
        seed: plan.seed(),
        commit: option_env!("TENTER_COMMIT").map(str::to_owned),
        command: options.command.clone(),
        program: None,
        interference: "none".to_owned(),
    };
    let folder = TrialFolder::create(&options.folder, plan.to_yaml(), plan.names(), identity);
    let folder = folder.map_err(tenter::Error::from)?;
    for (name, bytes) in plan.files_beside() {
        let kept = folder.keep_beside(&name, |out| out.write_all(&bytes));
        kept.map_err(tenter::Error::from)?;
    }
    Ok(folder)
}

/// Writes the tables, the summary and the agents' reports, and returns the outcome.
pub(super) fn finish(finished: Finished<'_, '_>) -> Result<Outcome, LabError> {
    let Finished {
        trial,
        running,
        ended,
        switches,
        shown,
    } = finished;
    // Notes are made first: the flow table consumes the running trial.
    let mut notes = notes(&running);
    let of_switches = switches.warnings.into_iter();
    notes.extend(of_switches.map(|text| NoteRow::new(NoteCode::LabSwitch, text)));
    if trial.lab.keys.data_path == DataPathKind::Rdma {
        notes.add(NoteCode::Lab, OF_HARDWARE);
    }
    notes.add(NoteCode::LabSetUp, format!(
        "measured on the hosts of lab `{}`: nothing was simulated, and another run gives other times",
        trial.lab.keys.name
    ));
    let failures = running.jobs.iter().map(|job| failure(job, &running));
    let failures: Vec<Option<String>> = failures.collect();
    let stopped = stop(&running, ended);
    let hosts: Vec<Option<HostCounts>> = running
        .reports
        .iter()
        .map(|report| report.as_ref().map(|report| report.counts.clone()))
        .collect();
    let hosts_text = hosts_text(&running);
    let Trial { books, folder, .. } = running;
    let end = RealEnd {
        ended,
        stopped,
        failures,
        hosts: &hosts,
        ports: &switches.ports,
        notes,
    };
    let mut outcome = books.finish(end);
    let summary = &mut outcome.summary;
    trial.measured.name().clone_into(&mut summary.scenario);
    summary.engine.wall_s = ended.since_start().as_s();
    summary.engine.peak_rss_bytes = peak_rss_bytes();
    let kept = folder.keep_beside(HOSTS_FILE, |out| out.write_all(hosts_text.as_bytes()));
    kept.map_err(tenter::Error::from)?;
    if !trial.lab.keys.switches.is_empty() {
        let text = switches_text(&shown);
        let kept = folder.keep_beside(SWITCHES_FILE, |out| out.write_all(text.as_bytes()));
        kept.map_err(tenter::Error::from)?;
    }
    folder
        .finish(&outcome.summary, &outcome.counts)
        .map_err(tenter::Error::from)?;
    Ok(outcome)
}

fn stop(running: &Trial<'_>, ended: Instant) -> Option<Stop> {
    let at = ended.since_start().rounded();
    if running.ended_by_user {
        return Some(Stop {
            by: StopKind::User,
            why: format!("stopped by you at {at}"),
        });
    }
    // The first problem has ended the trial; later ones are warnings.
    let first = running.problems.first()?;
    Some(Stop {
        by: StopKind::Lab,
        why: format!("{first} (at {at})"),
    })
}

/// Returns the reason why a job is not complete; `None` if it is.
fn failure(job: &JobRun, running: &Trial<'_>) -> Option<String> {
    if job.stage == Stage::Done {
        return None;
    }
    let names = job
        .waits_for()
        .iter()
        .map(|&host| running.agents.all[host].name.as_str());
    let names: Vec<&str> = names.collect();
    let what = match job.stage {
        Stage::Preparing(_) => "to make ready for",
        _ => "to end",
    };
    let mut why = format!(
        "collective {} of {} was not completed: {} had {what} it",
        job.turn + 1,
        job.turns,
        names.join(", ")
    );
    if let Some(first) = running.problems.first() {
        let _ = write!(why, "; {first}");
    }
    Some(why)
}

/// Returns the warnings about clocks, hosts and lost records.
fn notes(running: &Trial<'_>) -> Notes {
    // The first problem is the reason for the stop, and shown there.
    let mut warnings: Vec<String> = running.problems.iter().skip(1).cloned().collect();
    let errors = running.agents.all.iter().map(|agent| agent.clock.error_ns);
    let error_us = errors.fold(0.0, f64::max) / 1e3;
    warnings.push(format!(
        "clocks of hosts were known to within {error_us:.1} us: one-way latencies, and times between hosts, are no more exact"
    ));
    let reports = running.agents.all.iter().zip(&running.reports);
    for (agent, report) in reports {
        let Some(report) = report else {
            warnings.push(format!(
                "{} has not reported: what it counted is missing",
                agent.name
            ));
            continue;
        };
        warnings.extend(of_host(&agent.name, report));
    }
    if running.refused > 0 {
        warnings.push(format!(
            "{} records of hosts fit no flow of the scenario and were left out",
            running.refused
        ));
    }
    let notes = warnings.into_iter();
    notes
        .map(|text| NoteRow::new(NoteCode::Lab, text))
        .collect()
}

fn of_host(name: &str, report: &AgentReport) -> Vec<String> {
    let mut warnings = Vec::new();
    if report.corrupt_packets > 0 {
        warnings.push(format!(
            "{} packets came to {name} with a payload that nobody sent",
            report.corrupt_packets
        ));
    }
    if report.refused_packets > 0 {
        warnings.push(format!(
            "{name} refused {} datagrams that were no packets of this trial",
            report.refused_packets
        ));
    }
    if report.latest_ns > LATE_NS {
        warnings.push(format!(
            "the agent of {name} was late by up to {:.1} ms: its host was short of processor time",
            report.latest_ns as f64 / 1e6
        ));
    }
    warnings
}

/// Returns `hosts.json`: for each host, clock estimate and report.
fn hosts_text(running: &Trial<'_>) -> String {
    let hosts = running
        .agents
        .all
        .iter()
        .zip(&running.reports)
        .map(|(agent, report)| {
            serde_json::json!({
                "host": agent.name,
                "clock": {
                    "offset_ns": agent.clock.offset_ns,
                    "error_ns": agent.clock.error_ns,
                    "drift_ppm": agent.clock.drift_ppm,
                },
                "report": report,
            })
        });
    let list: Vec<serde_json::Value> = hosts.collect();
    let mut text = serde_json::to_string_pretty(&list).unwrap_or_default();
    text.push('\n');
    text
}

/// Returns `switches.json`: each switch before and after the trial, or the reason why it was not
/// read.
fn switches_text(shown: &[Vec<SwitchShown>; 2]) -> String {
    let [before, after] = shown;
    let of = |shown: &SwitchShown| match &shown.shown {
        None => serde_json::Value::Null,
        Some(Ok(snapshot)) => serde_json::json!(snapshot),
        Some(Err(why)) => serde_json::json!({ "error": why }),
    };
    let pairs = before.iter().zip(after);
    let list = pairs.map(|(before, after)| {
        serde_json::json!({
            "switch": before.name,
            "before": of(before),
            "after": of(after),
        })
    });
    let list: Vec<serde_json::Value> = list.collect();
    let mut text = serde_json::to_string_pretty(&list).unwrap_or_default();
    text.push('\n');
    text
}
