//! What is written is read again, and damaged files are refused.

use tenter_language::units::{Budget, Time};
use tenter_workload::collective::{AllReduceRing, CollectiveKind};
use tenter_workload::graph::{Graph, GraphBuilder, Measured, Operation, RankBuilder};

use super::{read, write};

/// Two ranks with operations of each kind, waits of each kind and two streams.
fn graph() -> Graph {
    let mut builder = GraphBuilder::default();
    let group = builder.collectives.add_group(vec![1, 0]).expect("a group");
    let kind: CollectiveKind = AllReduceRing.into();
    for rank in 0..2 {
        let which = builder.collectives.add(group, 0, rank, &kind, 1 << 20);
        let which = which.expect("a collective");
        let peer = 1 - rank;
        let mut of = RankBuilder::default();
        let time = Time::from_ps(1_234_567);
        let compute = of.add(Operation::Compute { time }, 7);
        let send = of.add(
            Operation::Send {
                peer,
                bytes: 300,
                tag: 9,
            },
            0,
        );
        let open = Operation::Receive {
            peer: None,
            bytes: 300,
            tag: Some(9),
        };
        let receive = of.add(open, 0);
        let collective = of.add_collective(group, which, 1);
        of.after(send, compute);
        of.after_start(receive, send);
        of.after(collective, compute);
        let first = of.add(Operation::Wait { time }, 1);
        of.after(compute, first);
        builder.add(of).expect("it is a rank");
    }
    builder.finish().expect("it is a graph")
}

#[test]
fn what_is_written_is_read_again() {
    let graph = graph();
    let file = write(&graph);
    assert_eq!(
        read(&file, &Budget::unlimited()).expect("it was written"),
        graph
    );
    assert_eq!(
        write(&read(&file, &Budget::unlimited()).expect("it was written")),
        file
    );
}

#[test]
fn measured_times_are_kept() {
    let builder = |is_measured: bool| {
        let mut builder = GraphBuilder::default();
        for rank in 0..2 {
            let mut of = RankBuilder::default();
            for nth in 0..3 {
                let time = Time::from_ps(7 + nth);
                let place = of.add(Operation::Compute { time }, 0);
                let start = (nth == 2).then(|| Time::from_ps(300 + rank));
                if nth > 0 && is_measured {
                    let took = Time::from_ps(nth);
                    of.measured(place, Measured { start, took });
                }
            }
            builder.add(of).expect("it is a rank");
        }
        builder.finish().expect("it is a graph")
    };
    let graph = builder(true);
    let file = write(&graph);
    let again = read(&file, &Budget::unlimited()).expect("it was written");
    assert_eq!(again, graph);
    let took = Time::from_ps(2);
    let start = Some(Time::from_ps(301));
    assert_eq!(again.measured(1, 2), Some(Measured { start, took }));
    assert_eq!(again.measured(1, 0), None);
    assert!(
        read(&file[..file.len() - 1], &Budget::unlimited()).is_err(),
        "a time is cut off"
    );
    // Files of the version before have no times, and nothing that tells so: a byte a rank.
    let without = write(&builder(false));
    let half = (without.len() - 12) / 2;
    let mut before = without[..12 + half - 1].to_vec();
    before.extend_from_slice(&without[12 + half..without.len() - 1]);
    before[7] = 1;
    assert_eq!(
        read(&before, &Budget::unlimited()).expect("it is a graph"),
        builder(false)
    );
}

#[test]
fn damaged_files_are_refused_or_say_something_else() {
    let file = write(&graph());
    for end in 0..file.len() {
        assert!(
            read(&file[..end], &Budget::unlimited()).is_err(),
            "cut at {end}"
        );
    }
    for at in 0..file.len() {
        for bit in 0..8 {
            let mut damaged = file.clone();
            damaged[at] ^= 1 << bit;
            if let Err(error) = read(&damaged, &Budget::unlimited()) {
                let text = error.to_string();
                assert!(text.contains("byte") && text.contains(';'), "{text}");
            }
        }
    }
}

#[test]
fn a_declared_number_takes_no_memory() {
    let mut file = write(&graph())[..9].to_vec();
    // No kinds, no groups, no collectives, and a rank of very many operations.
    file.extend([0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]);
    let error = read(&file, &Budget::unlimited())
        .expect_err("there are not as many")
        .to_string();
    assert!(error.contains("operations"), "{error}");
}

#[test]
fn every_collective_is_kept() {
    let kinds = CollectiveKind::defaults();
    let kinds = kinds.iter().filter(|kind| kind.name() != "steps");
    for kind in kinds {
        let mut builder = GraphBuilder::default();
        let ranks: Vec<u32> = (0..16).collect();
        let group = builder
            .collectives
            .add_group(ranks.clone())
            .expect("a group");
        for rank in ranks {
            let which = builder.collectives.add(group, 0, rank, kind, 1 << 20);
            let mut of = RankBuilder::default();
            of.add_collective(group, which.expect("a collective"), 0);
            builder.add(of).expect("it is a rank");
        }
        let graph = builder.finish().expect("it is a graph");
        let read = read(write(&graph), &Budget::unlimited());
        assert_eq!(read.as_ref(), Ok(&graph), "{}", kind.member());
    }
}
