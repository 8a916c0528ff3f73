//! Graphs of operations: collectives as graphs, computing beside them, and what never ends.

use std::fmt::Write as _;
use std::sync::Arc;

use tenter_engine::Stream;
use tenter_formats::flow_list::{self, Flows};
use tenter_formats::{Source, chakra, goal, graph_file};
use tenter_language::units::{Budget, Time};
use tenter_results::FlowRow;
use tenter_sim::Outcome;
use tenter_sim::plan::Plan;
use tenter_testkit::{Engine, compare_plan, random_scenario};
use tenter_workload::graph::{Graph, Timing};
use tenter_workload::spec::{FlowReading, StartUnit, TraceReading};
use tenter_workload::{Operations, QueuePairScope, Traffic};

use crate::trial::plan;

/// The collectives of a plan as graphs of operations; false where one of its jobs has none.
fn as_graphs(plan: &mut Plan, timing: Timing) -> bool {
    let mut all = true;
    plan.records_operations = true;
    for job in &mut plan.jobs {
        job.queue_pair_scope = QueuePairScope::RankPair;
        let ranks = job.ranks();
        for run in &mut job.sequence {
            let passes_within = !run.traffic.within_hosts(run.size_bytes).is_zero();
            if run.traffic.collective().is_none() || run.drawn_from_bytes.is_some() || passes_within
            {
                all = false;
                continue;
            }
            let schedule = run
                .traffic
                .schedule(ranks, run.size_bytes)
                .expect("it suits");
            let graph = Graph::of_schedule(&*schedule).expect("it is a graph");
            run.traffic = Traffic::Operations(Operations {
                graph: Arc::new(graph),
                timing,
                known: None,
            });
        }
    }
    all
}

/// Who sent what to whom and when, in the order of time and ranks.
fn flows(rows: &[FlowRow]) -> Vec<(u64, u64, u32, u32, u16, u64)> {
    let flow = |of: &FlowRow| {
        let times = (of.posted.ps(), of.received.ps());
        (
            times.0,
            times.1,
            of.src_rank,
            of.dst_rank,
            of.queue_pair,
            of.payload_bytes,
        )
    };
    let mut flows: Vec<_> = rows.iter().map(flow).collect();
    flows.sort_unstable();
    flows
}

#[test]
fn collectives_as_graphs_take_as_long() {
    for (collective, algorithm) in [
        ("all-reduce", "ring"),
        ("all-reduce", "halving-doubling"),
        ("all-gather", "recursive-doubling"),
        ("reduce", "tree"),
        ("all-to-all", "parallel"),
        ("all-to-all", "pairwise"),
        ("all-gather", "ring"),
        ("broadcast", "tree"),
    ] {
        let built_in = plan(
            &format!(
                "
fabric: {{kind: leaf-spine, leaves: 4, hosts_per_leaf: 2, spines: 2}}
jobs:
  - ranks: 8
    iterations: 2
    queue_pairs: 2
    collectives: [{{collective: {collective}, algorithm: {algorithm}, size: 300000B}}]
observe: {{samples: false}}
"
            ),
            &[],
        );
        let mut as_graph = built_in.clone();
        assert!(as_graphs(&mut as_graph, Timing::default()));
        // Through a text and back again.
        for run in &mut as_graph.jobs[0].sequence {
            let Traffic::Operations(of) = &mut run.traffic else {
                panic!("it is a graph");
            };
            let mut text = String::new();
            assert_eq!(goal::write(&of.graph, &mut text), Ok(0));
            let read =
                goal::read(text.as_bytes(), &Budget::unlimited()).expect("it is what was written");
            assert_eq!(read.graph, *of.graph);
            of.graph = Arc::new(read.graph);
        }
        let run = |plan: &Plan| Engine::all(0)[1].run(plan).expect("it runs");
        let [built_in, as_graph] = [run(&built_in), run(&as_graph)];
        let name = format!("{collective} {algorithm}");
        assert_eq!(
            flows(&as_graph.rows.flows),
            flows(&built_in.rows.flows),
            "{name}"
        );
        let [one, other] = [&as_graph, &built_in].map(|of| &of.outcome.collectives);
        assert_eq!(one.len(), 2);
        for (one, other) in one.iter().zip(other) {
            assert_eq!((one.start, one.end), (other.start, other.end), "{name}");
        }
    }
}

