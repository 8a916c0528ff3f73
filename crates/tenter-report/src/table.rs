//! The trial summary that `tenter run` prints.

mod cells;
mod critical_shares;
mod flow_sizes;
mod ideal;
mod inference;
mod jobs;
mod parallelism;
mod training;

use std::fmt;
use std::path::Path;

use tenter_record::{
    EngineStats, InterferenceRow, Names, NoteCode, PowerRow, Severity, Summary, Totals,
};
use tenter_units::Time;

use cells::{count, counted, decimals, milliseconds, optional};

pub(crate) use jobs::{FLOWS, GRAPH, RateColumn, is_load_of_flows, rate_columns};
pub use jobs::{PrintedJob, printed_jobs, printed_time};

use crate::csv::csv;
use crate::numbers::{decimals_for, duration_s, si};
use crate::text_table::{TextColumn, TextTable};

/// The format of a shown trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// For people.
    #[default]
    Table,
    /// The text of `summary.json`.
    Json,
    /// The collectives as in `collectives.parquet`, one line per iteration.
    Csv,
}

/// A trial to be shown.
#[derive(Clone, Copy, Debug)]
pub struct TrialReport<'a> {
    /// The summary of the trial.
    pub summary: &'a Summary,
    /// The fabric in a line: NICs, switches, rate, load balancing.
    pub fabric: &'a str,
    /// The trial folder, if one was written.
    pub folder: Option<&'a Path>,
    /// Whether people are also shown times over those on a full mesh at port speed.
    pub ideal: bool,
}

impl TrialReport<'_> {
    /// Writes the trial in a format.
    ///
    /// # Errors
    /// Those of `out`; a `String` has none.
    pub fn write(&self, format: Format, out: &mut impl fmt::Write) -> fmt::Result {
        match format {
            Format::Table => self.write_table(out),
            Format::Json => {
                let text = serde_json::to_string_pretty(self.summary).map_err(|_| fmt::Error)?;
                writeln!(out, "{text}")
            }
            Format::Csv => out.write_str(&self.csv()),
        }
    }

    /// The trial in a format, as a text that ends with a line feed.
    pub fn render(&self, format: Format) -> String {
        let mut text = String::new();
        let _ = self.write(format, &mut text);
        text
    }

    fn csv(&self) -> String {
        let mut names = Names::default();
        let mut rows = Vec::new();
        for job in &self.summary.jobs {
            let index = job.job.job as usize;
            if names.jobs.len() <= index {
                names.jobs.resize(index + 1, String::new());
            }
            names.jobs[index].clone_from(&job.job.name);
            rows.extend_from_slice(&job.collectives);
        }
        csv(&rows, &names)
    }

    fn write_table(&self, out: &mut impl fmt::Write) -> fmt::Result {
        let summary = self.summary;
        if !summary.scenario.is_empty() {
            write!(out, "{}, ", summary.scenario)?;
        }
        writeln!(out, "seed {}", summary.seed)?;
        writeln!(out, "{}", self.fabric)?;
        for job in &summary.jobs {
            jobs::write(job, out)?;
        }
        write_interference(&summary.interference, out)?;
        flow_sizes::write(&summary.flow_sizes, out)?;
        critical_shares::write(&summary.critical_shares, out)?;
        training::write(&summary.training_steps, out)?;
        inference::write(&summary.inference, &summary.inference_pools, out)?;
        if self.ideal {
            ideal::write(&summary.jobs, out)?;
        }
        writeln!(out)?;
        write_totals(summary, out)?;
        if let Some(power) = &summary.power {
            write_power(power, out)?;
        }
        if !summary.complete {
            let why = summary
                .stopped
                .as_deref()
                .unwrap_or("not every job was completed");
            writeln!(out, "NOT COMPLETE  {why}")?;
        }
        // The line above has the reason of those that ended early.
        let notes = summary.notes.iter();
        for note in notes.filter(|note| note.code != NoteCode::Stopped) {
            match note.severity {
                Severity::Warning => writeln!(out, "warning  {}", note.text)?,
                Severity::Note => writeln!(out, "note: {}", note.text)?,
            }
        }
        write_engine(&summary.engine, out)?;
        if let Some(folder) = self.folder {
            writeln!(out, "trial    {}", folder.display())?;
        }
        Ok(())
    }
}

/// The most columns that fit on a screen; the table in the folder has them all.
const BESIDE_SHOWN: usize = 12;

