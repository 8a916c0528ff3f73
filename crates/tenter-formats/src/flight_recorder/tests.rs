//! Small dumps of our own.

use tenter_language::units::{Budget, Time};
use tenter_workload::graph::{Algorithms, Operation, OperationKind};
use tenter_workload::spec::{CallReading, FlightRecorderSpec, FlowReading, Gaps};

use super::read;
use crate::{Imported, Source};

fn spec(gaps: Gaps) -> FlightRecorderSpec {
    FlightRecorderSpec {
        file: String::new(),
        groups: None,
        gaps,
        calls: CallReading {
            ranks: None,
            algorithms: Algorithms::default(),
            timing: FlowReading::default().timing(),
        },
    }
}

fn import(files: &[String], gaps: Gaps) -> Result<Imported, String> {
    let names: Vec<String> = (0..files.len())
        .map(|rank| format!("dump_{rank}"))
        .collect();
    let sources = names.iter().zip(files).map(|(name, text)| Source {
        name,
        bytes: text.as_bytes(),
    });
    let sources: Vec<Source<'_>> = sources.collect();
    read(sources.as_slice(), None, &spec(gaps), &Budget::unlimited())
        .map_err(|error| error.to_string())
}

/// A dump of two ranks, from record, name, number, whether it is a message, elements, time created
/// and duration.
fn dump(entries: &[(u64, &str, u64, bool, u64, u64, &str)]) -> String {
    let entries = entries.iter().map(|(record, name, number, is_message, elements, created, took)| {
        let (collective, message) = if *is_message { (0, *number) } else { (*number, 0) };
        format!(
            "{{\"record_id\": {record}, \"pg_id\": 0, \"process_group\": [\"0\", \"default_pg\"], \
             \"collective_seq_id\": {collective}, \"p2p_seq_id\": {message}, \"op_id\": {record}, \
             \"profiling_name\": \"nccl:{name}\", \"time_created_ns\": {created}, \"duration_ms\": {took}, \
             \"input_sizes\": [[{elements}]], \"input_dtypes\": [\"Float\"], \"output_sizes\": [[{elements}]], \
             \"output_dtypes\": [\"Float\"], \"state\": \"completed\", \"is_p2p\": {is_message}}}"
        )
    });
    let entries: Vec<String> = entries.collect();
    format!(
        "{{\"version\": \"2.10\", \"pg_config\": {{\"0\": {{\"name\": \"0\", \"desc\": \"default_pg\", \"ranks\": \"[0, 1]\"}}}},\n\
         \"entries\": [\n{}]}}",
        entries.join(",\n")
    )
}

const MS: u64 = 1_000_000;

#[test]
fn gaps_are_kept_where_durations_were_recorded() {
    let base = 1_724_779_239_936_775_119;
    let text = dump(&[
        (7, "all_reduce", 3, false, 100, base, "2.5"),
        (8, "_all_gather_base", 4, false, 100, base + 4 * MS, "1.0"),
        (9, "all_reduce", 5, false, 50, base + 4 * MS, "1.0"),
    ]);
    let imported = import(&[text.clone(), text.clone()], Gaps::Keep).expect("they are dumps");
    let graph = &imported.graph;
    assert_eq!(graph.operations(), 8);
    let time = Time::from_ps(1_500_000_000);
    assert_eq!(graph.operation(0, 1).0, Operation::Compute { time });
    let sizes: Vec<u64> = (0..3)
        .map(|number| graph.collectives().get(number).2)
        .collect();
    assert_eq!(sizes, [400, 800, 200]);
    assert!(
        imported.notes[0].starts_with("6 calls have the time at which the CPU created them"),
        "{:?}",
        imported.notes
    );
    let dropped = import(&[text.clone(), text.clone()], Gaps::Drop).expect("they are dumps");
    assert_eq!(dropped.graph.operations(), 6);
    let untimed = text.replace("\"duration_ms\"", "\"took\"");
    let imported = import(&[untimed.clone(), untimed], Gaps::Keep).expect("they are dumps");
    assert_eq!(imported.graph.operations(), 6);
    assert!(
        imported.notes[0].contains("duration_ms"),
        "{:?}",
        imported.notes
    );
}

