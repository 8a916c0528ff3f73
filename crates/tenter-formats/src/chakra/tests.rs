//! Traces of our own, written by an encoder that the reader does not share.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use tenter_engine::Stream;
use tenter_language::units::{Budget, Time};
use tenter_workload::graph::{
    Graph, GraphBuilder, Measured, Operation, OperationKind, RankBuilder,
};
use tenter_workload::spec::{Dependencies, TraceReading};

use super::{read, write};
use crate::{Imported, Source};

fn import(files: &[Vec<u8>], reading: &TraceReading) -> Result<Imported, String> {
    let names: Vec<String> = (0..files.len())
        .map(|rank| format!("t.{rank}.et"))
        .collect();
    let sources = names
        .iter()
        .zip(files)
        .map(|(name, bytes)| Source { name, bytes });
    let sources: Vec<Source<'_>> = sources.collect();
    read(sources.as_slice(), None, reading, &Budget::unlimited()).map_err(|error| error.to_string())
}

/// A trace as JSON, from `id kind "key": value, …` of each node.
fn json(nodes: &[(u64, u64, &str)]) -> Vec<u8> {
    let mut text = String::from("{\"nodes\": [");
    for (place, (id, kind, keys)) in nodes.iter().enumerate() {
        let comma = if place == 0 { "" } else { "," };
        let more = if keys.is_empty() { "" } else { ", " };
        let _ = write!(
            text,
            "{comma}\n{{\"id\": {id}, \"type\": {kind}{more}{keys}}}"
        );
    }
    text.push_str("]}");
    text.into_bytes()
}

fn count(imported: &Imported, kind: OperationKind) -> u64 {
    imported.graph.counts().get(&kind).copied().unwrap_or(0)
}

#[test]
fn a_step_has_its_collective_between_its_computing() {
    let rank = json(&[
        (7, 4, "\"duration_micros\": 120"),
        (
            8,
            7,
            "\"data_deps\": [7], \"comm_type\": 0, \"comm_size\": 4096, \"is_cpu_op\": false",
        ),
        (
            9,
            4,
            "\"duration_micros\": 40, \"data_deps\": [8, 3], \"ctrl_deps\": [7]",
        ),
    ]);
    let imported = import(&[rank.clone(), rank.clone()], &TraceReading::default());
    let imported = imported.expect("it is a trace");
    let graph = &imported.graph;
    assert_eq!(
        (graph.ranks(), graph.operations(), graph.edges()),
        (2, 6, 4)
    );
    assert_eq!(graph.collectives().len(), 1);
    assert_eq!(graph.collectives().get(0).2, 4_096);
    let time = Time::from_us(120);
    assert_eq!(graph.operation(0, 0).0, Operation::Compute { time });
    assert!(
        imported.notes[0].starts_with("2 waits for operations"),
        "{:?}",
        imported.notes
    );
    let control = TraceReading {
        dependencies: Dependencies::DataAndControl,
        ..TraceReading::default()
    };
    let imported = import(&[rank.clone(), rank.clone()], &control).expect("it is a trace");
    assert_eq!(imported.graph.edges(), 6);
    // The trace of one rank for four.
    let four = TraceReading {
        ranks: Some(4),
        ..TraceReading::default()
    };
    let imported = import(&[rank], &four).expect("it is a trace");
    assert_eq!(imported.graph.ranks(), 4);
    assert_eq!(imported.graph.collectives().ranks_of(0), [0, 1, 2, 3]);
}

