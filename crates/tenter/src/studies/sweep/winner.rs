//! Winners: each reading's best variant at each point, with a sign test.

use serde::{Deserialize, Serialize};
use tenter_results::sign_test;

use super::Sweep;
use super::answer::{Measured, OfCells};
use super::keys::{Better, ReadingKeys};
use super::rows::SweepRow;

/// The best variant by one reading at one point, compared with the next best seed by seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Winner {
    /// Reading by which the variants are ranked.
    pub reading: String,
    /// Name of the point; empty without axes.
    pub point: String,
    /// Best variant at this point, by name.
    pub variant: String,
    /// Next best variant at this point, by name.
    pub runner_up: String,
    /// The best variant's value over the next best's; each is the reading's statistic over all
    /// seeds.
    pub ratio: f64,
    /// Seeds in which the best variant beats the next best.
    pub wins: usize,
    /// Seeds for which both have a value.
    pub pairs: usize,
    /// Probability of a result at least as one-sided if both variants were equally good (two-sided
    /// sign test). A small value says that the difference is not the luck of the seeds.
    pub p_value: f64,
}

impl Sweep {
    /// Returns the best variant for each reading and point; none if two are equally good or only
    /// one has values. A study has no winners: its variants are no rivals.
    pub fn winners(&self, trials: &[Measured]) -> Vec<Winner> {
        let of_cells = OfCells::new(self, trials);
        let points = if self.is_study() {
            0
        } else {
            self.points.len()
        };
        let readings = self.keys.readings.iter().enumerate();
        let each = readings.flat_map(|(place, reading)| {
            let (row, of_cells) = (self.row_of(place), &of_cells);
            (0..points).filter_map(move |point| self.winner(of_cells, row?, reading, point))
        });
        each.collect()
    }

    /// Returns seed and value for each trial that `row` counts, of a variant at a point, in seed
    /// order.
    fn values(
        &self,
        of_cells: &OfCells<'_>,
        row: &SweepRow,
        point: usize,
        variant: usize,
    ) -> Vec<(u64, f64)> {
        let cell = self.cell(point, variant).map(|(place, _)| place);
        let trials = cell.map_or(&[][..], |cell| of_cells.trials(cell));
        let counted = trials.iter().filter(|trial| row.counts(trial));
        counted
            .filter_map(|trial| Some((trial.seed, trial.number(row.read)?)))
            .collect()
    }

    /// Returns the winner by one reading at one point.
    fn winner(
        &self,
        of_cells: &OfCells<'_>,
        row: &SweepRow,
        reading: &ReadingKeys,
        point: usize,
    ) -> Option<Winner> {
        // The sign test compares single values, while a statistic such as the spread would rank
        // variants by something else.
        if !reading.statistic.is_of_size() {
            return None;
        }
        let better = |a: f64, b: f64| match reading.better {
            Better::Less => a < b,
            Better::More => a > b,
        };
        let values: Vec<_> = (0..self.variants.len())
            .map(|variant| self.values(of_cells, row, point, variant))
            .collect();
        let mut ranked: Vec<(usize, f64)> = values
            .iter()
            .enumerate()
            .filter_map(|(variant, values)| {
                let values = values.iter().map(|(_, value)| *value);
                Some((variant, reading.statistic.of(values.collect())?))
            })
            .collect();
        // The first two places decide; a variant without a value is not ranked.
        ranked.sort_by(|(_, a), (_, b)| match reading.better {
            Better::Less => a.total_cmp(b),
            Better::More => b.total_cmp(a),
        });
        let [(first, best), (second, next), ..] = ranked.as_slice() else {
            return None;
        };
        // With two equal best variants neither is the winner.
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
        // Equal values count for neither side, as the sign test requires.
        let losses = pairs.iter().filter(|(a, b)| better(*b, *a)).count();
        Some(Winner {
            reading: reading.name.clone(),
            point: self.point_name(point).to_owned(),
            variant: self.variants[*first].clone(),
            runner_up: self.variants[*second].clone(),
            ratio: best / next,
            wins,
            pairs: pairs.len(),
            p_value: sign_test(wins, losses),
        })
    }
}
