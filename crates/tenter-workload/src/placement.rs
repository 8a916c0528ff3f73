//! Binding of ranks to hosts.
//!
//! A binding is a list: rank r runs on host `hosts[r]`. Within a job a host carries one rank, or as
//! many ranks as NPUs share its NIC. Two jobs may share hosts, and then share the ports. Where
//! several NPUs share a NIC, ranks are placed on NPUs, which are numbered host after host.

use std::collections::BTreeMap;

use tenter_fabric::topology::HostId;

/// Policy that spreads a job's ranks over hosts if no host list is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// Places rank r on the r-th free host.
    #[default]
    Packed,
    /// Places each rank on a free host of its own, drawn at random.
    Random,
    /// Draws host groups at random and fills each with consecutive ranks. A group is this many
    /// consecutive hosts, such as the NICs in one server.
    RandomGroups(u32),
    /// Draws whole leaves at random and fills each leaf's hosts with consecutive ranks.
    RandomLeaves,
    /// Places ranks on the leaves in turn, one rank below each leaf per round.
    RoundRobin,
}

impl Placement {
    /// Returns the hosts for ranks 0 to `ranks` − 1, taken from the hosts `free` (ascending, at
    /// least `ranks`). The list is shorter if hosts do not suffice.
    ///
    /// `leaf_of` names a host's leaf. `below(n)` draws a number from 0 to n − 1, each equally
    /// likely. Groups are cut by host numbers, not by what is free: from a partly free group, the
    /// free hosts are taken.
    pub fn place(
        self,
        ranks: u32,
        free: &[u32],
        leaf_of: impl Fn(u32) -> u32,
        below: impl FnMut(u64) -> u64,
    ) -> Vec<u32> {
        let mut placed = match self {
            Placement::Packed => free.to_vec(),
            Placement::Random => shuffled(free.iter().map(|&host| vec![host]).collect(), below),
            Placement::RandomGroups(size) => {
                let groups = free.chunk_by(|a, b| a / size == b / size);
                shuffled(groups.map(<[u32]>::to_vec).collect(), below)
            }
            Placement::RandomLeaves => {
                // An ordered map: the shuffle starts from leaves in ascending order, so equal draws
                // give equal results.
                let mut leaves: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
                for &host in free {
                    leaves.entry(leaf_of(host)).or_default().push(host);
                }
                shuffled(leaves.into_values().collect(), below)
            }
            Placement::RoundRobin => in_turn(free, leaf_of),
        };
        placed.truncate(ranks as usize);
        placed
    }
}

/// Concatenates the groups in random order, by a Fisher–Yates shuffle from the front.
fn shuffled(mut groups: Vec<Vec<u32>>, mut below: impl FnMut(u64) -> u64) -> Vec<u32> {
    for first in 0..groups.len() {
        let other = first + below((groups.len() - first) as u64) as usize;
        groups.swap(first, other);
    }
    groups.concat()
}

/// Returns each leaf's first host, then each leaf's second host, and so on.
fn in_turn(free: &[u32], leaf_of: impl Fn(u32) -> u32) -> Vec<u32> {
    let mut turns: BTreeMap<u32, u32> = BTreeMap::new();
    let mut placed: Vec<(u32, u32, u32)> = Vec::with_capacity(free.len());
    for &host in free {
        let leaf = leaf_of(host);
        let turn = turns.entry(leaf).or_default();
        placed.push((*turn, leaf, host));
        *turn += 1;
    }
    placed.sort_unstable();
    placed.into_iter().map(|(_, _, host)| host).collect()
}

/// Returns a job's hosts in words: `3`, or `8-15` for consecutive hosts.
pub fn stretches(hosts: &[HostId]) -> Vec<String> {
    let runs = hosts.chunk_by(|a, b| a.number().checked_add(1) == Some(b.number()));
    let word = |run: &[HostId]| match run {
        [one] => one.to_string(),
        [first, .., last] => format!("{first}-{last}"),
        [] => String::new(),
    };
    runs.map(word).collect()
}

