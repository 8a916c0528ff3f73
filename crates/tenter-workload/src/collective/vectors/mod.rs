//! Tests that run every member on real vectors, in random orders that its dependencies allow.

mod execute;

use proptest::prelude::*;

use super::*;
use crate::{QueuePairScope, Transfer};
pub(crate) use execute::{Memory, execute};

/// One vector of numbers per rank; a number stands for a chunk or block.
type Vectors = Vec<Vec<u64>>;

/// Parameters by which a test varies.
#[derive(Clone, Copy, Debug)]
struct Case {
    ranks: u32,
    size: u64,
    /// Root, or the seed of a permutation.
    parameter: u64,
    /// Seed for the order of events.
    order: u64,
}

impl Case {
    fn root(self) -> u32 {
        (self.parameter % u64::from(self.ranks)) as u32
    }

    /// Returns the length of a rank's block in bytes.
    fn block(self, rank: u32) -> u64 {
        let start = |rank: u32| {
            let product = u128::from(rank) * u128::from(self.size);
            (product / u128::from(self.ranks)) as u64
        };
        start(rank + 1) - start(rank)
    }

    /// Cuts `bytes` into at most five chunks; returns their length and their count.
    fn cut(self, bytes: u64) -> (u64, u32) {
        let chunk_bytes = bytes.div_ceil(1 + self.parameter % 5);
        (chunk_bytes, bytes.div_ceil(chunk_bytes) as u32)
    }

    /// Runs a member on `memory` and returns the bytes that it moved.
    fn run(self, kind: &CollectiveKind, memory: &mut impl Memory) -> u64 {
        let schedule = kind.schedule(self.ranks, self.size).unwrap();
        let scope = if self.order.is_multiple_of(2) {
            QueuePairScope::RankPair
        } else {
            QueuePairScope::Chunk
        };
        execute(&*schedule, memory, scope, self.order)
    }
}

/// Returns a number that identifies rank and chunk, and whose sum shows which ranks were added and
/// how often.
fn value(rank: u32, chunk: u32) -> u64 {
    (1 << rank) + (u64::from(chunk + 1) << 40)
}

fn matrix(rows: u32, columns: u32, cell: impl Fn(u32, u32) -> u64) -> Vectors {
    (0..rows)
        .map(|row| (0..columns).map(|column| cell(row, column)).collect())
        .collect()
}

/// Memory in which all ranks hold parts of the same buffer, cell by cell; 0 for cells that a rank
/// lacks.
struct InPlace<'a> {
    held: Vectors,
    /// Cells that a transfer carries.
    cells: &'a dyn Fn(&Transfer) -> Vec<u32>,
}

impl InPlace<'_> {
    /// Makes memory with the given contents in which each chunk is one cell.
    fn of_chunks(held: Vectors) -> InPlace<'static> {
        InPlace {
            held,
            cells: &|transfer| vec![transfer.chunk],
        }
    }
}

impl Memory for InPlace<'_> {
    fn read(&self, transfer: &Transfer) -> Vec<u64> {
        let vector = &self.held[transfer.src as usize];
        let cells = (self.cells)(transfer).into_iter();
        cells.map(|cell| vector[cell as usize]).collect()
    }

    fn write(&mut self, transfer: &Transfer, values: &[u64]) {
        let vector = &mut self.held[transfer.dst as usize];
        for (cell, &value) in (self.cells)(transfer).into_iter().zip(values) {
            let cell = &mut vector[cell as usize];
            *cell = if transfer.reduce {
                *cell + value
            } else {
                value
            };
        }
    }
}

/// Memory in which source s sends its block for destination d, and d stores it as block s.
struct Blocks {
    send: Vectors,
    receive: Vectors,
}

impl Memory for Blocks {
    fn read(&self, transfer: &Transfer) -> Vec<u64> {
        vec![self.send[transfer.src as usize][transfer.dst as usize]]
    }

    fn write(&mut self, transfer: &Transfer, values: &[u64]) {
        let cell = &mut self.receive[transfer.dst as usize][transfer.src as usize];
        assert_eq!(*cell, 0, "a block arrived twice");
        *cell = values[0];
    }
}

