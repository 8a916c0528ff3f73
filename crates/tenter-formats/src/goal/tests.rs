//! Texts and binary files that say the same, and files that say nothing.

use tenter_language::units::Budget;
use tenter_workload::graph::{Operation, OperationKind};

use super::*;
use crate::error::Place;

const TEXT: &str = "num_ranks 2\n\
    /* two\n ranks */ rank 1 {\n  a: recv 1048576b from 0 tag 7 nic 1 // last\n\
    in: recv 4b from -1 tag -1\n}\n\
    rank 0 {\n a: calc 500\n b: send 1048576b to 1 tag 7 cpu 2 nic 1\n send 4b to 1\n\
    b requires a\nc: send 1b to 9999999\nd: calc 3 cpu 300\nd irequires c\n}\n";

/// The same as a binary file.
fn binary() -> Vec<u8> {
    type Node = (u8, u32, u64, u32, u8, u8);
    /// An operation and its follower.
    type Edges<'e> = &'e [(u32, u32)];
    let ranks: [(&[Node], Edges<'_>, Edges<'_>); 2] = [
        (
            &[
                (3, 0, 500, 0, 0, 0),
                (1, 1, 1 << 20, 7, 2, 1),
                (1, 1, 4, 0, 0, 0),
                (1, 9_999_999, 1, 0, 0, 0),
                (3, 0, 3, 0, 200, 0),
            ],
            &[(0, 1)],
            &[(3, 4)],
        ),
        (
            &[(2, 0, 1 << 20, 7, 0, 1), (2, u32::MAX, 4, u32::MAX, 0, 0)],
            &[],
            &[],
        ),
    ];
    let mut blocks: Vec<Vec<u8>> = Vec::new();
    for (nodes, ends, starts) in ranks {
        let mut block = Vec::new();
        block.extend((nodes.len() as u32).to_le_bytes());
        block.extend(0_u32.to_le_bytes());
        let mut edges: Vec<u32> = Vec::new();
        for (place, &(kind, peer, size, tag, cpu, nic)) in (0..).zip(nodes) {
            block.extend(0_u32.to_le_bytes());
            block.push(kind);
            block.extend(peer.to_le_bytes());
            block.extend(size.to_le_bytes());
            block.extend(tag.to_le_bytes());
            block.extend([cpu, nic]);
            for list in [ends, starts] {
                let own = list.iter().filter(|(other, _)| *other == place);
                let own: Vec<u32> = own.map(|(_, follower)| *follower).collect();
                block.extend((own.len() as u32).to_le_bytes());
                block.extend((edges.len() as u32).to_le_bytes());
                edges.extend(own);
            }
        }
        block.extend(edges.iter().flat_map(|edge| edge.to_le_bytes()));
        blocks.push(block);
    }
    let mut file = 4_223_u64.to_le_bytes().to_vec();
    file.extend((blocks.len() as u32).to_le_bytes());
    file.extend([200, 1]);
    let mut start = 6 + 16 * blocks.len() as u64;
    for block in &blocks {
        let end = start + block.len() as u64;
        file.extend(start.to_le_bytes());
        file.extend(end.to_le_bytes());
        start = end;
    }
    file.extend(blocks.into_iter().flatten());
    file
}

#[test]
fn text_and_binary_say_the_same() {
    let text = TEXT.replace("cpu 300", "cpu 200");
    let [text, binary] = [text.as_bytes(), &binary()]
        .map(|file| read(file, &Budget::unlimited()).expect("it is one"));
    assert_eq!(text.graph, binary.graph);
    assert_eq!(text.notes, binary.notes);
    let graph = text.graph;
    assert_eq!(
        (graph.ranks(), graph.operations(), graph.edges()),
        (2, 7, 2)
    );
    assert_eq!(graph.counts()[&OperationKind::Send], 2);
    let send = Operation::Send {
        peer: 1,
        bytes: 1 << 20,
        tag: 7,
    };
    assert_eq!(graph.operation(0, 1), (send, 2));
    let any = Operation::Receive {
        peer: None,
        bytes: 4,
        tag: None,
    };
    assert_eq!(graph.operation(1, 1), (any, 0));
    assert_eq!(text.notes.len(), 2, "{:?}", text.notes);
}