/// The reason why ranks cannot be bound to hosts as requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlacementError {
    /// A rank is bound to two hosts.
    #[error("rank {rank} is bound twice, to hosts {first} and {second}; keep one of the two")]
    RankBoundTwice {
        /// Rank that is bound twice.
        rank: u32,
        /// Host that is bound first.
        first: u32,
        /// Host that is bound second.
        second: u32,
    },
    /// A rank has no host, although higher ranks have one.
    #[error(
        "rank {rank} has no host though {bound} ranks are bound; \
         number the ranks from 0 without gaps"
    )]
    RankUnbound {
        /// Lowest rank without a host.
        rank: u32,
        /// Ranks that have a host.
        bound: u32,
    },
    /// A host carries two ranks of one job.
    #[error(
        "ranks {first} and {second} are both bound to host {host}; \
         give each rank of a job a host of its own"
    )]
    HostSharedWithinJob {
        /// Host that is bound twice.
        host: u32,
        /// Lower rank on that host.
        first: u32,
        /// Higher rank on that host.
        second: u32,
    },
    /// The fabric does not have the host.
    #[error(
        "rank {rank} is bound to host {host}, but the fabric has hosts 0 to {}; \
         choose one of those or enlarge the fabric", .hosts.saturating_sub(1)
    )]
    HostOutOfRange {
        /// Rank that is bound to it.
        rank: u32,
        /// Host that the list or binding names.
        host: u32,
        /// Hosts that the fabric has.
        hosts: u32,
    },
    /// Consecutive ranks need more hosts than are left.
    #[error(
        "{ranks} ranks from host {first_host} on need hosts up to {}, but the fabric has {hosts}; \
         use fewer ranks or enlarge the fabric", u64::from(*.first_host) + u64::from(*.ranks) - 1
    )]
    NotEnoughHosts {
        /// Host on which rank 0 is placed.
        first_host: u32,
        /// Ranks to be placed, at least 1.
        ranks: u32,
        /// Hosts that the fabric has.
        hosts: u32,
    },
}

/// Places rank r on host `first_host + r`, in a fabric of `hosts` hosts.
///
/// # Errors
/// [`PlacementError::NotEnoughHosts`] if the range exceeds the fabric.
pub fn packed(first_host: u32, ranks: u32, hosts: u32) -> Result<Vec<u32>, PlacementError> {
    match first_host.checked_add(ranks) {
        Some(end) if end <= hosts || ranks == 0 => Ok((first_host..end).collect()),
        _ => Err(PlacementError::NotEnoughHosts {
            first_host,
            ranks,
            hosts,
        }),
    }
}

/// Places rank r on host `list[r]`, in a fabric of `hosts` hosts.
///
/// # Errors
/// A host that does not exist, or that is in the list twice.
pub fn listed(list: &[u32], hosts: u32) -> Result<Vec<u32>, PlacementError> {
    let mut rank_on = BTreeMap::new();
    for (rank, &host) in (0..).zip(list) {
        if host >= hosts {
            return Err(PlacementError::HostOutOfRange { rank, host, hosts });
        }
        if let Some(first) = rank_on.insert(host, rank) {
            return Err(PlacementError::HostSharedWithinJob {
                host,
                first,
                second: rank,
            });
        }
    }
    Ok(list.to_vec())
}

