//! Inferences against formulas: iterations by the roofline, times to first token, bytes of each
//! parallelism, and what batches are made of.

use std::collections::BTreeMap;
use std::sync::Arc;

use tenter_config::{Words, default_with};
use tenter_units::{Rate, Time};

use super::batches::Scheduler;
use super::*;
use crate::graph::{GraphSchedule, Metered, Timing, toy_network};
use crate::training::Precision;
use crate::transformer::{Accelerator, Model, NamedAccelerator, NamedModel, Stream};

/// Bytes of a microsecond at the rate of the memory.
const BYTES_OF_US: f64 = 1e6;

fn requests(users: u32, count: u32, [prompt, output]: [TokenCounts; 2]) -> RequestsSpec {
    RequestsSpec {
        rate: None,
        concurrency: Some(users),
        count,
        prompt_tokens: prompt,
        output_tokens: output,
    }
}

/// A model on an accelerator that computes at once, and whose memory has 1 TB/s.
fn spec(model: &[(&str, &str)], requests: RequestsSpec) -> InferenceSpec {
    let small = [
        ("layers", "4"),
        ("hidden", "64"),
        ("heads", "8"),
        ("kv_heads", "4"),
        ("ffn", "128"),
        ("vocabulary", "64"),
    ];
    let others = small
        .iter()
        .filter(|(key, _)| !model.iter().any(|(own, _)| own == key));
    let keys: Vec<(&str, &str)> = others.chain(model).copied().collect();
    let accelerator = default_with(&[
        ("flops", "100000PFLOPS"),
        ("fp8_flops", "100000PFLOPS"),
        ("memory_bandwidth", "8000Gbps"),
        ("memory", "80GB"),
    ]);
    InferenceSpec {
        accelerator: Accelerator::Mapping(accelerator),
        ..InferenceSpec::new(Model::Mapping(default_with(&keys)), requests)
    }
}

fn reach() -> Reach {
    Reach {
        within: None,
        network: Rate::from_gbps(400),
    }
}

fn inference(spec: &InferenceSpec, ranks: Option<u32>) -> Inference {
    Inference::new(spec, ranks, (7, reach())).expect("its numbers fit together")
}

/// Times of marked operations on a network on which a transfer takes a time by its bytes.
struct Timed {
    run: InferenceRun,
    metered: Vec<Metered>,
    end: u64,
}

impl Timed {
    fn new(of: &Inference, takes: impl Fn(u64) -> u64) -> Timed {
        let (graph, run) = graph(of).expect("it can be made");
        let (end, metered) = toy_network::run((graph, Arc::clone(&run.marks)), takes);
        Timed { run, metered, end }
    }

    fn at(&self, at: At) -> (u64, u64) {
        let marks = &self.run.marks[at.rank as usize];
        let place = marks.binary_search(&at.operation).expect("it is marked");
        self.metered[at.rank as usize].marks[place]
    }
}

/// Bytes that the memory of a rank moves in an iteration that decodes one token, which sees
/// `context` tokens, itself among them: 2 (k + n + k n) of a matrix, 4 or 6 of an element of
/// normalisations and sums.
fn bytes_of_step(context: f64, tp: f64) -> f64 {
    let (h, f, d, heads, kv) = (64.0, 128.0 / tp, 8.0, 8.0 / tp, 4.0 / tp);
    let matrix = |k: f64, n: f64| 2.0 * (k + n + k * n);
    let attention = 4.0 * h
        + matrix(h, heads * d)
        + 2.0 * matrix(h, kv * d)
        + 2.0 * (heads * 2.0 * d)
        + 2.0 * (2.0 * kv * d) * context
        + matrix(heads * d, h)
        + 6.0 * h;
    let dense = 4.0 * h + matrix(h, 2.0 * f) + 6.0 * f + matrix(f, h) + 6.0 * h;
    let head = 4.0 * h + matrix(h, 64.0 / tp) + 2.0 * 64.0 / tp;
    4.0 * h + 4.0 * (attention + dense) + head
}

