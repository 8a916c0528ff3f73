//! Charts, with names resolved to indices of readings and axes.

use serde::{Deserialize, Serialize};

use super::chart_keys::{ChartKeys, ChartKind};
use super::keys::SweepKeys;
use crate::studies::drawing::Chart;

/// A picture on a sweep's page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SweepChart {
    /// Title that stands above the picture.
    pub title: String,
    /// Kind of picture: `bars`, `lines`, `heat` or `parallel`.
    pub kind: String,
    /// Readings to show, by index.
    pub readings: Vec<usize>,
    /// Axis from left to right, by index; `None` for bars and parallel coordinates.
    pub x: Option<usize>,
    /// Axis from top to bottom, by index; only a heat map has one.
    pub y: Option<usize>,
}

/// Resolves a sweep's charts.
///
/// # Errors
/// Names the chart whose reading or axis does not exist, or whose kind does not fit the axes.
pub(super) fn charts(sweep: &SweepKeys) -> Result<Vec<SweepChart>, String> {
    let charts = sweep.charts.iter();
    charts.map(|keys| chart(sweep, keys)).collect()
}

/// Returns a study's bar charts, whose `readings` name metrics.
pub(super) fn of_study(sweep: &SweepKeys) -> Vec<Chart> {
    let charts = sweep.charts.iter().map(|keys| Chart {
        title: keys.title.clone(),
        metrics: keys.readings.clone(),
        bars: keys.bars.clone(),
        axis: keys.axis.clone(),
    });
    charts.collect()
}

fn chart(sweep: &SweepKeys, keys: &ChartKeys) -> Result<SweepChart, String> {
    let wrong = |what: String| format!("the chart `{}` {what}", keys.title);
    let names: Vec<&str> = sweep
        .readings
        .iter()
        .map(|reading| reading.name.as_str())
        .collect();
    let place = |name: &String| {
        names.iter().position(|of| of == name).ok_or_else(|| {
            let help = tenter_language::units::suggestion(name, names.iter().copied());
            wrong(format!(
                "shows the reading `{name}`, which there is not; {help}"
            ))
        })
    };
    let readings = match keys.readings.as_slice() {
        [] => (0..names.len()).collect(),
        named => named.iter().map(place).collect::<Result<_, _>>()?,
    };
    // A heat map has no place for a third axis; other kinds take any number above the least.
    let needed = keys.kind.axes();
    let count = sweep.axes.0.len();
    if count < needed || keys.kind == ChartKind::Heat && count > needed {
        return Err(wrong(format!(
            "needs {needed} axes, and the sweep has {count}; choose another `kind`"
        )));
    }
    let axis = |name: &Option<String>, otherwise: usize| {
        let Some(name) = name else {
            return Ok(otherwise);
        };
        let short = sweep.axis_names();
        let found = sweep
            .axis_paths()
            .zip(&short)
            .position(|(path, short)| path == name || short == name);
        found.ok_or_else(|| {
            let help = tenter_language::units::suggestion(name, short.iter().copied());
            wrong(format!("has the axis `{name}`, which there is not; {help}"))
        })
    };
    let (x, y) = match keys.kind {
        ChartKind::Bars | ChartKind::Parallel if keys.x.is_some() || keys.y.is_some() => {
            return Err(wrong(
                "has an `x` or `y`, which bars and parallel coordinates do without; leave it out"
                    .to_owned(),
            ));
        }
        ChartKind::Lines if keys.y.is_some() => {
            return Err(wrong(
                "has a `y`, and lines have an `x` alone; leave it out".to_owned(),
            ));
        }
        ChartKind::Bars | ChartKind::Parallel => (None, None),
        ChartKind::Lines => (Some(axis(&keys.x, 0)?), None),
        ChartKind::Heat => (Some(axis(&keys.x, 1)?), Some(axis(&keys.y, 0)?)),
    };
    if x.is_some() && x == y {
        return Err(wrong(
            "has one axis as `x` and `y`; choose another".to_owned(),
        ));
    }
    Ok(SweepChart {
        title: keys.title.clone(),
        kind: keys.kind.word().to_owned(),
        readings,
        x,
        y,
    })
}
