//! What is known of the trials of a sweep before the first of them runs.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};
use tenter_study::{SeedOf, SweepTrial, TrialSeed};
use tenter_units::{Budget, Resource};

use super::run::SweepRun;
use crate::identity::sources;
use crate::{Error, Plan};

/// What a trial is known by.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) key: String,
    /// The name of its scenario.
    pub(super) name: String,
    /// The seeds that differ from trial to trial.
    pub(super) seeds: Vec<u64>,
}

/// What the first trial of a variant at a point has told.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct First {
    /// The seeds of its scenario.
    seeds: OwnSeeds,
    pub(super) packet_hops: f64,
    pub(super) memory_bytes: u64,
}

/// The seeds that a scenario has of its own.
#[derive(Clone, Copy, Debug, Default)]
struct OwnSeeds {
    seed: u64,
    placement: u64,
    hashing: u64,
    arrivals: u64,
}

impl OwnSeeds {
    fn of(plan: &Plan) -> OwnSeeds {
        let plan = plan.resolved();
        OwnSeeds {
            seed: plan.seed,
            placement: plan.seeds.placement,
            hashing: plan.seeds.hashing,
            arrivals: plan.seeds.arrivals,
        }
    }

    fn get(self, of: SeedOf) -> u64 {
        match of {
            SeedOf::Trial => self.seed,
            SeedOf::Placement => self.placement,
            SeedOf::Hashing => self.hashing,
            SeedOf::Arrivals => self.arrivals,
        }
    }
}

/// Resolves the first trial of each variant and point, each within a budget of its own.
pub(super) fn check(
    run: &SweepRun,
    trials: &[SweepTrial],
    budget: impl Fn() -> Budget,
) -> Result<Vec<First>, Error> {
    let mut firsts: Vec<Option<First>> = vec![None; run.cells()];
    for trial in trials {
        let first = &mut firsts[run.cell(trial)];
        if first.is_none() {
            *first = Some(First::of(run, trial, &budget())?);
        }
    }
    // Cells that `only` leaves out are never looked up.
    Ok(firsts.into_iter().map(Option::unwrap_or_default).collect())
}

/// The same, as far as the time of one budget goes, but for at least one trial.
pub(super) fn check_some(
    run: &SweepRun,
    trials: &[SweepTrial],
    budget: &Budget,
) -> Result<(), Error> {
    let mut is_checked = vec![false; run.cells()];
    for trial in trials {
        let is_first = !is_checked.contains(&true);
        if std::mem::replace(&mut is_checked[run.cell(trial)], true) {
            continue;
        }
        let part = budget.renewed();
        match First::of(run, trial, &part) {
            Err(_) if !is_first && part.refused() == Some(Resource::Time) => return Ok(()),
            checked => checked?,
        };
    }
    Ok(())
}

impl First {
    /// Of a trial, whatever its seeds.
    fn of(run: &SweepRun, trial: &SweepTrial, budget: &Budget) -> Result<First, Error> {
        let own = SweepTrial {
            seeds: vec![TrialSeed::After(0); trial.seeds.len()],
            ..trial.clone()
        };
        let planned = || {
            let plan = run.plan(&own, None, budget)?;
            let cost = plan.checked(budget)?.cost(budget)?;
            Ok(First {
                seeds: OwnSeeds::of(&plan),
                packet_hops: cost.packet_hops,
                memory_bytes: cost.peak_bytes,
            })
        };
        planned().map_err(|error| Error::Trial {
            name: run.title(trial),
            source: Box::new(error),
        })
    }
}

/// What each trial is known by, or why it cannot be run; plans are made side by side.
pub(super) fn prepared(
    run: &SweepRun,
    trials: &[SweepTrial],
    firsts: &[First],
) -> Vec<Result<Known, String>> {
    let known = |trial: &SweepTrial| {
        let plan = run.plan(trial, Some(&firsts[run.cell(trial)]), &run.budget());
        let plan = plan.map_err(|error| error.to_string())?;
        let seeds = OwnSeeds::of(&plan);
        Ok(Known {
            key: match run.named_folder(trial, plan.resolved().seed) {
                // Equal trials of a study lie in folders of their own.
                Some(folder) => format!("{} {}", key(&plan), folder.display()),
                None => key(&plan),
            },
            name: plan.name().to_owned(),
            seeds: run.sweep.seed_kinds().map(|of| seeds.get(of)).collect(),
        })
    };
    let each = trials.len().div_ceil(run.workers).max(1);
    std::thread::scope(|scope| {
        let parts = trials.chunks(each);
        let parts: Vec<_> = parts
            .map(|part| scope.spawn(move || part.iter().map(known).collect::<Vec<_>>()))
            .collect();
        let joined = parts.into_iter().map(|part| match part.join() {
            Ok(known) => known,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        joined.flatten().collect()
    })
}

impl SweepRun {
    /// The plan of a trial; `first` has the seeds of its scenario, where they are known.
    pub(super) fn plan(
        &self,
        trial: &SweepTrial,
        first: Option<&First>,
        budget: &Budget,
    ) -> Result<Plan, Error> {
        let settings = trial.settings.iter().cloned();
        let mut scenario = settings.fold(self.base.clone(), crate::Scenario::with_setting);
        for (of, seed) in self.sweep.seed_kinds().zip(&trial.seeds) {
            let seed = match (seed, first) {
                (TrialSeed::Is(seed), _) => *seed,
                // The scenario has it already.
                (TrialSeed::After(0), _) | (_, None) => continue,
                (TrialSeed::After(more), Some(first)) => {
                    let own = first.seeds.get(of);
                    own.checked_add(*more).ok_or_else(|| {
                        Error::Asked(format!(
                            "there are no {more} seeds after {own}; give a smaller `{}`",
                            of.path()
                        ))
                    })?
                }
            };
            scenario = match of {
                SeedOf::Trial => scenario.seed(seed),
                kind => scenario.set(kind.path(), seed),
            };
        }
        scenario.resolve_within(budget)
    }
}

/// What a trial is known by: its whole configuration and the program that runs it.
fn key(plan: &Plan) -> String {
    let loaded = plan.loaded();
    let mut digest = Sha256::new();
    let mut add = |bytes: &[u8]| {
        digest.update((bytes.len() as u64).to_le_bytes());
        digest.update(bytes);
    };
    add(env!("CARGO_PKG_VERSION").as_bytes());
    add(sources().as_bytes());
    add(loaded.effective.as_bytes());
    for (name, bytes) in &loaded.beside() {
        add(name.as_bytes());
        add(bytes);
    }
    let mut text = String::new();
    for byte in digest.finalize() {
        let _ = write!(text, "{byte:02x}");
    }
    text
}