/// Returns the sum of all ranks' contributions to a chunk.
fn sum(ranks: u32, chunk: u32) -> u64 {
    (0..ranks).map(|rank| value(rank, chunk)).sum()
}

/// Tests an all-reduce round rings or along trees with `chunks` chunks.
fn all_reduce(case: Case, kind: &CollectiveKind, chunks: u32) {
    let ranks = case.ranks;
    let mut memory = InPlace::of_chunks(matrix(ranks, chunks, value));
    let bytes = case.run(kind, &mut memory);
    // Each chunk moves 2(n−1) times: to be added to n−1 others, and back to n−1 ranks.
    assert_eq!(bytes, 2 * u64::from(ranks - 1) * case.size);
    check_all_reduced(case, kind, &memory);
}

fn check_all_reduced(case: Case, kind: &CollectiveKind, memory: &InPlace<'_>) {
    let cells = memory.held[0].len() as u32;
    let sums = matrix(case.ranks, cells, |_, cell| sum(case.ranks, cell));
    assert_eq!(memory.held, sums, "{kind:?}, {case:?}");
}

/// Tests an all-gather: each rank starts with a block and ends with all of them.
fn all_gather(case: Case, kind: &CollectiveKind, cells: &dyn Fn(&Transfer) -> Vec<u32>) -> u64 {
    let ranks = case.ranks;
    let own = |rank, block| if rank == block { value(rank, block) } else { 0 };
    let held = matrix(ranks, ranks, own);
    let mut memory = InPlace { held, cells };
    let bytes = case.run(kind, &mut memory);
    let all = matrix(ranks, ranks, |_, block| value(block, block));
    assert_eq!(memory.held, all, "{kind:?}, {case:?}");
    bytes
}

/// Tests a reduce-scatter: each rank ends with the sum of its block; the rest of the buffer is
/// scratch.
fn reduce_scatter(case: Case, kind: &CollectiveKind, cells: &dyn Fn(&Transfer) -> Vec<u32>) -> u64 {
    let ranks = case.ranks;
    let held = matrix(ranks, ranks, value);
    let mut memory = InPlace { held, cells };
    let bytes = case.run(kind, &mut memory);
    for rank in 0..ranks {
        let found = memory.held[rank as usize][rank as usize];
        assert_eq!(found, sum(ranks, rank), "{kind:?}, {case:?}, rank {rank}");
    }
    bytes
}

/// Tests the ring algorithms.
fn rings(case: Case) {
    let ranks = case.ranks;
    let one_chunk = |transfer: &Transfer| vec![transfer.chunk];
    all_reduce(case, &CollectiveKind::AllReduceRing(AllReduceRing), ranks);
    let bidirectional = CollectiveKind::AllReduceBidirectionalRing(AllReduceBidirectionalRing);
    all_reduce(case, &bidirectional, 2 * ranks);
    // Each of n−1 steps moves every block once.
    let once_round = u64::from(ranks - 1) * case.size;
    let gathered = all_gather(
        case,
        &CollectiveKind::AllGatherRing(AllGatherRing),
        &one_chunk,
    );
    assert_eq!(gathered, once_round);
    let scattered = reduce_scatter(
        case,
        &CollectiveKind::ReduceScatterRing(ReduceScatterRing),
        &one_chunk,
    );
    assert_eq!(scattered, once_round);
}

/// Returns the cells of a chunk in recursive halving and doubling over p = 2ᵏ of n ranks. A
/// participant has one cell, or two if it has an extra.
fn butterfly_cells(ranks: u32, chunk: u32) -> Vec<u32> {
    let participants = 1 << ranks.ilog2();
    let extras = ranks - participants;
    // Segments are numbered like a heap: the whole is 0, its halves 1 and 2, its quarters 3 to 6.
    if chunk < 2 * participants - 1 {
        let level = (chunk + 1).ilog2();
        let length = participants >> level;
        let first = (chunk + 1 - (1 << level)) * length;
        let cell = |participant: u32| participant + participant.min(extras);
        return (cell(first)..cell(first + length)).collect();
    }
    let of_extra = chunk + 1 - 2 * participants;
    let block = 2 * (of_extra % extras) + 1;
    if of_extra < extras {
        vec![block]
    } else {
        (0..ranks).filter(|&cell| cell != block).collect()
    }
}

