//! Algorithms by hand.

use std::fmt::Write as _;
use std::ops::RangeInclusive;

use proptest::prelude::*;
use tenter_language::config::{Texts, Value};
use tenter_language::units::Bytes;

use super::{AlgorithmFiles, Program, ProgramParts, WireProtocol, read_program, write_program};
use crate::collective::vectors::{Memory, execute};
use crate::collective::{AllReduceRing, CollectiveKind, tests::variants};
use crate::{QueuePairScope, Schedule, Transfer, WorkloadError};

/// A ring all-reduce in which each rank has one thread block: it sends its own chunk, adds n − 2
/// times to what it passes on, adds once more and keeps, and passes on n − 2 results.
fn ring(ranks: u32) -> String {
    let mut text = format!("algorithm all-reduce ranks {ranks} chunks {ranks} in-place\n");
    for rank in 0..ranks {
        let (next, before) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
        let chunk = |step: u32| (rank + 2 * ranks - step) % ranks;
        let _ = writeln!(text, "block {rank} 0\nstep 1 of i{} to {next}.0", chunk(0));
        for step in 1..2 * (ranks - 1) {
            let at = chunk(step);
            let add = if step < ranks {
                format!("of i{at} ")
            } else {
                String::new()
            };
            let _ = writeln!(text, "step 1 from {before}.0 {add}into i{at} to {next}.0");
        }
        let _ = writeln!(
            text,
            "step 1 from {before}.0 into i{}",
            chunk(2 * ranks - 2)
        );
    }
    text
}

