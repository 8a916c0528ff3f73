//! Steps of trainings in the whole simulation.

use tenter_language::units::Time;

use crate::trial::Trial;

/// A model of two layers on four NPUs of a host, a byte a nanosecond among them.
const HOST: &str = "
fabric: {kind: single-switch, hosts: 8}
endpoint: {host: {scale_up: {npus_per_host: 4, rate: 8Gbps, latency: 3us}}}
jobs:
  - ranks: 4
    iterations: 2
    workload:
      kind: training
      model: {layers: 2, hidden: 64, heads: 8, ffn: 128, vocabulary: 64, sequence: 64}
      tp: 4
      batch: 1
      layer_forward: 10us
      layer_backward: 20us
observe: {samples: false}
";

/// 24 all-gathers and reduce-scatters of 64 tokens of 128 bytes in rings: three steps of 2,048 ns
/// and 3 us each. The parts of the loss (768 bytes) and the norms (1,024 bytes) are all-reduced in
/// six steps of a quarter.
#[test]
fn tensor_parallel_ranks_wait_for_their_rings() {
    let trial = Trial::run(HOST, &[]);
    let steps = &trial.outcome.summary.training_steps;
    assert_eq!(steps.len(), 2);
    for step in steps {
        let rings = 24 * 3 * 5_048 + 6 * (3_192 + 3_256);
        assert_eq!(step.tensor, Time::from_ns(rings));
        assert_eq!(step.step, step.compute + step.tensor);
        assert_eq!(step.bubble, Time::ZERO);
        let bytes = 3 * (24 * 8_192 + 2 * 768 + 2 * 1_024);
        assert_eq!((step.tensor_within, step.tensor_network), (bytes, 0));
        assert_eq!((step.tokens, step.warm_up), (64, false));
    }
    assert_eq!(trial.outcome.counts.training_ranks.len(), 8);
}

/// Eight experts of which each token takes four, on two hosts of four: kernels that go by way of
/// hosts send a token over the network once, where all-to-alls send two choices on average.
#[test]
fn experts_by_way_of_hosts_cross_the_network_less() {
    let experts = [
        "jobs[0].ranks=8",
        "jobs[0].workload.tp=1",
        "jobs[0].workload.batch=8",
        "jobs[0].workload.ep=8",
        "jobs[0].workload.model.experts=8",
        "jobs[0].workload.model.top_k=4",
    ];
    let of = |algorithm: &str| {
        let exchange = format!("jobs[0].workload.expert_exchange={{algorithm: {algorithm}}}");
        let mut sets = experts.to_vec();
        sets.push(&exchange);
        let trial = Trial::run(HOST, &sets);
        let step = &trial.outcome.summary.training_steps[1];
        (step.expert_network, step.expert_within, step.expert)
    };
    // Two layers, forward and backward, there and back: 64 tokens of 128 bytes at each rank.
    let tokens = 2 * 2 * 2 * 8 * 64 * 128;
    let (network, within, time) = of("all-to-all");
    assert_eq!((network, within), (4 * tokens / 2, 4 * tokens * 3 / 8));
    let low = of("low-latency");
    assert_eq!((low.0, low.1), (network, within));
    // The launch of a kernel is in each of eight exchanges.
    assert!(low.2 > time, "{} {time}", low.2);
    // All but 2·C(4, 4)/C(8, 4) = 2/70 of the tokens need both hosts, and each needs four ranks.
    let normal = of("normal");
    assert!(
        normal.0.abs_diff(tokens * 69 / 70) < tokens / 1_000,
        "{} {tokens}",
        normal.0
    );
    assert!(normal.1 > within && normal.1 < 4 * tokens, "{}", normal.1);
}

/// The same model in two stages and two replicas on a network: what the ranks did adds up to the
/// step, and the bytes over the network are those of the formulas.
#[test]
fn what_a_step_consists_of_adds_up() {
    let on_network = [
        "endpoint.host=default",
        "jobs[0].workload.tp=1",
        "jobs[0].workload.pp=2",
        "jobs[0].workload.batch=8",
    ];
    let trial = Trial::run(HOST, &on_network);
    let step = &trial.outcome.summary.training_steps[1];
    let exposed = step.tensor + step.expert + step.context + step.pipeline + step.data;
    assert_eq!(step.step, step.compute + exposed + step.bubble);
    assert!(step.pipeline > Time::ZERO && step.data > Time::ZERO);
    // Four micro-batches there and back at two replicas.
    assert_eq!(step.pipeline_network, 2 * 2 * 4 * 8_192);
    // A replica has 2 · (4 h² + 3 · 128 h + 2 h) + 2 · 64 h weights: 4 bytes summed and 2 gathered.
    let weights = 2 * (4 * 64 * 64 + 3 * 128 * 64 + 2 * 64) + 2 * 64 * 64;
    assert_eq!(step.data_network, 6 * weights);
    for rank in &trial.outcome.counts.training_ranks {
        let exposed = rank.tensor + rank.expert + rank.context + rank.pipeline + rank.data;
        assert_eq!(rank.compute + exposed + rank.bubble, step.step);
    }
}
