//! Reduces sorted values to the few points with which a cumulative distribution is drawn.

/// Up to this many values, each one becomes a point.
const ALL: usize = 2_048;
/// Number of points with even spacing in rank.
const EVEN: usize = 512;
// Number of points towards the end, with even spacing in the logarithm of the distance from it.
const TAIL: usize = 512;
/// Maximum number of points in the last thousandth, where tails are read.
const LAST: usize = 1_024;

/// Returns points on the cumulative distribution of `values`, which ascend: a value, and the share
/// of values that are no greater. Points are exact: each is one of the values, none is
/// interpolated.
pub(crate) fn points(values: &[f64]) -> Vec<(f64, f64)> {
    let count = values.len();
    let mut places: Vec<usize> = if count <= ALL {
        (0..count).collect()
    } else {
        let even = (0..EVEN).map(|part| part * count / EVEN);
        // A plot of the tail has a logarithmic axis, so the distance from the end is even in its
        // logarithm.
        let tail = (0..TAIL).map(|part| {
            let left = (count as f64).powf(1.0 - part as f64 / TAIL as f64);
            count - (left.ceil() as usize).clamp(1, count)
        });
        let of_last = count / 1_000;
        let step = of_last.div_ceil(LAST).max(1);
        let last = (count - of_last..count).step_by(step);
        even.chain(tail).chain(last).chain([count - 1]).collect()
    };
    places.sort_unstable();
    // The three sets overlap at the end of the distribution.
    places.dedup();
    let share = |place: usize| (place + 1) as f64 / count as f64;
    places
        .into_iter()
        .map(|place| (values[place], share(place)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_exact_and_the_tail_is_whole() {
        let values: Vec<f64> = (0..100_000).map(f64::from).collect();
        let points = points(&values);
        assert!(points.len() < 2_200, "{}", points.len());
        for (value, share) in &points {
            // The value v is the one of rank v + 1.
            assert!((share - (value + 1.0) / 1e5).abs() < 1e-12);
        }
        // Of the last thousandth, 100 values, each is there.
        assert_eq!(
            points
                .iter()
                .filter(|(value, _)| *value >= 99_900.0)
                .count(),
            100
        );
        assert_eq!(super::points(&[]), []);
        assert_eq!(super::points(&[3.0]), [(3.0, 1.0)]);
    }
}
