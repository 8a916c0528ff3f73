//! Small lists of our own.

use tenter_engine::Stream;
use tenter_language::units::{Budget, Time};
use tenter_workload::graph::{Graph, Operation, OperationKind};
use tenter_workload::spec::{FlowReading, Origin, StartUnit};

use super::{Flows, read_htsim, read_ns3, read_table, write_htsim, write_ns3};
use crate::{ImportError, Imported};

const TABLE: &str = "\
# two flows at once, one later, one after another
source,destination,bytes,start,id,after,after_received
0,1,1MiB,,1,,
0,2,1000,10us,2,,
2,0,500,10us,3,,
1,2,700,,4,,1
0,1,300,,5,1;2,
";

const MATRIX: &str = "\
Nodes 4
Connections 4
Triggers 2
0->1 id 1 start 0 size 2000 send_done_trigger 1
0->2 id 2 trigger 1 size 1000 recv_done_trigger 2
3->2 id 3 start 5 size 10 recv_done_trigger 2
2->3 id 4 trigger 2 size 7
trigger id 1 oneshot
trigger id 2 barrier count 2
";

const FLOWS: &str = "2\n0 3 3 100 4000 2.000000000001\n1 0 3 100 1 2\n";

fn counts(graph: &Graph) -> [u64; 4] {
    let counts = graph.counts();
    let of = |kind| counts.get(&kind).copied().unwrap_or(0);
    [
        of(OperationKind::Send),
        of(OperationKind::Receive),
        of(OperationKind::Wait),
        graph.edges(),
    ]
}

fn table(text: &str) -> Result<Imported, ImportError> {
    read_table(text, FlowReading::default(), &Budget::unlimited())
}

fn matrix(text: &str) -> Result<Imported, ImportError> {
    read_htsim(
        text,
        StartUnit::Auto,
        FlowReading::default(),
        &Budget::unlimited(),
    )
}

fn ns3(text: &str) -> Result<Imported, ImportError> {
    read_ns3(text, FlowReading::default(), &Budget::unlimited())
}

#[test]
fn a_table_has_starts_and_waits() {
    let imported = table(TABLE).expect("it is a table");
    let graph = imported.graph;
    assert_eq!(graph.ranks(), 3);
    assert_eq!(counts(&graph), [5, 1, 2, 5]);
    let time = Time::from_us(10);
    assert_eq!(graph.longest_wait(), time);
    let first = Operation::Send {
        peer: 1,
        bytes: 1 << 20,
        tag: 0,
    };
    assert_eq!(graph.operation(0, 0).0, first);
    assert!(imported.notes.is_empty(), "{:?}", imported.notes);
}

#[test]
fn a_matrix_has_triggers() {
    let imported = matrix(MATRIX).expect("it is a matrix");
    assert_eq!(counts(&imported.graph), [4, 2, 1, 4]);
    assert_eq!(imported.graph.longest_wait(), Time::from_us(5));
    assert!(
        imported.notes[0].contains("microseconds"),
        "{:?}",
        imported.notes
    );
    let more = matrix(&MATRIX.replace("Connections 4", "Connections 5")).expect("it is a matrix");
    assert!(more.notes[0].contains("says 5 connections, and there are 4"));
    let in_ps = MATRIX.replace("start 5", "start 5000000");
    let in_ps = matrix(&in_ps).expect("it is a matrix");
    assert_eq!(in_ps.graph, imported.graph);
    assert!(in_ps.notes[0].contains("picoseconds"), "{:?}", in_ps.notes);
}