#[test]
fn launches_and_what_is_not_sized_take_no_part_in_communication() {
    let rank = json(&[
        (1, 7, "\"is_cpu_op\": true, \"duration_micros\": 9"),
        (
            2,
            7,
            "\"is_cpu_op\": false, \"duration_micros\": 30, \"data_deps\": [1]",
        ),
        (3, 7, "\"comm_type\": 9, \"data_deps\": [2]"),
        (4, 7, "\"comm_type\": 2, \"comm_size\": 0"),
        (5, 5, "\"comm_size\": 100, \"duration_micros\": 5"),
        (6, 4, "\"num_ops\": 3000"),
        (6, 4, "\"duration_micros\": 1"),
    ]);
    let files = [rank.clone(), rank];
    let reading = TraceReading {
        peak_gflops: Some(1_000),
        ..TraceReading::default()
    };
    let imported = import(&files, &reading).expect("it is a trace");
    assert_eq!(count(&imported, OperationKind::Collective), 2);
    assert_eq!(count(&imported, OperationKind::Compute), 10);
    assert_eq!(imported.graph.longest_stream(), Time::from_us(35));
    let time = Time::from_ns(3);
    assert_eq!(
        imported.graph.operation(1, 5).0,
        Operation::Compute { time }
    );
    let notes = imported.notes.join("\n");
    for part in [
        "2 collectives are launched by the CPU",
        "2 collectives name no kind",
        "2 collectives of 0 bytes",
        "2 messages name no peer",
        "2 operations have the number of another",
    ] {
        assert!(notes.contains(part), "{part}: {notes}");
    }
}

#[test]
fn what_cannot_be_run_is_refused_with_file_and_remedy() {
    let all_reduce = |bytes: u64| format!("\"comm_type\": 0, \"comm_size\": {bytes}");
    let one = json(&[(1, 7, &all_reduce(8))]);
    let other = json(&[(1, 7, &all_reduce(9))]);
    let circle = json(&[(4, 4, "\"data_deps\": [5]"), (5, 4, "\"data_deps\": [4]")]);
    let usual = TraceReading::default;
    for (files, reading, what) in [
        (vec![one.clone(), other], usual(), "t.1.et: byte"),
        (vec![circle, one.clone()], usual(), "nodes 4, 5, each"),
        (vec![json(&[(1, 9, "")]), one.clone()], usual(), "type 9"),
        (
            vec![
                json(&[(1, 7, "\"comm_type\": 10, \"comm_size\": 1")]),
                one.clone(),
            ],
            usual(),
            "comm_type",
        ),
        (
            vec![
                json(&[(
                    1,
                    7,
                    "\"comm_type\": 0, \"comm_size\": 1, \"pg_name\": \"4\"",
                )]),
                one.clone(),
            ],
            usual(),
            "communicator `4`",
        ),
        (
            vec![
                json(&[(1, 5, "\"comm_dst\": 7, \"comm_size\": 1")]),
                one.clone(),
            ],
            usual(),
            "rank 7",
        ),
        (vec![one.clone()], usual(), "rank"),
        (
            vec![b"{}".to_vec(), one.clone()],
            usual(),
            "no list of nodes",
        ),
        (
            vec![b"{\"traceEvents\": []}".to_vec(), one.clone()],
            usual(),
            "import it as `kineto`",
        ),
        (vec![b"{".to_vec(), one.clone()], usual(), "no JSON"),
        (vec![Vec::new(), one.clone()], usual(), "nothing in it"),
        (
            vec![one.clone(), one],
            TraceReading {
                ranks: Some(3),
                ..usual()
            },
            "2 files",
        ),
    ] {
        let error = import(&files, &reading).expect_err(what);
        assert!(
            error.contains(what) && error.contains("; "),
            "{what}: {error}"
        );
    }
}

