//! The keys of a sweep's description.

use tenter_config::{Named, Reader, Value as _, Written, choice, component};

/// Names and paths have no more characters.
const WORDS: usize = 4_096;
/// More points than a ledger should hold.
pub(super) const SAMPLES_MAX: u32 = 1_000_000;

component! {
    /// A sweep: a scenario, what is varied, and what is read of its trials.
    pub struct SweepKeys as "the sweep", derive(Clone, Debug, PartialEq) {
        /// What the sweep is called; also the name of its folder.
        name: String = "\"\"", in 200;
        /// What it is about, in a sentence.
        description: String = "\"\"", in WORDS;
        /// The scenario that is varied: a file, whose path counts from this one, or `preset:NAME`.
        scenario: String, in WORDS;
        /// Settings of all trials: a path of the scenario and its value; `default` removes a key.
        set: Named<Written> = "{}";
        /// Named bundles of settings that are compared with each other.
        variants: Named<Named<Written>> = "{}";
        /// Paths of the scenario, and the values that each of them takes: a list, or a range
        /// `{from, to, step}` or `{from, to, factor}`.
        axes: Named<Written> = "{}";
        /// How values of several axes are combined: every combination, the first ones together and
        /// the second ones together, or as many draws as `samples` says.
        design: Design = "grid";
        /// Points of a `random` or `latin-hypercube` design.
        samples: u32 = "0", in 0..=SAMPLES_MAX;
        /// Seed of the draws of these designs.
        design_seed: u64 = "1", in 0..=u64::MAX;
        /// Seeds of each point: how many, from the scenario's own seed on, or a list of seeds.
        seeds: Written = "1";
        /// What is read of each trial; the completion time of each job where none is given.
        readings: Vec<ReadingKeys> = "[]";
        /// What is kept of each trial beside its readings: its summary in the ledger, or also its
        /// folder with all tables.
        keep: Keep = "summary";
        check design_has_samples;
    }
}

component! {
    /// What is read of each trial.
    pub struct ReadingKeys as "`readings[]`", derive(Clone, Debug, PartialEq) {
        /// What it is called, for instance `slowest job`.
        name: String, in 200;
        /// The table of the trial, as the data dictionary names it.
        table: String = "jobs", in 64;
        /// The column; the value is in its unit.
        column: String, in 64;
        /// Which rows count: columns and the values that they have, for instance `{job_name:
        /// train}`.
        only as "where": Named<Written> = "{}";
        /// What is made of the rows of one trial.
        take: Take = "greatest";
        /// What is made of the values of several seeds.
        statistic: Statistic = "median";
        /// The variant that the value is divided by, seed by seed, at the same point.
        against: String = "\"\"", in 200;
        /// Which values are better, for the winner among variants.
        better: Better = "less";
        /// Lower and upper end of the values that are expected, for instance `[0.9, 1.1]`: a sweep
        /// with a value outside ends with exit code 1.
        band: Option<Vec<Written>> = "none";
        check band_has_two_ends;
    }
}

/// How values of several axes are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Design {
    /// Every value with every other.
    Grid,
    /// The first values together, the second values together, and so on.
    Zip,
    /// Each value drawn by itself.
    Random,
    /// Each axis cut into as many parts as there are samples, each part used once.
    LatinHypercube,
}
choice!(Design {
    "grid" => Grid,
    "zip" => Zip,
    "random" => Random,
    "latin-hypercube" => LatinHypercube,
});

/// What is kept of each trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Its summary and its readings.
    Summary,
    /// Its folder, too.
    Tables,
}
choice!(Keep { "summary" => Summary, "tables" => Tables });

/// What is made of the rows of one trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Take {
    /// The least.
    Least,
    /// The arithmetic mean.
    Mean,
    /// The one in the middle; of an even number the lower one.
    Median,
    /// What 95 % do not exceed.
    P95,
    /// What 99 % do not exceed.
    P99,
    /// What 99.9 % do not exceed.
    P999,
    /// The greatest.
    Greatest,
    /// The sum.
    Sum,
    /// How many rows have a value.
    Count,
}
choice!(Take {
    "least" => Least,
    "mean" => Mean,
    "median" => Median,
    "p95" => P95,
    "p99" => P99,
    "p99.9" => P999,
    "greatest" => Greatest,
    "sum" => Sum,
    "count" => Count,
});

