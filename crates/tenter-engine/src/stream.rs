//! Named random streams.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A random stream that belongs to one component and one purpose.
///
/// Streams of different names are independent, and drawing from one never changes another: adding a
/// job or a link does not move anybody else's random numbers.
#[derive(Clone, Debug)]
pub struct Stream(ChaCha8Rng);

impl Stream {
    /// The stream of (seed of the trial, component, purpose).
    pub fn new(seed: u64, component: &str, purpose: &str) -> Stream {
        let mut key = [0_u8; 32];
        let mut state = mix64(seed ^ 0x7465_6e74_6572_0001);
        for byte in component.bytes().chain([0]).chain(purpose.bytes()) {
            state = mix64(state ^ u64::from(byte));
        }
        for word in key.chunks_exact_mut(8) {
            state = mix64(state);
            word.copy_from_slice(&state.to_le_bytes());
        }
        Stream(ChaCha8Rng::from_seed(key))
    }

    /// A uniform value below `bound` (0 when `bound` is 0), without modulo bias.
    pub fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 {
            return 0;
        }
        // Lemire's multiply-and-reject.
        loop {
            let product = u128::from(self.0.next_u64()) * u128::from(bound);
            if (product as u64) >= bound.wrapping_neg() % bound {
                return (product >> 64) as u64;
            }
        }
    }
}

/// A random stream whose numbers can be had in any order, and again: what is drawn for a thing
/// depends on the thing alone, so nobody has to remember it.
///
/// One word that a [`Stream`] gives, mixed with the number of the draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draws(u64);

impl Draws {
    /// The draws of (seed of the trial, component, purpose).
    pub fn new(seed: u64, component: &str, purpose: &str) -> Draws {
        Draws(Stream::new(seed, component, purpose).0.next_u64())
    }

    /// The draws that belong to one of many things of a kind.
    #[inline]
    #[must_use]
    pub const fn of(self, thing: u64) -> Draws {
        Draws(mix64(self.0 ^ mix64(thing)))
    }

    /// A uniform 64-bit value: the draw of that number.
    #[inline]
    pub const fn at(self, number: u64) -> u64 {
        self.of(number).0
    }

    /// A uniform value below `bound` (0 when `bound` is 0), for bounds so far below 2⁶⁴ that their
    /// bias is below anything measurable.
    #[inline]
    pub const fn below(self, number: u64, bound: u64) -> u64 {
        ((self.at(number) as u128 * bound as u128) >> 64) as u64
    }
}

/// A bijective mix of 64 bits (the finaliser of `SplitMix64`): every input bit reaches every output
/// bit.
#[inline]
pub const fn mix64(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::{Draws, Stream};

    #[test]
    fn streams_are_repeatable_and_independent_of_each_other() {
        let draw = |component: &str, purpose: &str| {
            let mut stream = Stream::new(7, component, purpose);
            (0..4).map(|_| stream.below(1_000_000)).collect::<Vec<_>>()
        };
        assert_eq!(draw("nic", "skew"), draw("nic", "skew"));
        assert_ne!(draw("nic", "skew"), draw("nic", "clock"));
        assert_ne!(draw("ni", "cskew"), draw("nic", "skew"));
    }

    #[test]
    fn draws_depend_on_their_names_and_numbers_alone() {
        let sizes = Draws::new(7, "job0", "flow sizes");
        assert_eq!(sizes.at(5), Draws::new(7, "job0", "flow sizes").at(5));
        assert_ne!(sizes.at(5), sizes.at(6));
        assert_ne!(sizes.of(1).at(5), sizes.of(2).at(5));
        assert_ne!(sizes.at(5), Draws::new(8, "job0", "flow sizes").at(5));
        let mut seen = [0; 5];
        for number in 0..5_000 {
            seen[sizes.below(number, 5) as usize] += 1;
        }
        // 1,000 each, give or take five times √(5,000 · 0.2 · 0.8) = 28.
        assert!(
            seen.iter().all(|seen| (860..1_140).contains(seen)),
            "{seen:?}"
        );
    }

    #[test]
    fn values_stay_below_the_bound_and_cover_it() {
        let mut stream = Stream::new(1, "test", "cover");
        let mut seen = [false; 7];
        for _ in 0..1_000 {
            seen[stream.below(7) as usize] = true;
        }
        assert_eq!(seen, [true; 7]);
        assert_eq!(stream.below(0), 0);
    }
}
