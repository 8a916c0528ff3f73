//! Seeds for a sweep: a count or a list, for all draws together or for single kinds.

use std::collections::BTreeSet;

use tenter_language::config::Written;

use crate::studies::chosen::ChosenSeeds;
use crate::studies::typed::typed;

/// Kind of random draws that a seed determines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeedOf {
    /// All draws without a kind of their own.
    Trial,
    /// The hosts on which jobs are placed.
    Placement,
    /// Hashes and random draws in switches and NICs.
    Hashing,
    /// Draws in jobs: flow arrivals and sizes, patterns and permutations.
    Arrivals,
}

impl SeedOf {
    /// Kinds with seeds of their own.
    const KINDS: [SeedOf; 3] = [SeedOf::Placement, SeedOf::Hashing, SeedOf::Arrivals];

    /// Returns the seed's path in a scenario.
    pub fn path(self) -> &'static str {
        match self {
            SeedOf::Trial => "seed",
            SeedOf::Placement => "seeds.placement",
            SeedOf::Hashing => "seeds.hashing",
            SeedOf::Arrivals => "seeds.arrivals",
        }
    }

    /// Returns the key below `seeds` in a sweep's description.
    fn key(self) -> &'static str {
        self.path().trim_start_matches("seeds.")
    }
}

/// One of a trial's seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrialSeed {
    /// The scenario's seed plus this number.
    After(u64),
    /// This number, whatever seed the scenario has.
    Is(u64),
}

/// Most seeds that a count may ask for.
const SEEDS_MAX: u64 = 100_000;

/// All seeds that a sweep runs, from the key `seeds`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Seeds {
    /// Kinds that change together from trial to trial, with equally many values each.
    of: Vec<(SeedOf, Values)>,
    /// Conditions by which seeds are chosen, for a mapping with `runs`.
    pub(super) chosen: Option<ChosenSeeds>,
}

/// Values that one kind's seed takes from trial to trial.
#[derive(Clone, Debug, PartialEq)]
enum Values {
    /// This many, counted from the scenario's seed.
    Count(u64),
    /// Exactly the listed seeds, all different.
    Listed(Vec<u64>),
}

impl Seeds {
    /// Reads the key `seeds`: a count, a list, a mapping with one of these for each kind, or
    /// conditions with `runs`.
    ///
    /// # Errors
    /// Says what is wrong, and the remedy.
    pub(super) fn read(written: &Written) -> Result<Seeds, String> {
        let Written::Map(keys) = written else {
            let values = Values::read("seeds", written)?;
            return Ok(Seeds {
                of: vec![(SeedOf::Trial, values)],
                chosen: None,
            });
        };
        // Only a choice by conditions has `runs`; the other mapping has kinds of seed as keys.
        if keys.iter().any(|(key, _)| key == "runs") {
            let chosen: ChosenSeeds = typed(written).map_err(|what| format!("`seeds`: {what}"))?;
            let (runs, last) = (chosen.runs as u64, *chosen.candidates().end());
            if !(1..=SEEDS_MAX).contains(&runs) || !(runs..=SEEDS_MAX).contains(&last) {
                return Err(format!(
                    "`seeds.runs` is from 1 to {SEEDS_MAX}, and `looked_at` from there on"
                ));
            }
            return Ok(Seeds::of_chosen(chosen));
        }
        let of = keys.iter().map(|(key, written)| {
            let kinds = SeedOf::KINDS;
            let kind = kinds.into_iter().find(|kind| kind.key() == key);
            let kind = kind.ok_or_else(|| {
                let help =
                    tenter_language::units::suggestion(key, kinds.into_iter().map(SeedOf::key));
                format!("`seeds` has the key `{key}`, and no draws are called that; {help}")
            })?;
            Ok((kind, Values::read(kind.path(), written)?))
        });
        let of = of.collect::<Result<Vec<_>, String>>()?;
        let Some((first, values)) = of.first() else {
            return Err("`seeds` is empty; write `seeds: 10`, for example".to_owned());
        };
        match of.iter().find(|(_, other)| other.len() != values.len()) {
            Some((other, _)) => Err(format!(
                "`seeds` change together, and `{}` and `{}` have not equally many; give both the same number",
                first.key(),
                other.key()
            )),
            None => Ok(Seeds { of, chosen: None }),
        }
    }

    /// Makes the seeds for a choice by conditions: the first candidates stand for those that the
    /// caller finds by building plans.
    fn of_chosen(chosen: ChosenSeeds) -> Seeds {
        let first = chosen.candidates().take(chosen.runs).collect();
        Seeds {
            of: vec![(SeedOf::Trial, Values::Listed(first))],
            chosen: Some(chosen),
        }
    }

