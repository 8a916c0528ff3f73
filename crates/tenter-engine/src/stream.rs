//! Random streams that are named by seed, component and purpose.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A random stream that belongs to one component and one purpose.
///
/// Streams with different names are independent, and drawing from one never changes another: adding
/// a job or a link leaves all other components' random numbers as they are.
#[derive(Clone, Debug)]
pub struct Stream(ChaCha8Rng);

impl Stream {
    /// Makes the stream that the trial's `seed`, `component` and `purpose` name.
    pub fn new(seed: u64, component: &str, purpose: &str) -> Stream {
        let mut key = [0_u8; 32];
        // An arbitrary constant sets these streams apart from other uses of the same seed.
        let mut state = mix64(seed ^ 0x7465_6e74_6572_0001);
        // The zero byte keeps ("ab", "c") and ("a", "bc") apart.
        for byte in component.bytes().chain([0]).chain(purpose.bytes()) {
            state = mix64(state ^ u64::from(byte));
        }
        for word in key.chunks_exact_mut(8) {
            state = mix64(state);
            word.copy_from_slice(&state.to_le_bytes());
        }
        Stream(ChaCha8Rng::from_seed(key))
    }

    /// Draws a uniform value below `bound` (0 if `bound` is 0), without modulo bias.
    pub fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 {
            return 0;
        }
        // Lemire's multiply-and-reject: products whose low half is below 2⁶⁴ mod `bound` would give
        // some values once more often than others, so they are drawn again.
        loop {
            let product = u128::from(self.0.next_u64()) * u128::from(bound);
            if (product as u64) >= bound.wrapping_neg() % bound {
                return (product >> 64) as u64;
            }
        }
    }
}

/// A random stream that is indexed instead of consumed: the same number always gives the same
/// value, so a caller can draw in any order and need not store what it drew.
///
/// It is one word from a [`Stream`], mixed with the draw's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draws(u64);

impl Draws {
    /// Makes the draws that the trial's `seed`, `component` and `purpose` name.
    pub fn new(seed: u64, component: &str, purpose: &str) -> Draws {
        Draws(Stream::new(seed, component, purpose).0.next_u64())
    }

    /// Returns the draws for item `thing` of a kind, independent from those for the others.
    #[inline]
    #[must_use]
    pub const fn of(self, thing: u64) -> Draws {
        Draws(mix64(self.0 ^ mix64(thing)))
    }

    /// Returns draw number `number`: a uniform 64-bit value.
    #[inline]
    pub const fn at(self, number: u64) -> u64 {
        self.of(number).0
    }

    /// Returns draw number `number` as a uniform value below `bound` (0 if `bound` is 0). Values
    /// are biased by at most `bound` / 2⁶⁴, which is too little to measure for the bounds that are
    /// used.
    #[inline]
    pub const fn below(self, number: u64, bound: u64) -> u64 {
        ((self.at(number) as u128 * bound as u128) >> 64) as u64
    }
}

/// Mixes 64 bits bijectively, so that every input bit affects every output bit (the finaliser of
/// `SplitMix64`).
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
