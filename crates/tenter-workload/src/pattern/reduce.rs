//! All-reduces within rank groups, exchange by exchange.
//!
//! Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of Collective Communication
//! Operations in MPICH" (2005): recursive doubling up to 2 KiB, recursive halving and doubling
//! above. Ranks beyond a power of two hand their data to a neighbour beforehand and receive the
//! result afterwards.

use super::CommunicationMatrix;

/// Largest buffer, in bytes, that is exchanged whole.
const SHORT_BYTES: u64 = 2_048;

/// Returns the exchanges of all-reduces over `bytes`, side by side in equally large groups; none if
/// a group is a single rank.
///
/// A group of p + e ranks, with p the greatest power of two, sends p·log₂p·S in total if the buffer
/// is short, 2(p−1)·S if it is long, and 2e·S for the ranks beyond p.
pub(super) fn all_reduce(ranks: u32, groups: &[Vec<u32>], bytes: u64) -> Vec<CommunicationMatrix> {
    let size = groups.first().map_or(0, Vec::len) as u32;
    if size < 2 {
        return Vec::new();
    }
    let levels = size.ilog2();
    let extras = size - (1 << levels);
    // Place of a participant within its group. A participant with an extra comes right before it.
    let place = |participant: u32| participant + participant.min(extras);
    let phase = |pairs: &mut dyn Iterator<Item = (u32, u32, u64)>| {
        let pairs: Vec<(u32, u32, u64)> = pairs.collect();
        let of_group = |group: &Vec<u32>| {
            let rank = |place: u32| group[place as usize];
            let sends = pairs.iter().map(|&(a, b, bytes)| (rank(a), rank(b), bytes));
            sends.collect::<Vec<_>>()
        };
        CommunicationMatrix::of(ranks, groups.iter().flat_map(of_group).collect())
    };
    let mut phases = Vec::new();
    if extras > 0 {
        phases.push(phase(&mut (0..extras).map(|i| (2 * i + 1, 2 * i, bytes))));
    }
    for exchange in exchanges(levels, bytes) {
        let sends = exchange.into_iter();
        let placed = |(a, b, bytes)| (place(a), place(b), bytes);
        phases.push(phase(&mut sends.map(placed)));
    }
    if extras > 0 {
        phases.push(phase(&mut (0..extras).map(|i| (2 * i, 2 * i + 1, bytes))));
    }
    phases
}

/// Returns the exchanges between 2ᵏ participants, with k = `levels`.
fn exchanges(levels: u32, bytes: u64) -> Vec<Vec<(u32, u32, u64)>> {
    let count = 1_u32 << levels;
    if bytes <= SHORT_BYTES {
        let whole = |level: u32| (0..count).map(move |i| (i, i ^ (1 << level), bytes));
        return (0..levels).map(|level| whole(level).collect()).collect();
    }
    let offset = |part: u32| u128::from(bytes) * u128::from(part) / u128::from(count);
    // Bytes that a participant keeps after halving with one at this distance.
    let kept = |participant: u32, distance: u32| {
        let first = participant & !(distance - 1);
        (offset(first + distance) - offset(first)) as u64
    };
    let halving = (0..levels).rev().map(|level| {
        let distance = 1 << level;
        let send = |i: u32| (i, i ^ distance, kept(i ^ distance, distance));
        (0..count).map(send).collect()
    });
    let doubling = (0..levels).map(|level| {
        let distance = 1 << level;
        let send = |i: u32| (i, i ^ distance, kept(i, distance));
        (0..count).map(send).collect()
    });
    halving.chain(doubling).collect()
}

/// Returns all ranks as a single group.
pub(super) fn everybody(ranks: u32) -> [Vec<u32>; 1] {
    [(0..ranks).collect()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(ranks: u32, bytes: u64) -> Vec<u64> {
        let phases = all_reduce(ranks, &everybody(ranks), bytes);
        phases.iter().map(CommunicationMatrix::total).collect()
    }

    #[test]
    fn totals_are_the_closed_form() {
        // Short: 8 ranks exchange 8 bytes three times.
        assert_eq!(totals(8, 8), [64, 64, 64]);
        // Long: each of 8 halves 8 KiB three times, and back.
        let k = 8 << 10;
        assert_eq!(totals(8, k), [4 * k, 2 * k, k, k, 2 * k, 4 * k]);
        for ranks in 2_u32..40 {
            for bytes in [1, 2_048, 2_049, 100_003] {
                let participants = 1_u64 << ranks.ilog2();
                let extras = u64::from(ranks) - participants;
                let exchanged = if bytes <= 2_048 {
                    participants * u64::from(ranks.ilog2())
                } else {
                    2 * (participants - 1)
                };
                let sum: u64 = totals(ranks, bytes).iter().sum();
                assert_eq!(
                    sum,
                    (exchanged + 2 * extras) * bytes,
                    "{ranks} of {bytes} B"
                );
            }
        }
    }

    #[test]
    fn sums_reach_everybody() {
        // Who has heard of whom, exchange by exchange; in long ones a part of each is enough.
        for ranks in 2..40 {
            let mut heard: Vec<Vec<bool>> = (0..ranks)
                .map(|rank| (0..ranks).map(|other| rank == other).collect())
                .collect();
            for phase in all_reduce(ranks, &everybody(ranks), 8) {
                let before = heard.clone();
                for (src, dst, _) in phase.iter() {
                    for (own, other) in heard[dst as usize].iter_mut().zip(&before[src as usize]) {
                        *own |= other;
                    }
                }
            }
            assert!(heard.iter().flatten().all(|heard| *heard), "{ranks} ranks");
        }
    }

    #[test]
    fn groups_run_side_by_side() {
        let groups = [vec![0, 2], vec![1, 3]];
        let phases = all_reduce(4, &groups, 8);
        let [only] = &phases[..] else {
            panic!("two ranks exchange once")
        };
        let sends: Vec<_> = only.iter().collect();
        assert_eq!(sends, [(0, 2, 8), (1, 3, 8), (2, 0, 8), (3, 1, 8)]);
        assert!(all_reduce(2, &[vec![0], vec![1]], 8).is_empty());
    }
}
