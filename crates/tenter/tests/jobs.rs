//! What the `jobs` section means beside its collectives: where ranks run, when they compute, what
//! load they are.

use tenter::resolve::{Format, Loaded, load};
use tenter_language::units::{Rate, Time};
use tenter_workload::flow_workload::{Arrivals, GapLaw};
use tenter_workload::pattern::PatternSchedule;
use tenter_workload::{JobId, Traffic};

/// Two leaves of four hosts, and jobs in flow style.
fn scenario(jobs: &str) -> String {
    format!(
        "fabric: {{kind: leaf-spine, leaves: 2, hosts_per_leaf: 4, spines: 2}}\njobs:\n{}\n",
        jobs.replace(
            "RING",
            "collectives: [{collective: all-reduce, size: 1MiB}]"
        )
    )
}

fn good(jobs: &str) -> Loaded {
    let text = scenario(jobs);
    load(&text, "x.yaml", Format::Yaml, &[], None)
        .unwrap_or_else(|errors| panic!("{text}\n{}", errors.render()))
}

fn refused(jobs: &str, expected: &str) {
    let text = scenario(jobs);
    let errors = load(&text, "x.yaml", Format::Yaml, &[], None).expect_err(expected);
    let said = errors.render();
    assert_eq!(errors.problems().len(), 1, "{text}\n{said}");
    assert!(said.contains(expected), "lacks {expected:?}\n{said}");
}

fn hosts(jobs: &str) -> Vec<Vec<u32>> {
    let loaded = good(jobs);
    // What is written out means the same again, whatever was drawn.
    let again = load(&loaded.effective, "x.yaml", Format::Yaml, &[], Some(99));
    let again = again.unwrap_or_else(|errors| panic!("{}", errors.render()));
    let of = |loaded: &Loaded| -> Vec<Vec<u32>> {
        let jobs = loaded.plan.jobs.iter();
        jobs.map(|job| job.hosts.iter().map(|host| host.number()).collect())
            .collect()
    };
    assert_eq!(of(&loaded), of(&again), "{}", loaded.effective);
    of(&loaded)
}

#[test]
fn placement_chooses_hosts() {
    assert_eq!(hosts("  - {ranks: 3, RING}"), [[0, 1, 2]]);
    assert_eq!(
        hosts("  - {ranks: 3, placement: round-robin, RING}"),
        [[0, 4, 1]]
    );
    let random = hosts("  - {ranks: 8, placement: random, RING}");
    let mut sorted = random[0].clone();
    sorted.sort_unstable();
    assert_ne!(random[0], sorted);
    assert_eq!(sorted, [0, 1, 2, 3, 4, 5, 6, 7]);
    let groups = hosts("  - {ranks: 6, placement: random-groups, group_size: 2, RING}");
    for pair in groups[0].chunks(2) {
        assert_eq!((pair[0] % 2, pair[1]), (0, pair[0] + 1));
    }
}

#[test]
fn another_job_moves_no_draw() {
    let alone = hosts("  - {name: a, ranks: 4, placement: random, RING}");
    let first = hosts(
        "  - {name: b, ranks: 4, placement: random, RING}\n  - {name: a, ranks: 4, placement: random, RING}",
    );
    assert_eq!(alone[0], first[1]);
    assert_ne!(first[0], first[1]);
}

#[test]
fn jobs_may_share_hosts_or_take_free_ones() {
    assert_eq!(
        hosts("  - {ranks: 3, RING}\n  - {ranks: 3, RING}"),
        [[0, 1, 2], [0, 1, 2]]
    );
    assert_eq!(
        hosts(
            "  - {ranks: [1, 4], RING}\n  - {ranks: 3, free_hosts: true, RING}\n  - {free_hosts: true, RING}"
        ),
        [vec![1, 4], vec![0, 2, 3], vec![5, 6, 7]]
    );
    refused(
        "  - {ranks: 6, RING}\n  - {ranks: 3, free_hosts: true, RING}",
        "3 ranks need a host each, and the jobs before leave 2 of 8 free",
    );
    refused(
        "  - {RING}\n  - {free_hosts: true, RING}",
        "2 ranks need a host each, and the jobs before leave 0 of 8 free",
    );
}

