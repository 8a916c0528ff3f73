//! Flow-size distributions: points on a cumulative distribution function, inverted for draws.
//!
//! Probabilities are integers out of 2⁶⁴ and sizes are whole bytes, so a draw is the same on every
//! system.

/// Interpolation between two neighbouring points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    /// Only the sizes in the points occur.
    Steps,
    /// All sizes between two points occur, each equally likely.
    Lines,
}

/// A size and the probability that a flow is at most this long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// Flow size at this point, in bytes.
    pub size_bytes: u64,
    /// Cumulative probability out of 2⁶⁴; the last point counts as 1.
    pub up_to: u64,
}

/// Reason why points are no distribution.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DistributionError {
    /// The list has no points.
    #[error(
        "a distribution of flow sizes needs a point; give at least one, such as `{{size: 1000B, cumulative: 1}}`"
    )]
    Empty,
    /// The largest size is 0 bytes, and a flow has at least one.
    #[error("every size of the distribution is 0 bytes; give a last point above it")]
    NoBytes,
    /// A size or a probability is below the one before it; points count from 1.
    #[error(
        "point {0} of the distribution is below the one before it; sizes and cumulative probabilities must ascend"
    )]
    Descends(usize),
    /// The last cumulative probability is not 1.
    #[error(
        "the last cumulative probability of the distribution is not 1; divide all by the last one"
    )]
    NotWhole,
}

/// A distribution that flow sizes are drawn from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeDistribution {
    points: Vec<Point>,
    between: Between,
}

/// Scale that [`Point::up_to`] has, 2⁶⁴.
const WHOLE: f64 = 18_446_744_073_709_551_616.0;
/// Least value accepted as 1: rounded shares may add up to a little less.
const NEARLY_WHOLE: u64 = u64::MAX - (u64::MAX >> 30);

impl Point {
    /// Makes a point from a probability between 0 and 1.
    pub fn new(size_bytes: u64, probability: f64) -> Point {
        // The cast saturates, so a probability of 1 becomes the greatest value.
        let up_to = (probability * WHOLE) as u64;
        Point { size_bytes, up_to }
    }
}

impl SizeDistribution {
    /// Makes the distribution in which every flow has this size in bytes.
    pub(crate) fn fixed(size_bytes: u64) -> SizeDistribution {
        let up_to = u64::MAX;
        SizeDistribution {
            points: vec![Point { size_bytes, up_to }],
            between: Between::Steps,
        }
    }

    /// Makes a distribution from its points.
    ///
    /// # Errors
    /// No points, points that descend, a last size of 0, or a last probability other than 1.
    pub fn new(
        mut points: Vec<Point>,
        between: Between,
    ) -> Result<SizeDistribution, DistributionError> {
        let descends = |pair: &[Point]| {
            pair[1].size_bytes < pair[0].size_bytes || pair[1].up_to < pair[0].up_to
        };
        if let Some(index) = points.windows(2).position(descends) {
            return Err(DistributionError::Descends(index + 2));
        }
        let last = points.last_mut().ok_or(DistributionError::Empty)?;
        if last.size_bytes == 0 {
            return Err(DistributionError::NoBytes);
        }
        if last.up_to < NEARLY_WHOLE {
            return Err(DistributionError::NotWhole);
        }
        // 2⁶⁴ itself does not fit; no draw exceeds this value.
        last.up_to = u64::MAX;
        Ok(SizeDistribution { points, between })
    }

    /// Returns the points, the last with the probability 1.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// Returns the size, at least 1 byte, that a uniform 64-bit `draw` leads to.
    pub fn draw(&self, draw: u64) -> u64 {
        let last = self.points.len() - 1;
        let index = self.points[..last].partition_point(|point| point.up_to <= draw);
        let to = self.points[index];
        let size = match (self.between, index) {
            (Between::Steps, _) | (_, 0) => to.size_bytes,
            (Between::Lines, _) => {
                let from = self.points[index - 1];
                let width = u128::from(to.up_to - from.up_to).max(1);
                let rise = u128::from(to.size_bytes - from.size_bytes);
                let along = rise * u128::from(draw - from.up_to) + width / 2;
                from.size_bytes + (along / width) as u64
            }
        };
        size.max(1)
    }

    /// Returns the size in bytes that `per_mille` out of 1,000 flows do not exceed.
    pub fn quantile(&self, per_mille: u32) -> u64 {
        // Computed as the points are, so that a share which equals a point's falls on the point's
        // side.
        let share = (f64::from(per_mille.min(1_000)) / 1_000.0 * WHOLE) as u64;
        self.draw(share.saturating_sub(1))
    }

