//! Permutation: each rank sends its whole buffer to one other rank, and each receives one.
//!
//! Origin: the random permutation traffic matrix in the load-balancing literature, e.g.
//! "Re-architecting datacenter networks and stacks for low latency and high performance" (Handley
//! et al., 2017). Parameter: the seed that selects the derangement.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use tenter_language::config::component;
use tenter_language::units::Time;

use super::algorithm::Collective;
use super::member::{CollectiveMember, Factor};
use super::one_each::OneEach;
use crate::closed_form::IdealSwitch;
use crate::{Schedule, WorkloadError};

component! {
    /// Each rank sends everything to one other rank; a random derangement.
    pub struct Permutation as "`jobs[].collectives[]` with `collective: permutation` and `algorithm: random`" {
        /// Which permutation without fixed points.
        seed: Option<u64> = absent "`seeds.arrivals`, or else the `seed`", in 0..=u64::MAX;
    }
}

impl Collective for Permutation {
    const MEMBER: CollectiveMember = CollectiveMember {
        collective: "permutation",
        algorithm: "random",
        summary: "each rank sends everything to one other rank, each receives from one",
        model_page: "docs/models/collective-permutation.md",
        ranks_max: u32::MAX,
        // As for send-recv: every byte crosses each port once in each direction.
        busbw: Factor::One,
    };

    /// Draws the derangement from the seed. A scenario has filled in the seed by now; 0 stands in
    /// for tests.
    fn schedule(&self, ranks: u32, size_bytes: u64) -> Result<Box<dyn Schedule>, WorkloadError> {
        let destinations = derangement(ranks, self.seed.unwrap_or_default());
        Ok(Box::new(OneEach::new(destinations, size_bytes)))
    }

    /// Takes c(S) + L: each port sends one transfer and receives one.
    fn ideal(&self, switch: &IdealSwitch<'_>) -> Time {
        switch.hop(switch.size_bytes)
    }

    fn draws(&self) -> bool {
        true
    }
}

/// Draws a permutation of `0..ranks` (at least 2) without a fixed point; all are equally likely.
///
/// A Fisher–Yates shuffle starts again as soon as it leaves a rank at its own place, which takes e
/// ≈ 2.7 attempts on average.
fn derangement(ranks: u32, seed: u64) -> Box<[u32]> {
    let mut random = stream(seed);
    let mut destination: Box<[u32]> = (0..ranks).collect();
    while !shuffle_without_fixed_point(&mut destination, &mut random) {
        // Each attempt starts from the same order, so its result is independent of the failed ones
        // before.
        for (rank, slot) in (0..).zip(&mut destination) {
            *slot = rank;
        }
    }
    destination
}

/// Shuffles `slots` and returns true, or returns false at the first position that keeps its own
/// number.
fn shuffle_without_fixed_point(slots: &mut [u32], random: &mut ChaCha8Rng) -> bool {
    for last in (1..slots.len()).rev() {
        let other = below(last as u32 + 1, random) as usize;
        slots.swap(last, other);
        if slots[last] as usize == last {
            return false;
        }
    }
    slots[0] != 0
}

/// Makes the random stream for a seed. The key is spelled out, so that no release of the
/// generator's crate changes the derangements.
fn stream(seed: u64) -> ChaCha8Rng {
    let mut key = *b"\0\0\0\0\0\0\0\0collective permutation\0\0";
    key[..8].copy_from_slice(&seed.to_le_bytes());
    ChaCha8Rng::from_seed(key)
}

/// Draws a number below `bound` (at least 1), each equally likely, by Lemire's multiplication with
/// rejection.
fn below(bound: u32, random: &mut ChaCha8Rng) -> u32 {
    // 2³² is no multiple of most bounds: without rejection some results would come from one product
    // more.
    let surplus = bound.wrapping_neg() % bound;
    loop {
        let product = u64::from(random.next_u32()) * u64::from(bound);
        if product as u32 >= surplus {
            return (product >> 32) as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_permutation_without_fixed_points(ranks in 2_u32..400, seed: u64) {
            let destination = derangement(ranks, seed);
            prop_assert!((0..ranks).all(|rank| destination[rank as usize] != rank));
            let mut hit = destination.to_vec();
            hit.sort_unstable();
            prop_assert!(hit.into_iter().eq(0..ranks));
        }
    }

    #[test]
    fn every_derangement_is_equally_likely() {
        // 4 ranks have 9 derangements. Of 9,000 draws each gets 1,000 ± 5 standard deviations of
        // √(9,000·1/9·8/9) ≈ 30.
        let mut seen = BTreeMap::new();
        for seed in 0..9_000 {
            *seen.entry(derangement(4, seed)).or_insert(0_u32) += 1;
        }
        assert_eq!(seen.len(), 9);
        assert!(
            seen.values().all(|&count| (850..=1_150).contains(&count)),
            "{seen:?}"
        );
    }

    #[test]
    fn the_seed_decides() {
        assert_eq!(derangement(64, 7), derangement(64, 7));
        assert_ne!(derangement(64, 7), derangement(64, 8));
        assert_eq!(*derangement(2, 123), [1, 0]);
    }

    #[test]
    fn the_stream_stays_what_it_is() {
        // Not derived by hand: a change here changes the results of every scenario with a
        // permutation.
        assert_eq!(*derangement(8, 1), [7, 6, 0, 4, 2, 1, 3, 5]);
    }
}
