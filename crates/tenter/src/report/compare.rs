//! Comparison of trials by their summaries.

use std::collections::BTreeMap;

use crate::studies::noted;
use tenter_language::units::Time;
use tenter_results::{CollectiveRow, ComparisonRow, EngineKind, JobSummary, NoteCode, Summary};

use crate::report::table::FLOWS;
use crate::report::trial_data::TrialData;

/// A trial's summary with the trial's name.
#[derive(Clone, Debug)]
pub struct NamedSummary {
    /// Name in tables; it differs from all other trials' names.
    pub name: String,
    /// The trial's summary, as `summary.json` has it.
    pub summary: Summary,
}

impl NamedSummary {
    /// Takes summary and name from a trial that was read.
    pub fn of(trial: &TrialData) -> NamedSummary {
        NamedSummary {
            name: trial.name(),
            summary: trial.summary.clone(),
        }
    }
}

/// Returns a warning, without a line end, if trials at flow level stand beside packet trials; each
/// name appears once.
pub fn mixed_levels(trials: &[NamedSummary]) -> Option<String> {
    let of_flows = |trial: &&NamedSummary| trial.summary.engine.engine == EngineKind::Flow;
    let (flows, others): (Vec<_>, Vec<_>) = trials.iter().partition(of_flows);
    let names = |of: &[&NamedSummary]| {
        let mut names: Vec<&str> = of.iter().map(|trial| trial.name.as_str()).collect();
        names.dedup();
        names.join(", ")
    };
    (!flows.is_empty() && !others.is_empty()).then(|| {
        format!(
            "warning: {} at flow level beside {} with packets: the differences contain the error of flow level",
            names(&flows),
            names(&others)
        )
    })
}

/// Returns what a reader must know before the numbers, as lines without line ends: a warning if
/// trials at flow level stand beside packet trials, and all trials' notes, equal ones once.
pub fn remarks(trials: &[NamedSummary]) -> Vec<String> {
    let mut lines: Vec<String> = mixed_levels(trials).into_iter().collect();
    let of_trials = trials
        .iter()
        .map(|trial| (trial.name.as_str(), trial.summary.notes.as_slice()));
    let notes = noted(of_trials);
    // The tables already say whether a trial ran to its end.
    let notes = notes.iter();
    let notes = notes.filter(|noted| noted.note.code != NoteCode::Stopped);
    // `line` leaves out the names when a note holds for all variants of a study. Trials are not
    // variants of one thing, so each is named.
    lines.extend(notes.map(|noted| noted.line(usize::MAX)));
    lines
}

/// Operation names beside those of collectives: a training's step, and an inference's requests.
pub(crate) const TRAINING: &str = "training step";
pub(crate) const INFERENCE: &str = "inference";

/// Key under which rows are compared with each other: job, then operation. The algorithm does not
/// belong to it, so that algorithms can be compared.
type Key = (String, Within);

/// Rows that are compared with each other, each with its trial's index. A trial has at most one row
/// in a group.
pub(crate) type ComparisonGroup = Vec<(usize, ComparisonRow)>;

/// Returns all groups' rows, one group after the other.
pub fn comparison_rows(trials: &[NamedSummary]) -> Vec<ComparisonRow> {
    let groups = comparison_groups(trials).into_iter().flatten();
    groups.map(|(_, row)| row).collect()
}

/// Groups all trials' rows, in the order in which groups first occur, followed by a group for whole
/// trials. Differences are against the first trial.
///
/// Jobs match by name; if every trial has one job, these match whatever their names. A job that is
/// one collective in every trial has no row beside the collective's.
pub fn comparison_groups(trials: &[NamedSummary]) -> Vec<ComparisonGroup> {
    let single = trials.iter().all(|trial| trial.summary.jobs.len() == 1);
    let mut order: Vec<Key> = Vec::new();
    let mut rows: BTreeMap<Key, ComparisonGroup> = BTreeMap::new();
    for (place, trial) in trials.iter().enumerate() {
        for job in &trial.summary.jobs {
            let name = if single {
                String::new()
            } else {
                job.job.name.clone()
            };
            for (within, row) in rows_of_job(trial, job) {
                let key = (name.clone(), within);
                let known = rows.entry(key.clone()).or_default();
                if known.is_empty() {
                    order.push(key);
                }
                known.push((place, row));
            }
        }
    }
    order.retain(|key| key.1.is_some() || !is_one_collective(trials, &key.0));
    let mut groups: Vec<ComparisonGroup> =
        order.iter().filter_map(|key| rows.remove(key)).collect();
    for group in &mut groups {
        // Where the first trial has no row, there is nothing to compare with.
        if let [(0, first), others @ ..] = group.as_mut_slice() {
            for (_, row) in others {
                differ(row, first);
            }
        }
    }
    groups.push(trials.iter().map(row_of_trial).enumerate().collect());
    groups
}

