//! Small tables of our own.

use tenter_engine::Stream;
use tenter_language::units::{Budget, Time};
use tenter_workload::graph::{Algorithms, OperationKind};
use tenter_workload::spec::{AicbSpec, CallReading, FlowReading, GatheredSize};

use super::read;
use crate::{ImportError, Imported};

const HEADER: &str = "comm_type,comm_group,comm_group_size,msg_size,stage,dst,src,additional,_elapsed_time,algbw,busbw,count\n";

fn spec() -> AicbSpec {
    AicbSpec {
        file: String::new(),
        tensor: None,
        expert: None,
        pipeline: None,
        all_gather_size: GatheredSize::Total,
        calls: CallReading {
            ranks: None,
            algorithms: Algorithms::default(),
            timing: FlowReading::default().timing(),
        },
    }
}

fn import(text: &str) -> Result<Imported, ImportError> {
    read(text, &spec(), &Budget::unlimited())
}

/// One stage of eight ranks: two tensor-parallel ones, four replicas.
fn table() -> String {
    format!(
        "[rank0 ~ rank7]\n{HEADER}\
         CommType.broadcast,CommGroup.tp_group,2,40,forward_step,None,0,,None,None,None,1\n\
         CommType.computation,None,None,\"((4, 8), (8, 2))\",forward,None,None,,0.25,None,None,1\n\
         CommType.all_gather,CommGroup.tp_group,2,100,forward,None,None,,None,None,None,1\n\
         CommType.computation,None,None,\"((4, 8), (8, 2))\",forward,None,None,,None,None,None,1\n\
         CommType.all_to_all,CommGroup.ep_group,2,64,forward,None,None,,None,None,None,1\n\
         CommType.reduce_scatter,CommGroup.dp_group,4,128,step,None,None,,1.5,1,1,1\n\
         CommType.barrier,CommGroup.all,8,0,step,None,None,,None,None,None,1\n\
         CommType.epoch_end,None,None,0,,None,None,,None,None,None,1\n"
    )
}

#[test]
fn lines_are_calls_of_their_groups() {
    let imported = import(&table()).expect("it is a table");
    let graph = &imported.graph;
    assert_eq!(graph.ranks(), 8);
    let counts = graph.counts();
    assert_eq!(counts[&OperationKind::Collective], 5 * 8);
    assert_eq!(counts[&OperationKind::Compute], 8);
    assert_eq!(graph.longest_stream(), Time::from_us(250));
    // One after the other.
    assert_eq!(graph.edges(), 5 * 8 + 8);
    let collectives = graph.collectives();
    let groups = |number: u32| collectives.ranks_of(collectives.get(number).0);
    assert_eq!(groups(0), [0, 1]);
    assert_eq!(groups(2), [0, 2]);
    assert_eq!(groups(3), [0, 2, 4, 6]);
    let sizes: Vec<u64> = (0..5).map(|number| collectives.get(number).2).collect();
    assert_eq!(sizes, [40, 100, 64, 128, 4]);
    let notes = imported.notes.join("\n");
    assert!(notes.contains("8 lines compute and have no"), "{notes}");
    let own = AicbSpec {
        all_gather_size: GatheredSize::Input,
        ..spec()
    };
    let imported = read(&table(), &own, &Budget::unlimited()).expect("it is a table");
    assert_eq!(imported.graph.collectives().get(1).2, 200);
}

#[test]
fn times_may_have_exponents_and_ranks_change_groups_aloud() {
    let imported = import(&table().replace(",0.25,", ",2.5e-01,")).expect("it is a table");
    assert_eq!(imported.graph.longest_stream(), Time::from_us(250));
    let calls = CallReading {
        ranks: Some(16),
        ..spec().calls
    };
    let twice = AicbSpec { calls, ..spec() };
    let imported = read(&table(), &twice, &Budget::unlimited()).expect("there are more replicas");
    let notes = imported.notes.join("\n");
    // Those of data-parallel groups, and of all ranks.
    assert!(
        notes.contains("32 collectives have another group size"),
        "{notes}"
    );
}