#[test]
fn what_chooses_nothing_is_refused() {
    refused(
        "  - {ranks: [0, 1], placement: random, RING}",
        "chooses hosts, and `ranks` lists them",
    );
    refused(
        "  - {ranks: 4, placement: random, group_size: 2, RING}",
        "has no effect without groups",
    );
    refused(
        "  - {ranks: 4, placement: spiral, RING}",
        "choose from packed, random, random-groups, random-leaves, round-robin",
    );
}

#[test]
fn a_job_computes_before_a_collective() {
    let jobs = "  - {collectives: [{collective: all-reduce, size: 1MiB, compute: 5us, compute_spread: 2us}]}";
    let compute = good(jobs).plan.jobs[0].sequence[0].compute;
    assert_eq!(
        (compute.mean, compute.spread),
        (Time::from_us(5), Time::from_us(2))
    );
    refused(
        &jobs.replace("2us", "6us"),
        "compute_spread` is `6us`, and `compute` only 5us",
    );
}

const TESTED: &str = "  - {name: tested, ranks: [0, 1], RING}\n";

#[test]
fn background_jobs_have_no_iterations_and_may_draw_sizes() {
    let load = "  - {ranks: [2-5], background: true, collectives: [{collective: all-to-all, sizes: {least: 1MiB, most: 4MiB, count: 3}}]}";
    let job = &good(&format!("{TESTED}{load}")).plan.jobs[1];
    assert!(job.background);
    assert_eq!((job.turns(), job.sequence.len()), (None, 3));
    let run = &job.sequence[2];
    assert_eq!(
        (run.drawn_from_bytes, run.size_bytes),
        (Some(1 << 20), 4 << 20)
    );
    hosts(&format!("{TESTED}{load}"));
    let refused_here = |jobs: &str, expected: &str| refused(&format!("{TESTED}{jobs}"), expected);
    refused_here(
        &load.replace("background: true", "iterations: 2, background: true"),
        "`jobs[1].iterations` has no effect in the background",
    );
    refused_here(
        &load.replace("most: 4MiB", "most: 4KiB"),
        "`jobs[1].collectives[0].sizes.most` is less than `least`",
    );
    refused_here(
        &load.replace("background: true", "background: false"),
        "draws sizes for a job under test",
    );
    refused(load, "all jobs are background load");
}

#[test]
fn a_job_may_have_a_class_of_its_own() {
    let jobs = "  - {ranks: [0, 1], class: 5, RING}\n  - {ranks: [2, 3], RING}";
    let classes: Vec<_> = good(jobs).plan.jobs.iter().map(|job| job.class).collect();
    assert_eq!(classes, [Some(5), None]);
    hosts(jobs);
    refused(&jobs.replace('5', "8"), "`jobs[0].class`");
}

#[test]
fn flows_name_their_hosts() {
    let load = "  - {name: noise, background: true, flows: [{from: [3, 4-5], to: 7}, {from: 7, to: 3, rate: 10Gbps}]}";
    let both = format!("{TESTED}{load}");
    assert_eq!(hosts(&both), [vec![0, 1], vec![3, 7, 4, 5]]);
    let job = good(&both).plan.jobs.remove(1);
    let Traffic::Flows(flows) = &job.sequence[0].traffic else {
        panic!("{job:?}");
    };
    let flows: Vec<_> = flows
        .iter()
        .map(|flow| (flow.src, flow.dst, flow.rate))
        .collect();
    let gbps = Rate::from_gbps;
    assert_eq!(
        flows,
        [
            (0, 1, gbps(400)),
            (2, 1, gbps(400)),
            (3, 1, gbps(400)),
            (1, 0, gbps(10))
        ]
    );
    assert_eq!(job.sequence[0].size_bytes, 128 << 10);
    let refused_here = |from: &str, to: &str, expected: &str| {
        refused(&format!("{TESTED}{}", load.replace(from, to)), expected);
    };
    refused_here(
        "background: true, ",
        "",
        "never end, so they cannot be judged",
    );
    refused_here("to: 3", "to: 7", "a flow goes from a host to itself");
    refused_here("to: 3", "to: 30", "there is no host `30`");
    refused_here(
        "name: noise",
        "ranks: 4",
        "`jobs[1].ranks` has no effect on `flows`",
    );
    refused_here(
        "flows: [",
        "collectives: [], flows: [",
        "exclude each other",
    );
    refused(
        "  - {name: idle}",
        "lacks `collectives`, `flows`, `workload` or `pattern`",
    );
}

