//! Selects part of a sweep: some variants, some axis values.

use crate::studies::Sweep;
use tenter_language::units::suggestion;

use crate::Error;

/// Selected trials.
#[derive(Clone, Debug, Default)]
pub(super) struct Only {
    /// Indices of the selected variants; empty selects all.
    variants: Vec<usize>,
    /// Pairs of an axis index and a value. Values on one axis are alternatives; an axis without
    /// any allows all values.
    values: Vec<(usize, String)>,
}

impl Only {
    /// Parses variant names, and axis values as `AXIS=VALUE`.
    pub(super) fn read(sweep: &Sweep, named: &[String]) -> Result<Only, Error> {
        let mut only = Only::default();
        for name in named {
            if let Some(variant) = sweep.variants().position(|known| known == name) {
                only.variants.push(variant);
            } else if let Some((axis, value)) = name.split_once('=') {
                only.values.push(value_of(sweep, axis, value)?);
            } else {
                let known: Vec<&str> = sweep.variants().collect();
                let help = suggestion(name, known.into_iter());
                return Err(Error::Asked(format!(
                    "the sweep has no variant `{name}`; {help}"
                )));
            }
        }
        Ok(only)
    }

    /// True if the selection has every trial.
    pub(super) fn is_all(&self) -> bool {
        self.variants.is_empty() && self.values.is_empty()
    }

    /// True if a variant's trials at a point are selected.
    pub(super) fn has(&self, sweep: &Sweep, point: usize, variant: usize) -> bool {
        let point = &sweep.points()[point];
        let of_axis = |axis: usize| {
            let mut allowed = self.values.iter().filter(|(of, _)| *of == axis).peekable();
            allowed.peek().is_none() || allowed.any(|(_, value)| *value == point[axis])
        };
        let of_variant = self.variants.is_empty() || self.variants.contains(&variant);
        of_variant && (0..point.len()).all(of_axis)
    }
}

fn value_of(sweep: &Sweep, axis: &str, value: &str) -> Result<(usize, String), Error> {
    let short = sweep.axis_names();
    let mut axes = sweep.axes().zip(&short);
    let Some(place) = axes.position(|(path, short)| path == axis || *short == axis) else {
        let help = suggestion(axis, short.iter().copied());
        return Err(Error::Asked(format!(
            "the sweep has no axis `{axis}`; {help}"
        )));
    };
    let mut values: Vec<&str> = Vec::new();
    for point in sweep.points() {
        if !values.contains(&point[place].as_str()) {
            values.push(&point[place]);
        }
    }
    // Points in JSON form have strings in quotes; people type them without.
    let bare = |text: &'_ str| text.trim_matches('"').to_owned();
    if let Some(known) = values.iter().find(|known| bare(known) == bare(value)) {
        return Ok((place, (*known).to_owned()));
    }
    let values: Vec<String> = values.into_iter().map(bare).collect();
    let help = suggestion(value, values.iter().map(String::as_str));
    Err(Error::Asked(format!(
        "the axis `{axis}` has no value `{value}`; {help}"
    )))
}
