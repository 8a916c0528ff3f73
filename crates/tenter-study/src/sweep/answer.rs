//! What a sweep answers: its readings by point and variant, and which variant is better.

use serde::{Deserialize, Serialize};
use tenter_record::{Notes, sign_test};

use super::Sweep;
use super::is_axis;
use super::keys::{Better, PublishedKeys, ReadingKeys};
use crate::answer::{AnswerVariant, CaseAnswer, Spread, StudyAnswer, Verdict};
use crate::drawing::Chart;
use crate::gate::{Gate, Origin};
use crate::value::Value;

/// What was read of one trial.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Index of its variant.
    pub variant: usize,
    /// Index of its point.
    pub point: usize,
    /// Its seed.
    pub seed: u64,
    /// Digest of its results.
    pub digest: String,
    /// The value of each reading, in their order; missing where no row had one.
    pub values: Vec<Option<f64>>,
    /// What a reader of them must know.
    pub notes: Notes,
}

/// Which variant is best by a reading at a point, and how sure that is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Winner {
    /// The reading.
    pub reading: String,
    /// The point; empty where there are no axes.
    pub point: String,
    /// The best variant.
    pub variant: String,
    /// The next best.
    pub runner_up: String,
    /// Its value over that of the next best, of the values that the statistic makes of all seeds.
    pub ratio: f64,
    /// Seeds in which it is better than the next best.
    pub wins: usize,
    /// Seeds that both have a value for.
    pub pairs: usize,
    /// How likely as many seeds or more favour one of the two if both are equally good (sign test,
    /// two-sided): small where the difference is no luck of the seeds.
    pub p_value: f64,
}

impl Sweep {
    /// The answer, of what was read of the trials that have run: a row for each reading, point and
    /// variant.
    pub fn answer(&self, trials: &[Measured]) -> StudyAnswer {
        let mut cases = Vec::new();
        for (index, reading) in self.keys.readings.iter().enumerate() {
            for point in 0..self.points.len() {
                for variant in 0..self.variants.len() {
                    let cell = Cell {
                        sweep: self,
                        trials,
                        index,
                        point,
                    };
                    cases.push(cell.case(reading, variant));
                }
            }
        }
        let variants = self.variants.iter().enumerate().map(|(index, variant)| {
            let of = trials.iter().filter(|trial| trial.variant == index);
            let mut seeds: Vec<u64> = of.clone().map(|trial| trial.seed).collect();
            seeds.sort_unstable();
            seeds.dedup();
            AnswerVariant {
                name: named(&variant.name),
                about: variant.settings.join(" "),
                trials: of.clone().count(),
                seeds,
                notes: Notes::of_all(of.map(|trial| &trial.notes)).0,
            }
        });
        let charts = self.keys.readings.iter().map(|reading| Chart {
            title: reading.name.clone(),
            metrics: vec![reading.metric()],
            bars: Vec::new(),
            axis: reading.axis(),
        });
        StudyAnswer {
            study: self.keys.name.clone(),
            title: self.keys.description.clone(),
            variants: variants.collect(),
            digest: digest(trials),
            cases,
            charts: charts.collect(),
            ..StudyAnswer::default()
        }
    }

    /// Of each reading and point which variant is best, where there are several and one is alone in
    /// that.
    pub fn winners(&self, trials: &[Measured]) -> Vec<Winner> {
        let mut winners = Vec::new();
        for (index, reading) in self.keys.readings.iter().enumerate() {
            for point in 0..self.points.len() {
                let cell = Cell {
                    sweep: self,
                    trials,
                    index,
                    point,
                };
                winners.extend(cell.winner(reading));
            }
        }
        winners
    }
}

/// A variant without a name has one where it is shown.
fn named(name: &str) -> String {
    match name {
        "" => "all".to_owned(),
        name => name.to_owned(),
    }
}

impl ReadingKeys {
    /// What the answer calls it: with its unit behind it, or as the ratio that it is.
    fn metric(&self) -> String {
        match (self.against.as_str(), self.unit().as_str()) {
            ("", "") => self.name.clone(),
            ("", unit) => format!("{} ({unit})", self.name),
            (other, _) => format!("{} over that of {other}", self.name),
        }
    }

    fn axis(&self) -> String {
        match (self.against.as_str(), self.unit().as_str()) {
            ("", unit) => unit.to_owned(),
            (other, _) => format!("times that of {other}"),
        }
    }
}

/// One reading at one point.
struct Cell<'a> {
    sweep: &'a Sweep,
    trials: &'a [Measured],
    /// The reading.
    index: usize,
    point: usize,
}

