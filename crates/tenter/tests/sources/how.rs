//! How rows were obtained: with nothing fitted, with a fitted constant, or with a setting that was
//! chosen in sight of results.

use tenter::studies::{CaseAnswer, Gate};

use crate::Recorded;
use crate::claims::Claims;

/// How a row was obtained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// With the equipment of its source and defaults.
    Plain,
    /// With a constant that was fitted to this row, too.
    Fitted,
    /// With a constant that was fitted to other rows.
    OutOfSample,
    /// With the setting at this place of `[[chosen]]` in `claims.toml`.
    Chosen(usize),
}

impl How {
    /// How a row of a study was obtained.
    pub(crate) fn of(claims: &Claims, of: &Recorded, row: &CaseAnswer) -> How {
        let cell = of.cells.iter().find(|of| of.name == row.variant);
        let is_calibrated = cell.is_some_and(|cell| !cell.fitted.is_empty());
        let mut fitted = claims.fitted.iter();
        let is_fitted = fitted.any(|rows| rows.study == of.study && rows.has(row));
        let has_set = |text: &str| {
            cell.is_some_and(|cell| cell.settings.iter().any(|set| set.contains(text)))
        };
        let chosen = claims.chosen.iter().position(|chosen| {
            let mut rows = chosen.rows.iter();
            let is_one = rows.any(|rows| rows.study == of.study && rows.has(row));
            is_one && chosen.set.as_deref().is_none_or(has_set)
        });
        match (is_calibrated, chosen) {
            (true, _) if is_fitted => How::Fitted,
            (true, _) => How::OutOfSample,
            (false, Some(place)) => How::Chosen(place),
            (false, None) => How::Plain,
        }
    }

    /// What rows are called that were obtained so; nothing where that is as usual.
    fn name(self, claims: &Claims) -> Option<&str> {
        match self {
            How::Plain => None,
            How::Fitted => Some("fitted"),
            How::OutOfSample => Some("out of sample"),
            How::Chosen(place) => Some(&claims.chosen[place].name),
        }
    }

    /// All ways that there are, in the order of the page.
    pub(crate) fn all(claims: &Claims) -> impl Iterator<Item = How> {
        let chosen = (0..claims.chosen.len()).map(How::Chosen);
        [How::Plain, How::OutOfSample, How::Fitted]
            .into_iter()
            .chain(chosen)
    }
}

/// How many of the judged rows were obtained in other ways than with nothing fitted, in words.
pub(crate) fn in_words(claims: &Claims, of: &Recorded, rows: &[&CaseAnswer]) -> String {
    let is_judged = |row: &&&CaseAnswer| row.band.is_some() && row.gate != Gate::Info;
    let judged = || rows.iter().filter(is_judged);
    let words = How::all(claims).filter_map(|how| {
        let name = how.name(claims)?;
        let count = judged()
            .filter(|row| How::of(claims, of, row) == how)
            .count();
        match count {
            0 => None,
            _ if count == judged().count() => Some(name.to_owned()),
            _ => Some(format!("{count} {name}")),
        }
    });
    words.collect::<Vec<_>>().join(", ")
}

/// Every row that is called fitted has a fitted constant.
pub(crate) fn check(claims: &Claims, all: &[Recorded]) {
    for rows in &claims.fitted {
        let of = all.iter().find(|of| of.study == rows.study);
        let of = of.unwrap_or_else(|| panic!("claims.toml: there is no study `{}`", rows.study));
        let mut judged = of.rows.iter().filter(|row| row.band.is_some());
        assert!(
            judged.any(|row| rows.has(row) && How::of(claims, of, row) == How::Fitted),
            "claims.toml: no judged row has a constant fitted to it: {rows:?}"
        );
    }
}
