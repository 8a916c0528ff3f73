//! Requests to a model in the whole simulation.

use tenter_language::units::Time;

use crate::trial::Trial;

/// A model of two layers on two hosts of two NPUs, a byte a nanosecond within a host: one prefills,
/// the other one decodes.
const HOSTS: &str = "
fabric: {kind: single-switch, hosts: 4}
endpoint: {host: {scale_up: {npus_per_host: 2, rate: 8Gbps, latency: 3us}}}
jobs:
  - workload:
      kind: inference
      model: {layers: 2, hidden: 64, heads: 8, ffn: 128, vocabulary: 64}
      pools: {prefill: {tp: 2}, decode: {tp: 2}}
      requests: {concurrency: 1, count: 1, prompt_tokens: 100000, output_tokens: 4}
observe: {samples: false}
";

/// Five all-reduces of 100,000 tokens of 128 bytes in rings of two, in 13 parts of up to 8,192
/// tokens, and one of 8 bytes: two steps each, of half the bytes and 3 us. Then each rank sends
/// 100,000 tokens of two layers with four heads, 2 · 4 · 2 · 8 · 2 bytes, at 400 Gbit/s: headers
/// and delays are at most 4 % of it.
#[test]
fn a_request_alone_has_its_first_token_behind_prefill_and_transfer_at_line_rate() {
    let trial = Trial::run(HOSTS, &[]);
    let [request] = trial.outcome.counts.requests.as_slice() else {
        panic!("there is one request");
    };
    let [prefill, decode] = trial.outcome.summary.inference_pools.as_slice() else {
        panic!("there are two pools");
    };
    assert_eq!(request.prefill_start, request.arrival);
    let rings = Time::from_ns(5 * 2 * (6_400_000 + 13 * 3_000) + 2 * 3_004);
    assert_eq!(prefill.tensor, rings);
    assert_eq!(
        request.prefill_end - request.prefill_start,
        prefill.compute + rings
    );
    let transfer = request.ttft - (prefill.compute + rings);
    let at_line_rate = Time::from_ns(100_000 * 256 * 8 / 400);
    assert!(transfer > at_line_rate, "{transfer} {at_line_rate}");
    assert!(
        transfer.ps() < at_line_rate.ps() * 104 / 100,
        "{transfer} {at_line_rate}"
    );
    // Three tokens, each behind five all-reduces of 128 bytes and one of 8.
    let rings = Time::from_ns(3 * (5 * 2 * 3_064 + 2 * 3_004));
    assert_eq!(decode.tensor, rings);
    assert_eq!(request.end - request.first_token, decode.compute + rings);
    assert_eq!(request.decode_start, Some(request.first_token));
    let tpot = request.tpot.map(Time::ps);
    assert_eq!(tpot, Some((decode.compute + rings).ps() / 3));
}

/// Tokens and the bytes over the network are those of the formulas: with stages, replicas, and
/// experts on all ranks of a stage.
#[test]
fn tokens_and_bytes_of_pools_are_those_of_the_formulas() {
    let apart = [
        "endpoint.host=default",
        "jobs[0].workload.model.experts=4",
        "jobs[0].workload.pools.prefill.tp=1",
        "jobs[0].workload.pools.prefill.pp=2",
        "jobs[0].workload.pools.decode.tp=1",
        "jobs[0].workload.pools.decode.dp=2",
        "jobs[0].workload.pools.decode.ep=2",
        "jobs[0].workload.requests.concurrency=3",
        "jobs[0].workload.requests.count=9",
        "jobs[0].workload.requests.prompt_tokens=200",
    ];
    let trial = Trial::run(HOSTS, &apart);
    let summary = &trial.outcome.summary;
    let [prefill, decode] = &summary.inference_pools[..] else {
        panic!("there are two pools");
    };
    assert_eq!((prefill.prompt_tokens, prefill.decode_tokens), (9 * 200, 0));
    assert_eq!((decode.prompt_tokens, decode.decode_tokens), (0, 9 * 3));
    assert!(decode.expert > Time::ZERO && prefill.pipeline > Time::ZERO);
    let row = &summary.inference[0];
    assert_eq!(
        (row.requests, row.prompt_tokens, row.output_tokens),
        (9, 1_800, 36)
    );
    // Keys and values of two layers with eight heads, and the first token from the last stage.
    assert_eq!(row.kv_network, 9 * (200 * 2 * 8 * 2 * 8 * 2 + 4));
    assert_eq!((row.tensor_network, row.kv_within), (0, 0));
    for request in &trial.outcome.counts.requests {
        assert!(request.arrival <= request.prefill_start);
        assert!(Some(request.first_token) == request.kv_end);
        assert!(Some(request.first_token) <= request.decode_start);
    }
}