#[test]
fn an_all_reduce_takes_as_long_in_every_format() {
    let built_in = plan(
        "
fabric: {kind: leaf-spine, leaves: 4, hosts_per_leaf: 2, spines: 2}
jobs: [{ranks: 8, collectives: [{collective: all-reduce, algorithm: ring, size: 300000B}]}]
observe: {samples: false}
",
        &[],
    );
    let schedule = built_in.jobs[0].schedules().expect("it suits").remove(0);
    let graph = Graph::of_schedule(&*schedule).expect("it is a graph");
    let run = |plan: &Plan| Engine::all(0)[1].run(plan).expect("it runs");
    let expected = run(&built_in).rows.flows;

    let mut text = String::new();
    goal::write(&graph, &mut text).expect("it is written to a text");
    let of_goal = goal::read(text.as_bytes(), &Budget::unlimited()).expect("it was written");

    let written = chakra::write(&graph).expect("it can be said");
    let sources = written.ranks.iter().map(|bytes| Source { name: "", bytes });
    let sources: Vec<Source<'_>> = sources.collect();
    let of_chakra = chakra::read(
        sources.as_slice(),
        None,
        &TraceReading::default(),
        &Budget::unlimited(),
    )
    .expect("it was written");

    let flows_of = Flows::of(&graph).expect("they are flows");
    let text = flow_list::write_htsim(&flows_of).expect("it can be said");
    let (unit, reading) = (StartUnit::Picoseconds, FlowReading::default());
    let of_htsim =
        flow_list::read_htsim(&text, unit, reading, &Budget::unlimited()).expect("it was written");

    // The starts of a run, which are exact picoseconds.
    let starts = expected.iter();
    let starts = starts.map(|row| (row.src_rank, row.dst_rank, row.payload_bytes, row.posted));
    let text = flow_list::write_ns3(&Flows::timed(8, starts)).expect("none waits");
    let of_ns3 = flow_list::read_ns3(&text, reading, &Budget::unlimited()).expect("it was written");

    let of_file =
        graph_file::read(graph_file::write(&graph), &Budget::unlimited()).expect("it was written");
    for (name, graph) in [
        ("goal", of_goal.graph),
        ("chakra", of_chakra.graph),
        ("htsim", of_htsim.graph),
        ("ns3", of_ns3.graph),
        ("own file", of_file),
    ] {
        let mut as_graph = built_in.clone();
        as_graph.jobs[0].sequence[0].traffic = Traffic::Operations(Operations {
            graph: Arc::new(graph),
            timing: Timing::default(),
            known: None,
        });
        assert_eq!(
            flows(&run(&as_graph).rows.flows),
            flows(&expected),
            "{name}"
        );
    }
}

#[test]
fn random_graphs_are_the_same_on_all_engines() {
    let mut compared = 0;
    for seed in 0..120 {
        let scenario = random_scenario(seed);
        let mut plan = scenario.plan;
        let timing = Timing {
            overhead: Time::from_ns(seed % 3 * 170),
            eager_bytes: if seed % 2 == 0 { 4_000 } else { u64::MAX },
            rendezvous: seed % 4 == 0,
            ..Timing::default()
        };
        if !as_graphs(&mut plan, timing) {
            continue;
        }
        let equal = compare_plan(&plan, seed);
        let equal = equal.unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        check_records(&equal.reference.outcome);
        compared += 1;
    }
    assert!(compared > 20, "{compared}");
}

/// Five ranks that send each other messages of three tags in random order and take them in random
/// order, some of any rank or any tag, beside computing on two streams.
fn random_text(seed: u64) -> String {
    const RANKS: u64 = 5;
    let mut draw = Stream::new(seed, "testkit", "operations");
    let mut ranks = vec![Vec::new(); RANKS as usize];
    for _ in 0..draw.below(40) + 10 {
        let [src, dst] = [(); 2].map(|()| draw.below(RANKS));
        let (tag, bytes) = (draw.below(3), draw.below(20_000));
        ranks[src as usize].push(format!(
            "send {bytes}b to {dst} tag {tag} cpu {}",
            draw.below(2)
        ));
        // One that takes anything may take what another one names: so all of a rank are alike.
        let receive = match dst {
            0 => "recv 1b from -1 tag -1".to_owned(),
            1 => format!("recv 1b from -1 tag {tag}"),
            2 => format!("recv 1b from {src} tag -1"),
            _ => format!("recv 1b from {src} tag {tag}"),
        };
        ranks[dst as usize].push(receive);
        let at = draw.below(RANKS) as usize;
        ranks[at].push(format!("calc {} cpu {}", draw.below(9_000), draw.below(2)));
    }
    let mut text = format!("num_ranks {RANKS}\n");
    for (rank, mut operations) in (0..).zip(ranks) {
        for place in (1..operations.len()).rev() {
            operations.swap(place, draw.below(place as u64 + 1) as usize);
        }
        let _ = writeln!(text, "rank {rank} {{\n{}\n}}", operations.join("\n"));
    }
    text
}

