//! Initial circuits that spread over all switch pairs as evenly as possible.

/// Returns the pairs in round `round` when `players` meet in a round-robin tournament. All meet
/// once in `players − 1` rounds (or in `players` rounds if the number is odd, each pausing once),
/// and two successive rounds form one ring over all players.
///
/// This is the circle method: one player stays, and the others move on by one place each round.
pub(super) fn round_robin(players: u32, round: u32) -> Vec<(u32, u32)> {
    let even = players + players % 2;
    if even < 2 {
        return Vec::new();
    }
    let moving = even - 1;
    let at = |place: u32| (round + place) % moving;
    let pairs = (0..even / 2).map(|step| {
        let other = if step == 0 { moving } else { at(moving - step) };
        (at(step), other)
    });
    // An odd number of players is filled up with a dummy, whose opponent pauses.
    let pairs = pairs.filter(|&(one, other)| one < players && other < players);
    pairs
        .map(|(one, other)| (one.min(other), one.max(other)))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::round_robin;

    #[test]
    fn everyone_meets_everyone_once() {
        for players in 2..12_u32 {
            let rounds = players - 1 + players % 2;
            let all: Vec<_> = (0..rounds).flat_map(|r| round_robin(players, r)).collect();
            let different: BTreeSet<_> = all.iter().copied().collect();
            assert_eq!(all.len() as u32, players * (players - 1) / 2);
            assert_eq!(different.len(), all.len());
            for round in 0..rounds {
                let pairs = round_robin(players, round);
                let of_round: BTreeSet<_> = pairs.iter().flat_map(|&(a, b)| [a, b]).collect();
                assert_eq!(of_round.len(), 2 * pairs.len());
            }
        }
    }

    #[test]
    fn two_rounds_make_one_ring() {
        let players = 10_u32;
        let pairs = [round_robin(players, 3), round_robin(players, 4)].concat();
        let (mut at, mut from, mut seen) = (0, u32::MAX, 0);
        loop {
            let others = pairs.iter().filter_map(|&(a, b)| match at {
                _ if a == at => Some(b),
                _ if b == at => Some(a),
                _ => None,
            });
            let next = others.clone().find(|&other| other != from).unwrap();
            (from, at, seen) = (at, next, seen + 1);
            if at == 0 {
                break;
            }
        }
        assert_eq!(seen, players);
    }
}
