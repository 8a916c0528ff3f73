//! Small traces of our own.

use std::fmt::Write as _;
use std::io::Write as _;

use tenter_engine::Stream;
use tenter_language::units::{Budget, Time};
use tenter_workload::graph::{Algorithms, Operation, OperationKind};
use tenter_workload::spec::{CallReading, FlowReading, Gaps, KinetoSpec, Waits};

use super::read;
use super::timeline::{Segment, segments};
use crate::{Imported, Source};

fn spec() -> KinetoSpec {
    KinetoSpec {
        file: String::new(),
        groups: None,
        waits: Waits::Exposed,
        gaps: Gaps::Keep,
        calls: CallReading {
            ranks: None,
            algorithms: Algorithms::default(),
            timing: FlowReading::default().timing(),
        },
    }
}

fn import(files: &[Vec<u8>], spec: &KinetoSpec) -> Result<Imported, String> {
    let names: Vec<String> = (0..files.len())
        .map(|rank| format!("t{rank}.json"))
        .collect();
    let files = names.iter().zip(files);
    let files: Vec<Source<'_>> = files.map(|(name, bytes)| Source { name, bytes }).collect();
    read(files.as_slice(), None, spec, &Budget::unlimited()).map_err(|error| error.to_string())
}

/// A trace of so many ranks, from `cat name ts dur args` of each event.
fn trace(rank: u32, world: u32, events: &[(&str, &str, &str, &str, &str)]) -> Vec<u8> {
    let mut text = format!(
        "{{\"schemaVersion\": 1, \"distributedInfo\": {{\"backend\": \"nccl\", \"rank\": {rank}, \
         \"world_size\": {world}, \"pg_config\": [{{\"pg_name\": \"0\", \"ranks\": []}}]}},\n\"traceEvents\": [\n\
         {{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 0, \"args\": {{\"name\": \"python\"}}}}"
    );
    for (category, name, start, took, arguments) in events {
        let _ = write!(
            text,
            ",\n{{\"ph\": \"X\", \"cat\": \"{category}\", \"name\": \"{name}\", \"pid\": 0, \"tid\": 7, \
             \"ts\": {start}, \"dur\": {took}, \"args\": {{{arguments}}}}}"
        );
    }
    text.push_str("]}");
    text.into_bytes()
}

const ALL_REDUCE: &str = "\"stream\": 20, \"Collective name\": \"allreduce\", \"dtype\": \"BFloat16\", \
    \"In msg nelems\": 1000, \"Out msg nelems\": 1000, \"Group size\": 2, \"Process Group Name\": \"0\", \
    \"Process Group Ranks\": \"[0, 1]\"";

/// Computing, an all-reduce beside further computing, and computing that waits for it.
fn step(rank: u32) -> Vec<u8> {
    trace(
        rank,
        2,
        &[
            ("kernel", "gemm", "1000.5", "10", "\"stream\": 7"),
            (
                "kernel",
                "ncclDevKernel_AllReduce",
                "1012.5",
                "30.25",
                ALL_REDUCE,
            ),
            ("kernel", "gemm", "1012.5", "20", "\"stream\": 7"),
            ("kernel", "gemm", "1030.0", "4.5", "\"stream\": 8"),
            ("kernel", "gemm", "1044.75", "5", "\"stream\": 7"),
            ("cpu_op", "aten::mm", "900", "1", ""),
        ],
    )
}

fn waits(imported: &Imported) -> Vec<(u32, u32)> {
    let graph = &imported.graph;
    let places = 0..graph.operations_of(0);
    let edges = places.flat_map(|place| graph.followers(0, place).map(move |(to, _)| (place, to)));
    edges.collect()
}

#[test]
fn a_step_keeps_its_order_and_its_gaps() {
    let imported = import(&[step(0), step(1)], &spec()).expect("they are traces");
    let graph = &imported.graph;
    let of = |place| graph.operation(0, place).0;
    let ns = Time::from_ns;
    let (compute, wait) = (
        |time| Operation::Compute { time },
        |time| Operation::Wait { time },
    );
    // 10 µs computing; the all-reduce starts 2 µs later, as does the union of two kernels, 22 µs;
    // then 2 µs behind the all-reduce the last one.
    let expected = [
        compute(ns(10_000)),
        wait(ns(2_000)),
        Operation::Collective { which: 0 },
        wait(ns(2_000)),
        compute(ns(22_000)),
        wait(ns(2_000)),
        compute(ns(5_000)),
    ];
    for (place, expected) in (0..).zip(expected) {
        assert_eq!(of(place), expected, "{place}");
    }
    assert_eq!(graph.operations(), 14);
    // Each waits for what was over when it began.
    let expected = [(0, 1), (0, 3), (1, 2), (2, 5), (3, 4), (4, 5), (5, 6)];
    assert_eq!(waits(&imported), expected);
    assert_eq!(graph.collectives().get(0).2, 2_000);
    assert!(imported.notes.is_empty(), "{:?}", imported.notes);
    // Files in another order are put in that of the ranks.
    let other = import(&[step(1), step(0)], &spec()).expect("they are traces");
    assert_eq!(other.graph, imported.graph);
    let without = KinetoSpec {
        gaps: Gaps::Drop,
        ..spec()
    };
    let dropped = import(&[step(0), step(1)], &without).expect("they are traces");
    assert_eq!(dropped.graph.operations(), 8);
}

