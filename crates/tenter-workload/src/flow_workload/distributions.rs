//! Published flow-size distributions, by name.
//!
//! The points are data files; each says in its first line where it is from.

use super::distribution::{Between, DistributionError, Point, SizeDistribution};

/// A flow-size distribution that is built into the program.
#[derive(Clone, Copy, Debug)]
pub struct NamedDistribution {
    /// Name by which a scenario chooses it.
    pub name: &'static str,
    /// Points as text: a size in bytes and a cumulative probability on each line.
    pub text: &'static str,
    /// Interpolation between points that the source uses.
    pub between: Between,
    /// Mean that the source states, in bytes.
    pub stated_mean: Option<f64>,
}

macro_rules! distribution {
    ($name:literal, $between:ident, $mean:expr) => {
        NamedDistribution {
            name: $name,
            text: include_str!(concat!("../../flow-sizes/", $name, ".csv")),
            between: Between::$between,
            stated_mean: $mean,
        }
    };
}

/// All built-in distributions, in the order in which they are listed.
pub(crate) const DISTRIBUTIONS: [NamedDistribution; 9] = [
    distribution!("facebook-hadoop-homa", Steps, Some(127_796.6)),
    distribution!("facebook-hadoop-hpcc", Lines, None),
    distribution!("websearch-hpcc", Lines, None),
    distribution!("alistorage-2019", Lines, None),
    distribution!("facebook-cachefollower-homa", Steps, Some(692_975.6)),
    distribution!("facebook-webserver-homa", Steps, Some(62_874.27)),
    distribution!("google-all-rpc-homa", Steps, Some(2_927.354)),
    distribution!("google-search-rpc-homa", Steps, Some(440.790_7)),
    distribution!("googlerpc-2008", Lines, None),
];

impl NamedDistribution {
    /// Returns the built-in distribution with this name.
    pub fn find(name: &str) -> Option<&'static NamedDistribution> {
        DISTRIBUTIONS
            .iter()
            .find(|distribution| distribution.name == name)
    }

    /// Reads the points into a distribution.
    ///
    /// # Errors
    /// None for those in [`DISTRIBUTIONS`]; a test reads them all.
    pub fn distribution(&self) -> Result<SizeDistribution, DistributionError> {
        SizeDistribution::new(read_points(self.text), self.between)
    }
}

/// Reads lines with a size in bytes and a cumulative probability; other lines are skipped.
fn read_points(text: &str) -> Vec<Point> {
    let point = |line: &str| {
        let (size, probability) = line.split_once(',')?;
        let probability = probability.trim().parse().ok()?;
        Some(Point::new(size.trim().parse().ok()?, probability))
    };
    text.lines().filter_map(point).collect()
}

#[cfg(test)]
mod tests {
    use tenter_engine::Draws;

    use super::*;

    #[test]
    fn the_mean_of_each_law_is_the_stated_one() {
        for named in &DISTRIBUTIONS {
            let distribution = named.distribution().expect("a distribution of the program");
            let lines = named.text.lines().count();
            assert_eq!(
                distribution.points().len() + 2,
                lines,
                "{}: every line counts",
                named.name
            );
            if let Some(stated) = named.stated_mean {
                let off = (distribution.mean() / stated - 1.0).abs();
                assert!(
                    off < 1e-4,
                    "{}: {} B, {stated} B stated",
                    named.name,
                    distribution.mean()
                );
                let said = format!("stated mean {stated}");
                assert!(named.text.contains(&said), "{}: {said}", named.name);
            }
        }
        let hpcc = |name| {
            NamedDistribution::find(name)
                .map(|distribution| distribution.distribution().expect("a distribution").mean())
        };
        // By hand from its twenty points.
        let mean = hpcc("facebook-hadoop-hpcc").expect("it is known");
        assert!((mean - 120_420.75).abs() < 1e-3, "{mean}");
        let mean = hpcc("websearch-hpcc").expect("it is known");
        assert!((mean - 1_711_250.0).abs() < 1e-3, "{mean}");
    }

    /// The sample mean of a million draws lies within 4 standard errors of the mean, and the share
    /// of draws up to each point within the Kolmogorov-Smirnov distance that only one sample in a
    /// hundred thousand exceeds, 2.47/√n.
    #[test]
    fn a_million_draws_follow_each_law() {
        const DRAWS: u32 = 1_000_000;
        for named in &DISTRIBUTIONS {
            let distribution = named.distribution().expect("a distribution of the program");
            let draws = Draws::new(1, named.name, "test of distributions");
            let draw = |number: u32| distribution.draw(draws.at(u64::from(number)));
            let mut sizes: Vec<u64> = (0..DRAWS).map(draw).collect();
            sizes.sort_unstable();
            let n = f64::from(DRAWS);
            let mean = sizes.iter().map(|&size| size as f64).sum::<f64>() / n;
            let square = |&size: &u64| (size as f64 - mean).powi(2);
            let error = (sizes.iter().map(square).sum::<f64>() / n / n).sqrt();
            // Sizes are whole bytes, and never 0, where the distribution has all numbers between.
            let off = (mean - distribution.mean()).abs();
            assert!(off < 4.0 * error + 0.5, "{}: {mean} ± {error}", named.name);
            for point in distribution.points() {
                let up_to = point.up_to as f64 / 18_446_744_073_709_551_616.0;
                let size = point.size_bytes;
                let below = sizes.partition_point(|&drawn| drawn < size) as f64 / n;
                let at = sizes.partition_point(|&drawn| drawn <= size) as f64 / n;
                let limit = 2.47 / n.sqrt();
                // Where there are lines, half of what has the size of a point is beyond it.
                let (least, most) = match named.between {
                    Between::Steps => (at, at),
                    Between::Lines => (below, at),
                };
                assert!(
                    least - limit <= up_to && up_to <= most + limit,
                    "{}: {below} to {at} of the flows up to {size} B, {up_to} by the distribution",
                    named.name
                );
            }
        }
    }
}