/// Tests recursive halving, recursive doubling, and both in sequence.
fn butterflies(case: Case) {
    let (ranks, size) = (case.ranks, case.size);
    let participants: u32 = 1 << ranks.ilog2();
    let extras = u64::from(ranks - participants);
    let cells = |transfer: &Transfer| butterfly_cells(ranks, transfer.chunk);
    let blocks_of_extras: u64 = (0..ranks - participants)
        .map(|i| case.block(2 * i + 1))
        .sum();

    // Each exchange of halving moves half of what all participants hold, which is p buffers, then
    // p/2, …: p−1 in the end. An extra sends its buffer before and gets its block after.
    let halving = CollectiveKind::ReduceScatterRecursiveHalving(ReduceScatterRecursiveHalving);
    let exchanged = u64::from(participants - 1) * size;
    let bytes = reduce_scatter(case, &halving, &cells);
    assert_eq!(bytes, exchanged + extras * size + blocks_of_extras);
    // Doubling is the mirror image, except that an extra already has its block.
    let doubling = CollectiveKind::AllGatherRecursiveDoubling(AllGatherRecursiveDoubling);
    let bytes = all_gather(case, &doubling, &cells);
    assert_eq!(bytes, exchanged + extras * size);
    match CollectiveKind::from(Hypercube).schedule(ranks, size) {
        Ok(_) => assert_eq!(
            all_gather(case, &CollectiveKind::Hypercube(Hypercube), &cells),
            exchanged
        ),
        Err(error) => assert!(matches!(error, WorkloadError::NotPowerOfTwo { .. })),
    }

    // An all-reduce cuts its buffer for the participants alone.
    let cells = |transfer: &Transfer| butterfly_cells(participants, transfer.chunk);
    for distances in [Distances::Halving, Distances::Doubling] {
        let both = CollectiveKind::AllReduceHalvingDoubling(AllReduceHalvingDoubling { distances });
        let held = matrix(ranks, participants, value);
        let mut memory = InPlace {
            held,
            cells: &cells,
        };
        let bytes = case.run(&both, &mut memory);
        assert_eq!(bytes, 2 * (exchanged + extras * size));
        check_all_reduced(case, &both, &memory);
    }
}

fn all_to_all(case: Case) {
    let ranks = case.ranks;
    let keep_own = |row, column| if row == column { value(row, column) } else { 0 };
    for kind in [
        CollectiveKind::AllToAllParallel(AllToAllParallel),
        CollectiveKind::AllToAllPairwise(AllToAllPairwise),
    ] {
        let mut memory = Blocks {
            send: matrix(ranks, ranks, value),
            receive: matrix(ranks, ranks, keep_own),
        };
        let bytes = case.run(&kind, &mut memory);
        // Every rank receives n−1 blocks; the blocks of all ranks make up one buffer.
        assert_eq!(bytes, u64::from(ranks - 1) * case.size);
        let transposed = matrix(ranks, ranks, |row, column| value(column, row));
        assert_eq!(memory.receive, transposed, "{kind:?}, {case:?}");
    }
}

/// Memory for blocks that are handed on: the (source, destination) pairs that each rank holds and
/// has sent.
struct HandedOn {
    npus: u32,
    held: Vec<std::collections::BTreeSet<(u32, u32)>>,
    sent: Vec<Vec<(u32, u32)>>,
}

impl HandedOn {
    /// Returns the blocks that a PXN transfer carries, by source and destination.
    fn blocks(&self, transfer: &Transfer, hosts: u32) -> Vec<(u32, u32)> {
        let (src, dst, npus) = (transfer.src, transfer.dst, self.npus);
        if transfer.step == 1 {
            let host = src / npus * npus;
            return (host..host + npus).map(|of| (of, dst)).collect();
        }
        let turn = transfer.chunk % hosts;
        let host = (src / npus + 1 + turn) % hosts;
        vec![(src, host * npus + dst % npus)]
    }
}