#[test]
fn what_is_written_is_read_again() {
    let text = TEXT.replace("cpu 300", "cpu 200");
    let graph = read(text.as_bytes(), &Budget::unlimited())
        .expect("it is one")
        .graph;
    let mut written = String::new();
    assert_eq!(write(&graph, &mut written), Ok(0));
    let again = read(written.as_bytes(), &Budget::unlimited())
        .unwrap_or_else(|error| panic!("{error}\n{written}"));
    assert_eq!(again.graph, graph);
    assert_eq!(again.notes, Vec::<String>::new());
}

#[test]
fn mistakes_name_their_line() {
    for (text, line, what) in [
        ("", 1, "the file ends where `num_ranks`"),
        ("num_ranks 2\nrank 0 { }\n", 3, "no block of rank 1"),
        ("num_ranks 2\nrank 0 { }\nrank 0 { }", 3, "a second time"),
        ("num_ranks 2\nrank 7 { }", 2, "no rank 7 of 2"),
        (
            "num_ranks 2\nrank 0 {\nsend 5 to 1\n}",
            3,
            "`5` is not a size in bytes",
        ),
        (
            "num_ranks 2\nrank 0 {\nsend 5b to x\n}",
            3,
            "`x` is not a rank",
        ),
        (
            "num_ranks 2\nrank 0 {\na: calc 1\na: calc 2\n}",
            4,
            "the label `a`",
        ),
        (
            "num_ranks 2\nrank 0 {\na: calc 1\na requires b\n}",
            4,
            "no operation `b`",
        ),
        (
            "num_ranks 2\nrank 0 {\na: calc 1\na requires }\nrank 1 {}",
            4,
            "`}` stands where a label is expected",
        ),
        (
            "num_ranks 2\nrank 0 { /* {\n} */ calc 1 }\nrank 1 {\ncalc x\n}",
            5,
            "`x` is not",
        ),
        (
            "num_ranks 2\nrank 0 {\nwhat is this\n}",
            3,
            "`what` begins no operation",
        ),
        (
            "num_ranks 2\nrank 0 {\ncalc 1",
            3,
            "the file ends where an operation",
        ),
        ("num_ranks 2\nrank 0 {\nsend 1b to -1\n}", 3, "-1 is none"),
        (
            "num_ranks 2\nrank 0 {\nrecv 1b from 5\n}",
            3,
            "no rank 5 of 2",
        ),
        ("num_ranks 1\nrank 0 { calc 1 }", 2, "1 rank(s)"),
        (
            "num_ranks 2\nrank 0 { a: calc 1\n b: calc 1\na requires b\nb requires a }\nrank 1 {}",
            5,
            "waits for itself",
        ),
        (
            "num_ranks 2\nrank 0 { send 1b to 1 tag 3 }\nrank 1 { recv 1b from 0 }",
            3,
            "which waits for 1 of them",
        ),
    ] {
        let error = read(text.as_bytes(), &Budget::unlimited()).expect_err(what);
        assert!(error.what.contains(what), "{error}");
        assert_eq!(error.place, Place::Line(line), "{error}");
        assert!(!error.remedy.is_empty());
    }
}

#[test]
fn binary_files_that_are_cut_or_changed_are_refused() {
    let whole = binary();
    for length in 8..whole.len() {
        let error = read(&whole[..length], &Budget::unlimited()).expect_err("it is not whole");
        assert!(matches!(error.place, Place::Byte(_)), "{error}");
    }
    // Both ranks are said to be the block of the first.
    let mut shared = whole.clone();
    shared.copy_within(14..30, 30);
    let error = read(&shared, &Budget::unlimited()).expect_err("the blocks lie over each other");
    assert!(error.what.contains("lie over each other"), "{error}");
    let mut spent = whole.clone();
    spent[..8].copy_from_slice(&2_342_u64.to_le_bytes());
    assert!(
        read(&spent, &Budget::unlimited())
            .expect_err("spent")
            .what
            .contains("run in place")
    );
    // Whatever a byte becomes, the file is read or refused.
    for at in 8..whole.len() {
        for change in [0x01, 0x80, 0xff] {
            let mut changed = whole.clone();
            changed[at] ^= change;
            let _ = read(&changed, &Budget::unlimited());
        }
    }
    assert!(
        read([0xff, 0xfe, 0, 1].as_slice(), &Budget::unlimited())
            .expect_err("noise")
            .what
            .contains("neither")
    );
}
