//! Constants of hosts that make the simulation meet the measurement: a least-squares fit over part
//! of the sizes.

use std::fmt::Write as _;
use std::path::Path;

use tenter::{Run, Scenario, Summary};
use tenter_config::component;
use tenter_report::write_whole;
use tenter_scenario::{Format, read_document};
use tenter_units::{Rate, Time};

use super::compare::{Median, medians, times_of};
use crate::coordinator::LabTrial;
use crate::error::LabError;

component! {
    /// Constants of hosts that were fitted to a lab.
    pub struct Calibration as "the file of a calibration", derive(Clone, Debug, PartialEq) {
        /// The lab.
        lab: String, in 24;
        /// `endpoint.host.start_up`.
        start_up: Time = "0ns", in Time::ZERO..=LONGEST;
        /// `endpoint.host.step_delay`.
        step_delay: Time = "0ns", in Time::ZERO..=LONGEST;
        /// `endpoint.nic.message_gap`.
        message_gap: Time = "0ns", in Time::ZERO..=LONGEST;
        /// The rate of the links of hosts that their software keeps up.
        host_rate: Rate, in SLOWEST..=FASTEST;
        /// Indices of the collectives that it was fitted to, the others are judged.
        fitted_to: Vec<u32> = "[]", in 0..=u32::MAX;
    }
}

/// No delay of a machine is longer.
const LONGEST: Time = Time::from_us(1_000_000);
const SLOWEST: Rate = Rate::from_bits_per_second(1_000_000);
const FASTEST: Rate = Rate::from_gbps(100_000);

impl Calibration {
    /// Reads the file of one.
    ///
    /// # Errors
    /// When it cannot be read, or every problem in it.
    pub fn read(path: &Path) -> Result<Calibration, LabError> {
        let text = std::fs::read_to_string(path).map_err(LabError::file("read", path))?;
        Ok(read_document(&text, &path.display().to_string(), Format::Yaml)?)
    }

    /// Writes it.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), LabError> {
        let mut text = String::new();
        let fitted: Vec<String> = self.fitted_to.iter().map(u32::to_string).collect();
        let _ = write!(
            text,
            "# Fitted by `tenter lab calibrate`: a calibration of this lab, and of no other.\n\
             lab: {}\nstart_up: {}\nstep_delay: {}\nmessage_gap: {}\nhost_rate: {}\nfitted_to: [{}]\n",
            self.lab,
            self.start_up,
            self.step_delay,
            self.message_gap,
            self.host_rate,
            fitted.join(", "),
        );
        write_whole(path, &text).map_err(|error| LabError::Trial(error.into()))
    }

    /// The settings of a scenario that have it.
    pub fn settings(&self) -> [String; 4] {
        [
            format!("endpoint.host.start_up={}", self.start_up),
            format!("endpoint.host.step_delay={}", self.step_delay),
            format!("endpoint.nic.message_gap={}", self.message_gap),
            format!("fabric.host_rate={}", self.host_rate),
        ]
    }
}

/// What is fitted: µs, µs, µs, and the share of the rate.
const PARAMETERS: usize = 4;
type Point = [f64; PARAMETERS];

const BEGIN: Point = [0.0, 0.0, 0.0, 1.0];
/// How far each is moved to see what that does.
const STEPS: Point = [50.0, 20.0, 20.0, -0.01];
const LOWEST: Point = [0.0, 0.0, 0.0, 0.5];
const HIGHEST: Point = [1e6, 1e6, 1e6, 1.0];
/// Holds those back that change nothing.
const RIDGE: f64 = 1e-6;
const ROUNDS: usize = 6;
/// A round that gains less than this of the sum of squares is the last one.
const GAIN: f64 = 0.01;

/// Fits constants of hosts to every other collective of a trial that was measured, the first one
/// among them.
///
/// The sum of squares of relative deviations is made small by the method of Gauss and Newton, with
/// derivatives by difference, a ridge, and bounds.
///
/// # Errors
/// When a simulation fails, or nothing was measured.
pub fn calibrate(trial: &LabTrial, measured: &Summary) -> Result<Calibration, LabError> {
    let all = medians(measured);
    let fit: Vec<Median> = all.iter().step_by(2).cloned().collect();
    if fit.is_empty() {
        return Err(LabError::Input("no collective was completed: nothing can be fitted".to_owned()));
    }
    let rate = trial.host_rate();
    let fitter = Fitter {
        scenario: &trial.scenario,
        fit: &fit,
        rate,
    };
    let mut point = BEGIN;
    let mut residuals = fitter.residuals(&point)?;
    for _ in 0..ROUNDS {
        let jacobian = fitter.jacobian(&point, &residuals)?;
        let step = solve(&jacobian, &residuals);
        let before = squares(&residuals);
        let mut scale = 1.0;
        while scale > 0.05 {
            let next = moved(&point, &step, scale);
            let found = fitter.residuals(&next)?;
            if squares(&found) < before {
                (point, residuals) = (next, found);
                break;
            }
            scale /= 2.0;
        }
        if squares(&residuals) > before * (1.0 - GAIN) {
            break;
        }
    }
    let mut fitted_to: Vec<u32> = fit.iter().map(|of| of.index).collect();
    fitted_to.dedup();
    Ok(Calibration {
        fitted_to,
        ..fitter.calibration(&trial.lab.keys.name, &point)
    })
}