const FLOWS: &str = "  - {name: web, workload: {sizes: 4KiB, pairs: [{from: [3, 4-5], to: 7, parallel: 2}, {from: 3, to: 7}], flows: 9}}";

#[test]
fn workloads_of_flows_name_their_hosts() {
    assert_eq!(hosts(FLOWS), [vec![3, 7, 4, 5]]);
    let job = good(FLOWS).plan.jobs.remove(0);
    let workload = job.sequence[0]
        .traffic
        .flow_workload()
        .expect("one of flows");
    let ways: Vec<_> = workload
        .ways
        .iter()
        .map(|way| (way.src, way.dst, way.parallel))
        .collect();
    assert_eq!(ways, [(0, 1, 3), (2, 1, 2), (3, 1, 2)]);
    assert_eq!((workload.flows, workload.duration), (Some(9), None));
    assert_eq!(workload.sizes.draw(1 << 63), 4_096);
}

#[test]
fn laws_are_named_or_written_down() {
    let distribution = |sizes: &str| {
        let job = FLOWS.replace("sizes: 4KiB", sizes);
        let plan = good(&job).plan;
        let workload = plan.jobs[0].sequence[0].traffic.flow_workload().cloned();
        workload.expect("one of flows").sizes
    };
    let mean = distribution("sizes: facebook-hadoop-homa").mean();
    assert!((mean / 127_796.6 - 1.0).abs() < 1e-4, "{mean}");
    let points = "points: [{size: 0B, cumulative: 0}, {size: 100B, cumulative: 0.5}, {size: 300B, cumulative: 1}]";
    let steps = distribution(points).mean();
    assert!((steps - 200.0).abs() < 1e-6, "{steps}");
    let lines = distribution(&format!("{points}, between: lines")).mean();
    assert!((lines - 125.0).abs() < 1e-6, "{lines}");
    let refused_here = |sizes: &str, expected: &str| {
        refused(&FLOWS.replace("sizes: 4KiB", sizes), expected);
    };
    refused_here("sizes: facebook-hadop-homa", "did you mean");
    refused_here("sizes: 0B", "`jobs[0].workload.sizes`");
    refused_here(
        "sizes: 4KiB, between: lines",
        "has no effect without `points`",
    );
    refused_here("points: []", "make no distribution");
    refused_here(&points.replace("0.5", "1.5"), "cannot be `1.5`");
    refused_here(
        &points.replace("100B", "400B"),
        "point 3 of the distribution is below",
    );
    refused_here(
        &points.replace("cumulative: 1}", "cumulative: 0.9}"),
        "is not 1",
    );
    let both = "sizes: 4KiB, points: [{size: 1B, cumulative: 1}]";
    refused_here(both, "exclude each other");
}

#[test]
fn workloads_of_flows_are_refused_where_they_cannot_be() {
    let refused_here = |from: &str, to: &str, expected: &str| {
        refused(&FLOWS.replace(from, to), expected);
    };
    refused_here(", flows: 9", "", "never ends");
    refused_here("flows: 9", "flows: 0", "`jobs[0].workload.flows`");
    refused_here("to: 7}]", "to: 3}]", "a host and itself");
    refused_here("to: 7}]", "to: 30}]", "there is no host `30`");
    refused_here(
        "parallel: 2",
        "parallel: 2000000",
        "`jobs[0].workload.pairs[0].parallel`",
    );
    refused_here("parallel: 2", "parallel: 1000000", "flows at a time");
    refused_here(
        "name: web",
        "ranks: 4",
        "`jobs[0].ranks` has no effect beside `workload`",
    );
    refused_here(
        "name: web",
        "background: true",
        "has no effect beside `workload`",
    );
    refused_here(
        "name: web",
        "collectives: []",
        "has no effect beside `workload`",
    );
}