/// Numbers of generators are no order of execution: the first collective waits for the second.
#[test]
fn collectives_are_in_the_order_of_what_they_wait_for() {
    let all_reduce = |bytes: u64, after: u64, more: &str| {
        format!("\"data_deps\": [{after}], \"comm_type\": 0, \"comm_size\": {bytes}{more}")
    };
    let (late, early) = (all_reduce(1_024, 4, ""), all_reduce(4_096, 2, ""));
    let nodes = [
        (1, 7, &*late),
        (3, 7, &*early),
        (2, 4, "\"duration_micros\": 10"),
        (4, 4, "\"duration_micros\": 20, \"data_deps\": [3]"),
    ];
    let rank = json(&nodes);
    let imported = import(&[rank.clone(), rank], &TraceReading::default());
    let graph = imported.expect("it has no circle").graph;
    let sizes = |graph: &Graph| [0, 1].map(|of| graph.collectives().get(of).2);
    assert_eq!(sizes(&graph), [4_096, 1_024]);
    // The first computation, the early collective, the second computation, the late collective.
    let followers = |place| {
        graph
            .followers(0, place)
            .map(|(of, _)| of)
            .collect::<BTreeSet<_>>()
    };
    assert_eq!(
        [0, 1, 2].map(followers),
        [[1].into(), [2, 3].into(), [3].into()]
    );
    // Where data do not say it, control does, and else the recorded start.
    for (more, sizes_then) in [
        ("\"ctrl_deps\": [3]", [4_096, 1_024]),
        ("\"start_time_micros\": 9", [4_096, 1_024]),
        ("\"start_time_micros\": 3", [1_024, 4_096]),
    ] {
        let late = format!("\"comm_type\": 0, \"comm_size\": 1024, {more}");
        let early = all_reduce(4_096, 4, ", \"start_time_micros\": 5");
        let nodes = [
            (1, 7, &*late),
            (3, 7, &*early),
            (4, 4, "\"duration_micros\": 20, \"start_time_micros\": 1"),
        ];
        let rank = json(&nodes);
        let imported = import(&[rank.clone(), rank], &TraceReading::default());
        let graph = imported.expect("it has no circle").graph;
        assert_eq!(sizes(&graph), sizes_then, "{more}");
    }
}

#[test]
fn recorded_times_go_along_and_are_written_again() {
    let us = Time::from_us;
    let of = |start, took| Some(Measured { start, took });
    // Once from the start of the recording, and once since 1970.
    let graphs = [0, 1_752_567_000_000_000_u64].map(|since| {
        let at = |start: u64, took: u64| {
            let start = since + start;
            format!("\"start_time_micros\": {start}, \"duration_micros\": {took}")
        };
        let collective =
            "\"data_deps\": [1], \"comm_type\": 0, \"comm_size\": 64, \"duration_micros\": 30";
        let last = at(65, 7) + ", \"data_deps\": [2]";
        let alone = collective.to_owned() + ", \"pg_name\": \"alone\"";
        let nodes = [
            (1, 4, &*at(5, 20)),
            (2, 7, collective),
            (3, 4, &last),
            (4, 7, &alone),
        ];
        let bytes = &*json(&nodes);
        let sources = ["t0", "t1"].map(|name| Source { name, bytes });
        let groups = Source {
            name: "groups.json",
            bytes: b"{\"alone\": [1]}",
        };
        let imported = read(
            sources.as_slice(),
            Some(groups),
            &TraceReading::default(),
            &Budget::unlimited(),
        );
        let imported = imported.expect("it is a trace");
        assert!(!imported.notes.join("\n").contains("213 days"));
        imported.graph
    });
    for graph in &graphs {
        // The collective of a rank alone is none, so nothing was measured of it.
        let expected = [
            of(Some(us(0)), us(20)),
            of(None, us(30)),
            of(Some(us(60)), us(7)),
            None,
        ];
        for (place, expected) in (0..).zip(expected) {
            assert_eq!(graph.measured(1, place), expected, "{place}");
        }
    }
    let [graph, _] = graphs;
    let written = write(&graph).expect("the format has all of it");
    let names = ["t.0.et", "t.1.et"];
    let sources = names.iter().zip(&written.ranks);
    let sources: Vec<Source<'_>> = sources
        .map(|(name, bytes)| Source { name, bytes })
        .collect();
    let groups = written.groups.expect("there is a collective");
    let groups = Source {
        name: "groups.json",
        bytes: groups.as_bytes(),
    };
    let again = read(
        sources.as_slice(),
        Some(groups),
        &TraceReading::default(),
        &Budget::unlimited(),
    );
    let again = again.expect("it was written").graph;
    assert_eq!(again.measured(1, 0), of(Some(us(0)), us(20)));
    assert_eq!(again.measured(1, 1), of(None, us(30)));
}

