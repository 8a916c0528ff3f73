//! The points of a sweep: which values its axes have together.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use tenter_config::Written;

use super::keys::{Design, SAMPLES_MAX, SweepKeys};

/// A point: a value for each axis, in the order of the axes, as settings have it.
pub type PointValues = Vec<String>;

/// The values of one axis.
pub(super) fn values(path: &str, written: &Written) -> Result<Vec<String>, String> {
    let values = match written {
        Written::List(items) => items.iter().map(Written::to_string).collect(),
        Written::Map(keys) => range(keys).map_err(|what| format!("the axis `{path}` {what}"))?,
        Written::Word(_) | Written::Text(_) => {
            return Err(format!(
                "the axis `{path}` has one value; list several, `[1, 2]`, or give a range, `{{from: 1, to: 8, step: 1}}`"
            ));
        }
    };
    if values.is_empty() {
        return Err(format!("the axis `{path}` has no value; list one at least"));
    }
    Ok(values)
}

/// A quantity of a range: a number and the unit behind it.
fn quantity(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '-');
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    Some((number.parse().ok()?, unit.trim()))
}

/// `{from, to, step}`, or `{from, to, factor}`.
fn range(keys: &[(String, Written)]) -> Result<Vec<String>, String> {
    let text = |name: &str| {
        let found = keys.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.to_string())
    };
    if let Some((key, _)) = keys
        .iter()
        .find(|(key, _)| !["from", "to", "step", "factor"].contains(&key.as_str()))
    {
        return Err(format!(
            "has the key `{key}`; a range has `from`, `to`, and `step` or `factor`"
        ));
    }
    let needed = |name: &str| {
        let text = text(name).ok_or_else(|| format!("lacks `{name}`"))?;
        let parsed = quantity(&text).map(|(number, unit)| (number, unit.to_owned()));
        parsed.ok_or_else(|| format!("has `{name}: {text}`, which is no number with a unit"))
    };
    let ((from, unit), (to, other)) = (needed("from")?, needed("to")?);
    if unit != other {
        return Err(format!(
            "goes from `{unit}` to `{other}`; give both ends in one unit"
        ));
    }
    let next: Box<dyn Fn(u32) -> f64> = match (text("step"), text("factor")) {
        (Some(_), None) => {
            let (step, of_step) = needed("step")?;
            if step <= 0.0 || of_step != unit {
                return Err(format!("needs a positive `step` in `{unit}`"));
            }
            Box::new(move |n| from + step * f64::from(n))
        }
        (None, Some(_)) => {
            let (factor, of_factor) = needed("factor")?;
            if factor <= 1.0 || from <= 0.0 || !of_factor.is_empty() {
                return Err("needs a `factor` above 1 and a positive `from`".to_owned());
            }
            Box::new(move |n| from * factor.powi(n.cast_signed()))
        }
        _ => return Err("needs `step` or `factor`, and not both".to_owned()),
    };
    // The last value may be off by what decimals cannot say.
    let values = (0..SAMPLES_MAX).map(next);
    let values = values.take_while(|value| *value <= to * (1.0 + 1e-9));
    Ok(values
        .map(|value| format!("{}{unit}", shown(value)))
        .collect())
}