#[test]
fn messages_are_matched_alike_on_all_engines() {
    for seed in 0..40 {
        let mut plan = plan(
            &format!(
                "
fabric: {{kind: leaf-spine, leaves: 3, hosts_per_leaf: 2, spines: 2, load_balancing: {{kind: random-spray}}}}
endpoint: {{nic: {{loss_recovery: {{kind: selective-repeat, reorder: 1024}}}}}}
jobs:
  - ranks: 5
    iterations: 2
    queue_pairs: {}
    collectives: [{{collective: all-to-all, size: 1MiB}}]
observe: {{samples: false}}
",
                seed % 3 + 1
            ),
            &[],
        );
        plan.records_operations = true;
        if seed % 3 == 0 {
            plan.jobs[0].queue_pair_scope = QueuePairScope::Chunk;
        }
        let graph = goal::read(random_text(seed).as_bytes(), &Budget::unlimited())
            .expect("it is a graph")
            .graph;
        plan.jobs[0].sequence[0].traffic = Traffic::Operations(Operations {
            graph: Arc::new(graph),
            known: None,
            timing: Timing {
                overhead: Time::from_ns(seed % 4 * 90),
                eager_bytes: 10_000,
                rendezvous: seed % 2 == 0,
                ..Timing::default()
            },
        });
        let equal = compare_plan(&plan, seed);
        let equal = equal.unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        check_records(&equal.reference.outcome);
        let rows = &equal.reference.outcome.collectives;
        assert!(rows.iter().all(|row| row.end.is_some()), "seed {seed}");
    }
}

/// Paths have no gaps, and the time of a rank is all accounted for.
fn check_records(outcome: &Outcome) {
    for row in &outcome.collectives {
        // A job of a scenario has one graph; here one may have several.
        let mut others = outcome.collectives.iter();
        let (Some(end), true) = (row.end, others.all(|of| of.job != row.job || of.index == 0))
        else {
            continue;
        };
        let of = (row.job, row.iteration);
        let operations = outcome.counts.operations.iter();
        let operations = operations.filter(|row| (row.job, row.iteration) == of);
        let last = operations.filter_map(|row| row.done).max();
        let path = outcome.counts.critical_path.iter();
        let mut at = row.start;
        for part in path.filter(|row| (row.job, row.iteration) == of) {
            assert_eq!(part.from, at, "{part:?}");
            at = part.to;
        }
        assert_eq!(Some(at), last, "{of:?}");
        let ranks = outcome.counts.rank_times.iter();
        for rank in ranks.filter(|row| (row.job, row.iteration) == of) {
            let whole = rank.computing + rank.exposed + rank.idle;
            assert_eq!(whole, end - row.start, "{rank:?}");
            assert!(rank.exposed <= rank.communicating, "{rank:?}");
        }
    }
}

/// A job of two ranks that a text describes.
fn two_ranks(text: &str) -> Plan {
    let mut plan = plan(
        "
fabric: {kind: single-switch, hosts: 2}
jobs: [{ranks: 2, collectives: [{collective: send-recv, size: 1B}]}]
limits: {time: 10ms}
observe: {samples: false}
",
        &[],
    );
    plan.records_operations = true;
    let graph = goal::read(text.as_bytes(), &Budget::unlimited())
        .expect("it is a graph")
        .graph;
    plan.jobs[0].sequence[0].traffic = Traffic::Operations(Operations {
        graph: Arc::new(graph),
        timing: Timing::default(),
        known: None,
    });
    plan
}

#[test]
fn computing_hides_behind_messages_and_messages_behind_computing() {
    // 100 us of computing beside a message, then 20 us that need both.
    let text = "num_ranks 2\n\
        rank 0 { s: send 1000b to 1 }\n\
        rank 1 { r: recv 1000b from 0\n c: calc 100000 cpu 1\n last: calc 20000\n\
        last requires r\n last requires c }";
    let trial = Engine::all(0)[1].run(&two_ranks(text)).expect("it runs");
    let row = &trial.outcome.collectives[0];
    let took = row.end.expect("it ended").ps() - row.start.ps();
    assert_eq!(took, Time::from_us(120).ps());
}