    /// Keeps the first `most` seeds.
    pub(super) fn limited(self, most: usize) -> Seeds {
        if let Some(mut chosen) = self.chosen {
            // The default for `looked_at` is `runs`: fixing it first keeps the candidates as `runs`
            // shrinks.
            chosen.looked_at = Some(*chosen.candidates().end());
            chosen.runs = chosen.runs.min(most);
            return Seeds::of_chosen(chosen);
        }
        let of = self.of.into_iter().map(|(of, values)| match values {
            Values::Count(count) => (of, Values::Count(count.min(most as u64))),
            Values::Listed(mut seeds) => {
                seeds.truncate(most);
                (of, Values::Listed(seeds))
            }
        });
        Seeds {
            of: of.collect(),
            chosen: None,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.of.first().map_or(0, |(_, values)| values.len())
    }

    /// Returns the seed kinds that change.
    pub(super) fn kinds(&self) -> impl Iterator<Item = SeedOf> + '_ {
        self.of.iter().map(|(of, _)| *of)
    }

    /// Returns each trial's seeds, one for each kind.
    pub(super) fn each(&self) -> impl Iterator<Item = Vec<TrialSeed>> + '_ {
        (0..self.len()).map(|nth| self.of.iter().map(|(_, values)| values.nth(nth)).collect())
    }
}

impl Values {
    fn read(path: &str, written: &Written) -> Result<Values, String> {
        let whole = |value: &Written| match value {
            // A quoted number is a text, not a number.
            Written::Word(word) => word.parse::<u64>().ok(),
            _ => None,
        };
        let wrong = || {
            format!(
                "`{path}: {written}` is neither a count nor a list; write `seeds: 10` or `seeds: [1, 2, 3]`"
            )
        };
        if let Written::List(items) = written {
            let seeds: Option<Vec<u64>> = items.iter().map(whole).collect();
            let seeds = seeds.filter(|seeds| !seeds.is_empty()).ok_or_else(wrong)?;
            let distinct: BTreeSet<&u64> = seeds.iter().collect();
            if distinct.len() < seeds.len() {
                return Err(format!("`{path}` lists a seed twice; keep one of them"));
            }
            return Ok(Values::Listed(seeds));
        }
        match whole(written) {
            Some(count) if (1..=SEEDS_MAX).contains(&count) => Ok(Values::Count(count)),
            Some(_) => Err(format!(
                "`{path}` is a count from 1 to {SEEDS_MAX}, or a list"
            )),
            None => Err(wrong()),
        }
    }

    fn len(&self) -> usize {
        match self {
            Values::Count(count) => *count as usize,
            Values::Listed(seeds) => seeds.len(),
        }
    }

    fn nth(&self, nth: usize) -> TrialSeed {
        match self {
            Values::Count(_) => TrialSeed::After(nth as u64),
            Values::Listed(seeds) => TrialSeed::Is(seeds[nth]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{SeedOf, Seeds, TrialSeed, Values};
    use tenter_language::config::Written;

    fn word(text: &str) -> Written {
        Written::word(text)
    }

    fn map(keys: &[(&str, Written)]) -> Written {
        let keys = keys.iter();
        Written::Map(
            keys.map(|(key, value)| ((*key).to_owned(), value.clone()))
                .collect(),
        )
    }

    #[test]
    fn kinds_of_seeds_change_together() {
        let list = Written::List(vec![word("7"), word("9")]);
        let seeds = Seeds::read(&map(&[("hashing", word("2")), ("arrivals", list)]));
        let seeds = seeds.expect("both have two");
        let each: Vec<_> = seeds.each().collect();
        assert_eq!(
            each,
            [
                [TrialSeed::After(0), TrialSeed::Is(7)],
                [TrialSeed::After(1), TrialSeed::Is(9)]
            ]
        );
        let kinds: Vec<SeedOf> = seeds.kinds().collect();
        assert_eq!(kinds, [SeedOf::Hashing, SeedOf::Arrivals]);
        assert_eq!(
            Seeds::read(&word("3")).expect("a count").of,
            [(SeedOf::Trial, Values::Count(3))]
        );
    }

    #[test]
    fn a_mapping_has_known_kinds_with_equally_many_seeds() {
        for (written, expected) in [
            (
                map(&[("hash", word("2"))]),
                "choose from placement, hashing, arrivals",
            ),
            (
                map(&[("hashing", word("2")), ("placement", word("3"))]),
                "not equally many",
            ),
            (map(&[]), "is empty"),
            (map(&[("hashing", word("x"))]), "seeds.hashing"),
        ] {
            let error = Seeds::read(&written).expect_err("it is wrong");
            assert!(error.contains(expected), "{written}: {error}");
        }
    }
}
