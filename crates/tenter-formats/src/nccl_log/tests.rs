//! Small logs of our own.

use std::fmt::Write as _;

use tenter_language::units::Budget;
use tenter_workload::graph::{Algorithms, OperationKind};
use tenter_workload::spec::{CallReading, FlowReading, NcclLogSpec};

use super::read;
use crate::{Imported, Source};

fn import(text: &str, ranks: Option<u32>) -> Result<Imported, String> {
    let spec = NcclLogSpec {
        file: String::new(),
        calls: CallReading {
            ranks,
            algorithms: Algorithms::default(),
            timing: FlowReading::default().timing(),
        },
    };
    let source = Source {
        name: "nccl.log",
        bytes: text.as_bytes(),
    };
    read([source].as_slice(), &spec, &Budget::unlimited()).map_err(|error| error.to_string())
}

/// A call of a process.
fn call(process: &str, name: &str, count: u64, root: u32, comm: (&str, u32)) -> String {
    let (address, size) = comm;
    format!(
        "{process} NCCL INFO {name}: opCount a sendbuff 0x7f00 recvbuff (nil) count {count} datatype 9 \
         op 0 root {root} comm {address} [nranks={size}] stream 0x55\n"
    )
}

/// Four ranks on two hosts, of which the devices stand in another order than the ranks; pairs have
/// communicators of their own.
fn log() -> String {
    let mut text = String::from("NCCL version 2.21.5+cuda12.4\n");
    for rank in 0..4_u32 {
        let process = format!("host{}:{}:9 [{}]", rank / 2, 100 + rank, 1 - rank % 2);
        let _ = writeln!(
            text,
            "{process} NCCL INFO ncclCommInitRank comm 0xa{rank} rank {rank} nranks 4 cudaDev 0 nvmlDev 0 \
             busId 57000 commId 0xfeed - Init COMPLETE\n\
             {process} NCCL INFO ncclCommSplit comm 0xb{rank} rank {} nranks 2 cudaDev 0 nvmlDev 0 busId \
             57000 parent 0xa{rank} splitCount 1 color 0 key 0 - commId 0xbeef{} - Init COMPLETE\n\
             {process} NCCL INFO Channel 00/02 : 0 1 2 3",
            rank / 2,
            rank % 2
        );
        let (all, pair) = (format!("0xa{rank}"), format!("0xb{rank}"));
        text += &call(&process, "AllReduce", 100, 0, (&all, 4));
        text += &call(&process, "AllGather", 100, 0, (&pair, 2));
        text += &call(&process, "ReduceScatter", 100, 0, (&pair, 2));
        text += &call(&process, "Send", 50, (rank / 2 + 1) % 2, (&pair, 2));
        text += &call(&process, "Recv", 50, (rank / 2 + 1) % 2, (&pair, 2));
    }
    text
}

#[test]
fn communicators_are_put_together_from_all_ranks() {
    let imported = import(&log(), None).expect("it is a log");
    let graph = &imported.graph;
    let counts = graph.counts();
    assert_eq!(counts[&OperationKind::Collective], 12);
    let collectives = graph.collectives();
    let of = |number| {
        let (group, kind, bytes) = collectives.get(number);
        (kind.name(), bytes, collectives.ranks_of(group))
    };
    assert_eq!(of(0), ("all-reduce", 200, &[0, 1, 2, 3][..]));
    assert_eq!(of(1), ("all-gather", 400, &[0, 2][..]));
    assert_eq!(of(2), ("reduce-scatter", 400, &[0, 2][..]));
    let sent: Vec<_> = graph.sends().collect();
    assert_eq!(sent, [(0, 2, 100), (1, 3, 100), (2, 0, 100), (3, 1, 100)]);
    assert!(graph.unmatched().is_empty());
    assert_eq!(imported.notes.len(), 1);
    assert!(
        imported.notes[0].contains("no times"),
        "{:?}",
        imported.notes
    );
}

#[test]
fn logs_of_calls_alone_are_in_the_order_of_devices() {
    let mut text = String::new();
    for device in [1, 0] {
        let process = format!("[1,{device}]<stdout>:node:7{device}:8 [{device}]");
        text += &call(&process, "AllReduce", 8, 0, ("0xc0", 2));
        text += &call(&process, "AlltoAll", 8, 0, ("0xc0", 2));
    }
    let imported = import(&text, None).expect("it is a log");
    assert_eq!(imported.graph.ranks(), 2);
    assert_eq!(imported.graph.collectives().get(1).2, 32);
    assert!(
        imported.notes[1].contains("numbers of ranks"),
        "{:?}",
        imported.notes
    );
    // One rank alone is repeated.
    let one = text.lines().take(2).collect::<Vec<_>>().join("\n");
    let imported = import(&one, Some(8)).expect("it is a log");
    assert_eq!(imported.graph.ranks(), 8);
    assert_eq!(imported.graph.collectives().ranks_of(0).len(), 8);
}

#[test]
fn roots_come_first_in_their_group() {
    let text = log().replace("AllReduce: opCount a", "Broadcast: opCount a");
    let text = text.replace("op 0 root 0 comm 0xa", "op 0 root 2 comm 0xa");
    let imported = import(&text, None).expect("it is a log");
    let collectives = imported.graph.collectives();
    let (group, kind, _) = collectives.get(0);
    assert_eq!(kind.name(), "broadcast");
    assert_eq!(collectives.ranks_of(group), [2, 3, 0, 1]);
    assert_eq!(imported.notes.len(), 1, "{:?}", imported.notes);
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let good = log();
    for (from, to, what) in [
        (
            "INFO AllReduce:",
            "INFO AllSum:",
            "line 5: `AllSum` is no call",
        ),
        (
            "count 100",
            "count x",
            "line 5: the call has no `opCount` or no `count`",
        ),
        (
            "datatype 9",
            "datatype 99",
            "line 5: the call has no known `datatype`",
        ),
        ("[nranks=4]", "", "line 5: the call names no `comm`"),
        (" [1]", "", "line 2: `host0:100:9` names no process"),
        ("commId 0xbeef", "commId 0xbee", "line"),
        (": opCount", "", "no line is a call of NCCL"),
        ("root 1", "root 7", "line 8: the message names a rank"),
        ("host1:102", "host0:100", "line"),
    ] {
        let changed = good.replace(from, to);
        assert_ne!(changed, good, "{what}");
        if let Err(error) = import(&changed, None) {
            assert!(
                error.contains(what) && error.contains("; "),
                "{what}: {error}"
            );
        } else {
            assert_eq!(what, "line");
        }
    }
    let without = good.replace("commId", "id");
    let error = import(&without, None).expect_err("pairs are not known");
    assert!(
        error.contains("line 3: nothing says which ranks"),
        "{error}"
    );
}
