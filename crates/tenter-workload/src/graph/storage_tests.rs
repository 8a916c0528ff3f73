//! Graphs as they are stored, read back.

use tenter_language::units::Time;

use super::{Graph, GraphBuilder, GraphError, Operation, RankBuilder};

const LARGE: u64 = 5 << 30;

fn send(peer: u32, bytes: u64, tag: u32) -> Operation {
    Operation::Send { peer, bytes, tag }
}

fn receive(peer: Option<u32>, bytes: u64, tag: Option<u32>) -> Operation {
    Operation::Receive { peer, bytes, tag }
}

fn graph_of(ranks: &[&[Operation]]) -> Graph {
    let mut builder = GraphBuilder::default();
    for operations in ranks {
        let mut rank = RankBuilder::default();
        for operation in *operations {
            rank.add(*operation, 0);
        }
        builder.add(rank).expect("nothing waits");
    }
    builder.finish().expect("it is a graph")
}

#[test]
fn operations_are_read_as_they_were_given() {
    let first = [
        Operation::Compute {
            time: Time::from_ps(u64::MAX - 1),
        },
        Operation::Wait {
            time: Time::from_ps(3),
        },
        send(1, 100, 7),
        send(1, LARGE, 8),
        send(0, LARGE, 9),
        receive(Some(0), LARGE, Some(9)),
        send(1, LARGE, 10),
        receive(None, 12, None),
    ];
    let second = [
        receive(Some(0), 100, Some(7)),
        // It expects another size than it gets.
        receive(Some(0), LARGE + 1, Some(8)),
        receive(Some(0), LARGE, Some(10)),
        // Two alike: only the run tells which message each takes.
        send(0, 5, 1),
        send(0, 6, 1),
    ];
    let graph = graph_of(&[&first, &second]);
    for (rank, given) in (0..).zip([&first[..], &second[..]]) {
        for (place, operation) in (0..).zip(given) {
            assert_eq!(graph.operation(rank, place), (*operation, 0));
        }
    }
    let sent: Vec<_> = graph.sends().collect();
    assert_eq!(
        sent,
        [
            (0, 1, 100),
            (0, 1, LARGE),
            (0, 1, LARGE),
            (1, 0, 5),
            (1, 0, 6)
        ]
    );
}

#[test]
fn a_send_and_its_receive_take_32_bytes_each() {
    let count = 1_000;
    let sends: Vec<Operation> = (0..count).map(|tag| send(1, 64, tag)).collect();
    let receives = (0..count).map(|tag| receive(Some(0), 64, Some(tag)));
    let receives: Vec<Operation> = receives.collect();
    let graph = graph_of(&[&sends, &receives]);
    assert_eq!(graph.memory_bytes(), 2 * 32 * u64::from(count));

    // Where the tags are the same, each receive keeps what it expects.
    let sends = vec![send(1, 64, 0); count as usize];
    let receives = vec![receive(Some(0), 64, Some(0)); count as usize];
    let graph = graph_of(&[&sends, &receives]);
    assert_eq!(graph.memory_bytes(), (44 + 28) * u64::from(count));
}

#[test]
fn a_rank_that_waits_for_itself_leaves_nothing_behind() {
    let mut circle = RankBuilder::default();
    circle.add(send(1, 1, 0), 0);
    circle.after(0, 0);
    let mut sender = RankBuilder::default();
    sender.add(send(1, 1, 0), 0);
    let mut receiver = RankBuilder::default();
    receiver.add(receive(Some(0), 1, Some(0)), 0);

    let mut builder = GraphBuilder::default();
    let refused = builder.add(circle);
    assert!(matches!(refused, Err(GraphError::Circle { rank: 0, .. })));
    builder.add(sender).expect("nothing waits");
    builder.add(receiver).expect("nothing waits");
    let graph = builder.finish().expect("it is a graph");
    assert_eq!((graph.ranks(), graph.operations()), (2, 2));
    assert_eq!(graph.operation(1, 0).0, receive(Some(0), 1, Some(0)));
}
