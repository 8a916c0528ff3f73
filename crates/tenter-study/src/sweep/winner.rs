//! Which variant of a sweep is best, and how sure that is.

use serde::{Deserialize, Serialize};
use tenter_record::sign_test;

use super::Sweep;
use super::answer::{Measured, OfCells};
use super::keys::{Better, ReadingKeys};

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
    /// Of each reading and point which variant is best, where there are several and one is alone in
    /// that. Studies have none: their variants are no rivals.
    pub fn winners(&self, trials: &[Measured]) -> Vec<Winner> {
        let of_cells = OfCells::new(self, trials);
        let points = if self.is_study() {
            0
        } else {
            self.points.len()
        };
        let readings = self.keys.readings.iter().enumerate();
        let each = readings.flat_map(|(read, reading)| {
            let of_cells = &of_cells;
            (0..points).filter_map(move |point| self.winner(of_cells, read, reading, point))
        });
        each.collect()
    }

    /// Seeds and values of a variant at a point, in the order of the seeds.
    fn values(
        &self,
        of_cells: &OfCells<'_>,
        read: usize,
        point: usize,
        variant: usize,
    ) -> Vec<(u64, f64)> {
        let cell = self.cell(point, variant).map(|(place, _)| place);
        let trials = cell.map_or(&[][..], |cell| of_cells.trials(cell));
        let values = trials.iter();
        values
            .filter_map(|trial| Some((trial.seed, trial.number(read)?)))
            .collect()
    }

    fn winner(
        &self,
        of_cells: &OfCells<'_>,
        read: usize,
        reading: &ReadingKeys,
        point: usize,
    ) -> Option<Winner> {
        // The pairs of seeds would compare values, and the statistic something else.
        if !reading.statistic.is_of_size() {
            return None;
        }
        let better = |a: f64, b: f64| match reading.better {
            Better::Less => a < b,
            Better::More => a > b,
        };
        let values: Vec<_> = (0..self.variants.len())
            .map(|variant| self.values(of_cells, read, point, variant))
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
