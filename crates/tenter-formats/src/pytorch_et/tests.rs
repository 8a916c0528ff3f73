//! Small traces of our own, in the two ways in which calls are recorded.

use tenter_language::units::Budget;
use tenter_workload::graph::{Algorithms, OperationKind};
use tenter_workload::spec::{CallReading, FlowReading, PytorchEtSpec};

use super::read;
use crate::{Imported, Source};

fn spec(ranks: Option<u32>) -> PytorchEtSpec {
    PytorchEtSpec {
        file: String::new(),
        groups: None,
        calls: CallReading {
            ranks,
            algorithms: Algorithms::default(),
            timing: FlowReading::default().timing(),
        },
    }
}

fn import(files: &[String], ranks: Option<u32>) -> Result<Imported, String> {
    let names: Vec<String> = (0..files.len())
        .map(|rank| format!("t{rank}.json"))
        .collect();
    let sources = names.iter().zip(files).map(|(name, text)| Source {
        name,
        bytes: text.as_bytes(),
    });
    let sources: Vec<Source<'_>> = sources.collect();
    read(sources.as_slice(), None, &spec(ranks), &Budget::unlimited())
        .map_err(|error| error.to_string())
}

/// A trace in the way of newer versions: attributes.
fn newer(calls: &[(u64, &str, &str, u64, u64)]) -> String {
    let nodes = calls.iter().map(|(id, name, kind, sent, received)| {
        let attributes = [
            format!(
                "{{\"name\": \"collective_name\", \"type\": \"string\", \"value\": \"{name}\"}}"
            ),
            format!("{{\"name\": \"dtype\", \"type\": \"string\", \"value\": \"{kind}\"}}"),
            format!("{{\"name\": \"in_msg_nelems\", \"type\": \"uint64\", \"value\": {sent}}}"),
            format!(
                "{{\"name\": \"out_msg_nelems\", \"type\": \"uint64\", \"value\": {received}}}"
            ),
            "{\"name\": \"pg_name\", \"type\": \"string\", \"value\": \"0\"}".to_owned(),
            "{\"name\": \"pg_size\", \"type\": \"uint64\", \"value\": 2}".to_owned(),
        ];
        format!(
            "{{\"id\": {id}, \"name\": \"record_param_comms\", \"ctrl_deps\": 1, \"attrs\": [{}]}}",
            attributes.join(", ")
        )
    });
    let nodes: Vec<String> = nodes.collect();
    format!(
        "{{\"schema\": \"1.1.0-chakra.0.0.4\", \"nodes\": [\n{{\"id\": 3, \"name\": \"## process_group:init ##\", \
         \"inputs\": {{\"values\": [\"[{{\\\"pg_name\\\": \\\"0\\\", \\\"ranks\\\": [], \\\"group_size\\\": 2}}]\"]}}}},\n\
         {{\"id\": 4, \"name\": \"aten::mm\"}},\n{}]}}",
        nodes.join(",\n")
    )
}

#[test]
fn calls_come_in_the_order_of_nodes() {
    let text = newer(&[
        (30, "wait", "Byte", 0, 0),
        (20, "_allgather_base", "Half", 100, 200),
        (10, "allreduce", "Float", 100, 100),
        (40, "_reduce_scatter_base", "BFloat16", 200, 100),
    ]);
    let imported = import(&[text.clone(), text.clone()], None).expect("they are traces");
    let collectives = imported.graph.collectives();
    let sizes: Vec<(&str, u64)> = (0..3)
        .map(|number| collectives.get(number))
        .map(|(_, kind, bytes)| (kind.name(), bytes))
        .collect();
    let expected = [
        ("all-reduce", 400),
        ("all-gather", 400),
        ("reduce-scatter", 400),
    ];
    assert_eq!(sizes, expected);
    assert_eq!(imported.graph.counts()[&OperationKind::Collective], 6);
    let notes = imported.notes.join("\n");
    assert!(notes.contains("2 operators compute"), "{notes}");
    // The trace of one rank says how many there are.
    let one = import(&[text], None).expect("it is a trace");
    assert_eq!(one.graph, imported.graph);
}

/// A trace in the way of older versions: places of inputs.
const OLDER: &str = "{\"schema\": \"1.0.2-chakra.0.0.4\", \"nodes\": [\
    {\"id\": 3, \"name\": \"## process_group:init ##\", \"inputs\": {\"values\": [\
    \"[{\\\"pg_name\\\": \\\"0\\\", \\\"backend_id\\\": 82149104, \\\"ranks\\\": [], \\\"group_size\\\": 2}]\"]}},\
    {\"id\": 30, \"name\": \"record_param_comms\", \"inputs\": {\"values\": [[[14, 15, 0, 6, 4, \"cuda:0\"]], 12, 82149104, 0, \
    \"all_gather\", [], [], 2]}, \"outputs\": {\"values\": [[[[19, 20, 0, 6, 4, \"cuda:0\"], [5, 23, 0, 6, 4, \"cuda:0\"]]]]}, \
    \"attrs\": [{\"name\": \"tid\", \"value\": 1}]}]}";

#[test]
fn older_versions_name_calls_by_places() {
    let imported = import(&[OLDER.to_owned(), OLDER.to_owned()], None).expect("they are traces");
    let (_, kind, bytes) = imported.graph.collectives().get(0);
    assert_eq!((kind.name(), bytes), ("all-gather", 48));
}

#[test]
fn what_is_wrong_is_told_with_its_node() {
    let good = newer(&[(10, "allreduce", "Float", 100, 100)]);
    for (from, to, what) in [
        ("allreduce", "allsum", "node 10 calls `allsum`"),
        ("collective_name", "kind", "node 10 records a call"),
        ("\"nodes\"", "\"list\"", "there is no list `nodes`"),
        ("record_param_comms", "aten::add", "no node records"),
        (
            "{\"id\": 4, \"name\"",
            "{\"id\": 4, \"nam\"",
            "place 1 has no name",
        ),
        ("]}", "", "this is no JSON"),
    ] {
        let changed = good.replace(from, to);
        assert_ne!(changed, good, "{what}");
        let error = import(&[changed], Some(2)).expect_err(what);
        assert!(
            error.contains(what) && error.contains("; "),
            "{what}: {error}"
        );
    }
    let unknown = good.replace("Float", "Something");
    let imported = import(&[unknown], Some(2)).expect("it is a trace");
    assert!(
        imported.notes[0].contains("unknown type"),
        "{:?}",
        imported.notes
    );
}
