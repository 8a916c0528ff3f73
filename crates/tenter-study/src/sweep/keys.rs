//! The keys of a sweep's description.

use super::chart_keys::ChartKeys;
use super::limits::{SAMPLES_MAX, WORDS};
use crate::gate::Gate;
use tenter_config::{Named, Reader, Written, choice, component};
use tenter_record::Statistic;

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
        /// `{from, to}` with a `step`, a `factor` or a `count`; designs that draw need none of
        /// them. With `scale: log` draws and counts are even in the logarithm.
        axes: Named<Written> = "{}";
        /// How values of several axes are combined: every combination, the first ones together and
        /// the second ones together, or as many draws as `samples` says.
        design: Design = "grid";
        /// Points of a `random` or `latin-hypercube` design.
        samples: u32 = "0", in 0..=SAMPLES_MAX;
        /// Seed of the draws of these designs.
        design_seed: u64 = "1", in 0..=u64::MAX;
        /// Seeds of each point: how many, from the scenario's own seed on, or a list of seeds; or a
        /// mapping from `placement`, `hashing` and `arrivals` to that, which holds the others.
        seeds: Written = "1";
        /// What is read of each trial; the completion time of each job where none is given.
        readings: Vec<ReadingKeys> = "[]";
        /// Pictures of the page; where none is named, all are drawn that say something.
        charts: Vec<ChartKeys> = "[]";
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
        /// What is asked of the tables of a trial, for instance `p99(flows.fct_ns) where job_name =
        /// train`: one number.
        query: String, in 4096;
        /// What is made of the values of several seeds.
        statistic: Statistic = "median";
        /// The variant that the value is divided by, seed by seed, at the same point.
        against: String = "\"\"", in 200;
        /// Which values are better, for the winner among variants.
        better: Better = "less";
        /// Lower and upper end of the values that are expected, for instance `[0.9, 1.1]`: a sweep
        /// with a value outside ends with exit code 1.
        band: Option<Vec<Written>> = "none";
        /// What was published, or is expected, of single variants and points.
        published: Vec<PublishedKeys> = "[]";
        check band_has_two_ends;
    }
}

component! {
    /// What was published of a variant at a point.
    pub struct PublishedKeys as "`readings[].published[]`", derive(Clone, Debug, PartialEq) {
        /// The variant; all of them where none is named.
        variant: String = "\"\"", in 200;
        /// Axes and the values that they have there, as the axes list them; any where none is
        /// named.
        at: Named<Written> = "{}";
        /// The value, in the unit of the reading.
        value: Written;
        /// Lower and upper end of the values that match it.
        band: Option<Vec<Written>> = "none";
        /// What a value outside means: exit code 1, a miss that is shown, or nothing.
        gate: Gate = "required";
        check value_is_a_number;
    }
}
choice!(Gate { "required" => Required, "open" => Open, "info" => Info });

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

/// Which values are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// The smaller one, as of times.
    Less,
    /// The larger one, as of bandwidths.
    More,
}
choice!(Better { "less" => Less, "more" => More });

impl SweepKeys {
    /// The paths of its axes.
    pub(super) fn axis_paths(&self) -> impl ExactSizeIterator<Item = &str> {
        self.axes.0.iter().map(|(path, _)| path.as_str())
    }

    /// What its axes are called where there is little room: the last part of each path, `size` of
    /// `jobs[0].collectives[0].size`, unless two of them end alike.
    pub(super) fn axis_names(&self) -> Vec<&str> {
        let short = |path: &'_ str| path.rsplit_once('.').map_or(0, |(head, _)| head.len() + 1);
        let name = |path| {
            let last = |of: &str| of[short(of)..].to_owned();
            let alike = self
                .axis_paths()
                .filter(|other| last(other) == last(path))
                .count();
            if alike > 1 {
                path
            } else {
                &path[short(path)..]
            }
        };
        self.axis_paths().map(name).collect()
    }
}

impl ReadingKeys {
    /// The ends of the band, where there is one.
    pub fn band(&self) -> Option<[f64; 2]> {
        ends(self.band.as_deref()?)
    }
}

impl PublishedKeys {
    /// The ends of the band, where there is one.
    pub(super) fn band(&self) -> Option<[f64; 2]> {
        ends(self.band.as_deref()?)
    }

    /// The value.
    pub(super) fn number(&self) -> Option<f64> {
        number(&self.value)
    }
}

/// Two numbers in their order.
fn ends(band: &[Written]) -> Option<[f64; 2]> {
    let ends = band.iter().map(number);
    match ends.collect::<Option<Vec<f64>>>()?.as_slice() {
        &[low, high] if low <= high => Some([low, high]),
        _ => None,
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
    is_band(reading.band.is_none() || reading.band().is_some(), reader)
}

fn is_band(holds: bool, reader: &mut dyn Reader) -> bool {
    if !holds {
        reader.refuse("band", "is no band", "write two numbers: `[0.9, 1.1]`");
    }
    holds
}

fn value_is_a_number(row: &PublishedKeys, reader: &mut dyn Reader) -> bool {
    if row.number().is_none() {
        reader.refuse(
            "value",
            "is no number",
            "write it in the unit of the column",
        );
        return false;
    }
    is_band(row.band.is_none() || row.band().is_some(), reader)
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