#[test]
fn a_decode_step_takes_the_bytes_of_the_roofline_on_a_network_that_takes_no_time() {
    let tokens = [100, 9].map(TokenCounts::One);
    let spec = InferenceSpec {
        tp: 2,
        ..spec(&[], requests(1, 1, tokens))
    };
    let timed = Timed::new(&inference(&spec, Some(2)), |_| 0);
    let [begin, end] = timed.run.requests[0].decode.expect("it decodes");
    let took = timed.at(end).1 - timed.at(begin).0;
    // Eight steps behind the first token see 101 to 108 tokens.
    let expected: f64 = (101..=108)
        .map(|context| bytes_of_step(f64::from(context), 2.0))
        .sum();
    let off = (took as f64 - expected / BYTES_OF_US * 1e6).abs();
    // Computing is cut where ranks communicate, and each part rounded to a picosecond.
    assert!(off <= 0.5 * 8.0 * 10.0, "{took} {expected}");
    assert_eq!(timed.metered[0].computing, timed.end);
}

/// Keys and values of 100 tokens of four layers with two heads at each of two ranks: 2 · 4 · 2 ·
/// 8 · 2 bytes of a token.
#[test]
fn a_request_alone_has_its_first_token_behind_prefill_and_transfer() {
    let tokens = [100, 3].map(TokenCounts::One);
    let pool = |pp| PoolSpec {
        tp: 2,
        pp,
        dp: 1,
        ep: 1,
        max_batch: None,
    };
    for stages in [1, 2] {
        let spec = InferenceSpec {
            pools: Some(PoolsSpec {
                prefill: pool(1),
                decode: pool(stages),
            }),
            ..spec(&[], requests(1, 1, tokens.clone()))
        };
        let of = inference(&spec, None);
        let takes = |bytes: u64| 1_000_000 + 20 * bytes;
        let timed = Timed::new(&of, takes);
        let request = &timed.run.requests[0];
        let [begin, end] = request.prefill;
        assert_eq!(timed.at(begin).0, 0, "it does not wait");
        // Ten all-reduces of two steps each: nine of 100 · 64 · 2 bytes, one of 8.
        let sent = 9 * 2 * takes(6_400) + 2 * takes(4);
        let prefill = timed.at(end).1;
        let alone = Timed::new(&of, |_| 0).at(end).1;
        assert_eq!(prefill, alone + sent);
        let ends = request.cache.iter().map(|&at| timed.at(at).1);
        let bytes = 100 * 2 * 4 * 2 * 8 * 2 / u64::from(stages);
        assert_eq!(ends.max(), Some(prefill + takes(bytes)));
        assert_eq!(request.cache.len(), 2 * stages as usize);
        let [begin, _] = request.decode.expect("it decodes");
        assert_eq!(timed.at(begin).0, prefill + takes(bytes));
    }
}

/// Numbers drawn from a seed, one after the other.
struct Drawn(tenter_engine::Draws, u64);

impl Drawn {
    fn one_of<T: Clone>(&mut self, of: &[T]) -> T {
        self.1 += 1;
        of[self.0.below(self.1, of.len() as u64) as usize].clone()
    }
}

/// A configuration whose messages are whole numbers of bytes everywhere.
fn drawn(seed: u64) -> InferenceSpec {
    let mut drawn = Drawn(tenter_engine::Draws::new(seed, "inference", "test"), 0);
    let moe = drawn.one_of(&[false, true]);
    let experts: &[(&str, &str)] = &[
        ("experts", "8"),
        ("top_k", "2"),
        ("dense_layers", "1"),
        ("shared_experts", "1"),
    ];
    let range = |least, most| TokenCounts::By(TokensBy::Range(TokenRange { least, most }));
    let closed = drawn.one_of(&[false, true]);
    let rate = RequestRate(drawn.one_of(&[1000.0, 1e5]));
    let requests = RequestsSpec {
        rate: Some(rate).filter(|_| !closed),
        concurrency: Some(drawn.one_of(&[1, 3, 8])).filter(|_| closed),
        count: drawn.one_of(&[5, 12]),
        prompt_tokens: range(1, drawn.one_of(&[10, 60])),
        output_tokens: range(1, drawn.one_of(&[1, 9])),
    };
    let mut pool = || {
        let tp = drawn.one_of(&[1, 2, 4]);
        let dp = drawn.one_of(&[1, 2]);
        let ep = if moe {
            drawn.one_of(&[1, tp, tp * dp])
        } else {
            1
        };
        let pp = drawn.one_of(&[1, 2, 4]);
        let max_batch = drawn.one_of(&[None, Some(2)]);
        PoolSpec {
            tp,
            pp,
            dp,
            ep,
            max_batch,
        }
    };
    let [prefill, decode] = [pool(), pool()];
    let pools = Some(PoolsSpec { prefill, decode });
    let is_apart = drawn.one_of(&[false, true]) || prefill.tp * prefill.pp * prefill.dp == 1;
    InferenceSpec {
        tp: prefill.tp,
        pp: prefill.pp,
        dp: Some(prefill.dp),
        ep: prefill.ep,
        pools: pools.filter(|_| is_apart),
        max_batch: drawn.one_of(&[2, 64]),
        batch_tokens: drawn.one_of(&[16, 8192]),
        chunked_prefill: drawn.one_of(&[false, true]),
        precision: drawn.one_of(&[Precision::Bf16, Precision::Fp8]),
        kv_precision: drawn.one_of(&[Precision::Bf16, Precision::Fp8]),
        ..spec(if moe { experts } else { &[] }, requests)
    }
}