#[test]
fn the_critical_path_crosses_ranks_and_streams() {
    // Rank 1 has its message while it computes 30 us, and its 5 us wait for their stream, not for
    // the message; so does what rank 0 waits for.
    let text = "num_ranks 2\n\
        rank 0 { c: calc 10000\n s: send 8000b to 1\n s requires c\n r: recv 1b from 1 }\n\
        rank 1 { busy: calc 30000\n r: recv 8000b from 0\n c: calc 5000\n c requires r\n\
        s: send 2000b to 0\n s requires c }";
    let trial = Engine::all(0)[1].run(&two_ranks(text)).expect("it runs");
    check_records(&trial.outcome);
    let path = trial.outcome.counts.critical_path.iter();
    let path: Vec<_> = path
        .map(|part| (part.kind.as_str(), part.rank, part.operation, part.peer))
        .collect();
    assert_eq!(
        path,
        [
            ("compute", 1, 0, None),
            ("compute", 1, 2, None),
            ("message", 0, 2, Some(1)),
        ]
    );
    let times = &trial.outcome.counts.rank_times;
    let us = Time::from_us;
    assert_eq!((times[0].computing, times[1].computing), (us(10), us(35)));
    // Rank 1 asks for its message while it computes; rank 0 waits from the beginning.
    assert_eq!(
        (times[0].exposed, times[1].exposed),
        (times[0].end - us(10), us(0))
    );
    assert_eq!(times[1].critical, us(35));
}

/// The flows of a trial in which rank 0 sends 64 KB to rank 1, which asks for it after a time.
fn by_rendezvous(asks_after_ns: u64) -> (Vec<FlowRow>, Outcome) {
    let text = format!(
        "num_ranks 2\nrank 0 {{ s: send 64000b to 1\n c: calc 1000\n c requires s }}\n\
         rank 1 {{ c: calc {asks_after_ns}\n r: recv 64000b from 0\n r requires c }}"
    );
    let mut plan = two_ranks(&text);
    if let Traffic::Operations(operations) = &mut plan.jobs[0].sequence[0].traffic {
        operations.timing.eager_bytes = 1_000;
        operations.timing.rendezvous = true;
    }
    let trial = Engine::all(0)[1].run(&plan).expect("it runs");
    check_records(&trial.outcome);
    let mut flows = trial.rows.flows;
    flows.sort_unstable_by_key(|flow| flow.posted);
    (flows, trial.outcome)
}

#[test]
fn a_large_message_waits_for_its_receive() {
    let us = Time::from_us;
    for (asks_after, expected) in [
        (us(0), ["message", "acknowledgement", "compute"].as_slice()),
        (
            us(50),
            ["compute", "message", "acknowledgement", "compute"].as_slice(),
        ),
    ] {
        let (flows, outcome) = by_rendezvous(asks_after.ps() / 1_000);
        let [request, clearance, message] = flows.as_slice() else {
            panic!("{flows:?}");
        };
        let ways = [request, clearance, message].map(|of| (of.src_rank, of.payload_bytes));
        assert_eq!(ways, [(0, 64), (1, 64), (0, 64_000)]);
        assert_eq!(request.posted, us(0));
        assert_eq!(clearance.posted, request.received.max(asks_after));
        assert_eq!(message.posted, clearance.received);
        let path = outcome.counts.critical_path.iter();
        let kinds: Vec<&str> = path.map(|part| part.kind.as_str()).collect();
        assert_eq!(kinds, expected);
        // The send waits for its message, then for the acknowledgement of that.
        let [.., waited, known, _] = outcome.counts.critical_path.as_slice() else {
            panic!("{kinds:?}");
        };
        assert_eq!(
            (waited.to, known.to),
            (message.received, message.acknowledged)
        );
    }
}

#[test]
fn ranks_that_wait_for_each_other_are_named() {
    let text = "num_ranks 2\n\
        rank 0 { r: recv 8b from 1 tag 4\n s: send 8b to 1 tag 3\n s requires r }\n\
        rank 1 { r: recv 8b from 0 tag 3\n s: send 8b to 0 tag 4\n s requires r }";
    let trial = Engine::all(0)[1].run(&two_ranks(text)).expect("it runs");
    let stopped = format!("{:?}", trial.outcome.summary);
    let expected = "rank 0 waits in operation 0 for a message of rank 1 with tag 4";
    assert!(stopped.contains(expected), "{stopped}");
}