/// Two replicas of two stages compute ten requests that arrive long after each other: each stage
/// moves the weights of a layer for half of them and is idle otherwise.
#[test]
fn stages_without_requests_are_idle_and_have_no_bubble() {
    let few = [
        "endpoint.host=default",
        "jobs[0].workload.pools=default",
        "jobs[0].workload.pp=2",
        "jobs[0].workload.requests.concurrency=default",
        "jobs[0].workload.requests.rate=100",
        "jobs[0].workload.requests.count=10",
        "jobs[0].workload.requests.prompt_tokens=1",
        "jobs[0].workload.requests.output_tokens=1",
        "jobs[0].workload.accelerator={flops: 1000TFLOPS, memory_bandwidth: 8Gbps, memory: 80GB}",
    ];
    let trial = Trial::run(HOSTS, &few);
    let [pool] = trial.outcome.summary.inference_pools.as_slice() else {
        panic!("there is one pool");
    };
    // Matrices of 2 (k + n + k n) bytes, and 4 or 6 bytes of an element elsewhere, at a byte a
    // nanosecond.
    let matrix = |k: u64, n: u64| 2 * (k + n + k * n);
    let (h, f) = (64, 128);
    let attention = 4 * h + 4 * matrix(h, h) + 2 * 2 * h + 2 * 2 * h + 6 * h;
    let dense = 4 * h + matrix(h, 2 * f) + 6 * f + matrix(f, h) + 6 * h;
    let ends = 4 * h + (4 * h + matrix(h, 64) + 2 * 64);
    let of_request = 2 * (attention + dense) + ends;
    let compute = Time::from_ns(5 * of_request / 2);
    let off = pool.compute.ps().abs_diff(compute.ps());
    assert!(off <= 100, "{} {compute}", pool.compute);
    // Each stage of a request lets the other one wait, and messages take a few microseconds.
    let busy = Time::from_ns(2 * 10 * (of_request + 10_000));
    assert!(pool.bubble + pool.pipeline < busy, "{} {busy}", pool.bubble);
    let last = trial.outcome.counts.requests[9].arrival;
    assert!(pool.idle + busy > last, "{} {last}", pool.idle);
    assert!(pool.idle < pool.duration - pool.compute, "{}", pool.idle);
}

/// Ranks without anything to do do not keep others from their results: two replicas of which no
/// user has the second, and a pool that decodes where all answers have one token.
#[test]
fn idle_ranks_leave_results() {
    let common = ["jobs[0].workload.requests.prompt_tokens=100"];
    let of = |keys: &[&str]| {
        let keys: Vec<&str> = common.iter().chain(keys).copied().collect();
        let trial = Trial::run(HOSTS, &keys);
        assert_eq!(trial.outcome.counts.requests.len(), 1);
        trial.outcome.summary.inference_pools.clone()
    };
    let [pool] = &of(&["jobs[0].workload.pools=default", "jobs[0].workload.tp=2"])[..] else {
        panic!("there is one pool");
    };
    assert_eq!((pool.ranks, pool.replicas), (4, 2));
    let half = pool.duration.ps().div_ceil(2);
    let busy = pool.compute + pool.tensor;
    assert!(busy.ps().abs_diff(half) <= 4, "{busy} {half}");
    assert!(pool.idle.ps().abs_diff(half) <= 4, "{} {half}", pool.idle);
    let [_, decode] = &of(&["jobs[0].workload.requests.output_tokens=1"])[..] else {
        panic!("there are two pools");
    };
    assert_eq!(decode.idle, decode.duration);
    assert_eq!((decode.compute, decode.batches), (Time::ZERO, 0));
}

/// In an open loop requests arrive when they do; a pool that is too slow for them lets them queue.
#[test]
fn requests_of_an_open_loop_queue() {
    let open = |rate: &str| {
        let rate = format!("jobs[0].workload.requests.rate={rate}");
        let keys = [
            rate.as_str(),
            "jobs[0].workload.requests.count=20",
            "jobs[0].workload.requests.prompt_tokens=100",
        ];
        let trial = Trial::run(HOSTS, &keys);
        let rows = &trial.outcome.counts.requests;
        assert!(rows.is_sorted_by_key(|row| row.arrival));
        trial.outcome.summary.inference[0].clone()
    };
    let [slow, fast] = ["10", "1000000"].map(open);
    assert!(
        slow.queueing_mean < Time::from_us(20),
        "{}",
        slow.queueing_mean
    );
    assert!(
        fast.queueing_mean > Time::from_us(50),
        "{}",
        fast.queueing_mean
    );
    assert!(slow.planned.is_some());
}