/// Bytes of a pool by stream, for the tokens that it computes.
fn formulas(of: &Inference, number: usize, bytes: &mut BTreeMap<Stream, u64>) {
    let (model, pool) = (&of.model, &of.pools[number]);
    let [tp, pp, ep] = [pool.size().tp, pool.size().pp, pool.ep].map(u64::from);
    let sum =
        |of_request: &dyn Fn(&Request) -> u64| -> u64 { of.requests.iter().map(of_request).sum() };
    let prompts = sum(&|of| u64::from(of.prompt));
    let others = sum(&|of| u64::from(of.output - 1));
    let count = of.requests.len() as u64;
    let (tokens, outputs) = match pool.role {
        Role::Both => (prompts + others, count + others),
        Role::Prefill => (prompts, count),
        Role::Decode => (others, others),
    };
    let activations = tokens * 64 * 2;
    // An all-reduce in a ring sends twice its size for each rank but one, a gathering once.
    let (mut reduced, mut gathered) = (2 * 4 + 1, 0);
    if model.experts > 0 {
        reduced += 3;
        if ep > 1 {
            (reduced, gathered) = (reduced - 3, 3);
        }
    }
    let sent = (2 * reduced + gathered) * activations + 2 * 8 * outputs;
    *bytes.entry(Stream::Tensor).or_default() += (tp - 1) * sent;
    *bytes.entry(Stream::Pipeline).or_default() += (pp - 1) * tp * activations;
    if ep > tp {
        // Replicas without a request tell their next stage.
        let batches = Scheduler::batches(of).expect("they can be made");
        let engines = batches.engines.iter().filter(|of| of.pool == number);
        let work = engines
            .flat_map(|of| &of.iterations)
            .flat_map(|of| &of.work);
        let empty = work.filter(|work| work.is_empty()).count() as u64;
        *bytes.entry(Stream::Pipeline).or_default() += (pp - 1) * tp * 4 * empty;
    }
    if ep > 1 {
        let batches = Scheduler::batches(of).expect("they can be made");
        let engines = batches.engines.iter().filter(|of| of.pool == number);
        let iterations = engines.flat_map(|of| &of.iterations);
        let padded: u64 = iterations
            .map(|of| {
                of.work
                    .iter()
                    .map(|work| Load::of(work).tokens)
                    .max()
                    .unwrap_or(0)
            })
            .sum();
        let of_token = match of.spec.precision {
            Precision::Bf16 => 4 * 64,
            Precision::Fp8 => 3 * 64 + 4,
        };
        let ranks = tp * u64::from(pool.replicas_together());
        let sent = padded * 2 * of_token / tp * ranks;
        *bytes.entry(Stream::Expert).or_default() += 3 * sent * (ep - 1) / ep;
    }
    if pool.role == Role::Decode {
        let kept = sum(&|of| u64::from(of.prompt) * u64::from(of.output > 1));
        let numbers = 4 * tp.max(4) * 2 * 8;
        let width = of.spec.kv_precision.bytes();
        *bytes.entry(Stream::CacheSend).or_default() += kept * numbers * width;
    }
}