#[test]
fn open_loops_have_a_load() {
    let open = FLOWS.replace("flows: 9", "flows: 9, arrivals: poisson, load: 0.5");
    let mut job = good(&open).plan.jobs.remove(0);
    let run = job.sequence.remove(0);
    let workload = run.traffic.flow_workload().expect("one of flows");
    let Arrivals::EachSender { gaps, means, .. } = &workload.arrivals else {
        panic!("{workload:?}");
    };
    assert_eq!(
        (*gaps, workload.ways[0].parallel),
        (GapLaw::Exponential, 2 + 8)
    );
    // One frame of 4,096 + 78 bytes, the last of its message, and 20 of gap: at 400 Gb/s 83.88 ns.
    let mean = means[0].ps();
    assert_eq!(mean, 167_760);
    let incasts = open.replace("load: 0.5", "load: 0.5, fan_in: 3");
    let job = good(&incasts).plan.jobs.remove(0);
    let workload = job.sequence[0]
        .traffic
        .flow_workload()
        .expect("one of flows");
    let Arrivals::Incasts { mean, degree, .. } = workload.arrivals else {
        panic!("{workload:?}");
    };
    // Three senders make three flows as often as each makes one.
    assert_eq!((mean.ps(), degree), (167_760, 3));
    let refused_here = |from: &str, to: &str, expected: &str| {
        refused(&open.replace(from, to), expected);
    };
    refused_here(", load: 0.5", "", "lacks `load`");
    refused_here("load: 0.5", "load: 0", "is nothing");
    refused_here("load: 0.5", "load: 1.5", "cannot be `1.5`");
    refused_here(
        "load: 0.5",
        "load: 0.5, sigma: 1",
        "has no effect with these `arrivals`",
    );
    refused_here(
        "load: 0.5",
        "load: 0.5, fan_in: 4",
        "a fan-in of 4 needs as many senders",
    );
    refused_here("poisson", "poison", "did you mean");
    refused_here(
        "arrivals: poisson, ",
        "",
        "has no effect with these `arrivals`",
    );
    refused_here(
        "poisson, load",
        "log-normal, sigma: 9, load",
        "from 0.01 to 4",
    );
}

#[test]
fn a_job_starts_after_another_wherever_that_stands() {
    let jobs = "  - {name: a, RING, start: {after: c, delay: 1ms}}
  - {name: b, RING, start: 3us}
  - {name: c, RING, start: {after: b}}";
    let check = |loaded: &Loaded| {
        let starts = loaded.plan.jobs.iter().map(|job| (job.after, job.start));
        let expected = [
            (Some(JobId::new(2)), Time::from_us(1_000)),
            (None, Time::from_us(3)),
            (Some(JobId::new(1)), Time::from_us(10)),
        ];
        assert!(starts.eq(expected));
    };
    let loaded = good(jobs);
    check(&loaded);
    check(&load(&loaded.effective, "x.yaml", Format::Yaml, &[], None).expect("it is a scenario"));
}

#[test]
fn a_job_waits_for_one_that_ends() {
    let one = "  - {name: a, RING, start: {after: ";
    refused(&format!("{one}b}}}}"), "there is no job called `b`");
    refused(&format!("{one}a}}}}"), "`a` waits for its own end");
    refused(
        &format!(
            "{one}b}}}}\n  - {{name: b, RING, start: {{after: c}}}}\n  - {{name: c, RING, start: {{after: b}}}}"
        ),
        "waits for its own end",
    );
    refused(
        &format!("{one}b}}}}\n  - {{name: b, background: true, RING}}"),
        "`b` is background load, which does not end before the others",
    );
    refused(
        &format!("{one}b, delay: 1us}}}}\n  - {{name: b, RING}}"),
        "`jobs[0].start.delay` is `1us`: the end of a job takes effect no sooner",
    );
    refused(
        "  - {RING, start: {delay: 5us}}",
        "`jobs[0].start` lacks `after`",
    );
    refused("  - {RING, start: soon}", "`jobs[0].start`");
}

