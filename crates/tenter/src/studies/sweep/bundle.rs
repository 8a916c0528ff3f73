//! Named bundles of settings: a variant, or a named value of an axis.

use tenter_language::config::{Named, Written};

use super::keys::plain;

/// A named bundle of settings, with its description.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bundle {
    pub(super) name: String,
    /// Name that printed tables show.
    pub(super) label: String,
    /// Description in one line; may be empty.
    pub(super) about: String,
    /// Name that published rows have for it.
    pub(super) row: String,
    /// True if a quick run has it.
    pub(super) quick: bool,
    /// Axes and the values at which the bundle is run; an axis that is not listed does not restrict
    /// it.
    only: Vec<(String, Vec<String>)>,
    /// Settings in order, each `PATH=VALUE`.
    pub(super) settings: Vec<String>,
    /// Fitted settings by path, each with the rows to which it was fitted.
    fitted: Vec<(String, String)>,
}

impl Bundle {
    /// Reads the bundle `name`, the value of an axis if `of_axis` is true and a variant otherwise.
    /// The keys `label`, `about`, `quick` and `fitted_to`, `row` at an axis and `only` at a variant
    /// describe it; all other keys are settings.
    ///
    /// # Errors
    /// Says what is wrong, and the remedy.
    pub(super) fn read(
        name: &str,
        keys: &[(String, Written)],
        of_axis: bool,
    ) -> Result<Bundle, String> {
        let mut bundle = Bundle {
            name: name.to_owned(),
            label: name.to_owned(),
            about: String::new(),
            row: name.to_owned(),
            quick: true,
            only: Vec::new(),
            settings: Vec::new(),
            fitted: Vec::new(),
        };
        for (key, value) in keys {
            let wrong = |form: &str| format!("`{key}` of `{name}` is no {form}; `{key}: {value}`");
            match (key.as_str(), value) {
                ("label", value) => bundle.label = text(value).ok_or_else(|| wrong("text"))?,
                ("about", value) => bundle.about = text(value).ok_or_else(|| wrong("text"))?,
                ("row", value) if of_axis => {
                    bundle.row = text(value).ok_or_else(|| wrong("text"))?;
                }
                ("row", _) => {
                    return Err(format!(
                        "`row` of `{name}` means nothing: `{{variant}}` in the `row` of a reading stands for the name; leave it out"
                    ));
                }
                ("only", _) if of_axis => {
                    return Err(format!(
                        "`only` of `{name}` means nothing at the value of an axis; write it at the variants"
                    ));
                }
                ("quick", value) => {
                    let flag = text(value).and_then(|text| text.parse().ok());
                    bundle.quick = flag.ok_or_else(|| wrong("flag"))?;
                }
                ("only", Written::Map(axes)) => {
                    for (axis, values) in axes {
                        let values = list(values).ok_or_else(|| wrong("mapping to lists"))?;
                        bundle.only.push((axis.clone(), values));
                    }
                }
                ("fitted_to", Written::Map(paths)) => {
                    for (path, rows) in paths {
                        let rows = text(rows).ok_or_else(|| wrong("mapping to texts"))?;
                        bundle.fitted.push((path.clone(), rows));
                    }
                }
                ("only" | "fitted_to", _) => return Err(wrong("mapping")),
                // Every other key is a path of the scenario, which is checked when the trial's plan
                // is made.
                _ => bundle.settings.push(format!("{key}={value}")),
            }
        }
        match bundle
            .fitted
            .iter()
            .find(|(path, _)| bundle.of(path).is_none())
        {
            Some((path, _)) => Err(format!(
                "`fitted_to` of `{name}` has `{path}`, which `{name}` does not set; leave it out"
            )),
            None => Ok(bundle),
        }
    }

    /// Reads all variants of a mapping from names to settings.
    pub(super) fn read_all(named: &Named<Named<Written>>) -> Result<Vec<Bundle>, String> {
        let each = named.0.iter();
        each.map(|(name, keys)| Bundle::read(name, &keys.0, false))
            .collect()
    }

    /// Returns the setting for a path, if the bundle has one.
    fn of(&self, path: &str) -> Option<&String> {
        let is_of = |set: &&String| set.split_once('=').is_some_and(|(of, _)| of == path);
        self.settings.iter().find(is_of)
    }

    /// Returns the fitted settings, each with the rows to which it was fitted.
    pub(super) fn fitted(&self) -> impl Iterator<Item = (&String, &String)> {
        let fitted = self.fitted.iter();
        fitted.filter_map(|(path, rows)| Some((self.of(path)?, rows)))
    }

    /// Returns true if the bundle is run where `axis` has `value`.
    pub(super) fn is_at(&self, axis: &str, value: &str) -> bool {
        let mut only = self.only.iter().filter(|(of, _)| of == axis);
        // Points have values as settings write them, so a text may have quotes.
        let value = value.trim_matches('"');
        only.all(|(_, values)| values.iter().any(|of| of == value))
    }

    /// Returns the axes that restrict the bundle, each with the values at which it is run.
    pub(super) fn only(&self) -> &[(String, Vec<String>)] {
        &self.only
    }
}

/// Returns the named values of an axis with their settings, or `None` if the axis lists values or
/// has a range.
pub(super) fn named(written: &Written) -> Option<&[(String, Written)]> {
    match written {
        Written::Map(keys) if !keys.is_empty() => {
            let is_bundle = |(_, value): &(String, Written)| matches!(value, Written::Map(_));
            // A range is a mapping, too, but its values are words: only a mapping of mappings has
            // bundles.
            keys.iter().all(is_bundle).then_some(keys.as_slice())
        }
        _ => None,
    }
}

/// Reads the bundles of an axis; empty for an axis that lists values or has a range.
pub(super) fn of_axis(written: &Written) -> Result<Vec<Bundle>, String> {
    let each = named(written).unwrap_or_default().iter();
    each.map(|(name, value)| match value {
        Written::Map(keys) => Bundle::read(name, keys, true),
        _ => Bundle::read(name, &[], true),
    })
    .collect()
}

fn text(written: &Written) -> Option<String> {
    plain(written).map(str::to_owned)
}

fn list(written: &Written) -> Option<Vec<String>> {
    match written {
        Written::List(items) => items.iter().map(text).collect(),
        _ => None,
    }
}
