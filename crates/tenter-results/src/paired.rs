//! The table that compares readings seed by seed.

use crate::column::rows;

rows! {
    /// One reading of one variant or folder at one point of a sweep, beside the same of another
    /// with the same seeds and settings.
    pub struct PairedRow in "paired" {
        /// The reading: one of the sweep, or a completion time of a folder of seeds.
        reading: String => "reading", "";
        /// The unit of the two values; empty where there is none.
        unit: String => "unit", "";
        /// The settings that both have; empty where nothing was varied.
        settings: String => "settings", "";
        /// The compared variant, folder, or both.
        name: String => "name", "";
        /// The variant or folder that it is compared with.
        against: String => "against", "";
        /// The statistic of the reading over the values of the pairs.
        value: f64 => "value", "";
        /// That statistic of the variant or folder it is compared with.
        against_value: f64 => "against_value", "";
        /// Seeds that both have a value for.
        pairs: u32 => "pairs", "";
        /// Seeds in which it is better.
        wins: u32 => "wins", "";
        /// Seeds in which it is worse.
        losses: u32 => "losses", "";
        /// Geometric mean over the pairs of its value over the other; missing where a value is not
        /// above zero.
        ratio: Option<f64> => "ratio", "";
        /// Lower end of the 95 % confidence interval of that mean, by Student's t distribution of
        /// the logarithms; missing for a single pair.
        ratio_low: Option<f64> => "ratio_low", "";
        /// Upper end of that confidence interval.
        ratio_high: Option<f64> => "ratio_high", "";
        /// Probability that wins and losses are as far apart, or farther, if both are equally good
        /// (two-sided sign test).
        p_value: f64 => "p_value", "";
        /// True if greater values of the reading are better.
        more_is_better: bool => "more_is_better", "";
    }
}
