//! Several trials of one scenario: seeds, and grids of settings.

use std::fmt::Display;
use std::fs::File;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use tenter_report::{clear_seeds, seed_folder, take_folder, takes_seeds, write_seed_rows};
use tenter_sim::Interference;

use crate::folder::Folder;
use crate::observer::Observer;
use crate::points;
use crate::results::{Point, Results};
use crate::{Error, Plan, Run, Scenario, Trial, usual_threads};

/// A scenario that is run several times: with each of several seeds, at each point of a grid of
/// settings.
#[derive(Clone, Debug)]
#[must_use]
pub struct Experiment {
    scenario: Scenario,
    axes: Vec<(String, Vec<String>)>,
    seeds: u32,
    threads: u16,
    interference: Option<Interference>,
    folder: Folder,
    force: bool,
}

impl Experiment {
    /// One trial of a scenario, to be varied.
    pub fn new(scenario: &Scenario) -> Experiment {
        Experiment {
            scenario: scenario.clone(),
            axes: Vec::new(),
            seeds: 1,
            threads: usual_threads(),
            interference: None,
            folder: Folder::None,
            force: false,
        }
    }

    /// Runs each point with so many seeds, from the scenario's own on.
    pub fn seeds(mut self, count: u32) -> Experiment {
        self.seeds = count.max(1);
        self
    }

    /// Varies a key, written as [`Scenario::set`] has it, over these values; several keys make a
    /// grid.
    pub fn vary<V: Display>(
        mut self,
        path: &str,
        values: impl IntoIterator<Item = V>,
    ) -> Experiment {
        let values = values.into_iter().map(|value| value.to_string());
        self.axes.push((path.to_owned(), values.collect()));
        self
    }

    /// Uses at most so many threads for each trial.
    pub fn threads(mut self, threads: u16) -> Experiment {
        self.threads = threads;
        self
    }

    /// Measures what jobs cost each other in each trial.
    pub fn interference(mut self, asked: Interference) -> Experiment {
        self.interference = Some(asked);
        self
    }

    /// Runs even what is expected to take more memory than there is.
    pub fn force(mut self, force: bool) -> Experiment {
        self.force = force;
        self
    }

    /// Writes the trials to `FOLDER/seed-N`, with a table of all seeds; where keys are varied, each
    /// point has a folder of its own, `point-1`, `point-2` and so on. Trials that lie there whole,
    /// from a run that was stopped, are not run again.
    ///
    /// Of each trial its summary stays in memory; its tables are in its folder, from which
    /// [`Trial::open`] reads them. `points.json` there tells the settings of each point.
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Experiment {
        self.folder = Folder::At(folder.into());
        self
    }

    /// Writes the trials to a new folder of that name below `parent`, or to `NAME-2`, `NAME-3`, …
    /// where that is taken. [`Results::folder`] tells which.
    pub fn new_folder(mut self, parent: impl Into<PathBuf>, name: impl Into<String>) -> Experiment {
        self.folder = Folder::free(parent, name);
        self
    }

    /// Runs everything.
    ///
    /// # Errors
    /// When a point does not hold or cannot be run, before any trial; later [`Error::Experiment`],
    /// which holds the trials that have run.
    pub fn run(&self) -> Result<Results, Error> {
        self.run_with(&mut ())
    }

    /// The same, with an observer, which may stop it.
    ///
    /// # Errors
    /// As [`Experiment::run`].
    pub fn run_with(&self, observer: &mut dyn Observer) -> Result<Results, Error> {
        if let Some((path, _)) = self.axes.iter().find(|(_, values)| values.is_empty()) {
            return Err(Error::Asked(format!(
                "`{path}` is varied over no values; give it one at least"
            )));
        }
        let grid = self.grid();
        // A mistake in the last point is told before the first is run, and what cannot be run
        // leaves no folder.
        for settings in &grid {
            self.check(settings)?;
        }
        let mut results = Results {
            folder: self.folder.take()?,
            ..Results::default()
        };
        let _lock = match &results.folder {
            Some(folder) if !self.axes.is_empty() => points::begin(folder, &grid)?,
            _ => None,
        };
        for (number, settings) in grid.into_iter().enumerate() {
            let folder = match (&results.folder, self.axes.as_slice()) {
                (Some(folder), []) => Some(folder.clone()),
                (Some(folder), _) => Some(folder.join(points::name(number))),
                (None, _) => None,
            };
            let mut point = Point {
                settings,
                trials: Vec::new(),
                partial: None,
            };
            let end = self.point(&mut point, folder.as_deref(), observer);
            results.points.push(point);
            match end {
                Ok(was_cancelled) => results.was_cancelled = was_cancelled,
                Err(source) => {
                    return Err(Error::Experiment {
                        results: Box::new(results),
                        source: Box::new(source),
                    });
                }
            }
            if results.was_cancelled {
                break;
            }
        }
        Ok(results)
    }