#[test]
fn stages_send_to_each_other() {
    let row = |kind: &str, additional: &str| {
        format!(
            "CommType.{kind},CommGroup.pp_group,1,4096,step,None,None,{additional},None,None,None,1\n"
        )
    };
    let all = "CommType.all_reduce,CommGroup.dp_group,2,16,step,None,None,,None,None,None,1\n";
    let first = format!(
        "[ pp_stage0: [rank0, rank1] ]\n{HEADER}{}{all}{}",
        row("isend", "send_next"),
        row("irecv", "recv_next")
    );
    let second = format!(
        "[ pp_stage1: [rank2, rank3] ]\n{HEADER}{}{all}{}",
        row("irecv", "recv_prev"),
        row("isend", "send_prev")
    );
    let imported = import(&format!("{first}{second}")).expect("it is a table");
    let sent: Vec<_> = imported.graph.sends().collect();
    assert_eq!(
        sent,
        [(0, 2, 4_096), (1, 3, 4_096), (2, 0, 4_096), (3, 1, 4_096)]
    );
    assert!(imported.graph.unmatched().is_empty());
    // Lines of one stage alone are those of all ranks.
    let one = first.replace("[rank0, rank1]", "[rank0, rank1, rank2, rank3]");
    let imported = import(&one).expect("it is a table");
    assert_eq!(imported.graph.counts()[&OperationKind::Collective], 4);
    assert!(
        imported.notes[0].contains("left out"),
        "{:?}",
        imported.notes
    );
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let good = table();
    for (from, to, what) in [
        (
            "CommType.broadcast",
            "CommType.cast",
            "line 3: `cast` is no kind of call",
        ),
        (
            "CommGroup.all,",
            "CommGroup.cp_group,",
            "line 9: `CommGroup.cp_group` is no group",
        ),
        (",40,", ",many,", "line 3: `many` is no size"),
        (
            "tp_group,2,100",
            "tp_group,x,100",
            "line 5: `x` is no number of ranks",
        ),
        (
            "tp_group,2,100",
            "tp_group,4,100",
            "line 5: its group has 4 ranks",
        ),
        (
            "CommGroup.all,8",
            "CommGroup.dp_group,2",
            "line 9: its group has 2 ranks, and 4 by line 8",
        ),
        (
            "CommType.epoch_end,",
            "[rank4]\nCommType.all_reduce,CommGroup.dp_group,4,8,,None,None,,None,None,None,1\nCommType.epoch_end,",
            "line 11: two sections have rank 4",
        ),
        ("ep_group,2", "ep_group,None", "give `expert`"),
        (",0.25,", ",soon,", "line 4: `soon` is no time"),
        (
            "[rank0 ~ rank7]",
            "[rank0 ~ rank6]",
            "7 ranks do not divide",
        ),
        (
            "[rank0 ~ rank7]",
            "[rank0, rank7]",
            "line 1: `[rank0, rank7]` has gaps",
        ),
        ("[rank0 ~ rank7]", "[rank0 ~ rank1048575]", "1048576 ranks"),
        ("msg_size", "size", "line 2: there is no column `msg_size`"),
    ] {
        let changed = good.replacen(from, to, 1);
        assert_ne!(changed, good, "{what}");
        let error = import(&changed).expect_err(what).to_string();
        assert!(
            error.contains(what) && error.contains("; "),
            "{what}: {error}"
        );
    }
    let error = import(HEADER).expect_err("it is empty").to_string();
    assert!(error.contains("nothing in it"), "{error}");
}

#[test]
fn mutated_tables_are_refused_or_say_something_else() {
    let good = table();
    let mut stream = Stream::new(4, "formats", "mutations");
    let mut draw = |bound: usize| stream.below(bound as u64) as usize;
    for _ in 0..1_500 {
        let mut bytes = good.as_bytes().to_vec();
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
