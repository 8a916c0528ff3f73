//! The trial summary that `tenter run` prints.

mod cells;
mod critical_shares;
mod facts;
mod flow_sizes;
mod ideal;
mod inference;
mod interference;
mod jobs;
mod parallelism;
mod section;
mod tiles;
mod training;

use std::fmt;
use std::path::Path;

use tenter_results::{Names, NoteCode, Severity, Summary};

pub use jobs::printed_time;
pub(crate) use jobs::{FLOWS, GRAPH, MARK_COLUMNS, is_load_of_flows};
pub use section::{CaptionedTable, Fact, Section};
pub use tiles::{Tile, tiles};

use crate::report::csv::csv;

/// Returns a trial's answers in reading order: its jobs, their interference, then the results for
/// flows, graphs, trainings and inferences.
pub fn sections(summary: &Summary) -> Vec<Section> {
    let mut sections: Vec<Section> = summary.jobs.iter().map(jobs::section).collect();
    sections.extend(interference::section(&summary.interference));
    sections.extend(flow_sizes::sections(&summary.flow_sizes));
    sections.extend(critical_shares::sections(&summary.critical_shares));
    sections.extend(training::sections(&summary.training_steps));
    sections.extend(inference::sections(
        &summary.inference,
        &summary.inference_pools,
    ));
    sections
}

/// Returns a trial's totals, followed by a fact about the engine.
pub fn facts(summary: &Summary) -> Vec<Fact> {
    let mut facts = facts::facts(summary);
    facts.push(facts::engine(&summary.engine));
    facts
}

/// Output format for a trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Tables and sentences for people.
    #[default]
    Table,
    /// The text of `summary.json`.
    Json,
    /// Collectives as in `collectives.parquet`, with one CSV line per iteration.
    Csv,
}

/// A trial to be printed.
#[derive(Clone, Copy, Debug)]
pub struct TrialReport<'a> {
    /// Summary to be printed.
    pub summary: &'a Summary,
    /// Fabric in one line: NICs, switches, rate, load balancing.
    pub fabric: &'a str,
    /// Trial folder, if one was written.
    pub folder: Option<&'a Path>,
    /// True if tables for people include ideal ratios, the times over those on a full mesh at port
    /// speed.
    pub ideal: bool,
}

impl TrialReport<'_> {
    /// Writes the trial in a format.
    ///
    /// # Errors
    /// Those from `out`; a `String` has none.
    pub(crate) fn write(&self, format: Format, out: &mut impl fmt::Write) -> fmt::Result {
        match format {
            Format::Table => self.write_table(out),
            Format::Json => {
                let text = serde_json::to_string_pretty(self.summary).map_err(|_| fmt::Error)?;
                writeln!(out, "{text}")
            }
            Format::Csv => out.write_str(&self.csv()),
        }
    }

    /// Returns the trial in a format, as text that ends with a line feed.
    pub fn render(&self, format: Format) -> String {
        let mut text = String::new();
        let _ = self.write(format, &mut text);
        text
    }

    // Rows name their job by index, and indices of jobs may have gaps.
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
        for section in sections(summary) {
            write!(out, "{section}")?;
        }
        if self.ideal {
            write!(out, "{}", ideal::section(&summary.jobs))?;
        }
        writeln!(out)?;
        for fact in facts::facts(summary) {
            write!(out, "{fact}")?;
        }
        if !summary.complete {
            let why = summary
                .stopped
                .as_deref()
                .unwrap_or("not every job was completed");
            writeln!(out, "NOT COMPLETE  {why}")?;
        }
        // The line above gives the reason why a trial ended early; its note would repeat it.
        let notes = summary.notes.iter();
        for note in notes.filter(|note| note.code != NoteCode::Stopped) {
            match note.severity {
                Severity::Warning => writeln!(out, "warning  {}", note.text)?,
                Severity::Note => writeln!(out, "note: {}", note.text)?,
            }
        }
        write!(out, "{}", facts::engine(&summary.engine))?;
        if let Some(folder) = self.folder {
            writeln!(out, "trial    {}", folder.display())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
