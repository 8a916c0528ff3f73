//! The cells of a sweep: each variant at each point where it is run.

use std::collections::BTreeSet;

use super::bundle::{self, Bundle};
use super::design::PointValues;
use super::keys::SweepKeys;

/// A variant at a point.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepCell {
    /// Index of the variant.
    pub variant: usize,
    /// Index of the point.
    pub point: usize,
    /// Name of the variant, and behind it of the values of axes that are named.
    pub name: String,
    /// What it stands for, in a line.
    pub about: String,
    /// Name of its point in tables.
    pub case: String,
    /// Name of its variant in tables.
    pub bar: String,
    /// Its changes of the scenario, `PATH=VALUE`.
    pub settings: Vec<String>,
    /// Those that were fitted, with the published rows to which they were.
    pub fitted: Vec<(String, String)>,
    /// Whether a quick run has it.
    pub quick: bool,
    /// Whether it is run.
    pub is_run: bool,
}

/// An axis with the bundles of its values, where these have names.
pub(super) struct NamedAxis<'k> {
    pub(super) name: &'k str,
    pub(super) bundles: Vec<Bundle>,
}

impl NamedAxis<'_> {
    pub(super) fn value(&self, name: &str) -> Option<&Bundle> {
        self.bundles.iter().find(|value| value.name == name)
    }
}

/// The axes of a sweep.
pub(super) fn axes(keys: &SweepKeys) -> Result<Vec<NamedAxis<'_>>, String> {
    let axes = keys.axes.0.iter();
    let axes = axes.map(|(name, written)| {
        Ok(NamedAxis {
            name,
            bundles: bundle::of_axis(written)?,
        })
    });
    axes.collect()
}

/// The variants of a sweep, one without a name where there are none.
pub(super) fn variants(keys: &SweepKeys) -> Result<Vec<Bundle>, String> {
    let mut variants = Bundle::read_all(&keys.variants)?;
    // Names become folders and columns of tables.
    let is_plain = |c: char| c.is_alphanumeric() || "-_. +".contains(c);
    let odd = variants
        .iter()
        .find(|of| of.name.is_empty() || !of.name.chars().all(is_plain));
    if let Some(odd) = odd {
        return Err(format!(
            "the variant `{}` has a name that cannot be that of a folder; use letters, digits and hyphens",
            odd.name
        ));
    }
    for variant in &variants {
        let unknown = |axis: &&str| keys.axes.0.iter().all(|(name, _)| name != axis);
        if let Some(axis) = variant.axes().find(unknown) {
            let known = keys.axes.0.iter().map(|(name, _)| name.as_str());
            let help = tenter_units::suggestion(axis, known);
            return Err(format!(
                "`only` of `{}` has the axis `{axis}`, which there is not; {help}",
                variant.name
            ));
        }
    }
    if variants.is_empty() {
        variants.push(Bundle::read("", &[])?);
    }
    Ok(variants)
}

/// The cells, point by point; `quick` are the points that a quick run has.
pub(super) fn cells(
    keys: &SweepKeys,
    axes: &[NamedAxis<'_>],
    variants: &[Bundle],
    points: &[PointValues],
    quick: Option<&BTreeSet<usize>>,
) -> Result<Vec<SweepCell>, String> {
    let mut cells: Vec<SweepCell> = Vec::new();
    for (point, values) in points.iter().enumerate() {
        for (index, variant) in variants.iter().enumerate() {
            let mut at = axes.iter().zip(values);
            if at.all(|(axis, value)| variant.is_at(axis.name, value)) {
                let mut cell = cell(keys, axes, variant, values);
                (cell.variant, cell.point) = (index, point);
                cell.quick &= quick.is_none_or(|quick| quick.contains(&point));
                cells.push(cell);
            }
        }
    }
    let mut names = BTreeSet::new();
    let has_names = axes.iter().any(|axis| !axis.bundles.is_empty());
    let twice = cells.iter().find(|cell| !names.insert(&cell.name));
    match twice.filter(|_| has_names) {
        Some(cell) => Err(format!("two variants are called `{}`", cell.name)),
        None => Ok(cells),
    }
}

fn cell(
    keys: &SweepKeys,
    axes: &[NamedAxis<'_>],
    variant: &Bundle,
    values: &[String],
) -> SweepCell {
    let short = keys.axis_names();
    let mut settings: Vec<String> = settings(&keys.set.0).collect();
    let (mut names, mut cases, mut abouts) = (Vec::new(), Vec::new(), Vec::new());
    names.extend((!variant.name.is_empty()).then_some(variant.name.as_str()));
    let (mut quick, mut fitted, mut of_paths) = (variant.quick, Vec::new(), Vec::new());
    for ((axis, value), short) in axes.iter().zip(values).zip(short) {
        if let Some(bundle) = axis.value(value) {
            settings.extend(bundle.settings.iter().cloned());
            fitted.extend(bundle.fitted());
            names.push(&bundle.name);
            cases.push(bundle.label.clone());
            abouts.push(bundle.label.as_str());
            quick &= bundle.quick;
        } else {
            of_paths.push(format!("{}={value}", axis.name));
            cases.push(format!("{short}={value}"));
        }
    }
    settings.extend(variant.settings.iter().cloned());
    settings.extend(of_paths);
    fitted.extend(variant.fitted());
    let own = variant.settings.join(" ");
    let has_about = !variant.about.is_empty();
    abouts.push(if has_about { &variant.about } else { &own });
    abouts.retain(|part| !part.is_empty());
    SweepCell {
        variant: 0,
        point: 0,
        name: match names.as_slice() {
            [] => "all".to_owned(),
            [one] if axes.iter().all(|axis| axis.bundles.is_empty()) => (*one).to_owned(),
            parts => of_parts(parts),
        },
        about: abouts.join(", "),
        case: cases.join(", "),
        bar: match variant.label.as_str() {
            "" => "all".to_owned(),
            label => label.to_owned(),
        },
        settings,
        fitted: fitted
            .into_iter()
            .map(|(set, rows)| (set.clone(), rows.clone()))
            .collect(),
        quick,
        is_run: true,
    }
}

/// Settings as `--set` has them.
pub(super) fn settings(
    keys: &[(String, tenter_config::Written)],
) -> impl Iterator<Item = String> + '_ {
    keys.iter().map(|(path, value)| format!("{path}={value}"))
}

/// A name of these parts, of which a folder can be made.
fn of_parts(parts: &[&str]) -> String {
    let joined = parts.join("-").to_lowercase();
    let kept = joined.chars().map(|letter| match letter {
        'a'..='z' | '0'..='9' | '-' => letter,
        _ => '-',
    });
    kept.collect()
}