/// The whole job (`None`), or a collective: its name, its size if the scenario sets it, and its
/// number among equal ones.
type Within = Option<(String, Option<u64>, usize)>;

/// Returns the size that the scenario asked for. A load's flows have none: their bytes depend on
/// the draws.
fn asked_bytes(row: &CollectiveRow) -> Option<u64> {
    (row.collective != FLOWS).then_some(row.size_bytes)
}

/// True if in every trial the jobs named `name` (all jobs if empty) are one collective each, run
/// once with nothing before it.
fn is_one_collective(trials: &[NamedSummary], name: &str) -> bool {
    let jobs = trials.iter().flat_map(|trial| &trial.summary.jobs);
    let mut same = jobs.filter(|job| name.is_empty() || job.job.name == name);
    same.all(|job| match job.collectives.as_slice() {
        [one] => !one.warm_up && one.completion_time == job.job.jct,
        _ => false,
    })
}

/// Returns a whole trial's row: counters that belong to no job.
fn row_of_trial(trial: &NamedSummary) -> ComparisonRow {
    let totals = &trial.summary.totals;
    let power = trial.summary.power.as_ref();
    ComparisonRow {
        trial: trial.name.clone(),
        dropped_frames: Some(totals.dropped_frames + totals.nic_dropped_frames),
        xoff_frames: Some(totals.xoff_frames),
        paused: Some(totals.nic_paused + totals.switch_paused),
        static_per_gbps: power.and_then(|power| power.static_per_gbps),
        dynamic_per_gbps: power.and_then(|power| power.dynamic_per_gbps),
        ..ComparisonRow::default()
    }
}

/// True for a whole trial's row.
pub(crate) fn is_whole_trial(row: &ComparisonRow) -> bool {
    row.xoff_frames.is_some()
}

/// Returns a function that gives a row's block key beside its collective: its job, or an empty text
/// if every trial has only one job, since jobs in one block may then have different names.
pub(crate) fn job_of(rows: &[ComparisonRow]) -> impl Fn(&ComparisonRow) -> String + use<> {
    let mut jobs: BTreeMap<&str, &str> = BTreeMap::new();
    let of_jobs = rows.iter().filter(|row| !is_whole_trial(row));
    let mut several = false;
    for row in of_jobs {
        let known = jobs.entry(&row.trial).or_insert(&row.job_name);
        several |= *known != row.job_name;
    }
    move |row| {
        if several && !is_whole_trial(row) {
            row.job_name.clone()
        } else {
            String::new()
        }
    }
}

/// Returns the row of the job, then one for each collective in its run order.
fn rows_of_job(trial: &NamedSummary, job: &JobSummary) -> Vec<(Within, ComparisonRow)> {
    let blank = ComparisonRow {
        trial: trial.name.clone(),
        job_name: job.job.name.clone(),
        ..ComparisonRow::default()
    };
    let whole = ComparisonRow {
        time: job.job.jct,
        ..blank.clone()
    };
    let mut rows = vec![(None, whole)];
    let mut seen: Vec<u32> = Vec::new();
    for first in &job.collectives {
        if seen.contains(&first.index) {
            continue;
        }
        seen.push(first.index);
        // Iterations of a collective share its index; equal collectives of one list do not, and are
        // numbered.
        let asked = (first.collective.as_str(), asked_bytes(first));
        let alike = |(within, _): &&(Within, ComparisonRow)| {
            let of = within.as_ref().map(|within| (within.0.as_str(), within.1));
            of == Some(asked)
        };
        let before = rows.iter().filter(alike).count();
        let within = Some((asked.0.to_owned(), asked.1, before));
        rows.push((within, row_of_collective(job, first, blank.clone())));
    }
    // The models' rows come last, below the collectives that their ranks ran.
    rows.extend(rows_of_model(trial, job.job.job, &blank));
    rows
}

/// Returns rows for the last training step and for an inference's requests.
fn rows_of_model(
    trial: &NamedSummary,
    job: u32,
    blank: &ComparisonRow,
) -> Vec<(Within, ComparisonRow)> {
    let within = |name: &str| Some((name.to_owned(), None, 0));
    let mut rows = Vec::new();
    let steps = trial.summary.training_steps.iter();
    if let Some(step) = steps.rev().find(|row| row.job == job) {
        let row = ComparisonRow {
            collective: Some(TRAINING.to_owned()),
            time: Some(step.step),
            compute: Some(step.compute),
            exposed: Some(step.exposed()),
            bubble: Some(step.bubble),
            mfu: Some(step.mfu),
            tokens_per_second: Some(step.tokens_per_second),
            ..blank.clone()
        };
        rows.push((within(TRAINING), row));
    }
    let inferences = trial.summary.inference.iter();
    if let Some(of) = inferences.rev().find(|row| row.job == job) {
        let row = ComparisonRow {
            collective: Some(INFERENCE.to_owned()),
            time: Some(of.duration),
            tokens_per_second: Some(of.tokens_per_second),
            ttft_p50: Some(of.ttft_p50),
            ttft_p99: Some(of.ttft_p99),
            tpot_p50: of.tpot_p50,
            tpot_p99: of.tpot_p99,
            ..blank.clone()
        };
        rows.push((within(INFERENCE), row));
    }
    rows
}

