//! Restriction to calls that all ranks of a group, or both ranks of a message, have recorded.

use std::collections::BTreeMap;

use tenter_workload::graph::CollectiveName;

use super::recorded::{Call, Message, Recorded};
use crate::trace::Traces;

/// A collective's identity: its group, its number there, and its place among those with that
/// number.
type Key = (u32, u64, u32);

/// The messages that are kept if one rank of a pair has recorded more than the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// The first ones: both recordings begin at the same message.
    First,
    /// The last ones: the recordings are rings, which end at the same message.
    Last,
}

/// Returns each collective's identity in `calls`; `None` for other calls.
fn keys(calls: &[Recorded]) -> Vec<Option<Key>> {
    let mut seen: BTreeMap<u32, u64> = BTreeMap::new();
    let mut same: BTreeMap<(u32, u64), u32> = BTreeMap::new();
    let keys = calls.iter().map(|recorded| {
        let Call::Collective { group, .. } = recorded.call else {
            return None;
        };
        let nth = seen.entry(group).or_default();
        // Guess: without a recorded number, collectives of a group match by their order.
        let number = recorded.sequence.unwrap_or(*nth);
        *nth += 1;
        // Coalesced collectives share one number.
        let place = same.entry((group, number)).or_default();
        *place += 1;
        Some((group, number, *place - 1))
    });
    keys.collect()
}

/// Replaces collectives that not all ranks have recorded by their measured time, and leaves such
/// messages out: recordings begin and end at a time, not with a call.
pub(crate) fn keep_common(ranks: &mut [Vec<Recorded>], kept: Kept, traces: &mut Traces<'_>) {
    // A single recording stands for all ranks, so nothing can be missing.
    if traces.is_repeated() {
        return;
    }
    let all = traces.ranks();
    let keys: Vec<Vec<Option<Key>>> = ranks.iter().map(|calls| keys(calls)).collect();
    let mut counts: BTreeMap<Key, u32> = BTreeMap::new();
    for key in keys.iter().flatten().flatten() {
        *counts.entry(*key).or_default() += 1;
    }
    let mut left_out = 0;
    for (calls, keys) in ranks.iter_mut().zip(&keys) {
        for (recorded, key) in calls.iter_mut().zip(keys) {
            let Some(key) = key else {
                continue;
            };
            // Each member counts a collective once, so a complete one has as many as the group.
            if counts.get(key).copied() != Some(traces.groups.size_of(key.0, all)) {
                recorded.call = Call::Measured;
                left_out += 1;
            }
        }
    }
    traces.count(
        "collectives are not recorded by all ranks of their group, and take the time that was measured",
        left_out,
    );
    let uneven = even_out(ranks, &keys);
    traces.count(
        "all-to-alls have other sizes at other ranks of their group, and are taken as even",
        uneven,
    );
    let Matching { left_out, differ } = keep_pairs(ranks, kept);
    traces.count(
        "messages are recorded by one of their ranks alone, and are left out",
        left_out,
    );
    traces.count(
        "messages have another size at the rank that receives them: the recordings of the two may begin at different messages",
        differ,
    );
}

/// Sets an all-to-all's size to the mean over its ranks, because a collective has one size in the
/// graph. Returns how many calls this changes.
fn even_out(ranks: &mut [Vec<Recorded>], keys: &[Vec<Option<Key>>]) -> u64 {
    let mut sums: BTreeMap<Key, (u64, u64)> = BTreeMap::new();
    let is_one = |name| name == CollectiveName::AllToAll;
    for (recorded, key) in ranks.iter().flatten().zip(keys.iter().flatten()) {
        if let (Call::Collective { name, bytes, .. }, Some(key)) = (&recorded.call, key)
            && is_one(*name)
        {
            let (sum, count) = sums.entry(*key).or_default();
            (*sum, *count) = (sum.saturating_add(*bytes), *count + 1);
        }
    }
    let mut changed = 0;
    for (recorded, key) in ranks.iter_mut().flatten().zip(keys.iter().flatten()) {
        if let (Call::Collective { name, bytes, .. }, Some(key)) = (&mut recorded.call, key)
            && is_one(*name)
            && let Some((sum, count)) = sums.get(key)
        {
            // Rounded up, so that a share of a byte is not lost.
            let mean = sum.div_ceil(*count);
            changed += u64::from(*bytes != mean);
            *bytes = mean;
        }
    }
    changed
}

/// A message's sender, receiver and group.
type Pair = (u32, u32, u32);

fn pair(rank: u32, message: &Message) -> Pair {
    if message.sends {
        (rank, message.peer, message.group)
    } else {
        (message.peer, rank, message.group)
    }
}

