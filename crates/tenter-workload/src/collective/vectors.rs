//! Every member run on real vectors, in random orders that its dependencies allow.

use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::CollectiveKind;
use crate::{Schedule, Transfer};

/// A vector of numbers per rank; one number stands for one chunk or block.
type Vectors = Vec<Vec<u64>>;

/// What the ranks send from and receive into; the same place for collectives in place.
struct Memory {
    send: Vectors,
    receive: Vectors,
}

/// How a member's transfer reads and writes memory.
struct DataPath {
    read: fn(&Memory, &Transfer) -> u64,
    write: fn(&mut Memory, &Transfer, u64),
}

/// Runs a schedule to its end and returns the payload bytes it moved.
///
/// A released transfer leaves at a random moment (its data is read then, not when it was released,
/// so that a chunk which may still change would be caught) and arrives at a later random one.
/// Checked on the way: only the ranks' own initial transfers start without an arrival, releases
/// stay at the receiving rank, nothing is released twice or too often, and everything arrives.
fn execute(schedule: &dyn Schedule, memory: &mut Memory, path: &DataPath, seed: u64) -> u64 {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let count = schedule.transfer_count();
    let mut waiting: Vec<u32> = (0..count).map(|id| schedule.dependencies(id)).collect();
    let mut ready = initial_transfers(schedule);
    let mut flying: Vec<(u32, u64)> = Vec::new();
    let (mut arrived, mut bytes) = (vec![false; count as usize], 0);
    while !(ready.is_empty() && flying.is_empty()) {
        let choice = random.next_u64() as usize % (ready.len() + flying.len());
        if choice < ready.len() {
            let id = ready.swap_remove(choice);
            flying.push((id, (path.read)(memory, &schedule.transfer(id))));
            continue;
        }
        let (id, value) = flying.swap_remove(choice - ready.len());
        let transfer = schedule.transfer(id);
        (path.write)(memory, &transfer, value);
        bytes += transfer.bytes;
        assert!(
            !std::mem::replace(&mut arrived[id as usize], true),
            "{id} ran twice"
        );
        let mut released = Vec::new();
        schedule.released_by(id, &mut released);
        for next in released {
            assert_eq!(
                schedule.transfer(next).src,
                transfer.dst,
                "{id} released {next} elsewhere"
            );
            let left = &mut waiting[next as usize];
            *left = left
                .checked_sub(1)
                .expect("a transfer is released as often as it waits");
            if *left == 0 {
                ready.push(next);
            }
        }
    }
    assert!(
        arrived.iter().all(|&done| done),
        "transfers that nothing released"
    );
    bytes
}

/// The initial transfers of all ranks, which must be all those that wait for nothing, each once and
/// from its rank.
fn initial_transfers(schedule: &dyn Schedule) -> Vec<u32> {
    let mut all = Vec::new();
    for rank in 0..schedule.ranks() {
        let start = all.len();
        schedule.initial(rank, &mut all);
        assert!(
            all[start..]
                .iter()
                .all(|&id| schedule.transfer(id).src == rank)
        );
    }
    let mut sorted = all.clone();
    sorted.sort_unstable();
    let free = (0..schedule.transfer_count()).filter(|&id| schedule.dependencies(id) == 0);
    assert!(
        free.eq(sorted),
        "initial transfers and those without dependencies differ"
    );
    all
}

/// A number that tells rank and chunk, and whose sum tells which ranks were added and how many.
fn value(rank: u32, chunk: u32) -> u64 {
    (1 << rank) + (u64::from(chunk + 1) << 40)
}

fn matrix(ranks: u32, cell: impl Fn(u32, u32) -> u64) -> Vectors {
    (0..ranks)
        .map(|row| (0..ranks).map(|column| cell(row, column)).collect())
        .collect()
}

const IN_PLACE: DataPath = DataPath {
    read: |memory, transfer| memory.send[transfer.src as usize][transfer.chunk as usize],
    write: |memory, transfer, value| {
        let cell = &mut memory.send[transfer.dst as usize][transfer.chunk as usize];
        *cell = if transfer.reduce {
            *cell + value
        } else {
            value
        };
    },
};

