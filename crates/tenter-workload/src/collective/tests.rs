//! What holds for the list of members as a whole.

use std::collections::BTreeMap;

use super::*;
use crate::{Destination, QueuePairScope, Traffic, Transfer};

/// A member's schedule with nothing said about its pairs, to compare what it says with what it
/// does.
pub(crate) struct Unhinted(pub(crate) Box<dyn Schedule>);

impl Schedule for Unhinted {
    fn ranks(&self) -> u32 {
        self.0.ranks()
    }
    fn transfer_count(&self) -> u32 {
        self.0.transfer_count()
    }
    fn transfer(&self, id: u32) -> Transfer {
        self.0.transfer(id)
    }
    fn initial(&self, rank: u32, out: &mut Vec<u32>) {
        self.0.initial(rank, out);
    }
    fn released_by(&self, id: u32, out: &mut Vec<u32>) {
        self.0.released_by(id, out);
    }
    fn dependencies(&self, id: u32) -> u32 {
        self.0.dependencies(id)
    }
}

/// Every member as it is by default on hosts of eight NPUs, which a scenario would say, or of 64.
pub(crate) fn members() -> Vec<CollectiveKind> {
    let on_hosts = |kind: CollectiveKind| {
        // Kernels of one domain need all ranks in it.
        let npus = if kind.algorithm() == "nvlink" {
            "64"
        } else {
            "8"
        };
        kind.with(&[(NPUS_KEY, npus.to_owned())]).unwrap_or(kind)
    };
    CollectiveKind::defaults()
        .into_iter()
        .map(on_hosts)
        .collect()
}

/// The same, and with other parameters.
pub(crate) fn variants() -> Vec<CollectiveKind> {
    // Of 1,000 bytes in ten chunks, or halves in five.
    let others = [
        ("root", "1"),
        ("chunk_size", "100B"),
        ("npus_per_host", "3"),
        ("nics_per_host", "1"),
        ("distances", "doubling"),
    ];
    let mut variants = Vec::new();
    for kind in members() {
        let keys = others.iter().filter(|(key, _)| kind.has_key(key));
        let keys: Vec<_> = keys.map(|(key, text)| (*key, (*text).to_owned())).collect();
        let other = kind.with(&keys).expect("these are values of its keys");
        let differs = other != kind;
        variants.push(kind);
        variants.extend(differs.then_some(other));
    }
    variants
}

/// A schedule as it is and with nothing said about its pairs; none where the number of ranks does
/// not suit the member.
fn hinted_and_not(kind: &CollectiveKind, ranks: u32) -> Option<(Box<dyn Schedule>, Unhinted)> {
    let schedule = || match kind.schedule(ranks, 1_000) {
        Ok(schedule) => Some(schedule),
        Err(
            WorkloadError::NotPowerOfTwo { .. }
            | WorkloadError::HostsNotFull { .. }
            | WorkloadError::SeveralDomains { .. }
            | WorkloadError::HostsUnknown { .. },
        ) => None,
        Err(error) => panic!("{error}"),
    };
    Some((schedule()?, Unhinted(schedule()?)))
}