fn row_of_collective(
    job: &JobSummary,
    first: &CollectiveRow,
    blank: ComparisonRow,
) -> ComparisonRow {
    let all = || {
        job.collectives
            .iter()
            .filter(|row| row.index == first.index)
    };
    let judged: Vec<&CollectiveRow> = all().filter(|row| !row.warm_up).collect();
    let times: Option<Vec<u64>> = judged
        .iter()
        .map(|row| row.completion_time.map(Time::ps))
        .collect();
    let mean = |times: &Vec<u64>| {
        // Picoseconds of many long iterations may exceed 64 bits.
        let sum: u128 = times.iter().map(|&time| u128::from(time)).sum();
        Time::from_ps((sum / times.len() as u128) as u64)
    };
    let time = times.filter(|times| !times.is_empty()).as_ref().map(mean);
    // Bandwidth is size over time, so its value at the mean time follows from the value at any
    // other.
    let at_mean = |value: &dyn Fn(&CollectiveRow) -> Option<f64>| {
        let row = judged.first()?;
        Some(value(row)? * row.completion_time?.as_ns() / time?.as_ns())
    };
    ComparisonRow {
        collective: Some(first.collective.clone()),
        algorithm: Some(first.algorithm.clone()),
        size_bytes: Some(first.size_bytes),
        time,
        busbw_gbytes_per_s: at_mean(&|row| row.busbw_gbytes_per_s),
        line_rate_percent: at_mean(&|row| row.line_rate_percent),
        percent_of_ideal: at_mean(&|row| row.percent_of_ideal),
        // Percentiles cannot be averaged, so the worst iteration stands for all.
        fct_p99: judged.iter().filter_map(|row| row.fct_p99).max(),
        frames_delta: Some(judged.iter().map(|row| row.frames_delta()).sum()),
        retransmitted_frames: Some(judged.iter().map(|row| row.retransmitted_frames).sum()),
        rx_marked_frames: Some(judged.iter().map(|row| row.rx_marked_frames).sum()),
        cnp_frames: Some(judged.iter().map(|row| row.cnp_frames).sum()),
        ..blank
    }
}