impl Cell<'_> {
    /// Seeds and values of a variant, in the order of the seeds.
    fn values(&self, variant: usize) -> Vec<(u64, f64)> {
        let trials = self.trials.iter();
        let mine = trials.filter(|trial| trial.point == self.point && trial.variant == variant);
        let values = mine.filter_map(|trial| Some((trial.seed, trial.values[self.index]?)));
        let mut values: Vec<(u64, f64)> = values.collect();
        values.sort_unstable_by_key(|(seed, _)| *seed);
        values
    }

    /// The same over the values of another variant with the same seeds.
    fn over(&self, values: Vec<(u64, f64)>, other: &str) -> Vec<(u64, f64)> {
        let other = self.sweep.variants().position(|name| name == other);
        let others = other.map(|other| self.values(other)).unwrap_or_default();
        let ratio = |(seed, value): (u64, f64)| {
            let same = others.iter().find(|(of, _)| *of == seed)?;
            Some((seed, value / same.1))
        };
        values.into_iter().filter_map(ratio).collect()
    }

    /// The published row of a variant here; the first that fits counts.
    fn published<'k>(&self, reading: &'k ReadingKeys, variant: usize) -> Option<&'k PublishedKeys> {
        let name = &self.sweep.variants[variant].name;
        let point = || self.sweep.axes().zip(&self.sweep.points[self.point]);
        let is_here = |(path, value): &(String, tenter_config::Written)| {
            let mut here = point().filter(|(axis, _)| is_axis(axis, path));
            here.any(|(_, here)| *here == value.to_string())
        };
        reading.published.iter().find(|row| {
            let of_variant = row.variant.is_empty() || row.variant == *name;
            of_variant && row.at.0.iter().all(is_here)
        })
    }

    fn case(&self, reading: &ReadingKeys, variant: usize) -> CaseAnswer {
        let mut values = self.values(variant);
        if !reading.against.is_empty() {
            values = self.over(values, &reading.against);
        }
        let values: Vec<f64> = values.into_iter().map(|(_, value)| value).collect();
        let count = values.len();
        let numbers: Vec<Value> = values.iter().map(|value| Value::Number(*value)).collect();
        let measured = reading.statistic.of(values);
        let row = self.published(reading, variant);
        let band = row.map_or_else(|| reading.band(), PublishedKeys::band);
        let gate = match row {
            _ if band.is_none() => Gate::Info,
            Some(row) => row.gate,
            None => Gate::Required,
        };
        CaseAnswer {
            case: self.sweep.point_name(self.point),
            bar: Some(named(&self.sweep.variants[variant].name)),
            metric: reading.metric(),
            variant: named(&self.sweep.variants[variant].name),
            published: row.and_then(PublishedKeys::number).map(Value::Number),
            origin: row.map_or(Origin::Own, |_| Origin::Published),
            measured: measured.map(Value::Number),
            statistic: (count > 1).then(|| format!("{} of {count} seeds", reading.statistic)),
            spread: Spread::of(&numbers).filter(|_| count > 1 && reading.statistic.is_of_size()),
            band,
            gate,
            verdict: Verdict::of(gate, band, measured),
        }
    }

    fn winner(&self, reading: &ReadingKeys) -> Option<Winner> {
        // The pairs of seeds would compare values, and the statistic something else.
        if !reading.statistic.is_of_size() {
            return None;
        }
        let better = |a: f64, b: f64| match reading.better {
            Better::Less => a < b,
            Better::More => a > b,
        };
        let values: Vec<_> = (0..self.sweep.variants.len())
            .map(|variant| self.values(variant))
            .collect();
        let mut ranked: Vec<(usize, f64)> = values
            .iter()
            .enumerate()
            .filter_map(|(variant, values)| {
                let values = values.iter().map(|(_, value)| *value);
                Some((variant, reading.statistic.of(values.collect())?))
            })
            .collect();
        ranked.sort_by(|(_, a), (_, b)| match reading.better {
            Better::Less => a.total_cmp(b),
            Better::More => b.total_cmp(a),
        });
        let [(first, best), (second, next), ..] = ranked.as_slice() else {
            return None;
        };
        if best.total_cmp(next).is_eq() {
            return None;
        }
        let pairs: Vec<(f64, f64)> = values[*first]
            .iter()
            .filter_map(|(seed, value)| {
                let other = values[*second].iter().find(|(of, _)| of == seed)?;
                Some((*value, other.1))
            })
            .collect();
        let wins = pairs.iter().filter(|(a, b)| better(*a, *b)).count();
        let losses = pairs.iter().filter(|(a, b)| better(*b, *a)).count();
        Some(Winner {
            reading: reading.name.clone(),
            point: self.sweep.point_name(self.point),
            variant: named(&self.sweep.variants[*first].name),
            runner_up: named(&self.sweep.variants[*second].name),
            ratio: best / next,
            wins,
            pairs: pairs.len(),
            p_value: sign_test(wins, losses),
        })
    }
}

/// One digest for all trials, which of them is which included; trials may come in any order.
pub(super) fn digest(trials: &[Measured]) -> String {
    let mut trials: Vec<&Measured> = trials.iter().collect();
    trials.sort_unstable_by_key(|trial| (trial.point, trial.variant, trial.seed));
    let mut digest = tenter_record::Digest::new();
    for trial in trials {
        let mut record = vec![trial.point as u64, trial.variant as u64, trial.seed];
        record.extend(trial.digest.bytes().map(u64::from));
        digest.add(&record);
    }
    digest.to_hex()
}
