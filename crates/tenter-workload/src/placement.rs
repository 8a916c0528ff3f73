//! Binding ranks to hosts.
//!
//! A binding is a list: rank r runs on host `hosts[r]`. Within a job a host carries one rank; two
//! jobs may share hosts, and then share their ports.

use std::collections::BTreeMap;

/// Why ranks cannot be bound as asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlacementError {
    /// A rank with two hosts.
    #[error("rank {rank} is bound twice, to hosts {first} and {second}; keep one of the two")]
    RankBoundTwice {
        /// The rank.
        rank: u32,
        /// Its first host.
        first: u32,
        /// Its second host.
        second: u32,
    },
    /// A rank with no host, though higher ranks have one.
    #[error(
        "rank {rank} has no host though {bound} ranks are bound; \
         number the ranks from 0 without gaps"
    )]
    RankUnbound {
        /// The lowest such rank.
        rank: u32,
        /// How many ranks have a host.
        bound: u32,
    },
    /// A host that carries two ranks of one job.
    #[error(
        "ranks {first} and {second} are both bound to host {host}; \
         give each rank of a job a host of its own"
    )]
    HostSharedWithinJob {
        /// The host.
        host: u32,
        /// The lower rank.
        first: u32,
        /// The higher rank.
        second: u32,
    },
    /// A host the fabric does not have.
    #[error(
        "rank {rank} is bound to host {host}, but the fabric has hosts 0 to {}; \
         choose one of those or enlarge the fabric", .hosts.saturating_sub(1)
    )]
    HostOutOfRange {
        /// The rank.
        rank: u32,
        /// The host it was to run on.
        host: u32,
        /// How many hosts there are.
        hosts: u32,
    },
    /// More ranks in a row than hosts left.
    #[error(
        "{ranks} ranks from host {first_host} on need hosts up to {}, but the fabric has {hosts}; \
         use fewer ranks or enlarge the fabric", u64::from(*.first_host) + u64::from(*.ranks) - 1
    )]
    NotEnoughHosts {
        /// The host of rank 0.
        first_host: u32,
        /// How many ranks there are; at least 1.
        ranks: u32,
        /// How many hosts there are.
        hosts: u32,
    },
}

/// Ranks on consecutive hosts: rank r on host `first_host + r`, of `hosts` there are.
///
/// # Errors
/// When the hosts do not reach.
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

/// Ranks on the hosts of a list, in its order, of `hosts` there are.
///
/// # Errors
/// A host that does not exist, or is in the list twice.
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

/// Ranks on hosts as (rank, host) pairs say, in any order, of `hosts` there are.
///
/// # Errors
/// A rank bound twice or left out, a host that does not exist or carries two ranks.
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
    use super::*;

    #[test]
    fn bindings_that_work() {
        assert_eq!(packed(2, 3, 5).unwrap(), [2, 3, 4]);
        assert_eq!(listed(&[0, 1, 4, 5, 2, 3], 6).unwrap(), [0, 1, 4, 5, 2, 3]);
        assert_eq!(bound(&[(1, 7), (0, 3)], 8).unwrap(), [3, 7]);
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