/// What is made of the values of several seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// The one in the middle; of an even number the lower one.
    Median,
    /// The arithmetic mean.
    Mean,
    /// The least.
    Least,
    /// The greatest.
    Greatest,
}
choice!(Statistic {
    "median" => Median,
    "mean" => Mean,
    "least" => Least,
    "greatest" => Greatest,
});

/// Which values are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// The smaller one, as of times.
    Less,
    /// The larger one, as of bandwidths.
    More,
}
choice!(Better { "less" => Less, "more" => More });

impl Take {
    /// What it makes of values; nothing where there are none.
    pub(super) fn of(self, mut values: Vec<f64>) -> Option<f64> {
        values.sort_unstable_by(f64::total_cmp);
        let last = values.len().checked_sub(1)?;
        let sum: f64 = values.iter().sum();
        // The rank that is not exceeded by so many of a thousand, counted from 0.
        let rank = |thousandths: usize| (values.len() * thousandths).div_ceil(1_000) - 1;
        Some(match self {
            Take::Least => values[0],
            Take::Mean => sum / values.len() as f64,
            Take::Median => values[rank(500)],
            Take::P95 => values[rank(950)],
            Take::P99 => values[rank(990)],
            Take::P999 => values[rank(999)],
            Take::Greatest => values[last],
            Take::Sum => sum,
            Take::Count => values.len() as f64,
        })
    }
}

impl Statistic {
    /// What it makes of the values of seeds; nothing where there are none.
    pub(super) fn of(self, values: Vec<f64>) -> Option<f64> {
        let take = match self {
            Statistic::Median => Take::Median,
            Statistic::Mean => Take::Mean,
            Statistic::Least => Take::Least,
            Statistic::Greatest => Take::Greatest,
        };
        take.of(values)
    }

    /// Its word.
    pub(super) fn word(self) -> &'static str {
        match self {
            Statistic::Median => "median",
            Statistic::Mean => "mean",
            Statistic::Least => "least",
            Statistic::Greatest => "greatest",
        }
    }
}

impl ReadingKeys {
    /// What it reads, in a text that two readings of the same have alike.
    pub fn identity(&self) -> String {
        let only = self.only.written();
        let take = self.take.written();
        format!("{} of {}.{} where {only}", take, self.table, self.column)
    }

    /// The ends of the band, where there is one.
    pub fn band(&self) -> Option<[f64; 2]> {
        let ends = self.band.as_ref()?.iter().map(number);
        match ends.collect::<Option<Vec<f64>>>()?.as_slice() {
            &[low, high] if low <= high => Some([low, high]),
            _ => None,
        }
    }
}

/// A decimal number.
pub(super) fn number(value: &Written) -> Option<f64> {
    let Written::Word(word) = value else {
        return None;
    };
    word.parse().ok().filter(|number: &f64| number.is_finite())
}

fn band_has_two_ends(reading: &ReadingKeys, reader: &mut dyn Reader) -> bool {
    let holds = reading.band.is_none() || reading.band().is_some();
    if !holds {
        reader.refuse("band", "is no band", "write two numbers: `[0.9, 1.1]`");
    }
    holds
}

fn design_has_samples(sweep: &SweepKeys, reader: &mut dyn Reader) -> bool {
    let drawn = matches!(sweep.design, Design::Random | Design::LatinHypercube);
    if drawn && sweep.samples == 0 {
        reader.refuse(
            "samples",
            "is 0, and the design draws as many points as it says",
            "write for example `samples: 100`",
        );
        return false;
    }
    if !drawn && sweep.samples > 0 {
        reader.refuse(
            "samples",
            "means nothing in this design, whose points follow from the axes",
            "leave it out, or choose `design: latin-hypercube`",
        );
        return false;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_a_value_that_occurred() {
        let values = || (1..=200).map(f64::from).collect::<Vec<f64>>();
        let of = |take: Take| take.of(values()).expect("there are values");
        // 95 % of 200 are 190 values, 99 % are 198, 99.9 % more than 199.
        let taken = [Take::Median, Take::P95, Take::P99, Take::P999].map(of);
        assert_eq!(
            taken.map(f64::to_bits),
            [100.0, 190.0, 198.0, 200.0].map(f64::to_bits)
        );
        assert_eq!(Take::P99.of(Vec::new()), None);
        assert_eq!(Take::Median.of(vec![7.0]), Some(7.0));
    }
}