#[test]
fn discovered_times_go_before_those_of_the_cpu() {
    // The CPU has created both calls at once; the device ran them 3 ms apart.
    let with = |text: &str, created: u64, found: [u64; 2]| {
        let [started, completed] = found.map(|ms| ms * MS);
        text.replace(
            &format!("\"time_created_ns\": {created},"),
            &format!(
                "\"time_created_ns\": {created}, \"time_discovered_started_ns\": {started}, \
                 \"time_discovered_completed_ns\": {completed},"
            ),
        )
    };
    let text = dump(&[
        (1, "all_reduce", 1, false, 100, 0, "2.0"),
        (2, "all_reduce", 2, false, 100, 1, "null"),
        (3, "all_reduce", 3, false, 100, 2, "1.5"),
    ]);
    let text = with(&with(&text, 0, [1, 4]), 1, [7, 8]);
    let imported = import(&[text.clone(), text], Gaps::Keep).expect("they are dumps");
    let gaps: Vec<u64> = (0..imported.graph.operations_of(0))
        .filter_map(|place| match imported.graph.operation(0, place).0 {
            Operation::Compute { time } => Some(time.ps() / 1_000_000_000),
            _ => None,
        })
        .collect();
    // The first ran from 2 to 4 ms, the second from 7 to 8.
    assert_eq!(gaps, [2, 3]);
    let notes = imported.notes.join("\n");
    assert!(
        notes.contains("4 calls have the times at which the watchdog"),
        "{notes}"
    );
    assert!(
        notes.contains("2 calls have the time at which the CPU"),
        "{notes}"
    );
}

#[test]
fn rings_are_cut_to_what_all_ranks_have() {
    let of = |first: u64| {
        dump(&[
            (first, "all_reduce", first, false, 100, 0, "1"),
            (first + 1, "all_reduce", first + 1, false, 200, MS, "1"),
        ])
    };
    let imported = import(&[of(3), of(4)], Gaps::Keep).expect_err("sizes differ");
    assert!(imported.contains("all-reduce"), "{imported}");
    let same = |first: u64| of(first).replace("[[200]]", "[[100]]");
    let imported = import(&[same(3), same(4)], Gaps::Keep).expect("they are dumps");
    assert_eq!(imported.graph.collectives().len(), 1);
    let notes = imported.notes.join("\n");
    assert!(notes.contains("2 collectives are not"), "{notes}");
}

#[test]
fn messages_of_one_number_are_together() {
    let of = |rank: u64| {
        let (send, receive) = (
            format!("send {rank}->{}", 1 - rank),
            format!("recv {rank}<-{}", 1 - rank),
        );
        dump(&[
            (1, &send, 1, true, 100, 0, "null"),
            (2, &receive, 1, true, 100, 0, "null"),
            (3, "coalesced", 1, true, 0, 0, "null"),
            (4, &send, 2, true, 7, 0, "null"),
            (5, &receive, 3, true, 7, 0, "null"),
        ])
    };
    let imported = import(&[of(0), of(1)], Gaps::Keep).expect("they are dumps");
    let counts = imported.graph.counts();
    assert_eq!(counts[&OperationKind::Send], 4);
    assert_eq!(counts[&OperationKind::Receive], 4);
    // What joins the messages of each rank that were together.
    assert_eq!(counts[&OperationKind::Compute], 2);
    assert!(imported.graph.unmatched().is_empty());
}

#[test]
fn what_is_wrong_is_told_with_its_entry() {
    let good = dump(&[(1, "all_reduce", 1, false, 100, 5, "1")]);
    for (from, to, what) in [
        (
            "nccl:all_reduce",
            "nccl:all_sum",
            "entry 0 calls `nccl:all_sum`",
        ),
        ("profiling_name", "name", "entry 0 has no `profiling_name`"),
        (
            "time_created_ns",
            "time",
            "entry 0 has no `time_created_ns`",
        ),
        (
            "[[100]]",
            "[[-1]]",
            "entry 0 has `input_sizes` that are none",
        ),
        ("\"entries\"", "\"list\"", "there is no list `entries`"),
        ("nccl:all_reduce", "nccl:coalesced", "no call is in it"),
        (
            "\"0\", \"default_pg\"",
            "\"4\", \"default_pg\"",
            "group `4`",
        ),
        ("]}", "", "this is no JSON"),
    ] {
        let changed = good.replace(from, to);
        assert_ne!(changed, good, "{what}");
        let error = import(&[changed], Gaps::Keep).expect_err(what);
        assert!(
            error.contains(what) && error.contains("; "),
            "{what}: {error}"
        );
    }
    let source = Source {
        name: "dump_0",
        bytes: b"\x80\x02}q\x00.",
    };
    let error = read(
        [source].as_slice(),
        None,
        &spec(Gaps::Keep),
        &Budget::unlimited(),
    )
    .expect_err("it is pickled");
    assert!(error.to_string().contains("json.dump"), "{error}");
}