/// A ring of four in which rank 0 sends thrice as much to 1, and two that hear from one only.
const DEMAND: &str = "  - {name: web, ranks: [host4, 0, 2-3, 7, 6], workload: {sizes: 4KiB, arrivals: poisson, load: 0.5, pattern: {kind: matrix, sends: '0 1 3000; 1 2 1000; 2 3 1000; 3 0 1000; 4 0 2000; 0 5 0'}, flows: 9}}";

#[test]
fn flows_follow_a_pattern() {
    assert_eq!(hosts(DEMAND), [vec![4, 0, 2, 3, 7, 6]]);
    let mut job = good(DEMAND).plan.jobs.remove(0);
    let run = job.sequence.remove(0);
    let workload = run.traffic.flow_workload().expect("one of flows");
    let weights = workload.weights().expect("those of the matrix");
    let ways = workload.ways.iter().enumerate();
    let ways = ways.map(|(index, way)| (way.src, way.dst, way.parallel, weights.of(index)));
    // A message without bytes is no flow.
    let expected = [
        (0, 1, 8, 3_000),
        (1, 2, 8, 1_000),
        (2, 3, 8, 1_000),
        (3, 0, 8, 1_000),
        (4, 0, 8, 2_000),
    ];
    assert_eq!(ways.collect::<Vec<_>>(), expected);
    let Arrivals::EachSender { means, .. } = &workload.arrivals else {
        panic!("{workload:?}");
    };
    // Ranks 0 and 1 send and receive most, 3,000 of 8,000, and half the rate of their NICs: a
    // flow, 83.88 ns on the wire, each 167.76 ns.
    let ps = means.iter().take(5).map(|mean| mean.ps());
    assert_eq!(
        ps.collect::<Vec<_>>(),
        [167_760, 503_280, 503_280, 503_280, 251_640]
    );
    // Where a receiver has more than any sender, it is what counts.
    let incast = DEMAND.replace("0 1 3000", "0 2 3000");
    let workload = good(&incast).plan.jobs.remove(0).sequence.remove(0);
    let workload = workload.traffic.flow_workload().cloned();
    let workload = workload.expect("one of flows");
    let Arrivals::EachSender { means, .. } = &workload.arrivals else {
        panic!("{workload:?}");
    };
    // 4,000 to rank 2.
    assert_eq!((means[0].ps(), means[1].ps()), (223_680, 671_040));
}

#[test]
fn senders_may_be_alike() {
    let alike = DEMAND
        .replace("load: 0.5,", "load: 0.5, senders: alike,")
        .replace("'0 1 3000;", "'0 1 2000; 0 4 1000;");
    let workload = good(&alike).plan.jobs.remove(0).sequence.remove(0);
    let workload = workload.traffic.flow_workload().cloned();
    let workload = workload.expect("one of flows");
    let weights = workload.weights().expect("those of the matrix");
    let whole = 1 << 40;
    let all: Vec<u64> = (0..6).map(|way| weights.of(way)).collect();
    // A row's parts as in the matrix; rows alike, whatever their bytes.
    assert_eq!(all[0], whole * 2 / 3);
    assert_eq!(all[1], whole / 3);
    assert_eq!(all[2..], [whole; 4]);
    let Arrivals::EachSender { means, .. } = &workload.arrivals else {
        panic!("{workload:?}");
    };
    // Half the rate of each NIC, though rank 0 receives from two that do.
    for mean in &means[..5] {
        assert!(mean.ps().abs_diff(167_760) <= 1, "{means:?}");
    }
    let pairs = "  - {name: web, workload: {sizes: 1KiB, senders: alike, pairs: [{from: 0, to: 1}], flows: 1}}";
    refused(pairs, "`jobs[0].workload.senders` has no effect");
    refused(
        &DEMAND.replace("load: 0.5,", "load: 0.5, senders: all,"),
        "cannot be `all`",
    );
}

