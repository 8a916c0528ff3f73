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
    use super::Stream;

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
