//! Headline numbers that a page shows as tiles.

use tenter_results::{CollectiveRow, InferenceRow, JobSummary, PowerRow, Summary, TrainingStepRow};

use super::cells::{count, decimals, milliseconds, optional};
use super::facts::of_trial;
use super::jobs::{FLOWS, is_load_of_flows, printed_time};
use super::parallelism::seconds;
use crate::report::numbers::{binary_size, decimals_for, grouped};

/// One number with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Short name that stands above the number.
    pub label: &'static str,
    /// Number, formatted with its unit.
    pub value: String,
    /// Subject of the number, or related numbers.
    pub note: String,
}

impl Tile {
    fn new(label: &'static str, value: impl Into<String>, note: impl Into<String>) -> Tile {
        Tile {
            label,
            value: value.into(),
            note: note.into(),
        }
    }
}

/// Returns the headline numbers by what the trial ran: a training's step and MFU, an inference's
/// request times, or the collective with the lowest share of its ideal; then what the fabric lost,
/// paused and marked.
pub fn tiles(summary: &Summary) -> Vec<Tile> {
    let mut tiles = vec![end(summary)];
    // Of several jobs of a kind, the slowest is shown.
    let slowest = last_of_jobs(&summary.training_steps, |row| row.job);
    let slowest = slowest.max_by_key(|row| row.step);
    tiles.extend(slowest.into_iter().flat_map(training));
    let slowest = last_of_jobs(&summary.inference, |row| row.job);
    let slowest = slowest.max_by_key(|row| row.ttft_p99);
    tiles.extend(slowest.into_iter().flat_map(inference));
    tiles.extend(collective(summary));
    tiles.extend(fabric(summary));
    tiles.extend(summary.power.as_ref().map(power));
    tiles
}

/// Returns each job's last row.
fn last_of_jobs<R>(rows: &[R], job: impl Fn(&R) -> u32) -> impl Iterator<Item = &R> {
    rows.chunk_by(move |a, b| job(a) == job(b))
        .filter_map(<[R]>::last)
}

/// Returns when the longest job ended.
fn end(summary: &Summary) -> Tile {
    const JCT: &str = "Job completion time";
    let done = summary.longest_job();
    let Some((job, jct)) = done.and_then(|job| Some((job, job.job.jct?))) else {
        return Tile::new(JCT, "-", "no job was completed");
    };
    let label = if is_load_of_flows(job) {
        "Last flow ended after"
    } else {
        JCT
    };
    let note = match summary.measured_jobs().count() {
        several @ 2.. => format!("the longest of {several} jobs, {}", job.job.name),
        _ => format!(
            "job {}, {} ranks",
            job.job.name,
            count(job.job.ranks.into())
        ),
    };
    Tile::new(label, printed_time(jct), note)
}

/// Returns a training step's tiles.
fn training(row: &TrainingStepRow) -> [Tile; 3] {
    let note = format!(
        "{}: compute {} s, exposed communication {} s",
        row.job_name,
        seconds(row.compute),
        seconds(row.exposed())
    );
    let tokens = grouped(row.tokens_per_second as i64);
    let per_accelerator = format!("{:.1} TFLOP/s per accelerator", row.tflops);
    [
        Tile::new("Step", format!("{} s", seconds(row.step)), note),
        Tile::new("Tokens per second", tokens, row.job_name.as_str()),
        Tile::new("MFU", format!("{:.1} %", row.mfu), per_accelerator),
    ]
}

/// Returns the tiles for requests to a model.
fn inference(row: &InferenceRow) -> [Tile; 3] {
    let times = [
        Some(row.ttft_p50),
        Some(row.ttft_p99),
        row.tpot_p50,
        row.tpot_p99,
    ];
    let decimals = decimals(times);
    let ms = |time| format!("{} ms", milliseconds(time, decimals));
    [
        Tile::new(
            "Time to first token, P99",
            ms(row.ttft_p99),
            format!("{}: P50 {}", row.job_name, ms(row.ttft_p50)),
        ),
        Tile::new(
            "Time per output token, P99",
            optional(row.tpot_p99, ms),
            format!("{}: P50 {}", row.job_name, optional(row.tpot_p50, ms)),
        ),
        Tile::new(
            "Tokens per second",
            grouped(row.tokens_per_second as i64),
            format!(
                "{}: {:.1} per accelerator",
                row.job_name, row.tokens_of_accelerator
            ),
        ),
    ]
}