/// A number without the digits that come of binary fractions.
fn shown(value: f64) -> String {
    let text = format!("{value:.9}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    text.to_owned()
}

/// The points of a sweep, in the order in which they are run; one without values where there are
/// no axes.
pub(super) fn points(keys: &SweepKeys) -> Result<Vec<PointValues>, String> {
    let axes = keys.axes.0.iter();
    let axes = axes.map(|(path, written)| values(path, written));
    let axes = axes.collect::<Result<Vec<_>, String>>()?;
    match keys.design {
        Design::Grid => grid(&axes),
        Design::Zip => zip(&keys.axes.0, &axes),
        Design::Random => {
            let mut draws = ChaCha8Rng::seed_from_u64(keys.design_seed);
            let point = |_| {
                let draw = |axis: &Vec<String>| axis[below(&mut draws, axis.len())].clone();
                axes.iter().map(draw).collect()
            };
            Ok((0..keys.samples).map(point).collect())
        }
        Design::LatinHypercube => Ok(latin_hypercube(&axes, keys)),
    }
}

/// A number below `count`, each as likely as far as 64 bits tell.
fn below(draws: &mut ChaCha8Rng, count: usize) -> usize {
    ((u128::from(draws.next_u64()) * count as u128) >> 64) as usize
}

/// The last axis runs fastest.
fn grid(axes: &[Vec<String>]) -> Result<Vec<PointValues>, String> {
    let count = axes
        .iter()
        .try_fold(1_usize, |count, axis| count.checked_mul(axis.len()));
    if count.is_none_or(|count| count > SAMPLES_MAX as usize) {
        return Err(format!(
            "the grid has more than {SAMPLES_MAX} points; use fewer values, or `design: latin-hypercube`"
        ));
    }
    let mut points = vec![Vec::new()];
    for axis in axes {
        let longer = points.iter().flat_map(|point: &PointValues| {
            let with = |value: &String| [point.as_slice(), std::slice::from_ref(value)].concat();
            axis.iter().map(with)
        });
        points = longer.collect();
    }
    Ok(points)
}

fn zip(paths: &[(String, Written)], axes: &[Vec<String>]) -> Result<Vec<PointValues>, String> {
    let Some(first) = axes.first() else {
        return Ok(vec![Vec::new()]);
    };
    let other = axes.iter().position(|axis| axis.len() != first.len());
    if let Some(other) = other {
        return Err(format!(
            "`design: zip` takes values together, and the axes `{}` and `{}` have {} and {} of them",
            paths[0].0,
            paths[other].0,
            first.len(),
            axes[other].len()
        ));
    }
    let point = |at: usize| axes.iter().map(|axis| axis[at].clone()).collect();
    Ok((0..first.len()).map(point).collect())
}

/// Each axis is cut into as many equal parts as there are samples; each part is used once, in an
/// order of its own.
fn latin_hypercube(axes: &[Vec<String>], keys: &SweepKeys) -> Vec<PointValues> {
    let samples = keys.samples as usize;
    let mut draws = ChaCha8Rng::seed_from_u64(keys.design_seed);
    let columns: Vec<Vec<String>> = axes
        .iter()
        .map(|axis| {
            let mut parts: Vec<usize> = (0..samples).collect();
            for last in (1..samples).rev() {
                parts.swap(last, below(&mut draws, last + 1));
            }
            let value = |part: usize| axis[part * axis.len() / samples].clone();
            parts.into_iter().map(value).collect()
        })
        .collect();
    let point = |at: usize| columns.iter().map(|column| column[at].clone()).collect();
    (0..samples).map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenter_scenario::{Format, read_document};

    fn keys(text: &str) -> SweepKeys {
        let text = format!("scenario: s.yaml\n{text}");
        read_document(&text, "sweep.yaml", Format::Yaml).unwrap_or_else(|errors| panic!("{errors}"))
    }

    fn shown_points(text: &str) -> Vec<String> {
        let points = points(&keys(text)).unwrap_or_else(|error| panic!("{error}"));
        points.iter().map(|point| point.join(" ")).collect()
    }

    #[test]
    fn a_grid_has_every_combination_and_its_last_axis_runs_fastest() {
        let axes = "axes: {a: [1, 2], b: [x, {k: 3}]}";
        assert_eq!(shown_points(axes), ["1 x", "1 {k: 3}", "2 x", "2 {k: 3}"]);
        assert_eq!(shown_points(""), [""]);
    }

    #[test]
    fn ranges_have_both_ends_and_their_unit() {
        let of = |range: &str| shown_points(&format!("axes: {{a: {range}}}"));
        assert_eq!(of("{from: 0.1, to: 0.3, step: 0.1}"), ["0.1", "0.2", "0.3"]);
        assert_eq!(of("{from: 1us, to: 4us, step: 2us}"), ["1us", "3us"]);
        assert_eq!(
            of("{from: 1MiB, to: 16MiB, factor: 4}"),
            ["1MiB", "4MiB", "16MiB"]
        );
        for (range, expected) in [
            ("{from: 1us, to: 2ms, step: 1us}", "one unit"),
            ("{from: 1, to: 2}", "`step` or `factor`"),
            ("{from: 1, to: 2, factor: 1}", "above 1"),
            ("{from: x, to: 2, step: 1}", "no number"),
            ("{to: 2, step: 1}", "lacks `from`"),
            ("{from: 1, to: 2, by: 1}", "`by`"),
            ("[]", "no value"),
            ("7", "one value"),
        ] {
            let error = points(&keys(&format!("axes: {{a: {range}}}")));
            let error = error.expect_err("the range is wrong");
            assert!(error.contains(expected), "{range}: {error}");
        }
    }

    #[test]
    fn zip_takes_values_together() {
        let text = "design: zip\naxes: {a: [1, 2], b: [x, y]}";
        assert_eq!(shown_points(text), ["1 x", "2 y"]);
        let text = "design: zip\naxes: {a: [1, 2], b: [x]}";
        assert!(points(&keys(text)).is_err());
    }

    #[test]
    fn a_latin_hypercube_uses_each_part_of_each_axis_once() {
        let text =
            "design: latin-hypercube\nsamples: 8\naxes: {a: [1, 2], b: {from: 0, to: 7, step: 1}}";
        let points = points(&keys(text)).expect("points");
        let mut second: Vec<&str> = points.iter().map(|point| point[1].as_str()).collect();
        second.sort_unstable();
        assert_eq!(second, ["0", "1", "2", "3", "4", "5", "6", "7"]);
        let ones = points.iter().filter(|point| point[0] == "1").count();
        assert_eq!(ones, 4);
        assert_eq!(points, super::points(&keys(text)).expect("the same again"));
    }

    #[test]
    fn draws_depend_on_their_seed_alone() {
        let of = |seed: u32| {
            let text =
                format!("design: random\nsamples: 20\ndesign_seed: {seed}\naxes: {{a: [1, 2, 3]}}");
            shown_points(&text)
        };
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }

    #[test]
    fn samples_belong_to_designs_that_draw() {
        for text in ["design: random", "samples: 3"] {
            let text = format!("scenario: s.yaml\n{text}\n");
            let refused = read_document::<SweepKeys>(&text, "sweep.yaml", Format::Yaml);
            assert!(refused.is_err(), "{text}");
        }
    }
}
