//! The charts that a sweep names: which picture of which readings over which axes.

use tenter_config::{choice, component};

use super::Sweep;
use super::keys::WORDS;
use super::record::SweepChart;

component! {
    /// A picture of the page of a sweep.
    pub struct ChartKeys as "`charts[]`", derive(Clone, Debug, PartialEq) {
        /// What stands above it.
        title: String, in 200;
        /// Bars for each point, lines over an axis, a heat map over two axes, or parallel
        /// coordinates over all.
        kind: ChartKind = "bars";
        /// The readings that it shows, by their names, each in a picture of its own; all of them
        /// where none is named.
        readings: Vec<String> = "[]", in 200;
        /// The axis of lines, and that from left to right of a heat map: its path, or the last part
        /// of it.
        x: Option<String> = absent "the first axis of lines, the second one of a heat map", in WORDS;
        /// The axis from top to bottom of a heat map.
        y: Option<String> = absent "the first axis", in WORDS;
    }
}

/// A kind of picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChartKind {
    /// Bars with whiskers.
    Bars,
    /// Lines over an axis.
    Lines,
    /// A heat map over two axes.
    Heat,
    /// Parallel coordinates.
    Parallel,
}
choice!(ChartKind {
    "bars" => Bars,
    "lines" => Lines,
    "heat" => Heat,
    "parallel" => Parallel,
});

impl ChartKind {
    /// Its word.
    fn word(self) -> &'static str {
        match self {
            ChartKind::Bars => "bars",
            ChartKind::Lines => "lines",
            ChartKind::Heat => "heat",
            ChartKind::Parallel => "parallel",
        }
    }

    /// How many axes it is drawn over at least.
    fn axes(self) -> usize {
        match self {
            ChartKind::Bars | ChartKind::Parallel => 0,
            ChartKind::Lines => 1,
            ChartKind::Heat => 2,
        }
    }
}

/// The charts of a sweep, with readings and axes by their places.
///
/// # Errors
/// What a chart names and the sweep does not have.
pub(super) fn charts(sweep: &Sweep) -> Result<Vec<SweepChart>, String> {
    sweep
        .keys
        .charts
        .iter()
        .map(|keys| chart(sweep, keys))
        .collect()
}

fn chart(sweep: &Sweep, keys: &ChartKeys) -> Result<SweepChart, String> {
    let wrong = |what: String| format!("the chart `{}` {what}", keys.title);
    let names: Vec<&str> = sweep
        .keys
        .readings
        .iter()
        .map(|reading| reading.name.as_str())
        .collect();
    let place = |name: &String| {
        names.iter().position(|of| of == name).ok_or_else(|| {
            let help = tenter_scenario::suggestion(name, names.iter().copied());
            wrong(format!(
                "shows the reading `{name}`, which there is not; {help}"
            ))
        })
    };
    let readings = match keys.readings.as_slice() {
        [] => (0..names.len()).collect(),
        named => named.iter().map(place).collect::<Result<_, _>>()?,
    };
    let needed = keys.kind.axes();
    let count = sweep.axes().len();
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
            .axes()
            .zip(&short)
            .position(|(path, short)| path == name || short == name);
        found.ok_or_else(|| {
            let help = tenter_scenario::suggestion(name, short.iter().copied());
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
