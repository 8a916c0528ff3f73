//! Host constants that bring the simulation close to the measurement, from a least-squares fit over
//! every other collective.

use std::fmt::Write as _;
use std::path::Path;

use tenter::report::write_whole;
use tenter::resolve::{Format, read_document};
use tenter::{Run, Scenario, Summary};
use tenter_language::config::component;
use tenter_language::units::{Rate, Time};

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

/// Longest delay that the file accepts; no machine has a longer one.
const LONGEST: Time = Time::from_us(1_000_000);
const SLOWEST: Rate = Rate::from_bits_per_second(1_000_000);
const FASTEST: Rate = Rate::from_gbps(100_000);

impl Calibration {
    /// Reads a calibration file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or the list of all mistakes in it.
    pub fn read(path: &Path) -> Result<Calibration, LabError> {
        let text = std::fs::read_to_string(path).map_err(LabError::file("read", path))?;
        Ok(read_document(
            &text,
            &path.display().to_string(),
            Format::Yaml,
        )?)
    }

    /// Writes the calibration as YAML.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
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

    /// Returns the settings that put these constants into a scenario.
    pub fn settings(&self) -> [String; 4] {
        [
            format!("endpoint.host.start_up={}", self.start_up),
            format!("endpoint.host.step_delay={}", self.step_delay),
            format!("endpoint.nic.message_gap={}", self.message_gap),
            format!("fabric.host_rate={}", self.host_rate),
        ]
    }
}

/// Number of fitted constants: start-up, step delay and message gap in µs, and the host rate's
/// share.
const PARAMETERS: usize = 4;
type Point = [f64; PARAMETERS];

const BEGIN: Point = [0.0, 0.0, 0.0, 1.0];
/// First step for each constant; steps are halved when no move gains any more.
const STEPS: Point = [400.0, 200.0, 100.0, 0.02];
const LOWEST: Point = [0.0, 0.0, 0.0, 0.5];
const HIGHEST: Point = [1e6, 1e6, 1e6, 1.0];
/// Halvings before the search ends, at steps of 3, 1.6 and 0.8 µs and 0.016 % of the rate.
const HALVINGS: u32 = 7;
/// Most rounds before the steps are halved in any case.
const MOVES: u32 = 12;

/// Fits constants of hosts to every other collective that was measured, beginning with the first.
///
/// Collectives in which packets were sent again are left out if others remain: losses and timeouts
/// are chance. A pattern search (Hooke and Jeeves, 1961) minimises the sum of squared relative
/// deviations: it moves each constant up and down by ever smaller steps.
///
/// # Errors
/// Returns an error if a simulation fails, or if no collective was completed.
pub fn calibrate(trial: &LabTrial, measured: &Summary) -> Result<Calibration, LabError> {
    let all = medians(measured);
    // The other half stays unseen, and judges the fit.
    let mut fit: Vec<Median> = all.iter().step_by(2).cloned().collect();
    if fit.is_empty() {
        return Err(LabError::Input(
            "no collective was completed: nothing can be fitted".to_owned(),
        ));
    }
    if fit.iter().any(|of| !of.is_lossy) {
        fit.retain(|of| !of.is_lossy);
    }
    let fitter = Fitter {
        scenario: &trial.scenario,
        fit: &fit,
        rate: trial.host_rate(),
    };
    let point = fitter.search()?;
    let mut fitted_to: Vec<u32> = fit.iter().map(|of| of.index).collect();
    fitted_to.sort_unstable();
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

    /// Simulates with the constants `point`, and returns the sum of squared relative deviations.
    fn squares(&self, point: &Point) -> Result<f64, LabError> {
        let mut scenario = self.scenario.clone();
        for setting in self.calibration("", point).settings() {
            scenario = scenario.with_setting(setting);
        }
        let trial = Run::new(&scenario.resolve()?).run()?;
        let times = times_of(self.fit, trial.summary());
        let pairs = self.fit.iter().zip(times);
        let deviations = pairs.filter_map(|(measured, simulated)| {
            Some(simulated?.as_ns() / measured.time.as_ns() - 1.0)
        });
        Ok(deviations.map(|deviation| deviation * deviation).sum())
    }

    fn search(&self) -> Result<Point, LabError> {
        search(|point| self.squares(point))
    }
}

/// Searches for the point where `of` is smallest, and returns it.
fn search<E>(of: impl Fn(&Point) -> Result<f64, E>) -> Result<Point, E> {
    let mut point = BEGIN;
    let mut least = of(&point)?;
    for halving in 0..=HALVINGS {
        let scale = 0.5_f64.powi(halving.cast_signed());
        for _ in 0..MOVES {
            let before = least;
            for parameter in 0..PARAMETERS {
                for sign in [1.0, -1.0] {
                    let mut next = point;
                    let to = point[parameter] + sign * scale * STEPS[parameter];
                    next[parameter] = to.clamp(LOWEST[parameter], HIGHEST[parameter]);
                    // At a limit there is no step in this direction.
                    if (next[parameter] - point[parameter]).abs() < f64::EPSILON {
                        continue;
                    }
                    let found = of(&next)?;
                    if found < least {
                        (point, least) = (next, found);
                        break;
                    }
                }
            }
            if least >= before {
                break;
            }
        }
    }
    Ok(point)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_finds_the_least() {
        let due = [730.0, 140.0, 0.0, 0.985];
        let found: Result<Point, ()> = search(|point| {
            let pairs = point.iter().zip(due).zip(STEPS);
            Ok(pairs
                .map(|((is, due), step)| ((is - due) / step).powi(2))
                .sum())
        });
        let found = found.expect("nothing fails");
        for ((is, due), step) in found.iter().zip(due).zip(STEPS) {
            assert!((is - due).abs() <= step / 100.0, "{found:?}");
        }
    }
}
