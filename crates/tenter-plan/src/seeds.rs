//! The seeds of a trial: one, from which all is drawn, and those that a scenario sets apart.

/// The seeds that random streams are drawn from. Streams are named by seed, component and purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seeds {
    /// Of which hosts jobs are placed on.
    pub placement: u64,
    /// Of what switches and NICs hash and draw: the paths of flows, UDP source ports, ECN marks.
    pub hashing: u64,
    /// Of what jobs do and when: sizes and arrivals of flows, permutations, neighbours and volumes
    /// of applications, the spread of what is computed, the skew of starts.
    pub arrivals: u64,
}

impl Seeds {
    /// All of them the same.
    pub fn of(seed: u64) -> Seeds {
        Seeds {
            placement: seed,
            hashing: seed,
            arrivals: seed,
        }
    }
}