#[test]
fn bytes_of_each_parallelism_are_those_of_their_formulas() {
    for seed in 0..50 {
        let spec = drawn(seed);
        let of = inference(&spec, None);
        let (graph, _) = graph(&of).expect("it can be made");
        let schedule = GraphSchedule::new(Arc::new(graph), Timing::default());
        let schedule = schedule.expect("it can be run");
        let sent = schedule.bytes_by_stream(|_, _| true);
        let mut expected = BTreeMap::new();
        for number in 0..of.pools.len() {
            formulas(&of, number, &mut expected);
        }
        for (stream, mut bytes) in expected {
            let found = sent.get(&stream.label()).map_or(0, |of| of[0]);
            if stream == Stream::CacheSend && of.pools[0].size().pp > 1 {
                // The first token comes from the last stage.
                let other = of.requests.iter().filter(|of| of.output > 1).count();
                bytes += 4 * other as u64 * u64::from(of.pools[1].size().tp);
            }
            // What is sent to experts is rounded for each iteration.
            let rounded = if stream == Stream::Expert {
                bytes / 50
            } else {
                0
            };
            assert!(
                found.abs_diff(bytes) <= rounded,
                "{seed} {stream:?}: {found} {bytes}"
            );
        }
    }
}

#[test]
fn every_request_gets_what_it_asks_for_in_batches_that_hold_it() {
    for seed in 0..200 {
        let spec = drawn(seed);
        let of = inference(&spec, None);
        let batches = Scheduler::batches(&of).expect("they can be made");
        let mut got: BTreeMap<u32, [u32; 2]> = BTreeMap::new();
        for engine in &batches.engines {
            let pool = &of.pools[engine.pool];
            for work in engine.iterations.iter().flat_map(|of| &of.work) {
                assert!(work.len() <= pool.max_batch as usize, "{seed}");
                let prompts = work.iter().filter(|of| of.is_prompt());
                let tokens: u32 = prompts.clone().map(|of| of.tokens).sum();
                let one = prompts.count() == 1 && !spec.chunked_prefill;
                assert!(tokens <= spec.batch_tokens || one, "{seed}");
                for own in work {
                    let got = got.entry(own.request).or_default();
                    assert_eq!(own.cached, got[0] + got[1], "{seed}");
                    got[usize::from(!own.is_prompt())] += own.tokens;
                }
            }
        }
        for (number, request) in (0..).zip(&of.requests) {
            assert_eq!(got[&number], [request.prompt, request.output - 1], "{seed}");
        }
        // The graph can be run to its end, and requests follow those before them.
        let timed = Timed::new(&of, |bytes| 1_000 + bytes);
        assert_eq!(timed.run.requests.len(), of.requests.len());
        for own in &timed.run.requests {
            if let Arrival::After(before) = own.request.arrival {
                let before = &timed.run.requests[before as usize];
                let [_, end] = before.decode.unwrap_or(before.prefill);
                assert!(timed.at(own.prefill[0]).0 >= timed.at(end).1, "{seed}");
            }
        }
    }
}

/// In a closed loop of one pool batches are the same whatever computing takes.
#[test]
fn batches_of_a_closed_loop_do_not_depend_on_time() {
    for seed in 0..50 {
        let mut spec = drawn(seed);
        spec.pools = None;
        spec.requests.rate = None;
        spec.requests.concurrency = Some(5);
        let batches = |spec: &InferenceSpec| {
            Scheduler::batches(&inference(spec, None)).expect("they can be made")
        };
        let before = batches(&spec);
        spec.step_overhead = Time::from_us(50);
        spec.accelerator = Accelerator::Word(NamedAccelerator::H100);
        assert_eq!(batches(&spec), before);
        assert_eq!((before.end, before.latency), (None, None));
    }
}

/// Operations are counted before a graph is made, within 2 % and the tokens that the last
/// iterations of a batch do not send back.
#[test]
fn operations_are_counted_before_a_graph_is_made() {
    for seed in 0..100 {
        let of = inference(&drawn(seed), None);
        let counted = Scheduler::batches(&of)
            .expect("they can be made")
            .operations;
        let made = graph(&of).expect("it can be made").0.operations();
        let off = counted.abs_diff(made);
        let ends = 2 * u64::from(of.ranks());
        assert!(off <= made / 50 + ends, "{seed}: {counted} {made}");
    }
}

