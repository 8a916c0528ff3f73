//! What holds for every pattern.

use tenter_engine::Draws;

use super::*;
use crate::collective::tests::Unhinted;
use crate::collective::vectors::{Memory, execute};
use crate::pattern::{Auto, Gtc, MiniDft};

/// Every pattern, small enough for all of its transfers to be looked at.
fn patterns() -> [PatternKind; 7] {
    let mut patterns = PatternKind::defaults();
    for kind in &mut patterns {
        if let PatternKind::DatabasePod(own) = kind {
            own.rack = 3;
        }
    }
    patterns
}

fn draws() -> Draws {
    Draws::new(3, "patterns", "test")
}

fn schedule(kind: PatternKind, ranks: u32) -> Option<PatternSchedule> {
    match PatternSchedule::new(kind, draws(), ranks, 1) {
        Ok(schedule) => Some(schedule),
        Err(PatternError::OneRack { .. }) => None,
        Err(error) => panic!("{error}"),
    }
}

/// What has arrived at each rank, phase by phase.
struct Arrived<'a> {
    schedule: &'a PatternSchedule,
    count: Vec<Vec<u32>>,
}

impl Memory for Arrived<'_> {
    fn read(&self, transfer: &Transfer) -> Vec<u64> {
        let count = &self.count[transfer.src as usize];
        let table = &self.schedule.0;
        let due = table.received_before(transfer.step as usize, transfer.src);
        let arrived: u32 = count[..transfer.step as usize].iter().sum();
        assert_eq!(arrived, due, "{transfer:?} leaves too early");
        vec![transfer.bytes]
    }

    fn write(&mut self, transfer: &Transfer, values: &[u64]) {
        assert_eq!(values, [transfer.bytes]);
        self.count[transfer.dst as usize][transfer.step as usize] += 1;
    }
}

#[test]
fn all_arrives_and_no_rank_runs_ahead_of_what_it_waits_for() {
    for kind in patterns() {
        for ranks in 2..=33 {
            let Some(schedule) = schedule(kind.clone(), ranks) else {
                continue;
            };
            let phases = schedule.phases();
            let scope = match ranks % 2 {
                0 => QueuePairScope::RankPair,
                _ => QueuePairScope::Chunk,
            };
            let mut memory = Arrived {
                schedule: &schedule,
                count: vec![vec![0; phases]; ranks as usize],
            };
            let bytes = execute(&schedule, &mut memory, scope, u64::from(ranks));
            assert_eq!(bytes, schedule.matrix().total(), "{kind:?}, {ranks} ranks");
        }
    }
}

#[test]
fn pairs_and_numbers_of_a_way_are_those_of_its_transfers() {
    for kind in patterns() {
        let schedule = schedule(kind, 12).expect("twelve ranks suit all");
        let walked = Unhinted(Box::new(schedule.clone()));
        for scope in [QueuePairScope::RankPair, QueuePairScope::Chunk] {
            for rank in 0..12 {
                let (mut said, mut used) = (Vec::new(), Vec::new());
                schedule.pairs(rank, scope, &mut said);
                walked.pairs(rank, scope, &mut used);
                assert_eq!(said, used);
                for way in said {
                    for nth in 0..40 {
                        let found = schedule.nth(rank, way, scope, nth);
                        assert_eq!(found, walked.nth(rank, way, scope, nth));
                    }
                }
                let nowhere = Destination { dst: rank, lane: 0 };
                assert_eq!(schedule.nth(rank, nowhere, scope, 0), None);
            }
        }
    }
}

#[test]
fn ranks_post_to_those_of_higher_number_first() {
    let gtc = Gtc {
        charge_bytes: 8,
        ..Gtc::default()
    };
    let schedule = schedule(PatternKind::Gtc(gtc), 5).expect("five domains");
    let mut ids = Vec::new();
    schedule.initial(3, &mut ids);
    let destinations: Vec<u32> = ids.iter().map(|&id| schedule.transfer(id).dst).collect();
    assert_eq!(destinations, [4, 2]);
    let mut next = Vec::new();
    schedule.released_by(ids[0], &mut next);
    let from = next.iter().map(|&id| schedule.transfer(id).src);
    assert!(from.eq([4, 4]));
    assert_eq!(schedule.dependencies(next[0]), 2);
}

#[test]
fn the_ideal_time_by_hand() {
    // Five domains alone: two phases in which everybody sends both neighbours 3 bytes, then 10, at
    // 1 us each with a latency of 5 us: 2 · 3 + 5, then 2 · 10 + 5.
    let gtc = Gtc {
        field_bytes: 3,
        particle_bytes: 10,
        ..Gtc::default()
    };
    let schedule = schedule(PatternKind::Gtc(gtc), 5).expect("five domains");
    let port_time = |bytes| Time::from_us(bytes);
    let time = schedule.ideal_time(&port_time, Time::from_us(5));
    assert_eq!(time, Time::from_us(11 + 25));
}

#[test]
fn four_thousand_ranks_are_built() {
    for kind in patterns() {
        let schedule = schedule(kind.clone(), 4_096).expect("they suit all");
        let total = schedule.matrix().total();
        assert!(total > 0 && schedule.transfer_count() > 4_096, "{kind:?}");
        assert_eq!(
            kind.phases(draws(), 4_096, 1).unwrap().len(),
            schedule.phases()
        );
    }
}

#[test]
fn what_cannot_run_is_refused() {
    for kind in patterns() {
        let refused = PatternSchedule::new(kind, draws(), 1, 0).unwrap_err();
        assert!(refused.to_string().contains("bind at least 2 ranks"));
    }
    let wide = PatternKind::MiniDft(MiniDft {
        rows: Auto::Given(1),
        ..MiniDft::default()
    });
    let refused = wide.phases(draws(), 8_192, 0).unwrap_err();
    assert!(matches!(refused, PatternError::TooManyPairs { .. }));
}