struct Fitter<'a> {
    scenario: &'a Scenario,
    fit: &'a [Median],
    rate: Rate,
}

impl Fitter<'_> {
    fn calibration(&self, lab: &str, point: &Point) -> Calibration {
        let [start_up, step, gap, share] = *point;
        let us = |value: f64| Time::from_ns((value * 1e3).round().max(0.0) as u64);
        let bits = self.rate.bits_per_second() as f64 * share;
        Calibration {
            lab: lab.to_owned(),
            start_up: us(start_up),
            step_delay: us(step),
            message_gap: us(gap),
            host_rate: Rate::from_bits_per_second((bits / 1e3).round() as u64 * 1_000),
            fitted_to: Vec::new(),
        }
    }

    /// Relative deviations of what is simulated at a point.
    fn residuals(&self, point: &Point) -> Result<Vec<f64>, LabError> {
        let mut scenario = self.scenario.clone();
        for setting in self.calibration("", point).settings() {
            scenario = scenario.with_setting(setting);
        }
        let trial = Run::new(&scenario.resolve()?).run()?;
        let times = times_of(self.fit, trial.summary());
        let pairs = self.fit.iter().zip(times);
        Ok(pairs
            .map(|(measured, simulated)| {
                simulated.map_or(0.0, |time| time.as_ns() / measured.time.as_ns() - 1.0)
            })
            .collect())
    }

    /// What each parameter changes, per step.
    fn jacobian(&self, point: &Point, at: &[f64]) -> Result<Vec<Point>, LabError> {
        let mut rows = vec![[0.0; PARAMETERS]; at.len()];
        for parameter in 0..PARAMETERS {
            let mut next = *point;
            next[parameter] += STEPS[parameter];
            for ((row, moved), at) in rows.iter_mut().zip(self.residuals(&next)?).zip(at) {
                row[parameter] = moved - at;
            }
        }
        Ok(rows)
    }
}

fn squares(residuals: &[f64]) -> f64 {
    residuals.iter().map(|residual| residual * residual).sum()
}

/// A point moved by a part of a step, within bounds.
fn moved(point: &Point, step: &Point, scale: f64) -> Point {
    std::array::from_fn(|of| {
        let to = point[of] + scale * step[of] * STEPS[of];
        to.clamp(LOWEST[of], HIGHEST[of])
    })
}

/// The step, in units of [`STEPS`], that the normal equations ask for, by Gaussian elimination.
fn solve(jacobian: &[Point], residuals: &[f64]) -> Point {
    let mut matrix = [[0.0; PARAMETERS + 1]; PARAMETERS];
    for (row, residual) in jacobian.iter().zip(residuals) {
        for (a, of) in matrix.iter_mut().enumerate() {
            for (b, cell) in of.iter_mut().take(PARAMETERS).enumerate() {
                *cell += row[a] * row[b];
            }
            of[PARAMETERS] -= row[a] * residual;
        }
    }
    for (a, of) in matrix.iter_mut().enumerate() {
        of[a] += RIDGE;
    }
    for pivot in 0..PARAMETERS {
        for below in pivot + 1..PARAMETERS {
            let factor = matrix[below][pivot] / matrix[pivot][pivot];
            let row = matrix[pivot];
            for (cell, of_pivot) in matrix[below].iter_mut().zip(row) {
                *cell -= factor * of_pivot;
            }
        }
    }
    let mut step = [0.0; PARAMETERS];
    for pivot in (0..PARAMETERS).rev() {
        let known: f64 = (pivot + 1..PARAMETERS).map(|of| matrix[pivot][of] * step[of]).sum();
        step[pivot] = (matrix[pivot][PARAMETERS] - known) / matrix[pivot][pivot];
    }
    step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_equations_are_solved() {
        // Residuals −(1, 2, 3, 4) with unit vectors: the step is (1, 2, 3, 4).
        let unit = |of: usize| std::array::from_fn(|other| f64::from(u8::from(of == other)));
        let jacobian: Vec<Point> = (0..4).map(unit).collect();
        let step = solve(&jacobian, &[-1.0, -2.0, -3.0, -4.0]);
        for (found, due) in step.iter().zip([1.0, 2.0, 3.0, 4.0]) {
            assert!((found - due).abs() < 1e-4, "{step:?}");
        }
    }

    #[test]
    fn what_changes_nothing_is_left() {
        let jacobian = [[0.5, 0.0, 0.0, 0.0], [0.25, 0.0, 0.0, 0.0]];
        let step = solve(&jacobian, &[-1.0, -0.5]);
        assert!((step[0] - 2.0).abs() < 1e-4, "{step:?}");
        assert!(step[1..].iter().all(|of| of.abs() < 1e-9));
    }
}
