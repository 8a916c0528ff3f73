//! Runs one scenario several times: over seeds, and over grids with varied settings.

use std::fmt::Display;
use std::fs::File;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use crate::report::{clear_seeds, seed_folder, take_folder, takes_seeds, write_seed_rows};
use tenter_sim::Interference;

use crate::folder::Folder;
use crate::observer::Observer;
use crate::points;
use crate::results::{Point, Results};
use crate::{Error, Plan, Run, Scenario, Trial, usual_threads};

/// A scenario that is run several times: with several seeds, and at each point in a settings grid.
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
    /// Prepares one trial of a scenario, in memory, on [`usual_threads`] threads.
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

    /// Runs each point with `count` seeds (at least 1), counting up from the scenario's own.
    pub fn seeds(mut self, count: u32) -> Experiment {
        self.seeds = count.max(1);
        self
    }

    /// Varies the key `path`, written as for [`Scenario::set`], over `values`; several keys make a
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

    /// Uses at most `threads` threads for each trial.
    pub fn threads(mut self, threads: u16) -> Experiment {
        self.threads = threads;
        self
    }

    /// Measures in each trial what jobs cost each other, whatever the scenario says.
    pub fn interference(mut self, asked: Interference) -> Experiment {
        self.interference = Some(asked);
        self
    }

    /// With `true`, runs even trials that are expected to take more memory than there is.
    pub fn force(mut self, force: bool) -> Experiment {
        self.force = force;
        self
    }

    /// Writes the trials to `FOLDER/seed-N`, with a table over all seeds. If keys are varied, each
    /// point has a folder to itself: `point-1`, `point-2`, …, and `points.json` lists their
    /// settings. Finished trials that an earlier run left there are not run again.
    ///
    /// Only each trial's summary stays in memory; [`Trial::open`] reads its tables from its folder.
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Experiment {
        self.folder = Folder::At(folder.into());
        self
    }

    /// Writes the trials to a new folder `name` below `parent`, or to `NAME-2`, `NAME-3`, … if that
    /// is taken. [`Results::folder`] tells which.
    pub fn new_folder(mut self, parent: impl Into<PathBuf>, name: impl Into<String>) -> Experiment {
        self.folder = Folder::free(parent, name);
        self
    }

    /// Runs all trials, point by point and seed by seed.
    ///
    /// # Errors
    /// Before any trial: when a point is invalid or cannot be run. Later: [`Error::Experiment`],
    /// which holds the trials that have run.
    pub fn run(&self) -> Result<Results, Error> {
        self.run_with(&mut ())
    }

    /// Runs all trials with an observer, which may stop them.
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
        // All points are checked first: a mistake in the last one is reported before hours of
        // trials, and an experiment that cannot run leaves no folder.
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
            // Before the error is looked at: trials that have run belong to the results.
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

    /// Lists all combinations of varied values; the last axis runs fastest.
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

    /// Refuses a point that is invalid, lacks seeds or memory, or cannot be built.
    fn check(&self, settings: &[(String, String)]) -> Result<(), Error> {
        let plan = self.plan(settings, None)?;
        self.last_seed(plan.seed())?;
        plan.check_memory(self.force)?;
        plan.check()
    }

    fn last_seed(&self, first: u64) -> Result<u64, Error> {
        // `seeds` is at least 1.
        first.checked_add(u64::from(self.seeds) - 1).ok_or_else(|| {
            let count = self.seeds;
            Error::Asked(format!(
                "there are no {count} seeds from {first} on; give a smaller seed"
            ))
        })
    }

    /// Runs one point with all seeds and returns true if it was stopped. Trials that have run are
    /// in `point` and in its folder even if a later one fails.
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
        // The table of seeds is written after an error too: it lists the trials that have run.
        if let Some(folder) = folder {
            let trials = point.trials.iter();
            let trials = trials.map(|trial| (trial.summary().seed, trial.digest()));
            let written = write_seed_rows(folder, &point.rows(), &trials.collect::<Vec<_>>());
            return end.and_then(|stopped| Ok(written.map(|()| stopped)?));
        }
        end
    }

    /// Runs a point's seeds one by one and returns true if it was stopped.
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
                    // A trial that was stopped would distort the statistics over seeds: it stands
                    // apart.
                    point.partial = Some(kept(trial));
                    return Ok(true);
                }
                Ok(trial) => point.trials.push(kept(trial)),
                // The trial is whole in memory, so it counts although its folder does not.
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

/// Names a trial for observers: its settings, its seed, and its number among the seeds.
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

/// Takes and locks a folder for trials with these `seeds`, and removes trials with other seeds from
/// it. A folder that holds anything else is refused and left alone.
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