/// Millions of iterations of eight ranks are refused before all of them are known.
#[test]
fn a_graph_of_too_many_operations_is_refused_with_the_requests_that_fit() {
    let large = |count: u32, output: u32| {
        refused(
            |spec| {
                spec.tp = 8;
                spec.max_batch = 1;
                spec.requests = RequestsSpec {
                    rate: Some(RequestRate(1000.0)),
                    concurrency: None,
                    ..requests(1, count, [100, output].map(TokenCounts::One))
                };
            },
            Some(8),
        )
    };
    let of = large(19_000, 1000);
    let expected = "`requests.count` is 19000, which makes a graph of over 50000000 operations; \
                    give at most 19, or shorter answers";
    assert_eq!(of, expected);
    let of = large(2, 1_000_000);
    assert!(
        of.ends_with("use shorter prompts and answers, or fewer ranks"),
        "{of}"
    );
}

/// Weights and keys and values of the largest numbers need more bytes than can be counted.
#[test]
fn memory_beyond_all_numbers_is_refused() {
    let model = [
        ("layers", "10000"),
        ("hidden", "1000000"),
        ("heads", "10000"),
        ("head_size", "100000"),
        ("ffn", "10000000"),
        ("experts", "1000000"),
    ];
    let of = spec(
        &model,
        requests(1, 1, [10_000_000, 10_000].map(TokenCounts::One)),
    );
    let of = inference(&of, Some(1));
    let memory = super::memory::of_pool(&of, &of.pools[0]);
    assert_eq!(memory.all(), u64::MAX);
    assert!(graph(&of).is_err());
}

/// Replicas whose experts are spread over the same ranks wait for requests, not for each other,
/// while there are none.
#[test]
fn replicas_that_go_step_by_step_wait_for_the_requests_of_all_of_them() {
    let tokens = [20, 4].map(TokenCounts::One);
    let experts = [("experts", "8"), ("top_k", "2")];
    let pool = |dp| PoolSpec {
        tp: 1,
        pp: 2,
        dp,
        ep: dp,
        max_batch: None,
    };
    let [closed, open] = [Some(1), None].map(|concurrency| RequestsSpec {
        rate: concurrency.is_none().then_some(RequestRate(1000.0)),
        concurrency,
        ..requests(1, 12, tokens.clone())
    });
    let apart = |prefill, decode| {
        Some(PoolsSpec {
            prefill: pool(prefill),
            decode: pool(decode),
        })
    };
    let slow = |bytes: u64| {
        if bytes > 4_000 {
            100_000_000
        } else {
            1_000 + bytes
        }
    };
    for (requests, pools) in [
        (open.clone(), None),
        (open, apart(4, 1)),
        (closed, apart(4, 4)),
    ] {
        let one = pool(4);
        let of = InferenceSpec {
            tp: one.tp,
            pp: one.pp,
            dp: Some(one.dp),
            ep: one.ep,
            pools,
            ..spec(&experts, requests)
        };
        let timed = Timed::new(&inference(&of, None), slow);
        for of in &timed.metered {
            let expert = of.streams.iter().find(|of| of.0 == Stream::Expert.label());
            let share = expert.map_or(0, |of| of.1 + of.2) as f64 / timed.end as f64;
            assert!(share < 0.05, "{share}");
        }
    }
}

/// The clock of the scheduler is right where nothing is in the way of what is sent.
#[test]
fn the_clock_of_the_scheduler_is_right_on_the_network_that_it_assumes() {
    let tokens = [64, 5].map(TokenCounts::One);
    let spec = InferenceSpec {
        tp: 2,
        assumed_latency: Time::from_us(1),
        requests: RequestsSpec {
            rate: Some(RequestRate(1000.0)),
            ..requests(1, 20, tokens.clone())
        },
        ..spec(&[], requests(1, 1, tokens))
    };
    let spec = InferenceSpec {
        requests: RequestsSpec {
            concurrency: None,
            ..spec.requests
        },
        ..spec
    };
    let of = inference(&spec, Some(2));
    // 400 Gbit/s are 20 ps for a byte.
    let timed = Timed::new(&of, |bytes| 1_000_000 + 20 * bytes);
    let planned = timed.run.planned.expect("batches depend on time").ps();
    assert!(
        planned.abs_diff(timed.end) < 1_000,
        "{planned} {}",
        timed.end
    );
}

