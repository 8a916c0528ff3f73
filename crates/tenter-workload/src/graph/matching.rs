//! Matches receives with messages as far as that is certain before the run.

use super::error::Unmatched;
use super::operation::{Operation, OperationKind, Stored, StoredKind};
use super::operations::Operations;

/// A send to a rank or a receive at it: sender, tag, true for the receive, and the send's message
/// number or the receive's place.
type End = (u32, u32, bool, u32);

/// Assigns each message to a receive if the run cannot decide otherwise: between its ranks there is
/// one message and one receive with its tag, and no receive at that rank accepts any source or tag.
///
/// Returns the senders, receivers and tags whose messages are not as many as their receives. If any
/// receive accepts any source or tag, nothing can be said before the run, and the list is empty.
pub(super) fn match_up(operations: &mut Operations) -> Vec<Unmatched> {
    let mut unmatched = Vec::new();
    let (first, to_rank) = sends_by_receiver(operations);
    let mut is_open = false;
    let mut ends: Vec<End> = Vec::new();
    for to in 0..operations.ranks() {
        ends.clear();
        ends.extend_from_slice(&to_rank[first[to as usize]..first[to as usize + 1]]);
        if !add_receives(operations.of(to), &mut ends) {
            // Such a receive may take any message to this rank, so no match is certain here.
            is_open = true;
            continue;
        }
        ends.sort_unstable();
        for alike in ends.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            // Sends sort before receives. A message to the rank itself is no transfer, and the run
            // matches it.
            match *alike {
                [(_, _, false, transfer), (_, _, true, place)] if transfer != Operation::ANY => {
                    operations.assign(to, place, transfer);
                }
                _ => unmatched.extend(counted(alike, to)),
            }
        }
    }
    if is_open {
        unmatched.clear();
    }
    unmatched
}

/// Appends a rank's receives; returns false if one accepts any rank or any tag.
fn add_receives(operations: &[Stored], ends: &mut Vec<End>) -> bool {
    for (place, stored) in (0..).zip(operations) {
        if stored.kind == StoredKind::OpenReceive {
            let (peer, tag) = (stored.asked_peer(), stored.tag());
            if peer == Operation::ANY || tag == Operation::ANY {
                return false;
            }
            ends.push((peer, tag, true, place));
        }
    }
    true
}

/// Compares the counts for messages and receives with one sender and tag; `None` if they are equal.
fn counted(alike: &[End], to: u32) -> Option<Unmatched> {
    let &(from, tag, ..) = alike.first()?;
    let received = alike.iter().filter(|end| end.2).count() as u64;
    let sent = alike.len() as u64 - received;
    (sent != received).then_some(Unmatched {
        from,
        to,
        tag,
        sent,
        received,
    })
}

/// Lists all sends grouped by receiver, with each group's index and the end. This is a counting
/// sort, since sends are stored by sender.
fn sends_by_receiver(operations: &Operations) -> (Vec<usize>, Vec<End>) {
    let messages = operations.messages();
    // Receiver and entry of each send. A send to the rank itself has no message number.
    let sends = || {
        operations.by_rank().flat_map(|(rank, operations)| {
            let sends = operations.iter();
            let sends = sends.filter(|of| of.operation_kind() == OperationKind::Send);
            sends.map(move |stored| {
                let message = stored.sent();
                let to = message.map_or(rank, |message| messages[message as usize].dst);
                (to, (rank, stored.tag(), false, Operation::or_any(message)))
            })
        })
    };
    let ranks = operations.ranks() as usize;
    let mut first = vec![0; ranks + 1];
    for (to, _) in sends() {
        first[to as usize + 1] += 1;
    }
    for rank in 0..ranks {
        first[rank + 1] += first[rank];
    }
    let mut next = first.clone();
    let mut to_rank = vec![(0, 0, false, 0); first[ranks]];
    for (to, end) in sends() {
        let place = &mut next[to as usize];
        to_rank[*place] = end;
        *place += 1;
    }
    (first, to_rank)
}