    /// All combinations of the values, the last axis running fastest.
    fn grid(&self) -> Vec<Vec<(String, String)>> {
        let mut grid = vec![Vec::new()];
        for (path, values) in &self.axes {
            let longer = grid.iter().flat_map(|point| {
                values.iter().map(|value| {
                    let mut point = point.clone();
                    point.push((path.clone(), value.clone()));
                    point
                })
            });
            grid = longer.collect();
        }
        grid
    }

    fn plan(&self, settings: &[(String, String)], seed: Option<u64>) -> Result<Plan, Error> {
        let mut scenario = self.scenario.clone();
        for (path, value) in settings {
            scenario = scenario.set(path, value);
        }
        if let Some(seed) = seed {
            scenario = scenario.seed(seed);
        }
        scenario.resolve()
    }

    /// Whether a point can be run.
    fn check(&self, settings: &[(String, String)]) -> Result<(), Error> {
        let plan = self.plan(settings, None)?;
        self.last_seed(plan.seed())?;
        plan.check_memory(self.force)?;
        plan.check()
    }

    fn last_seed(&self, first: u64) -> Result<u64, Error> {
        first.checked_add(u64::from(self.seeds) - 1).ok_or_else(|| {
            let count = self.seeds;
            Error::Asked(format!(
                "there are no {count} seeds from {first} on; give a smaller seed"
            ))
        })
    }

    /// Runs one point with all seeds; whether it was stopped. What has run is in the point and in
    /// its folder, whatever comes of the rest.
    fn point(
        &self,
        point: &mut Point,
        folder: Option<&Path>,
        observer: &mut dyn Observer,
    ) -> Result<bool, Error> {
        let first = self.plan(&point.settings, None)?.seed();
        let last = self.last_seed(first)?;
        let _lock = match folder {
            Some(folder) => begin(folder, first..=last)?,
            None => None,
        };
        let end = self.seeds_of(point, first..=last, folder, observer);
        if let Some(folder) = folder {
            let trials = point.trials.iter();
            let trials = trials.map(|trial| (trial.summary().seed, trial.digest()));
            let written = write_seed_rows(folder, &point.rows(), &trials.collect::<Vec<_>>());
            return end.and_then(|stopped| Ok(written.map(|()| stopped)?));
        }
        end
    }

    /// Runs all seeds of a point; whether it was stopped.
    fn seeds_of(
        &self,
        point: &mut Point,
        seeds: RangeInclusive<u64>,
        folder: Option<&Path>,
        observer: &mut dyn Observer,
    ) -> Result<bool, Error> {
        let first = *seeds.start();
        for seed in seeds {
            if observer.is_cancelled() {
                return Ok(true);
            }
            let title = title(&point.settings, seed, seed - first + 1, self.seeds);
            let run = self.trial(&point.settings, seed, folder)?.title(title);
            let kept = |trial: Trial| match folder {
                Some(_) => trial.without_tables(),
                None => trial,
            };
            match run.run_with(observer) {
                Ok(trial) if trial.was_cancelled() => {
                    point.partial = Some(kept(trial));
                    return Ok(true);
                }
                Ok(trial) => point.trials.push(kept(trial)),
                Err(Error::NotWritten { trial, source }) => {
                    point.trials.push((*trial).clone());
                    return Err(Error::NotWritten { trial, source });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }

    fn trial(
        &self,
        settings: &[(String, String)],
        seed: u64,
        folder: Option<&Path>,
    ) -> Result<Run, Error> {
        let plan = self.plan(settings, Some(seed))?;
        let mut run = Run::new(&plan).threads(self.threads).force(self.force);
        if let Some(asked) = self.interference {
            run = run.interference(asked);
        }
        if let Some(folder) = folder {
            run = run.folder(seed_folder(folder, seed)).reuse();
        }
        Ok(run)
    }
}

/// What an observer hears of a trial: its settings, its seed, and the how-manieth it is.
fn title(settings: &[(String, String)], seed: u64, nth: u64, of: u32) -> String {
    let settings: Vec<String> = settings
        .iter()
        .map(|(path, value)| format!("{path}={value}"))
        .collect();
    match (settings.join(" "), of) {
        (settings, 1) if !settings.is_empty() => settings,
        (settings, _) => {
            let gap = if settings.is_empty() { "" } else { ", " };
            format!("{settings}{gap}seed {seed} ({nth} of {of})")
        }
    }
}

/// Takes a folder for the trials of these seeds, and clears it of those of others; a folder that
/// holds something else is left alone.
fn begin(folder: &Path, seeds: RangeInclusive<u64>) -> Result<Option<File>, Error> {
    if !takes_seeds(folder)? {
        let folder = folder.display();
        return Err(Error::Asked(format!(
            "{folder} holds something else than the trials of several seeds; name another folder, or an empty one"
        )));
    }
    let lock = take_folder(folder)?;
    clear_seeds(folder, |old| seeds.contains(&old))?;
    Ok(lock)
}
