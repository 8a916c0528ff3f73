//! Collectives that are lists of steps.

use super::draw::Draw;
use super::limits::Limits;

/// Most steps in a collective.
const STEPS_MAX: u64 = 24;

/// Draws an entry in `collectives` with steps over `ranks` ranks and at most about `packets`
/// packets. A step waits for some earlier ones that arrive at its rank.
pub(super) fn write(draw: &mut Draw, ranks: u64, packets: u64, limits: &Limits) -> String {
    let count = draw.within(1..=STEPS_MAX.min(packets.max(1)));
    let each = (packets / count).clamp(1, 6);
    let mut steps: Vec<(u64, u64, u64, Vec<usize>)> = Vec::new();
    for _ in 0..count {
        let rank = draw.below(ranks);
        let peer = (rank + draw.within(1..=ranks - 1)) % ranks;
        let bytes = if draw.chance(20) {
            draw.below(64)
        } else {
            draw.within(1..=each) * limits.packet_bytes - draw.below(limits.packet_bytes)
        };
        // A step can wait only for what its rank receives.
        let arrives = |(_, (_, peer, ..)): &(usize, &(u64, u64, u64, Vec<usize>))| *peer == rank;
        let here = steps.iter().enumerate().filter(arrives);
        let here: Vec<usize> = here.map(|(place, _)| place).collect();
        let after = here.into_iter().filter(|_| draw.chance(60)).collect();
        steps.push((rank, peer, bytes, after));
    }
    // Reversed in some scenarios, so that a step may stand before those that it waits for.
    let turned = draw.chance(30);
    let place = |of: usize| if turned { steps.len() - 1 - of } else { of };
    let mut lines: Vec<String> = Vec::new();
    for (rank, peer, bytes, after) in &steps {
        let after: Vec<usize> = after.iter().map(|&of| place(of)).collect();
        lines.push(format!(
            "          - {{rank: {rank}, peer: {peer}, bytes: {bytes}B, after: {after:?}}}\n"
        ));
    }
    if turned {
        lines.reverse();
    }
    format!(
        "      - collective: steps\n        steps:\n{}",
        lines.concat()
    )
}
