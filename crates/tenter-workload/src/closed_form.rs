//! How long a collective takes on an ideal switch, by formula: what simulations are tested against.

use tenter_units::Time;

use crate::collective::CollectiveKind;

/// The completion time of a collective whose ranks hang on one switch that never makes anyone wait.
///
/// `chunk` is the time one transfer occupies a port: all its frames with preamble and gap, back to
/// back at line rate. `latency` is the time from the end of the last frame at the sender to its end
/// at the receiver in an empty network. All transfers are taken as equally long (sizes divisible by
/// the number of ranks), endpoints as free of delays. It is also a lower bound for any fabric with
/// ports of that speed.
///
/// | collective | time | because |
/// |---|---|---|
/// | all-to-all, parallel | (n−1)·chunk + latency | each port sends n−1 blocks |
/// | all-reduce, ring | 2(n−1)·(chunk + latency) | a step waits for the arrival of the last |
/// | permutation | chunk + latency | no port is shared |
/// | incast | (n−1)·chunk + latency | the root's port receives n−1 blocks |
///
/// Times beyond 64 bits of picoseconds saturate at [`Time::MAX`].
pub fn ideal_completion(kind: &CollectiveKind, ranks: u32, chunk: Time, latency: Time) -> Time {
    let others = u64::from(ranks.saturating_sub(1));
    match kind {
        CollectiveKind::AllToAllParallel | CollectiveKind::Incast { .. } => {
            times(chunk, others).saturating_add(latency)
        }
        CollectiveKind::AllReduceRing => times(chunk.saturating_add(latency), 2 * others),
        CollectiveKind::Permutation { .. } => chunk.saturating_add(latency),
    }
}

fn times(time: Time, count: u64) -> Time {
    Time::from_ps(time.ps().saturating_mul(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_at_eight_ranks() {
        let time =
            |kind: CollectiveKind| ideal_completion(&kind, 8, Time::from_us(10), Time::from_us(1));
        // 7·10 + 1.
        assert_eq!(time(CollectiveKind::AllToAllParallel), Time::from_us(71));
        assert_eq!(time(CollectiveKind::Incast { root: 0 }), Time::from_us(71));
        // 14·(10 + 1).
        assert_eq!(time(CollectiveKind::AllReduceRing), Time::from_us(154));
        assert_eq!(
            time(CollectiveKind::Permutation { seed: 0 }),
            Time::from_us(11)
        );
    }

    #[test]
    fn frames_and_goodput_agree() {
        // All-to-all of 8 GiB over 8 ranks at 400G, 20 ps per byte: a block of 1 GiB is 262,144
        // frames of 4,096 bytes of payload in 4,178 on the wire.
        let block = Time::from_ps(262_144 * 4_178 * 20);
        let ideal = ideal_completion(&CollectiveKind::AllToAllParallel, 8, block, Time::ZERO);
        // Seven blocks at a goodput of 50 GB/s · 4,096/4,178 = 49.0187 GB/s: 153.333 ms.
        assert_eq!(ideal, Time::from_ps(153_333_268_480));
        let goodput = 50e9 * 4_096.0 / 4_178.0;
        assert!((7.0 * f64::from(1 << 30) / goodput - ideal.as_s()).abs() < 1e-12);
    }
}