/// Source s sends the block it holds for destination d, which stores it as block s.
const BLOCKS: DataPath = DataPath {
    read: |memory, transfer| memory.send[transfer.src as usize][transfer.dst as usize],
    write: |memory, transfer, value| {
        let cell = &mut memory.receive[transfer.dst as usize][transfer.src as usize];
        assert_eq!(*cell, 0, "a block arrived twice");
        *cell = value;
    },
};

fn all_reduce(ranks: u32, size: u64, order: u64) {
    let schedule = CollectiveKind::AllReduceRing.schedule(ranks, size).unwrap();
    let mut memory = Memory {
        send: matrix(ranks, value),
        receive: Vec::new(),
    };
    let bytes = execute(&*schedule, &mut memory, &IN_PLACE, order);
    // Each of the 2(n−1) steps moves every chunk once.
    assert_eq!(bytes, 2 * u64::from(ranks - 1) * size);
    let sums: Vec<u64> = (0..ranks)
        .map(|chunk| (0..ranks).map(|rank| value(rank, chunk)).sum())
        .collect();
    assert!(
        memory.send.iter().all(|vector| *vector == sums),
        "{ranks} ranks"
    );
}

fn all_to_all(ranks: u32, size: u64, order: u64) {
    let schedule = CollectiveKind::AllToAllParallel
        .schedule(ranks, size)
        .unwrap();
    let keep_own = |row, column| if row == column { value(row, column) } else { 0 };
    let mut memory = Memory {
        send: matrix(ranks, value),
        receive: matrix(ranks, keep_own),
    };
    let bytes = execute(&*schedule, &mut memory, &BLOCKS, order);
    // Every rank receives n−1 blocks; the blocks of all ranks make up one buffer.
    assert_eq!(bytes, u64::from(ranks - 1) * size);
    assert_eq!(
        memory.receive,
        matrix(ranks, |row, column| value(column, row)),
        "{ranks} ranks"
    );
}

fn incast(ranks: u32, root: u32, size: u64, order: u64) {
    let schedule = CollectiveKind::Incast { root }
        .schedule(ranks, size)
        .unwrap();
    let mut memory = Memory {
        send: matrix(ranks, value),
        receive: matrix(ranks, |_, _| 0),
    };
    let bytes = execute(&*schedule, &mut memory, &BLOCKS, order);
    let own =
        size * u64::from(root + 1) / u64::from(ranks) - size * u64::from(root) / u64::from(ranks);
    assert_eq!(bytes, size - own);
    let arrives = |row, column| row == root && column != root;
    let expected = |row, column| {
        if arrives(row, column) {
            value(column, row)
        } else {
            0
        }
    };
    assert_eq!(memory.receive, matrix(ranks, expected));
}

fn permutation(ranks: u32, seed: u64, size: u64, order: u64) {
    let schedule = CollectiveKind::Permutation { seed }
        .schedule(ranks, size)
        .unwrap();
    let mut memory = Memory {
        send: matrix(ranks, value),
        receive: matrix(ranks, |_, _| 0),
    };
    let bytes = execute(&*schedule, &mut memory, &BLOCKS, order);
    assert_eq!(bytes, u64::from(ranks) * size);
    // Each rank received exactly one vector, and from somebody else.
    for (rank, vector) in memory.receive.iter().enumerate() {
        assert_eq!(vector.iter().filter(|&&block| block != 0).count(), 1);
        assert_eq!(vector[rank], 0);
    }
}

#[test]
fn results_are_right_for_2_to_33_ranks() {
    for ranks in 2..=33 {
        for order in 0..4 {
            all_reduce(ranks, 1 << 20, order);
            all_to_all(ranks, 1 << 20, order);
            incast(ranks, order as u32 % ranks, 1 << 20, order);
            permutation(ranks, order, 1 << 20, order);
        }
    }
}

proptest! {
    #[test]
    fn results_are_right_for_any_size_and_order(
        ranks in 2_u32..=33,
        // Small ones leave chunks without a byte.
        size in prop_oneof![1_u64..40, 1_u64..1 << 40],
        parameter: u64,
        order: u64,
    ) {
        all_reduce(ranks, size, order);
        all_to_all(ranks, size, order);
        incast(ranks, parameter as u32 % ranks, size, order);
        permutation(ranks, parameter, size, order);
    }
}