/// Time stamps count from the start of the recording, or from 1970 in microseconds, which are more
/// picoseconds than 64 bits hold.
#[test]
fn operations_keep_when_they_were_recorded() {
    for since in ["1", "1752567"] {
        let at = |us: &str| format!("{since}{us}");
        let of = |rank| {
            let (one, two) = (at("000000100"), at("000000125"));
            let events = [
                ("kernel", "gemm", one.as_str(), "20.5", "\"stream\": 7"),
                (
                    "kernel",
                    "ncclDevKernel_AllReduce",
                    &two,
                    "30.25",
                    ALL_REDUCE,
                ),
            ];
            trace(rank, 2, &events)
        };
        let imported = import(&[of(0), of(1)], &spec()).expect("they are traces");
        let graph = &imported.graph;
        let places = 0..graph.operations_of(1);
        let times = places.filter_map(|place| graph.measured(1, place));
        let times: Vec<_> = times.map(|of| (of.start, of.took)).collect();
        let expected = [(0, 20_500), (25_000, 30_250)];
        let expected =
            expected.map(|(start, took)| (Some(Time::from_ns(start)), Time::from_ns(took)));
        assert_eq!(times, expected, "{since}");
    }
}

#[test]
fn traces_may_be_compressed_or_a_list_and_of_one_rank() {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(&step(0)).expect("it is memory");
    let packed = packed.finish().expect("it is memory");
    let one = import(std::slice::from_ref(&packed), &spec()).expect("it is a trace");
    assert_eq!(
        one.graph,
        import(&[step(0), step(1)], &spec()).expect("a graph").graph
    );
    let cut = packed[..packed.len() / 2].to_vec();
    let error = import(&[cut], &spec()).expect_err("it is cut");
    assert!(error.contains("t0.json: byte 0"), "{error}");
    // A group of neighbours in a job of four ranks is one of each pair.
    let four = KinetoSpec {
        calls: CallReading {
            ranks: Some(4),
            ..spec().calls
        },
        ..spec()
    };
    let list = String::from_utf8(step(0)).expect("a text");
    let list = &list[list.find("[\n").expect("a list")..list.len() - 1];
    let imported = import(&[list.as_bytes().to_vec()], &four).expect_err("no rank is in it");
    assert!(imported.contains("rank 2 runs"), "{imported}");
    let of_four = String::from_utf8(step(1)).expect("a text");
    let of_four = of_four.replace("\"world_size\": 2", "\"world_size\": 4");
    let imported = import(&[of_four.into_bytes()], &spec()).expect("it is a trace");
    let collectives = imported.graph.collectives();
    assert_eq!(collectives.ranks_of(0), [0, 1]);
    assert_eq!(collectives.ranks_of(1), [2, 3]);
}

#[test]
fn stretches_end_where_calls_begin_and_end() {
    let of = |start, end, busy| Segment { start, end, busy };
    let mut computes = [
        (0, 4),
        (2, 6),
        (10, 12),
        (14, 20),
        (21, 22),
        (30, 31),
        (32, 33),
    ];
    let found = segments(&mut computes, &[(13, 30), (16, 18)]);
    let expected = [of(0, 12, 8), of(14, 20, 6), of(21, 22, 1), of(30, 33, 2)];
    assert_eq!(found, expected);
}

const SEND: &str = "\"External id\": 5, \"Collective name\": \"send\", \"dtype\": \"Float\", \
    \"In msg nelems\": 256, \"Out msg nelems\": 256, \"Group size\": 2, \"Process Group Name\": \"0\"";