/// The slowdown of jobs by each other: times alone and together, and one column for each job beside
/// them if pairs were run.
fn write_interference(rows: &[InterferenceRow], out: &mut impl fmt::Write) -> fmt::Result {
    if rows.is_empty() {
        return Ok(());
    }
    let mut beside: Vec<(u32, &str)> = rows
        .iter()
        .filter_map(|row| Some((row.beside?, row.beside_name.as_deref()?)))
        .collect();
    beside.sort_unstable();
    beside.dedup();
    beside.truncate(BESIDE_SHOWN);
    let mut columns = vec![
        TextColumn::name("job"),
        TextColumn::number("alone", "ms"),
        TextColumn::number("beside all", "ms"),
        TextColumn::number("slowdown", ""),
    ];
    columns.extend(beside.iter().map(|(_, name)| TextColumn::number(name, "")));
    let decimals = decimals(rows.iter().flat_map(|row| [row.alone, row.together]));
    let time = |time| optional(time, |time| milliseconds(time, decimals));
    let ratio = |ratio| optional(ratio, |ratio: f64| format!("{ratio:.3}"));
    let mut table = TextTable::new(columns);
    for job in rows.iter().filter(|row| row.beside.is_none()) {
        let mut cells = vec![
            job.job_name.clone(),
            time(job.alone),
            time(job.together),
            ratio(job.slow_down),
        ];
        for (other, _) in &beside {
            let pair = (job.job, Some(*other));
            let found = rows.iter().find(|row| (row.job, row.beside) == pair);
            cells.push(found.map_or_else(String::new, |row| ratio(row.slow_down)));
        }
        table.push(cells);
    }
    writeln!(
        out,
        "\ninterference: JCT beside others over JCT alone{}",
        if beside.is_empty() {
            ""
        } else {
            ", and with each of them only"
        }
    )?;
    write!(out, "{table}")
}

fn write_totals(summary: &Summary, out: &mut impl fmt::Write) -> fmt::Result {
    let totals = &summary.totals;
    write!(
        out,
        "total    {}, {} sent, {} dropped, {} retransmitted",
        counted(totals.flows, "flow"),
        counted(totals.tx_frames, "data frame"),
        count(totals.dropped_frames),
        count(totals.retransmitted_frames),
    )?;
    if totals.nak_frames > 0 || totals.timeouts > 0 {
        let naks = counted(totals.nak_frames, "NAK");
        write!(out, ", {naks}, {}", counted(totals.timeouts, "timeout"))?;
    }
    writeln!(out)?;
    write_trimmed(totals, out)?;
    write_lost(totals, out)?;
    write_wire(totals, out)?;
    write_pauses(summary, out)?;
    if totals.watchdog_storms > 0 {
        let stuck = counted(totals.watchdog_storms, "queue");
        writeln!(out, "watchdog {stuck} found stuck")?;
    }
    write_notices(totals, out)?;
    write_signals(totals, out)?;
    write_marks(totals, out)
}

/// The power of the fabric.
fn write_power(power: &PowerRow, out: &mut impl fmt::Write) -> fmt::Result {
    let short = |value: f64| format!("{value:.*}", decimals_for(value, 4));
    let of = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), short);
    writeln!(
        out,
        "power    by `{}`: static {} W, dynamic {} W; for {} Gb/s delivered {} and {} W per Gb/s, {} pJ per bit in all",
        power.profile,
        short(power.static_power),
        of(power.dynamic_power),
        of(power.throughput_gbps),
        of(power.static_per_gbps),
        of(power.dynamic_per_gbps),
        of(power.picojoules_per_bit),
    )
}

/// What became of frames that found no room, where switches trim: nothing is lost in silence.
fn write_trimmed(totals: &Totals, out: &mut impl fmt::Write) -> fmt::Result {
    if totals.trimmed_frames == 0 {
        return Ok(());
    }
    writeln!(
        out,
        "trimmed  {} of {}B, and {} dropped whole; {} retransmitted, {}",
        counted(totals.trimmed_frames, "frame"),
        si(totals.trimmed_bytes as f64),
        count(totals.dropped_frames),
        count(totals.retransmitted_frames),
        counted(totals.timeouts, "timeout"),
    )
}

/// Unexpected drops.
fn write_lost(totals: &Totals, out: &mut impl fmt::Write) -> fmt::Result {
    let lossless = totals.lossless_dropped_frames;
    let places = [
        (lossless, "of lossless classes in switches"),
        (totals.nic_dropped_frames, "in the receive buffers of NICs"),
        (totals.given_up_frames, "that are not retransmitted"),
        (
            totals.lost_frames,
            "on links that went down or are impaired",
        ),
        (totals.unsent_frames, "at ports whose link was down"),
        (totals.watchdog_dropped_frames, "by the PFC watchdog"),
    ];
    let places = places.iter().filter(|(frames, _)| *frames > 0);
    let places: Vec<String> = places
        .map(|&(frames, place)| format!("{} {place}", counted(frames, "frame")))
        .collect();
    if places.is_empty() {
        return Ok(());
    }
    writeln!(out, "lost     {}", places.join(", "))
}