#[test]
fn what_was_measured_of_computing_is_not_its_duration() {
    let mut builder = GraphBuilder::default();
    for _ in 0..2 {
        let mut of = RankBuilder::default();
        let time = Time::from_us(3);
        let compute = of.add(Operation::Compute { time }, 0);
        let took = Time::from_us(9);
        of.measured(compute, Measured { start: None, took });
        builder.add(of).expect("it is a rank");
    }
    let written = write(&builder.finish().expect("it is a graph"));
    let ranks = written.expect("the format has all of it").ranks;
    let again = import(&ranks, &TraceReading::default()).expect("it was written");
    assert_eq!(again.graph.longest_stream(), Time::from_us(3));
}

/// Operations of all kinds but open receives.
fn graph() -> Graph {
    let mut builder = GraphBuilder::default();
    let group = builder.collectives.add_group(vec![0, 2]).expect("a group");
    let kind = TraceReading::default()
        .algorithms
        .kind(super::attributes::COLLECTIVES[2], 2, 64);
    for rank in 0..3 {
        let mut of = RankBuilder::default();
        let compute = of.add(
            Operation::Compute {
                time: Time::from_us(3 + u64::from(rank)),
            },
            0,
        );
        let (next, before) = ((rank + 1) % 3, (rank + 2) % 3);
        let send = of.add(
            Operation::Send {
                peer: next,
                bytes: 70_000,
                tag: 5,
            },
            1,
        );
        let receive = Operation::Receive {
            peer: Some(before),
            bytes: 70_000,
            tag: Some(5),
        };
        let receive = of.add(receive, 1);
        of.after(send, compute);
        if rank != 1 {
            let which = builder.collectives.add(group, 0, rank, &kind, 1_024);
            let which = which.expect("a collective");
            let collective = of.add_collective(group, which, 1);
            of.after(collective, receive);
        }
        builder.add(of).expect("it is a rank");
    }
    builder.finish().expect("it is a graph")
}

#[test]
fn what_is_written_is_read_again() {
    let graph = graph();
    let written = write(&graph).expect("it can be written");
    assert_eq!((written.rounded, written.starts), (0, 0));
    assert_eq!(written.groups.as_deref(), Some("{\"1\":[0,2]}\n"));
    let names = ["a", "b", "c"];
    let sources = names.iter().zip(&written.ranks);
    let sources: Vec<Source<'_>> = sources
        .map(|(name, bytes)| Source { name, bytes })
        .collect();
    let groups = written.groups.as_deref().map(|of| Source {
        name: "g",
        bytes: of.as_bytes(),
    });
    let read = read(
        sources.as_slice(),
        groups,
        &TraceReading::default(),
        &Budget::unlimited(),
    )
    .expect("it was written");
    assert_eq!(read.graph, graph);
}

#[test]
fn a_first_message_as_long_as_the_byte_of_a_brace_is_no_json() {
    let is_json = |text: &[u8]| super::is_json(text).expect("it can be read");
    // Field 1, a version with 121 bytes: 123 with its tag and its length.
    let first = [&[b'{', b'\n', 121][..], &[b'x'; 121]].concat();
    assert!(!is_json(&first));
    for text in ["{\"nodes\": []}", " {\n  \"nodes\": []}", "{}", "{"] {
        assert!(is_json(text.as_bytes()), "{text}");
    }
}

#[test]
fn mutated_files_are_refused_or_say_something_else() {
    let written = write(&graph()).expect("it can be written");
    let mut stream = Stream::new(1, "formats", "mutations");
    let mut draw = |bound: usize| stream.below(bound as u64) as usize;
    for _ in 0..3_000 {
        let mut files = written.ranks.clone();
        for _ in 0..=draw(3) {
            let (rank, value) = (draw(3), draw(256) as u8);
            let at = draw(files[rank].len());
            match draw(3) {
                0 => files[rank][at] = value,
                1 => files[rank].truncate(at.max(1)),
                _ => files[rank].insert(at, value),
            }
        }
        if let Err(error) = import(&files, &TraceReading::default()) {
            assert!(error.contains(".et: ") && error.contains("; "), "{error}");
        }
    }
}
