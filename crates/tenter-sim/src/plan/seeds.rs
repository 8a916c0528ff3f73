//! A trial's seeds: one for all random streams, and those that a scenario sets separately.

/// The seeds from which random streams are drawn. A stream is named by seed, component and purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seeds {
    /// Seed for the placement of jobs on hosts.
    pub placement: u64,
    /// Seed for hashes and draws in switches and NICs: paths of flows, UDP source ports, ECN marks.
    pub hashing: u64,
    /// Seed for the jobs' behaviour: sizes and arrivals of flows, permutations, neighbours and
    /// volumes of applications, spread of computing times, skew of starts.
    pub arrivals: u64,
}