/// The bytes of the links beside data.
fn write_wire(totals: &Totals, out: &mut impl fmt::Write) -> fmt::Result {
    if totals.wire_bytes == 0 {
        return Ok(());
    }
    write!(
        out,
        "wire     {}B on all links, {:.2} % of it acknowledgements and other control packets",
        si(totals.wire_bytes as f64),
        totals.control_wire,
    )?;
    if totals.pause_wire > 0.0 {
        let share = if totals.pause_wire < 0.001 {
            "under 0.001".to_owned()
        } else {
            format!("{:.3}", totals.pause_wire)
        };
        write!(out, ", {share} % {}", pause_word(totals))?;
    }
    writeln!(out)
}

/// The name of the bytes of pauses on the wire: if frames are sent by credit, those of flow-control
/// packets.
pub(crate) fn pause_word(totals: &Totals) -> &'static str {
    let told = totals.xoff_frames + totals.notice_frames > 0;
    if told || totals.pause_wire <= 0.0 {
        "pauses"
    } else {
        "flow control"
    }
}

fn write_pauses(summary: &Summary, out: &mut impl fmt::Write) -> fmt::Result {
    let totals = &summary.totals;
    let nobody = totals.nic_paused + totals.switch_paused == Time::ZERO;
    let verb = if totals.xoff_frames + totals.xon_frames > 0 {
        write!(
            out,
            "pauses   {} XOFF and {} sent",
            count(totals.xoff_frames),
            counted(totals.xon_frames, "XON frame"),
        )?;
        "paused"
    } else if nobody {
        return Ok(());
    } else {
        write!(out, "credit   lanes waited")?;
        "without any"
    };
    let times = [totals.nic_paused, totals.switch_paused, totals.most_paused];
    let decimals = decimals(times.map(Some));
    let ms = |time| format!("{} ms", milliseconds(time, decimals));
    for (time, of) in [(times[0], "NICs"), (times[1], "switch ports")] {
        if !time.is_zero() {
            write!(out, ", {of} {verb} for {} in sum over ports", ms(time))?;
        }
    }
    if let Some(port) = &totals.most_paused_port {
        let longest = ms(totals.most_paused);
        write!(out, ", longest {port} for {longest}{}", of_trial(summary))?;
    }
    writeln!(out)
}

/// The share of the trial that its longest paused port was.
pub(crate) fn of_trial(summary: &Summary) -> String {
    let simulated = summary.engine.simulated_ns;
    if simulated <= 0.0 {
        return String::new();
    }
    let share = 100.0 * summary.totals.most_paused.as_ns() / simulated;
    let decimals = decimals_for(share, 3).min(4);
    format!(" ({share:.decimals$} % of the trial)")
}

fn write_notices(totals: &Totals, out: &mut impl fmt::Write) -> fmt::Result {
    if totals.notice_frames == 0 {
        return Ok(());
    }
    writeln!(
        out,
        "notices  {} of long queues sent, {} of flows to another link or source port",
        count(totals.notice_frames),
        counted(totals.flow_moves, "move"),
    )
}

fn write_signals(totals: &Totals, out: &mut impl fmt::Write) -> fmt::Result {
    if totals.signal_frames + totals.signal_xoff_frames == 0 {
        return Ok(());
    }
    writeln!(
        out,
        "signals  {} sent to senders of long queues, {} by leaves for them or for their own queues",
        count(totals.signal_frames),
        counted(totals.signal_xoff_frames, "pause frame"),
    )
}

fn write_marks(totals: &Totals, out: &mut impl fmt::Write) -> fmt::Result {
    if totals.marked_frames == 0 {
        return Ok(());
    }
    write!(
        out,
        "marks    {} marked by switches, {:.2} % of the data frames that arrived",
        counted(totals.marked_frames, "frame"),
        totals.rx_marked
    )?;
    if totals.cnp_frames > 0 {
        write!(out, ", {}", counted(totals.cnp_frames, "notification"))?;
    }
    writeln!(out)
}

fn write_engine(engine: &EngineStats, out: &mut impl fmt::Write) -> fmt::Result {
    let hops = engine.packet_hops as f64;
    write!(
        out,
        "engine   {} packet-hops in {}",
        si(hops).trim_end(),
        duration_s(engine.wall_s)
    )?;
    // Speed is that of what was simulated.
    let jumped = engine.jumped_packet_hops as f64;
    if jumped > 0.0 {
        write!(out, ", {} of them jumped over", si(jumped).trim_end())?;
    } else if engine.wall_s > 0.0 {
        write!(out, " = {}/s", si(hops / engine.wall_s).trim_end())?;
    }
    write!(out, ", {}", counted(u64::from(engine.threads), "thread"))?;
    if let Some(peak) = engine.peak_rss_bytes {
        write!(out, ", peak {}B", si(peak as f64))?;
    }
    writeln!(out, ", digest {}", engine.digest)
}

#[cfg(test)]
mod tests;
