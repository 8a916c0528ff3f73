//! Reduces a time series to few points.

/// Returns each pixel column's first, least, greatest and last point (M4 aggregation): the line
/// through them is drawn with the same pixels as the line through all points.
pub(crate) fn m4(points: &[(f64, f64)], from: f64, to: f64, width: usize) -> Vec<(f64, f64)> {
    if points.len() <= 4 * width {
        return points.to_vec();
    }
    let scale = width as f64 / (to - from).max(1e-9);
    let column = |time: f64| (((time - from) * scale) as usize).min(width - 1);
    let mut kept = Vec::with_capacity(4 * width);
    for part in points.chunk_by(|a, b| column(a.0) == column(b.0)) {
        let by_value = |a: &usize, b: &usize| part[*a].1.total_cmp(&part[*b].1);
        let least = (0..part.len()).min_by(by_value).unwrap_or(0);
        let greatest = (0..part.len()).max_by(by_value).unwrap_or(0);
        // In the order of time, and a point with two roles once.
        let mut places = [0, least, greatest, part.len() - 1];
        places.sort_unstable();
        let mut last = None;
        for place in places {
            if last != Some(place) {
                kept.push(part[place]);
            }
            last = Some(place);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peak_is_never_lost() {
        let mut points: Vec<(f64, f64)> = (0..10_000).map(|i| (f64::from(i), 1.0)).collect();
        points[5_432].1 = 9.0;
        let kept = m4(&points, 0.0, 10_000.0, 100);
        assert!(kept.len() <= 400, "{}", kept.len());
        assert!(kept.contains(&(5_432.0, 9.0)));
        assert!(kept.is_sorted_by(|a, b| a.0 < b.0));
        assert_eq!((kept[0], kept[kept.len() - 1]), (points[0], points[9_999]));
    }
}