impl Memory for HandedOn {
    fn read(&self, transfer: &Transfer) -> Vec<u64> {
        let hosts = self.held.len() as u32 / self.npus;
        let held = &self.held[transfer.src as usize];
        let blocks = self.blocks(transfer, hosts).into_iter();
        blocks
            .map(|block| u64::from(held.contains(&block)))
            .collect()
    }

    fn write(&mut self, transfer: &Transfer, values: &[u64]) {
        assert!(values.iter().all(|&has| has == 1), "{transfer:?}");
        let hosts = self.held.len() as u32 / self.npus;
        let blocks = self.blocks(transfer, hosts);
        self.sent[transfer.src as usize].extend(&blocks);
        self.held[transfer.dst as usize].extend(blocks);
    }
}

/// Tests the all-to-all through other NPUs of a host: each rank ends with the blocks for it, and no
/// rank sends a block twice.
fn pxn(case: Case) {
    let ranks = case.ranks;
    for npus_per_host in (1..=ranks / 2).filter(|npus| ranks.is_multiple_of(*npus)) {
        let own = |rank| (0..ranks).map(|dst| (rank, dst)).collect();
        let mut memory = HandedOn {
            npus: npus_per_host,
            held: (0..ranks).map(own).collect(),
            sent: vec![Vec::new(); ranks as usize],
        };
        let bytes = case.run(
            &CollectiveKind::AllToAllPxn(AllToAllPxn {
                npus_per_host: Some(npus_per_host),
            }),
            &mut memory,
        );
        for (rank, held) in (0..).zip(&memory.held) {
            assert!(
                (0..ranks).all(|src| held.contains(&(src, rank))),
                "{case:?}"
            );
        }
        for blocks in &mut memory.sent {
            let count = blocks.len();
            blocks.sort_unstable();
            blocks.dedup();
            assert_eq!(blocks.len(), count, "{case:?}");
        }
        // Blocks for other hosts move twice, except those for the NPU on the sender's rail. Blocks
        // for NPUs on the same host move once.
        let hosts = u64::from(ranks / npus_per_host);
        let npus = u64::from(npus_per_host);
        assert_eq!(bytes, ((npus - 1) * hosts + (hosts - 1) * npus) * case.size);
    }
}

/// Tests permutation and send-recv: each rank receives exactly one vector, from another rank.
fn one_to_one(case: Case) {
    let (ranks, seed) = (case.ranks, case.parameter);
    for kind in [
        CollectiveKind::Permutation(Permutation { seed: Some(seed) }),
        CollectiveKind::SendRecv(SendRecv),
    ] {
        let mut memory = Blocks {
            send: matrix(ranks, ranks, value),
            receive: matrix(ranks, ranks, |_, _| 0),
        };
        let bytes = case.run(&kind, &mut memory);
        assert_eq!(bytes, u64::from(ranks) * case.size);
        for (rank, vector) in (0..).zip(&memory.receive) {
            let from: Vec<u32> = (0..ranks)
                .filter(|&src| vector[src as usize] != 0)
                .collect();
            assert!(from.len() == 1 && from[0] != rank, "{kind:?}, {case:?}");
            if kind == CollectiveKind::SendRecv(SendRecv) {
                assert_eq!((from[0] + 1) % ranks, rank);
            }
        }
    }
}

/// Tests gather and incast: the root ends with every rank's block, the others with their own.
fn gather(case: Case) {
    let (ranks, root) = (case.ranks, case.root());
    let own = |rank, block| if rank == block { value(rank, block) } else { 0 };
    let all = |rank, block| {
        if rank == root {
            value(block, block)
        } else {
            own(rank, block)
        }
    };
    for kind in [
        CollectiveKind::GatherParallel(GatherParallel { root }),
        CollectiveKind::Incast(Incast { root }),
    ] {
        let mut memory = InPlace::of_chunks(matrix(ranks, ranks, own));
        let bytes = case.run(&kind, &mut memory);
        assert_eq!(bytes, case.size - case.block(root));
        assert_eq!(memory.held, matrix(ranks, ranks, all), "{case:?}");
    }
}