pub(crate) fn differ(row: &mut ComparisonRow, first: &ComparisonRow) {
    let percent = |value: Option<f64>, of: Option<f64>| {
        let of = of.filter(|&of| of > 0.0)?;
        Some((value? / of - 1.0) * 100.0)
    };
    let ns = |time: Option<Time>| time.map(Time::as_ns);
    row.time_difference = percent(ns(row.time), ns(first.time));
    row.busbw_difference = percent(row.busbw_gbytes_per_s, first.busbw_gbytes_per_s);
    row.fct_p99_difference = percent(ns(row.fct_p99), ns(first.fct_p99));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::compare_tables::comparison_table;
    use tenter_results::JobRow;

    fn trial(name: &str, job: &str, ns: u64) -> NamedSummary {
        let time = |ns: u64| Some(Time::from_ps(ns * 1_000));
        let collective = |iteration, warm_up, ns| CollectiveRow {
            iteration,
            warm_up,
            collective: "all-reduce".to_owned(),
            algorithm: "ring".to_owned(),
            size_bytes: 1 << 20,
            completion_time: time(ns),
            busbw_gbytes_per_s: Some(1e6 / ns as f64),
            fct_p99: time(ns / 2),
            tx_frames: 10,
            rx_frames: 9,
            ..CollectiveRow::default()
        };
        let job = JobSummary {
            job: JobRow {
                name: job.to_owned(),
                jct: time(10 * ns),
                ..JobRow::default()
            },
            collectives: vec![
                collective(0, true, 9 * ns),
                collective(1, false, ns),
                collective(2, false, 3 * ns),
            ],
        };
        NamedSummary {
            name: name.to_owned(),
            summary: Summary {
                jobs: vec![job],
                ..Summary::default()
            },
        }
    }

    #[test]
    fn flows_of_a_load_stand_beside_each_other_whatever_they_come_to() {
        let of = |name: &str, collective: &str, sizes: [u64; 2]| {
            let mut trial = trial(name, "web", 1_000);
            let row = |(index, size_bytes)| CollectiveRow {
                index,
                size_bytes,
                collective: collective.to_owned(),
                ..trial.summary.jobs[0].collectives[1].clone()
            };
            let rows = (0..).zip(sizes).map(row).collect();
            trial.summary.jobs[0].collectives = rows;
            trial
        };
        let names = |collective: &str| {
            let trials = [
                of("a", collective, [100, 300]),
                of("b", collective, [200, 300]),
            ];
            // Before them is a row of each job, and after them one of each whole trial.
            let rows = comparison_rows(&trials).into_iter().skip(2).take(4);
            rows.map(|row| row.trial).collect::<Vec<_>>()
        };
        assert_eq!(names("flows"), ["a", "b", "a", "b"]);
        // A row with a size of its own is compared only with the same size.
        assert_eq!(names("all-reduce"), ["a", "a", "b", "b"]);
    }

    #[test]
    fn differences_are_against_the_first() {
        // Single jobs belong together whatever their names.
        let rows = comparison_rows(&[trial("a", "x", 1_000), trial("b", "y", 1_500)]);
        let names: Vec<&str> = rows.iter().map(|row| row.trial.as_str()).collect();
        assert_eq!(names, ["a", "b", "a", "b", "a", "b"]);
        // The counters of a whole trial are there once.
        let counted = |row: &&ComparisonRow| row.xoff_frames.is_some();
        assert_eq!(rows.iter().filter(counted).count(), 2);
        assert!(rows[4..].iter().all(is_whole_trial));
        assert_eq!(rows[0].time_difference, None);
        // 15,000 against 10,000 ns.
        assert_eq!(rows[1].time_difference, Some(50.0));
        // The mean of 1,000 and 3,000 ns, without the warm-up; busbw was 1,000 GB/s at 1,000 ns.
        assert_eq!(rows[2].time, Some(Time::from_ps(2_000_000)));
        assert_eq!(rows[2].busbw_gbytes_per_s, Some(500.0));
        // The greater of 500 and 1,500 ns; two judged iterations with one frame each.
        assert_eq!(rows[2].fct_p99, Some(Time::from_ps(1_500_000)));
        assert_eq!(rows[2].frames_delta, Some(2));
        let busbw = rows[3].busbw_difference.expect("both have one");
        assert!((busbw + 100.0 / 3.0).abs() < 1e-9, "{busbw}");
    }

    #[test]
    fn a_difference_says_what_it_is_against() {
        let of = |name: &str| [trial(name, "x", 1_000), trial("b", "x", 1_500)];
        let table = |name: &str| comparison_table(&comparison_rows(&of(name)));
        let text = table("ecmp");
        assert!(text.contains("JCT  vs ecmp\n"), "{text}");
        assert!(text.contains("busbw  vs ecmp  line rate"), "{text}");
        // A long name would push all columns apart.
        let text = table("leaf-spine-1024-ecmp");
        assert!(
            text.contains("vs first") && !text.contains("vs leaf"),
            "{text}"
        );
        // No pauses: no time, rather than one of nanoseconds.
        assert!(
            text.contains("paused, sum of ports\n") && !text.contains("frames  frames      ns"),
            "{text}"
        );
    }

    #[test]
    fn a_job_of_one_collective_has_one_row_in_a_block_of_its_own() {
        let one = |name: &str, ns| {
            let mut trial = trial(name, "x", ns);
            let mut job = trial.summary.jobs.remove(0);
            job.collectives.truncate(2);
            job.collectives.remove(0);
            job.job.jct = job.collectives[0].completion_time;
            for name in ["x", "y"] {
                job.job.name = name.to_owned();
                trial.summary.jobs.push(job.clone());
            }
            trial
        };
        let rows = comparison_rows(&[one("a", 1_000), one("b", 1_500)]);
        let jobs: Vec<&str> = rows.iter().map(|row| row.job_name.as_str()).collect();
        assert_eq!(jobs, ["x", "x", "y", "y", "", ""]);
        let text = comparison_table(&rows);
        for head in [
            "\nx: all-reduce\n",
            "\ny: all-reduce\n",
            "\nwhole trial, all jobs",
        ] {
            assert!(text.contains(head), "{head}{text}");
        }
        assert!(!text.contains("job completion time"), "{text}");
    }

    #[test]
    fn a_trial_without_the_job_is_left_out() {
        let mut second = trial("b", "other", 1_500);
        second
            .summary
            .jobs
            .push(trial("b", "x", 2_000).summary.jobs.remove(0));
        let rows = comparison_rows(&[trial("a", "x", 1_000), second]);
        let other = rows.iter().find(|row| row.job_name == "other");
        assert_eq!(other.expect("it is there").time_difference, None);
        let same = rows
            .iter()
            .find(|row| row.trial == "b" && row.job_name == "x");
        assert_eq!(same.expect("it is there").time_difference, Some(100.0));
    }
}
