//! Calls that all ranks of a group, or both ranks of a message, have recorded.

use std::collections::BTreeMap;

use tenter_workload::graph::CollectiveName;

use super::recorded::{Call, Message, Recorded};
use crate::trace::Traces;

/// A collective: its group, its number in it, and its place among those with that number.
type Key = (u32, u64, u32);

/// The keys of the collectives of a rank, by their places.
fn keys(calls: &[Recorded]) -> Vec<Option<Key>> {
    let mut seen: BTreeMap<u32, u64> = BTreeMap::new();
    let mut same: BTreeMap<(u32, u64), u32> = BTreeMap::new();
    let keys = calls.iter().map(|recorded| {
        let Call::Collective { group, .. } = recorded.call else {
            return None;
        };
        let nth = seen.entry(group).or_default();
        let number = recorded.sequence.unwrap_or(*nth);
        *nth += 1;
        let place = same.entry((group, number)).or_default();
        *place += 1;
        Some((group, number, *place - 1))
    });
    keys.collect()
}

/// Lets those calls take the time that was measured which other ranks have not recorded: recordings
/// begin and end at a time, not with a call.
pub(crate) fn keep_common(ranks: &mut [Vec<Recorded>], traces: &mut Traces<'_>) {
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
    let left_out = keep_pairs(ranks);
    traces.count(
        "messages are recorded by one of their ranks alone, and are left out",
        left_out,
    );
}

/// Gives all ranks of an all-to-all the same size, their mean; gives how many calls that changes.
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
            let mean = sum.div_ceil(*count);
            changed += u64::from(*bytes != mean);
            *bytes = mean;
        }
    }
    changed
}

/// Sender and receiver.
fn pair(rank: u32, message: &Message) -> (u32, u32) {
    if message.sends {
        (rank, message.peer)
    } else {
        (message.peer, rank)
    }
}

/// Leaves out the last messages of a pair that have no counterpart; gives how many.
fn keep_pairs(ranks: &mut [Vec<Recorded>]) -> u64 {
    let mut counts: BTreeMap<(u32, u32), [u64; 2]> = BTreeMap::new();
    for (rank, calls) in (0..).zip(ranks.iter()) {
        for recorded in calls {
            if let Call::Messages(messages) = &recorded.call {
                for message in messages {
                    let of = counts.entry(pair(rank, message)).or_default();
                    of[usize::from(message.sends)] += 1;
                }
            }
        }
    }
    let mut left: BTreeMap<(u32, u32), [u64; 2]> = BTreeMap::new();
    for (pair, [received, sent]) in counts {
        left.insert(pair, [received.min(sent); 2]);
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
                let left = &mut left[usize::from(message.sends)];
                let keeps = *left > 0;
                *left = left.saturating_sub(1);
                keeps
            });
            left_out += (before - messages.len()) as u64;
            if messages.is_empty() {
                recorded.call = Call::Measured;
            }
        }
    }
    left_out
}