/// Tests scatter: each rank ends with its block of the root's buffer.
fn scatter(case: Case) {
    let (ranks, root) = (case.ranks, case.root());
    let held = |rank, has: bool, block| {
        if rank == root || has {
            value(root, block)
        } else {
            0
        }
    };
    let mut memory =
        InPlace::of_chunks(matrix(ranks, ranks, |rank, block| held(rank, false, block)));
    let bytes = case.run(
        &CollectiveKind::ScatterParallel(ScatterParallel { root }),
        &mut memory,
    );
    assert_eq!(bytes, case.size - case.block(root));
    let expected = matrix(ranks, ranks, |rank, block| held(rank, rank == block, block));
    assert_eq!(memory.held, expected, "{case:?}");
}

/// Tests broadcast: each rank ends with the root's message, in one chunk or several.
fn broadcast(case: Case) {
    let (ranks, root) = (case.ranks, case.root());
    let (chunk_bytes, chunks) = case.cut(case.size);
    for (kind, chunks) in [
        (
            CollectiveKind::BroadcastParallel(BroadcastParallel { root }),
            1,
        ),
        (
            CollectiveKind::BroadcastRing(BroadcastRing { root, chunk_bytes }),
            chunks,
        ),
        (
            CollectiveKind::BroadcastTree(BroadcastTree { root, chunk_bytes }),
            chunks,
        ),
    ] {
        let at_root = |rank, chunk| if rank == root { value(root, chunk) } else { 0 };
        let mut memory = InPlace::of_chunks(matrix(ranks, chunks, at_root));
        let bytes = case.run(&kind, &mut memory);
        assert_eq!(bytes, u64::from(ranks - 1) * case.size);
        let all = matrix(ranks, chunks, |_, chunk| value(root, chunk));
        assert_eq!(memory.held, all, "{kind:?}, {case:?}");
    }
}

/// Tests reduce: the root ends with the sums; the other ranks' buffers are scratch.
fn reduce(case: Case) {
    let (ranks, root) = (case.ranks, case.root());
    let (chunk_bytes, chunks) = case.cut(case.size);
    let kind = CollectiveKind::ReduceTree(ReduceTree { root, chunk_bytes });
    let mut memory = InPlace::of_chunks(matrix(ranks, chunks, value));
    let bytes = case.run(&kind, &mut memory);
    assert_eq!(bytes, u64::from(ranks - 1) * case.size);
    let sums: Vec<u64> = (0..chunks).map(|chunk| sum(ranks, chunk)).collect();
    assert_eq!(memory.held[root as usize], sums, "{case:?}");
}

/// Tests the all-reduce up and down two trees, whose chunks alternate.
fn double_tree(case: Case) {
    let (chunk_bytes, chunks) = case.cut(case.size.div_ceil(2));
    let kind = CollectiveKind::AllReduceDoubleBinaryTree(AllReduceDoubleBinaryTree { chunk_bytes });
    all_reduce(case, &kind, 2 * chunks);
}

/// Tests the hierarchical all-reduce. No transfer carries the parts within hosts, so they are
/// carried out here: an NPU first adds up its part of the buffers on its host, and in the end gives
/// the others the result.
fn hierarchical(case: Case) {
    let ranks = case.ranks;
    for npus_per_host in (1..=ranks / 2).filter(|npus| ranks.is_multiple_of(*npus)) {
        let kind = CollectiveKind::AllReduceHierarchical(AllReduceHierarchical {
            npus_per_host: Some(npus_per_host),
            ..AllReduceHierarchical::default()
        });
        let hosts = ranks / npus_per_host;
        let owner = |chunk: u32| chunk / hosts;
        let of_host = |rank: u32| {
            let first = rank / npus_per_host * npus_per_host;
            first..first + npus_per_host
        };
        let reduced = |rank: u32, chunk: u32| {
            let added = of_host(rank).map(|other| value(other, chunk)).sum();
            if owner(chunk) == rank % npus_per_host {
                added
            } else {
                0
            }
        };
        let mut memory = InPlace::of_chunks(matrix(ranks, ranks, reduced));
        let bytes = case.run(&kind, &mut memory);
        assert_eq!(bytes, 2 * u64::from(hosts - 1) * case.size);
        let held = memory.held;
        memory.held = matrix(ranks, ranks, |rank, chunk| {
            let from = of_host(rank).start + owner(chunk);
            held[from as usize][chunk as usize]
        });
        check_all_reduced(case, &kind, &memory);
    }
}

