//! Inferences against formulas: iterations by the roofline, times to first token, bytes of each
//! parallelism, and what batches are made of.

use std::collections::BTreeMap;
use std::sync::Arc;

use tenter_language::config::{Words, default_with};
use tenter_language::units::{Rate, Time};

use super::batches::Scheduler;
use super::*;
use crate::graph::{GraphSchedule, Metered, Timing, toy_network};
use crate::transformer::{
    Accelerator, Model, NamedAccelerator, NamedModel, Precision, Stream, small_model,
};

mod batches;
mod bytes;
mod clock;
mod refusals;

/// Bytes that the memory moves in a microsecond.
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
    let accelerator = default_with(&[
        ("flops", "100000PFLOPS"),
        ("fp8_flops", "100000PFLOPS"),
        ("memory_bandwidth", "8000Gbps"),
        ("memory", "80GB"),
    ]);
    InferenceSpec {
        accelerator: Accelerator::Mapping(accelerator),
        ..InferenceSpec::new(small_model(&small, model), requests)
    }
}

fn reach() -> Reach {
    Reach {
        within: None,
        network: Rate::from_gbps(400),
    }
}

fn inference(spec: &InferenceSpec, ranks: Option<u32>) -> Inference {
    Inference::new(spec, ranks, 7, reach()).expect("its numbers fit together")
}

/// A run on a network where a transfer of `n` bytes takes `takes(n)` ps, with the times of its
/// marked operations.
struct Timed {
    run: InferenceRun,
    metered: Vec<Metered>,
    end: u64,
}

impl Timed {
    fn new(of: &Inference, takes: impl Fn(u64) -> u64) -> Timed {
        let (graph, run) = graph(of).expect("it can be made");
        let (end, metered) = toy_network::run(graph, Arc::clone(&run.marks), takes);
        Timed { run, metered, end }
    }

    fn at(&self, at: At) -> (u64, u64) {
        let marks = &self.run.marks[at.rank as usize];
        let place = marks.binary_search(&at.operation).expect("it is marked");
        let (begun, done) = self.metered[at.rank as usize].marks[place];
        (begun.ps(), done.ps())
    }
}

/// Computes the bytes that a rank's memory moves in an iteration that decodes one token, which sees
/// `context` tokens including itself: 2 (k + n + k n) for a matrix, 4 or 6 for an element in
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
    assert_eq!(timed.metered[0].computing, Time::from_ps(timed.end));
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
        expert_exchange: None,
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
            expert_exchange: None,
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

/// A prompt alone takes as long as the forward pass of a training, whose attention kernel counts
/// half of all pairs.
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