#[test]
fn units_of_starts_are_plausible_or_refused() {
    let of = |start: &str, size: u64| {
        let text = format!("1->0 id 1 start 417902 size {size}\n2->0 id 2 start {start} size 1\n");
        matrix(&text).map(|read| read.graph.longest_wait())
    };
    // Drawn at random within 4 us, as the generators of csg-htsim do; as microseconds 4 s, in which
    // a link of 1 Gb/s carries the flow 5,000 times.
    assert_eq!(of("3999871", 100_000), Ok(Time::from_ps(3_999_871)));
    // Within 20 us; as picoseconds nobody would tell them apart from 0.
    let early = matrix("1->0 start 17 size 100000\n2->0 start 3 size 100000\n");
    let early = early.expect("it is a matrix");
    assert_eq!(early.graph.longest_wait(), Time::from_us(17));
    assert_eq!(
        early.notes,
        ["starts are taken as microseconds; `start_unit` says otherwise"]
    );
    // No part of a picosecond is written.
    assert_eq!(
        of("3999871.5", 100_000),
        Ok(Time::from_ps(3_999_871_500_000))
    );
    let error = of("3999871", 1 << 30)
        .expect_err("it may be either")
        .to_string();
    for part in [
        "line 2: the latest start, ",
        " is 4us in picoseconds, as csg-htsim has them, and 4s in microseconds, as uet-htsim",
        "; set `start_unit: ps` or `start_unit: us`",
    ] {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn starts_of_ns3_are_exact() {
    let imported = ns3(FLOWS).expect("it is a list");
    assert_eq!(counts(&imported.graph), [2, 0, 2, 2]);
    assert_eq!(
        imported.graph.longest_wait(),
        Time::from_ps(2_000_000_000_001)
    );
    assert!(
        imported.notes[0].contains("first-flow"),
        "{:?}",
        imported.notes
    );
    let fewer = ns3(&FLOWS.replace("2\n0 3", "1\n0 3")).expect("it is a list");
    assert_eq!(counts(&fewer.graph)[0], 1);
    let first = FlowReading {
        origin: Origin::FirstFlow,
        ..FlowReading::default()
    };
    let imported = read_ns3(FLOWS, first, &Budget::unlimited()).expect("it is a list");
    assert_eq!(imported.graph.longest_wait(), Time::from_ps(1));
}

#[test]
fn what_is_written_is_read_again() {
    let graph = matrix(MATRIX).expect("it is a matrix").graph;
    let flows = Flows::of(&graph).expect("they are flows");
    assert!(flows.wait_for_others() && write_ns3(&flows).is_err());
    let text = write_htsim(&flows).expect("it can be said");
    let read = read_htsim(
        &text,
        StartUnit::Picoseconds,
        FlowReading::default(),
        &Budget::unlimited(),
    );
    assert_eq!(Flows::of(&read.expect("it was written").graph), Ok(flows));
    let graph = ns3(FLOWS).expect("it is a list").graph;
    let flows = Flows::of(&graph).expect("they are flows");
    let text = write_ns3(&flows).expect("it can be said");
    let again = ns3(&text).expect("it was written").graph;
    assert_eq!(
        Flows::of(&again).map(|flows| write_ns3(&flows)),
        Ok(Ok(text))
    );
}

type Read = fn(&str) -> Result<Imported, ImportError>;

/// Each reader with a text, what is replaced by what, and what is said then.
const WRONG: [(Read, &str, &str, &str, &str); 16] = [
    (
        table,
        TABLE,
        "0,1,1MiB",
        "0,x,1MiB",
        "line 3: `x` is not a rank",
    ),
    (
        table,
        TABLE,
        "1MiB",
        "1miles",
        "line 3: `1miles` is not a size",
    ),
    (
        table,
        TABLE,
        "10us",
        "10",
        "line 4: `10` is not a time with its unit",
    ),
    (
        table,
        TABLE,
        "1;2",
        "9",
        "line 7: the flow waits for flow 9",
    ),
    (
        table,
        TABLE,
        "1,2,700,,4,,1",
        "0,2,700,,4,,1",
        "line 6: the flow starts at rank 0",
    ),
    (
        table,
        TABLE,
        ",,4,,1",
        ",1us,4,,1",
        "line 6: the flow has a start and waits",
    ),
    (
        table,
        TABLE,
        "destination",
        "where",
        "line 1: column `where`",
    ),
    (
        table,
        TABLE,
        ",bytes",
        ",id",
        "line 1: there is no column of the bytes",
    ),
    (
        matrix,
        MATRIX,
        "0->1 id 1",
        "0->0 id 1",
        "line 4: rank 0 sends to itself",
    ),
    (matrix, MATRIX, "3->2", "9->2", "line 6: there is no rank 9"),
    (
        matrix,
        MATRIX,
        "count 2",
        "count 3",
        "line 5: trigger 2 waits for 3",
    ),
    (
        matrix,
        MATRIX,
        "oneshot",
        "never",
        "line 8: the trigger is not",
    ),
    (
        matrix,
        MATRIX,
        "2->3",
        "1->3",
        "line 7: the flow starts at rank 1",
    ),
    (
        ns3,
        FLOWS,
        "2\n0 3",
        "3\n0 3",
        "there are 2 flows, and the first line says 3",
    ),
    (
        ns3,
        FLOWS,
        "4000 2.000000000001",
        "4000",
        "line 2: there are 5 words",
    ),
    (
        ns3,
        FLOWS,
        "2.000000000001",
        "2e0",
        "line 2: `2e0` is not a start",
    ),
];

#[test]
fn what_is_wrong_is_told_with_its_line() {
    for (read, text, from, to, what) in WRONG {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{what}");
        let error = read(&changed).expect_err(what).to_string();
        assert!(
            error.contains(what) && error.contains("; "),
            "{what}: {error}"
        );
    }
}

#[test]
fn mutated_lists_are_refused_or_say_something_else() {
    let mut stream = Stream::new(5, "formats", "mutations");
    let mut draw = |bound: usize| stream.below(bound as u64) as usize;
    let files: [(Read, &str); 3] = [(table, TABLE), (matrix, MATRIX), (ns3, FLOWS)];
    for _ in 0..3_000 {
        let (read, text) = files[draw(3)];
        let mut bytes = text.as_bytes().to_vec();
        for _ in 0..=draw(3) {
            let at = draw(bytes.len());
            match draw(4) {
                0 => bytes[at] = b' ' + draw(95) as u8,
                1 => bytes.truncate(at.max(1)),
                2 => bytes.insert(at, b'0' + draw(10) as u8),
                _ => bytes.insert(at, b'\n'),
            }
        }
        if let Err(error) = read(&String::from_utf8_lossy(&bytes)) {
            let error = error.to_string();
            assert!(error.contains("line ") && error.contains("; "), "{error}");
        }
    }
}

#[test]
fn barriers_join_what_activates_them() {
    let text = "\
Nodes 4
0->1 id 1 start 0 size 10 recv_done_trigger 1
2->1 id 2 start 0 size 10 recv_done_trigger 1
1->3 id 3 start 0 size 10 send_done_trigger 1
1->0 id 4 trigger 1 size 7
1->2 id 5 trigger 1 size 7
1->3 id 6 trigger 1 size 7
trigger id 1 barrier count 3
";
    let graph = matrix(text).expect("it is a matrix").graph;
    // Three waits of the join, and three for it; nine of pairs.
    assert_eq!(counts(&graph), [6, 2, 0, 6]);
    let flows = Flows::of(&graph).expect("they are flows");
    let again = write_htsim(&flows).expect("the format has it");
    let again = matrix(&again).expect("it was written").graph;
    assert_eq!(counts(&again), [6, 2, 0, 6]);
    let elsewhere = text.replace("1->2 id 5", "0->2 id 5");
    let error = matrix(&elsewhere).expect_err("it starts at another host");
    assert!(error.what.contains("starts at rank 0"), "{error}");
}
