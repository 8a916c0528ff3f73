//! Both ends of every queue pair against a plain list of them.

use std::time::Instant;

use proptest::prelude::*;
use tenter_fabric::topology::HostId;
use tenter_language::units::{Budget, Time};

use super::*;
use crate::collective::{
    AllReduceRing, AllToAllPairwise, AllToAllParallel, CollectiveKind, Incast, Permutation,
};
use crate::{CollectiveRun, Compute, Destination};

const SCOPES: [QueuePairScope; 2] = [QueuePairScope::RankPair, QueuePairScope::Chunk];

/// A schedule that has pairs and nothing else.
struct Rows(Vec<Vec<Destination>>);

impl Schedule for Rows {
    fn ranks(&self) -> u32 {
        self.0.len() as u32
    }
    fn transfer_count(&self) -> u32 {
        0
    }
    fn transfer(&self, _id: u32) -> Transfer {
        unreachable!("it has no transfers")
    }
    fn initial(&self, _rank: u32, _out: &mut Vec<u32>) {}
    fn released_by(&self, _id: u32, _out: &mut Vec<u32>) {}
    fn dependencies(&self, _id: u32) -> u32 {
        0
    }
    fn pairs(&self, rank: u32, _scope: QueuePairScope, out: &mut Vec<Destination>) {
        out.extend(&self.0[rank as usize]);
    }
}

fn job(kinds: &[CollectiveKind], ranks: u32, scope: QueuePairScope, queue_pairs: u16) -> Job {
    let run = |kind: &CollectiveKind| CollectiveRun {
        traffic: kind.clone().into(),
        size_bytes: 1 << 20,
        drawn_from_bytes: None,
        compute: Compute::default(),
    };
    Job {
        name: "job".to_owned(),
        hosts: HostId::new(0).run(ranks).collect(),
        background: false,
        sequence: kinds.iter().map(run).collect(),
        iterations: 1,
        warm_up: 0,
        start: Time::ZERO,
        after: None,
        gap: Time::ZERO,
        queue_pairs,
        class: None,
        queue_pair_scope: scope,
    }
}

/// Compares all answers with the sorted list of (source, destination, lane).
fn check(pairs: &QueuePairs, mut expected: Vec<(u32, u32, u32)>) {
    expected.sort_unstable();
    expected.dedup();
    let queue_pairs = pairs.per_lane();
    let mut sent = vec![0; pairs.ranks() as usize];
    let mut received = vec![0; pairs.ranks() as usize];
    for (src, dst, lane) in expected {
        let (index, receive_slot) = (&mut sent[src as usize], &mut received[dst as usize]);
        let slots = FirstSlots {
            send: RankSendSlot::new(*index),
            receive: RankReceiveSlot::new(*receive_slot),
        };
        assert_eq!(
            pairs.find(RankId::new(src), RankId::new(dst), lane),
            Some(slots),
            "{src} → {dst}, lane {lane}"
        );
        for queue_pair in 0..queue_pairs {
            let send = RankSendSlot::new(*index);
            let receive = RankReceiveSlot::new(*receive_slot);
            let peer = FarEnd {
                rank: RankId::new(dst),
                slot: receive,
                lane,
                queue_pair,
            };
            assert_eq!(pairs.peer_of(RankId::new(src), send), peer);
            let source = FarEnd {
                rank: RankId::new(src),
                slot: send,
                lane,
                queue_pair,
            };
            assert_eq!(pairs.source_of(RankId::new(dst), receive), source);
            *index += 1;
            *receive_slot += 1;
        }
    }
    for rank in RankId::new(0).run(pairs.ranks()) {
        assert_eq!(pairs.send_count(rank), sent[rank.index()] as usize);
        assert_eq!(pairs.receive_count(rank), received[rank.index()] as usize);
    }
}

fn pairs_of(job: &Job) -> Vec<(u32, u32, u32)> {
    let mut all = Vec::new();
    for schedule in job.schedules().unwrap() {
        for id in 0..schedule.transfer_count() {
            let transfer = schedule.transfer(id);
            let lane = transfer.way(job.queue_pair_scope).lane;
            all.push((transfer.src, transfer.dst, lane));
        }
    }
    all
}

#[test]
fn every_collective_in_both_scopes() {
    for kind in CollectiveKind::defaults() {
        for scope in SCOPES {
            for ranks in [2, 3, 4, 9] {
                if kind.schedule(ranks, 1).is_err() {
                    // Not every number of ranks makes a hypercube.
                    continue;
                }
                for queue_pairs in [1, 4] {
                    let job = job(std::slice::from_ref(&kind), ranks, scope, queue_pairs);
                    check(
                        &QueuePairs::for_job(&job, &Budget::unlimited()).unwrap(),
                        pairs_of(&job),
                    );
                }
            }
        }
    }
}