#[test]
fn one_kernel_carries_out_the_messages_called_for_before_it() {
    let of = |rank: u32| {
        let peer = 1 - rank;
        let send = format!("{SEND}, \"Dst Rank\": {peer}");
        let receive = SEND.replace("send", "recv") + &format!(", \"Src Rank\": {peer}");
        trace(
            rank,
            2,
            &[
                ("cpu_op", "record_param_comms", "10", "1", &send),
                ("cpu_op", "record_param_comms", "12", "1", &receive),
                ("cpu_op", "record_param_comms", "90", "1", ALL_REDUCE),
                (
                    "cuda_runtime",
                    "cudaLaunchKernelExC",
                    "14",
                    "1",
                    "\"correlation\": 77",
                ),
                (
                    "kernel",
                    "ncclDevKernel_SendRecv",
                    "20",
                    "5",
                    "\"stream\": 22, \"correlation\": 77, \"External id\": 5",
                ),
                (
                    "kernel",
                    "ncclDevKernel_Broadcast",
                    "30",
                    "7",
                    "\"stream\": 22",
                ),
            ],
        )
    };
    let imported = import(&[of(0), of(1)], &spec()).expect("they are traces");
    let counts = imported.graph.counts();
    assert_eq!(counts[&OperationKind::Send], 2);
    assert_eq!(counts[&OperationKind::Receive], 2);
    let sent: Vec<_> = imported.graph.sends().collect();
    assert_eq!(sent, [(0, 1, 1_024), (1, 0, 1_024)]);
    assert!(imported.graph.unmatched().is_empty());
    // The kernel took 5 us once, and not once for each of its messages.
    let places = 0..imported.graph.operations_of(0);
    let took = places.filter_map(|place| imported.graph.measured(0, place));
    let took: Vec<Time> = took.map(|measured| measured.took).collect();
    assert_eq!(took, [Time::from_us(5)]);
    let notes = imported.notes.join("\n");
    for part in ["2 kernels communicate and no call", "2 calls of the CPU"] {
        assert!(notes.contains(part), "{part}: {notes}");
    }
    let alone = import(&[of(0)], &spec()).expect_err("it has messages");
    assert!(alone.contains("cannot be repeated"), "{alone}");
}

#[test]
fn split_sizes_of_an_all_to_all_are_messages() {
    let of = |rank: u32| {
        let shares = ["[1, 3]", "[2, 2]"];
        let received = ["[1, 2]", "[3, 2]"];
        let elements = [(400, 300), (400, 500)];
        let (sent, got) = elements[rank as usize];
        let arguments = format!(
            "\"stream\": 9, \"Collective name\": \"all_to_allv\", \"dtype\": \"Byte\", \"In msg nelems\": {sent}, \
             \"Out msg nelems\": {got}, \"Group size\": 2, \"In split size\": \"{}\", \"Out split size\": \"{}\", \
             \"Process Group Name\": \"0\", \"Seq\": 4",
            shares[rank as usize], received[rank as usize]
        );
        trace(
            rank,
            2,
            &[("kernel", "ncclDevKernel_SendRecv", "20", "5", &arguments)],
        )
    };
    let imported = import(&[of(0), of(1)], &spec()).expect("they are traces");
    let sent: Vec<_> = imported.graph.sends().collect();
    assert_eq!(sent, [(0, 1, 300), (1, 0, 200)]);
    // One rank alone has the same share for every rank.
    let alone = import(&[of(0)], &spec()).expect("it is a trace");
    assert_eq!(alone.graph.collectives().get(0).2, 400);
}

#[test]
fn calls_that_one_rank_alone_has_recorded_take_their_time() {
    let numbered = |sequence: u32| format!("{ALL_REDUCE}, \"Seq\": {sequence}");
    let of = |rank, first: u32| {
        let (one, two) = (numbered(first), numbered(first + 1));
        let events = [
            ("kernel", "ncclDevKernel_AllReduce", "10", "5", one.as_str()),
            ("kernel", "ncclDevKernel_AllReduce", "20", "6", two.as_str()),
        ];
        trace(rank, 2, &events)
    };
    let imported = import(&[of(0, 3), of(1, 4)], &spec()).expect("they are traces");
    assert_eq!(imported.graph.collectives().len(), 1);
    assert!(
        imported.notes[0].contains("2 collectives are not recorded by all"),
        "{:?}",
        imported.notes
    );
    assert_eq!(imported.graph.longest_wait(), Time::from_us(5 + 6));
}