/// Lists each pair's message sizes in order: received ones, then sent ones.
fn sizes(ranks: &[Vec<Recorded>]) -> BTreeMap<Pair, [Vec<u64>; 2]> {
    let mut sizes: BTreeMap<Pair, [Vec<u64>; 2]> = BTreeMap::new();
    for (rank, calls) in (0..).zip(ranks) {
        for recorded in calls {
            if let Call::Messages(messages) = &recorded.call {
                for message in messages {
                    let of = sizes.entry(pair(rank, message)).or_default();
                    of[usize::from(message.sends)].push(message.bytes);
                }
            }
        }
    }
    sizes
}

/// Counts that result from matching messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Matching {
    /// Messages that were left out for lack of a counterpart.
    left_out: u64,
    /// Messages that have another size at the receiver.
    differ: u64,
}

/// Leaves out messages without counterpart: the first ones in rings, otherwise the last ones.
fn keep_pairs(ranks: &mut [Vec<Recorded>], kept: Kept) -> Matching {
    let mut differ: u64 = 0;
    // For each side of a pair: messages to skip, then messages to keep.
    let mut left: BTreeMap<Pair, [(usize, usize); 2]> = BTreeMap::new();
    for (pair, sizes) in sizes(ranks) {
        let common = sizes[0].len().min(sizes[1].len());
        let windows = [0, 1].map(|side: usize| match kept {
            Kept::Last => (sizes[side].len() - common, common),
            Kept::First => (0, common),
        });
        let of = |side: usize| sizes[side].iter().skip(windows[side].0).take(common);
        differ += of(0).zip(of(1)).filter(|(one, other)| one != other).count() as u64;
        left.insert(pair, windows);
    }
    let mut left_out = 0;
    for (rank, calls) in (0..).zip(ranks) {
        for recorded in calls {
            let Call::Messages(messages) = &mut recorded.call else {
                continue;
            };
            let before = messages.len();
            messages.retain(|message| {
                let left = left.entry(pair(rank, message)).or_default();
                let (passed, kept) = &mut left[usize::from(message.sends)];
                let is_counterpart = *passed == 0 && *kept > 0;
                if is_counterpart {
                    *kept -= 1;
                }
                *passed = passed.saturating_sub(1);
                is_counterpart
            });
            left_out += (before - messages.len()) as u64;
            // The call keeps its time, since later calls waited for it.
            if messages.is_empty() {
                recorded.call = Call::Measured;
            }
        }
    }
    Matching { left_out, differ }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A call for a message to rank 1, or from rank 0, in a group.
    fn message(sends: bool, bytes: u64, group: u32) -> Recorded {
        let peer = u32::from(sends);
        let message = Message {
            sends,
            peer,
            bytes,
            group,
        };
        Recorded {
            start: 0,
            end: 0,
            stream: 0,
            sequence: None,
            call: Call::Messages(vec![message]),
        }
    }

    fn kept(sizes: [&[(u64, u32)]; 2], kept: Kept) -> (Vec<Vec<u64>>, Matching) {
        let mut ranks: Vec<Vec<Recorded>> = (0..)
            .zip(sizes)
            .map(|(rank, sizes)| {
                let sizes = sizes.iter();
                sizes
                    .map(|&(bytes, group)| message(rank == 0, bytes, group))
                    .collect()
            })
            .collect();
        let matching = keep_pairs(&mut ranks, kept);
        let of = |recorded: &Recorded| match &recorded.call {
            Call::Messages(messages) => messages[0].bytes,
            _ => 0,
        };
        let left = ranks.iter().map(|calls| calls.iter().map(of).collect());
        (left.collect(), matching)
    }

    #[test]
    fn rings_lose_the_first_messages_and_other_recordings_the_last() {
        let sent = [(5, 0), (6, 0), (7, 0)];
        let of = |left_out, differ| Matching { left_out, differ };
        let (left, matching) = kept([&sent, &sent[1..]], Kept::Last);
        assert_eq!(
            (left, matching),
            (vec![vec![0, 6, 7], vec![6, 7]], of(1, 0))
        );
        let (left, matching) = kept([&sent, &sent[..2]], Kept::First);
        assert_eq!(
            (left, matching),
            (vec![vec![5, 6, 0], vec![5, 6]], of(1, 0))
        );
        let (_, matching) = kept([&sent, &sent[1..]], Kept::First);
        assert_eq!(matching, of(1, 2));
    }

    #[test]
    fn messages_of_one_group_are_no_counterparts_of_another() {
        let (left, matching) = kept([&[(5, 0), (6, 1)], &[(6, 1), (5, 0)]], Kept::First);
        assert_eq!(left, [[5, 6], [6, 5]]);
        assert_eq!((matching.left_out, matching.differ), (0, 0));
    }
}
