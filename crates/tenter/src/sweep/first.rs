//! Facts about a sweep's trials before the first one runs.

use std::fmt::Write as _;

use crate::studies::{SeedOf, SweepTrial, TrialSeed};
use sha2::{Digest as _, Sha256};
use tenter_language::units::{Budget, Resource};

use super::order::TrialOrder;
use super::run::SweepRun;
use crate::identity::sources;
use crate::{Error, Plan};

/// Identity of a trial.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) key: String,
    /// Name of the scenario.
    pub(super) name: String,
    /// The seeds that differ from trial to trial.
    pub(super) seeds: Vec<u64>,
    /// The scenario's seed.
    pub(super) seed: u64,
    /// Short orders for another process are kept, so that the trial is not resolved again for it.
    pub(super) order: Option<Box<TrialOrder>>,
}

/// Longest configuration of an order that is kept, in bytes.
const ORDER_BYTES: usize = 16 << 10;

/// Facts that all trials of one variant and point share, from resolving the first.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct First {
    /// The scenario's seeds, before any are varied.
    seeds: OwnSeeds,
    pub(super) packet_hops: f64,
    pub(super) memory_bytes: u64,
}

/// Seeds in a scenario as written, or by default.
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

/// Resolves the first trial for each variant and point, each within a fresh budget.
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
    // Cells that `only` leaves out keep the default: nothing reads them.
    Ok(firsts.into_iter().map(Option::unwrap_or_default).collect())
}

/// Checks as [`check`] does, until the time in one budget is used up, but at least one trial.
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
        // Running out of time says nothing against the scenario, unless its first trial alone
        // exceeds the limit.
        match First::of(run, trial, &part) {
            Err(_) if !is_first && part.refused() == Some(Resource::Time) => return Ok(()),
            checked => checked?,
        };
    }
    Ok(())
}

impl First {
    /// Resolves a trial with the scenario's own seeds: its seeds do not matter for cost.
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

/// Resolves all trials on `run.workers` threads, and returns the identity of each, or why it cannot
/// run.
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
                // Studies may have equal trials, and each case has a folder: the key must differ
                // with it.
                Some(folder) => format!("{} {}", key(&plan), folder.display()),
                None => key(&plan),
            },
            name: plan.name().to_owned(),
            seeds: run.sweep.seed_kinds().map(|of| seeds.get(of)).collect(),
            seed: plan.resolved().seed,
            order: (run.program.is_some() && is_short(&plan))
                .then(|| Box::new(TrialOrder::bare(&plan))),
        })
    };
    let each = trials.len().div_ceil(run.workers).max(1);
    std::thread::scope(|scope| {
        let parts = trials.chunks(each);
        let parts: Vec<_> = parts
            .map(|part| scope.spawn(move || part.iter().map(known).collect::<Vec<_>>()))
            .collect();
        // Joined in the order of the trials, whichever thread ends first.
        let joined = parts.into_iter().map(|part| match part.join() {
            Ok(known) => known,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        joined.flatten().collect()
    })
}

fn is_short(plan: &Plan) -> bool {
    let loaded = plan.loaded();
    loaded.effective.len() <= ORDER_BYTES && loaded.bytes_beside() == 0
}

impl SweepRun {
    /// Resolves a trial. `first` has the scenario's own seeds, from which relative seeds count;
    /// without it only those that need no counting are set.
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
                // The scenario has its own seed already.
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

/// Digest over configuration, files and program. Each part is preceded by its length, so that no
/// two inputs read alike.
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
