//! Plans by hand.

use tenter_language::units::Budget;
use tenter_workload::collective::{AlgorithmFiles, CollectiveKind};

use crate::algorithm_file::read;

/// An all-gather of two GPUs: each puts its chunk and signals, then waits for the other's signal.
fn gather() -> String {
    let gpu = |id: u32| {
        let other = 1 - id;
        format!(
            r#"{{"id": {id}, "input_chunks": 1, "output_chunks": 2, "scratch_chunks": 0,
            "channels": [{{"channel_type": "port", "connected_to": [{other}]}}],
            "remote_buffers": [{{"rank": {other}, "type": "o", "access_channel_types": ["port"]}}],
            "threadblocks": [{{"id": 0,
              "channels": [{{"channel_type": "port", "channel_ids": [0]}}],
              "remote_buffer_refs": [{{"access_channel_type": "port", "remote_buffer_ids": [0]}}],
              "ops": [
                {{"name": "put", "channel_type": "port", "channel_ids": [0],
                  "src_buff": [{{"type": "o", "index": {id}, "size": 1}}],
                  "dst_buff": [{{"buffer_id": 0, "index": {id}, "size": 1}}]}},
                {{"name": "signal", "channel_type": "port", "channel_ids": [0]}},
                {{"name": "wait", "channel_type": "port", "channel_ids": [0]}},
                {{"name": "nop"}}
              ]}}]}}"#
        )
    };
    format!(
        r#"{{"name": "gather", "collective": "allgather", "protocol": "Simple", "inplace": true,
        "gpus": [{}, {}]}}"#,
        gpu(0),
        gpu(1)
    )
}

#[test]
fn puts_and_signals_are_transfers() {
    let read = read(gather().as_bytes(), &Budget::unlimited()).expect("it is a plan");
    let kind = CollectiveKind::FromFile(AlgorithmFiles::of(read.program));
    let schedule = kind.schedule(2, 2_000).unwrap();
    let transfers = (0..schedule.transfer_count()).map(|id| schedule.transfer(id));
    let mut sent: Vec<_> = transfers.map(|of| (of.src, of.dst, of.bytes)).collect();
    sent.sort_unstable();
    // Chunks of 1,000 bytes, and signals without bytes.
    assert_eq!(sent, [(0, 1, 0), (0, 1, 1_000), (1, 0, 0), (1, 0, 1_000)]);
}

/// Refuses a plan in which a text stands for another, and says what.
fn refuses(from: &str, to: &str, what: &str) {
    assert!(gather().contains(from), "{from}");
    let text = gather().replacen(from, to, 1);
    let error = read(text.as_bytes(), &Budget::unlimited())
        .err()
        .unwrap_or_else(|| panic!("{to}"));
    assert!(error.what.contains(what), "{to}: {error}");
}

#[test]
fn mistakes_are_told_with_their_operations() {
    for (from, to, what) in [
        (
            "\"index\": 1, \"size\": 1}]},",
            "\"index\": 0, \"size\": 1}]},",
            "chunk 0 of the output of",
        ),
        (
            "\"name\": \"signal\"",
            "\"name\": \"nop\"",
            "operation 2 (wait): no send matches it",
        ),
        (
            "\"name\": \"wait\"",
            "\"name\": \"nop\"",
            "operation 1 (signal): no receive matches it",
        ),
        (
            "\"name\": \"put\"",
            "\"name\": \"glres\"",
            "operation 0: it lets a switch add up",
        ),
        (
            "\"name\": \"put\"",
            "\"name\": \"sem_acquire\"",
            "`sem_acquire` is not simulated",
        ),
        (
            "\"channel_ids\": [0]},\n                {\"name\": \"wait\"",
            "\"channel_ids\": [3]},\n                {\"name\": \"wait\"",
            "no such channel",
        ),
        (
            "\"buffer_id\": 0",
            "\"buffer_id\": 1",
            "no such remote buffer",
        ),
        (
            "\"name\": \"nop\"",
            "\"name\": \"barrier\", \"barrier_id\": 0, \"num_threadblocks\": 2",
            "a deadlock",
        ),
    ] {
        refuses(from, to, what);
    }
}

#[test]
fn mistakes_in_plans_are_refused() {
    for (from, to, what) in [
        (
            "\"input_chunks\": 1",
            "\"input_chunks\": \"x\"",
            "`input_chunks`: it is no number",
        ),
        (
            "\"id\": 1, ",
            "\"id\": 2, ",
            "GPU 2 stands where GPU 1 should",
        ),
        (
            "\"protocol\": \"Simple\"",
            "\"protocol\": \"LL8\"",
            "the protocol is `LL8`",
        ),
        (
            "\"collective\": \"allgather\"",
            "\"collective\": \"custom\"",
            "cannot be checked",
        ),
        ("\"gpus\"", "\"cpus\"", "the plan has 0 GPUs"),
        ("\"size\": 1}]", "\"size\": 2}]", "differ in size"),
        ("}", "", "this is no JSON"),
    ] {
        refuses(from, to, what);
    }
}
