//! A scenario on a lab and in the simulation.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use tenter::report::{read_rows, write_whole};
use tenter::{Plan, Run};
use tenter_results::{FlowRow, PortRow, Summary};

use super::calibrate::{Calibration, calibrate};
use super::compare::{SizeRow, medians, times_of};
use super::flows::{FlowSpread, spread};
use super::links::{LinkRow, links};
use super::paths::{PathRow, kernel_paths};
use crate::coordinator::{LabRun, LabTrial, Observed, run};
use crate::error::LabError;

/// Names in the twin's folder.
const MEASURED: &str = "measured";
const STATED: &str = "simulated";
const FITTED: &str = "calibrated";
const TABLE: &str = "measured.csv";
const PAGE: &str = "twin.html";
const CALIBRATION: &str = "calibration.yaml";

/// A lab beside its simulation.
#[derive(Clone, Debug, PartialEq)]
pub struct Twin {
    /// Comparison by collective, in the measured trial's order.
    pub sizes: Vec<SizeRow>,
    /// Comparison by flow: with the scenario's constants, and with fitted ones if there are any.
    pub flows: (FlowSpread, Option<FlowSpread>),
    /// Comparison by link, with fitted constants if there are any.
    pub links: Vec<LinkRow>,
    /// Comparison by path; empty for a lab of machines.
    pub paths: Vec<PathRow>,
    /// Fitted constants, if there are any.
    pub calibration: Option<Calibration>,
    /// True if the measured trial was completed.
    pub complete: bool,
    /// Summary of the measured trial, as in its folder.
    pub measured: Summary,
    /// Folders with the simulations: one with stated constants, maybe one with fitted ones.
    pub simulated: Vec<PathBuf>,
    /// Path to the table with the measured times.
    pub table: PathBuf,
    /// Path at which the caller writes the page that draws the simulations beside the table.
    pub page: PathBuf,
}

/// Source for the constants of hosts.
#[derive(Clone, Debug, PartialEq)]
pub enum Constants {
    /// The scenario's own constants alone.
    Stated,
    /// The scenario's constants, and beside them those from an earlier fit.
    Known(Calibration),
    /// The scenario's constants, and beside them some fitted to every other measured collective.
    Fit,
}

/// Runs a scenario on a lab's hosts, simulates it, and compares.
///
/// # Errors
/// Returns an error if the trial or a simulation fails, or if a file cannot be written.
pub fn twin(
    trial: &LabTrial,
    constants: Constants,
    options: &LabRun,
    observer: &mut (dyn Observed + Send),
) -> Result<Twin, LabError> {
    let folder = &options.folder;
    let on_lab = LabRun {
        folder: folder.join(MEASURED),
        ..options.clone()
    };
    // Measured first: a lab that is not up should fail before time is spent on simulations.
    let measured = run(trial, &on_lab, observer)?;
    let stated = simulate(&trial.simulated, &folder.join(STATED))?;
    let calibration = match constants {
        Constants::Stated => None,
        Constants::Known(known) => Some(known),
        Constants::Fit => Some(calibrate(trial, &measured.summary)?),
    };
    let fitted = match &calibration {
        None => None,
        Some(calibration) => {
            calibration.write(&folder.join(CALIBRATION))?;
            let mut scenario = trial.scenario.clone();
            for setting in calibration.settings() {
                scenario = scenario.with_setting(setting);
            }
            Some(simulate(&scenario.resolve()?, &folder.join(FITTED))?)
        }
    };
    let fit = (fitted.as_ref(), calibration.as_ref());
    let sizes = sizes(&measured.summary, &stated, fit);
    let flows_of = |name: &str| read_rows::<FlowRow>(&folder.join(name));
    let measured_flows = flows_of(MEASURED).map_err(tenter::Error::from)?;
    let stated_flows = flows_of(STATED).map_err(tenter::Error::from)?;
    let fitted_flows = match &fitted {
        None => None,
        Some(_) => Some(flows_of(FITTED).map_err(tenter::Error::from)?),
    };
    let best = if fitted.is_some() { FITTED } else { STATED };
    let ports = read_rows::<PortRow>(&folder.join(best)).map_err(tenter::Error::from)?;
    let plan = trial.measured.resolved();
    let is_of_namespaces = trial.lab.keys.fabric.is_some();
    let paths = if is_of_namespaces {
        kernel_paths(&trial.lab.keys.name, plan)?
    } else {
        Vec::new()
    };
    let mut simulated = vec![folder.join(STATED)];
    simulated.extend(fitted.is_some().then(|| folder.join(FITTED)));
    let table = write_table(folder, &sizes)?;
    Ok(Twin {
        flows: (
            spread(&measured_flows, &stated_flows),
            fitted_flows.map(|fitted| spread(&measured_flows, &fitted)),
        ),
        links: links(&plan.topology, &measured.counts.ports, &ports),
        complete: measured.summary.complete,
        measured: measured.summary,
        sizes,
        paths,
        calibration,
        simulated,
        table,
        page: folder.join(PAGE),
    })
}

fn simulate(plan: &Plan, folder: &Path) -> Result<Summary, LabError> {
    let trial = Run::new(plan).folder(folder).run()?;
    Ok(trial.summary().clone())
}

fn sizes(
    measured: &Summary,
    stated: &Summary,
    fit: (Option<&Summary>, Option<&Calibration>),
) -> Vec<SizeRow> {
    let (fitted, calibration) = fit;
    let all = medians(measured);
    let stated = times_of(&all, stated);
    let fitted = fitted.map(|fitted| times_of(&all, fitted));
    let rows = all.into_iter().zip(stated).enumerate();
    let rows = rows.filter_map(|(place, (of, stated))| {
        let fitted_to = calibration.map(|calibration| &calibration.fitted_to);
        Some(SizeRow {
            is_fitted_to: fitted_to.is_some_and(|indices| indices.contains(&of.index)),
            job: of.job,
            index: of.index,
            collective: of.collective,
            size_bytes: of.size_bytes,
            measured: of.time,
            stated: stated?,
            fitted: fitted.as_ref().and_then(|fitted| fitted[place]),
        })
    });
    rows.collect()
}

/// Writes the measured times as a table, and returns its path.
fn write_table(folder: &Path, sizes: &[SizeRow]) -> Result<PathBuf, LabError> {
    let mut table = "collective,size_bytes,time_us\n".to_owned();
    for row in sizes {
        let name = row.collective.split(' ').next().unwrap_or_default();
        let _ = writeln!(
            table,
            "{name},{},{:.3}",
            row.size_bytes,
            row.measured.as_ns() / 1e3
        );
    }
    let path = folder.join(TABLE);
    let written = write_whole(&path, &table);
    written.map_err(|error| LabError::Trial(tenter::Error::from(error)))?;
    Ok(path)
}