/// With stages, and with keys and values that go to another pool: a stage computes the next batch
/// while its message is on its way.
#[test]
fn the_clock_of_the_scheduler_knows_that_stages_send_while_they_compute() {
    let pool = |max_batch| PoolSpec {
        tp: 8,
        pp: 2,
        dp: 1,
        ep: 1,
        max_batch,
    };
    let tokens = [64, 5].map(TokenCounts::One);
    let spec = InferenceSpec {
        pools: Some(PoolsSpec {
            prefill: pool(Some(1)),
            decode: pool(None),
        }),
        assumed_latency: Time::from_us(50),
        ..spec(&[("kv_heads", "8")], requests(8, 64, tokens))
    };
    let timed = Timed::new(&inference(&spec, None), |bytes| 50_000_000 + 20 * bytes);
    let planned = timed.run.planned.expect("batches depend on time").ps();
    let off = planned as f64 / timed.end as f64 - 1.0;
    assert!(off.abs() < 0.001, "{planned} {}", timed.end);
    let latency = |of: &RequestRun| {
        let ended = |of: &RequestRun| timed.at(of.decode.expect("it decodes")[1]).1;
        let arrival = match of.request.arrival {
            Arrival::At(time) => time,
            Arrival::After(before) => ended(&timed.run.requests[before as usize]),
        };
        ended(of) - arrival
    };
    let sum: u64 = timed.run.requests.iter().map(latency).sum();
    let planned = timed.run.planned_latency.expect("batches depend on time");
    let off = planned.ps() as f64 / (sum / 64) as f64 - 1.0;
    assert!(off.abs() < 0.001, "{planned} {}", sum / 64);
}

fn refused(change: impl FnOnce(&mut InferenceSpec), ranks: Option<u32>) -> String {
    let tokens = [1000, 200].map(TokenCounts::One);
    let mut spec = InferenceSpec {
        tp: 4,
        ..InferenceSpec::new(
            Model::Word(NamedModel::Llama3Of70b),
            requests(64, 64, tokens),
        )
    };
    change(&mut spec);
    let refused = Inference::new(&spec, ranks, (0, reach())).and_then(|of| graph(&of));
    refused.expect_err("it does not fit").to_string()
}

#[test]
fn what_does_not_fit_is_refused_with_what_would() {
    let of = refused(|spec| spec.tp = 7, Some(7));
    assert_eq!(
        of,
        "`tp` is 7, which does not divide the heads of the model (64); give 4 or 8"
    );
    let of = refused(|spec| spec.pp = 3, Some(12));
    assert_eq!(
        of,
        "`pp` is 3, which does not divide the layers of the model (80); give 2 or 4"
    );
    let of = refused(|spec| spec.ep = 2, Some(4));
    assert_eq!(of, "`ep` is 2, and the model has no experts; leave it out");
    let of = refused(|_| {}, Some(6));
    let expected =
        "`tp` is 4, and the job has 6 ranks, no multiple of tp 4 · pp 1 = 4; give 4 or 8 `ranks`";
    assert_eq!(of, expected);
    let pool = PoolSpec {
        tp: 4,
        pp: 1,
        dp: 2,
        ep: 1,
        max_batch: None,
    };
    let pools = PoolsSpec {
        prefill: pool,
        decode: PoolSpec { tp: 16, ..pool },
    };
    let of = refused(|spec| spec.pools = Some(pools), Some(16));
    assert_eq!(
        of,
        "`pools` make 40 ranks, and the job has 16; give 40 `ranks`"
    );
    let of = refused(
        |spec| {
            spec.accelerator = Accelerator::Word(NamedAccelerator::A100);
            spec.precision = Precision::Fp8;
        },
        Some(4),
    );
    let expected = "`precision` is fp8, and the accelerator has no `fp8_flops`; give `precision: bf16`, or another `accelerator`";
    assert_eq!(of, expected);
    let of = refused(|spec| spec.requests.count = 1_000_000, Some(4));
    assert!(of.contains("give at most 99502"), "{of}");
}