#[test]
fn a_sequence_needs_the_union() {
    let kinds = [
        CollectiveKind::Permutation(Permutation { seed: Some(5) }),
        CollectiveKind::AllReduceRing(AllReduceRing),
        CollectiveKind::Permutation(Permutation { seed: Some(5) }),
        CollectiveKind::AllToAllParallel(AllToAllParallel),
    ];
    for scope in SCOPES {
        for count in 1..=kinds.len() {
            let job = job(&kinds[..count], 7, scope, 2);
            check(
                &QueuePairs::for_job(&job, &Budget::unlimited()).unwrap(),
                pairs_of(&job),
            );
        }
    }
}

#[test]
fn the_largest_size_of_a_sequence_decides() {
    // Chunks of 512 KiB: sizes of one, eight and four of them.
    let kind = CollectiveKind::parse("broadcast", "ring").unwrap();
    let mut job = job(
        &[kind.clone(), kind.clone(), kind],
        5,
        QueuePairScope::Chunk,
        1,
    );
    for (run, size_bytes) in job.sequence.iter_mut().zip([1 << 19, 1 << 22, 1 << 21]) {
        run.size_bytes = size_bytes;
    }
    let pairs = QueuePairs::for_job(&job, &Budget::unlimited()).unwrap();
    assert_eq!(pairs.send_count(RankId::new(0)), 8);
    check(&pairs, pairs_of(&job));
}

#[test]
fn qps_as_testers_count_them() {
    // 8 ranks: an all-to-all has 8·7 = 56 pairs; a ring all-reduce has 8 chunks on each of 8 hops.
    let total = |kind, scope| {
        let pairs = QueuePairs::for_job(&job(&[kind], 8, scope, 1), &Budget::unlimited()).unwrap();
        RankId::new(0)
            .run(8)
            .map(|rank| pairs.send_count(rank))
            .sum::<usize>()
    };
    assert_eq!(
        total(
            CollectiveKind::AllToAllParallel(AllToAllParallel),
            QueuePairScope::RankPair
        ),
        56
    );
    assert_eq!(
        total(
            CollectiveKind::AllToAllParallel(AllToAllParallel),
            QueuePairScope::Chunk
        ),
        56
    );
    assert_eq!(
        total(
            CollectiveKind::AllReduceRing(AllReduceRing),
            QueuePairScope::Chunk
        ),
        64
    );
    assert_eq!(
        total(
            CollectiveKind::AllReduceRing(AllReduceRing),
            QueuePairScope::RankPair
        ),
        8
    );
}

#[test]
fn what_is_not_there_is_not_found() {
    for kind in [
        CollectiveKind::AllToAllParallel(AllToAllParallel),
        CollectiveKind::AllReduceRing(AllReduceRing),
    ] {
        let pairs = QueuePairs::for_job(
            &job(&[kind], 4, QueuePairScope::RankPair, 1),
            &Budget::unlimited(),
        )
        .unwrap();
        assert_eq!(pairs.find(RankId::new(1), RankId::new(1), 0), None);
        assert_eq!(pairs.find(RankId::new(0), RankId::new(1), 7), None);
        assert_eq!(pairs.find(RankId::new(0), RankId::new(4), 0), None);
        assert_eq!(pairs.find(RankId::new(4), RankId::new(0), 0), None);
        assert_eq!(pairs.find(RankId::new(u32::MAX), RankId::new(0), 0), None);
    }
}

#[test]
fn impossible_tables_are_refused() {
    let ring = CollectiveKind::from(AllReduceRing).schedule(4, 8).unwrap();
    let build = |ranks, queue_pairs| {
        QueuePairs::build(
            ranks,
            &[&*ring],
            QueuePairScope::RankPair,
            queue_pairs,
            &Budget::unlimited(),
        )
        .unwrap_err()
    };
    assert_eq!(build(4, 0), WorkloadError::ZeroQueuePairs);
    assert_eq!(
        build(5, 1),
        WorkloadError::RanksDisagree { ranks: 5, found: 4 }
    );
    // The root receives on 70,000 lanes of 65,535 queue pairs.
    let job = job(
        &[CollectiveKind::Incast(Incast { root: 0 })],
        70_001,
        QueuePairScope::RankPair,
        u16::MAX,
    );
    let refused = QueuePairs::for_job(&job, &Budget::unlimited());
    assert!(matches!(refused, Err(WorkloadError::TooManyQueuePairs)));
}

