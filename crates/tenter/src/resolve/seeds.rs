//! The section `seeds`: seeds for single kinds of draws.

use tenter_language::config::component;
use tenter_sim::plan::Seeds;

component! {
    /// Seeds of single kinds of draws, where one is varied and others are held.
    pub struct SeedKeys as "`seeds`" {
        /// Seed of the hosts on which jobs are placed.
        placement: Option<u64> = absent "the `seed`", in 0..=u64::MAX;
        /// Seed of hashes and draws in switches and NICs: paths of flows, UDP source ports, ECN
        /// marks.
        hashing: Option<u64> = absent "the `seed`", in 0..=u64::MAX;
        /// Seed of the draws of jobs: sizes and arrivals of flows, permutations, neighbours and
        /// volumes of applications, the spread of computing times, the skew of starts.
        arrivals: Option<u64> = absent "the `seed`", in 0..=u64::MAX;
    }
}

impl SeedKeys {
    /// Completes the seeds: `seed` stands for those that are not given.
    pub(crate) fn beside(self, seed: u64) -> Seeds {
        Seeds {
            placement: self.placement.unwrap_or(seed),
            hashing: self.hashing.unwrap_or(seed),
            arrivals: self.arrivals.unwrap_or(seed),
        }
    }
}