    /// Returns the largest size in bytes.
    pub fn largest(&self) -> u64 {
        let last = self.points.last().map_or(0, |point| point.size_bytes);
        last.max(1)
    }

    /// Returns the mean of `of(size)` over all flows. Between two points, 64 equally likely sizes
    /// stand for all.
    pub fn mean_of(&self, of: impl Fn(u64) -> u64) -> f64 {
        let (mut mean, mut before) = (0.0, 0);
        for point in &self.points {
            let width = point.up_to - before;
            let count = match self.between {
                Between::Steps => 1,
                Between::Lines => 64,
            };
            let draw = |step: u64| {
                before
                    + ((u128::from(width) * u128::from(2 * step + 1)) / u128::from(2 * count))
                        as u64
            };
            let sum: f64 = (0..count)
                .map(|step| of(self.draw(draw(step))) as f64)
                .sum();
            mean += sum / count as f64 * (width as f64 / WHOLE);
            before = point.up_to;
        }
        mean
    }

    /// Returns the mean size in bytes, computed from the points.
    pub fn mean(&self) -> f64 {
        let (mut mean, mut before) = (0.0, None);
        for point in &self.points {
            let up_to = point.up_to as f64 / WHOLE;
            let (last_size, last_up_to) = before.unwrap_or((point.size_bytes as f64, 0.0));
            let size = match self.between {
                Between::Steps => point.size_bytes as f64,
                Between::Lines => f64::midpoint(last_size, point.size_bytes as f64),
            };
            mean += size * (up_to - last_up_to);
            before = Some((point.size_bytes as f64, up_to));
        }
        mean
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distribution(
        points: &[(u64, f64)],
        between: Between,
    ) -> Result<SizeDistribution, DistributionError> {
        let points = points.iter().map(|&(size, p)| Point::new(size, p));
        SizeDistribution::new(points.collect(), between)
    }

    /// Such a share of all draws.
    fn at(share: f64) -> u64 {
        (share * WHOLE) as u64
    }

    #[test]
    fn steps_have_the_sizes_of_their_points_alone() {
        let points = [(100, 0.25), (400, 0.75), (1_000, 1.0)];
        let distribution = distribution(&points, Between::Steps).expect("it ascends to 1");
        let sizes =
            [0.0, 0.249, 0.25, 0.749, 0.75, 0.999].map(|share| distribution.draw(at(share)));
        assert_eq!(sizes, [100, 100, 400, 400, 1_000, 1_000]);
        // 0.25 · 100 + 0.5 · 400 + 0.25 · 1,000
        assert!((distribution.mean() - 475.0).abs() < 1e-9);
        assert_eq!(
            [250, 251, 1_000].map(|q| distribution.quantile(q)),
            [100, 400, 1_000]
        );
        assert_eq!(distribution.draw(u64::MAX), 1_000);
    }

    #[test]
    fn lines_have_all_sizes_between() {
        let points = [(0, 0.0), (100, 0.5), (300, 1.0)];
        let distribution = distribution(&points, Between::Lines).expect("it ascends to 1");
        let sizes = [0.0, 0.25, 0.5, 0.75].map(|share| distribution.draw(at(share)));
        assert_eq!(sizes, [1, 50, 100, 200]);
        // 0.5 · 50 + 0.5 · 200
        assert!((distribution.mean() - 125.0).abs() < 1e-9);
        // Where 64 sizes are rounded, their mean is.
        assert!((distribution.mean_of(|size| size) - 125.0).abs() < 0.1);
        assert!((distribution.mean_of(|_| 7) - 7.0).abs() < 1e-9);
    }

    #[test]
    fn what_is_no_law_is_refused() {
        let new = |points: &[(u64, f64)]| distribution(points, Between::Steps);
        assert_eq!(new(&[]), Err(DistributionError::Empty));
        assert_eq!(new(&[(0, 1.0)]), Err(DistributionError::NoBytes));
        assert_eq!(
            new(&[(9, 0.5), (8, 1.0)]),
            Err(DistributionError::Descends(2))
        );
        assert_eq!(
            new(&[(8, 0.6), (9, 0.5)]),
            Err(DistributionError::Descends(2))
        );
        assert_eq!(new(&[(8, 0.5), (9, 0.9)]), Err(DistributionError::NotWhole));
        assert_eq!(SizeDistribution::fixed(7).draw(3), 7);
    }
}
