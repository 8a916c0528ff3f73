//! Which receive takes which message, where that is known before the run.

use super::error::Unmatched;
use super::operation::{Operation, OperationKind};
use super::rank_graph::RankGraph;

/// A send to a rank or a receive of it: the sender, the tag, whether it is the receive, and the
/// transfer of the send or the place of the receive.
type End = (u32, u32, bool, u32);

/// The messages of a graph, and the receives that take them.
pub(super) struct Matching {
    /// For each transfer the place of the receive that takes it whatever happens, or
    /// [`Operation::ANY`].
    pub(super) receives: Vec<u32>,
    /// Messages that are not as many as the receives for them; none where a receive takes from any
    /// rank or any tag, since nobody knows before the run.
    pub(super) unmatched: Vec<Unmatched>,
}

impl Matching {
    /// Looks for messages that one receive alone can take, and that it alone asks for; tells such
    /// receives their transfers. The sends of `ranks` know theirs, so many in all.
    pub(super) fn new(ranks: &mut [RankGraph], transfers: u32) -> Matching {
        let mut matching = Matching {
            receives: vec![Operation::ANY; transfers as usize],
            unmatched: Vec::new(),
        };
        let (first, to_rank) = sends_by_receiver(ranks);
        let mut is_open = false;
        let mut ends: Vec<End> = Vec::new();
        for to in 0..ranks.len() {
            ends.clear();
            ends.extend_from_slice(&to_rank[first[to]..first[to + 1]]);
            let of = &mut ranks[to];
            let mut own_is_open = false;
            for (place, stored) in (0..).zip(&of.operations) {
                if let Operation::Receive { peer, tag, .. } = stored.operation() {
                    let (Some(peer), Some(tag)) = (peer, tag) else {
                        own_is_open = true;
                        break;
                    };
                    ends.push((peer, tag, true, place));
                }
            }
            if own_is_open {
                is_open = true;
                continue;
            }
            ends.sort_unstable();
            for alike in ends.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
                matching.add(to as u32, of, alike);
            }
        }
        if is_open {
            matching.unmatched.clear();
        }
        matching
    }

    /// Messages and receives of a rank with the same sender and tag.
    fn add(&mut self, to: u32, of: &mut RankGraph, alike: &[End]) {
        match *alike {
            [(_, _, false, transfer), (_, _, true, place)] if transfer != Operation::ANY => {
                self.receives[transfer as usize] = place;
                of.operations[place as usize].transfer = transfer;
            }
            [(from, tag, ..), ..] => {
                let received = alike.iter().filter(|end| end.2).count() as u64;
                let sent = alike.len() as u64 - received;
                if sent != received {
                    self.unmatched.push(Unmatched {
                        from,
                        to,
                        tag,
                        sent,
                        received,
                    });
                }
            }
            [] => {}
        }
    }
}

/// All sends by their receivers: where those of each begin, and at the end where the last ones end.
fn sends_by_receiver(ranks: &[RankGraph]) -> (Vec<usize>, Vec<End>) {
    let sends = || {
        let of_rank = (0_u32..).zip(ranks);
        of_rank.flat_map(|(rank, of)| {
            let sends = of
                .operations
                .iter()
                .filter(|of| of.kind == OperationKind::Send);
            sends.map(move |stored| (rank, stored))
        })
    };
    let mut first = vec![0; ranks.len() + 1];
    for (_, stored) in sends() {
        first[stored.peer() as usize + 1] += 1;
    }
    for rank in 0..ranks.len() {
        first[rank + 1] += first[rank];
    }
    let mut next = first.clone();
    let mut to_rank = vec![(0, 0, false, 0); first[ranks.len()]];
    for (rank, stored) in sends() {
        let place = &mut next[stored.peer() as usize];
        to_rank[*place] = (rank, stored.tag(), false, stored.transfer);
        *place += 1;
    }
    (first, to_rank)
}