/// Memory for tokens of which every rank needs a copy: the ranks whose tokens, or results for whose
/// tokens, each rank holds.
struct Tokens {
    npus: u32,
    /// For each rank and rank with tokens: whose results are added up there, or the rank itself for
    /// the tokens.
    held: Vec<Vec<u64>>,
}

impl Tokens {
    /// Returns the ranks of whose tokens a transfer between `near`, closer to them, and `far` is.
    fn owner(&self, near: u32, far: u32, turn: u32) -> usize {
        let hosts = self.held.len() as u32 / self.npus;
        let owner = if near / self.npus == far / self.npus {
            let host = (near / self.npus + 1 + turn) % hosts;
            host * self.npus + near % self.npus
        } else {
            near
        };
        owner as usize
    }

    fn cell(&self, transfer: &Transfer) -> usize {
        let (near, far) = if transfer.reduce {
            (transfer.dst, transfer.src)
        } else {
            (transfer.src, transfer.dst)
        };
        self.owner(near, far, transfer.channel)
    }
}

impl Memory for Tokens {
    fn read(&self, transfer: &Transfer) -> Vec<u64> {
        vec![self.held[transfer.src as usize][self.cell(transfer)]]
    }

    fn write(&mut self, transfer: &Transfer, values: &[u64]) {
        let cell = self.cell(transfer);
        let held = &mut self.held[transfer.dst as usize][cell];
        *held = if transfer.reduce {
            *held + values[0]
        } else {
            values[0]
        };
    }
}

/// Tests dispatch and combination by way of hosts, in one piece: tokens reach every rank, and of
/// every rank one result comes back.
fn experts(case: Case) {
    let ranks = case.ranks;
    let fits: Vec<u32> = (1..=ranks)
        .filter(|npus| ranks.is_multiple_of(*npus))
        .collect();
    let npus = fits[(case.parameter % fits.len() as u64) as usize];
    let experts = ExpertKeys {
        npus_per_host: Some(npus),
        ..ExpertKeys::default()
    };
    let normal = NormalKeys {
        chunk_bytes: 1 << 40,
        ..NormalKeys::default()
    };
    let own = |row, column| if row == column { value(row, 0) } else { 0 };
    let mut memory = Tokens {
        npus,
        held: matrix(ranks, ranks, own),
    };
    let there = case.run(&MoeDispatchNormal { experts, normal }.into(), &mut memory);
    assert_eq!(
        memory.held,
        matrix(ranks, ranks, |_, of| value(of, 0)),
        "{case:?}"
    );
    memory.held = matrix(ranks, ranks, |rank, _| value(rank, 0));
    let back = case.run(&MoeCombineNormal { experts, normal }.into(), &mut memory);
    for rank in 0..ranks {
        let found = memory.held[rank as usize][rank as usize];
        assert_eq!(found, sum(ranks, 0), "{case:?}, rank {rank}");
    }
    assert_eq!(there, back, "{case:?}");
    // Three pieces, in any order of events.
    let normal = NormalKeys {
        chunk_bytes: case.size.div_ceil(3),
        ..normal
    };
    for kind in [
        CollectiveKind::from(MoeDispatchNormal { experts, normal }),
        MoeCombineNormal { experts, normal }.into(),
    ] {
        let schedule = kind.schedule(ranks, case.size).unwrap();
        let scope = QueuePairScope::RankPair;
        let moved = execute(&*schedule, &mut memory, scope, case.order);
        assert_eq!(moved, there, "{case:?}");
    }
}

fn everything(case: Case) {
    rings(case);
    butterflies(case);
    all_to_all(case);
    one_to_one(case);
    gather(case);
    scatter(case);
    broadcast(case);
    reduce(case);
    double_tree(case);
    hierarchical(case);
    pxn(case);
    experts(case);
}

#[test]
fn results_are_right_for_2_to_33_ranks() {
    for ranks in 2..=33 {
        for order in 0..4 {
            everything(Case {
                ranks,
                size: 1 << 20,
                parameter: order,
                order,
            });
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
        everything(Case { ranks, size, parameter, order });
    }
}