/// 35.3 GB of weights at each of four ranks, and 80 KiB for each of 1,199 tokens: 455 requests fit.
#[test]
fn batches_that_are_too_large_are_refused_with_what_would_fit() {
    let many = |spec: &mut InferenceSpec| {
        spec.requests.concurrency = Some(1000);
        spec.requests.count = 1000;
        spec.max_batch = 512;
    };
    let of = refused(many, Some(4));
    assert!(
        of.starts_with("`max_batch` is 512: keys and values of 512 requests need"),
        "{of}"
    );
    assert!(of.ends_with("give 455, with which they fit"), "{of}");
    let of = refused(|spec| spec.tp = 1, Some(1));
    assert!(of.starts_with("`tp` is 1: a rank needs 141."), "{of}");
}

/// Of a prompt alone the layers of a training's forward pass, whose kernel of attention counts half
/// of all pairs.
#[test]
fn a_prompt_takes_what_a_forward_pass_of_a_training_takes() {
    let model = NamedModel::Llama2Of70b.dimensions();
    for named in NamedAccelerator::ALL {
        let accelerator = named.figures();
        let training = crate::training::Operators {
            model,
            accelerator: accelerator.clone(),
            tokens: 4096,
            sequence: 4096,
            tp: 8,
            shares_activations: false,
            ep: 1,
            fused: true,
            fp8: false,
        };
        let own = Operators {
            model: &model,
            accelerator: &accelerator,
            tp: 8,
            ep: 1,
            fp8: false,
            cached_bytes: 2,
        };
        let load = Load {
            tokens: 4096,
            read: 4096,
            read_by_prompts: 4096,
            prompt_pairs: 4096 * 4097 / 2,
            ..Load::default()
        };
        let blocks = training.layer(false);
        let forward: f64 = blocks.iter().map(|block| block.all().forward).sum();
        let found = own.attention(&load) + own.dense(4096);
        assert!((found / forward - 1.0).abs() < 0.003, "{found} {forward}");
    }
}

/// Requests arrive at their rate, and their tokens are those of their distribution.
#[test]
fn requests_are_those_of_their_distributions() {
    let points = [(0, "0"), (100, "0.5"), (300, "1")];
    let point = |&(tokens, share): &(u32, &str)| {
        let keys = [
            ("tokens", tokens.to_string()),
            ("cumulative", share.to_owned()),
        ];
        let keys = keys.each_ref().map(|(key, value)| (*key, value.as_str()));
        default_with::<TokenPoint>(&keys)
    };
    let spec = RequestsSpec {
        rate: Some(RequestRate(50.0)),
        concurrency: None,
        count: 100_000,
        prompt_tokens: TokenCounts::By(TokensBy::Range(TokenRange { least: 3, most: 7 })),
        output_tokens: TokenCounts::By(TokensBy::Points(TokenPoints {
            points: points.iter().map(point).collect(),
            between: crate::flow_workload::Between::Lines,
        })),
    };
    let drawn = spec.drawn(3);
    assert_eq!(drawn, spec.drawn(3));
    assert_ne!(drawn, spec.drawn(4));
    let n = drawn.len() as f64;
    let Arrival::At(last) = drawn[drawn.len() - 1].arrival else {
        panic!("it is an open loop");
    };
    // 20 ms each, within 4 / √n.
    assert!(
        (last as f64 / 1e12 / (n / 50.0) - 1.0).abs() < 0.013,
        "{last}"
    );
    let prompts: f64 = drawn.iter().map(|of| f64::from(of.prompt)).sum();
    assert!((prompts / n - 5.0).abs() < 0.03);
    assert!(drawn.iter().all(|of| (3..=7).contains(&of.prompt)));
    let outputs: f64 = drawn.iter().map(|of| f64::from(of.output)).sum();
    // Half of 50 and half of 200.
    assert!((outputs / n - 125.0).abs() < 1.2, "{}", outputs / n);
}

/// A pool of eight experts on four ranks, of which some are popular: each rank computes its share.
#[test]
fn popular_experts_take_longer() {
    let tokens = [64, 5].map(TokenCounts::One);
    let experts = [("experts", "8"), ("top_k", "2")];
    let even = InferenceSpec {
        tp: 1,
        dp: Some(4),
        ep: 4,
        ..spec(&experts, requests(4, 8, tokens))
    };
    let skewed = InferenceSpec {
        expert_skew: crate::transformer::Skew(1.0),
        ..even.clone()
    };
    let [even, skewed] = [even, skewed].map(|of| Timed::new(&inference(&of, None), |bytes| bytes));
    assert!(skewed.end > even.end, "{} {}", skewed.end, even.end);
}
