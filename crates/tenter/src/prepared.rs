//! Runs that are ready to begin.

use std::time::{Duration, Instant};

use crate::report::{TrialFolder, peak_rss_bytes};
use tenter_results::{Control, FlowRow, Notes, Progress, SampleRow, Sink, SinkError};
use tenter_sim::{AnySimulation, Interference};

use crate::observer::{Expected, Observer, Running};
use crate::{Error, Plan, Trial, interference, simulation};

/// Rows that stay in memory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Keep {
    pub(crate) flows: bool,
    pub(crate) samples: bool,
}

/// A run whose network is built and whose folder is made.
pub(crate) struct Prepared {
    pub(crate) plan: Plan,
    /// Name of the run for observers.
    pub(crate) title: String,
    pub(crate) keep: Keep,
    /// Interval between checkpoints, after which a killed process leaves readable rows.
    pub(crate) checkpoints: Option<Duration>,
    /// Further runs, and the thread count for them.
    pub(crate) further: (Interference, u16),
    pub(crate) simulation: AnySimulation,
    pub(crate) folder: Option<TrialFolder>,
    /// Notes that follow from the plan alone.
    pub(crate) notes: Notes,
    pub(crate) set_up_s: f64,
}

impl Prepared {
    /// Simulates, measures what jobs cost each other, and finishes the folder.
    pub(crate) fn carry_out(mut self, observer: &mut dyn Observer) -> Result<Trial, Error> {
        let loaded = self.plan.loaded();
        let path = self.folder.as_ref().map(|folder| folder.path().to_owned());
        let mut rows = Rows {
            plan: &loaded.plan,
            folder: self.folder,
            flows: self.keep.flows.then(Vec::new),
            samples: self.keep.samples.then(Vec::new),
            observer,
            checkpoints: self.checkpoints,
            checked: Instant::now(),
        };
        rows.observer.begins(&self.title);
        let began = Instant::now();
        let outcome = self.simulation.run(&mut rows);
        rows.observer.ends();
        let mut outcome = outcome.map_err(Error::Simulation)?;
        let Rows {
            folder,
            flows,
            samples,
            observer,
            ..
        } = rows;
        // The plan's notes come before those of the run; sorting is stable and moves only the
        // severe ones up.
        let of_run = std::mem::replace(&mut outcome.summary.notes, self.notes);
        outcome.summary.notes.extend(of_run.0);
        outcome.summary.notes.sort_by_key(|note| note.severity);
        let engine = &mut outcome.summary.engine;
        engine.set_up_s = self.set_up_s;
        // Before the further runs: speed is packet-hops of this run over its own time.
        engine.wall_s = began.elapsed().as_secs_f64();
        engine.peak_rss_bytes = peak_rss_bytes();
        let watched = simulation::watched(&self.simulation);
        // Further runs need the memory of this network.
        drop(self.simulation);
        let (asked, threads) = self.further;
        let further = interference::add(&loaded.plan, asked, threads, observer, &mut outcome);
        // Last, since the summary has the rows of the further runs. Until then the manifest says
        // that the trial is not complete.
        let written = folder.map(|folder| folder.finish(&outcome.summary, &outcome.counts));
        let trial = Trial {
            plan: self.plan.clone(),
            summary: outcome.summary,
            counts: outcome.counts,
            folder: path,
            flows: flows.unwrap_or_default(),
            samples: samples.unwrap_or_default(),
            watched,
        };
        // The observer gets the summary even if files could not be written: the run itself has
        // succeeded.
        observer.trial(&self.title, &trial.summary);
        match (written, further) {
            (Some(Err(source)), _) => Err(Error::NotWritten {
                trial: Box::new(trial),
                source,
            }),
            (_, Err(source)) => Err(Error::NotMeasured {
                trial: Box::new(trial),
                source: Box::new(source),
            }),
            _ => Ok(trial),
        }
    }
}

/// Hands rows to the folder, to memory and to the observer.
struct Rows<'a> {
    plan: &'a tenter_sim::plan::Plan,
    folder: Option<TrialFolder>,
    flows: Option<Vec<FlowRow>>,
    samples: Option<Vec<SampleRow>>,
    observer: &'a mut dyn Observer,
    checkpoints: Option<Duration>,
    /// Time at which the last checkpoint was written.
    checked: Instant,
}

impl Sink for Rows<'_> {
    fn flows(&mut self, rows: &[FlowRow]) -> Result<(), SinkError> {
        if let Some(folder) = &mut self.folder {
            folder.append_flows(rows)?;
        }
        if let Some(flows) = &mut self.flows {
            flows.extend_from_slice(rows);
        }
        self.observer.flows(rows)
    }

    fn samples(&mut self, rows: &[SampleRow]) -> Result<(), SinkError> {
        if let Some(folder) = &mut self.folder {
            folder.append_samples(rows)?;
        }
        if let Some(samples) = &mut self.samples {
            samples.extend_from_slice(rows);
        }
        self.observer.samples(rows)
    }

    fn progress(&mut self, progress: &Progress) -> Result<Control, SinkError> {
        if let (Some(every), Some(folder)) = (self.checkpoints, &mut self.folder)
            && self.checked.elapsed() >= every
        {
            folder.checkpoint()?;
            self.checked = Instant::now();
        }
        Ok(self.observer.progress(&Running {
            expected: Expected::Of(self.plan),
            progress: *progress,
        }))
    }
}