/// Places ranks as (rank, host) pairs say, in any order, in a fabric of `hosts` hosts.
///
/// # Errors
/// A rank that is bound twice or left out; a host that does not exist or carries two ranks.
pub fn bound(bindings: &[(u32, u32)], hosts: u32) -> Result<Vec<u32>, PlacementError> {
    let mut host_of = BTreeMap::new();
    for &(rank, second) in bindings {
        if let Some(first) = host_of.insert(rank, second) {
            return Err(PlacementError::RankBoundTwice {
                rank,
                first,
                second,
            });
        }
    }
    let bound = host_of.len() as u32;
    if let Some((rank, _)) = (0..).zip(host_of.keys()).find(|(rank, key)| rank != *key) {
        return Err(PlacementError::RankUnbound { rank, bound });
    }
    listed(&host_of.into_values().collect::<Vec<_>>(), hosts)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bindings_that_work() {
        assert_eq!(packed(2, 3, 5).unwrap(), [2, 3, 4]);
        assert_eq!(listed(&[0, 1, 4, 5, 2, 3], 6).unwrap(), [0, 1, 4, 5, 2, 3]);
        assert_eq!(bound(&[(1, 7), (0, 3)], 8).unwrap(), [3, 7]);
    }

    /// Leaves of four hosts, and always the last of what may be drawn.
    fn placed(placement: Placement, ranks: u32, free: &[u32]) -> Vec<u32> {
        placement.place(ranks, free, |host| 100 + host / 4, |bound| bound - 1)
    }

    #[test]
    fn policies_place_as_computed_by_hand() {
        let all: Vec<u32> = (0..8).collect();
        assert_eq!(placed(Placement::Packed, 3, &all), [0, 1, 2]);
        assert_eq!(placed(Placement::Packed, 2, &[3, 6, 7]), [3, 6]);
        // The last of the rest each time: 7, then 0 has gone to the end, and so on.
        assert_eq!(placed(Placement::Random, 4, &all), [7, 0, 1, 2]);
        // Groups 0–2, 3–5, 6–7: the last one first, then the first, which it was exchanged with.
        assert_eq!(placed(Placement::RandomGroups(3), 4, &all), [6, 7, 0, 1]);
        // Of the second group only hosts 4 and 5 are free.
        assert_eq!(
            placed(Placement::RandomGroups(3), 5, &[0, 1, 2, 4, 5]),
            [4, 5, 0, 1, 2]
        );
        // The leaf of hosts 4 to 7, then the other one.
        assert_eq!(placed(Placement::RandomLeaves, 6, &all), [4, 5, 6, 7, 0, 1]);
        assert_eq!(placed(Placement::RoundRobin, 5, &all), [0, 4, 1, 5, 2]);
        assert_eq!(
            placed(Placement::RoundRobin, 4, &[0, 1, 2, 7]),
            [0, 7, 1, 2]
        );
    }

    proptest! {
        #[test]
        fn every_policy_takes_each_free_host_once(
            free in proptest::collection::btree_set(0_u32..500, 0..100),
            size in 1_u32..20,
            draws in proptest::collection::vec(any::<u64>(), 100),
        ) {
            let free: Vec<u32> = free.into_iter().collect();
            let policies = [
                Placement::Packed,
                Placement::Random,
                Placement::RandomGroups(size),
                Placement::RandomLeaves,
                Placement::RoundRobin,
            ];
            for policy in policies {
                let mut draws = draws.iter();
                let draw = |bound| draws.next().copied().unwrap_or(0) % bound;
                let mut placed = policy.place(u32::MAX, &free, |host| host / 7, draw);
                placed.sort_unstable();
                prop_assert_eq!(&placed, &free);
            }
        }
    }

    #[test]
    fn hosts_in_words() {
        assert_eq!(
            stretches(&[3, 8, 9, 10, 2, 1].map(HostId::new)),
            ["3", "8-10", "2", "1"]
        );
        assert!(stretches(&[]).is_empty());
    }

    #[test]
    fn too_few_hosts_for_a_row() {
        let refused = packed(2, 4, 5).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "4 ranks from host 2 on need hosts up to 5, but the fabric has 5; \
             use fewer ranks or enlarge the fabric"
        );
        assert!(packed(u32::MAX, 2, u32::MAX).is_err());
    }

    #[test]
    fn ranks_are_bound_once_and_without_gaps() {
        assert_eq!(
            bound(&[(0, 1), (1, 2), (0, 3)], 8),
            Err(PlacementError::RankBoundTwice {
                rank: 0,
                first: 1,
                second: 3
            })
        );
        assert_eq!(
            bound(&[(0, 1), (2, 3)], 8),
            Err(PlacementError::RankUnbound { rank: 1, bound: 2 })
        );
    }

    #[test]
    fn hosts_exist_and_carry_one_rank() {
        assert_eq!(
            listed(&[0, 8], 8),
            Err(PlacementError::HostOutOfRange {
                rank: 1,
                host: 8,
                hosts: 8
            })
        );
        assert_eq!(
            bound(&[(1, 4), (0, 4)], 8),
            Err(PlacementError::HostSharedWithinJob {
                host: 4,
                first: 0,
                second: 1
            })
        );
    }
}