/// Copies within a GPU are computing; those between GPUs are left out and counted, and those from
/// the host are neither.
#[test]
fn copies_between_gpus_are_left_out_aloud() {
    let copies = [
        ("Memcpy DtoD (Device -> Device)", "1061"),
        ("Memcpy PtoP (Device -> Device)", "1071"),
        ("Memcpy HtoD (Pageable -> Device)", "1081"),
    ];
    let of = |rank, copies: &[(&str, &str)]| {
        let mut events = vec![(
            "kernel",
            "ncclDevKernel_AllReduce",
            "1012",
            "30",
            ALL_REDUCE,
        )];
        let copies = copies.iter();
        events.extend(copies.map(|&(name, at)| ("gpu_memcpy", name, at, "5", "\"stream\": 7")));
        trace(rank, 2, &events)
    };
    let imported = import(&[of(0, &copies), of(1, &[])], &spec()).expect("they are traces");
    let notes = imported.notes.join("\n");
    assert!(notes.contains("`Memcpy PtoP`"), "{notes}");
    let computes = imported.graph.counts()[&OperationKind::Compute];
    assert_eq!(computes, 1, "{notes}");
}

#[test]
fn groups_of_the_same_ranks_run_beside_each_other() {
    let of = |rank, first: &str| {
        let second = if first == "20" { "30" } else { "20" };
        let other = ALL_REDUCE.replace("\"0\"", "\"1\"").replace("20", "24");
        let other = other.replace("1000", "500");
        let events = [
            ("kernel", "ncclDevKernel_AllReduce", first, "15", ALL_REDUCE),
            ("kernel", "ncclDevKernel_AllReduce", second, "15", &other),
        ];
        trace(rank, 2, &events)
    };
    // The ranks begin them in different orders.
    let imported = import(&[of(0, "20"), of(1, "30")], &spec()).expect("they are traces");
    let collectives = imported.graph.collectives();
    assert_eq!((collectives.len(), collectives.groups()), (2, 2));
    assert!(imported.notes.is_empty(), "{:?}", imported.notes);
}

#[test]
fn what_is_wrong_is_told_with_line_and_event() {
    let good = String::from_utf8(step(0)).expect("a text");
    for (from, to, what) in [
        (
            "\"ts\": 1044.75",
            "\"ts\": \"soon\"",
            "t0.json: line 9: event 5 has the time `soon`",
        ),
        (
            "\"traceEvents\"",
            "\"events\"",
            "there is no list `traceEvents`",
        ),
        (
            "\"traceEvents\"",
            "\"nodes\"",
            "a list of `nodes`, and none of the profiler; import it as `pytorch-et`",
        ),
        ("]}", "", "this is no trace"),
        ("\"kernel\"", "\"cpu_op\"", "no kernel is in it"),
        (
            "\"world_size\": 2",
            "\"world_size\": 1048576",
            "1048576 ranks ran",
        ),
        (
            "\"In msg nelems\": 1000",
            "\"In msg nelems\": 99999999999999999",
            "2^50",
        ),
    ] {
        let changed = good.replace(from, to);
        assert_ne!(changed, good, "{what}");
        let error = import(&[changed.into_bytes()], &spec()).expect_err(what);
        assert!(
            error.contains(what) && error.contains("; "),
            "{what}: {error}"
        );
    }
    let beyond = |rank| {
        let text = String::from_utf8(step(rank)).expect("a text");
        text.replace("[0, 1]", "[0, 5]").into_bytes()
    };
    let error = import(&[beyond(0), beyond(1)], &spec()).expect_err("there are two");
    assert!(error.contains("rank 5") && error.contains("; "), "{error}");
    let error = import(&[step(0), step(0)], &spec()).expect_err("one is there twice");
    assert!(error.contains("is that of rank 0"), "{error}");
    let other = good
        .replace("\"rank\": 0", "\"rank\": 1")
        .replace("1000,", "999,");
    let error = import(&[step(0), other.into_bytes()], &spec()).expect_err("they differ");
    assert!(
        error.contains("all-reduce") && error.contains("; "),
        "{error}"
    );
}

#[test]
fn mutated_traces_are_refused_or_say_something_else() {
    let mut stream = Stream::new(5, "formats", "mutations");
    let mut draw = |bound: usize| stream.below(bound as u64) as usize;
    for _ in 0..1_500 {
        let mut bytes = step(0);
        for _ in 0..=draw(3) {
            let at = draw(bytes.len());
            match draw(3) {
                0 => bytes[at] = draw(256) as u8,
                1 => bytes.truncate(at.max(1)),
                _ => bytes.insert(at, b"0123456789,\"[]{}"[draw(16)]),
            }
        }
        if let Err(error) = import(&[bytes], &spec()) {
            let has_place = ["line ", "byte ", "in the JSON"].map(|of| error.contains(of));
            assert!(has_place.contains(&true) && error.contains("; "), "{error}");
        }
    }
}
