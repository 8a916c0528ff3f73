//! Points of a sweep: the values that its axes have together.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use tenter_language::config::Written;

use super::axis::{Axis, scaled};
use super::keys::{Design, SweepKeys};
use super::limits::SAMPLES_MAX;

/// A point: one value for each axis, in axis order, as settings write it.
pub type PointValues = Vec<String>;

/// Returns the points in the order in which they are run; without axes, one point without values.
///
/// # Errors
/// Names the axis that is invalid or does not fit the design.
pub(super) fn points(keys: &SweepKeys) -> Result<Vec<PointValues>, String> {
    let axes = keys.axes.0.iter();
    let axes = axes.map(|(path, written)| Axis::read(path, written));
    let axes = axes.collect::<Result<Vec<Axis>, String>>()?;
    match keys.design {
        Design::Grid => grid(&listed(&axes)?),
        Design::Zip => zip(&keys.axes.0, &listed(&axes)?),
        Design::Random => {
            // ChaCha's stream is fixed by its definition, so a seed gives the same points on every
            // machine.
            let mut draws = ChaCha8Rng::seed_from_u64(keys.design_seed);
            let point = |_| {
                let draw = |axis: &Axis| axis.at(draws.next_u64());
                axes.iter().map(draw).collect()
            };
            Ok((0..keys.samples).map(point).collect())
        }
        Design::LatinHypercube => Ok(latin_hypercube(&axes, keys)),
        // Rows of the published table define the points: `Lookup::points`.
        Design::Rows => Ok(Vec::new()),
    }
}

/// Returns the values of all axes, for designs that do not draw.
fn listed(axes: &[Axis]) -> Result<Vec<Vec<String>>, String> {
    axes.iter().map(Axis::values).collect()
}

