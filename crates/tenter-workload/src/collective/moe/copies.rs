//! Expected copies of tokens at the ranks, or hosts, that their choices hit.

/// Bits behind the point of a probability.
const BITS: u32 = 48;

/// Returns the expected bytes of the copies if each of `bytes` goes once to every place among
/// `places` that holds one of its `top_k` experts, which are distinct and equally likely.
///
/// A place with E/r of E experts is missed with the probability Π (E − E/r − i)/(E − i) over the
/// choices i from 0; with many experts that is (1 − 1/r)ᵏ, and r·(1 − (1 − 1/r)ᵏ) places are hit.
/// The arithmetic is that of integers, so that every machine gets the same bytes.
pub(super) fn distinct(bytes: u64, top_k: u32, places: u32, experts: u32) -> u64 {
    let [places, experts] = [places, experts].map(u128::from);
    let one = 1_u128 << BITS;
    let missed = (0..u128::from(top_k)).fold(one, |missed, choice| {
        let others = (experts * (places - 1)).saturating_sub(choice * places);
        let left = places * experts.saturating_sub(choice);
        (missed * others).checked_div(left).unwrap_or(0)
    });
    let found = (u128::from(bytes) * places * (one - missed)) >> BITS;
    // Probabilities are rounded; there are never more copies than choices or places.
    let most = u128::from(bytes) * places.min(u128::from(top_k));
    found.min(most) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_by_hand() {
        // Two of four experts on two places: both choices are at one place in a third of the cases,
        // so a place is missed by 2/4 · 1/3 = 1/6, and 2 · 5/6 places are hit.
        assert_eq!(distinct(6_000, 2, 2, 4), 10_000);
        // One choice, and one place, are one copy.
        assert_eq!(distinct(1_000, 1, 7, 256), 1_000);
        assert_eq!(distinct(1_000, 8, 1, 256), 1_000);
        // All experts are at all places.
        assert_eq!(distinct(1_000, 8, 4, 8), 4_000);
    }

    /// Of very many experts d = r·(1 − (1 − 1/r)ᵏ): 8 choices hit 5.2511 of 8 ranks, 1.9922 of 2
    /// hosts and 3.5995 of 4.
    #[test]
    fn many_experts_are_drawn_as_with_repetition() {
        for (places, expected) in [(8, 5_251_112), (2, 1_992_187), (4, 3_599_548)] {
            let found = distinct(1_000_000, 8, places, 1_000_000);
            assert!(found.abs_diff(expected) < 200, "{places}: {found}");
        }
    }
}