/// Returns the tiles for the collective with the lowest share of its ideal. If none has an ideal,
/// as with flows, returns the largest one's goodput.
fn collective(summary: &Summary) -> Vec<Tile> {
    let number = |value: Option<f64>, unit| optional(value, |value| format!("{value:.2} {unit}"));
    let note = |(job, row): (&JobSummary, &CollectiveRow)| {
        let of = format!("{} of {}", row.collective, binary_size(row.size_bytes));
        match summary.measured_jobs().count() {
            2.. => format!("{}: {of}", job.job.name),
            _ => of,
        }
    };
    if let Some(lowest) = summary.lowest_ideal() {
        let (note, row) = (note(lowest), lowest.1);
        return vec![
            Tile::new(
                "Lowest share of ideal",
                number(row.percent_of_ideal, "%"),
                note.as_str(),
            ),
            Tile::new(
                "Algbw",
                number(row.algbw_gbytes_per_s, "GB/s"),
                note.as_str(),
            ),
            Tile::new("Busbw", number(row.busbw_gbytes_per_s, "GB/s"), note),
        ];
    }
    let of_flows = summary
        .measured_collectives()
        .filter(|(_, row)| row.collective == FLOWS && row.algbw_gbytes_per_s.is_some());
    let largest = of_flows.max_by_key(|(_, row)| row.size_bytes);
    let goodput = |of: (&JobSummary, &CollectiveRow)| {
        Tile::new("Goodput", number(of.1.algbw_gbytes_per_s, "GB/s"), note(of))
    };
    largest.map(goodput).into_iter().collect()
}

/// Returns the tiles for what the fabric lost, paused and marked.
fn fabric(summary: &Summary) -> [Tile; 3] {
    let totals = &summary.totals;
    let dropped = totals.dropped_frames + totals.nic_dropped_frames;
    let on_links = totals.lost_frames + totals.unsent_frames;
    // A sum of one part is not split.
    let parts = if on_links > 0 {
        format!("{} dropped, {} on links; ", count(dropped), count(on_links))
    } else {
        String::new()
    };
    let lost = format!(
        "of {} sent; {parts}{} retransmitted",
        count(totals.tx_frames),
        count(totals.retransmitted_frames)
    );
    let paused = totals.nic_paused + totals.switch_paused;
    let decimals = decimals([paused, totals.most_paused].map(Some));
    let ms = |time| format!("{} ms", milliseconds(time, decimals));
    let longest = totals.most_paused_port.as_ref().map_or_else(
        || "no port was paused".to_owned(),
        |port| {
            format!(
                "longest {port}: {}{}",
                ms(totals.most_paused),
                of_trial(summary)
            )
        },
    );
    let in_sum = if paused.is_zero() {
        "never".to_owned()
    } else {
        ms(paused)
    };
    [
        Tile::new("Frames lost", count(dropped + on_links), lost),
        Tile::new("Ports paused, in sum", in_sum, longest),
        Tile::new(
            "Frames marked (ECN)",
            count(totals.marked_frames),
            format!("{} congestion notifications", count(totals.cnp_frames)),
        ),
    ]
}

/// Returns the tile for the fabric's power.
fn power(power: &PowerRow) -> Tile {
    let watts = |value: f64| format!("{value:.*} W", decimals_for(value, 4));
    let shown = |value: Option<f64>| optional(value, watts);
    let note = format!(
        "static, and {} dynamic; {} and {} per Gb/s delivered",
        shown(power.dynamic_power),
        shown(power.static_per_gbps),
        shown(power.dynamic_per_gbps)
    );
    Tile::new("Power of the fabric", watts(power.static_power), note)
}