fn kind(text: &str) -> CollectiveKind {
    let program = read_program(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    CollectiveKind::FromFile(AlgorithmFiles::of(program))
}

#[test]
fn a_ring_that_is_written_down_is_the_ring() {
    for (ranks, bytes) in [(2, 7), (3, 9), (5, 1_003), (8, 1 << 20)] {
        let written = kind(&ring(ranks)).schedule(ranks, bytes).unwrap();
        let built_in: CollectiveKind = AllReduceRing.into();
        let built_in = built_in.schedule(ranks, bytes).unwrap();
        assert_eq!(written.transfer_count(), built_in.transfer_count());
        for id in 0..written.transfer_count() {
            assert_eq!(written.transfer(id), built_in.transfer(id));
            let released = |schedule: &dyn Schedule| {
                let mut ids = Vec::new();
                schedule.released_by(id, &mut ids);
                ids
            };
            let (own, of_ring) = (released(&*written), released(&*built_in));
            // A thread block receives in order, which the order of the queue pairs implies.
            assert!(of_ring.iter().all(|id| own.contains(id)));
            assert!(own.iter().all(|id| of_ring.iter().all(|first| first <= id)));
        }
        for scope in [QueuePairScope::RankPair, QueuePairScope::Chunk] {
            for rank in 0..ranks {
                let pairs = |schedule: &dyn Schedule| {
                    let mut pairs = Vec::new();
                    schedule.pairs(rank, scope, &mut pairs);
                    pairs
                };
                assert_eq!(pairs(&*written), pairs(&*built_in));
            }
        }
    }
}

#[test]
fn what_is_written_is_read_again() {
    let program = read_program(&ring(4)).unwrap();
    for end in ['\n', ';'] {
        let text = write_program(&program, end);
        assert_eq!(read_program(&text).as_ref(), Ok(&program));
        assert_eq!(write_program(&read_program(&text).unwrap(), end), text);
    }
}

/// Two ranks exchange halves over two thread blocks each: one sends, the other adds and answers.
const EXCHANGE: &str = "algorithm all-reduce ranks 2 chunks 2 in-place
block 0 0
step 1 of i1 to 1.0
step 1 from 1.1 into i1
block 0 1
step 1 from 1.0 of i0 into i0
step 1 of i0 to 1.1
block 1 0
step 1 of i0 to 0.0
step 1 from 0.1 into i0
block 1 1
step 1 from 0.0 of i1 into i1
step 1 of i1 to 0.1
";

/// Refuses the algorithm in which a text stands for another, and says what.
fn refuses(from: &str, to: &str, told: &str) {
    assert!(EXCHANGE.contains(from), "{from}");
    let text = EXCHANGE.replacen(from, to, 1);
    let error = read_program(&text)
        .err()
        .unwrap_or_else(|| panic!("{to}"))
        .to_string();
    assert!(error.contains(told), "{from} → {to}: {error}");
    assert!(error.contains("; "), "{error}");
}

#[test]
fn mistakes_are_told_with_rank_and_chunk() {
    assert!(read_program(EXCHANGE).is_ok());
    for (from, to, told) in [
        // It keeps what has come and forgets its own.
        (
            "step 1 from 1.0 of i0 into i0",
            "step 1 from 1.0 into i0",
            "line 6: rank 0, thread block 1, step 0: it is no all-reduce: chunk 0 of the output of \
             rank 0 lacks chunk 0 of rank 0",
        ),
        // It never stores the result.
        (
            "step 1 from 0.1 into i0",
            "step 1 from 0.1",
            "line 1: it is no all-reduce: chunk 0 of the output of rank 1 lacks chunk 0 of rank 0",
        ),
        // It sends the wrong chunk.
        (
            "step 1 of i1 to 1.0",
            "step 1 of i0 to 1.0",
            "chunk 1 of the output of rank 0 has chunk 0 of rank 0, which",
        ),
        ("block 1 1", "block 1 0", "another block of that number"),
        (
            "to 1.0",
            "to 1.5",
            "no send matches it: rank 0 sends 0 times to rank 1 on channel 0",
        ),
        ("to 1.0", "to 2.0", "there is no rank 2"),
        ("to 1.0", "to 0.0", "exchanges data with itself"),
        (
            "of i1 to 1.0",
            "of i2 to 1.0",
            "it uses chunk 2 of the input, which has 2",
        ),
        (
            "step 1 from 1.1 into",
            "step 2 from 1.1 into",
            "it uses chunk 2",
        ),
        (
            "from 1.1 into i1",
            "from 1.0 into i1",
            "it receives with rank 1 on channel 0, as",
        ),
    ] {
        refuses(from, to, told);
    }
}

#[test]
fn words_and_numbers_without_meaning_are_refused() {
    for (from, to, told) in [
        (
            "of i1 to 1.0",
            "of s0 to 1.0",
            "chunk 0 of the scratch buffer, to which nothing",
        ),
        ("of i1 to 1.0", "to 1.0", "data that it does not have"),
        (
            "step 1 of i1",
            "step 1 off i1",
            "line 3: `off` says nothing of a step",
        ),
        (
            "into i1",
            "into i1 after 7.0",
            "thread block 7, which rank 0 does not have",
        ),
        ("chunks 2", "chunks 0", "into 0 chunks"),
        ("ranks 2", "ranks 5000", "5000 ranks"),
        (" in-place", "", "neither in place"),
        (
            "all-reduce",
            "all-reduces",
            "all-reduces stands where one of all-reduce, ",
        ),
        (
            "all-reduce",
            "all-gather",
            "it uses chunk 1 of the input, which has 1",
        ),
    ] {
        refuses(from, to, told);
    }
}

/// Rank 2 sends its two chunks to ranks 0 and 1, and rank 0 misses the second.
#[test]
fn the_root_of_a_wrong_broadcast_is_the_rank_that_sends() {
    let right = "algorithm broadcast ranks 3 chunks 2 in-place
block 0 0
step 2 from 2.0 into o0
block 1 0
step 2 from 2.0 into o0
block 2 0
step 2 of i0 to 0.0
step 2 of i0 to 1.0
";
    assert!(read_program(right).is_ok());
    let wrong = right.replacen("step 2 from", "step 1 from", 1);
    let wrong = wrong.replacen("step 2 of i0 to 0.0", "step 1 of i0 to 0.0", 1);
    let error = read_program(&wrong).unwrap_err().to_string();
    let told = "chunk 1 of the output of rank 0 is chunk 1 of rank 0 in place of chunk 1 of rank 2";
    assert!(error.contains(told), "{error}");
}

/// Rank 2 adds up what rank 0 has, and forgets rank 1.
#[test]
fn the_root_of_a_wrong_reduce_is_the_rank_that_adds() {
    let text = "algorithm reduce ranks 3 chunks 1 in-place
block 0 0
step 1 of i0 to 2.0
block 2 0
step 1 from 0.0 of i0 into o0
";
    let error = read_program(text).unwrap_err().to_string();
    let told = "chunk 0 of the output of rank 2 lacks chunk 0 of rank 1";
    assert!(error.contains(told), "{error}");
}

/// Each rank adds its chunks to those of the rank before, or of every second one first.
fn chain(ranks: u32, chunks: u32, order: impl Iterator<Item = u32>) -> String {
    let mut text = format!("algorithm reduce ranks {ranks} chunks {chunks} out-of-place\n");
    let order: Vec<u32> = order.collect();
    for (place, rank) in order.iter().enumerate() {
        let _ = write!(text, "block {rank} 0\nstep {chunks} ");
        if let Some(before) = place.checked_sub(1) {
            let _ = write!(text, "from {}.0 ", order[before]);
        }
        let _ = match order.get(place + 1) {
            Some(next) => writeln!(text, "of i0 to {next}.0"),
            None => writeln!(text, "of i0 into o0"),
        };
    }
    text
}

#[test]
fn sums_of_many_ranks_are_checked_up_to_a_bound() {
    let (ranks, chunks) = (4_096, 20);
    assert!(read_program(&chain(ranks, chunks, 0..ranks)).is_ok());
    // No two ranks of the first half are neighbours, so that sums are as long as can be.
    let apart = (0..ranks).step_by(2).chain((1..ranks).step_by(2));
    let error = read_program(&chain(ranks, chunks, apart)).unwrap_err();
    let told = "its sums of 4096 ranks × 20 chunks have more terms than the 16777216";
    assert!(error.to_string().contains(told), "{error}");
}

/// Each rank sends only when what the other sends has come.
#[test]
fn deadlocks_are_named_with_their_steps() {
    let text = EXCHANGE.replacen("of i1 to 1.0", "of i1 to 1.0 after 1.0", 1);
    assert!(read_program(&text).is_ok());
    let text = text.replacen("of i0 to 0.0", "of i0 to 0.0 after 1.0", 1);
    let error = read_program(&text).unwrap_err().to_string();
    let circle = "rank 0, thread block 0, step 0 ← rank 0, thread block 1, step 0 ← rank 1, \
                  thread block 0, step 0 ← rank 1, thread block 1, step 0 ← rank 0, thread block 0, step 0";
    assert!(error.contains(circle), "{error}");
}

/// Without its wait the answer may be sent before it is complete.
#[test]
fn an_order_that_nobody_asks_for_is_a_mistake() {
    let race = EXCHANGE.replacen("step 1 of i0 to 1.1", "block 0 2\nstep 1 of i0 to 1.1", 1);
    let error = read_program(&race).unwrap_err().to_string();
    assert!(
        error.contains("no all-reduce") || error.contains("depends on"),
        "{error}"
    );
    let waits = race.replacen("of i0 to 1.1", "of i0 to 1.1 after 1.0", 1);
    assert!(read_program(&waits).is_ok());
}

/// Nothing is read or written: what `execute` checks is the order.
struct Nothing;

impl Memory for Nothing {
    fn read(&self, _: &Transfer) -> Vec<u64> {
        Vec::new()
    }

    fn write(&mut self, _: &Transfer, _: &[u64]) {}
}

proptest! {
    /// Ways carry their transfers in order, and every one runs, whatever the slices.
    #[test]
    fn slices_run_in_any_order_of_events(
        bytes in 1_u64..10_000,
        slice in 1_u64..5_000,
        order in any::<u64>(),
        exchange in any::<bool>(),
    ) {
        let (text, ranks) = if exchange { (EXCHANGE.to_owned(), 2) } else { (ring(4), 4) };
        let files = AlgorithmFiles {
            slice: Some(Bytes::new(slice)),
            ..AlgorithmFiles::of(read_program(&text).unwrap())
        };
        let schedule = CollectiveKind::from(files).schedule(ranks, bytes).unwrap();
        for scope in [QueuePairScope::RankPair, QueuePairScope::Chunk] {
            let moved = execute(&*schedule, &mut Nothing, scope, order);
            prop_assert_eq!(moved, 2 * u64::from(ranks - 1) * bytes);
        }
    }
}

impl From<AlgorithmFiles> for CollectiveKind {
    fn from(files: AlgorithmFiles) -> CollectiveKind {
        CollectiveKind::FromFile(files)
    }
}

/// 8 MiB in chunks of 4 MiB and slices of 1 MiB: each of the 4 transfers of a round is 4 of them.
#[test]
fn rounds_follow_each_other_block_by_block() {
    let files = AlgorithmFiles {
        slice: Some(Bytes::new(1 << 20)),
        ..AlgorithmFiles::of(read_program(EXCHANGE).unwrap())
    };
    let schedule = CollectiveKind::from(files).schedule(2, 8 << 20).unwrap();
    assert_eq!(schedule.transfer_count(), 16);
    let bytes = (0..16).map(|id| schedule.transfer(id).bytes);
    assert!(bytes.eq([1 << 20; 16]));
    // The first block of a rank sends its next slice when the answer to the last is there.
    let mut initial = Vec::new();
    schedule.initial(0, &mut initial);
    assert_eq!(initial.len(), 1);
}

#[test]
fn protocols_take_more_bytes_on_the_wire() {
    for (protocol, bytes) in [("simple", 120), ("ll", 240), ("ll128", 128)] {
        let text = ring(2).replacen("in-place", &format!("in-place protocol {protocol}"), 1);
        let schedule = kind(&text).schedule(2, 240).unwrap();
        assert_eq!(schedule.transfer(0).bytes, bytes, "{protocol}");
    }
    assert_eq!(WireProtocol::Ll128.bytes(1), 2);
    assert_eq!(WireProtocol::Ll.bytes(u64::MAX), u64::MAX);
}

#[test]
fn the_size_chooses_among_several() {
    let of = |sizes: &str| {
        let text = ring(2).replacen("in-place", &format!("in-place sizes {sizes}"), 1);
        read_program(&text).unwrap()
    };
    let mut files = AlgorithmFiles::of(of("1 99 protocol ll"));
    let alone = CollectiveKind::from(files.clone());
    assert_eq!(alone.schedule(2, 200).unwrap().transfer(0).bytes, 200);
    let more = of("100 199");
    let list = &mut files.programs.as_mut().unwrap().0;
    list.push(std::sync::Arc::new(more));
    assert_eq!(files.gap(1..=199), None);
    assert_eq!(files.gap(150..=300), Some(200));
    let both = CollectiveKind::from(files);
    assert_eq!(both.schedule(2, 40).unwrap().transfer(0).bytes, 40);
    assert_eq!(both.schedule(2, 120).unwrap().transfer(0).bytes, 60);
    let refused = both.schedule(2, 200).err().unwrap();
    assert!(matches!(refused, WorkloadError::NoProgramForSize { .. }));
    let refused = both.schedule(3, 120).err().unwrap().to_string();
    assert!(refused.contains("`ranks: 2`"), "{refused}");
}

#[test]
fn bandwidths_are_counted_as_of_other_algorithms() {
    for (name, text) in [("all-reduce", ring(2)), ("all-reduce", EXCHANGE.to_owned())] {
        let own = kind(&text);
        let other = variants().into_iter().find(|of| of.name() == name).unwrap();
        assert_eq!(own.name(), name);
        assert_eq!(own.algorithm(), "file");
        assert_eq!(own.member().busbw, other.member().busbw);
    }
}

/// A program is a value: keys of a scenario hold it.
#[test]
fn programs_are_texts_of_a_list() {
    let files = AlgorithmFiles::of(read_program(EXCHANGE).unwrap());
    let written = Value::written(&files).to_string();
    assert!(
        written.starts_with("{programs: [\"algorithm all-reduce ranks 2 chunks 2"),
        "{written}"
    );
    assert!(<AlgorithmFiles as Value>::read(&mut Texts::new(&[], &[]), "x", ()).is_none());
}

/// Chunks of input and output are told apart where they are two buffers.
#[test]
fn all_gathers_are_checked_in_place_and_out_of_place() {
    let gather = |place: &str, copy: &str| {
        let mut text = format!("algorithm all-gather ranks 2 chunks 2 {place}\n");
        for rank in 0..2 {
            let other = 1 - rank;
            let _ = writeln!(text, "block {rank} 0\nstep 1 of i0 to {other}.0");
            let _ = writeln!(text, "step 1 from {other}.0 into o{other}\n{copy}{rank}");
        }
        read_program(&text).map_err(|error| error.to_string())
    };
    let (copy, none) = ("step 1 of i0 into o", "# ");
    assert!(gather("in-place", none).is_ok());
    assert!(gather("out-of-place", copy).is_ok());
    assert!(gather("in-place out-of-place", copy).is_ok());
    let error = gather("in-place out-of-place", none).unwrap_err();
    assert!(
        error.contains("chunk 0 of the output of rank 0 is never written"),
        "{error}"
    );
}

#[test]
fn no_bounds_are_passed() {
    let parts = || ProgramParts {
        sizes: RangeInclusive::new(5, 4),
        ..read_program(EXCHANGE).unwrap().parts().clone()
    };
    assert!(
        Program::new(parts())
            .unwrap_err()
            .what
            .contains("of which there is none")
    );
    let huge = EXCHANGE.replacen("chunks 2", "chunks 4000000000", 1);
    assert!(
        read_program(&huge)
            .unwrap_err()
            .to_string()
            .contains("give 1 to")
    );
}