/// The same with another pattern, and other ranks.
fn demand(pattern: &str, ranks: &str) -> String {
    let from = DEMAND.find("{kind").expect("a mapping");
    let to = DEMAND.find('}').expect("its end") + 1;
    DEMAND
        .replace(&DEMAND[from..to], pattern)
        .replace("ranks: [host4, 0, 2-3, 7, 6]", ranks)
}

#[test]
fn patterns_of_flows_are_those_of_applications() {
    let weights = |text: &str| {
        let plan = good(text).plan;
        let workload = plan.jobs[0].sequence[0].traffic.flow_workload();
        let workload = workload.expect("one of flows");
        let weights = workload.weights().expect("those of the matrix");
        let ways = workload.ways.iter().enumerate();
        let ways = ways.map(|(index, way)| (way.src, way.dst, weights.of(index)));
        ways.collect::<Vec<_>>()
    };
    // The same draws as a job with the pattern has.
    let amr = "{kind: amr, partners: 4}";
    let job = format!("  - {{name: web, ranks: 6, pattern: {amr}}}");
    let plan = good(&job).plan;
    let matrix = plan.jobs[0].sequence[0]
        .traffic
        .pattern()
        .map(PatternSchedule::matrix);
    let matrix: Vec<_> = matrix.expect("a pattern").iter().collect();
    assert_eq!(weights(&demand(amr, "ranks: 6")), matrix);
    // The effective configuration says the same again, and where the ranks are.
    let scattered = demand("{kind: milc}", "ranks: 6, placement: random");
    let effective = good(&scattered).effective;
    for key in ["steps", "compute", "regrid", "queue_pairs"] {
        assert!(!effective.contains(&format!("{key}:")), "{effective}");
    }
    assert!(
        !effective.contains("placement") && effective.contains("ranks:"),
        "{effective}"
    );
    let again = load(&effective, "x.yaml", Format::Yaml, &[], None);
    let again = again.expect("it is a scenario").plan;
    assert_eq!(again.jobs, good(&scattered).plan.jobs);
}

#[test]
fn patterns_of_flows_are_refused_where_they_cannot_be() {
    let refused_here = |pattern: &str, expected: &str| {
        refused(&demand(pattern, "ranks: 6"), expected);
    };
    refused_here(
        "{kind: milc, steps: 2}",
        "`jobs[0].workload.pattern.steps` has no effect",
    );
    refused_here(
        "{kind: milc, compute: 1us}",
        "has no effect in a workload of flows",
    );
    refused_here(
        "{kind: amr, regrid: 0}",
        "has no effect in a workload of flows",
    );
    refused_here("{kind: milc, regrid: 0}", "unknown key");
    refused_here("{kind: milc, grid: 2x2x2x2}", "is not for 6 ranks");
    refused_here("{kind: matrix, sends: 0 1 0}", "sends nothing");
    refused_here("{kind: milc}, parallel: 100000", "queue pairs: ");
    refused_here("{kind: milc}, fan_in: 2", "has a `fan_in` and a `pattern`");
    refused_here(
        "{kind: milc}, pairs: [{from: 0, to: 1}]",
        "exclude each other",
    );
    let milc = demand("{kind: milc}", "ranks: 6");
    refused(&milc.replace("flows: 9", "duration: 100s"), "numbers for");
    refused(
        &milc.replace("flows: 9", "flows: 3000000000"),
        "numbers for",
    );
    refused(
        &milc.replace("arrivals: poisson, load: 0.5, ", ""),
        "is for an open loop",
    );
    refused(
        &milc.replace("ranks: 6", "gap: 5us"),
        "has no effect beside `workload`",
    );
    let pairs = FLOWS.replace("flows: 9", "flows: 9, parallel: 3");
    refused(
        &pairs,
        "`jobs[0].workload.parallel` has no effect beside `pairs`",
    );
    let nobody = "  - {name: web, workload: {sizes: 4KiB, flows: 9}}";
    refused(nobody, "lacks `pairs` or `pattern`");
}