#[test]
fn memory_is_what_it_says() {
    let memory = |kind, scope| {
        QueuePairs::for_job(&job(&[kind], 512, scope, 1), &Budget::unlimited())
            .unwrap()
            .memory_bytes()
    };
    // Two lists of 513 starts, and per entry 12 bytes or, with lanes, 16.
    let starts = 2 * 513 * 4;
    for kind in [
        CollectiveKind::AllToAllParallel(AllToAllParallel),
        CollectiveKind::AllToAllPairwise(AllToAllPairwise),
    ] {
        assert_eq!(memory(kind.clone(), QueuePairScope::RankPair), 0);
        assert_eq!(memory(kind, QueuePairScope::Chunk), 0);
    }
    assert_eq!(
        memory(
            CollectiveKind::AllReduceRing(AllReduceRing),
            QueuePairScope::RankPair
        ),
        starts + 512 * 12
    );
    assert_eq!(
        memory(
            CollectiveKind::AllReduceRing(AllReduceRing),
            QueuePairScope::Chunk
        ),
        starts + 512 * 512 * 16
    );
}

proptest! {
    #[test]
    fn any_rows_at_all(
        rows in (1_usize..9).prop_flat_map(|ranks| {
            let destination = (0..ranks as u32, prop_oneof![Just(0_u32), 0_u32..4]);
            let row = prop::collection::vec(destination, 0..12);
            prop::collection::vec(row, ranks)
        }),
        queue_pairs in 1_u16..4,
    ) {
        let destination = |&(dst, lane): &(u32, u32)| Destination { dst, lane };
        let schedule = Rows(rows.iter().map(|row| row.iter().map(destination).collect()).collect());
        let expected = (0..)
            .zip(&rows)
            .flat_map(|(src, row)| row.iter().map(move |&(dst, lane)| (src, dst, lane)))
            .collect();
        let ranks = rows.len() as u32;
        let (scope, budget) = (QueuePairScope::Chunk, Budget::unlimited());
        let pairs = QueuePairs::build(ranks, &[&schedule], scope, queue_pairs, &budget).unwrap();
        check(&pairs, expected);
    }
}

/// All pairs but one: as large as a table gets without being dense, and found out at the last row
/// only.
fn almost_dense(ranks: u32) -> Rows {
    let row = |src| {
        (0..ranks)
            .filter(move |&dst| dst != src)
            .map(|dst| Destination { dst, lane: 0 })
    };
    let mut rows: Vec<Vec<_>> = (0..ranks).map(|src| row(src).collect()).collect();
    rows[ranks as usize - 1].pop();
    Rows(rows)
}

#[test]
fn a_table_that_stops_being_dense_at_its_last_row() {
    let schedule = almost_dense(9);
    let expected = (0..9)
        .zip(&schedule.0)
        .flat_map(|(src, row)| row.iter().map(move |to| (src, to.dst, to.lane)))
        .collect();
    let pairs = QueuePairs::build(
        9,
        &[&schedule],
        QueuePairScope::RankPair,
        1,
        &Budget::unlimited(),
    )
    .unwrap();
    check(&pairs, expected);
}

#[test]
#[ignore = "measures wall time, which means nothing on a busy machine"]
fn building_is_fast_enough() {
    for (ranks, limit_ms) in [(512, 30), (2_048, 500)] {
        let all_to_all = CollectiveKind::AllToAllParallel(AllToAllParallel)
            .schedule(ranks, 1 << 30)
            .unwrap();
        let ring = CollectiveKind::AllReduceRing(AllReduceRing)
            .schedule(ranks, 1 << 30)
            .unwrap();
        let almost = almost_dense(ranks);
        let schedules: [(&str, &dyn Schedule); 3] = [
            ("all-to-all", &*all_to_all),
            ("ring", &*ring),
            ("almost dense", &almost),
        ];
        for (name, schedule) in schedules {
            let start = Instant::now();
            let pairs = QueuePairs::build(
                ranks,
                &[schedule],
                QueuePairScope::Chunk,
                1,
                &Budget::unlimited(),
            )
            .unwrap();
            let elapsed = start.elapsed();
            println!(
                "{name}, {ranks} ranks: {elapsed:?}, {} bytes",
                pairs.memory_bytes()
            );
            assert!(elapsed.as_millis() < limit_ms);
        }
    }
}