/// Returns every combination of values; the last axis varies fastest.
fn grid(axes: &[Vec<String>]) -> Result<Vec<PointValues>, String> {
    // The product is computed before any point is built: six axes with 100 values would fill the
    // memory.
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

/// Combines the first values of all axes, the second values, and so on.
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

/// Cuts each axis into as many equal parts as there are samples and draws one value from each part.
/// Each axis uses its parts in a random order.
fn latin_hypercube(axes: &[Axis], keys: &SweepKeys) -> Vec<PointValues> {
    let samples = keys.samples as usize;
    let mut draws = ChaCha8Rng::seed_from_u64(keys.design_seed);
    // Axis by axis, first the order of its parts, then the places within them: this order of draws
    // fixes which points a `design_seed` gives.
    let columns: Vec<Vec<String>> = axes
        .iter()
        .map(|axis| {
            let mut parts: Vec<usize> = (0..samples).collect();
            // Fisher–Yates shuffle: every order of the parts is equally likely.
            for last in (1..samples).rev() {
                parts.swap(last, scaled(draws.next_u64(), last + 1));
            }
            let value = |part: usize| axis.within(part, samples, &mut || draws.next_u64());
            parts.into_iter().map(value).collect()
        })
        .collect();
    let point = |at: usize| columns.iter().map(|column| column[at].clone()).collect();
    (0..samples).map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::{Format, read_document};

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
        assert_eq!(
            of("{from: 1us, to: 0.003ms, step: 1000ns}"),
            ["1us", "2us", "3us"]
        );
        assert_eq!(
            of("{from: 1e-3, to: 3e-3, step: 1e-3}"),
            ["0.001", "0.002", "0.003"]
        );
        assert_eq!(
            of("{from: 1e-12, to: 1e-10, factor: 10}"),
            ["0.000000000001", "0.00000000001", "0.0000000001"]
        );
        assert_eq!(
            of("{from: 1e1us, to: 2E+1us, step: 5us}"),
            ["10us", "15us", "20us"]
        );
        // The third step from -0.3 is not at 5.6e-17.
        assert_eq!(of("{from: -0.3, to: 0, step: 0.3}"), ["-0.3", "0"]);
        for (range, expected) in [
            ("{from: 1us, to: 2MiB, step: 1us}", "units of one quantity"),
            ("{from: 1, to: 2}", "without a `step`"),
            ("{from: 1, to: 2, step: 1, factor: 2}", "and not two"),
            ("{from: 2, to: 1, step: 1}", "ends before"),
            ("{from: 0, to: 1, scale: log, count: 3}", "positive `from`"),
            ("{from: 1, to: 2, scale: cubic}", "`linear` or `log`"),
            ("{from: 1, to: 2, count: 1}", "2 or more"),
            ("{from: 1, to: 2, step: 1e-7}", "more than 1000000"),
            (
                "{from: 1, to: 64, step: 1, scale: log}",
                "`step` and `scale: log`",
            ),
            ("{from: 1, to: 1e999, step: 1}", "no number"),
            ("{from: 1, to: 2, step: .nan}", "no number"),
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
    fn a_latin_hypercube_draws_from_lists_and_steps() {
        // Three parts of ten values: each part may give any of its values, the last ones, too.
        for axis in [
            "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]",
            "{from: 0, to: 9, step: 1}",
        ] {
            let mut seen = [false; 10];
            for seed in 0..100 {
                let text = format!(
                    "design: latin-hypercube\nsamples: 3\ndesign_seed: {seed}\naxes: {{a: {axis}}}"
                );
                let points = points(&keys(&text)).expect("points");
                let mut drawn: Vec<usize> = points
                    .iter()
                    .map(|at| at[0].parse().expect("whole"))
                    .collect();
                drawn.sort_unstable();
                // The thirds of 0 to 10 end at 3.3 and 6.7.
                assert!(drawn[0] <= 3 && (3..=6).contains(&drawn[1]) && drawn[2] >= 6);
                for value in drawn {
                    seen[value] = true;
                }
            }
            assert_eq!(seen, [true; 10], "{axis}");
        }
    }

    #[test]
    fn a_count_has_both_ends_and_a_scale() {
        let of = |range: &str| shown_points(&format!("axes: {{a: {range}}}"));
        assert_eq!(of("{from: 0.2, to: 0.8, count: 3}"), ["0.2", "0.5", "0.8"]);
        assert_eq!(
            of("{from: 1MiB, to: 16MiB, count: 3, scale: log}"),
            ["1MiB", "4MiB", "16MiB"]
        );
        // The square root of 2 in whole picoseconds.
        assert_eq!(
            of("{from: 1us, to: 2us, count: 3, scale: log}"),
            ["1us", "1414214ps", "2us"]
        );
    }

    #[test]
    fn ranges_are_drawn_from_without_steps() {
        let text = "design: latin-hypercube\nsamples: 64\naxes: {load: {from: 0.1, to: 0.9}, size: {from: 1KiB, to: 1GiB, scale: log}, spines: {from: 2, to: 64, scale: log, step: 1}}";
        let points = points(&keys(text)).expect("points");
        let mut loads: Vec<f64> = points
            .iter()
            .map(|at| at[0].parse().expect("a number"))
            .collect();
        loads.sort_unstable_by(f64::total_cmp);
        for (part, load) in (0..).zip(loads) {
            let least = 0.1 + 0.8 * f64::from(part) / 64.0;
            assert!(
                (least - 1e-6..=least + 0.8 / 64.0 + 1e-6).contains(&load),
                "{load}"
            );
        }
        // Half of the sizes are below the geometric mean of the ends, 1 MiB.
        let bytes = points
            .iter()
            .map(|at| at[1].parse::<tenter_language::units::Bytes>());
        let below = bytes.filter(|of| of.as_ref().is_ok_and(|of| of.count() < 1 << 20));
        assert_eq!(below.count(), 32);
        let spines: Vec<u32> = points
            .iter()
            .map(|at| at[2].parse().expect("whole"))
            .collect();
        assert!(spines.iter().all(|of| (2..=64).contains(of)));
        // As many below 11.3 as above: 2 to 64 has five doublings.
        let few = spines.iter().filter(|of| **of <= 11).count();
        assert!((28..=36).contains(&few), "{few}");
        let random = text.replace("latin-hypercube", "random");
        assert_eq!(super::points(&keys(&random)).expect("points").len(), 64);
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
