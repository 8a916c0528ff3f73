//! Cells: each variant at each point where it is run.

use std::collections::BTreeSet;

use super::bundle::{self, Bundle};
use super::design::PointValues;
use super::keys::{Design, SweepKeys};

/// A variant at a point: the unit that is run once for each seed.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepCell {
    /// Index into [`Sweep::variants`](super::Sweep::variants).
    pub variant: usize,
    /// Index into [`Sweep::points`](super::Sweep::points).
    pub point: usize,
    /// Variant name, followed by the axes' named values; in a study also the trials' folder.
    pub name: String,
    /// Description in one line; the variant's settings if it has none.
    pub about: String,
    /// Point name in printed tables, such as `spines=4, size=1MiB`.
    pub case: String,
    /// Variant name in printed tables.
    pub bar: String,
    /// Changes to the scenario, `PATH=VALUE`; later ones override earlier ones.
    pub settings: Vec<String>,
    /// Settings that were fitted, each with the published rows to which it was fitted.
    pub fitted: Vec<(String, String)>,
    /// True if a quick run has the cell.
    pub quick: bool,
    /// False if the quick form or the user leaves the cell out.
    pub is_run: bool,
}

/// An axis, with a bundle for each named value; without bundles its values are plain.
pub(super) struct NamedAxis<'k> {
    pub(super) name: &'k str,
    pub(super) bundles: Vec<Bundle>,
}

impl NamedAxis<'_> {
    /// Returns a named value's bundle.
    pub(super) fn value(&self, name: &str) -> Option<&Bundle> {
        self.bundles.iter().find(|value| value.name == name)
    }
}

/// Reads the axes with their bundles.
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

/// Reads the variants; a sweep without any gets one with an empty name.
pub(super) fn variants(keys: &SweepKeys) -> Result<Vec<Bundle>, String> {
    let mut variants = Bundle::read_all(&keys.variants)?;
    // Names become folders and columns of tables.
    let is_plain = |c: char| c.is_alphanumeric() || "-_. +".contains(c);
    if variants.iter().any(|of| of.name == "none") {
        let message = "a variant is called `none`, which means none of them in `judge`; rename it";
        return Err(message.to_owned());
    }
    let odd = variants
        .iter()
        .find(|of| of.name.trim_matches('.').is_empty() || !of.name.chars().all(is_plain));
    if let Some(odd) = odd {
        return Err(format!(
            "the variant `{}` has a name that cannot be that of a folder; use letters, digits and hyphens",
            odd.name
        ));
    }
    for variant in &variants {
        let unknown = |axis: &&String| keys.axes.0.iter().all(|(name, _)| name != *axis);
        if let Some(axis) = variant.only().iter().map(|(axis, _)| axis).find(unknown) {
            let known = keys.axes.0.iter().map(|(name, _)| name.as_str());
            let help = tenter_language::units::suggestion(axis, known);
            return Err(format!(
                "`only` of `{}` has the axis `{axis}`, which there is not; {help}",
                variant.name
            ));
        }
    }
    if variants.is_empty() {
        variants.push(Bundle::read("", &[], false)?);
    }
    Ok(variants)
}

/// Makes the cells, point by point. `quick` has the indices of points in the quick form, if table
/// rows say; otherwise a quick run has all points.
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
                // A quick run has a cell only if the variant, each axis value and the point are
                // part of it.
                cell.quick &= quick.is_none_or(|quick| quick.contains(&point));
                cells.push(cell);
            }
        }
    }
    check_only(keys, axes, variants, points)?;
    let mut names = BTreeSet::new();
    let has_names = axes.iter().any(|axis| !axis.bundles.is_empty());
    // Plain axes give all points of a variant one name. Names must be unique with bundles, and in
    // studies, whose trials lie in folders of these names.
    let is_unique = has_names || keys.published.is_some();
    let twice = cells.iter().find(|cell| !names.insert(&cell.name));
    match twice.filter(|_| is_unique) {
        Some(cell) => Err(format!("two variants are called `{}`", cell.name)),
        None => Ok(cells),
    }
}

/// Returns the values that the points have at an axis. Points have values as settings write them,
/// so a text may have quotes, which are left off.
pub(super) fn values_at(points: &[PointValues], axis: usize) -> BTreeSet<&str> {
    let values = points.iter().map(|point| point[axis].trim_matches('"'));
    values.collect()
}

/// Checks that the values at which variants are run occur: a misspelt one would run nothing.
fn check_only(
    keys: &SweepKeys,
    axes: &[NamedAxis<'_>],
    variants: &[Bundle],
    points: &[PointValues],
) -> Result<(), String> {
    // Draws need not hit each value that an axis lists.
    let is_drawn = matches!(keys.design, Design::Random | Design::LatinHypercube);
    for variant in variants {
        for (axis, values) in variant.only() {
            if values.is_empty() {
                return Err(format!(
                    "`only` of `{}` has no value of `{axis}`, so the variant would never run; leave it out",
                    variant.name
                ));
            }
            let Some(place) = axes.iter().position(|of| of.name == axis) else {
                continue;
            };
            let known = values_at(points, place);
            let unknown = values.iter().find(|value| !known.contains(value.as_str()));
            if let Some(value) = unknown.filter(|_| !is_drawn) {
                let help = tenter_language::units::suggestion(value, known.iter().copied());
                return Err(format!(
                    "`only` of `{}` has `{axis}: {value}`, which no point has; {help}",
                    variant.name
                ));
            }
        }
    }
    Ok(())
}

/// Makes the cell for a variant at a point with these axis `values`.
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
    // Later settings override earlier ones: `set` of the sweep, then bundles of axes, then the
    // variant, then plain axis values.
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
            // A variant without named axis values keeps its name unchanged, capitals and blanks
            // included.
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

/// Writes settings as `--set` takes them, `PATH=VALUE`.
pub(super) fn settings(
    keys: &[(String, tenter_language::config::Written)],
) -> impl Iterator<Item = String> + '_ {
    keys.iter().map(|(path, value)| format!("{path}={value}"))
}

/// Joins `parts` to a name that can be a folder's: lower-case letters, digits and hyphens.
fn of_parts(parts: &[&str]) -> String {
    let joined = parts.join("-").to_lowercase();
    let kept = joined.chars().map(|letter| match letter {
        'a'..='z' | '0'..='9' | '-' => letter,
        _ => '-',
    });
    kept.collect()
}