#[test]
fn every_member_says_the_pairs_it_uses() {
    for kind in variants() {
        for ranks in 2..=17 {
            let Some((direct, walked)) = hinted_and_not(&kind, ranks) else {
                continue;
            };
            for scope in [QueuePairScope::RankPair, QueuePairScope::Chunk] {
                for rank in 0..ranks {
                    // What is in the list before must stay there.
                    let before = Destination { dst: 99, lane: 99 };
                    let (mut said, mut used) = (vec![before], vec![before]);
                    direct.pairs(rank, scope, &mut said);
                    walked.pairs(rank, scope, &mut used);
                    assert_eq!(
                        said, used,
                        "{kind:?}, {ranks} ranks, rank {rank}, {scope:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn every_member_knows_the_nth_transfer_of_a_way() {
    for kind in variants() {
        for ranks in 2..=9 {
            let Some((direct, walked)) = hinted_and_not(&kind, ranks) else {
                continue;
            };
            for scope in [QueuePairScope::RankPair, QueuePairScope::Chunk] {
                for src in 0..ranks {
                    let mut ways = Vec::new();
                    direct.pairs(src, scope, &mut ways);
                    for (way, nth) in ways
                        .into_iter()
                        .flat_map(|way| (0..2 * ranks.max(6)).map(move |n| (way, n)))
                    {
                        assert_eq!(
                            direct.nth(src, way, scope, nth),
                            walked.nth(src, way, scope, nth),
                            "{kind:?}, {ranks} ranks, {src} to {way:?}, number {nth}, {scope:?}"
                        );
                    }
                }
            }
        }
    }
}

/// Scenarios are checked for too many packets on a queue pair by this bound first.
#[test]
fn no_member_sends_a_rank_much_more_than_its_buffer_twice_nor_many_transfers() {
    for kind in variants() {
        for (ranks, size) in (2..=17).flat_map(|ranks| [(ranks, 1_000), (ranks, 1)]) {
            let Ok(schedule) = kind.schedule(ranks, size) else {
                // Not every number of ranks makes a hypercube.
                continue;
            };
            let mut sent = BTreeMap::new();
            for id in 0..schedule.transfer_count() {
                let transfer = schedule.transfer(id);
                let way: &mut (u64, u64) = sent.entry((transfer.src, transfer.dst)).or_default();
                *way = (way.0 + transfer.bytes, way.1 + 1);
            }
            // Steps have sizes of their own.
            let size = kind.own_size().unwrap_or(size);
            let chunks = kind.chunk_bytes().map_or(0, |bytes| size / bytes);
            let most = (
                2 * size * kind.wire_times() + u64::from(ranks),
                2 * u64::from(ranks) + chunks + kind.more_of_a_way(),
            );
            let bounded = sent
                .values()
                .all(|&(bytes, transfers)| bytes <= most.0 && transfers <= most.1);
            assert!(bounded, "{kind:?}, {ranks} ranks, {size} bytes: {sent:?}");
        }
    }
}

#[test]
fn names_lead_to_their_member_and_back() {
    for default in CollectiveKind::defaults() {
        let member = default.member();
        let kind = CollectiveKind::parse(member.collective, member.algorithm).unwrap();
        assert_eq!(kind, default);
        assert_eq!(
            (kind.name(), kind.algorithm()),
            (member.collective, member.algorithm)
        );
        assert!(
            CollectiveKind::algorithms_of(member.collective).any(|name| name == member.algorithm)
        );
    }
    assert_eq!(CollectiveKind::algorithms_of("sorting").count(), 0);
}

#[test]
fn wrong_names_get_a_suggestion() {
    let refused = |collective, algorithm| {
        CollectiveKind::parse(collective, algorithm)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        refused("alltoall", "parallel"),
        "there is no collective `alltoall` (did you mean `all-to-all`?); \
         known are all-to-all, all-reduce, all-gather, reduce-scatter, broadcast, reduce, gather, \
         scatter, send-recv, hypercube, permutation, incast, moe-dispatch, moe-combine, steps"
    );
    assert_eq!(
        refused("all-reduce", "rign"),
        "all-reduce has no algorithm `rign` (did you mean `ring`?); known are ring, bidirectional-ring, halving-doubling, \
         double-binary-tree, hierarchical, nccl"
    );
    assert_eq!(
        refused("all-to-all", "Paralel"),
        "all-to-all has no algorithm `Paralel` (did you mean `parallel`?); known are parallel, pairwise, \
         pxn"
    );
}

#[test]
fn what_cannot_run_is_refused_with_a_remedy() {
    for kind in CollectiveKind::defaults() {
        for ranks in [0, 1] {
            let refused = kind.schedule(ranks, 1_000).err().unwrap();
            assert!(matches!(refused, WorkloadError::TooFewRanks { .. }));
            assert!(
                refused.to_string().contains("bind at least 2 ranks"),
                "{refused}"
            );
        }
        let refused = kind.schedule(8, 0).err().unwrap();
        assert!(matches!(refused, WorkloadError::ZeroSize { .. }));
    }
}

/// The number of transfers as a function of that of ranks.
type Count = Box<dyn Fn(u64) -> u64>;

#[test]
fn rings_may_have_more_transfers_than_ids() {
    let ring = CollectiveKind::from(AllReduceRing);
    let ring = ring.schedule(65_536, 1 << 30).unwrap();
    assert_eq!(ring.transfers(), 2 * 65_535 * 65_536);
    assert_eq!(ring.transfer_count(), u32::MAX);
    let rings = ring.rings().unwrap();
    assert_eq!(
        (rings.stride, rings.steps, rings.bytes),
        (1, 131_070, 16_384)
    );
    // Chunks of two lengths are no rings of one.
    let uneven = CollectiveKind::from(AllReduceRing);
    assert!(uneven.schedule(3, 10).unwrap().rings().is_none());
}

#[test]
fn ranks_are_limited_where_ids_run_out() {
    let pairs = |ranks: u64| ranks * (ranks - 1);
    // k exchanges between 2ᵏ ranks, and something before and after for each of the others.
    let exchanges = |ranks: u64, each: u64| {
        let participants = 1 << ranks.ilog2();
        each * u64::from(ranks.ilog2()) * participants + 2 * (ranks - participants)
    };
    let halving_doubling = |distances| AllReduceHalvingDoubling { distances }.into();
    let pxn = AllToAllPxn {
        npus_per_host: Some(8),
    };
    let limited: [(CollectiveKind, Count); 11] = [
        (AllToAllParallel.into(), Box::new(pairs)),
        (AllToAllPairwise.into(), Box::new(pairs)),
        (pxn.into(), Box::new(pairs)),
        (
            AllReduceBidirectionalRing.into(),
            Box::new(move |n| 4 * pairs(n)),
        ),
        (AllGatherRing.into(), Box::new(pairs)),
        (ReduceScatterRing.into(), Box::new(pairs)),
        (
            halving_doubling(Distances::Halving),
            Box::new(move |n| exchanges(n, 2)),
        ),
        (
            halving_doubling(Distances::Doubling),
            Box::new(move |n| exchanges(n, 2)),
        ),
        (
            AllGatherRecursiveDoubling.into(),
            Box::new(move |n| exchanges(n, 1)),
        ),
        (
            ReduceScatterRecursiveHalving.into(),
            Box::new(move |n| exchanges(n, 1)),
        ),
        (Hypercube.into(), Box::new(move |n| exchanges(n, 1))),
    ];
    for (kind, transfers) in limited {
        let most = u64::from(kind.member().ranks_max);
        let more = if kind == CollectiveKind::Hypercube(Hypercube) {
            2 * most
        } else {
            most + 1
        };
        assert!(u32::try_from(transfers(most)).is_ok(), "{kind:?}");
        assert!(u32::try_from(transfers(more)).is_err(), "{kind:?}");

        let schedule = kind.schedule(most as u32, 1 << 40).unwrap();
        assert_eq!(
            u64::from(schedule.transfer_count()),
            transfers(most),
            "{kind:?}"
        );
        let last = schedule.transfer(schedule.transfer_count() - 1);
        assert!(last.src < schedule.ranks() && last.dst < schedule.ranks());

        let refused = kind.schedule(more as u32, 1 << 40).err().unwrap();
        assert!(matches!(refused, WorkloadError::TooManyTransfers { .. }));
    }
}

#[test]
fn a_collective_is_written_by_its_words_and_keys() {
    let ring = CollectiveKind::parse("broadcast", "ring").unwrap();
    let keys = [("root", "3".to_owned()), ("chunk_size", "1KiB".to_owned())];
    let other = ring.with(&keys).unwrap();
    assert_eq!(other.chunk_bytes(), Some(1 << 10));
    let written = Written::mapping(Component::written(&other)).to_string();
    let expected = "{collective: broadcast, algorithm: ring, root: 3, chunk_size: 1KiB}";
    assert_eq!(written, expected);
    for (key, value) in [("npus_per_host", "2"), ("root", "-1")] {
        assert_eq!(ring.with(&[(key, value.to_owned())]), None);
    }
}

/// Factors as the documentation of nccl-tests has them, for 8 ranks: 2·7/8, 7/8 and 1.
#[test]
fn bus_bandwidth_factors_are_those_of_nccl_tests() {
    let by_collective = |collective| match collective {
        "all-reduce" => 1.75,
        "all-gather" | "reduce-scatter" | "all-to-all" | "gather" | "scatter" | "incast"
        | "moe-dispatch" | "moe-combine" => 0.875,
        "broadcast" | "reduce" | "send-recv" | "hypercube" | "permutation" | "steps" => 1.0,
        other => panic!("{other} has no factor here"),
    };
    let close = |a: f64, b: f64| (a - b).abs() < 1e-12;
    for kind in variants() {
        let expected = by_collective(kind.name());
        let traffic = Traffic::from(kind.clone());
        assert!(close(traffic.busbw_factor(8), expected), "{kind:?}");
        // All but hypercube, which leaves out the block that a rank has already, take the size.
        let counted = if kind == CollectiveKind::Hypercube(Hypercube) {
            0.875
        } else {
            1.0
        };
        assert!(close(traffic.algbw_factor(8), counted), "{kind:?}");
    }
    assert!(close(Traffic::from(AllReduceRing).busbw_factor(2), 1.0));
}
