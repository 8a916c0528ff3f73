//! Small workloads of our own.

use tenter_engine::Stream;
use tenter_language::units::{Budget, Time};
use tenter_workload::graph::OperationKind;
use tenter_workload::spec::{GatheredSize, SimaiSpec};

use super::read;
use crate::{ImportError, Imported};

const TEXT: &str = "\
HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 1 all_gpus: 8 checkpoints: 0
2
first -1 100 ALLREDUCE 4096 200 ALLGATHER 8192 300 REDUCESCATTER_DP_EP 1024 10
second -1 400 ALLTOALL_EP 2048 500 NONE 0 600 ALLREDUCE 4096 20
";

fn spec() -> SimaiSpec {
    let mut spec = SimaiSpec {
        file: String::new(),
        ranks: None,
        all_gather_size: GatheredSize::Total,
        algorithms: tenter_workload::graph::Algorithms::default(),
        timing: tenter_workload::spec::FlowReading::default().timing(),
    };
    spec.file.push('x');
    spec
}

fn import(text: &str) -> Result<Imported, ImportError> {
    read(text, &spec(), &Budget::unlimited())
}

#[test]
fn layers_run_forward_and_back_in_their_groups() {
    let imported = import(TEXT).expect("it is a workload");
    let graph = &imported.graph;
    assert_eq!(graph.ranks(), 8);
    let counts = graph.counts();
    // Three times computing and an update of each layer.
    assert_eq!(counts[&OperationKind::Compute], 8 * 8);
    assert_eq!(counts[&OperationKind::Collective], 8 * 5);
    assert_eq!(
        graph.longest_stream(),
        Time::from_ns(100 + 200 + 300 + 10 + 400 + 500 + 600 + 20)
    );
    let collectives = graph.collectives();
    let groups: Vec<&[u32]> = (0..collectives.groups())
        .map(|group| collectives.ranks_of(group))
        .collect();
    // Tensor: neighbours. Experts: pairs of replicas. Data: all replicas of a shard.
    for group in [&[0, 1][..], &[0, 2], &[0, 2, 4, 6], &[0, 4]] {
        assert!(groups.contains(&group), "{group:?} of {groups:?}");
    }
    let sizes: Vec<u64> = (0..5).map(|number| collectives.get(number).2).collect();
    assert_eq!(sizes, [4_096, 2_048, 4_096, 8_192, 1_024]);
    let input = SimaiSpec {
        all_gather_size: GatheredSize::Input,
        ..spec()
    };
    let imported = read(TEXT, &input, &Budget::unlimited()).expect("it is a workload");
    assert_eq!(imported.graph.collectives().get(3).2, 2 * 8_192);
    assert!(imported.notes.is_empty(), "{:?}", imported.notes);
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    for (from, to, what) in [
        (
            "HYBRID_TRANSFORMER_FWD",
            "SOME",
            "line 1: `SOME_IN_BCKWD` is no policy",
        ),
        ("group: 2", "group: 3", "line 1: 8 ranks do not divide"),
        ("\n2\n", "\n3\n", "there are 2 layers, and the file says 3"),
        (
            "ALLREDUCE 4096 200",
            "ALLSUM 4096 200",
            "line 3: `ALLSUM` is no collective",
        ),
        ("400", "x", "line 4: `x` is not a time"),
        (" 20\n", "\n", "line 4: a layer has 11 words"),
        ("all_gpus: 8", "all_gpus: 0", "line 1: `all_gpus` is 0"),
    ] {
        let changed = TEXT.replacen(from, to, 1);
        assert_ne!(changed, TEXT, "{what}");
        let error = import(&changed).expect_err(what).to_string();
        assert!(
            error.contains(what) && error.contains("; "),
            "{what}: {error}"
        );
    }
    let notes = import(&TEXT.replace("checkpoints: 0", "checkpoints: 1 0"))
        .expect("it is one")
        .notes;
    assert!(notes[0].contains("checkpoints"), "{notes:?}");
}

#[test]
fn mutated_workloads_are_refused_or_say_something_else() {
    let mut stream = Stream::new(3, "formats", "mutations");
    let mut draw = |bound: usize| stream.below(bound as u64) as usize;
    for _ in 0..1_500 {
        let mut bytes = TEXT.as_bytes().to_vec();
        for _ in 0..=draw(2) {
            let at = draw(bytes.len());
            match draw(3) {
                0 => bytes[at] = b' ' + draw(95) as u8,
                1 => bytes.truncate(at.max(1)),
                _ => bytes.insert(at, b'\n'),
            }
        }
        if let Err(error) = import(&String::from_utf8_lossy(&bytes)) {
            let error = error.to_string();
            assert!(error.contains("line ") && error.contains("; "), "{error}");
        }
    }
}
